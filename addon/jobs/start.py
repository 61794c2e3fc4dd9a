"""Start: one click becomes one job, inside the click, with the user's own token."""

import math
import time
from collections import Counter
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import chain, islice

from addon.google.access import UserAccess
from addon.google.cells import Run
from addon.google.errors import GoogleError
from addon.google.sheets import SheetInfo
from addon.google.tasks import Tasks
from addon.jobs import events
from addon.jobs.access import Access
from addon.jobs.chain import enqueue, read_job, read_shards
from addon.jobs.commands import release_spreadsheet
from addon.jobs.files import Found, brief_hash, find, make
from addon.jobs.model import OVER, PREPARING
from addon.jobs.plan import Plan, StartRequest, brief_of, plan
from addon.jobs.records import (
    Folder,
    Job,
    Shard,
    folder_path,
    job_id,
    job_path,
    shard_path,
    spreadsheet_path,
)
from addon.jobs.steps import Reach, nothing
from addon.llm.base import LanguageModel
from addon.llm.prices import estimate
from addon.rows.keys import shard_of
from addon.rows.table import HEADER_ROW, Brief, first_free_column, read_header
from addon.settings import Settings
from addon.store.documents import Documents, Transaction

PART_ROWS = 1_000
"""Results in one part."""

MOST_PARTS = 20
"""Part files a click creates at most, so that it stays short; parts grow beyond `PART_ROWS` instead."""


@dataclass(frozen=True, slots=True)
class Started:
    """The job the click is about, and whether this click created it."""

    job_id: str
    created: bool


@dataclass(frozen=True)
class Desk:
    """What starting needs besides the user; ``reach`` is the fault point seam."""

    documents: Documents
    tasks: Tasks
    model: LanguageModel
    settings: Settings
    access: Access
    reach: Reach = nothing


def start(desk: Desk, user: UserAccess, request: StartRequest) -> Started:
    """Start a job, or return the one that is active or that this same click has started.

    Raises
    ------
    StartRefused
        The sheet or the choice does not make a job; nothing was changed.
    GoogleError
        Google refused something; the job, if one was made, is cancelled.
    """
    began = time.monotonic()
    known = _known(desk.documents, request)
    if known is not None:
        return Started(known, created=False)
    desk.access.check_editor(user, request.spreadsheet_id)  # before a job of theirs is the sheet's last one
    brief = brief_of(request)
    counted = plan(desk.documents, desk.model, user, request, brief)
    jid = job_id(request.spreadsheet_id, request.request_id)
    job, found = _draft(desk, user, request, counted, brief)
    drive_id = desk.access.results_drive
    winner, abandoned = desk.documents.transact(lambda tx: _create(tx, jid, job, brief, drive_id))
    if abandoned is not None:
        events.job_cancelled(abandoned, "abandoned")
    if winner is not None:
        return Started(winner, created=False)
    desk.reach("after create")
    try:
        job = _prepare(desk, user, job, counted, brief, found)
    except GoogleError:
        desk.documents.transact(lambda tx: _give_up(tx, jid, job))
        events.job_cancelled(jid, "not_prepared")
        raise
    desk.reach("after prepare")
    _launch(desk, jid, job)
    events.job_started(jid, job, len(counted.todo), time.monotonic() - began)
    return Started(jid, created=True)


def _give_up(tx: Transaction, jid: str, drafted: Job) -> None:
    """End a job whose files could not be made; what was made of them is there for the next one."""
    job = read_job(tx, jid)
    if job.parts != drafted.parts:
        return  # the same click, repeated, goes on without this one
    path = folder_path(job.spreadsheet_id, job.owner)
    record = tx.get(path)
    release_spreadsheet(tx, jid, "cancelled")
    if record is not None:
        parts = [file_id for ids in job.parts.values() for file_id in ids]
        tx.update(path, {"spare": parts})


def _known(documents: Documents, request: StartRequest) -> str | None:
    """The job this click has made before, or the spreadsheet's active one."""
    jid = job_id(request.spreadsheet_id, request.request_id)
    same = documents.get(job_path(jid))
    if same is not None and _counts(Job.from_data(same.data), same.read_time):
        return jid
    spreadsheet = documents.get(spreadsheet_path(request.spreadsheet_id))
    active: str | None = spreadsheet.data.get("active_job") if spreadsheet else None
    if active is None or _abandoned(read_job(documents, active), documents.now()):
        return None
    return active


def _counts(job: Job, now: datetime) -> bool:
    """Whether a click's job has begun, or its files are being made: if not, the same click may try again."""
    return job.prepared or not (job.status == "cancelled" or _abandoned(job, now))


def _abandoned(job: Job, now: datetime) -> bool:
    """Whether a click died while it created the job's files."""
    return not job.prepared and job.preparing_until is not None and job.preparing_until < now


