"""A shard's chain in the store and in the queue: claim, renew, commit, hand over, close, pause.

The transactional shell around `addon.jobs.model`: each method reads, calls one pure decision, writes.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from time import monotonic

from addon.google.session import Budget
from addon.google.tasks import Tasks
from addon.jobs import events, model
from addon.jobs.records import (
    Job,
    Shard,
    failure_path,
    folder_path,
    job_path,
    shard_path,
    spreadsheet_path,
    task_name,
)
from addon.jobs.steps import Reach, nothing
from addon.store.documents import Documents, Transaction

LINK_PATH = "/tasks/link"

MOST_STALE = 400
"""Deletes that fit beside the rest of one transaction."""


@dataclass(frozen=True, slots=True)
class LinkMessage:
    """What a link's task says: ids and counters, never content."""

    job: str
    shard: int
    epoch: int
    step: int


class Gone(Exception):
    """The job or shard a task names does not exist."""


def read_job(reader: Documents | Transaction, job_id: str) -> Job:
    """Read a job.

    Raises
    ------
    Gone
        There is none of that id.
    """
    snapshot = reader.get(job_path(job_id))
    if snapshot is None:
        raise Gone(job_id)
    return Job.from_data(snapshot.data)


def read_shard(reader: Documents | Transaction, job_id: str, number: int) -> Shard:
    """Read a shard; raises `Gone` where there is none."""
    snapshot = reader.get(shard_path(job_id, number))
    if snapshot is None:
        raise Gone(f"{job_id}/{number}")
    return Shard.from_data(snapshot.data)


def read_shards(reader: Documents | Transaction, job_id: str, job: Job) -> dict[int, Shard]:
    """Read all shards of a job by number."""
    found = reader.get_many(shard_path(job_id, number) for number in range(job.shards))
    return {int(item.id): Shard.from_data(item.data) for item in found.values()}


def enqueue(tasks: Tasks, job_id: str, number: int, shard: Shard) -> bool:
    """Put a shard's current step into the queue under its deterministic name."""
    body: dict[str, str | int] = {"job": job_id, "shard": number, "epoch": shard.epoch, "step": shard.step}
    return tasks.enqueue(task_name(job_id, number, shard), LINK_PATH, body, not_before=shard.due_at)


def pause_job(documents: Documents, job_id: str, reason: str) -> None:
    """Pause a job; harmless where it is over or paused already."""

    def work(tx: Transaction) -> bool:
        job = read_job(tx, job_id)
        after = model.paused(job, reason, tx.now)
        tx.set(job_path(job_id), after.to_data())
        return after is not job

    if documents.transact(work):
        events.job_paused(job_id, reason)


