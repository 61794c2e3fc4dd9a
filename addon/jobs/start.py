"""Start: one click becomes one job, inside the click, with the user's own token."""

import logging
import math
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from addon.google.access import UserAccess
from addon.google.cells import Run
from addon.google.drive import FileInfo
from addon.google.errors import FileMissing, GoogleError
from addon.google.tasks import Tasks
from addon.jobs.chain import enqueue, read_job, read_shards
from addon.jobs.commands import release_spreadsheet
from addon.jobs.link import encode_brief
from addon.jobs.model import OVER, PREPARING
from addon.jobs.parts import empty_part
from addon.jobs.plan import Plan, StartRequest, brief_of, plan
from addon.jobs.records import Job, Shard, job_id, job_path, shard_path, spreadsheet_path
from addon.llm.base import LanguageModel
from addon.rows.keys import shard_of
from addon.rows.table import HEADER_ROW, Brief
from addon.settings import Settings
from addon.store.documents import Documents, Transaction

log = logging.getLogger(__name__)

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
    """What starting needs besides the user."""

    documents: Documents
    tasks: Tasks
    model: LanguageModel
    settings: Settings
    worker_email: str


def start(desk: Desk, user: UserAccess, request: StartRequest) -> Started:
    """Start a job, or return the one that is active or that this same click has started.

    Raises
    ------
    StartRefused
        The sheet or the choice does not make a job; nothing was changed.
    GoogleError
        Google refused something; the job, if one was made, is cancelled.
    """
    known = _known(desk.documents, request)
    if known is not None:
        return Started(known, created=False)
    brief = brief_of(request)
    counted = plan(desk.documents, desk.model, user, request, brief)
    jid = job_id(request.spreadsheet_id, request.request_id)
    job, new_folder = _draft(desk, user, request, counted)
    winner = desk.documents.transact(lambda tx: _create(tx, jid, job, user, request))
    if winner != jid:
        return Started(winner, created=False)
    try:
        job = _prepare(desk, user, job, counted, brief, new_folder)
    except GoogleError:
        desk.documents.transact(lambda tx: release_spreadsheet(tx, jid, "cancelled"))
        raise
    _launch(desk, jid, job)
    return Started(jid, created=True)


def _known(documents: Documents, request: StartRequest) -> str | None:
    jid = job_id(request.spreadsheet_id, request.request_id)
    if documents.get(job_path(jid)) is not None:
        return jid
    spreadsheet = documents.get(spreadsheet_path(request.spreadsheet_id))
    active: str | None = spreadsheet.data.get("active_job") if spreadsheet else None
    if active is None or _abandoned(read_job(documents, active), documents.now()):
        return None
    return active


def _abandoned(job: Job, now: datetime) -> bool:
    """Whether a click died while it created the job's files."""
    return not job.prepared and job.preparing_until is not None and job.preparing_until < now


def _draft(desk: Desk, user: UserAccess, request: StartRequest, counted: Plan) -> tuple[Job, bool]:
    """The job as it will be created, with ids for all its files; and whether its folder is a new one."""
    shards = math.ceil(counted.rows / desk.settings.rows_per_shard)
    part_rows = max(PART_ROWS, math.ceil(len(counted.todo) / MOST_PARTS))
    share = Counter(shard_of(key, shards) for key in counted.todo)
    parts = [max(1, math.ceil(share[number] / part_rows)) for number in range(shards)]
    folder = _folder(desk.documents, user, request.spreadsheet_id)
    ids = iter(user.drive.generate_ids(2 + sum(parts)))
    new_folder_id, run_file = next(ids), next(ids)
    now = desk.documents.now()
    job = Job(
        spreadsheet_id=request.spreadsheet_id,
        sheet_id=request.sheet_id,
        mode=request.mode,
        model=desk.model.name,
        owner=user.user_id,
        created_at=now,
        updated_at=now,
        preparing_until=now + PREPARING,
        shards=shards,
        rows=counted.rows,
        distinct=len(counted.keys),
        blank=counted.blank,
        folder=folder.id if folder else new_folder_id,
        folder_link=folder.link if folder else "",
        run_file=run_file,
        parts={str(number): [next(ids) for _ in range(count)] for number, count in enumerate(parts)},
        part_rows=part_rows,
    )
    return job, folder is None