def _draft(
    desk: Desk, user: UserAccess, request: StartRequest, counted: Plan, brief: Brief
) -> tuple[Job, Found]:
    """The job as it will be created, with ids for all its files; and which of these exist already."""
    shards = math.ceil(counted.rows / desk.settings.rows_per_shard)
    part_rows = max(PART_ROWS, math.ceil(len(counted.todo) / MOST_PARTS))
    share = Counter(shard_of(key, shards) for key in counted.todo)
    parts = [max(1, math.ceil(share[number] / part_rows)) for number in range(shards)]
    keeper, drive_id = desk.access.keeper(user), desk.access.results_drive
    path = folder_path(request.spreadsheet_id, user.user_id)
    found = find(desk.documents, keeper, path, brief, sum(parts), shared_drive=drive_id)
    new = iter(keeper.generate_ids(2 + sum(parts)))
    new_folder, new_run_file = next(new), next(new)
    part_ids = chain((file.id for file in found.spare), new)
    now = desk.documents.now()
    expected = estimate(desk.model.name, counted.sample, calls=len(counted.todo))
    job = Job(
        spreadsheet_id=request.spreadsheet_id,
        sheet_id=request.sheet_id,
        mode=request.mode,
        model=desk.model.name,
        owner=user.user_id,
        acts_as=desk.access.acts_as(user),
        price=desk.settings.model_price,
        expected_input=expected.input_tokens,
        expected_output=expected.output_tokens,
        created_at=now,
        updated_at=now,
        preparing_until=now + PREPARING,
        shards=shards,
        rows=counted.rows,
        distinct=len(counted.keys),
        blank=counted.blank,
        folder=found.folder.id if found.folder else new_folder,
        folder_link=found.folder.link if found.folder else "",
        run_file=found.run_file.id if found.run_file else new_run_file,
        parts={str(number): list(islice(part_ids, count)) for number, count in enumerate(parts)},
        part_rows=part_rows,
    )
    return job, found


def _create(
    tx: Transaction, jid: str, job: Job, brief: Brief, shared_drive: str
) -> tuple[str | None, str | None]:
    """Make the job the spreadsheet's active one.

    Returns the id of the job that keeps it from being made, and of an abandoned one that was cancelled.
    """
    path = spreadsheet_path(job.spreadsheet_id)
    spreadsheet, same = tx.get(path), tx.get(job_path(jid))
    data = spreadsheet.data if spreadsheet else {}
    active, abandoned = data.get("active_job"), None
    if same is not None and _counts(Job.from_data(same.data), tx.now):
        return jid, None
    if active not in {None, jid}:
        other = read_job(tx, active)
        if other.status not in OVER and not _abandoned(other, tx.now):
            return str(active), None
        if other.status not in OVER:
            abandoned = str(active)
            tx.set(job_path(active), replace(other, status="cancelled", finished_at=tx.now).to_data())
    tx.set(job_path(jid), job.to_data())
    for number in range(job.shards):
        tx.set(shard_path(jid, number), Shard(updated_at=job.created_at).to_data())
    prune_at = data.get("prune_at", tx.now)
    tx.set(path, {**data, "active_job": jid, "last_job": jid, "prune_at": prune_at})
    record = Folder(job.folder, shared_drive, brief_hash(brief), job.run_file)
    tx.set(folder_path(job.spreadsheet_id, job.owner), record.to_data())
    return None, abandoned


def _prepare(desk: Desk, user: UserAccess, job: Job, counted: Plan, brief: Brief, found: Found) -> Job:
    """Create the files, give the worker access, make the output column. Every step may be repeated."""
    access = desk.access
    access.share(user, job.spreadsheet_id)
    if found.folder is None:
        name = f"Sheet Summaries - {counted.spreadsheet.title}"
        properties = {"spreadsheet": job.spreadsheet_id}
        folder = access.create_folder(user, job.folder, name, properties)
        job = replace(job, folder_link=folder.link)
    # Also where it is an old one: the click that made it may have died right here.
    access.give_folder(user, job.folder)
    job = replace(job, results_link=make(access.keeper(user), job, brief, found))
    if counted.new_column:
        _make_column(user, job.spreadsheet_id, counted.sheet, brief.output_column)
    return job


def _make_column(user: UserAccess, spreadsheet_id: str, sheet: SheetInfo, title: str) -> None:
    """Write the title of the output column right of everything, unless somebody has made it meanwhile."""
    header = read_header(user.sheets, spreadsheet_id, sheet.sheet_id)
    if any(column.title == title for column in header):
        return
    column = first_free_column(user.sheets, spreadsheet_id, sheet, [one.title for one in header])
    run = Run(HEADER_ROW, column, (title,))
    user.sheets.write(spreadsheet_id, sheet.sheet_id, [run], grid=(sheet.rows, sheet.columns))


def _launch(desk: Desk, jid: str, job: Job) -> None:
    """Mark the job as ready and enqueue its first links; what is not enqueued now, the sweep enqueues."""

    def work(tx: Transaction) -> dict[int, Shard]:
        now_stored = read_job(tx, jid)
        shards = read_shards(tx, jid, now_stored)
        if now_stored.status in OVER or now_stored.parts != job.parts:
            return {}  # this click took so long that another, or its own repetition, went on without it
        ready = replace(
            now_stored,
            prepared=True,
            folder_link=job.folder_link,
            results_link=job.results_link,
            updated_at=tx.now,
        )
        tx.set(job_path(jid), ready.to_data())
        ready_shards = {number: replace(shard, due_at=tx.now) for number, shard in shards.items()}
        for number, shard in ready_shards.items():
            tx.set(shard_path(jid, number), shard.to_data())
        return ready_shards

    due = desk.documents.transact(work)
    desk.reach("before first enqueue")
    for number, shard in due.items():
        try:
            enqueue(desk.tasks, jid, number, shard)
        except GoogleError as error:
            events.enqueue_failed(jid, number, error)
