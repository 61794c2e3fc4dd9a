"""How fast the stores are: `python tests/benchmarks/store_speed.py [sqlite] [firestore]`.

Firestore means its emulator, at ``FIRESTORE_EMULATOR_HOST`` or started for the measurement.
"""

import os
import sys
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from emulator import running_emulator

from addon.store.documents import Documents, Transaction
from addon.store.firestore import FirestoreDocuments
from addon.store.sqlite import SqliteDocuments

ROWS = 10_000
RESULTS = "spreadsheets/1AbCdEfGhIjKlMnOpQrStUvWxYz0123456789/results"


def key(number: int) -> str:
    return f"{number * 0x9E3779B97F4A7C15 % 2**256:064x}"


def creates(documents: Documents, per_commit: int) -> None:
    """Commit results as a job does: creates beside one guarded update of the job."""
    now = documents.now()

    def result(number: int) -> dict[str, object]:
        return {
            "file": "1" * 33,
            "position": number,
            "characters": 312,
            "sha256": "a" * 64,
            "input_tokens": 812,
            "output_tokens": 120,
            "created_at": now,
            "keep_until": now,
            "job": "j" * 20,
        }

    def commit(start: int) -> Callable[[Transaction], None]:
        def work(transaction: Transaction) -> None:
            job = transaction.get("jobs/j")
            for number in range(start, start + per_commit):
                transaction.create(f"{RESULTS}/{key(number)}", result(number))
            transaction.set("jobs/j", {"done": (job.data["done"] if job else 0) + per_commit})

        return work

    for start in range(0, ROWS, per_commit):
        documents.transact(commit(start))


def measure(name: str, rows: int, work: Callable[[], object]) -> None:
    began = time.perf_counter()
    work()
    seconds = time.perf_counter() - began
    print(f"  {name:<44}{rows / seconds:>10,.0f} rows/s {seconds * 1000:>10,.1f} ms")


def report(name: str, documents: Documents) -> None:
    print(name)
    found = [f"{RESULTS}/{key(number)}" for number in range(1000)]
    missing = [f"{RESULTS}/{key(number)}" for number in range(ROWS, ROWS + 1000)]
    documents.now()
    measure("creates, 100 per commit", ROWS, lambda: creates(documents, 100))
    measure("get_many of 1,000 documents", 1000, lambda: documents.get_many(found))
    measure("get_many of 1,000 missing documents", 1000, lambda: documents.get_many(missing))
    measure(
        f"query of one among {ROWS:,}", 1, lambda: list(documents.query(RESULTS, [("position", "==", 4711)]))
    )
    measure(f"query of all {ROWS:,}", ROWS, lambda: list(documents.query(RESULTS)))


@contextmanager
def opened(kind: str) -> Iterator[Documents]:
    if kind == "sqlite":
        with tempfile.TemporaryDirectory() as folder:
            documents: Documents = SqliteDocuments(Path(folder) / "store.db")
            yield documents
            documents.close()
    elif "FIRESTORE_EMULATOR_HOST" in os.environ:
        documents = FirestoreDocuments(f"speed-{uuid.uuid4().hex[:12]}")
        yield documents
        documents.close()
    else:
        with running_emulator() as address:
            os.environ["FIRESTORE_EMULATOR_HOST"] = address
            with opened(kind) as documents:
                yield documents


if __name__ == "__main__":
    for store in sys.argv[1:] or ["sqlite", "firestore"]:
        with opened(store) as documents:
            report(store, documents)