class Chain:
    """One link's hold on its shard.

    Parameters
    ----------
    ttl
        Seconds the lease lasts without a renewal.
    reach
        Fault point seam.

    Attributes
    ----------
    deadline
        Seconds one store transaction may take: well inside the lease.
    upload
        Time for an upload, which began before the lease was renewed last. Drive has no fences: a worker that
        stood still between renewal and upload must be too late for it, whoever holds the lease by then.
    """

    def __init__(
        self,
        documents: Documents,
        tasks: Tasks,
        job_id: str,
        number: int,
        ttl: float,
        reach: Reach = nothing,
    ) -> None:
        self.job_id = job_id
        self.number = number
        self.ttl = ttl
        self.deadline = ttl / 3
        self.fence = 0
        self.upload = Budget(self.deadline, monotonic)
        self._reach = reach
        self._documents = documents
        self._tasks = tasks
        self._job_path = job_path(job_id)
        self._path = shard_path(job_id, number)

    def claim(self, epoch: int, step: int, owner: str, at_risk: int) -> tuple[Job, Shard, bool]:
        """Take the lease for one link; see `model.claim`.

        Raises
        ------
        Refused
            With the HTTP answer for the queue. ``behind`` has made sure that the current link is enqueued,
            ``stuck`` has paused the job.
        """

        def work(tx: Transaction) -> tuple[Job, Shard, bool]:
            job, shard = read_job(tx, self.job_id), read_shard(tx, self.job_id, self.number)
            turn = (epoch, step)
            new_job, new_shard, unclean = model.claim(job, shard, turn, owner, tx.now, self.ttl, at_risk)
            tx.set(self._path, new_shard.to_data())
            if new_job is not job:
                tx.set(self._job_path, new_job.to_data())
            return new_job, new_shard, unclean

        try:
            job, shard, unclean = self._documents.transact(work, deadline=self.deadline)
        except model.Refused as refusal:
            self._heal(refusal)
            raise
        self.fence = shard.fence
        return job, shard, unclean

    def _heal(self, refusal: model.Refused) -> None:
        if refusal.code == "behind":
            shard = read_shard(self._documents, self.job_id, self.number)
            if not shard.closed and not shard.owner:
                enqueue(self._tasks, self.job_id, self.number, shard)
        elif refusal.code == "stuck":
            pause_job(self._documents, self.job_id, "stuck")

    def status(self) -> Job:
        """The job as it is now: it may have been paused or cancelled meanwhile."""
        return read_job(self._documents, self.job_id)

    def write(
        self, change: Callable[[Shard, datetime], Shard], more: Callable[[Transaction], None] | None = None
    ) -> Shard:
        """Change the shard under its fencing token, renewing the lease, and commit ``more`` with it.

        Raises
        ------
        Refused
            ``fenced``: the lease belongs to somebody else; nothing was written.
        """

        def work(tx: Transaction) -> Shard:
            shard = model.held(read_shard(tx, self.job_id, self.number), self.fence)
            new = model.renewed(change(shard, tx.now), tx.now, self.ttl)
            if more is not None:
                more(tx)
            tx.set(self._path, new.to_data())
            return new

        window = Budget(self.deadline, monotonic)
        shard = self._documents.transact(work, deadline=self.deadline)
        self.upload = window
        return shard

    def hand_over(self, change: Callable[[Shard], Shard], delay: float = 0.0) -> None:
        """Advance the step, release the lease, then enqueue the next link."""

        def work(tx: Transaction) -> Shard:
            shard = model.held(read_shard(tx, self.job_id, self.number), self.fence)
            new = model.released(change(shard), tx.now, advance=True, delay=delay)
            tx.set(self._path, new.to_data())
            return new

        shard = self._documents.transact(work, deadline=self.deadline)
        self._reach("before enqueue")
        enqueue(self._tasks, self.job_id, self.number, shard)
        self._reach("after enqueue")

    def let_go(self, change: Callable[[Shard], Shard], pause: str | None = None) -> None:
        """Release the lease without a next link: the job is paused (by ``pause``, if given) or cancelled."""

        def work(tx: Transaction) -> bool:
            job = read_job(tx, self.job_id)
            shard = model.held(read_shard(tx, self.job_id, self.number), self.fence)
            tx.set(self._path, model.released(change(shard), tx.now, advance=True).to_data())
            after = job if pause is None else model.paused(job, pause, tx.now)
            if pause is not None:
                tx.set(self._job_path, after.to_data())
            return after is not job

        if self._documents.transact(work, deadline=self.deadline) and pause is not None:
            events.job_paused(self.job_id, pause)

    def finish_pass(self, change: Callable[[Shard], Shard]) -> bool:
        """End the first pass over this shard's keys; whether this link goes on to check the whole sheet."""

        def work(tx: Transaction) -> bool:
            job = read_job(tx, self.job_id)
            shards = read_shards(tx, self.job_id, job)
            shards[self.number] = change(shards[self.number])
            shard, closing = model.finish(shards, self.number, self.fence, tx.now)
            tx.set(self._path, shard.to_data())
            return closing

        return self._documents.transact(work, deadline=self.deadline)

    def finish_job(
        self, change: Callable[[Shard], Shard], tally: Mapping[str, int], stale_failures: list[str]
    ) -> None:
        """Close the last shard and the job, and free the spreadsheet for the next one.

        ``stale_failures`` are keys of failed rows that are no longer in the sheet.
        """

        def work(tx: Transaction) -> Job | None:
            job = read_job(tx, self.job_id)
            shards = read_shards(tx, self.job_id, job)
            shard = model.held(shards[self.number], self.fence)
            path = spreadsheet_path(job.spreadsheet_id)
            spreadsheet, folder = tx.get(path), tx.get(folder_path(job.spreadsheet_id, job.owner))
            shard = shards[self.number] = replace(change(shard), closed=True, risks=[])
            tx.set(self._path, model.released(shard, tx.now, advance=True).to_data())
            for key in stale_failures[:MOST_STALE]:
                tx.delete(failure_path(self.job_id, key))
            if folder is not None and folder.data["folder"] == job.folder:
                tx.update(folder.path, {"spare": model.spare_parts(job, shards)})
            if job.status in model.OVER:
                return None
            over = replace(
                job, status="done", reason=None, tally=dict(tally), finished_at=tx.now, updated_at=tx.now
            )
            tx.set(self._job_path, over.to_data())
            if spreadsheet is not None and spreadsheet.data.get("active_job") == self.job_id:
                tx.set(path, model.ended(spreadsheet.data, self.job_id, tx.now))
            return over

        done = self._documents.transact(work, deadline=self.deadline)
        if done is not None:
            events.job_done(self.job_id, done)
