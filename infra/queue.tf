# The queue that carries the chains, and the clock that heals them.

locals {
  # Links at a time. Fewer than the service has room for, so that clicks always find room as well; and Sheets
  # gives the worker 60 reads and 60 writes a minute in all, which more chains could not share.
  max_links = 16
}

resource "google_cloud_tasks_queue" "links" {
  name     = "summaries"
  location = var.region

  rate_limits {
    max_dispatches_per_second = 10
    max_concurrent_dispatches = local.max_links
  }

  # A task comes back while another worker holds the lease (409) and after a fault (5xx): soon, then every
  # minute, for about half an hour. Then the sweep puts the same step into the queue under a fresh name.
  # Cloud Tasks gives up only when both limits are reached; max_retry_duration = 0 s is "no limit of time".
  retry_config {
    max_attempts       = 30
    max_retry_duration = "0s"
    min_backoff        = "5s"
    max_backoff        = "60s"
    max_doublings      = 4
  }

  lifecycle {
    # The room for links must leave some for clicks.
    precondition {
      condition     = local.max_links < var.max_instances * local.request_concurrency
      error_message = "Raise max_instances: links could fill every instance, and clicks would wait."
    }
  }

  depends_on = [google_project_service.api]
}

resource "google_cloud_scheduler_job" "sweep" {
  name        = "sweep"
  description = "Enqueues links whose task is lost, and forgets results past their retention."
  region      = var.region
  schedule    = "* * * * *"
  time_zone   = "Etc/UTC"

  # The next minute is the retry.
  attempt_deadline = "180s"

  retry_config {
    retry_count = 0
  }

  http_target {
    http_method = "POST"
    uri         = "${local.base_url}/schedule/sweep"
    body        = base64encode("{}")

    headers = {
      "Content-Type" = "application/json"
    }

    oidc_token {
      service_account_email = google_service_account.scheduler.email
      audience              = "${local.base_url}/schedule"
    }
  }

  depends_on = [google_project_service.api]
}