def _folder_path(spreadsheet_id: str, user_id: str) -> str:
    return f"{spreadsheet_path(spreadsheet_id)}/folders/{user_id}"


def _folder(documents: Documents, user: UserAccess, spreadsheet_id: str) -> FileInfo | None:
    """This user's results folder of the spreadsheet, if it still exists."""
    known = documents.get(_folder_path(spreadsheet_id, user.user_id))
    if known is None:
        return None
    try:
        folder = user.drive.info(known.data["folder"])
    except FileMissing:
        return None
    return None if folder.trashed else folder


def _create(tx: Transaction, jid: str, job: Job, user: UserAccess, request: StartRequest) -> str:
    """Make the job the spreadsheet's active one; the id of the job that is active afterwards."""
    path = spreadsheet_path(request.spreadsheet_id)
    spreadsheet = tx.get(path)
    data = spreadsheet.data if spreadsheet else {}
    active = data.get("active_job")
    if tx.get(job_path(jid)) is not None:
        return jid if active == jid else active or jid
    if active is not None:
        other = read_job(tx, active)
        if other.status not in OVER and not _abandoned(other, tx.now):
            return str(active)
        tx.set(job_path(active), replace(other, status="cancelled", finished_at=tx.now).to_data())
    tx.create(job_path(jid), job.to_data())
    for number in range(job.shards):
        tx.create(shard_path(jid, number), Shard(updated_at=job.created_at).to_data())
    prune_at = data.get("prune_at", tx.now)
    tx.set(path, {**data, "active_job": jid, "last_job": jid, "prune_at": prune_at})
    tx.set(_folder_path(request.spreadsheet_id, user.user_id), {"folder": job.folder})
    return jid


def _prepare(desk: Desk, user: UserAccess, job: Job, counted: Plan, brief: Brief, new_folder: bool) -> Job:
    """Create the files, give the worker access, make the output column. Every step may be repeated."""
    drive, stamp = user.drive, datetime.now(UTC).strftime("%Y-%m-%d %H.%M.%S")
    properties = {"spreadsheet": job.spreadsheet_id}
    drive.share(job.spreadsheet_id, desk.worker_email)
    if new_folder:
        name = f"Sheet Summaries - {counted.spreadsheet.title}"
        folder = drive.create_folder(job.folder, name, properties)
        job = replace(job, folder_link=folder.link)
    drive.share(job.folder, desk.worker_email)  # also an old one: the click that made it may have died here
    files = [(job.run_file, f"Run {stamp}.json", encode_brief(brief), "application/json")]
    part_ids = [file_id for ids in job.parts.values() for file_id in ids]
    for number, file_id in enumerate(part_ids, 1):
        files.append((file_id, f"Summaries {stamp} part {number}.csv", empty_part(), "text/csv"))
    with ThreadPoolExecutor(8) as executor:
        made = list(
            executor.map(
                lambda file: drive.create_file(
                    file[0], file[1], job.folder, file[2], mime_type=file[3], properties=properties
                ),
                files,
            )
        )
    if counted.new_column is not None:
        grid = (counted.sheet.rows, counted.sheet.columns)
        run = Run(HEADER_ROW, counted.new_column, (brief.output_column,))
        user.sheets.write(job.spreadsheet_id, job.sheet_id, [run], grid=grid)
    link = made[1].link if len(part_ids) == 1 else job.folder_link
    return replace(job, results_link=link)


def _launch(desk: Desk, jid: str, job: Job) -> None:
    """Mark the job as ready and enqueue its first links; what is not enqueued now, the sweep enqueues."""

    def work(tx: Transaction) -> dict[int, Shard]:
        now_stored = read_job(tx, jid)
        shards = read_shards(tx, jid, now_stored)
        if now_stored.status in OVER:
            return {}
        ready = replace(
            now_stored,
            prepared=True,
            folder_link=job.folder_link,
            results_link=job.results_link,
            updated_at=tx.now,
        )
        tx.set(job_path(jid), ready.to_data())
        due = {number: replace(shard, due_at=tx.now) for number, shard in shards.items()}
        for number, shard in due.items():
            tx.set(shard_path(jid, number), shard.to_data())
        return due

    for number, shard in desk.documents.transact(work).items():
        try:
            enqueue(desk.tasks, jid, number, shard)
        except GoogleError as error:
            log.warning("job %s shard %d: first link not enqueued (%s)", jid, number, type(error).__name__)
