"""Leases: one holder at a time, expiry by the store's clock, and tokens that expose a late holder."""

import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from emulator import OpenStore
from races import all_at_once

from addon.store.documents import Contention, Documents, Transaction, TransactionMisuse
from addon.store.leases import (
    Busy,
    Lease,
    LeaseLost,
    Leases,
    document_scope,
    script_scope,
    user_scope,
)
from addon.store.sqlite import SqliteDocuments

HOUR = timedelta(hours=1)
SCRIPT = script_scope()


class Clock:
    """A clock that goes when told to; it serves as the store's and as the waiter's."""

    def __init__(self) -> None:
        self.now = datetime(2026, 1, 1, tzinfo=UTC)
        self.waits: list[float] = []

    def __call__(self) -> datetime:
        return self.now

    def seconds(self) -> float:
        return self.now.timestamp()

    def sleep(self, seconds: float) -> None:
        self.waits.append(seconds)
        self.now += timedelta(seconds=seconds)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def timed(clock: Clock, tmp_path: Path) -> Any:
    """Leases of a minute on a store with the test's clock."""
    documents = SqliteDocuments(tmp_path / "timed.db", clock=clock, strict=True)
    yield Leases(documents, timedelta(minutes=1), sleep=clock.sleep, timer=clock.seconds)
    documents.close()


def taken(leases: Leases, scope: Any = SCRIPT) -> Lease:
    lease = leases.try_acquire(scope)
    assert lease is not None
    return lease


def test_a_lease_that_is_held_is_refused_in_the_return_value_or_raised(documents: Documents) -> None:
    leases = Leases(documents, HOUR)
    lease = taken(leases)
    assert leases.try_acquire(SCRIPT) is None
    with pytest.raises(Busy, match="script"):
        leases.acquire(SCRIPT, wait=0)
    lease.release()
    assert taken(leases).fence == lease.fence + 1


def test_scopes_lock_apart(documents: Documents) -> None:
    leases = Leases(documents, HOUR)
    scopes = [SCRIPT, user_scope("u1"), user_scope("u2"), document_scope("u1"), document_scope("1AbC_-x")]
    assert [taken(leases, scope).fence for scope in scopes] == [1] * 5
    assert [leases.try_acquire(scope) for scope in scopes] == [None] * 5


@pytest.mark.parametrize("scope", [user_scope, document_scope])
@pytest.mark.parametrize("identifier", ["", "a/b", "a/b/c"])
def test_a_lock_without_its_owner_is_an_error_and_not_no_lock(scope: Any, identifier: str) -> None:
    with pytest.raises(ValueError, match="needs"):
        scope(identifier)


def test_of_32_at_once_one_gets_the_lease(documents: Documents) -> None:
    leases = Leases(documents, HOUR)
    answers = all_at_once(32, lambda _: leases.try_acquire(SCRIPT))
    assert sorted(type(answer).__name__ for answer in answers) == ["Lease"] + ["NoneType"] * 31


def test_32_holders_are_never_two_at_a_time_and_their_tokens_only_grow(documents: Documents) -> None:
    leases = Leases(documents, HOUR)
    guard = threading.Lock()
    inside = max_inside = 0
    fences = []

    def work(_: int) -> None:
        nonlocal inside, max_inside
        with leases.acquire(SCRIPT, wait=120) as lease:
            with guard:
                inside += 1
                max_inside = max(max_inside, inside)
                fences.append(lease.fence)
            documents.get("locks/script")  # time in which a second holder would show
            with guard:
                inside -= 1

    assert all_at_once(32, work) == [None] * 32
    assert max_inside == 1
    assert fences == list(range(1, 33))


def test_a_lease_ends_by_the_clock_of_the_store(timed: Leases, clock: Clock) -> None:
    lease = taken(timed)
    assert lease.expires_at == clock.now + timedelta(minutes=1)
    clock.now += timedelta(seconds=59)
    assert timed.try_acquire(SCRIPT) is None
    clock.now += timedelta(seconds=1)
    assert taken(timed).fence == 2


def test_a_late_holder_is_refused_and_takes_nothing_from_the_next(timed: Leases, clock: Clock) -> None:
    late = taken(timed)
    clock.now += timedelta(minutes=2)
    holder = taken(timed)
    with pytest.raises(LeaseLost, match="script"):
        late.renew()
    late.release()
    assert timed.try_acquire(SCRIPT) is None
    holder.renew()


