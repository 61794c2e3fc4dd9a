# The service: takes Google's calls, the queue's and the scheduler's.

locals {
  # A link works for link_budget seconds; the queue waits 50 s longer for its answer (AFTER_BUDGET in
  # addon/services.py), and Cloud Run must wait longer than the queue, or it would cut links off.
  link_budget     = 280
  request_timeout = 360

  # Requests an instance takes at a time, below the 16 threads of `addon serve`: a link holds a thread for
  # minutes, and the health probes need one as well.
  request_concurrency = 8

  own_settings = {
    ADDON_STORE               = "firestore"
    ADDON_PROJECT             = var.project
    ADDON_QUEUE               = google_cloud_tasks_queue.links.id
    ADDON_BASE_URL            = local.base_url
    ADDON_SYSTEM_ACCOUNT      = var.system_account
    ADDON_CLIENT_ID           = var.client_id
    ADDON_WORKER_ACCOUNT      = google_service_account.worker.email
    ADDON_TASKS_ACCOUNT       = google_service_account.tasks.email
    ADDON_SCHEDULER_ACCOUNT   = google_service_account.scheduler.email
    ADDON_WORKER_ACCESS       = var.worker_access
    ADDON_SHARED_DRIVE        = var.shared_drive
    ADDON_ADMINS              = join(",", var.admins)
    ADDON_MODEL               = var.model
    ADDON_MODEL_ENDPOINT      = var.model_endpoint
    ADDON_MODEL_LOCATION      = var.model_location
    ADDON_REQUESTS_PER_MINUTE = var.requests_per_minute
    ADDON_CONCURRENCY         = tostring(var.concurrency)
    ADDON_LINK_BUDGET         = tostring(local.link_budget)
    ADDON_LOG_FORMAT          = "json"
  }

  # What is set here cannot be overruled: half of it must agree with other resources.
  settings = merge(var.extra_settings, local.own_settings)

  # From Secret Manager, for models that want a key.
  secret_settings = {
    for name, secret in { ADDON_MODEL_KEY = google_secret_manager_secret.model_key.secret_id } :
    name => secret if local.keyed
  }
}

resource "google_cloud_run_v2_service" "addon" {
  name     = var.service_name
  location = var.region
  ingress  = "INGRESS_TRAFFIC_ALL"

  # Nothing is lost with it: the state is in Firestore and in people's Drives.
  deletion_protection  = false
  invoker_iam_disabled = var.invoker_check_disabled

  template {
    service_account                  = google_service_account.worker.email
    timeout                          = "${local.request_timeout}s"
    max_instance_request_concurrency = local.request_concurrency

    scaling {
      min_instance_count = var.min_instances
      max_instance_count = var.max_instances
    }

    containers {
      image = var.image

      resources {
        # A 100,000-row run with five chains in one process peaked at 277 MB; /tmp counts as memory here.
        limits = {
          cpu    = "1"
          memory = "1Gi"
        }

        # CPU only while a request is answered. All work is done inside requests (the heartbeat of a lease
        # too), nothing goes on after an answer, and the sweep's call a minute would otherwise keep an
        # instance on the bill around the clock.
        cpu_idle = true

        # A click has about 30 s in all, also if it has to wait for an instance to start.
        startup_cpu_boost = true
      }

      ports {
        container_port = 8080
      }

      dynamic "env" {
        for_each = { for name, value in local.settings : name => value if value != "" }

        content {
          name  = env.key
          value = env.value
        }
      }

      dynamic "env" {
        for_each = local.secret_settings

        content {
          name = env.key

          value_source {
            secret_key_ref {
              secret  = env.value
              version = var.model_key_version
            }
          }
        }
      }

      # Ready means the store answers: a revision that cannot reach Firestore never gets traffic.
      startup_probe {
        period_seconds    = 5
        timeout_seconds   = 5
        failure_threshold = 12

        http_get {
          path = "/readyz"
        }
      }

      # Alive means the process answers. Not /readyz: restarting would kill links, and not mend Firestore.
      liveness_probe {
        period_seconds    = 30
        timeout_seconds   = 10
        failure_threshold = 4

        http_get {
          path = "/healthz"
        }
      }
    }
  }

  depends_on = [
    google_project_service.api,
    google_firestore_database.default,
    google_project_iam_member.worker_datastore,
    google_secret_manager_secret_iam_member.worker_model_key,
  ]
}
