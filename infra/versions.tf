terraform {
  required_version = ">= 1.6"

  required_providers {
    google = {
      source  = "hashicorp/google"
      version = "~> 7.0"
    }
  }
}

provider "google" {
  project = var.project
  region  = var.region

  # Whose quota the calls use. The budget's API insists on an answer where a person applies.
  billing_project       = var.project
  user_project_override = true
}
