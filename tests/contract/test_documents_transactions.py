"""What both stores promise when many write at once, with 32-way races."""

import threading
from collections import Counter
from typing import Any

import pytest
from emulator import OpenStore
from races import all_at_once

from addon.store import optimistic
from addon.store.documents import AlreadyExists, Contention, Documents, Transaction, TransactionMisuse

N = 32


def data(documents: Documents, path: str) -> dict[str, Any] | None:
    snapshot = documents.get(path)
    return None if snapshot is None else snapshot.data


def write(documents: Documents, path: str, fields: dict[str, Any]) -> None:
    documents.transact(lambda transaction: transaction.set(path, fields))


def increment(transaction: Transaction) -> int:
    """Take the next number of ``counters/c``."""
    snapshot = transaction.get("counters/c")
    number: int = (snapshot.data["value"] if snapshot else 0) + 1
    transaction.set("counters/c", {"value": number})
    return number


def test_of_32_creators_of_one_document_exactly_one_wins(documents: Documents) -> None:
    answers = all_at_once(
        N, lambda n: documents.transact(lambda transaction: transaction.create("results/k", {"by": n}))
    )
    assert Counter(type(answer) for answer in answers) == {type(None): 1, AlreadyExists: N - 1}
    assert data(documents, "results/k") == {"by": answers.index(None)}


def test_32_writers_of_one_document_per_key_lose_nothing(documents: Documents) -> None:
    answers = all_at_once(
        N, lambda n: documents.transact(lambda transaction: transaction.create(f"results/{n:02}", {"n": n}))
    )
    assert answers == [None] * N
    assert [snapshot.data["n"] for snapshot in documents.query("results")] == list(range(N))


def test_32_writers_of_one_map_without_a_transaction_lose_most(documents: Documents) -> None:
    """The story this store exists to end: it shows that the tests beside it can fail."""
    write(documents, "results/all", {"by_key": {}})
    everybody_has_read = threading.Barrier(N)

    def read_modify_write(n: int) -> None:
        fields = data(documents, "results/all")
        assert fields is not None
        everybody_has_read.wait()
        fields["by_key"][f"k{n}"] = n
        write(documents, "results/all", fields)

    assert all_at_once(N, read_modify_write) == [None] * N
    fields = data(documents, "results/all")
    assert fields is not None
    assert len(fields["by_key"]) == 1


def test_32_writers_of_one_map_in_transactions_lose_nothing(documents: Documents) -> None:
    write(documents, "results/all", {"by_key": {}})

    def add(n: int) -> None:
        def work(transaction: Transaction) -> None:
            snapshot = transaction.get("results/all")
            assert snapshot is not None
            transaction.update("results/all", {"by_key": {**snapshot.data["by_key"], f"k{n}": n}})

        documents.transact(work, deadline=60)

    assert all_at_once(N, add) == [None] * N
    assert data(documents, "results/all") == {"by_key": {f"k{n}": n for n in range(N)}}


def test_32_at_once_from_40_get_41_to_72_each_once(documents: Documents) -> None:
    write(documents, "counters/c", {"value": 40})
    answers = all_at_once(N, lambda _: documents.transact(increment, deadline=60))
    assert Counter(answers) == Counter(range(41, 73))
    assert data(documents, "counters/c") == {"value": 72}


def test_several_openings_of_one_store_count_together(open_documents: OpenStore) -> None:
    stores = [open_documents() for _ in range(4)]
    answers = all_at_once(16, lambda n: stores[n % 4].transact(increment, deadline=60))
    assert Counter(answers) == Counter(range(1, 17))


def test_of_32_who_compare_and_set_equal_fields_exactly_one_wins(documents: Documents) -> None:
    """Equal content must not make two winners: a write that changes nothing still is a write."""
    write(documents, "jobs/j", {"owner": None})
    everybody_has_read = threading.Barrier(N)

    def claim(_: int) -> bool:
        attempts = 0

        def work(transaction: Transaction) -> bool:
            nonlocal attempts
            attempts += 1
            snapshot = transaction.get("jobs/j")
            assert snapshot is not None
            if attempts == 1:
                everybody_has_read.wait()
            if snapshot.data["owner"] is not None:
                return False
            transaction.update("jobs/j", {"owner": "somebody"})
            return True

        return documents.transact(work, deadline=60)

    assert Counter(all_at_once(N, claim)) == {True: 1, False: N - 1}


