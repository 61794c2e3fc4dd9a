"""Connections of one process to one SQLite file, and the turn to write among its threads."""

import os
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from addon.store.documents import Contention, StoreError
from addon.store.transaction import Deadline

# In one transaction: another process that sees the table `commits` must also see its row.
_SCHEMA = """
BEGIN IMMEDIATE;
CREATE TABLE IF NOT EXISTS documents (
    collection TEXT NOT NULL, id TEXT NOT NULL, version INTEGER NOT NULL, data TEXT NOT NULL,
    PRIMARY KEY (collection, id)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS commits (latest INTEGER NOT NULL);
INSERT INTO commits SELECT 0 WHERE NOT EXISTS (SELECT * FROM commits);
COMMIT;
"""

_BUSY = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)

_EXPLANATIONS = {
    sqlite3.SQLITE_FULL: "the disk is full; free some space",
    sqlite3.SQLITE_READONLY: "it is read-only; check who owns the file and its folder",
    sqlite3.SQLITE_PERM: "access is denied; check who owns the file and its folder",
    sqlite3.SQLITE_CANTOPEN: "it cannot be opened; check that its folder exists and may be written to",
    sqlite3.SQLITE_IOERR: "the disk answered with an error; check the disk",
    sqlite3.SQLITE_NOTADB: "it is no database; choose another file",
    sqlite3.SQLITE_CORRUPT: "it is damaged; put back a backup",
}

_inherited: list[sqlite3.Connection] = []
"""Connections copied by a fork. SQLite forbids the child to use them and even to close them."""


class Pool:
    """Lends connections, one per use; opened when first needed.

    Parameters
    ----------
    path
        The file; made on first use, its folder must exist.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._reset()

    def _reset(self) -> None:
        self._process = os.getpid()
        self._lock = threading.Lock()
        self._idle: list[sqlite3.Connection] = []
        self._turn = threading.Lock()

    @contextmanager
    def connection(self, deadline: Deadline) -> Iterator[sqlite3.Connection]:
        """Lend a connection whose locks wait until the deadline.

        Raises
        ------
        Contention
            Another process wrote until the deadline.
        StoreError
            The file cannot be used; the message says why.
        """
        with self._explained():
            connection = self._take(deadline)
            try:
                connection.execute(f"PRAGMA busy_timeout = {int(deadline.remaining * 1000)}")
                yield connection
            finally:
                with self._lock:
                    self._idle.append(connection)

    @contextmanager
    def writing(self, deadline: Deadline) -> Iterator[sqlite3.Connection]:
        """Lend a connection in a transaction that nobody else can write beside; commit if all goes well."""
        self._leave_inherited()
        # Threads queue here, because those that wait inside SQLite poll, and starve each other.
        if not self._turn.acquire(timeout=deadline.remaining):
            raise Contention(self._busy())
        try:
            with self.connection(deadline) as connection:
                connection.execute("BEGIN IMMEDIATE")
                try:
                    yield connection
                    connection.execute("COMMIT")
                finally:
                    if connection.in_transaction:
                        connection.execute("ROLLBACK")
        finally:
            self._turn.release()

    def close(self) -> None:
        """Close what is not lent; a later use opens new connections."""
        self._leave_inherited()
        with self._lock:
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()

    def _leave_inherited(self) -> None:
        if self._process != os.getpid():
            _inherited.extend(self._idle)
            self._reset()

    def _take(self, deadline: Deadline) -> sqlite3.Connection:
        self._leave_inherited()
        with self._lock:
            if self._idle:
                return self._idle.pop()
        connection = sqlite3.connect(self._path, isolation_level=None, check_same_thread=False)
        try:
            self._set_up(connection, deadline)
        except sqlite3.Error:
            connection.close()
            raise
        return connection

    @staticmethod
    def _set_up(connection: sqlite3.Connection, deadline: Deadline) -> None:
        connection.execute(f"PRAGMA busy_timeout = {int(deadline.remaining * 1000)}")
        attempt = 0
        while True:
            try:
                connection.execute("PRAGMA journal_mode = WAL")
                break
            except sqlite3.OperationalError as error:
                # Turning a new file into a WAL one does not wait for others who do the same.
                if error.sqlite_errorcode & 0xFF not in _BUSY or not deadline.pause(attempt):
                    raise
                attempt += 1
        connection.execute("PRAGMA synchronous = FULL")
        if not connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'commits'").fetchone():
            connection.executescript(_SCHEMA)

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            code = getattr(error, "sqlite_errorcode", 0) & 0xFF  # the low byte is the primary code
            if code in _BUSY:
                raise Contention(self._busy()) from error
            reason = _EXPLANATIONS.get(code, f"SQLite answered {type(error).__name__} ({code})")
            raise StoreError(f"The store {self._path} cannot be used: {reason}.") from error

    def _busy(self) -> str:
        return f"The store {self._path} was busy until the deadline; nothing was written. Try again later."
