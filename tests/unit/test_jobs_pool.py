"""What becomes of each of the model's outcomes, and of outcomes that come at the same moment."""

import logging
import threading
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from typing import Any

import pytest
from virtual_time import Time, virtual_time

from addon.jobs import feed as feeds
from addon.jobs import pool as pools
from addon.jobs.feed import Feed, Item, Page
from addon.jobs.pool import FIRST_PAUSE, LONGEST_PAUSE, LONGEST_WAIT, MAX_TRIES, SILENT, Pool
from addon.llm.base import Blocked, Empty, Fatal, Outcome, Prompt, Rejected, Text, Transient, Truncated, Usage
from addon.llm.scripted import Answer, ScriptedModel

USAGE = Usage(7, 3)
FAULT = Transient("server_error")
LIMIT = Transient("rate_limited", rate_limited=True)
TIMEOUT = Transient("timeout")


class Desk:
    """A pool at work for a feed, under a test's clock."""

    def __init__(self, time: Time, model: ScriptedModel, threads: int, jitter: float) -> None:
        self.time = time
        self.model = model
        self.feed = Feed(threads, 50, 0.0, time)
        time.expect(threads)
        self.pool = Pool(self.feed, model, "instructions", threads, 9.0, clock=time, jitter=lambda: jitter)
        for worker in self.pool._workers:
            worker.add_done_callback(lambda _: time.expect(-1))
        self.answers: dict[str, object] = {}
        self.items: dict[str, Item] = {}

    def ask(self, *texts: str) -> None:
        for text in texts:
            self.items[text] = Item(text, (("text", text),), [(Page(9), 1)])
            self.feed.offer(self.items[text])

    def rest(self) -> None:
        """Wait until nobody does anything, and commit what was answered."""
        self.time.settle()
        while batch := self.feed.batch(0):
            self.feed.committed([(one, "made") for one in batch])
            self.answers |= {one.key: one.answer for one in batch}

    def wait(self, seconds: float) -> None:
        self.time.pass_by(seconds)
        self.rest()

    def run(self) -> dict[str, object]:
        """Let time pass until everything asked is answered or the pool has given up."""
        self.rest()
        while not self.feed.idle and not self.ended:
            self.wait(LONGEST_PAUSE)
        return self.answers

    @property
    def calls(self) -> list[str]:
        """Texts in the order of their calls."""
        return [call.prompt.fields[0][1] for call in self.model.calls]

    @property
    def ended(self) -> bool:
        return all(worker.done() for worker in self.pool._workers)


class Desks:
    def __init__(self, time: Time) -> None:
        self.time = time
        self.made: list[Desk] = []

    def __call__(
        self,
        *outcomes: Outcome,
        default: Answer | None = None,
        threads: int = 1,
        jitter: float = 0.0,
        gate: threading.Event | None = None,
    ) -> Desk:
        model = ScriptedModel(default=default, gate=gate)
        model.enqueue(outcomes)
        self.made.append(Desk(self.time, model, threads, jitter))
        return self.made[-1]


@pytest.fixture
def desks(monkeypatch: pytest.MonkeyPatch) -> Iterator[Desks]:
    made = Desks(virtual_time(monkeypatch, feeds))
    yield made
    for desk in made.made:
        desk.pool.stop()
    made.time.settle()
    assert all(desk.ended for desk in made.made), "a caller outlives its pool"


def by_text(outcomes: dict[str, Outcome]) -> Answer:
    return lambda prompt: outcomes.get(prompt.fields[0][1])


# one outcome


@pytest.mark.parametrize(
    "outcome",
    [Text("hello", USAGE), Blocked("SAFETY", USAGE), Truncated(USAGE), Rejected("INVALID_ARGUMENT", USAGE)],
)
def test_a_final_outcome_is_committed_after_one_call(desks: Desks, outcome: Outcome) -> None:
    desk = desks(outcome)
    desk.ask("a")
    assert desk.run() == {"a": outcome}
    assert desk.calls == ["a"]
    assert (desk.items["a"].calls, desk.items["a"].spent) == (1, USAGE)
    assert desk.model.calls[0].timeout == 9.0
    assert (desk.pool.fatal, desk.pool.suspended, desk.pool.repeats) == (None, None, 0)


