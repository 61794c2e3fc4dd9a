"""Documents in one SQLite file: the embedded default, for one machine with any number of processes."""

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from addon.store import json_values
from addon.store.documents import (
    MAX_DOCUMENT_BYTES,
    MAX_REQUEST_BYTES,
    AlreadyExists,
    Data,
    DocumentTooLarge,
    NotFound,
    Order,
    Snapshot,
    Where,
)
from addon.store.optimistic import OptimisticDocuments
from addon.store.sqlite_pool import Pool
from addon.store.sqlite_query import select
from addon.store.transaction import Deadline, Pending, Reading, Stored, Write
from addon.store.values import check_collection, check_size, split

_CHUNK = 500
"""Ids per ``IN (…)`` and rows per page of a query: far below SQLite's limit of 32,766 parameters."""


def utc_now() -> datetime:
    """This machine's clock."""
    return datetime.now(UTC)


class SqliteDocuments(OptimisticDocuments):
    """`addon.store.documents.Documents` in one file, safe to share between threads and processes.

    Parameters
    ----------
    path
        The file; made on first use, its folder must exist. WAL keeps two more files beside it.
    clock
        The store's clock; all processes on one file should have the same.
    timeout
        Seconds a read may wait for the file.
    strict
        See `OptimisticDocuments`.
    """

    def __init__(
        self,
        path: Path,
        *,
        clock: Callable[[], datetime] = utc_now,
        timeout: float = 10.0,
        strict: bool = False,
    ) -> None:
        super().__init__(timeout=timeout, first_pause=0.002, strict=strict)
        self._clock = clock
        self._pool = Pool(path)

    def now(self) -> datetime:
        """The store's clock."""
        return self._clock()

    def close(self) -> None:
        """Close every connection; a later call opens new ones."""
        self._pool.close()

    def query(
        self,
        collection: str,
        where: Sequence[Where] = (),
        order_by: Sequence[Order] = (),
        limit: int | None = None,
    ) -> Iterator[Snapshot]:
        """Documents directly in ``collection``, in pages by id; rows in another order are read at once."""
        select(
            check_collection(collection), where, order_by
        )  # refuses a bad question now, not at the first row
        return (
            self._ordered(collection, where, order_by, limit)
            if order_by
            else self._by_id(collection, where, limit)
        )

    def _by_id(self, collection: str, where: Sequence[Where], limit: int | None) -> Iterator[Snapshot]:
        after = ""
        while limit is None or limit > 0:
            size = _CHUNK if limit is None else min(_CHUNK, limit)
            page = self._select(collection, select(collection, where, (), after=after, limit=size))
            yield from page
            if len(page) < size:
                return
            after = split(page[-1].path)[1]
            limit = None if limit is None else limit - size

    def _ordered(
        self, collection: str, where: Sequence[Where], order_by: Sequence[Order], limit: int | None
    ) -> Iterator[Snapshot]:
        yield from self._select(collection, select(collection, where, order_by, limit=limit))

    def _select(self, collection: str, statement: tuple[str, list[Any]]) -> list[Snapshot]:
        with self._pool.connection(self.deadline(self.timeout)) as connection:
            now = self.now()
            rows = connection.execute(*statement).fetchall()
        return [
            self.snapshot(f"{collection}/{identifier}", Stored(version, text), now)
            for identifier, version, text in rows
        ]

    def fetch(self, paths: Sequence[str], deadline: Deadline) -> Reading:
        """Read documents plainly, in chunks."""
        with self._pool.connection(deadline) as connection:
            now = self.now()
            return Reading(_read(connection, paths), now)

    def commit(self, pending: Pending, deadline: Deadline) -> bool:
        """Check what was read, and write, while no other writer can come between."""
        size = sum(len(write.encoded.encode()) for write in pending.writes.values() if write.encoded)
        if size > MAX_REQUEST_BYTES:
            raise DocumentTooLarge(
                f"One transaction would write {size:,} bytes; the limit is {MAX_REQUEST_BYTES:,}. Split it."
            )
        with self._pool.writing(deadline) as connection:
            current = _read(connection, pending.reads, texts=False)
            for path, read in pending.reads.items():
                stored = current.get(path)
                if (read and read.version) != (stored and stored.version):
                    return False
            if pending.writes:
                _write(connection, pending.writes)
        return True

    def encode(self, data: Mapping[str, Any]) -> str:
        """JSON text."""
        return json_values.dumps(data)

    def decode(self, stored: Stored) -> Data:
        """The fields of a JSON text."""
        return json_values.loads(stored.raw)


def _read(connection: sqlite3.Connection, paths: Iterable[str], *, texts: bool = True) -> dict[str, Stored]:
    """Documents by path; without ``texts`` only their versions."""
    by_collection: dict[str, list[str]] = {}
    for path in paths:
        collection, identifier = split(path)
        by_collection.setdefault(collection, []).append(identifier)
    found = {}
    for collection, ids in by_collection.items():
        for start in range(0, len(ids), _CHUNK):
            chunk = ids[start : start + _CHUNK]
            marks = ",".join("?" * len(chunk))
            column = "data" if texts else "NULL"
            rows = connection.execute(
                f"SELECT id, version, {column} FROM documents WHERE collection = ? AND id IN ({marks})",
                [collection, *chunk],
            )
            for identifier, version, text in rows:
                found[f"{collection}/{identifier}"] = Stored(version, text)
    return found


def _write(connection: sqlite3.Connection, writes: Mapping[str, Write]) -> None:
    """Apply writes under one new version, which no document ever had."""
    (version,) = connection.execute("UPDATE commits SET latest = latest + 1 RETURNING latest").fetchone()
    taken = _read(connection, [path for path, write in writes.items() if write.kind == "create"], texts=False)
    if taken:
        raise AlreadyExists(f"{min(taken)} exists already; nothing was written.")
    texts = {path: write.encoded for path, write in writes.items() if write.kind in ("create", "set")}
    for path, write in writes.items():
        if write.kind == "update":
            texts[path] = _updated(connection, path, write.encoded)
        elif write.kind == "delete":
            connection.execute("DELETE FROM documents WHERE collection = ? AND id = ?", split(path))
    connection.executemany(
        "REPLACE INTO documents (collection, id, version, data) VALUES (?, ?, ?, ?)",
        [(*split(path), version, text) for path, text in texts.items()],
    )


def _updated(connection: sqlite3.Connection, path: str, changes: str) -> str:
    stored = _read(connection, [path]).get(path)
    if stored is None:
        raise NotFound(f"{path} is missing and cannot be updated; nothing was written.")
    text = json_values.merged(stored.raw, changes)
    if len(text) > MAX_DOCUMENT_BYTES // 4:  # a character takes at most four bytes, so others surely fit
        check_size(path, json_values.loads(text))
    return text
