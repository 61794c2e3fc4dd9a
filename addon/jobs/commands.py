"""What people do to a job: pause, resume, cancel, retry, and release a dead worker's lease."""

from collections.abc import Callable
from dataclasses import replace

from addon.google.tasks import Tasks
from addon.jobs import model
from addon.jobs.chain import Gone, enqueue, read_job, read_shards
from addon.jobs.records import (
    Job,
    Shard,
    Status,
    failures_path,
    job_path,
    shard_path,
    spreadsheet_path,
)
from addon.store.documents import Documents, Transaction


class CommandRefused(Exception):
    """The command does not fit the job's state; ``code`` says why."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


def release_spreadsheet(tx: Transaction, job_id: str, status: Status) -> None:
    """End a job that is not over yet and free its spreadsheet for the next one."""
    job = read_job(tx, job_id)
    path = spreadsheet_path(job.spreadsheet_id)
    spreadsheet = tx.get(path)
    if job.status in model.OVER:
        return
    over = replace(job, status=status, reason=None, finished_at=tx.now, updated_at=tx.now)
    tx.set(job_path(job_id), over.to_data())
    if spreadsheet is not None and spreadsheet.data.get("active_job") == job_id:
        tx.set(path, model.ended(spreadsheet.data, job_id, tx.now))


def pause(documents: Documents, job_id: str) -> None:
    """Pause a job; calls under way end and are kept. Pausing twice is harmless."""

    def work(tx: Transaction) -> None:
        job = _job(tx, job_id)
        if job.status in model.OVER:
            raise CommandRefused("already_over")
        tx.set(job_path(job_id), model.paused(job, "by_person", tx.now).to_data())

    documents.transact(work)


def cancel(documents: Documents, job_id: str) -> None:
    """Cancel a job; finished rows stay. Cancelling twice is harmless, a finished job stays finished."""

    def work(tx: Transaction) -> None:
        if _job(tx, job_id).status == "done":
            raise CommandRefused("already_over")
        release_spreadsheet(tx, job_id, "cancelled")

    documents.transact(work)


def resume(documents: Documents, tasks: Tasks, job_id: str) -> None:
    """Go on with a paused job. Resuming a running one is harmless."""

    def work(tx: Transaction) -> dict[int, Shard]:
        job = _job(tx, job_id)
        shards = read_shards(tx, job_id, job)
        if job.status in model.OVER:
            raise CommandRefused("already_over")
        if job.status != "paused":
            return {}
        again = replace(job, status="running", reason=None, epoch=job.epoch + 1, updated_at=tx.now)
        return _reopen(tx, job_id, again, shards, from_start=False)

    _enqueue_all(documents, tasks, job_id, work)


def retry(documents: Documents, tasks: Tasks, job_id: str, error_class: str | None = None) -> None:
    """Start a new epoch over the failed rows only, all of them or those of one failure class.

    Raises
    ------
    CommandRefused
        ``nothing_failed``, or ``another_job_active`` on the same spreadsheet.
    """
    conditions = [("error_class", "==", error_class)] if error_class else []
    failed = next(documents.query(failures_path(job_id), where=conditions, limit=1), None)  # type: ignore[arg-type]

    def work(tx: Transaction) -> dict[int, Shard]:
        job = _job(tx, job_id)
        path = spreadsheet_path(job.spreadsheet_id)
        spreadsheet = tx.get(path)
        shards = read_shards(tx, job_id, job)
        if job.status not in model.OVER and job.retry_epoch:
            return {}  # the same click again
        if job.status not in model.OVER:
            raise CommandRefused("still_running")
        if failed is None:
            raise CommandRefused("nothing_failed")
        data = spreadsheet.data if spreadsheet else {}
        if data.get("active_job") not in {None, job_id}:
            raise CommandRefused("another_job_active")
        epoch = job.epoch + 1
        again = replace(
            job,
            status="running",
            reason=None,
            epoch=epoch,
            retry_epoch=epoch,
            retry_class=error_class,
            finished_at=None,
            tally={},
            updated_at=tx.now,
        )
        tx.set(path, {**data, "active_job": job_id})
        return _reopen(tx, job_id, again, shards, from_start=True)

    _enqueue_all(documents, tasks, job_id, work)


def release(documents: Documents, tasks: Tasks, job_id: str) -> None:
    """Take the lease from workers known to be dead, and enqueue their links at once.

    What such a worker may have called in vain still counts as possibly repeated. If it lives after all, its
    fencing token keeps it from committing.
    """

    def work(tx: Transaction) -> dict[int, Shard]:
        job = _job(tx, job_id)
        shards = read_shards(tx, job_id, job)
        if job.status not in {"queued", "running"} or not job.prepared:
            return {}
        free: dict[int, Shard] = {}
        for number, shard in shards.items():
            if shard.closed:
                continue
            due = replace(model.nudged(shard, tx.now), attempts=0)
            free[number] = replace(due, expires_at=tx.now) if shard.owner else due
            tx.set(shard_path(job_id, number), free[number].to_data())
        return free

    _enqueue_all(documents, tasks, job_id, work)


def _job(tx: Transaction, job_id: str) -> Job:
    try:
        return read_job(tx, job_id)
    except Gone:
        raise CommandRefused("no_such_job") from None


def _reopen(
    tx: Transaction, job_id: str, job: Job, shards: dict[int, Shard], *, from_start: bool
) -> dict[int, Shard]:
    tx.set(job_path(job_id), job.to_data())
    due: dict[int, Shard] = {}
    for number, shard in shards.items():
        if from_start or not shard.closed:
            due[number] = model.reopened(shard, job.epoch, tx.now, from_start=from_start)
            tx.set(shard_path(job_id, number), due[number].to_data())
    return due


def _enqueue_all(
    documents: Documents, tasks: Tasks, job_id: str, work: Callable[[Transaction], dict[int, Shard]]
) -> None:
    for number, shard in documents.transact(work).items():
        enqueue(tasks, job_id, number, shard)
