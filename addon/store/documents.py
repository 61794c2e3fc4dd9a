"""The store port: documents by path, read plainly and changed in optimistic transactions.

A path is ``collection/id`` or ``collection/id/collection/id`` (an even number of segments); a
collection path has an odd number. Values are what both adapters can hold: ``None``, ``bool``,
``int``, ``float``, ``str``, ``datetime`` (aware, UTC), and lists and string-keyed dicts of these.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, Protocol, TypeVar

T = TypeVar("T")

Data = dict[str, Any]
Operator = Literal["==", "<", "<=", ">", ">=", "in"]
Where = tuple[str, Operator, Any]
"""A condition on a top-level or dotted field: ``("status", "==", "running")``; ``in`` takes ≤ 30 values."""
Order = tuple[str, Literal["asc", "desc"]]

MAX_DOCUMENT_BYTES = 1_000_000
"""Refuse a document near Firestore's 1 MiB limit before the server does (quotas page: 1,048,576 bytes)."""

MAX_IN_VALUES = 30
"""Most values one ``in`` condition takes (Firestore quotas page)."""

MAX_REQUEST_BYTES = 3 * 1024 * 1024
"""One commit stays below this; the official emulator hangs on a request above 4 MiB."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A document as it was at ``read_time``.

    Parameters
    ----------
    path
        Its full path.
    data
        Its fields; a private copy, safe to change. The store's own bookkeeping fields are not in it.
    version
        Opaque token that changes with every write, also with a write of equal fields.
    read_time
        The store's clock when it was read: the "now" to judge leases by.
    """

    path: str
    data: Data
    version: Any
    read_time: datetime

    @property
    def id(self) -> str:
        """The last segment of its path."""
        return self.path.rsplit("/", 1)[1]


class StoreError(Exception):
    """The store could not do what was asked."""


class Contention(StoreError):
    """Others kept changing the same documents until the deadline; nothing was written by this call."""


class AlreadyExists(StoreError):
    """A document to be created is there already; nothing was written by this call."""


class NotFound(StoreError):
    """A document to be updated is missing; nothing was written by this call."""


class Unavailable(StoreError):
    """The store did not answer before the deadline; whether the write happened could not be learnt."""


class DocumentTooLarge(StoreError):
    """A document, or one transaction, is larger than the store takes; nothing was written."""


class TransactionMisuse(StoreError):
    """The body of a transaction did what it must not: read after writing, nested, or wrote a path twice."""


class Transaction(Protocol):
    """What the body of `Documents.transact` sees. Reads first, then buffered writes."""

    @property
    def now(self) -> datetime:
        """The store's clock as of the latest read of this attempt (reads something if nothing was read)."""

    def get(self, path: str) -> Snapshot | None:
        """Read a document and make the commit depend on its being unchanged (or still missing)."""

    def get_many(self, paths: Iterable[str]) -> dict[str, Snapshot]:
        """Read documents; missing ones are not in the answer. All become preconditions."""

    def create(self, path: str, data: Mapping[str, Any]) -> None:
        """Write a document that must not exist yet."""

    def update(self, path: str, data: Mapping[str, Any]) -> None:
        """Replace the named top-level fields of a document that must exist, leaving its others."""

    def set(self, path: str, data: Mapping[str, Any]) -> None:
        """Write a whole document, whether it exists or not."""

    def delete(self, path: str) -> None:
        """Remove a document; removing a missing one is no error."""


class Documents(Protocol):
    """Documents by path. Safe to share between threads."""

    def now(self) -> datetime:
        """The store's clock: the only clock leases are judged by."""

    def get(self, path: str) -> Snapshot | None:
        """Read one document, or ``None`` where there is none."""

    def get_many(self, paths: Iterable[str]) -> dict[str, Snapshot]:
        """Read any number of documents; missing ones are not in the answer, duplicates collapse."""

    def query(
        self,
        collection: str,
        where: Sequence[Where] = (),
        order_by: Sequence[Order] = (),
        limit: int | None = None,
    ) -> Iterator[Snapshot]:
        """Documents directly in ``collection`` that meet every condition; by id where no order is given.

        A document without a field named in ``where`` or ``order_by`` is not in the answer.
        """

    def transact(self, work: Callable[[Transaction], T], *, deadline: float = 10.0) -> T:
        """Run ``work`` over plain reads and commit its writes in one atomic request.

        Every document ``work`` read must be unchanged at the commit; otherwise ``work`` runs again after a
        jittered pause, until ``deadline`` seconds have passed. ``work`` must do no I/O of its own: it may run
        several times. An answer lost on the way is resolved by the nonce that every write carries, so a
        commit that was applied is reported as applied and never applied twice.

        Raises
        ------
        Contention
            No attempt won before the deadline; nothing was written.
        AlreadyExists, NotFound
            A `create` met a document, an `update` met none.
        Unavailable
            The store was unreachable until the deadline.
        """

    def prune(self, collection: str, field: str, before: datetime, limit: int = 1000) -> int:
        """Delete at most ``limit`` documents whose ``field`` is earlier than ``before``; say how many."""

    def close(self) -> None:
        """Release connections."""
