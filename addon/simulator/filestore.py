"""Drive's files as they are kept: their metadata, their content, and the ids made for them."""

import hashlib
import json
import secrets
import sqlite3
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from addon.simulator.errors import Refusal
from addon.simulator.filemeta import (
    FOLDER,
    GOOGLE_TYPES,
    SPREADSHEET,
    File,
    merged_properties,
    new_id,
    not_found,
)
from addon.simulator.state import State, replace_file

_COLUMNS = (
    "id, owner, name, mime_type, description, parents, app_properties, trashed, version, created, modified, "
    "blob, size, md5, sha256, drive, writers_can_share"
)


class FileStore:
    """The files of one simulator, whoever may use them. Safe to share between threads.

    Parameters
    ----------
    clock
        Seconds since 1970, for the times shown.
    """

    def __init__(self, state: State, clock: Callable[[], float] = time.time) -> None:
        self._state = state
        self._clock = clock
        self._lock = threading.RLock()
        self.list_lag = 0.0
        """Seconds for which ``files.list`` does not show a new file, as Drive's does not promise to."""
        self._remove_orphans()

    def find(self, file_id: str) -> File | None:
        """The file with this id, whoever owns it."""
        found = self._state.rows(f"SELECT {_COLUMNS} FROM files WHERE id = ?", [file_id])
        return _file(found[0]) if found else None

    def known(self, file_id: str) -> File:
        """The file with this id, whoever may use it.

        Raises
        ------
        Refusal
            404 where there is none.
        """
        file = self.find(file_id)
        if file is None:
            raise not_found(file_id)
        return file

    def name(self, file_id: str) -> str:
        """A file's name; nothing where there is no such file."""
        file = self.find(file_id)
        return file.name if file else ""

    def generate_ids(self, email: str, count: int) -> list[str]:
        """Make ids that only ``email`` may create files with."""
        ids = [new_id() for _ in range(count)]
        with self._state.transaction() as statements:
            statements.executemany(
                "INSERT INTO generated_ids VALUES (?, ?)", [(file_id, email) for file_id in ids]
            )
        return ids

    def usable_id(self, file_id: str, email: str, mime_type: str) -> str:
        """Check an id that a caller wants to create a file with.

        Raises
        ------
        Refusal
            409 where it is in use; 400 where it was not generated for the caller or the type cannot have one.
        """
        if mime_type.startswith(GOOGLE_TYPES) and mime_type != FOLDER:
            raise Refusal(
                400,
                "Generated IDs are not supported for Docs Editors formats.",
                reason="generatedIdNotSupported",
            )
        if self.find(file_id) is not None:
            raise Refusal(409, "A file already exists with the provided ID.", reason="fileIdInUse")
        if not self._state.rows("SELECT 1 FROM generated_ids WHERE id = ? AND email = ?", [file_id, email]):
            raise Refusal(400, "The provided file ID is not usable.", reason="invalid", location="file.id")
        return file_id

    def add(
        self,
        owner: str,
        name: str,
        mime_type: str,
        *,
        file_id: str | None = None,
        parents: Iterable[str] = (),
        app_properties: Mapping[str, str | None] | None = None,
        description: str = "",
        content: bytes | None = None,
        drive: str | None = None,
    ) -> str:
        """Create a file, in a shared drive if one is given, and return its id."""
        if file_id is None:
            file_id = new_id(44 if mime_type == SPREADSHEET else 33)
        now = self._clock()
        properties = merged_properties({}, app_properties or {})
        file = File(
            *(file_id, "" if drive else owner, name, mime_type, description, tuple(parents), properties),
            *(False, 1, now, now),
            drive=drive,
        )
        with self._lock:
            if self.find(file_id) is not None:
                raise Refusal(409, "A file already exists with the provided ID.", reason="fileIdInUse")
            if not mime_type.startswith(GOOGLE_TYPES):
                file = self._with_content(file, content or b"")
            self._store(file)
        return file_id

    def change(self, file: File, *, content: bytes | None = None) -> None:
        """Store a file's new metadata and, if given, its new content, which is on disk first."""
        with self._lock:
            current = self.known(file.id)
            content_of = replace(
                file, blob=current.blob, size=current.size, md5=current.md5, sha256=current.sha256
            )
            changed = replace(content_of, version=current.version + 1, modified=self._clock())
            if content is not None:
                changed = self._with_content(changed, content)
            self._store(changed)
            if content is not None and current.blob is not None:
                (self._state.blobs / current.blob).unlink(missing_ok=True)

    def now(self) -> float:
        """The clock that files are dated by."""
        return self._clock()

    def touch(self, statements: sqlite3.Connection, file_id: str) -> None:
        """Say in a running transaction that the file was changed."""
        statements.execute(
            "UPDATE files SET version = version + 1, modified = ? WHERE id = ?", [self._clock(), file_id]
        )

    def remove(self, file: File) -> None:
        """Delete a file for good, and with a folder all that is in it."""
        with self._lock:
            for inside in self.list() if file.mime_type == FOLDER else ():
                if file.id in inside.parents:
                    self.remove(inside)
            with self._state.transaction() as statements:
                for table in ("permissions", "app_files"):
                    statements.execute(f"DELETE FROM {table} WHERE file = ?", [file.id])
                for table in ("files", "drives"):
                    statements.execute(f"DELETE FROM {table} WHERE id = ?", [file.id])
            if file.blob is not None:
                (self._state.blobs / file.blob).unlink(missing_ok=True)

    def read(self, file_id: str) -> bytes:
        """A file's content.

        Raises
        ------
        Refusal
            404 where there is no file, 403 where it is in one of Google's own formats.
        """
        with self._lock:  # so that the content named by the metadata is not replaced in between
            file = self.known(file_id)
            if file.blob is None:
                raise Refusal(
                    403,
                    "Only files with binary content can be downloaded. Use Export with Docs Editors files.",
                    reason="fileNotDownloadable",
                    location="alt",
                )
            return (self._state.blobs / file.blob).read_bytes()

    def _with_content(self, file: File, content: bytes) -> File:
        blob = f"{file.id}.{secrets.token_hex(4)}"
        replace_file(self._state.blobs / blob, content)
        md5 = hashlib.md5(content, usedforsecurity=False).hexdigest()
        return replace(
            file, blob=blob, size=len(content), md5=md5, sha256=hashlib.sha256(content).hexdigest()
        )

    def _store(self, file: File) -> None:
        values = [
            *(file.id, file.owner, file.name, file.mime_type, file.description),
            *(json.dumps(file.parents), json.dumps(dict(file.app_properties)), file.trashed, file.version),
            *(file.created, file.modified, file.blob, file.size, file.md5, file.sha256),
            *(file.drive, file.writers_can_share),
        ]
        with self._state.transaction() as statements:
            marks = ", ".join("?" * len(values))
            statements.execute(f"INSERT OR REPLACE INTO files ({_COLUMNS}) VALUES ({marks})", values)

    def _remove_orphans(self) -> None:
        """Remove content that no file names: a crash came between writing it and naming it."""
        named = {row[0] for row in self._state.rows("SELECT blob FROM files WHERE blob IS NOT NULL")}
        for path in self._state.blobs.iterdir():
            if path.name not in named:
                path.unlink()

    def list(self) -> list[File]:
        """All files, the newest first."""
        found = self._state.rows(f"SELECT {_COLUMNS} FROM files ORDER BY created DESC, id")
        return [_file(row) for row in found]


def _file(row: tuple[object, ...]) -> File:
    values = list(row)
    values[5] = tuple(json.loads(str(values[5])))
    values[6] = json.loads(str(values[6]))
    values[7] = bool(values[7])
    values[-1] = bool(values[-1])
    return File(*values)  # type: ignore[arg-type]
