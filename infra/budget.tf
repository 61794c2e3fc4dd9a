# A budget warns; it does not stop anything. max_instances and the model provider's own limit do.

resource "google_billing_budget" "monthly" {
  count = var.billing_account != "" ? 1 : 0

  billing_account = var.billing_account
  display_name    = "Sheet Summaries"

  budget_filter {
    projects = ["projects/${data.google_project.this.number}"]
  }

  amount {
    specified_amount {
      units = tostring(var.monthly_budget)
    }
  }

  dynamic "threshold_rules" {
    for_each = [0.5, 0.9, 1.0]

    content {
      threshold_percent = threshold_rules.value
    }
  }

  dynamic "all_updates_rule" {
    for_each = google_monitoring_notification_channel.email

    content {
      monitoring_notification_channels = [all_updates_rule.value.id]
    }
  }

  depends_on = [google_project_service.api]
}
