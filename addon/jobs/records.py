"""What is stored of a job: its record, its shards' records, and the paths they live at."""

import hashlib
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from addon.store.records import Record

Status = Literal["queued", "running", "paused", "done", "cancelled"]
Mode = Literal["new_or_changed", "empty_only", "all"]
MODES: tuple[Mode, ...] = ("new_or_changed", "empty_only", "all")


@dataclass(frozen=True, slots=True)
class Job(Record):
    """One run over one sheet.

    ``price`` is what the operator had set (else the list price counts), ``expected_input`` and
    ``expected_output`` are tokens as estimated at the start.
    ``acts_as`` is the e-mail of the person the worker acts as, where it does so by delegation. ``reason``
    says why the job is paused. ``prepared`` is set once its files exist. ``rows``, ``distinct`` and ``blank``
    were counted at the start; ``tally`` is counted over the whole sheet at the end. ``parts`` maps each shard
    (as text) to its parts' file ids. ``retry_epoch`` (0: none) restricts the job to rows that failed in an
    earlier epoch, ``retry_class`` to those of one failure class.
    """

    spreadsheet_id: str
    sheet_id: int
    mode: Mode
    model: str
    owner: str
    created_at: datetime
    shards: int
    rows: int
    distinct: int
    blank: int
    folder: str
    run_file: str
    parts: dict[str, list[str]]
    part_rows: int
    folder_link: str = ""
    results_link: str = ""
    status: Status = "queued"
    reason: str | None = None
    prepared: bool = False
    preparing_until: datetime | None = None
    epoch: int = 1
    retry_epoch: int = 0
    retry_class: str | None = None
    started_at: datetime | None = None
    updated_at: datetime | None = None
    finished_at: datetime | None = None
    tally: dict[str, int] = field(default_factory=dict)
    acts_as: str = ""
    price: str = ""
    expected_input: int = 0
    expected_output: int = 0


@dataclass(frozen=True, slots=True)
class Shard(Record):
    """A job's share of keys and the chain that works on it.

    A shard is a share of *keys*, not of row numbers: equal rows always meet in one shard, and a row that is
    sorted elsewhere cannot fall between two chains.

    ``step`` counts links; ``owner``, ``fence`` and ``expires_at`` are its lease (free when ``owner`` is
    empty). In its first pass a shard works on its own keys; the last open one then checks the whole sheet
    (``closing``) until a pass finds nothing to do (not ``dirty``). ``unshown`` says that one of its links
    ended without showing all it had committed. ``nudges`` counts how often the sweep has enqueued the step
    again, ``waiting_since`` is when it was due first, where it was. ``cursor`` is the first row not settled
    yet, ``settled`` the tally above it. ``first_tally`` keeps what the first pass counted while
    the check counts anew. ``made`` counts committed summaries, ``called`` committed calls,
    ``timeouts`` calls made again because no answer came, ``lost`` results whose part did not hold them.
    ``risks`` holds, per unclean end, how many calls that worker may have made in vain and that have not
    been accounted for yet.
    """

    epoch: int = 1
    step: int = 0
    closed: bool = False
    closing: bool = False
    dirty: bool = False
    unshown: bool = False
    owner: str = ""
    fence: int = 0
    expires_at: datetime | None = None
    at_risk: int = 0
    attempts: int = 0
    nudges: int = 0
    due_at: datetime | None = None
    waiting_since: datetime | None = None
    silent_links: int = 0
    cursor: int = 0
    part: int = 0
    called: int = 0
    made: int = 0
    repeated: int = 0
    timeouts: int = 0
    lost: int = 0
    risks: list[int] = field(default_factory=list)
    input_tokens: int = 0
    output_tokens: int = 0
    rate: float = 0.0
    settled: dict[str, int] = field(default_factory=dict)
    tally: dict[str, int] = field(default_factory=dict)
    first_tally: dict[str, int] = field(default_factory=dict)
    updated_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Result(Record):
    """The committed fact that a key has a summary, and where: ``part`` is the file's Drive id, ``row`` the
    position in it. ``until`` ends its retention; a result past it counts as gone even before it is deleted.
    """

    part: str
    row: int
    sha256: str
    length: int
    job: str
    model: str
    input_tokens: int
    output_tokens: int
    at: datetime
    until: datetime


@dataclass(frozen=True, slots=True)
class Failure(Record):
    """A row that got no summary. ``row`` is its sheet row (1-based) when read, ``rows`` how many are equal;
    ``detail`` is the provider's own word for the reason."""

    error_class: str
    row: int
    rows: int
    epoch: int
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Folder(Record):
    """A user's results folder of one spreadsheet.

    ``brief`` is the SHA-256 of what ``run_file`` says, so that the same choices need no second file;
    ``spare`` are parts that exist, or may exist, and hold no result: the next job takes them.
    ``shared_drive`` is the id of the shared drive it lies in, empty for the user's own drive.
    """

    folder: str
    shared_drive: str = ""
    brief: str = ""
    run_file: str = ""
    spare: list[str] = field(default_factory=list)


def folder_path(spreadsheet_id: str, user_id: str) -> str:
    """Path of a user's results folder."""
    return f"spreadsheets/{spreadsheet_id}/folders/{user_id}"


def job_id(spreadsheet_id: str, request_id: str) -> str:
    """The id of the job one click asks for: the same for every replay of the click."""
    return hashlib.sha256(f"{spreadsheet_id}\n{request_id}".encode()).hexdigest()[:24]


def job_path(jid: str) -> str:
    """Path of a job."""
    return f"jobs/{jid}"


def shard_path(jid: str, number: int) -> str:
    """Path of one of its shards."""
    return f"jobs/{jid}/shards/{number}"


def failures_path(jid: str) -> str:
    """Collection of a job's rows that got no summary, by key."""
    return f"jobs/{jid}/failures"


def failure_path(jid: str, key: str) -> str:
    """Path of a row that got no summary."""
    return f"{failures_path(jid)}/{key}"


def spreadsheet_path(spreadsheet_id: str) -> str:
    """Path of what is known of a spreadsheet."""
    return f"spreadsheets/{spreadsheet_id}"


def results_path(spreadsheet_id: str) -> str:
    """Collection of a spreadsheet's results, one document per key: the idempotency index."""
    return f"spreadsheets/{spreadsheet_id}/results"


def task_name(jid: str, shard: int, state: Shard) -> str:
    """Deterministic name of the task for a shard's current step; the sweep's nudges make it fresh."""
    nudge = f"-n{state.nudges}" if state.nudges else ""
    return f"{jid}-{shard}-{state.epoch}-{state.step}{nudge}"