@pytest.mark.parametrize(
    "blank", [Empty(USAGE), Text("", USAGE), Text(" \n\t ", USAGE), Text("\u200b\u3000", USAGE)]
)
@pytest.mark.parametrize(
    "second", [Empty(USAGE), Text("  ", USAGE), Text("hello", USAGE), Blocked("X", USAGE)]
)
def test_an_empty_or_blank_answer_is_asked_for_once_more_and_both_are_paid(
    desks: Desks, blank: Outcome, second: Outcome
) -> None:
    desk = desks(blank, second)
    desk.ask("a")
    expected = Empty(USAGE) if second == Text("  ", USAGE) else second
    assert desk.run() == {"a": expected}
    assert desk.calls == ["a", "a"]
    assert (desk.items["a"].calls, desk.items["a"].spent) == (2, USAGE + USAGE)


def test_an_empty_answer_between_faults_is_still_asked_for_only_once_more(desks: Desks) -> None:
    desk = desks(FAULT, Empty(), FAULT, Empty(), Text("too late"))
    desk.ask("a")
    assert desk.run() == {"a": Empty()}
    assert desk.items["a"].calls == 2, "faults are no answers"


# transient outcomes


@pytest.mark.parametrize("fault", [FAULT, LIMIT, TIMEOUT])
def test_a_transient_outcome_is_tried_again_after_a_pause_that_doubles(
    desks: Desks, fault: Transient
) -> None:
    desk = desks(fault, fault, fault)
    desk.ask("a")
    desk.rest()
    for number, pause in enumerate((1.0, 2.0, 4.0), 1):
        desk.wait(pause - 0.01)
        assert len(desk.calls) == number, "too early"
        desk.wait(0.02)
        assert len(desk.calls) == number + 1
    assert isinstance(desk.answers["a"], Text)


@pytest.mark.parametrize("jitter", [0.0, 0.5, 0.999])
@pytest.mark.parametrize("asked", [None, 0.0, 0.2, 17.0, LONGEST_WAIT])
def test_the_wait_asked_for_is_kept_and_jitter_only_adds(
    desks: Desks, asked: float | None, jitter: float
) -> None:
    desk = desks(Transient("rate_limited", wait=asked, rate_limited=True), jitter=jitter)
    desk.ask("a")
    desk.rest()
    least = max(asked or 0.0, FIRST_PAUSE)
    desk.wait(least + FIRST_PAUSE * jitter - 0.01)
    assert len(desk.calls) == 1
    desk.wait(0.02)
    assert len(desk.calls) == 2
    assert not desk.ended


def test_no_pause_is_longer_than_the_longest(desks: Desks) -> None:
    desk = desks(*[LIMIT] * 8)
    desk.ask("a")
    desk.rest()
    for _ in range(5):  # 1, 2, 4, 8 and 16 seconds
        desk.wait(16.0)
    for calls in (6, 7, 8):
        assert len(desk.calls) == calls
        desk.wait(LONGEST_PAUSE - 0.01)
        assert len(desk.calls) == calls
        desk.wait(0.02)
    assert isinstance(desk.answers["a"], Text)


def test_others_go_on_while_a_row_waits_for_its_second_call(desks: Desks) -> None:
    desk = desks(FAULT)
    desk.ask("a", "b", "c")
    desk.rest()
    assert desk.calls == ["a", "b", "c"]
    assert set(desk.answers) == {"b", "c"}