def test_of_32_who_claim_by_deleting_exactly_one_wins(documents: Documents) -> None:
    write(documents, "queue/item", {})

    def claim(transaction: Transaction) -> bool:
        if transaction.get("queue/item") is None:
            return False
        transaction.delete("queue/item")
        return True

    answers = all_at_once(N, lambda _: documents.transact(claim, deadline=60))
    assert Counter(answers) == {True: 1, False: N - 1}


@pytest.mark.parametrize("change", ["update", "set", "delete", "recreate"])
def test_a_change_between_read_and_commit_runs_the_body_again(documents: Documents, change: str) -> None:
    write(documents, "jobs/j", {"value": 1})
    seen = []

    def work(transaction: Transaction) -> None:
        snapshot = transaction.get("jobs/j")
        seen.append(snapshot.data if snapshot else None)
        if len(seen) == 1:
            elsewhere(lambda: interfere(documents, change))
        transaction.set("jobs/j", {"value": "mine"})

    documents.transact(work)
    after = {
        "update": {"value": 1, "other": 1},
        "set": {"value": 2},
        "delete": None,
        "recreate": {"value": 1},
    }
    assert seen == [{"value": 1}, after[change]]
    assert data(documents, "jobs/j") == {"value": "mine"}


def interfere(documents: Documents, change: str) -> None:
    if change == "recreate":
        documents.transact(lambda transaction: transaction.delete("jobs/j"))
        write(documents, "jobs/j", {"value": 1})
    elif change == "delete":
        documents.transact(lambda transaction: transaction.delete("jobs/j"))
    elif change == "set":
        write(documents, "jobs/j", {"value": 2})
    else:
        documents.transact(lambda transaction: transaction.update("jobs/j", {"other": 1}))


def elsewhere(work: Any) -> None:
    """Run ``work`` to its end on another thread."""
    (answer,) = all_at_once(1, lambda _: work())
    assert answer is None


@pytest.mark.parametrize("exists", [True, False])
def test_a_document_that_was_only_read_guards_the_commit(documents: Documents, exists: bool) -> None:
    if exists:
        write(documents, "jobs/guard", {"fence": 1})
    seen = []

    def work(transaction: Transaction) -> None:
        snapshot = transaction.get("jobs/guard")
        seen.append(snapshot.data["fence"] if snapshot else None)
        if len(seen) == 1:
            elsewhere(lambda: write(documents, "jobs/guard", {"fence": 2}))
        transaction.create("results/k", {"fence": seen[-1]})

    documents.transact(work)
    assert seen == [1 if exists else None, 2]
    assert data(documents, "results/k") == {"fence": 2}


def test_a_guard_is_neither_written_nor_created(documents: Documents) -> None:
    write(documents, "jobs/guard", {"fence": 1})
    before = documents.get("jobs/guard")

    def work(transaction: Transaction) -> None:
        transaction.get_many(["jobs/guard", "jobs/missing"])
        transaction.create("results/k", {"n": 1})

    documents.transact(work)
    after = documents.get("jobs/guard")
    assert before is not None
    assert after is not None
    assert (after.version, after.data) == (before.version, before.data)
    assert [snapshot.path for snapshot in documents.query("jobs")] == ["jobs/guard"]


def test_several_reads_without_a_write_fit_together(documents: Documents) -> None:
    write(documents, "jobs/a", {"n": 1})
    write(documents, "jobs/b", {"n": 1})
    attempts = []

    def both(transaction: Transaction) -> None:
        for path in ("jobs/a", "jobs/b"):
            transaction.update(path, {"n": 2})

    def work(transaction: Transaction) -> tuple[int, int]:
        attempts.append(1)
        first = transaction.get("jobs/a")
        if len(attempts) == 1:
            elsewhere(lambda: documents.transact(both))
        second = transaction.get("jobs/b")
        assert first is not None
        assert second is not None
        return first.data["n"], second.data["n"]

    assert documents.transact(work) == (2, 2)


def test_a_read_repeated_in_one_attempt_gives_the_same_answer(documents: Documents) -> None:
    write(documents, "jobs/a", {"n": 1})
    attempts = []

    def work(transaction: Transaction) -> list[Any]:
        attempts.append(1)
        first = transaction.get("jobs/a")
        if len(attempts) == 1:
            elsewhere(lambda: write(documents, "jobs/a", {"n": 2}))
        second = transaction.get("jobs/a")
        assert first is not None
        assert second is not None
        transaction.update("jobs/a", {"seen": 1})
        return [first.data["n"], second.data["n"]]

    assert documents.transact(work) == [2, 2]
    assert len(attempts) == 2


