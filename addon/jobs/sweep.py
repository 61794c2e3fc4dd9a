"""The sweep: links that are overdue are enqueued again, results past their retention are pruned."""

import logging
from collections.abc import Iterator
from datetime import datetime, timedelta

from addon.google.errors import GoogleError
from addon.google.tasks import Tasks
from addon.jobs import model
from addon.jobs.access import Access
from addon.jobs.chain import Gone, enqueue, read_job, read_shard, read_shards
from addon.jobs.commands import release_spreadsheet
from addon.jobs.records import Job, Shard, shard_path
from addon.store.documents import Documents, Snapshot, StoreError, Transaction

log = logging.getLogger(__name__)

PRUNE_SPREADSHEETS = 20
PRUNE_RESULTS = 1000
WITHDRAW_SPREADSHEETS = 20
PRUNE_EVERY = timedelta(days=1)
"""How much one sweep prunes and withdraws, and how often a spreadsheet's results are looked at."""

ABANDONED = 600.0
"""Seconds after which a job whose click died while creating its files is cancelled."""


def sweep(documents: Documents, tasks: Tasks, access: Access) -> int:
    """Heal every chain whose next link is lost; return how many links were enqueued.

    Pressed by nobody: a lost task, a failed enqueue or a killed worker goes on within a minute or so.
    """
    enqueued = 0
    for snapshot in _active(documents):
        job_id, job = snapshot.id, Job.from_data(snapshot.data)
        try:
            if not job.prepared:
                _cancel_abandoned(documents, job_id, job, snapshot)
                continue
            for number, shard in read_shards(documents, job_id, job).items():
                if model.overdue(job, shard, snapshot.read_time):
                    enqueued += _heal(documents, tasks, job_id, number)
        except (GoogleError, StoreError, Gone) as error:
            log.warning("sweep: job %s skipped this time (%s)", job_id, type(error).__name__)
    _withdraw(documents, access)
    _prune(documents)
    return enqueued


def _withdraw(documents: Documents, access: Access) -> None:
    """Give back the worker's access to spreadsheets that no job needs it for any more."""
    due = documents.query(
        "spreadsheets", where=[("withdraw_at", "<=", documents.now())], limit=WITHDRAW_SPREADSHEETS
    )
    for snapshot in list(due):
        access.withdraw(snapshot.id)


def _prune(documents: Documents) -> None:
    """Forget results past their retention, a spreadsheet at a time; the files stay.

    Firestore's own TTL policy does the same; either way a due result counts as gone before it is deleted.
    """
    now = documents.now()
    due = list(documents.query("spreadsheets", where=[("prune_at", "<=", now)], limit=PRUNE_SPREADSHEETS))
    for snapshot in due:
        left = documents.prune(f"{snapshot.path}/results", "until", now, PRUNE_RESULTS) >= PRUNE_RESULTS
        _set_prune_at(documents, snapshot.path, now if left else now + PRUNE_EVERY)


def _set_prune_at(documents: Documents, path: str, at: datetime) -> None:
    def work(tx: Transaction) -> None:
        if tx.get(path) is not None:
            tx.update(path, {"prune_at": at})

    documents.transact(work)


def _active(documents: Documents) -> Iterator[Snapshot]:
    yield from documents.query("jobs", where=[("status", "in", ["queued", "running"])])


def _cancel_abandoned(documents: Documents, job_id: str, job: Job, snapshot: Snapshot) -> None:
    until = job.preparing_until
    if until is not None and (snapshot.read_time - until).total_seconds() > ABANDONED:
        documents.transact(lambda tx: release_spreadsheet(tx, job_id, "cancelled"))


def _heal(documents: Documents, tasks: Tasks, job_id: str, number: int) -> bool:
    """Enqueue a shard's link again, if it is still overdue when that is decided."""

    def work(tx: Transaction) -> Shard | None:
        try:
            job, shard = read_job(tx, job_id), read_shard(tx, job_id, number)
        except Gone:
            return None
        if not model.overdue(job, shard, tx.now):
            return None
        fresh = model.nudged(shard, tx.now)
        tx.set(shard_path(job_id, number), fresh.to_data())
        return fresh

    fresh = documents.transact(work)
    return fresh is not None and enqueue(tasks, job_id, number, fresh)
