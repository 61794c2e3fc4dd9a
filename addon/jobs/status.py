"""What is known of a job, put together for people."""

from collections import Counter, defaultdict
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from addon.jobs.chain import read_shards
from addon.jobs.model import OVER
from addon.jobs.records import Failure, Job, Mode, Shard, Status, failures_path, job_path, spreadsheet_path
from addon.llm.base import Usage
from addon.llm.prices import cost, parse_price
from addon.store.documents import Documents, Snapshot

MOST_FAILURES = 5_000
"""Failures read for one status."""

ROWS_NAMED = 10
"""Rows named per failure class."""

MOST_LISTED = 15
"""Jobs on the administrators' card: each takes a section of at most four widgets, and a card holds 100."""

MOST_PAUSED = 200
"""Paused jobs looked through for the newest."""

FRESH = 60.0
"""Seconds after which a rate measured by a worker no longer counts as the present one."""


@dataclass(frozen=True, slots=True)
class FailureGroup:
    """Rows that failed for one reason; ``rows`` are sheet rows (1-based), the first few."""

    error_class: str
    count: int
    rows: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class JobStatus:
    """A job as people see it.

    ``rows`` had text when the job started; ``done`` of them have their summary, ``reused`` of those without
    a call by this job, ``failed`` got none, ``blank`` rows had no text. ``called`` counts committed model
    calls, ``repeated`` is the most calls that may have been made twice. ``rate`` is in rows per second.
    ``now`` is the store's clock. ``cost`` and ``expected_cost`` are in US dollars, ``None`` where no price is
    known.
    """

    job_id: str
    spreadsheet_id: str
    sheet_id: int
    status: Status
    reason: str | None
    mode: Mode
    model: str
    owner: str
    rows: int
    done: int
    failed: int
    blank: int
    called: int
    reused: int
    repeated: int
    input_tokens: int
    output_tokens: int
    rate: float | None
    seconds_left: float | None
    created_at: datetime
    updated_at: datetime
    finished_at: datetime | None
    now: datetime
    results_link: str | None
    failures: tuple[FailureGroup, ...]
    notes: tuple[str, ...]
    cost: Decimal | None = None
    expected_cost: Decimal | None = None


def job_status(documents: Documents, job_id: str) -> JobStatus | None:
    """The status of a job, or ``None`` where there is none of that id."""
    snapshot = documents.get(job_path(job_id))
    return None if snapshot is None else _status(documents, snapshot)


def latest_status(documents: Documents, spreadsheet_id: str) -> JobStatus | None:
    """The status of a spreadsheet's active job, or else of its last one."""
    spreadsheet = documents.get(spreadsheet_path(spreadsheet_id))
    if spreadsheet is None:
        return None
    job_id = spreadsheet.data.get("active_job") or spreadsheet.data.get("last_job")
    return job_status(documents, job_id) if job_id else None


def list_jobs(documents: Documents, limit: int = 50) -> list[JobStatus]:
    """The newest jobs first."""
    found = documents.query("jobs", order_by=[("created_at", "desc")], limit=limit)
    return [_status(documents, snapshot) for snapshot in found]


@dataclass(frozen=True, slots=True)
class JobLine:
    """A job in a list: what its own record tells."""

    job_id: str
    spreadsheet_id: str
    status: Status
    reason: str | None
    created_at: datetime
    rows: int
    failed: int


def overview(documents: Documents, limit: int = MOST_LISTED) -> list[JobLine]:
    """Jobs that wait for a person, then the newest others; at most ``limit``."""
    waiting = list(documents.query("jobs", where=[("status", "==", "paused")], limit=MOST_PAUSED))
    waiting.sort(key=lambda snapshot: snapshot.data["created_at"], reverse=True)
    newest = documents.query("jobs", order_by=[("created_at", "desc")], limit=limit)
    found = {snapshot.id: _line(snapshot) for snapshot in [*waiting[:limit], *newest]}
    return list(found.values())[:limit]


