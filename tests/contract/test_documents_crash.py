"""Workers that are killed, workers in several processes, and a SQLite file that cannot be used."""

import os
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from addon.store.documents import Contention, Documents, StoreError, Transaction
from addon.store.leases import Leases, script_scope
from addon.store.sqlite import SqliteDocuments

HERE = Path(__file__).resolve().parent
Worker = subprocess.Popen[str]
StartWorker = Callable[..., Worker]


@pytest.fixture
def start_worker(documents: Documents, store_kind: str, tmp_path: Path) -> Iterator[StartWorker]:
    """Starts processes that work on the store of the test."""
    where = (
        f"sqlite:{tmp_path / 'store.db'}"
        if store_kind == "sqlite"
        else f"firestore:{documents._database.split('/')[1]}"  # type: ignore[attr-defined]
    )
    started: list[Worker] = []

    def start(*arguments: str) -> Worker:
        process = subprocess.Popen(
            [sys.executable, str(HERE / "worker_process.py"), where, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": str(HERE.parent.parent)},
        )
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate()


def answer(process: Worker) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def go_on_together(workers: list[Worker]) -> list[str]:
    """Let waiting workers go on at the same time and end; give what they said after that."""
    for worker in workers:
        assert worker.stdin is not None
        worker.stdin.write("go\n")
        worker.stdin.flush()
    return [worker.communicate()[0] for worker in workers]


def test_a_worker_killed_inside_a_transaction_blocks_nobody_and_writes_nothing(
    documents: Documents, start_worker: StartWorker
) -> None:
    documents.transact(lambda transaction: transaction.create("jobs/j", {"n": 0}))
    worker = start_worker("hang_in_body")
    assert answer(worker) == "inside"

    def write(transaction: Transaction) -> None:
        snapshot = transaction.get("jobs/j")
        assert snapshot is not None
        transaction.update("jobs/j", {"n": snapshot.data["n"] + 1})

    documents.transact(write, deadline=2)  # while it hangs
    worker.kill()
    worker.wait()
    documents.transact(write, deadline=2)  # after its death
    documents.transact(lambda transaction: transaction.create("jobs/missing", {}), deadline=2)
    snapshot = documents.get("jobs/j")
    assert snapshot is not None
    assert snapshot.data == {"n": 2}


def test_the_lease_of_a_killed_worker_is_free_after_its_time(
    documents: Documents, start_worker: StartWorker
) -> None:
    worker = start_worker("hold_lease", "3")
    assert answer(worker) == "holding"
    worker.kill()
    worker.wait()
    leases = Leases(documents, timedelta(minutes=1))
    assert leases.try_acquire(script_scope()) is None
    assert leases.acquire(script_scope(), wait=60).fence == 2


def test_two_processes_on_one_store_lose_and_repeat_nothing(
    documents: Documents, start_worker: StartWorker
) -> None:
    workers = [start_worker("count", "25") for _ in range(2)]
    assert [answer(worker) for worker in workers] == ["ready", "ready"]
    go_on_together(workers)
    assert [worker.returncode for worker in workers] == [0, 0]
    assert {snapshot.data["n"] for snapshot in documents.query("numbers")} == set(range(1, 51))
    counter = documents.get("counters/c")
    assert counter is not None
    assert counter.data == {"value": 50}


@pytest.fixture
def file(tmp_path: Path) -> Iterator[SqliteDocuments]:
    documents = SqliteDocuments(tmp_path / "store.db", timeout=0.2)
    yield documents
    documents.close()


def fill(documents: SqliteDocuments) -> None:
    documents.transact(lambda transaction: transaction.set("a/b", {"text": "x" * 500_000}), deadline=0.2)


@pytest.mark.parametrize(
    "pragma, reason", [("max_page_count = 10", "the disk is full"), ("query_only = 1", "it is read-only")]
)
def test_a_file_that_cannot_be_written_is_a_sentence_and_leaves_what_was_there(
    file: SqliteDocuments, pragma: str, reason: str
) -> None:
    file.transact(lambda transaction: transaction.create("a/b", {"n": 1}))
    with file._pool.connection(file.deadline(1)) as connection:
        connection.execute(f"PRAGMA {pragma}")
    with pytest.raises(StoreError, match=reason) as raised:
        fill(file)
    assert "store.db" in str(raised.value)
    snapshot = file.get("a/b")
    assert snapshot is not None
    assert snapshot.data == {"n": 1}


def test_a_missing_folder_and_a_file_that_is_no_database_are_sentences(tmp_path: Path) -> None:
    (tmp_path / "text.db").write_text("This is no database. " * 100)
    for path, reason in (
        (tmp_path / "missing" / "x.db", "folder exists"),
        (tmp_path / "text.db", "no database"),
    ):
        documents = SqliteDocuments(path, timeout=0.2)
        with pytest.raises(StoreError, match=reason):
            documents.get("a/b")
        with pytest.raises(StoreError, match=reason):
            fill(documents)
        documents.close()


def test_a_file_that_another_program_writes_until_the_deadline_is_contention(
    file: SqliteDocuments, tmp_path: Path
) -> None:
    file.transact(lambda transaction: transaction.create("a/b", {"n": 1}))
    other = sqlite3.connect(tmp_path / "store.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    try:
        with pytest.raises(Contention, match="nothing was written"):
            fill(file)
        assert file.get("a/b") is not None  # readers go on
    finally:
        other.close()
    fill(file)


def test_a_thread_that_waits_for_its_turn_to_write_stops_at_the_deadline(file: SqliteDocuments) -> None:
    writing, go_on = threading.Event(), threading.Event()

    def hold() -> None:
        with file._pool.writing(file.deadline(30)):
            writing.set()
            go_on.wait(30)

    holder = threading.Thread(target=hold)
    holder.start()
    assert writing.wait(30)
    with pytest.raises(Contention):
        fill(file)
    go_on.set()
    holder.join()
    fill(file)


def test_processes_that_open_a_new_file_together_all_succeed(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from addon.store.sqlite import SqliteDocuments; "
        "print('ready', flush=True); sys.stdin.readline()\n"
        "for round in range(20):\n"
        "    d = SqliteDocuments(Path(sys.argv[1]) / f'{round}.db')\n"
        "    d.transact(lambda t: t.create(f'a/{sys.argv[2]}', {})); d.close()\n"
        "print('done')"
    )
    workers = [
        subprocess.Popen(
            [sys.executable, "-c", code, str(tmp_path), str(n)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": str(HERE.parent.parent)},
        )
        for n in range(4)
    ]
    assert [answer(worker) for worker in workers] == ["ready"] * 4
    assert go_on_together(workers) == ["done\n"] * 4
    for number in range(20):
        documents = SqliteDocuments(tmp_path / f"{number}.db")
        assert [snapshot.path for snapshot in documents.query("a")] == [f"a/{n}" for n in range(4)]
        documents.close()


def test_a_forked_child_opens_its_own_connections(tmp_path: Path) -> None:
    code = """
import os, sys
from pathlib import Path
from addon.store.sqlite import SqliteDocuments

documents = SqliteDocuments(Path(sys.argv[1]))
documents.transact(lambda transaction: transaction.create("a/parent", {}))
parents = documents._pool._idle[0]
child = os.fork()
documents.transact(lambda transaction: transaction.create("a/child" if child == 0 else "a/parent2", {}))
if child == 0:
    assert documents._pool._idle[0] is not parents
else:
    assert os.waitpid(child, 0)[1] == 0
    assert [snapshot.path for snapshot in documents.query("a")] == ["a/child", "a/parent", "a/parent2"]
documents.close()
"""
    subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "store.db")],
        check=True,
        env={**os.environ, "PYTHONPATH": str(HERE.parent.parent)},
    )
