"""A worker process for the crash tests: `python worker_process.py sqlite:FILE|firestore:PROJECT TASK …`."""

import sys
import threading
from datetime import timedelta
from pathlib import Path

from addon.store.documents import Documents, Transaction
from addon.store.firestore import FirestoreDocuments
from addon.store.leases import Leases, script_scope
from addon.store.sqlite import SqliteDocuments


def say(text: str) -> None:
    print(text, flush=True)


def hang_in_body(documents: Documents) -> None:
    """Stop for ever between the reads and the commit."""

    def work(transaction: Transaction) -> None:
        transaction.get("jobs/j")
        transaction.get("jobs/missing")
        transaction.set("jobs/j", {"by": "the dead"})
        say("inside")
        threading.Event().wait()

    documents.transact(work)


def hold_lease(documents: Documents, seconds: str) -> None:
    """Take the lease and never come back."""
    Leases(documents, timedelta(seconds=float(seconds))).acquire(script_scope(), wait=0)
    say("holding")
    threading.Event().wait()


def count(documents: Documents, times: str) -> None:
    """Increment one counter, and create one document per number, each in one transaction."""

    def work(transaction: Transaction) -> None:
        snapshot = transaction.get("counters/c")
        number = (snapshot.data["value"] if snapshot else 0) + 1
        transaction.set("counters/c", {"value": number})
        transaction.create(f"numbers/{number}", {"n": number})

    say("ready")
    sys.stdin.readline()
    for _ in range(int(times)):
        documents.transact(work, deadline=60)


def main() -> None:
    (kind, _, where), task, *arguments = sys.argv[1].partition(":"), *sys.argv[2:]
    documents = SqliteDocuments(Path(where)) if kind == "sqlite" else FirestoreDocuments(where)
    {"hang_in_body": hang_in_body, "hold_lease": hold_lease, "count": count}[task](documents, *arguments)
    documents.close()


if __name__ == "__main__":
    main()
