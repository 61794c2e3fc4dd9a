# Alerts on what people feel, made from the service's own events (one line of JSON each). Every signal counts
# lines; what makes a line count is in its filter, so an alert says "this happened", not "a number is odd".

locals {
  signals = {
    waiting = {
      title   = "Work is waiting and nobody is working on it"
      filter  = "jsonPayload.event=\"sweep\" AND jsonPayload.oldest_waiting_seconds>300"
      above   = 2 # of the five sweeps in a window: one late link heals by itself
      window  = 300
      urgency = "CRITICAL"
      help    = "A link has been due for more than 5 minutes. Is the queue paused (`gcloud tasks queues describe summaries`), are all instances busy (max_instances), do the links crash (event link_ended)?"
    }
    stuck = {
      title   = "A job is stuck"
      filter  = "jsonPayload.event=\"sweep\" AND jsonPayload.stuck>0"
      above   = 0
      window  = 300
      urgency = "ERROR"
      help    = "The same step failed ten times without a commit. Look for link_ended and unexpected with the job's id; then let the job go on with Resume."
    }
    paused = {
      title   = "Jobs pause for something the operator must mend"
      filter  = "jsonPayload.event=\"job_paused\" AND jsonPayload.reason=(\"key_rejected\" OR \"model_unknown\" OR \"quota_exhausted\" OR \"insufficient_quota\" OR \"model_silent\" OR \"google_silent\" OR \"api_refused\")"
      above   = 0
      window  = 300
      urgency = "ERROR"
      help    = "jsonPayload.reason says what: the model's key, name, quota or credit, or an API that is not enabled. Mend it, then people press Resume; nothing finished is lost."
    }
    rows_failed = {
      title   = "Many rows fail"
      filter  = "jsonPayload.event=\"row_failed\""
      above   = 100
      window  = 600
      urgency = "WARNING"
      help    = "jsonPayload.error_class says why. One class on many rows is usually the model or the instructions, not the texts. Retry in the sidebar works on the failed rows only."
    }
    sidebar_errors = {
      title   = "The sidebar answers with errors"
      filter  = "jsonPayload.event=\"request\" AND jsonPayload.route=~\"^/sidebar/\" AND jsonPayload.status>=500"
      above   = 3
      window  = 600
      urgency = "ERROR"
      help    = "People see that something went wrong. Look for events unexpected, google_failed and store_failed at the same time."
    }
    refused = {
      title   = "Calls are refused"
      filter  = "jsonPayload.event=\"caller_refused\""
      above   = 20
      window  = 600
      urgency = "WARNING"
      help    = "jsonPayload.reason: wrong audience or account after a change of URL or project means that nobody can work (compare base_url, system_account, client_id); anything else is somebody trying."
    }
    unforeseen = {
      title   = "Something unforeseen happened"
      filter  = "jsonPayload.event=(\"unexpected\" OR \"model_raised\" OR \"task_dropped\") OR (jsonPayload.event=\"link_ended\" AND jsonPayload.outcome=\"crashed\")"
      above   = 0
      window  = 300
      urgency = "WARNING"
      help    = "A fault in the program: jsonPayload.error and place say where. Jobs go on by themselves."
    }
    withheld = {
      title   = "A log line nearly held somebody's text"
      filter  = "jsonPayload.flagged:*"
      above   = 0
      window  = 300
      urgency = "ERROR"
      help    = "The value was withheld and jsonPayload.flagged names its field; still, the line is a fault in the program. Report it."
    }
  }

  of_the_service = "resource.type=\"cloud_run_revision\" AND resource.labels.service_name=\"${var.service_name}\""
  channels       = google_monitoring_notification_channel.email[*].id
}

resource "google_monitoring_notification_channel" "email" {
  count = var.alert_email != "" ? 1 : 0

  display_name = "Sheet Summaries operator"
  type         = "email"

  labels = {
    email_address = var.alert_email
  }

  depends_on = [google_project_service.api]
}

resource "google_logging_metric" "signal" {
  for_each = local.signals

  name        = "summaries/${each.key}"
  description = each.value.title
  filter      = "${local.of_the_service} AND (${each.value.filter})"

  metric_descriptor {
    metric_kind = "DELTA"
    value_type  = "INT64"
  }

  depends_on = [google_project_service.api]
}

resource "google_monitoring_alert_policy" "signal" {
  for_each = local.signals

  display_name          = "Summaries: ${each.value.title}"
  combiner              = "OR"
  severity              = each.value.urgency
  notification_channels = local.channels

  conditions {
    display_name = each.value.title

    condition_threshold {
      filter          = "resource.type=\"cloud_run_revision\" AND metric.type=\"logging.googleapis.com/user/${google_logging_metric.signal[each.key].name}\""
      comparison      = "COMPARISON_GT"
      threshold_value = each.value.above
      duration        = "0s"

      aggregations {
        alignment_period     = "${each.value.window}s"
        per_series_aligner   = "ALIGN_DELTA"
        cross_series_reducer = "REDUCE_SUM"
      }
    }
  }

  alert_strategy {
    auto_close = "1800s"
  }

  documentation {
    mime_type = "text/markdown"
    content   = "${each.value.help}\n\nIn the logs: `${each.value.filter}`"
  }
}

# The sweep's own numbers, to look at; and its silence, which no count of lines can tell.
resource "google_logging_metric" "oldest_waiting" {
  name            = "summaries/oldest_waiting_seconds"
  description     = "Longest a due link has had nobody working on it, each minute"
  filter          = "${local.of_the_service} AND jsonPayload.event=\"sweep\""
  value_extractor = "EXTRACT(jsonPayload.oldest_waiting_seconds)"

  metric_descriptor {
    metric_kind = "DELTA"
    value_type  = "DISTRIBUTION"
    unit        = "s"
  }

  bucket_options {
    explicit_buckets {
      bounds = [1, 10, 30, 60, 120, 300, 600, 1800, 3600, 14400, 86400]
    }
  }

  depends_on = [google_project_service.api]
}

resource "google_monitoring_alert_policy" "sweep_silent" {
  display_name          = "Summaries: The sweep is silent"
  combiner              = "OR"
  severity              = "CRITICAL"
  notification_channels = local.channels

  conditions {
    display_name = "No sweep for 10 minutes"

    condition_absent {
      filter   = "resource.type=\"cloud_run_revision\" AND metric.type=\"logging.googleapis.com/user/${google_logging_metric.oldest_waiting.name}\""
      duration = "600s"

      aggregations {
        alignment_period     = "60s"
        per_series_aligner   = "ALIGN_DELTA"
        cross_series_reducer = "REDUCE_SUM"
      }
    }
  }

  alert_strategy {
    auto_close = "1800s"
  }

  documentation {
    mime_type = "text/markdown"
    content   = "Nothing heals lost links now, and nothing would say so. Look at `gcloud scheduler jobs describe sweep` and at event caller_refused; then at the service itself."
  }
}

# Rows a second, as they are committed.
resource "google_logging_metric" "committed_rows" {
  name            = "summaries/committed_rows"
  description     = "Rows per commit; their sum is the throughput"
  filter          = "${local.of_the_service} AND jsonPayload.event=\"commit\""
  value_extractor = "EXTRACT(jsonPayload.rows)"

  metric_descriptor {
    metric_kind = "DELTA"
    value_type  = "DISTRIBUTION"
    unit        = "1"
  }

  bucket_options {
    explicit_buckets {
      bounds = [1, 2, 5, 10, 25, 50, 100, 200, 400]
    }
  }

  depends_on = [google_project_service.api]
}
