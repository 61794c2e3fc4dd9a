"""A job's files in the user's Drive: which exist already, and making those that do not."""

import hashlib
import json
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from datetime import UTC, datetime

from addon.google.drive import Drive, FileInfo
from addon.google.errors import FileMissing
from addon.jobs.parts import empty_part
from addon.jobs.records import Folder, Job
from addon.rows.table import Brief
from addon.store.documents import Documents

AT_ONCE = 8
"""Requests to Drive a click has under way at a time."""


@dataclass(frozen=True, slots=True)
class Found:
    """What is there already and can be used again: each ``None`` or absent where it must be made."""

    folder: FileInfo | None
    run_file: FileInfo | None
    spare: tuple[FileInfo, ...]

    @property
    def ids(self) -> frozenset[str]:
        """Ids of run file and parts that need not be made."""
        files = [*self.spare, *([self.run_file] if self.run_file else [])]
        return frozenset(file.id for file in files)


def encode_brief(brief: Brief) -> bytes:
    """A run file's content."""
    return json.dumps(asdict(brief), ensure_ascii=False, indent=2).encode()


def decode_brief(content: bytes) -> Brief:
    """Read a run file; raises ``ValueError`` where somebody has spoilt it."""
    try:
        data = json.loads(content)
        sources, output, instructions = (
            data[name] for name in ("source_columns", "output_column", "instructions")
        )
    except (KeyError, TypeError, RecursionError) as error:
        raise ValueError("the run file is not one of ours") from error
    if not isinstance(sources, list) or not sources:
        raise ValueError("the run file names no source columns")
    if not all(isinstance(text, str) for text in (*sources, output, instructions)):
        raise ValueError("the run file says something else than texts")
    return Brief(tuple(sources), output, instructions)


def brief_hash(brief: Brief) -> str:
    """Tells whether two jobs were asked for the same, without telling for what."""
    return hashlib.sha256(encode_brief(brief)).hexdigest()


def find(
    documents: Documents, drive: Drive, path: str, brief: Brief, parts: int, *, shared_drive: str = ""
) -> Found:
    """Look up in Drive what an earlier job of this user left behind; at most ``parts`` spare parts.

    ``path`` is that of the user's `Folder`; one in another drive than ``shared_drive`` is left alone.
    """
    known = documents.get(path)
    record = Folder.from_data(known.data) if known else None
    if record is None or record.shared_drive != shared_drive:
        return Found(None, None, ())
    same = record.run_file if record.brief == brief_hash(brief) else ""
    with ThreadPoolExecutor(AT_ONCE) as executor:
        folder, run_file, *spare = executor.map(
            lambda file_id: _existing(drive, file_id), [record.folder, same, *record.spare[:parts]]
        )
    if folder is None:
        return Found(None, None, ())
    return Found(folder, run_file, tuple(file for file in spare if file is not None))


def _existing(drive: Drive, file_id: str) -> FileInfo | None:
    if not file_id:
        return None
    try:
        file = drive.info(file_id)
    except FileMissing:
        return None
    return None if file.trashed else file


def make(drive: Drive, job: Job, brief: Brief, found: Found) -> str:
    """Create the job's run file and parts, but for those found; the link that shows the results.

    May be repeated: a file whose id is taken exists already.
    """
    stamp = datetime.now(UTC).strftime("%Y-%m-%d %H.%M.%S")
    part_ids = [file_id for ids in job.parts.values() for file_id in ids]
    wanted = [(job.run_file, f"Run {stamp}.json", encode_brief(brief), "application/json")]
    for number, file_id in enumerate(part_ids, 1):
        wanted.append((file_id, f"Summaries {stamp} part {number}.csv", empty_part(), "text/csv"))
    missing = [file for file in wanted if file[0] not in found.ids]
    made = _create_all(drive, job, missing)
    if len(part_ids) > 1:
        return job.folder_link
    return next(file.link for file in (*made, *found.spare) if file.id == part_ids[0])


def _create_all(drive: Drive, job: Job, files: Sequence[tuple[str, str, bytes, str]]) -> list[FileInfo]:
    properties = {"spreadsheet": job.spreadsheet_id}

    def create(file: tuple[str, str, bytes, str]) -> FileInfo:
        file_id, name, content, mime_type = file
        return drive.create_file(
            file_id, name, job.folder, content, mime_type=mime_type, properties=properties
        )

    with ThreadPoolExecutor(AT_ONCE) as executor:
        return list(executor.map(create, files))