def _line(snapshot: Snapshot) -> JobLine:
    job = Job.from_data(snapshot.data)
    failed = job.tally.get("failed", 0)
    return JobLine(snapshot.id, job.spreadsheet_id, job.status, job.reason, job.created_at, job.rows, failed)


def _status(documents: Documents, snapshot: Snapshot) -> JobStatus:
    job, job_id = Job.from_data(snapshot.data), snapshot.id
    shards = list(read_shards(documents, job_id, job).values())
    failures = _failures(documents, job_id)
    tally = job.tally or _live_tally(shards)
    done = tally.get("done", 0) + tally.get("made", 0) + tally.get("kept", 0)
    failed = tally.get("failed", 0)
    now = snapshot.read_time
    rate = sum(shard.rate for shard in shards if not shard.closed and _fresh(shard, now))
    rows = max(job.rows, done + failed) if not job.tally else done + failed + tally.get("left", 0)
    left = max(0, rows - done - failed)
    running = job.status == "running" and rate > 0
    used = Usage(sum(shard.input_tokens for shard in shards), sum(shard.output_tokens for shard in shards))
    return JobStatus(
        job_id=job_id,
        spreadsheet_id=job.spreadsheet_id,
        sheet_id=job.sheet_id,
        status=job.status,
        reason=job.reason,
        mode=job.mode,
        model=job.model,
        owner=job.owner,
        rows=rows,
        done=done,
        failed=failed,
        blank=tally.get("blank", job.blank),
        called=sum(shard.called for shard in shards),
        reused=done - tally.get("made", 0),
        repeated=_repeated(job, shards),
        input_tokens=used.input_tokens,
        output_tokens=used.output_tokens,
        rate=rate if running else None,
        seconds_left=left / rate if running else None,
        created_at=job.created_at,
        updated_at=max([job.updated_at or job.created_at, *(s.updated_at for s in shards if s.updated_at)]),
        finished_at=job.finished_at,
        now=now,
        results_link=job.results_link or None,
        failures=failures,
        notes=("results_lost",) if any(shard.lost for shard in shards) else (),
        cost=_cost(job, used),
        expected_cost=_cost(job, Usage(job.expected_input, job.expected_output)),
    )


def _cost(job: Job, usage: Usage) -> Decimal | None:
    return cost(job.model, usage, parse_price(job.price) if job.price else None)


def _live_tally(shards: list[Shard]) -> dict[str, int]:
    """Sum over the shards' own rows, or what the check of the whole sheet has found once that is more."""
    first: Counter[str] = Counter()
    check: Counter[str] = Counter()
    for shard in shards:
        first.update(shard.first_tally if shard.closing else shard.tally)
        check.update(shard.tally if shard.closing else {})
    return dict(check if check.total() > first.total() else first)


def _repeated(job: Job, shards: list[Shard]) -> int:
    """Counted repeats, and while the job is not done everything that may still turn out to be one."""
    counted = sum(shard.repeated + shard.timeouts for shard in shards)
    if job.status == "done":
        return counted
    pending = sum(sum(shard.risks) for shard in shards)
    if job.status in OVER:
        pending += sum(shard.at_risk for shard in shards if shard.owner)
    return counted + pending


def _fresh(shard: Shard, now: datetime) -> bool:
    return shard.updated_at is not None and (now - shard.updated_at).total_seconds() < FRESH


def _failures(documents: Documents, job_id: str) -> tuple[FailureGroup, ...]:
    groups: dict[str, list[Failure]] = defaultdict(list)
    for item in documents.query(failures_path(job_id), limit=MOST_FAILURES):
        failure = Failure.from_data(item.data)
        groups[failure.error_class].append(failure)
    return tuple(
        FailureGroup(
            error_class,
            sum(failure.rows for failure in failures),
            tuple(sorted(failure.row for failure in failures)[:ROWS_NAMED]),
        )
        for error_class, failures in sorted(groups.items(), key=lambda group: -len(group[1]))
    )
