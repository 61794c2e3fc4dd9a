"""The simulator's state on disk: one SQLite file, and files that are replaced whole."""

import fcntl
import os
import sqlite3
import tempfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

_TABLES = """
CREATE TABLE IF NOT EXISTS spreadsheets (
    id TEXT PRIMARY KEY, revision INTEGER NOT NULL, locale TEXT NOT NULL, time_zone TEXT NOT NULL,
    csv_path TEXT UNIQUE, csv_sha256 TEXT, csv_style TEXT
);
CREATE TABLE IF NOT EXISTS sheets (
    key INTEGER PRIMARY KEY, spreadsheet TEXT NOT NULL, sheet_id INTEGER NOT NULL, position INTEGER NOT NULL,
    title TEXT NOT NULL, hidden INTEGER NOT NULL, row_count INTEGER NOT NULL, column_count INTEGER NOT NULL,
    protections TEXT NOT NULL, row_order BLOB NOT NULL, UNIQUE (spreadsheet, sheet_id)
);
CREATE TABLE IF NOT EXISTS rows (id INTEGER PRIMARY KEY, sheet INTEGER NOT NULL, cells TEXT NOT NULL);
CREATE INDEX IF NOT EXISTS rows_of_sheet ON rows (sheet);
CREATE TABLE IF NOT EXISTS files (
    id TEXT PRIMARY KEY, owner TEXT NOT NULL, name TEXT NOT NULL, mime_type TEXT NOT NULL,
    description TEXT NOT NULL, parents TEXT NOT NULL, app_properties TEXT NOT NULL, trashed INTEGER NOT NULL,
    version INTEGER NOT NULL, created REAL NOT NULL, modified REAL NOT NULL,
    blob TEXT, size INTEGER, md5 TEXT, sha256 TEXT,
    drive TEXT, writers_can_share INTEGER NOT NULL DEFAULT 1
);
CREATE TABLE IF NOT EXISTS permissions (
    file TEXT NOT NULL, id TEXT NOT NULL, email TEXT NOT NULL, role TEXT NOT NULL, PRIMARY KEY (file, id)
);
CREATE TABLE IF NOT EXISTS drives (id TEXT PRIMARY KEY, domain TEXT NOT NULL, restrictions TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS app_files (file TEXT NOT NULL, email TEXT NOT NULL, PRIMARY KEY (file, email));
CREATE TABLE IF NOT EXISTS generated_ids (id TEXT PRIMARY KEY, email TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS tasks (
    name TEXT PRIMARY KEY, task BLOB, due REAL NOT NULL, attempts INTEGER NOT NULL, answers INTEGER NOT NULL,
    previous INTEGER, gone REAL
);
CREATE INDEX IF NOT EXISTS waiting_tasks ON tasks (due) WHERE gone IS NULL;
"""

_LATER_COLUMNS = {"drive": "TEXT", "writers_can_share": "INTEGER NOT NULL DEFAULT 1"}
"""Columns of ``files`` that its first version did not have."""


class StateInUse(Exception):
    """Another process works on this state folder; stop it, or use another folder."""


def hold(path: Path, sentence: str) -> IO[str]:
    """Open a lock file that no other process can hold until it is closed; the system closes it with the
    process, however it dies.

    Raises
    ------
    StateInUse
        Another process holds it; the message is ``sentence``.
    """
    handle = path.open("w")
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        handle.close()
        raise StateInUse(sentence) from None
    return handle


class State:
    """Everything the simulator keeps, in ``folder``. A change is on disk before it is answered.

    Raises
    ------
    StateInUse
        Another process has the folder open.
    """

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        self.folder = folder.resolve()
        self.blobs = self.folder / "drive"
        self.blobs.mkdir(exist_ok=True, mode=0o700)
        self._guard = hold(
            self.folder / "in-use", f"Another simulator works in {self.folder}; stop it first."
        )
        self._lock = threading.RLock()
        self._connection = sqlite3.connect(
            self.folder / "simulator.sqlite3", isolation_level=None, check_same_thread=False
        )
        self._connection.execute("PRAGMA journal_mode = WAL")
        self._connection.execute("PRAGMA synchronous = FULL")
        self._connection.executescript(_TABLES)
        self._add_columns()

    def _add_columns(self) -> None:
        """Give a folder made by an earlier version the columns it lacks."""
        present = {row[1] for row in self._connection.execute("PRAGMA table_info(files)")}
        for name, kind in _LATER_COLUMNS.items():
            if name not in present:
                self._connection.execute(f"ALTER TABLE files ADD COLUMN {name} {kind}")

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """Run statements that take effect together, or not at all."""
        with self._lock:
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection
            except BaseException:
                self._connection.execute("ROLLBACK")
                raise
            self._connection.execute("COMMIT")

    def rows(self, statement: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Read rows."""
        with self._lock:
            return self._connection.execute(statement, values).fetchall()

    def close(self) -> None:
        """Let go of the folder."""
        with self._lock:
            self._connection.close()
        self._guard.close()


def replace_file(path: Path, content: bytes, *, mode: int | None = None) -> None:
    """Put ``content`` at ``path`` so that a crash leaves either the old file or the new one.

    Raises
    ------
    OSError
        It could not be written; the old file is untouched.
    """
    descriptor, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    temporary = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as file:
            if mode is not None:
                os.fchmod(file.fileno(), mode)
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
