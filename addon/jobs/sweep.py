"""The sweep: links that are overdue are enqueued again, results past their retention are pruned."""

import time
from collections.abc import Iterator
from datetime import datetime, timedelta

from addon.google.errors import GoogleError
from addon.google.tasks import Tasks
from addon.jobs import events, model
from addon.jobs.access import Access
from addon.jobs.chain import Gone, enqueue, read_job, read_shard, read_shards
from addon.jobs.commands import release_spreadsheet
from addon.jobs.events import Swept
from addon.jobs.records import Job, Shard, shard_path
from addon.rounds import Rounds
from addon.store.documents import Documents, Snapshot, StoreError, Transaction, Where

PRUNE_SPREADSHEETS = 20
PRUNE_RESULTS = 1000
WITHDRAW_SPREADSHEETS = 20
PRUNE_EVERY = timedelta(days=1)
"""How much one sweep prunes and withdraws, and how often a spreadsheet's results are looked at."""

ABANDONED = 600.0
"""Seconds after which a job whose click died while creating its files is cancelled."""

MOST_PAUSED = 100
"""Paused jobs a sweep counts, for the log, and as many of the stuck ones among them: each costs a read."""


def sweep(documents: Documents, tasks: Tasks, access: Access) -> int:
    """Heal every chain whose next link is lost; return how many links were enqueued.

    Pressed by nobody: a lost task, a failed enqueue or a killed worker goes on within a minute or so.
    """
    began, swept = time.monotonic(), Swept()
    for snapshot in _active(documents):
        try:
            _look_after(documents, tasks, snapshot, swept)
        except (GoogleError, StoreError, Gone) as error:
            swept.skipped += 1
            events.heal_failed(snapshot.id, error)
    swept.enqueued += Rounds(documents, tasks).heal()
    _withdraw(documents, access)
    swept.pruned = _prune(documents)
    swept.paused = _paused(documents)
    swept.stuck = _paused(documents, "stuck")
    swept.log(time.monotonic() - began)
    return swept.enqueued


def _look_after(documents: Documents, tasks: Tasks, snapshot: Snapshot, swept: Swept) -> None:
    job_id, job, now = snapshot.id, Job.from_data(snapshot.data), snapshot.read_time
    swept.running += job.status == "running"
    swept.queued += job.status == "queued"
    if not job.prepared:
        swept.cancelled += _cancel_abandoned(documents, job_id, job, snapshot)
        return
    shards = read_shards(documents, job_id, job)
    swept.waiting = max([swept.waiting, *(model.waiting(job, shard, now) for shard in shards.values())])
    for number, shard in shards.items():
        if model.overdue(job, shard, now):
            swept.enqueued += _heal(documents, tasks, job_id, number)


def _paused(documents: Documents, reason: str | None = None) -> int:
    """Paused jobs, or those paused for a reason; `MOST_PAUSED` means as many or more."""
    where: list[Where] = [("status", "==", "paused"), ("reason", "==", reason)]
    if reason is None:
        where = [("status", "==", "paused")]
    return sum(1 for _ in documents.query("jobs", where=where, limit=MOST_PAUSED))


def _withdraw(documents: Documents, access: Access) -> None:
    """Give back the worker's access to spreadsheets that no job needs it for any more."""
    due = documents.query(
        "spreadsheets", where=[("withdraw_at", "<=", documents.now())], limit=WITHDRAW_SPREADSHEETS
    )
    for snapshot in list(due):
        access.withdraw(snapshot.id)


def _prune(documents: Documents) -> int:
    """Forget results past their retention, a spreadsheet at a time; the files stay.

    Firestore's own TTL policy does the same; either way a due result counts as gone before it is deleted.
    Returns how many were forgotten.
    """
    now, forgotten = documents.now(), 0
    due = list(documents.query("spreadsheets", where=[("prune_at", "<=", now)], limit=PRUNE_SPREADSHEETS))
    for snapshot in due:
        pruned = documents.prune(f"{snapshot.path}/results", "until", now, PRUNE_RESULTS)
        _set_prune_at(documents, snapshot.path, now if pruned >= PRUNE_RESULTS else now + PRUNE_EVERY)
        forgotten += pruned
    return forgotten


def _set_prune_at(documents: Documents, path: str, at: datetime) -> None:
    def work(tx: Transaction) -> None:
        if tx.get(path) is not None:
            tx.update(path, {"prune_at": at})

    documents.transact(work)


def _active(documents: Documents) -> Iterator[Snapshot]:
    yield from documents.query("jobs", where=[("status", "in", ["queued", "running"])])


def _cancel_abandoned(documents: Documents, job_id: str, job: Job, snapshot: Snapshot) -> bool:
    until = job.preparing_until
    if until is None or (snapshot.read_time - until).total_seconds() <= ABANDONED:
        return False
    cancelled = documents.transact(lambda tx: release_spreadsheet(tx, job_id, "cancelled"))
    if cancelled:
        events.job_cancelled(job_id, "abandoned")
    return cancelled


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
