"""Every decision about a job's states: *state + command → new state, or a refusal*. Pure.

Nothing here reads a clock, a store or Google: the callers read inside a transaction, call one function,
and write what comes back.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from addon.jobs.records import Job, Shard

OVER: frozenset[str] = frozenset({"done", "cancelled"})
"""Statuses in which no worker touches the job."""

PAUSE_REASONS = frozenset(
    {
        "by_person",  # somebody pressed Pause
        "key_rejected",  # the provider does not accept the key
        "model_unknown",  # the provider does not know the model
        "quota_exhausted",  # today's quota is used up
        "insufficient_quota",  # the provider's account has no credit
        "model_silent",  # the provider has not answered for a long time
        "google_silent",  # Google has not answered properly for a long time
        "access_removed",  # the worker may not open the spreadsheet or its results any more
        "sheet_gone",  # the tab was deleted
        "column_gone",  # a source or output column is not in the header row
        "protected",  # the output column is protected
        "storage_full",  # the user's Drive is full
        "workbook_full",  # the spreadsheet has reached 10 million cells
        "sharing_refused",  # the spreadsheet cannot be shared with the worker
        "resharing_refused",  # the person who started the job may not share the spreadsheet
        "read_only",  # the person who started the job may not edit the spreadsheet
        "delegation_refused",  # the worker may not act as the person who started the job
        "shared_drive_refused",  # the worker cannot keep results in the shared drive
        "spreadsheet_trashed",  # the spreadsheet is in the trash
        "results_trashed",  # a results file, or its folder, is in the trash
        "api_refused",  # Google refuses the request for a reason we do not know
        "run_file_gone",  # the file that says what to write was deleted
        "results_file_gone",  # the results file was deleted while the job wrote to it
        "stuck",  # the same step failed too often
    }
)

FAILURE_CLASSES = frozenset(
    {
        "blocked",  # the provider refused the text
        "truncated",  # the answer was longer than the model may write
        "empty",  # the model said nothing
        "rejected",  # the provider called the request malformed
        "model_error",  # no usable answer after several tries
        "source_error",  # a source cell shows an error value
        "source_too_long",  # a source cell holds more than a cell may
        "cell_refused",  # Sheets refused the summary's cell
    }
)

MAX_ATTEMPTS = 10
"""Claims of one step without a single commit before the job pauses as `stuck`."""

OVERDUE = timedelta(seconds=30)
"""How late a link may be before the sweep enqueues it again: more than a queue's usual delay."""

PREPARING = timedelta(seconds=60)
"""How long one click may take to create files before another may finish its work."""


class Refused(Exception):
    """The command does not fit the state; ``code`` says why, ``answer`` is the HTTP status for a queue."""

    def __init__(self, code: str, answer: int = 200) -> None:
        super().__init__(code)
        self.code = code
        self.answer = answer


def claim(
    job: Job, shard: Shard, turn: tuple[int, int], owner: str, now: datetime, ttl: float, at_risk: int
) -> tuple[Job, Shard, bool]:
    """Take a shard's lease for one link; ``turn`` is the epoch and step its task names.

    Returns the new job and shard, and whether the holder before ended uncleanly.

    Raises
    ------
    Refused
        ``over``, ``not_running`` (200), ``behind`` (200, the current link must be enqueued), ``ahead`` (409),
        ``held`` (409: if the holder dies the task must come back; 429 or 5xx would slow the whole queue),
        ``stuck`` (200, the job is to be paused).
    """
    if job.status in OVER or shard.closed:
        raise Refused("over")
    if job.status == "paused" or not job.prepared:
        raise Refused("not_running")
    if turn < (shard.epoch, shard.step):
        raise Refused("behind")
    if turn > (shard.epoch, shard.step):
        raise Refused("ahead", 409)
    if shard.owner and shard.expires_at is not None and shard.expires_at > now:
        raise Refused("held", 409)
    if shard.attempts >= MAX_ATTEMPTS:
        raise Refused("stuck")
    unclean = bool(shard.owner)
    taken = replace(
        shard,
        owner=owner,
        fence=shard.fence + 1,
        attempts=shard.attempts + 1,
        waiting_since=None,
        expires_at=now + timedelta(seconds=ttl),
        risks=[*shard.risks, shard.at_risk] if unclean else shard.risks,
        unshown=shard.unshown or unclean,
        dirty=shard.dirty or (unclean and shard.closing),  # what the dead worker had seen, nobody knows
        at_risk=at_risk,
        updated_at=now,
    )
    if job.status == "queued":
        job = replace(job, status="running", started_at=job.started_at or now)
    return job, taken, unclean


def held(shard: Shard, fence: int) -> Shard:
    """The shard, if the fencing token still holds it.

    Raises
    ------
    Refused
        ``fenced``: somebody else has claimed it since; whatever this worker wanted to write is void.
    """
    if shard.fence != fence or not shard.owner:
        raise Refused("fenced", 409)
    return shard


