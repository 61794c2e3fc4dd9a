"""How `addon run` follows its job: it waits while there is something to wait for, and never for ever."""

import errno
import logging
import sqlite3
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from addon.jobs.records import Job, Shard, job_path, shard_path
from addon.run_watch import Progress, RunStopped, Stop, Troubles, Watch, disk_sentence
from addon.store.documents import Documents, StoreError
from addon.store.sqlite import SqliteDocuments

STILL = 100.0


class Clock:
    """Seconds that pass with every look."""

    def __init__(self, step: float) -> None:
        self.step, self.now, self.looks = step, 0.0, 0

    def __call__(self) -> float:
        self.now, self.looks = self.now + self.step, self.looks + 1
        return self.now


@pytest.fixture
def documents(tmp_path: Path) -> Iterator[Documents]:
    documents = SqliteDocuments(tmp_path / "store.sqlite")
    yield documents
    documents.close()


def _store(documents: Documents, shard: Shard) -> str:
    now = documents.now()
    job = Job(
        spreadsheet_id="s", sheet_id=0, mode="all", model="m", owner="o", created_at=now, updated_at=now,
        shards=1, rows=1, distinct=1, blank=0, folder="f", run_file="r", parts={}, part_rows=1,
        status="running", prepared=True,
    )  # fmt: skip

    def work(tx: "object") -> None:
        tx.set(job_path("j"), job.to_data())  # type: ignore[attr-defined]
        tx.set(shard_path("j", 0), shard.to_data())  # type: ignore[attr-defined]

    documents.transact(work)
    return "j"


def _watch(documents: Documents, clock: Clock, tmp_path: Path) -> tuple[Watch, Stop, Troubles]:
    stop, troubles = Stop(), Troubles(tmp_path)
    return Watch(documents, troubles, stop, still=STILL, clock=clock), stop, troubles


def test_a_job_in_which_nothing_moves_ends_the_run_with_a_sentence(
    documents: Documents, tmp_path: Path
) -> None:
    watch, _, _ = _watch(documents, Clock(step=30), tmp_path)
    with pytest.raises(RunStopped, match=r"Nothing has moved for 1 min 40 s\..*run the same command again"):
        watch.follow(_store(documents, Shard()), Progress(quiet=True))


def test_a_wait_that_the_model_asked_for_does_not_end_the_run(documents: Documents, tmp_path: Path) -> None:
    job_id = _store(documents, Shard(due_at=documents.now() + timedelta(hours=1)))
    clock = Clock(step=1000)
    watch, stop, _ = _watch(documents, clock, tmp_path)

    class Until(Progress):
        def show(self, status: "object") -> None:
            if clock.looks > 3:
                stop.ask()

    assert watch.follow(job_id, Until(quiet=True)).status == "running"


def test_a_job_that_is_gone_ends_the_run_with_a_sentence(documents: Documents, tmp_path: Path) -> None:
    watch, _, _ = _watch(documents, Clock(step=1), tmp_path)
    with pytest.raises(RunStopped, match="The job is gone"):
        watch.follow("none", Progress(quiet=True))


def test_waiting_for_a_worker_ends_when_its_lease_does(documents: Documents, tmp_path: Path) -> None:
    now = documents.now()
    clock = Clock(step=1)
    watch, _, _ = _watch(documents, clock, tmp_path)
    dead = Shard(owner="w", expires_at=now - timedelta(seconds=1))
    assert watch.settle(_store(documents, dead), 1000).status == "running"
    live = Shard(owner="w", expires_at=now + timedelta(hours=1))
    assert watch.settle(_store(documents, live), 3).status == "running"
    assert clock.now < 20


def _sqlite_error(code: int) -> sqlite3.Error:
    error = sqlite3.OperationalError("no matter")
    error.sqlite_errorcode = code
    return error


def _store_error(code: int) -> StoreError:
    error = StoreError("no matter")
    error.__cause__ = _sqlite_error(code)
    return error


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (OSError(errno.ENOSPC, "x"), "The disk with /state is full."),
        (_sqlite_error(sqlite3.SQLITE_FULL), "The disk with /state is full."),
        (_store_error(sqlite3.SQLITE_FULL), "The disk with /state is full."),
        (OSError(errno.EROFS, "x"), "/state may not be written to."),
        (_store_error(sqlite3.SQLITE_READONLY), "/state may not be written to."),
        (_sqlite_error(sqlite3.SQLITE_IOERR_WRITE), "The disk with /state answers with errors."),
        (OSError(errno.ENOTDIR, "x"), "/state is not a folder."),
        (_sqlite_error(sqlite3.SQLITE_BUSY), None),
        (ConnectionResetError(errno.ECONNRESET, "x"), None),
        (StoreError("busy"), None),
    ],
)
def test_a_disks_trouble_is_told_from_others(error: Exception, sentence: str | None) -> None:
    said = disk_sentence(error, Path("/state"))
    assert (said is None) if sentence is None else (said or "").startswith(sentence)


def test_trouble_in_a_log_record_or_behind_it_is_heard(tmp_path: Path) -> None:
    log = logging.getLogger("addon.somewhere")
    with Troubles(tmp_path).heard() as carried:
        log.error("failed", exc_info=OSError(errno.ENOSPC, "x"))
    with Troubles(tmp_path).heard() as behind:
        try:
            raise _store_error(sqlite3.SQLITE_FULL)
        except StoreError:
            log.warning("failed")
    assert carried.sentence == behind.sentence
    assert "is full" in (carried.sentence or "")


def test_the_unforeseen_is_told_once_by_its_place_and_without_its_words(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with Troubles(tmp_path).heard():
        for _ in range(3):
            try:
                raise LookupError("a secret")
            except LookupError:
                logging.getLogger("addon.somewhere").exception("failed")
    said = capsys.readouterr().err
    assert said.count("An unforeseen LookupError was raised in") == 1
    assert "secret" not in said
