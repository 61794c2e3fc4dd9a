"""Rounds come when somebody rings, one at a time, and none is lost; on both stores."""

import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from addon import rounds as module
from addon.google.errors import TryAgain
from addon.rounds import OutOfTurn, Round, Rounds, round_path
from addon.store.documents import Documents


class Queue:
    """Takes each name once, as Cloud Tasks does."""

    def __init__(self) -> None:
        self.taken: list[tuple[str, str, dict[str, Any]]] = []
        self.broken = False
        self._lock = threading.Lock()

    def enqueue(self, name: str, path: str, body: dict[str, Any], *, not_before: Any = None) -> bool:
        if self.broken:
            raise TryAgain("no queue", service="Tasks", reason="UNAVAILABLE")
        with self._lock:
            fresh = name not in {taken for taken, _, _ in self.taken}
            if fresh:
                self.taken.append((name, path, body))
        return fresh


@pytest.fixture
def queue() -> Queue:
    """An empty queue."""
    return Queue()


@pytest.fixture
def rounds(documents: Documents, queue: Queue) -> Rounds:
    """Rounds on that queue."""
    return Rounds(documents, queue)  # type: ignore[arg-type]


def state(documents: Documents) -> Round:
    """The round of the spreadsheet."""
    snapshot = documents.get(round_path("drain", "sid"))
    assert snapshot is not None
    return Round.from_data(snapshot.data)


def test_32_rings_at_once_make_one_task(rounds: Rounds, queue: Queue) -> None:
    with ThreadPoolExecutor(32) as executor:
        list(executor.map(lambda _: rounds.ring("drain", "sid"), range(32)))
    ((_, path, body),) = queue.taken
    assert (path, body) == ("/tasks/drain", {"subject": "sid", "step": 0})


def test_a_round_that_ends_leaves_nothing_due(rounds: Rounds, queue: Queue, documents: Documents) -> None:
    rounds.ring("drain", "sid")
    begun = rounds.begin("drain", "sid", 0, 60)
    rounds.end(begun, None, lambda: False)
    assert (state(documents).step, state(documents).due_at) == (1, None)
    assert len(queue.taken) == 1


def test_what_comes_in_while_a_round_ends_is_seen(rounds: Rounds, queue: Queue) -> None:
    inbox: list[str] = []
    rounds.ring("drain", "sid")
    begun = rounds.begin("drain", "sid", 0, 60)

    inbox.append("came before the end was durable")
    rounds.ring("drain", "sid")  # finds the round still due, and leaves it to that
    assert len(queue.taken) == 1
    rounds.end(begun, None, lambda: bool(inbox))
    assert [body["step"] for _, _, body in queue.taken] == [0, 1]


def test_a_later_ring_makes_a_later_round(rounds: Rounds, queue: Queue) -> None:
    rounds.ring("drain", "sid")
    rounds.end(rounds.begin("drain", "sid", 0, 60), None, lambda: False)
    rounds.ring("drain", "sid")
    assert rounds.begin("drain", "sid", 1, 60).step == 1
    assert len({name for name, _, _ in queue.taken}) == 2


def test_a_round_that_could_not_do_its_work_comes_again_after_its_delay(
    rounds: Rounds, queue: Queue, documents: Documents
) -> None:
    rounds.ring("drain", "sid")
    rounds.end(rounds.begin("drain", "sid", 0, 60), 30.0, lambda: False)
    due = state(documents).due_at
    assert due is not None
    assert timedelta(seconds=20) < due - documents.now() <= timedelta(seconds=30)
    assert len(queue.taken) == 2


def test_a_task_of_an_earlier_round_leaves_and_sees_that_the_present_one_is_enqueued(
    rounds: Rounds, queue: Queue
) -> None:
    rounds.ring("drain", "sid")
    queue.broken = True
    rounds.end(rounds.begin("drain", "sid", 0, 60), 0.0, lambda: False)
    queue.broken = False
    with pytest.raises(OutOfTurn) as behind:
        rounds.begin("drain", "sid", 0, 60)
    assert (behind.value.code, behind.value.answer) == ("behind", 200)
    assert [body["step"] for _, _, body in queue.taken] == [0, 1]


def test_a_task_of_a_round_to_come_is_sent_back(rounds: Rounds) -> None:
    rounds.ring("drain", "sid")
    with pytest.raises(OutOfTurn) as ahead:
        rounds.begin("drain", "sid", 1, 60)
    assert (ahead.value.code, ahead.value.answer) == ("ahead", 409)


def test_an_end_told_twice_ends_one_round(rounds: Rounds, queue: Queue, documents: Documents) -> None:
    rounds.ring("drain", "sid")
    begun = rounds.begin("drain", "sid", 0, 60)
    rounds.end(begun, 0.0, lambda: False)
    rounds.end(begun, None, lambda: False)
    assert state(documents).step == 1
    assert state(documents).due_at is not None


def test_a_lost_task_and_a_dead_worker_are_found_by_the_sweep(
    rounds: Rounds, queue: Queue, documents: Documents, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "OVERDUE", timedelta(0))
    queue.broken = True
    rounds.ring("drain", "sid")
    queue.broken = False
    assert rounds.heal() == 1
    begun = rounds.begin("drain", "sid", 0, -1.0)  # and gives no sign of life
    assert rounds.heal() == 1
    assert len(queue.taken) == 2
    rounds.keep(begun, 60)
    assert rounds.heal() == 0


def test_a_round_that_is_not_late_is_left_alone(rounds: Rounds, queue: Queue) -> None:
    rounds.ring("drain", "sid")
    assert rounds.heal() == 0
    assert len(queue.taken) == 1


def test_a_round_of_another_version_is_read(documents: Documents, rounds: Rounds) -> None:
    data = replace(Round("drain", "sid"), step=4, due_at=documents.now()).to_data()
    documents.transact(lambda tx: tx.set(round_path("drain", "sid"), {**data, "added_later": 1}))
    assert rounds.begin("drain", "sid", 4, 60).step == 4
