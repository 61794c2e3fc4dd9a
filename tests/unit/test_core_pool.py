"""What is done with each of the model's outcomes."""

import time
from collections.abc import Iterator

import pytest

from addon.jobs import pool as pools
from addon.jobs.feed import Feed, Item, Page
from addon.jobs.pool import MAX_TRIES, SILENT, Pool
from addon.llm.base import Blocked, Empty, Fatal, Outcome, Prompt, Rejected, Text, Transient, Truncated
from addon.llm.scripted import ScriptedModel


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Calls are made again at once, unless the provider asks for a wait."""
    monkeypatch.setattr(pools, "FIRST_PAUSE", 0.0)


class Desk:
    """A feed, a pool and a model under a test's control."""

    def __init__(self, model: ScriptedModel, threads: int) -> None:
        self.model = model
        self.feed = Feed(threads, 50, 0.0, time.monotonic)
        self.pool = Pool(self.feed, model, "do it", threads, 5.0, jitter=lambda: 0.0)

    def ask(self, *texts: str) -> None:
        for text in texts:
            self.feed.offer(Item(text, (("t", text),), [(Page(9), 1)]))

    def answers(self, count: int) -> dict[str, object]:
        """The next answers, by key."""
        found: dict[str, object] = {}
        end = time.monotonic() + 10
        while len(found) < count and time.monotonic() < end:
            batch = self.feed.batch(0.05)
            self.feed.committed([(one, "made") for one in batch])
            found |= {one.key: one.answer for one in batch}
        return found

    def ended(self) -> None:
        """Wait until the pool has closed the feed."""
        end = time.monotonic() + 10
        while not all(worker.done() for worker in self.pool._workers):
            assert time.monotonic() < end
            time.sleep(0.005)


@pytest.fixture
def desks() -> Iterator[list[Desk]]:
    made: list[Desk] = []
    yield made
    for desk in made:
        desk.pool.stop()
        desk.ended()


def desk(desks: list[Desk], outcomes: list[Outcome] | None = None, threads: int = 1) -> Desk:
    model = ScriptedModel()
    model.enqueue(outcomes or [])
    desks.append(Desk(model, threads))
    return desks[-1]


@pytest.mark.parametrize("outcome", [Text("hello"), Blocked("SAFETY"), Truncated(), Rejected("BAD")])
def test_outcomes_that_are_final_are_committed_after_one_call(desks: list[Desk], outcome: Outcome) -> None:
    one = desk(desks, [outcome])
    one.ask("a")
    assert one.answers(1) == {"a": outcome}
    assert len(one.model.calls) == 1


@pytest.mark.parametrize("first", [Empty(), Text("  \u200b ")])
def test_an_empty_answer_is_asked_for_once_more(desks: list[Desk], first: Outcome) -> None:
    one = desk(desks, [first, first])
    one.ask("a")
    assert one.answers(1) == {"a": Empty()}
    assert len(one.model.calls) == 2


def test_a_transient_outcome_is_tried_again(desks: list[Desk]) -> None:
    one = desk(desks, [Transient("server_error"), Text("hello")])
    one.ask("a")
    assert one.answers(1) == {"a": Text("hello")}


def test_a_row_that_keeps_failing_while_others_succeed_is_recorded(desks: list[Desk]) -> None:
    def decide(prompt: Prompt) -> Outcome | None:
        return Transient("server_error") if prompt.fields[0][1] == "bad" else None

    desks.append(Desk(ScriptedModel(default=decide), 1))
    one = desks[-1]
    one.ask("bad", "good")
    answers = one.answers(2)
    assert answers["bad"] == "model_error"
    assert isinstance(answers["good"], Text)
    assert len(one.model.calls) == MAX_TRIES + 1


def test_many_transient_outcomes_in_a_row_end_the_link_as_silence(desks: list[Desk]) -> None:
    desks.append(Desk(ScriptedModel(default=lambda _: Transient("timeout", rate_limited=True)), 1))
    one = desks[-1]
    one.ask("a")
    one.ended()
    assert (one.pool.suspended, one.pool.silent, one.pool.fatal) == (0.0, True, None)
    assert len(one.model.calls) == SILENT
    assert one.pool.repeats == SILENT
    assert one.feed.uncommitted == 0


def test_a_long_wait_ends_the_link_and_is_no_silence(desks: list[Desk]) -> None:
    one = desk(desks, [Transient("rate_limited", wait=61.0, rate_limited=True)])
    one.ask("a")
    one.ended()
    assert (one.pool.suspended, one.pool.silent) == (61.0, False)


def test_a_fatal_outcome_stops_everything(desks: list[Desk]) -> None:
    one = desk(desks, [Fatal("key_rejected")])
    one.ask("a", "b")
    one.ended()
    assert one.pool.fatal == "key_rejected"
    assert len(one.model.calls) == 1
    assert one.feed.uncommitted == 0


def test_a_model_that_raises_stops_everything_and_loses_no_count(desks: list[Desk]) -> None:
    def broken(prompt: Prompt) -> Outcome:
        raise KeyError(prompt.fields[0][1])

    desks.append(Desk(ScriptedModel(default=broken), 2))
    one = desks[-1]
    one.ask("a", "b", "c")
    one.ended()
    one.pool.check()
    assert one.pool.fatal == "stuck"
    assert one.feed.uncommitted == 0


def test_waits_as_long_as_told_and_not_less(desks: list[Desk]) -> None:
    one = desk(desks, [Transient("rate_limited", wait=0.3, rate_limited=True)])
    began = time.monotonic()
    one.ask("a")
    assert isinstance(one.answers(1)["a"], Text)
    assert time.monotonic() - began >= 0.3


def test_an_empty_answer_after_a_passing_fault_is_asked_for_once_more_as_well(desks: list[Desk]) -> None:
    one = desk(desks, [Transient("server_error"), Empty(), Text("at last")])
    one.ask("a")
    assert one.answers(1) == {"a": Text("at last")}


@pytest.mark.parametrize("outcome", [Fatal("key_rejected"), Transient("rate_limited", wait=90.0)])
def test_what_ends_a_link_is_not_called_again_by_a_call_that_comes_next(
    desks: list[Desk], monkeypatch: pytest.MonkeyPatch, outcome: Outcome
) -> None:
    closed: list[bool] = []
    again = Feed.again

    def note(feed: Feed, item: Item, at: float) -> None:
        closed.append(feed._closed)
        again(feed, item, at)

    monkeypatch.setattr(Feed, "again", note)
    one = desk(desks, [outcome])
    one.ask("a")
    one.ended()
    assert closed == [True]


def test_a_fatal_reason_nobody_knows_still_pauses_the_job(desks: list[Desk]) -> None:
    one = desk(desks, [Fatal("made up")])
    one.ask("a")
    one.ended()
    assert one.pool.fatal == "stuck"
