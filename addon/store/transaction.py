"""One attempt of an optimistic transaction: what it read, what it wants to write, and until when."""

import random
import secrets
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, Protocol

from addon.store.documents import Snapshot, TransactionMisuse
from addon.store.values import check_document, check_size

Kind = Literal["create", "update", "set", "delete"]

NONCE_LENGTH = 16
"""Hexadecimal digits of a nonce: 64 random bits."""


class Deadline:
    """A moment on this process's monotonic clock, and the pauses that lead up to it.

    Parameters
    ----------
    seconds
        From now.
    first_pause
        Upper bound in seconds of the first pause; it doubles with every attempt, up to one second.
    """

    def __init__(self, seconds: float, first_pause: float) -> None:
        self._end = time.monotonic() + seconds
        self._first_pause = first_pause

    @property
    def remaining(self) -> float:
        """Seconds left; zero once the moment has passed."""
        return max(0.0, self._end - time.monotonic())

    def pause(self, attempt: int) -> bool:
        """Sleep a random while before the next attempt; say no when there is no time for one."""
        longest = min(1.0, self._first_pause * 2 ** min(attempt, 16))
        # Full jitter, so that those who lost against each other do not meet again.
        pause = random.uniform(0, longest)
        if pause >= self.remaining:
            return False
        time.sleep(pause)
        return True


@dataclass(frozen=True, slots=True)
class Stored:
    """A document as an adapter read it: ``raw`` is its own encoding, ``trail`` its latest nonces."""

    version: int
    raw: Any
    trail: str = ""


@dataclass(frozen=True, slots=True)
class Reading:
    """The documents found by one read, by path, and the store's clock at that read."""

    found: dict[str, Stored]
    read_time: datetime


@dataclass(frozen=True, slots=True)
class Write:
    """A buffered write; ``encoded`` is the adapter's own encoding, ``None`` for a deletion."""

    kind: Kind
    encoded: Any = None


@dataclass(slots=True)
class Pending:
    """What one attempt read and wants to write; a path read as missing maps to ``None``."""

    reads: dict[str, Stored | None] = field(default_factory=dict)
    writes: dict[str, Write] = field(default_factory=dict)
    nonce: str = field(default_factory=lambda: secrets.token_hex(NONCE_LENGTH // 2))


class Reader(Protocol):
    """What a transaction needs of the store that runs it."""

    def now(self) -> datetime: ...

    def fetch(self, paths: Sequence[str], deadline: Deadline) -> Reading: ...

    def encode(self, data: Mapping[str, Any]) -> Any: ...

    def snapshot(self, path: str, stored: Stored, read_time: datetime) -> Snapshot: ...


class BufferedTransaction:
    """One attempt of a transaction: reads go to the store at once, writes wait for the commit."""

    def __init__(self, store: "Reader", deadline: Deadline) -> None:
        self._store = store
        self._deadline = deadline
        self._latest: datetime | None = None
        self._first_read: float | None = None
        self._reading = 0.0
        self.pending = Pending()

    @property
    def now(self) -> datetime:
        """The store's clock as of the latest read."""
        return self._latest or self._store.now()

    @property
    def body_seconds(self) -> float:
        """Time since the first read that was not spent on reads."""
        return time.monotonic() - self._first_read - self._reading if self._first_read is not None else 0.0

    def get(self, path: str) -> Snapshot | None:
        """Read a document and make the commit depend on it."""
        return self.get_many([path]).get(path)

    def get_many(self, paths: Iterable[str]) -> dict[str, Snapshot]:
        """Read documents and make the commit depend on all of them, the missing ones too."""
        if self.pending.writes:
            raise TransactionMisuse("A transaction read after it wrote; do all its reads first.")
        wanted = list(dict.fromkeys(paths))
        known = self.pending.reads
        unread = [check_document(path) for path in wanted if path not in known]
        if unread:
            started = time.monotonic()
            self._first_read = started if self._first_read is None else self._first_read
            reading = self._store.fetch(unread, self._deadline)
            self._reading += time.monotonic() - started
            self._latest = reading.read_time
            known.update({path: reading.found.get(path) for path in unread})
        return {
            path: self._store.snapshot(path, stored, self.now)
            for path in wanted
            if (stored := known[path]) is not None
        }

    def create(self, path: str, data: Mapping[str, Any]) -> None:
        """Write a document that must not exist yet."""
        self._buffer("create", path, data)

    def update(self, path: str, data: Mapping[str, Any]) -> None:
        """Replace the named top-level fields of a document that must exist."""
        self._buffer("update", path, data)

    def set(self, path: str, data: Mapping[str, Any]) -> None:
        """Write a whole document."""
        self._buffer("set", path, data)

    def delete(self, path: str) -> None:
        """Remove a document."""
        self._buffer("delete", path, None)

    def _buffer(self, kind: Kind, path: str, data: Mapping[str, Any] | None) -> None:
        check_document(path)
        if path in self.pending.writes:
            raise TransactionMisuse(f"A transaction wrote {path} twice; put everything into one write.")
        encoded = None
        if data is not None:
            check_size(path, data)
            encoded = self._store.encode(data)
        self.pending.writes[path] = Write(kind, encoded)
