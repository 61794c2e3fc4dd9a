"""Leases: locks that expire, with a fencing token that exposes a holder who comes back too late.

The scopes have the meaning of Apps Script's LockService: `script_scope` is one lock for everybody,
`user_scope` one per user, `document_scope` one per spreadsheet.
"""

import random
import secrets
import time
from collections.abc import Callable
from datetime import datetime, timedelta
from types import TracebackType
from typing import NewType, Self

from addon.store.documents import Contention, Documents, StoreError, Transaction

Scope = NewType("Scope", str)

LONGEST_PAUSE = 0.25
"""Seconds between two tries to get a lease that is held, at most."""

_TRY_SECONDS = 5.0
"""Time one try may take when others try at the same moment."""


class Busy(StoreError):
    """Somebody else holds the lease, and did so for as long as the caller would wait."""


class LeaseLost(StoreError):
    """The lease expired, or was released; what it protected may be somebody else's by now."""


def script_scope() -> Scope:
    """The lock that everybody shares."""
    return Scope("script")


def user_scope(user_id: str) -> Scope:
    """The lock of one user. It protects nothing that users share.

    Raises
    ------
    ValueError
        There is no user, or no such id.
    """
    return Scope(f"user:{_checked(user_id, 'user')}")


def document_scope(spreadsheet_id: str) -> Scope:
    """The lock of one spreadsheet.

    Raises
    ------
    ValueError
        There is no spreadsheet (an error, not a lock that nobody needs), or no such id.
    """
    return Scope(f"document:{_checked(spreadsheet_id, 'spreadsheet')}")


def _checked(identifier: str, kind: str) -> str:
    if not identifier or "/" in identifier:
        raise ValueError(f"A {kind}'s lock needs the {kind}'s id; {identifier!r} is none.")
    return identifier


class Leases:
    """Takes leases, kept as documents at ``locks/{scope}`` and judged by the store's clock alone.

    Parameters
    ----------
    documents
        Where they are kept.
    ttl
        How long a lease lasts from when it was taken or renewed.
    sleep, timer
        Only for tests: how to wait, in seconds, and the monotonic clock that limits a wait.
    """

    def __init__(
        self,
        documents: Documents,
        ttl: timedelta,
        *,
        sleep: Callable[[float], None] = time.sleep,
        timer: Callable[[], float] = time.monotonic,
    ) -> None:
        self._documents = documents
        self._ttl = ttl
        self._sleep = sleep
        self._timer = timer

    def try_acquire(self, scope: Scope, wait: float = 0.0) -> "Lease | None":
        """Take the lease, trying for ``wait`` seconds, or answer ``None`` if somebody else holds it.

        Raises
        ------
        Unavailable
            The store did not answer.
        """
        end = self._timer() + wait
        while True:
            lease = self._try(scope)
            left = end - self._timer()
            if lease is not None or left <= 0:
                return lease
            self._sleep(min(left, random.uniform(LONGEST_PAUSE / 10, LONGEST_PAUSE)))

    def acquire(self, scope: Scope, wait: float) -> "Lease":
        """Take the lease, trying for ``wait`` seconds.

        Raises
        ------
        Busy
            Somebody else held it all the time.
        Unavailable
            The store did not answer.
        """
        lease = self.try_acquire(scope, wait)
        if lease is None:
            raise Busy(f"The lock {scope} was held by somebody else for {wait:g} s. Try again later.")
        return lease

    def _try(self, scope: Scope) -> "Lease | None":
        owner = secrets.token_hex(8)

        def take(transaction: Transaction) -> Lease | None:
            snapshot = transaction.get(_path(scope))
            held = snapshot.data if snapshot else {}
            now = transaction.now
            if held.get("owner") is not None and held["expires_at"] > now:
                return None
            fence, expires_at = held.get("fence", 0) + 1, now + self._ttl
            transaction.set(_path(scope), {"owner": owner, "fence": fence, "expires_at": expires_at})
            return Lease(self._documents, self._ttl, scope, owner, fence, expires_at)

        try:
            return self._documents.transact(take, deadline=_TRY_SECONDS)
        except Contention:
            return None  # others took it in turn all the time: that is "busy", and nothing was written


class Lease:
    """A lease that was taken. As a context manager it releases itself.

    Attributes
    ----------
    scope
        What it locks.
    owner
        Random name of this very acquisition.
    fence
        Fencing token: larger than that of every earlier holder of the scope.
    expires_at
        When it ends, on the store's clock, unless renewed.
    """

    def __init__(
        self,
        documents: Documents,
        ttl: timedelta,
        scope: Scope,
        owner: str,
        fence: int,
        expires_at: datetime,
    ) -> None:
        self._documents = documents
        self._ttl = ttl
        self.scope = scope
        self.owner = owner
        self.fence = fence
        self.expires_at = expires_at

    def check(self, transaction: Transaction) -> None:
        """Make a transaction fail unless this lease is still good when it commits. Call it among its reads.

        Raises
        ------
        LeaseLost
            It is not; also when it expired and nobody has taken it yet.
        """
        snapshot = transaction.get(_path(self.scope))
        held = snapshot.data if snapshot else {}
        if held.get("owner") != self.owner or held["expires_at"] <= transaction.now:
            raise LeaseLost(
                f"The lock {self.scope} was lost (token {self.fence}): it expired or was released."
            )

    def renew(self) -> None:
        """Begin the time of the lease anew.

        Raises
        ------
        LeaseLost
            It is too late.
        """

        def extend(transaction: Transaction) -> datetime:
            self.check(transaction)
            expires_at = transaction.now + self._ttl
            transaction.update(_path(self.scope), {"expires_at": expires_at})
            return expires_at

        self.expires_at = self._documents.transact(extend)

    def release(self) -> None:
        """Give the lease back. If it was lost, whoever has it keeps it."""

        def give_back(transaction: Transaction) -> None:
            snapshot = transaction.get(_path(self.scope))
            if snapshot is not None and snapshot.data.get("owner") == self.owner:
                # The document stays, because the next holder's token continues from this one.
                transaction.update(_path(self.scope), {"owner": None})

        self._documents.transact(give_back)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()


def _path(scope: Scope) -> str:
    return f"locks/{scope}"
