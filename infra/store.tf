# The store: jobs, leases and the idempotency index.
#
# There are no composite indexes, for no query needs one: each compares one field, or orders by one.
# tests/contract/test_infra.py reads every query in the code and fails when one comes that does.

resource "google_firestore_database" "default" {
  name        = "(default)"
  location_id = var.database_location != "" ? var.database_location : var.region
  type        = "FIRESTORE_NATIVE"

  # `terraform destroy` leaves it: what is in it was paid for with model calls.
  deletion_policy         = "ABANDON"
  delete_protection_state = "DELETE_PROTECTION_ENABLED"

  depends_on = [google_project_service.api]
}

# Results are forgotten when their retention (ADDON_RETENTION_DAYS) ends. The sweep prunes them too, a little
# at a time; the policy is what keeps up with many spreadsheets. Expired documents may still be read for a day
# or so, which is why the code looks at `until` itself.
#
# There is no such policy on expires_at (leases, shards): a lease that has run out keeps its fencing token,
# and deleting the document would start the tokens again from 1.
resource "google_firestore_field" "results_until" {
  database   = google_firestore_database.default.name
  collection = "results"
  field      = "until"

  ttl_config {}

  # The sweep's pruning orders by it; nothing asks backwards.
  index_config {
    indexes {
      order = "ASCENDING"
    }
  }
}

# Two more fields of results are asked for, by equality; an index forwards is enough.
resource "google_firestore_field" "results_asked" {
  for_each = toset(["part", "sha256"])

  database   = google_firestore_database.default.name
  collection = "results"
  field      = each.value

  index_config {
    indexes {
      order = "ASCENDING"
    }
  }
}

# The rest are never asked for. Results are by far the most documents, and two index entries per field would
# be most of what they weigh; `at`, which only grows, would make a hotspot as well.
resource "google_firestore_field" "results_unindexed" {
  for_each = toset(["at", "input_tokens", "job", "length", "model", "output_tokens", "row", "_trail"])

  database   = google_firestore_database.default.name
  collection = "results"
  field      = each.value

  index_config {}
}
