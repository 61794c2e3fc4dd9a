# The APIs, and what the other files share.

locals {
  apis = [
    "appsmarket-component.googleapis.com", # an add-on cannot be installed, not even for a test, without it
    "artifactregistry.googleapis.com",     # keeps the image
    "cloudscheduler.googleapis.com",       # presses the sweep
    "cloudtasks.googleapis.com",           # carries the chains
    "drive.googleapis.com",                # results files
    "firestore.googleapis.com",            # jobs, leases and the idempotency index
    "gsuiteaddons.googleapis.com",         # add-ons over HTTP
    "iam.googleapis.com",                  # the service accounts
    "logging.googleapis.com",              # the metrics
    "monitoring.googleapis.com",           # the alerts
    "run.googleapis.com",                  # the service
    "secretmanager.googleapis.com",        # the model's key
    "sheets.googleapis.com",               # the spreadsheets
  ]
  apis_wanted = concat(
    local.apis,
    local.delegation ? ["iamcredentials.googleapis.com"] : [],          # signs for the worker, without a key
    local.vertex ? ["aiplatform.googleapis.com"] : [],                  # the model
    var.billing_account != "" ? ["billingbudgets.googleapis.com"] : [], # the budget
  )

  delegation = var.worker_access == "delegation"
  vertex     = startswith(var.model, "vertex:")
  keyed      = startswith(var.model, "gemini:") || startswith(var.model, "openai:")

  # Known before the service exists, which lets the service be told its own URL: Cloud Run's deterministic
  # form. (The other form, google_cloud_run_v2_service.uri, would make the service depend on itself.)
  cloud_run_url = "https://${var.service_name}-${data.google_project.this.number}.${var.region}.run.app"
  base_url      = var.base_url != "" ? var.base_url : local.cloud_run_url
}

data "google_project" "this" {
  project_id = var.project
}

resource "google_project_service" "api" {
  for_each = toset(local.apis_wanted)

  service = each.value

  # Something else in the project may need it.
  disable_on_destroy = false
}
