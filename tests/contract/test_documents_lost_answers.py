"""Firestore's answer to a commit gets lost: what was applied counts as applied, and is applied once."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from google.api_core import exceptions

from addon.store import firestore_calls
from addon.store.documents import (
    AlreadyExists,
    Contention,
    StoreError,
    Transaction,
    Unavailable,
)
from addon.store.firestore import FirestoreDocuments

pytestmark = pytest.mark.emulator

Step = Callable[[Callable[[], Any]], Any]
"""What happens to one commit, given how to send it."""


class Faulty:
    """A client whose next commits go by a script; everything else passes."""

    def __init__(self) -> None:
        self._client = firestore_calls.connect()
        self.script: list[Step] = []
        self.commits = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._client, name)

    def commit(self, **call: Any) -> Any:
        assert call["retry"] is None, "Google's client must not repeat a commit behind our back."
        assert 0 < call["timeout"] <= 5
        self.commits += 1
        step = self.script.pop(0) if self.script else (lambda send: send())
        return step(lambda: self._client.commit(**call))


def lost(error: Exception) -> Step:
    """The commit is applied, and its answer replaced by an error."""

    def step(send: Callable[[], Any]) -> Any:
        send()
        raise error

    return step


def dropped(error: Exception) -> Step:
    """The commit never arrives."""

    def step(send: Callable[[], Any]) -> Any:
        raise error

    return step


ANSWERS = [
    exceptions.ServiceUnavailable("lost"),
    exceptions.DeadlineExceeded("lost"),
    exceptions.RetryError("lost", cause=Exception("lost")),
    exceptions.InternalServerError("lost"),
    exceptions.Unknown("lost"),
    exceptions.Cancelled("lost"),
    # What a hidden repetition, or a proxy's, would turn a success into:
    exceptions.Aborted("lost"),
    exceptions.AlreadyExists("lost"),
    exceptions.FailedPrecondition("lost"),
    exceptions.InvalidArgument("lost"),
]
each_answer = pytest.mark.parametrize("error", ANSWERS, ids=lambda error: type(error).__name__)


@pytest.fixture
def faulty(firestore_emulator: str) -> Faulty:
    return Faulty()


@pytest.fixture
def store(faulty: Faulty, request: pytest.FixtureRequest) -> Iterator[FirestoreDocuments]:
    documents = FirestoreDocuments(f"lost-{id(request)}-{id(faulty)}", connect=lambda: faulty, strict=True)
    yield documents
    documents.close()


@pytest.fixture
def others(store: FirestoreDocuments) -> Iterator[FirestoreDocuments]:
    """Another worker on the same documents, whose calls never fail."""
    documents = FirestoreDocuments(store._database.split("/")[1])
    yield documents
    documents.close()


def data(documents: FirestoreDocuments, path: str) -> dict[str, Any] | None:
    snapshot = documents.get(path)
    return None if snapshot is None else snapshot.data


def increment(transaction: Transaction) -> int:
    snapshot = transaction.get("jobs/j")
    number: int = (snapshot.data["value"] if snapshot else 0) + 1
    transaction.set("jobs/j", {"value": number})
    return number


@each_answer
def test_a_create_whose_answer_was_lost_succeeded(
    store: FirestoreDocuments, faulty: Faulty, error: Exception
) -> None:
    faulty.script = [lost(error)]
    bodies = []

    def work(transaction: Transaction) -> str:
        bodies.append(1)
        transaction.create("results/k", {"n": len(bodies)})
        return f"answer {len(bodies)}"

    assert store.transact(work) == "answer 1"
    assert data(store, "results/k") == {"n": 1}


@each_answer
def test_a_counter_whose_answer_was_lost_counts_once(
    store: FirestoreDocuments, faulty: Faulty, error: Exception
) -> None:
    for expected in range(1, 6):
        faulty.script = [lost(error)]
        assert store.transact(increment) == expected
    assert data(store, "jobs/j") == {"value": 5}


@pytest.mark.parametrize("kind", ["set", "update"])
@each_answer
def test_a_write_without_a_read_whose_answer_was_lost_is_not_written_over_others(
    store: FirestoreDocuments, others: FirestoreDocuments, faulty: Faulty, error: Exception, kind: str
) -> None:
    others.transact(lambda transaction: transaction.create("jobs/j", {"by": "others"}))

    def and_then_others_write(send: Callable[[], Any]) -> Any:
        send()
        others.transact(lambda transaction: transaction.update("jobs/j", {"by": "others again"}))
        raise error

    faulty.script = [and_then_others_write]
    store.transact(lambda transaction: getattr(transaction, kind)("jobs/j", {"by": "me"}))
    assert data(store, "jobs/j") == {"by": "others again"}


@each_answer
def test_a_delete_whose_answer_was_lost_succeeded(
    store: FirestoreDocuments, others: FirestoreDocuments, faulty: Faulty, error: Exception
) -> None:
    others.transact(lambda transaction: transaction.create("jobs/j", {}))
    faulty.script = [lost(error)]
    store.transact(lambda transaction: transaction.delete("jobs/j"))
    assert data(store, "jobs/j") is None


def test_a_commit_that_never_arrived_is_sent_again_and_not_decided_again(
    store: FirestoreDocuments, faulty: Faulty
) -> None:
    faulty.script = [dropped(exceptions.ServiceUnavailable("no")), dropped(exceptions.DeadlineExceeded("no"))]
    bodies = []

    def work(transaction: Transaction) -> int:
        bodies.append(1)
        return increment(transaction)

    assert store.transact(work) == 1
    assert (len(bodies), faulty.commits) == (1, 3)
    assert data(store, "jobs/j") == {"value": 1}


def test_a_commit_that_arrives_after_it_was_given_up_counts_once(
    store: FirestoreDocuments, faulty: Faulty
) -> None:
    """The first try is still under way when it is looked for, and arrives before the second."""
    late: list[Callable[[], Any]] = []

    def delayed(send: Callable[[], Any]) -> Any:
        late.append(send)
        raise exceptions.DeadlineExceeded("slow")

    def after_the_late_one(send: Callable[[], Any]) -> Any:
        late[0]()
        return send()

    faulty.script = [delayed, after_the_late_one]
    assert store.transact(increment) == 1
    assert data(store, "jobs/j") == {"value": 1}


def test_a_lost_answer_is_found_although_seven_others_wrote_since(
    store: FirestoreDocuments, others: FirestoreDocuments, faulty: Faulty
) -> None:
    def and_then_seven_others(send: Callable[[], Any]) -> Any:
        send()
        for _ in range(7):
            others.transact(increment)
        raise exceptions.ServiceUnavailable("lost")

    faulty.script = [and_then_seven_others]
    assert store.transact(increment) == 1
    assert data(store, "jobs/j") == {"value": 8}


@pytest.mark.parametrize("begun", [True, False])
@pytest.mark.parametrize("applied", [True, False])
def test_when_too_many_wrote_since_the_outcome_is_called_unknown_and_nothing_is_repeated(
    store: FirestoreDocuments, others: FirestoreDocuments, faulty: Faulty, applied: bool, begun: bool
) -> None:
    if begun:
        others.transact(increment)

    def and_then_ten_others(send: Callable[[], Any]) -> Any:
        if applied:
            send()
        for _ in range(10):
            others.transact(increment)
        raise exceptions.ServiceUnavailable("lost")

    faulty.script = [and_then_ten_others]
    with pytest.raises(Unavailable, match="unknown"):
        store.transact(increment)
    assert data(store, "jobs/j") == {"value": 10 + applied + begun}


def test_a_result_beside_a_busy_counter_tells_the_outcome_for_certain(
    store: FirestoreDocuments, others: FirestoreDocuments, faulty: Faulty
) -> None:
    def and_then_ten_others(send: Callable[[], Any]) -> Any:
        send()
        for _ in range(10):
            others.transact(increment)
        raise exceptions.ServiceUnavailable("lost")

    def work(transaction: Transaction) -> int:
        number = increment(transaction)
        transaction.create("results/k", {"number": number})
        return number

    faulty.script = [and_then_ten_others]
    assert store.transact(work) == 1
    assert data(store, "jobs/j") == {"value": 11}


def test_a_commit_that_never_arrived_and_lost_the_race_is_decided_again(
    store: FirestoreDocuments, others: FirestoreDocuments, faulty: Faulty
) -> None:
    def others_were_first(send: Callable[[], Any]) -> Any:
        others.transact(increment)
        raise exceptions.ServiceUnavailable("lost")

    faulty.script = [others_were_first]
    assert store.transact(increment) == 2
    assert data(store, "jobs/j") == {"value": 2}


def test_a_create_that_never_arrived_and_lost_the_race_says_already_exists(
    store: FirestoreDocuments, others: FirestoreDocuments, faulty: Faulty
) -> None:
    def others_were_first(send: Callable[[], Any]) -> Any:
        others.transact(lambda transaction: transaction.create("results/k", {"by": "others"}))
        raise exceptions.ServiceUnavailable("lost")

    faulty.script = [others_were_first]
    with pytest.raises(AlreadyExists):
        store.transact(lambda transaction: transaction.create("results/k", {"by": "me"}))
    assert data(store, "results/k") == {"by": "others"}


def test_an_existing_document_that_was_written_often_still_is_already_exists(
    store: FirestoreDocuments,
) -> None:
    for _ in range(10):
        store.transact(increment)
    with pytest.raises(AlreadyExists):
        store.transact(lambda transaction: transaction.create("jobs/j", {}))


def test_only_commits_that_were_surely_not_applied_count_as_contention(
    store: FirestoreDocuments, faulty: Faulty
) -> None:
    faulty.script = [dropped(exceptions.Aborted("busy"))] * 1000
    with pytest.raises(Contention):
        store.transact(increment, deadline=0.3)
    faulty.script = [dropped(exceptions.ServiceUnavailable("down"))] * 1000
    with pytest.raises(Unavailable):
        store.transact(increment, deadline=0.3)
    faulty.script = []
    assert data(store, "jobs/j") is None


def test_what_no_repetition_can_heal_is_not_repeated(store: FirestoreDocuments, faulty: Faulty) -> None:
    faulty.script = [dropped(exceptions.PermissionDenied("no access"))]
    with pytest.raises(StoreError, match="PermissionDenied"):
        store.transact(increment)
    assert faulty.commits == 1


def test_the_nonces_are_hidden_and_do_not_pile_up(store: FirestoreDocuments) -> None:
    for _ in range(20):
        store.transact(increment)
    assert data(store, "jobs/j") == {"value": 20}
    assert len(next(iter(store.query("jobs"))).data) == 1
    stored = store.fetch(["jobs/j"], store.deadline(5)).found["jobs/j"]
    assert len(stored.trail) == 8 * 16
    assert stored.raw.ByteSize() < 400


def test_a_read_that_fails_for_a_moment_is_repeated_and_one_that_fails_for_ever_is_unavailable(
    store: FirestoreDocuments, faulty: Faulty, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.transact(increment)
    real, failures = (
        faulty._client.batch_get_documents,
        [exceptions.Aborted("x"), exceptions.ServiceUnavailable("x")],
    )

    def read(**call: Any) -> Any:
        if failures:
            raise failures.pop()
        return real(**call)

    monkeypatch.setattr(faulty, "batch_get_documents", read, raising=False)
    assert store.transact(increment) == 2
    failures[:] = [exceptions.ServiceUnavailable("x")] * 1000
    with pytest.raises(Unavailable):
        store.transact(increment, deadline=0.3)


def test_a_store_that_nobody_answers_for_is_unavailable_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FIRESTORE_EMULATOR_HOST", "127.0.0.1:1")
    documents = FirestoreDocuments("nobody", timeout=0.3)
    with pytest.raises(Unavailable):
        documents.get("jobs/j")
    with pytest.raises(Unavailable):
        documents.transact(lambda transaction: transaction.create("jobs/j", {}), deadline=0.3)
    documents.close()
