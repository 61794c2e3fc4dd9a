# --- where -----------------------------------------------------------------------------------------------

variable "project" {
  description = "Id of the Google Cloud project; best one that holds nothing else."
  type        = string
}

variable "region" {
  description = "Region of service, queue, scheduler, images and, unless told otherwise, the database."
  type        = string
}

variable "database_location" {
  description = "Where Firestore keeps the data; for good. Empty: the region. A multi-region is nam5 or eur3."
  type        = string
  default     = ""
}

variable "service_name" {
  description = "Name of the Cloud Run service; part of its URL, so changing it means a new deployment descriptor."
  type        = string
  default     = "summaries"

  validation {
    condition     = can(regex("^[a-z][a-z0-9-]{0,46}[a-z0-9]$", var.service_name))
    error_message = "2 to 48 lower-case letters, digits and hyphens: with the project number it must fit a DNS label."
  }
}

variable "base_url" {
  description = "Public URL, where a domain of your own or a load balancer stands in front. Empty: Cloud Run's own."
  type        = string
  default     = ""

  validation {
    condition     = var.base_url == "" || can(regex("^https://[^/?#@ ]+$", var.base_url))
    error_message = "An address such as https://summaries.example.com, with no path and no slash at its end."
  }
}

# --- what ------------------------------------------------------------------------------------------------

variable "image" {
  description = "Container image with its tag or digest; never :latest, or a rollback has nothing to go back to."
  type        = string

  validation {
    condition     = can(regex("(:|@)[^/]+$", var.image)) && !endswith(var.image, ":latest")
    error_message = "REGION-docker.pkg.dev/PROJECT/summaries/addon:TAG with a tag of its own per build."
  }
}

variable "model" {
  description = "The language model, as ADDON_MODEL: builtin, gemini:MODEL, vertex:MODEL, openai:MODEL or module:function."
  type        = string
  default     = "builtin"
}

variable "model_endpoint" {
  description = "Root URL of an OpenAI-compatible server; empty for the provider's own."
  type        = string
  default     = ""
}

variable "model_location" {
  description = "Vertex AI location of the model, such as global or europe-west4; empty for the program's default."
  type        = string
  default     = ""
}

variable "model_key_version" {
  description = "Version of the secret with the model's key. A number makes a new key a visible change."
  type        = string
  default     = "latest"
}

variable "requests_per_minute" {
  description = "Most model calls a minute of one instance: the provider's quota, divided by max_instances; empty for no limit."
  type        = string
  default     = ""
}

variable "concurrency" {
  description = "Model calls in flight per chain."
  type        = number
  default     = 16
}

variable "extra_settings" {
  description = "Other ADDON_ settings of the program, such as ADDON_RETENTION_DAYS; `addon doctor` lists all."
  type        = map(string)
  default     = {}

  validation {
    condition     = alltrue([for name in keys(var.extra_settings) : startswith(name, "ADDON_") && name != "ADDON_MODEL_KEY"])
    error_message = "Names begin with ADDON_. The model's key goes into Secret Manager, or it would be in the state."
  }
}

variable "min_instances" {
  description = "Instances that are never scaled away. 0 is cheapest; the sweep wakes one every minute anyway."
  type        = number
  default     = 0
}

variable "max_instances" {
  description = "Most instances at a time: the brake on what a mistake can cost."
  type        = number
  default     = 4
}

# --- who -------------------------------------------------------------------------------------------------

variable "system_account" {
  description = "serviceAccountEmail that `gcloud workspace-add-ons get-authorization` prints: who Google calls as."
  type        = string
}

variable "client_id" {
  description = "oauthClientId that the same command prints: whom Google's tokens about users are made for."
  type        = string
}

variable "admins" {
  description = "E-mail addresses of people who may see and mend everybody's jobs."
  type        = list(string)
  default     = []
}

variable "worker_access" {
  description = "How the worker gets at spreadsheets: share, delegation or shared_drive (README.md says when)."
  type        = string
  default     = "share"

  validation {
    condition     = contains(["share", "delegation", "shared_drive"], var.worker_access)
    error_message = "share, delegation or shared_drive."
  }
}

variable "shared_drive" {
  description = "Id of the shared drive for results files; for worker_access = shared_drive."
  type        = string
  default     = ""
}

variable "invoker_check_disabled" {
  description = "Set where an organisation policy forbids allUsers: Cloud Run then skips its own check instead."
  type        = bool
  default     = false
}

# --- money and alarms ------------------------------------------------------------------------------------

variable "alert_email" {
  description = "Where alerts go; empty: they only show in the console."
  type        = string
  default     = ""
}

variable "billing_account" {
  description = "Billing account of the project, for a budget; empty: no budget."
  type        = string
  default     = ""
}

variable "monthly_budget" {
  description = "Whole units of the billing account's currency a month; mails at 50, 90 and 100 %."
  type        = number
  default     = 50
}