def test_nobody_goes_on_while_the_provider_says_there_are_too_many_calls(desks: Desks) -> None:
    desk = desks(Transient("rate_limited", wait=30.0, rate_limited=True))
    desk.ask("a", "b", "c")
    desk.rest()
    assert desk.calls == ["a"]
    desk.wait(29.9)
    assert desk.calls == ["a"]
    desk.wait(0.2)
    assert sorted(desk.calls) == ["a", "a", "b", "c"]


@pytest.mark.parametrize("fault", [FAULT, TIMEOUT])
def test_a_row_that_keeps_failing_while_others_succeed_is_listed(desks: Desks, fault: Transient) -> None:
    desk = desks(default=by_text({"bad": fault}))
    desk.ask("bad", "good", "better")
    answers = desk.run()
    assert answers["bad"] == "model_error"
    assert isinstance(answers["good"], Text)
    assert isinstance(answers["better"], Text)
    assert desk.calls.count("bad") == MAX_TRIES
    assert (desk.items["bad"].calls, desk.items["bad"].spent) == (0, Usage())
    assert (desk.pool.suspended, desk.ended) == (None, False)


def test_a_row_listed_as_failed_is_no_sign_that_the_provider_takes_more(
    desks: Desks, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[bool] = []
    true_answered = Feed.answered

    def answered(feed: Feed, item: Item, answer: Any, *, success: bool = True) -> None:
        told.append(success)
        true_answered(feed, item, answer, success=success)

    monkeypatch.setattr(Feed, "answered", answered)
    desk = desks(default=by_text({"bad": FAULT}))
    desk.ask("good", "bad")
    desk.run()
    assert told == [True, False]


def test_a_rate_limit_is_no_fault_of_the_row(desks: Desks) -> None:
    """However often the provider was busy, the row still gets its tries."""
    desk = desks(*[LIMIT] * (MAX_TRIES + 2), FAULT)
    desk.ask("a")
    assert isinstance(desk.run()["a"], Text)


def test_a_row_is_never_listed_for_rate_limits_alone(desks: Desks) -> None:
    desk = desks(*[LIMIT] * (SILENT - 1))
    desk.ask("a")
    assert isinstance(desk.run()["a"], Text)


# silence, and waits too long for a link


@pytest.mark.parametrize("fault", [FAULT, LIMIT, TIMEOUT])
@pytest.mark.parametrize("threads", [1, 5])
def test_many_transient_outcomes_in_a_row_end_the_link_as_silence(
    desks: Desks, fault: Transient, threads: int
) -> None:
    desk = desks(default=lambda _: fault, threads=threads)
    desk.ask(*(f"row {number}" for number in range(2 * SILENT)))
    desk.run()
    assert (desk.pool.suspended, desk.pool.silent, desk.pool.fatal) == (0.0, True, None)
    assert SILENT <= len(desk.calls) < SILENT + threads
    assert desk.answers == {}
    assert desk.feed.uncommitted == 0


def test_one_answer_is_enough_to_break_the_silence(desks: Desks) -> None:
    desk = desks(*[FAULT] * (SILENT - 1), Blocked("X"), *[FAULT] * (SILENT - 1))
    desk.ask(*(f"row {number}" for number in range(2 * SILENT)))
    desk.run()
    assert desk.pool.suspended is None
    assert len(desk.answers) == 2 * SILENT


@pytest.mark.parametrize("rate_limited", [True, False])
def test_a_wait_too_long_for_a_link_ends_it_and_is_no_silence(desks: Desks, rate_limited: bool) -> None:
    desk = desks(Transient("busy", wait=LONGEST_WAIT + 1, rate_limited=rate_limited))
    desk.ask("a", "b")
    desk.rest()
    assert desk.ended
    assert (desk.pool.suspended, desk.pool.silent) == (LONGEST_WAIT + 1, False)
    assert desk.calls == ["a"]
    assert desk.feed.uncommitted == 0


def test_how_long_the_provider_wants_to_be_left_alone_runs_down(desks: Desks) -> None:
    desk = desks(Transient("busy", wait=40.0))
    desk.ask("a")
    desk.rest()
    assert desk.pool.told == 40.0
    desk.wait(15.0)
    assert desk.pool.told == 25.0
    desk.wait(100.0)
    assert desk.pool.told == 0.0


# the end of everything


def test_a_fatal_outcome_ends_the_link_and_no_call_more_is_made(desks: Desks) -> None:
    desk = desks(Fatal("key_rejected"))
    desk.ask("a", "b", "c")
    desk.rest()
    assert desk.ended
    assert desk.pool.fatal == "key_rejected"
    assert desk.calls == ["a"]
    assert (desk.answers, desk.feed.uncommitted) == ({}, 0)


def test_answers_of_calls_under_way_at_a_fatal_outcome_are_kept(desks: Desks) -> None:
    closed = threading.Event()

    def decide(prompt: Prompt) -> Outcome | None:
        if prompt.fields[0][1] == "bad":
            return Fatal("insufficient_quota")
        assert closed.wait(10)
        return None

    desk = desks(default=decide, threads=3)
    desk.ask("good", "better")
    assert desk.model.wait_until_in_flight(2)
    desk.ask("bad", "never")
    assert wait(desk.pool._workers, 10, FIRST_COMPLETED).done
    closed.set()
    desk.rest()
    assert desk.ended
    assert sorted(desk.answers) == ["better", "good"]
    assert "never" not in desk.calls
    assert desk.feed.uncommitted == 0


def raising(prompt: Prompt) -> Outcome:
    raise KeyError(prompt.fields[0][1])


def test_a_model_that_raises_ends_the_link_is_noticed_and_shows_no_content(
    desks: Desks, caplog: pytest.LogCaptureFixture
) -> None:
    desk = desks(default=raising)
    desk.ask("secret", "more secret")
    desk.rest()
    assert desk.ended
    assert desk.feed.take() is None
    for _ in range(2):
        desk.pool.check()
    assert desk.pool.fatal == "stuck"
    assert len(caplog.records) == 1, "said once"
    assert "KeyError" in caplog.text
    assert "secret" not in caplog.text
    assert desk.feed.uncommitted == 0


def test_a_model_that_raises_is_not_called_again_by_the_others(
    desks: Desks, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The desk is closed before the row goes back to it, so that no other caller takes it."""
    closed_when_it_came_back: list[bool] = []
    true_again = Feed.again

    def again(feed: Feed, item: Item, at: float) -> None:
        closed_when_it_came_back.append(feed._closed)
        true_again(feed, item, at)

    monkeypatch.setattr(Feed, "again", again)
    desk = desks(default=raising, threads=4)
    desk.ask("a")
    desk.rest()
    assert closed_when_it_came_back == [True]
    assert desk.calls == ["a"]


@pytest.mark.parametrize("nonsense", [None, "a bare text", object()])
def test_a_model_that_answers_what_is_no_outcome_is_noticed_too(desks: Desks, nonsense: Any) -> None:
    desk = desks()
    desk.pool._model.summarise = lambda prompt, timeout: nonsense  # type: ignore[method-assign]
    desk.ask("a", "b")
    desk.rest()
    assert desk.ended
    assert desk.feed.take() is None
    desk.pool.check()
    assert desk.pool.fatal == "stuck"


def test_a_model_that_raises_does_not_hide_why_the_link_ended(
    desks: Desks, caplog: pytest.LogCaptureFixture
) -> None:
    gate = threading.Event()
    answers = by_text({"fatal": Fatal("key_rejected")})
    desk = desks(
        default=lambda p: raising(p) if p.fields[0][1] == "bug" else answers(p), threads=2, gate=gate
    )
    desk.ask("fatal", "bug")
    assert desk.model.wait_until_in_flight(2)
    gate.set()
    desk.rest()
    desk.pool.check()
    assert desk.pool.fatal in {"key_rejected", "stuck"}
    assert desk.ended


def test_check_is_silent_while_all_is_well_and_after_the_end(desks: Desks) -> None:
    desk = desks()
    desk.ask("a")
    desk.run()
    desk.pool.check()
    desk.pool.stop()
    desk.rest()
    desk.pool.check()
    assert desk.pool.fatal is None


def test_stopping_a_pool_whose_callers_have_not_begun_is_quiet(
    desks: Desks, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(pools, "ThreadPoolExecutor", lambda threads, **names: ThreadPoolExecutor(1, **names))
    gate = threading.Event()
    desk = desks(threads=3, gate=gate)
    desk.ask("a")
    assert desk.model.wait_until_in_flight(1)
    with caplog.at_level(logging.DEBUG):
        desk.pool.stop()
        gate.set()
        desk.rest()
        desk.pool.check()
    assert caplog.records == []
    assert (desk.ended, desk.pool.fatal) == (True, None)


# counting


@pytest.mark.parametrize(
    ("outcomes", "repeats"),
    [
        ([TIMEOUT], 1),
        ([TIMEOUT, TIMEOUT, FAULT], 2),
        ([FAULT, LIMIT], 0),
        ([Transient("timeout", rate_limited=True)], 1),
        ([Empty()], 0),
    ],
)
def test_only_calls_without_an_answer_count_as_possibly_repeated(
    desks: Desks, outcomes: list[Outcome], repeats: int
) -> None:
    desk = desks(*outcomes)
    desk.ask("a")
    desk.run()
    assert desk.pool.repeats == repeats


class Meeting:
    """A clock that lets the first caller who looks at it wait until another has finished."""

    def __init__(self, time: Time) -> None:
        self.time = time
        self.slow = ""
        self.first_has_come = threading.Event()
        self.go_on = threading.Event()
        self.met = threading.local()

    def __call__(self) -> float:
        if self.slow == threading.current_thread().name and not getattr(self.met, "once", False):
            self.met.once = True
            self.first_has_come.set()
            assert self.go_on.wait(10)
        return self.time()


@pytest.mark.parametrize(("slow", "quick"), [(20.0, 50.0), (90.0, 300.0), (20.0, 300.0)])
def test_of_waits_asked_for_at_the_same_moment_the_longest_counts(
    desks: Desks, slow: float, quick: float
) -> None:
    desk = desks(threads=2)
    clock = Meeting(desks.time)
    desk.pool._clock = clock
    items = [Item(text, (("t", text),), [(Page(9), 1)]) for text in ("slow", "quick")]
    for item in items:
        desk.feed._in_flight += 1
        desk.feed._outstanding += 1
        item.tries = 1

    def sort_slowly() -> None:
        clock.slow = threading.current_thread().name
        desk.pool._sort(items[0], Transient("busy", wait=slow))

    with ThreadPoolExecutor(1, thread_name_prefix="slow") as executor:
        slowly = executor.submit(sort_slowly)
        assert clock.first_has_come.wait(10)
        desk.pool._sort(items[1], Transient("busy", wait=quick))
        clock.go_on.set()
        slowly.result(10)
    assert desk.pool.told == quick
    if quick > LONGEST_WAIT:
        assert desk.pool.suspended == quick
        assert not desk.pool.silent


@pytest.mark.parametrize("order", ["the wait first", "silence first"])
def test_a_provider_that_asks_for_a_long_wait_is_not_silent_in_whatever_order_its_answers_come(
    desks: Desks, order: str
) -> None:
    desk = desks()
    desk.pool._in_a_row = SILENT - 1
    outcomes = [Transient("busy", wait=LONGEST_WAIT + 40), FAULT]
    for number, outcome in enumerate(outcomes if order == "the wait first" else reversed(outcomes)):
        item = Item(str(number), (("t", "t"),), [(Page(9), 1)], tries=1)
        desk.feed._in_flight += 1
        desk.feed._outstanding += 1
        desk.pool._sort(item, outcome)
    assert (desk.pool.suspended, desk.pool.silent) == (LONGEST_WAIT + 40, False)
