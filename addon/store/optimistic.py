"""What both adapters share: the loop that runs a transaction until it wins, and what builds on it.

No lock is held while the body runs, so a worker that dies in the middle of one blocks nobody.
"""

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from itertools import count
from typing import Any

from addon.store.documents import (
    Contention,
    Data,
    Order,
    Snapshot,
    T,
    Transaction,
    TransactionMisuse,
    Where,
)
from addon.store.transaction import BufferedTransaction, Deadline, Pending, Reading, Stored
from addon.store.values import check_document

MAX_BODY_SECONDS = 1.0
"""Longest a body may take besides its reads before a strict store takes it for one that does I/O."""

PRUNE_BATCH = 200
"""Documents deleted per commit: a conflict on one of them repeats no more than these."""


class OptimisticDocuments(ABC):
    """The part of `addon.store.documents.Documents` that does not depend on where documents are kept.

    Parameters
    ----------
    timeout
        Seconds that a plain read or query page may take before `Unavailable`.
    first_pause
        Upper bound in seconds of the pause after the first conflict.
    strict
        Refuse a transaction whose body took longer than `MAX_BODY_SECONDS`: for tests, where it shows that
        somebody does I/O inside one.
    """

    def __init__(self, *, timeout: float, first_pause: float, strict: bool) -> None:
        self.timeout = timeout
        self._first_pause = first_pause
        self._strict = strict
        self._inside = threading.local()

    @abstractmethod
    def now(self) -> datetime: ...

    @abstractmethod
    def query(
        self,
        collection: str,
        where: Sequence[Where] = (),
        order_by: Sequence[Order] = (),
        limit: int | None = None,
    ) -> Iterator[Snapshot]: ...

    @abstractmethod
    def close(self) -> None: ...

    @abstractmethod
    def fetch(self, paths: Sequence[str], deadline: Deadline) -> Reading:
        """Read documents plainly; missing ones are not in the answer."""

    @abstractmethod
    def commit(self, pending: Pending, deadline: Deadline) -> bool:
        """Write everything at once if nothing that was read has changed; say no on a conflict."""

    @abstractmethod
    def encode(self, data: Mapping[str, Any]) -> Any:
        """Fields in the store's own encoding."""

    @abstractmethod
    def decode(self, stored: Stored) -> Data:
        """A fresh copy of the fields."""

    def get(self, path: str) -> Snapshot | None:
        """Read one document, or ``None`` where there is none."""
        return self.get_many([path]).get(path)

    def get_many(self, paths: Iterable[str]) -> dict[str, Snapshot]:
        """Read any number of documents; missing ones are not in the answer, duplicates collapse."""
        wanted = [check_document(path) for path in dict.fromkeys(paths)]
        if not wanted:
            return {}
        reading = self.fetch(wanted, self.deadline(self.timeout))
        return {
            path: self.snapshot(path, stored, reading.read_time) for path, stored in reading.found.items()
        }

    def transact(self, work: Callable[[Transaction], T], *, deadline: float = 10.0) -> T:
        """Run ``work`` and commit its writes atomically; see `addon.store.documents.Documents.transact`."""
        limit = self.deadline(deadline)
        with self._not_nested():
            for attempt in count():
                transaction = BufferedTransaction(self, limit)
                result = work(transaction)
                if self._strict and transaction.body_seconds > MAX_BODY_SECONDS:
                    raise TransactionMisuse(
                        f"The body of a transaction took {transaction.body_seconds:.1f} s; it must do no I/O."
                    )
                if self._settled(transaction.pending) or self.commit(transaction.pending, limit):
                    return result
                if not limit.pause(attempt):
                    break
        raise Contention(f"Others kept changing the same documents for {deadline:g} s; nothing was written.")

    def prune(self, collection: str, field: str, before: datetime, limit: int = 1000) -> int:
        """Delete at most ``limit`` documents whose ``field`` is earlier than ``before``; say how many."""
        found = self.query(collection, [(field, "<", before)], [(field, "asc")], limit)
        due = [snapshot.path for snapshot in found]
        return sum(
            self.transact(_deletion(due[start : start + PRUNE_BATCH], field, before))
            for start in range(0, len(due), PRUNE_BATCH)
        )

    def deadline(self, seconds: float) -> Deadline:
        return Deadline(seconds, self._first_pause)

    def snapshot(self, path: str, stored: Stored, read_time: datetime) -> Snapshot:
        return Snapshot(path, self.decode(stored), stored.version, read_time)

    @staticmethod
    def _settled(pending: Pending) -> bool:
        """A single read and no write needs no commit; several reads must prove that they fit together."""
        return not pending.writes and len(pending.reads) <= 1

    @contextmanager
    def _not_nested(self) -> Iterator[None]:
        if getattr(self._inside, "transaction", False):
            raise TransactionMisuse("A transaction began inside another one on the same thread.")
        self._inside.transaction = True
        try:
            yield
        finally:
            self._inside.transaction = False


def _deletion(paths: Sequence[str], field: str, before: datetime) -> Callable[[Transaction], int]:
    """Body that deletes those of ``paths`` that are still due: one may have been written anew meanwhile."""

    def delete(transaction: Transaction) -> int:
        due = [
            path
            for path, snapshot in transaction.get_many(paths).items()
            if (value := _field(snapshot.data, field)) is not None and value < before
        ]
        for path in due:
            transaction.delete(path)
        return len(due)

    return delete


def _field(data: Any, field: str) -> datetime | None:
    for name in field.split("."):
        data = data.get(name) if isinstance(data, dict) else None
    return data if isinstance(data, datetime) else None
