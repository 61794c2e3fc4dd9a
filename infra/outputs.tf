output "base_url" {
  description = "Public URL of the service: for `addon manifest --base-url`."
  value       = local.base_url
}

output "worker_account" {
  description = "Who spreadsheets are shared with."
  value       = google_service_account.worker.email
}

output "worker_client_id" {
  description = "The worker's numeric client id: for domain-wide delegation in the admin console."
  value       = google_service_account.worker.unique_id
}

output "model_key_secret" {
  description = "Secret for the model's key: gcloud secrets versions add this."
  value       = google_secret_manager_secret.model_key.secret_id
}