def test_a_create_of_a_document_read_as_missing_is_decided_again_when_it_appears(
    documents: Documents,
) -> None:
    """Only a *blind* create answers AlreadyExists; who looked first gets to look again."""
    attempts = []

    def work(transaction: Transaction) -> str:
        attempts.append(1)
        if transaction.get("jobs/j") is not None:
            return "there"
        if len(attempts) == 1:
            elsewhere(lambda: write(documents, "jobs/j", {}))
        transaction.create("jobs/j", {})
        return "made"

    assert documents.transact(work) == "there"


def test_when_reads_are_stale_and_a_created_document_exists_the_body_decides_anew(
    documents: Documents,
) -> None:
    write(documents, "jobs/j", {"status": "running"})
    attempts = []

    def finish(transaction: Transaction) -> None:
        transaction.update("jobs/j", {"status": "done"})
        transaction.create("results/k", {})

    def work(transaction: Transaction) -> str:
        attempts.append(1)
        snapshot = transaction.get("jobs/j")
        assert snapshot is not None
        if len(attempts) == 1:
            elsewhere(lambda: documents.transact(finish))
        if snapshot.data["status"] == "done":
            return "too late"
        transaction.create("results/k", {})
        return "made"

    assert documents.transact(work) == "too late"


def test_contention_until_the_deadline_is_an_error_and_writes_nothing(documents: Documents) -> None:
    write(documents, "jobs/j", {"n": 0})
    attempts = []

    def work(transaction: Transaction) -> None:
        transaction.get("jobs/j")
        attempts.append(1)
        elsewhere(lambda: write(documents, "jobs/j", {"n": len(attempts)}))
        transaction.create("results/k", {})

    with pytest.raises(Contention):
        documents.transact(work, deadline=0.5)
    assert len(attempts) > 1
    assert data(documents, "results/k") is None


def test_an_exception_in_the_body_writes_nothing_and_comes_out_as_it_is(documents: Documents) -> None:
    def work(transaction: Transaction) -> None:
        transaction.create("results/k", {})
        raise LookupError("refused")

    with pytest.raises(LookupError, match="refused"):
        documents.transact(work)
    assert data(documents, "results/k") is None
    write(documents, "results/k", {"n": 1})


def test_a_slow_body_holds_nothing_that_others_wait_for(documents: Documents) -> None:
    """Others write the very document that a body has read, and go on at once."""
    write(documents, "jobs/j", {"n": 0})
    inside, go_on = threading.Event(), threading.Event()

    def slow(transaction: Transaction) -> int:
        snapshot = transaction.get("jobs/j")
        assert snapshot is not None
        inside.set()
        assert go_on.wait(30)
        transaction.update("jobs/j", {"slow": True})
        return int(snapshot.data["n"])

    def run(index: int) -> int | None:
        if index == 0:
            return documents.transact(slow)
        assert inside.wait(30)
        for n in range(1, 11):
            write(documents, "jobs/j", {"n": n})
        go_on.set()
        return None

    assert all_at_once(2, run) == [10, None]
    assert data(documents, "jobs/j") == {"n": 10, "slow": True}


@pytest.mark.parametrize(
    "misuse",
    [
        lambda documents, tx: (tx.create("a/b", {}), tx.get("a/c")),
        lambda documents, tx: (tx.create("a/b", {}), tx.get_many([])),
        lambda documents, tx: (tx.create("a/b", {}), tx.update("a/b", {})),
        lambda documents, tx: (tx.set("a/b", {}), tx.delete("a/b")),
        lambda documents, tx: documents.transact(lambda inner: inner.get("a/b")),
    ],
)
def test_misuse_of_a_transaction_is_an_error_and_writes_nothing(documents: Documents, misuse: Any) -> None:
    with pytest.raises(TransactionMisuse):
        documents.transact(lambda transaction: misuse(documents, transaction))
    assert list(documents.query("a")) == []
    write(documents, "a/b", {"n": 1})  # a refused nesting leaves the thread able to transact


def test_a_body_that_takes_long_is_refused_by_a_strict_store(
    documents: Documents, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(optimistic, "MAX_BODY_SECONDS", 0.0)

    def work(transaction: Transaction) -> None:
        transaction.get("a/b")
        sum(range(10_000))  # anything that takes measurable time
        transaction.create("a/b", {})

    with pytest.raises(TransactionMisuse, match="no I/O"):
        documents.transact(work)
    assert data(documents, "a/b") is None