def test_an_expired_lease_is_lost_even_if_nobody_has_taken_it(timed: Leases, clock: Clock) -> None:
    lease = taken(timed)
    clock.now += timedelta(minutes=1)
    with pytest.raises(LeaseLost):
        lease.renew()


def test_renewing_begins_the_time_anew(timed: Leases, clock: Clock) -> None:
    lease = taken(timed)
    for _ in range(5):
        clock.now += timedelta(seconds=50)
        lease.renew()
    assert lease.expires_at == clock.now + timedelta(minutes=1)
    assert timed.try_acquire(SCRIPT) is None


def test_waiting_ends_and_has_jitter(timed: Leases, clock: Clock) -> None:
    taken(timed)
    began = clock.now
    assert timed.try_acquire(SCRIPT, wait=5) is None
    assert clock.now - began == timedelta(seconds=5)
    assert len(set(clock.waits)) > 10
    assert max(clock.waits) <= 0.25


def test_waiting_gets_a_lease_that_expires_meanwhile(timed: Leases, clock: Clock) -> None:
    taken(timed)
    assert timed.acquire(SCRIPT, wait=120).fence == 2


def test_a_lease_releases_itself_also_when_its_work_fails(documents: Documents) -> None:
    leases = Leases(documents, HOUR)
    with pytest.raises(LookupError), leases.acquire(SCRIPT, wait=0):
        raise LookupError
    with leases.acquire(SCRIPT, wait=0) as lease:
        assert lease.fence == 2
    lease.release()
    assert taken(leases).fence == 3


def test_what_a_late_holder_writes_is_refused_by_its_token(open_documents: OpenStore) -> None:
    documents = open_documents()
    late = taken(Leases(documents, timedelta(microseconds=1)))
    holder = taken(Leases(documents, HOUR))

    def commit(lease: Lease, text: str) -> None:
        def work(transaction: Transaction) -> None:
            lease.check(transaction)
            transaction.set("jobs/j", {"by": text})

        documents.transact(work)

    with pytest.raises(LeaseLost):
        commit(late, "late")
    assert documents.get("jobs/j") is None
    commit(holder, "holder")
    snapshot = documents.get("jobs/j")
    assert snapshot is not None
    assert snapshot.data == {"by": "holder"}


def test_a_lease_lost_between_the_check_and_the_commit_stops_the_commit(documents: Documents) -> None:
    lease = taken(Leases(documents, HOUR))
    attempts = []

    def work(transaction: Transaction) -> None:
        attempts.append(1)
        lease.check(transaction)
        if len(attempts) == 1:
            all_at_once(1, lambda _: lease.release())
        transaction.set("jobs/j", {"by": "late"})

    with pytest.raises(LeaseLost):
        documents.transact(work)
    assert len(attempts) == 2
    assert documents.get("jobs/j") is None


def test_what_decides_is_read_after_the_lock_was_taken(documents: Documents) -> None:
    """Read, add and write under the lease: 8 times at once, each number once."""
    leases = Leases(documents, HOUR)

    def work(_: int) -> int:
        with leases.acquire(document_scope("s"), wait=120):
            snapshot = documents.get("counters/c")
            number: int = (snapshot.data["value"] if snapshot else 0) + 1
            documents.transact(lambda transaction: transaction.set("counters/c", {"value": number}))
            return number

    assert set(all_at_once(8, work)) == set(range(1, 9))


def test_nobody_waits_for_a_lease_inside_a_transaction(documents: Documents) -> None:
    leases = Leases(documents, HOUR)
    with pytest.raises(TransactionMisuse):
        documents.transact(lambda transaction: leases.try_acquire(SCRIPT))


def test_endless_contention_for_a_lease_is_busy_and_never_a_success(
    documents: Documents, monkeypatch: pytest.MonkeyPatch
) -> None:
    def transact(*_: Any, **__: Any) -> Any:
        raise Contention("others")

    leases = Leases(documents, HOUR)
    monkeypatch.setattr(documents, "transact", transact)
    assert leases.try_acquire(SCRIPT) is None
    with pytest.raises(Busy):
        leases.acquire(SCRIPT, wait=0)