def renewed(shard: Shard, now: datetime, ttl: float) -> Shard:
    """The lease, good for another ``ttl`` seconds."""
    return replace(shard, expires_at=now + timedelta(seconds=ttl), updated_at=now)


def released(shard: Shard, now: datetime, *, advance: bool, delay: float = 0.0) -> Shard:
    """The shard after a clean end of a link; ``advance`` makes the next step due in ``delay`` seconds."""
    return replace(
        shard,
        owner="",
        expires_at=None,
        at_risk=0,
        attempts=0 if advance else shard.attempts,
        step=shard.step + (1 if advance else 0),
        nudges=0 if advance else shard.nudges,
        due_at=now + timedelta(seconds=delay),
        updated_at=now,
    )


def account(risks: Sequence[int], calls: int) -> tuple[list[int], int]:
    """Count committed calls against the risks of earlier unclean ends.

    A call is counted once per end that may have made it before: each end's calls are among the first calls
    committed after it or were never repeated, so the sum is never less than the truth.

    Returns the risks that remain, and the calls to report as possibly repeated.
    """
    repeated = sum(min(calls, risk) for risk in risks)
    return [risk - calls for risk in risks if risk > calls], repeated


def finish(shards: Mapping[int, Shard], number: int, fence: int, now: datetime) -> tuple[Shard, bool]:
    """End a shard's first pass: close it, or make the last open one check the whole sheet.

    Returns the new shard, and whether it is the one that checks (``closing``).
    """
    shard = held(shards[number], fence)
    others_open = any(not other.closed for n, other in shards.items() if n != number)
    if others_open:
        closed = released(replace(shard, closed=True), now, advance=True)
        return closed, False
    checking = replace(
        shard, closing=True, dirty=False, cursor=0, settled={}, first_tally=shard.tally, updated_at=now
    )
    return checking, True


def ended(spreadsheet: Mapping[str, Any], job_id: str, now: datetime) -> dict[str, Any]:
    """What is known of a spreadsheet once its job is over: free for the next one, and the worker's access,
    if it was shared for it, due to be given back."""
    over = {**spreadsheet, "active_job": None, "last_job": job_id}
    return over | ({"withdraw_at": now} if spreadsheet.get("shared") else {})


def spare_parts(job: Job, shards: Mapping[int, Shard]) -> list[str]:
    """Parts of a finished job that hold no result."""
    spare: list[str] = []
    for number, shard in sorted(shards.items()):
        used = shard.part + 1 if shard.part or shard.made else 0
        spare += job.parts[str(number)][used:]
    return spare


def paused(job: Job, reason: str, now: datetime) -> Job:
    """The job, waiting for a person. Pausing a job that is over or paused changes nothing."""
    if reason not in PAUSE_REASONS:
        raise ValueError(f"{reason!r} is not a pause reason")
    if job.status in OVER or job.status == "paused":
        return job
    return replace(job, status="paused", reason=reason, updated_at=now)


def reopened(shard: Shard, epoch: int, now: datetime, *, from_start: bool) -> Shard:
    """A shard for a new epoch, whose first link is due now.

    A live lease stays until its holder notices; one that would work ``from_start`` on other rows than its
    holder knows of is taken from it.
    """
    shard = replace(shard, epoch=epoch, step=shard.step + 1, nudges=0, attempts=0, silent_links=0)
    shard = replace(shard, due_at=now, waiting_since=None)
    if from_start:
        shard = replace(shard, closed=False, closing=False, cursor=0, settled={}, tally={}, first_tally={})
        shard = replace(shard, fence=shard.fence + 1, expires_at=now if shard.owner else None)
    return shard


def idle(job: Job, shard: Shard, now: datetime) -> bool:
    """Whether there is work on a shard and no live worker."""
    if job.status not in {"queued", "running"} or not job.prepared or shard.closed:
        return False
    return not (shard.owner and shard.expires_at is not None and shard.expires_at > now)


def overdue(job: Job, shard: Shard, now: datetime) -> bool:
    """Whether the sweep must enqueue a shard's link again: nobody works on it and its task is late."""
    return idle(job, shard, now) and (shard.due_at is None or shard.due_at + OVERDUE <= now)


def waiting(job: Job, shard: Shard, now: datetime) -> float:
    """Seconds for which a shard's link has been due with nobody at work, however often it was enqueued."""
    if not idle(job, shard, now):
        return 0.0
    since = _due_first(shard) or job.created_at
    return max(0.0, (now - since).total_seconds())


def _due_first(shard: Shard) -> datetime | None:
    """When a shard without a live worker was due; a dead worker's from the end of its lease."""
    due = [shard.due_at, shard.expires_at if shard.owner else None]
    return shard.waiting_since or max((at for at in due if at is not None), default=None)


def nudged(shard: Shard, now: datetime) -> Shard:
    """The shard with a fresh task name for its current step: the old name may be burnt for a day."""
    since = min(_due_first(shard) or now, now)
    return replace(shard, nudges=shard.nudges + 1, due_at=now, waiting_since=since)
