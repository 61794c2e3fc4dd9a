# Who may do what. Every grant says why; tests/contract/test_infra.py fails on one that does not.

resource "google_service_account" "worker" {
  account_id   = "summaries-worker"
  display_name = "Sheet Summaries: runs the service; spreadsheets are shared with it"

  depends_on = [google_project_service.api]
}

resource "google_service_account" "tasks" {
  account_id   = "summaries-tasks"
  display_name = "Sheet Summaries: whom Cloud Tasks calls /tasks as; has no rights"

  depends_on = [google_project_service.api]
}

resource "google_service_account" "scheduler" {
  account_id   = "summaries-scheduler"
  display_name = "Sheet Summaries: whom Cloud Scheduler calls /schedule as; has no rights"

  depends_on = [google_project_service.api]
}

# Why: jobs, leases and the index are documents it reads and writes. There is no smaller role per database.
resource "google_project_iam_member" "worker_datastore" {
  project = var.project
  role    = "roles/datastore.user"
  member  = google_service_account.worker.member
}

# Why: a link puts the next link into this queue, and no other.
resource "google_cloud_tasks_queue_iam_member" "worker_enqueuer" {
  name     = google_cloud_tasks_queue.links.name
  location = google_cloud_tasks_queue.links.location
  role     = "roles/cloudtasks.enqueuer"
  member   = google_service_account.worker.member
}

# Why: a task names the account its token is made for, and Cloud Tasks asks whether we may (actAs).
resource "google_service_account_iam_member" "worker_names_tasks" {
  service_account_id = google_service_account.tasks.name
  role               = "roles/iam.serviceAccountUser"
  member             = google_service_account.worker.member
}

# Why: Cloud Run reads the model's key in the name of the service when an instance starts.
resource "google_secret_manager_secret_iam_member" "worker_model_key" {
  secret_id = google_secret_manager_secret.model_key.id
  role      = "roles/secretmanager.secretAccessor"
  member    = google_service_account.worker.member
}

# Why: with delegation it signs tokens that say "as this user"; on itself alone, with no key file anywhere.
resource "google_service_account_iam_member" "worker_signs" {
  count = local.delegation ? 1 : 0

  service_account_id = google_service_account.worker.name
  role               = "roles/iam.serviceAccountTokenCreator"
  member             = google_service_account.worker.member
}

# Why: a vertex: model is called in its name.
resource "google_project_iam_member" "worker_vertex" {
  count = local.vertex ? 1 : 0

  project = var.project
  role    = "roles/aiplatform.user"
  member  = google_service_account.worker.member
}

# Why: the program checks every caller itself. If Cloud Run checked them, it would take the signature out of
# the token it hands on, and the program could no longer tell Google's call from anybody's.
resource "google_cloud_run_v2_service_iam_member" "public" {
  count = var.invoker_check_disabled ? 0 : 1

  name     = google_cloud_run_v2_service.addon.name
  location = google_cloud_run_v2_service.addon.location
  role     = "roles/run.invoker"
  member   = "allUsers"
}
