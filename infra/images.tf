# What has to be there before the service: a place for its image, and one for the model's key.

resource "google_artifact_registry_repository" "images" {
  repository_id = "summaries"
  location      = var.region
  format        = "DOCKER"
  description   = "Images of Sheet Summaries"

  # Ten builds are enough to roll back to.
  cleanup_policies {
    id     = "keep-newest"
    action = "KEEP"

    most_recent_versions {
      keep_count = 10
    }
  }

  cleanup_policies {
    id     = "delete-old"
    action = "DELETE"

    condition {
      tag_state  = "ANY"
      older_than = "90d"
    }
  }

  depends_on = [google_project_service.api]
}

# The place alone: its versions are added with gcloud, so that the key is never in Terraform's state.
resource "google_secret_manager_secret" "model_key" {
  secret_id = "summaries-model-key"

  replication {
    auto {}
  }

  depends_on = [google_project_service.api]
}
