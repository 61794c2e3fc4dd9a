"""Calls per minute: never more, in no minute, whoever calls; nobody waits for what was given up."""

import threading
from collections.abc import Iterator
from concurrent.futures import Future

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from virtual_time import Time

from addon.jobs import feed as feeds
from addon.jobs.feed import Feed
from addon.jobs.items import Item, Page
from addon.jobs.pool import Pool
from addon.llm import pace as paces
from addon.llm.base import Text, Transient
from addon.llm.pace import UNLIMITED, WINDOW, Pace
from addon.llm.scripted import ScriptedModel

NEVER = threading.Event().is_set


@pytest.fixture
def time(monkeypatch: pytest.MonkeyPatch) -> Time:
    shared = Time()
    for module in (paces, feeds):
        monkeypatch.setattr(module, "threading", shared.stand_in_for_threading())
    return shared


def most_in_a_window(moments: list[float]) -> int:
    """Most moments in any half-open stretch of `WINDOW` seconds."""
    return max(sum(start <= one < start + WINDOW for one in moments) for start in moments)


@settings(max_examples=60, deadline=None)
@given(
    most=st.integers(1, 5),
    gaps=st.lists(st.sampled_from([0.0, 0.0, 0.1, 1.0, 7.5, 29.999, 60.0, 61.0]), min_size=1, max_size=25),
    leavers=st.sets(st.integers(0, 24), max_size=8),
)
def test_no_minute_ever_holds_more_calls_than_allowed(
    most: int, gaps: list[float], leavers: set[int]
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        time = Time()
        patch.setattr(paces, "threading", time.stand_in_for_threading())
        pace = Pace(most, time)
        begun: list[float] = []
        left: set[int] = set()

        def call(number: int) -> bool:
            allowed = pace.acquire(lambda: number in left)
            if allowed:
                begun.append(time.now)
            return allowed

        calls: list[Future[bool]] = []
        for number, gap in enumerate(gaps):
            time.pass_by(gap)
            calls.append(time.start(lambda number=number: call(number)))  # type: ignore[misc]
            time.settle()
            if number in leavers:
                left.add(number)
                pace.wake()
                time.settle()
        time.until_done(*calls)
        assert most_in_a_window(begun) <= most
        allowed = [call.result() for call in calls]
        assert allowed.count(True) == len(begun)
        assert all(allowed[number] for number in range(len(gaps)) if number not in leavers), (
            "nobody is forgotten"
        )


def test_calls_begin_as_soon_as_they_may_and_in_the_order_they_came(time: Time) -> None:
    pace = Pace(2, time)
    begun: list[tuple[int, float]] = []

    def call(number: int) -> None:
        assert pace.acquire(NEVER)
        begun.append((number, time.now - 100.0))

    calls = []
    for number in range(5):
        calls.append(time.start(lambda number=number: call(number)))  # type: ignore[misc]
        time.settle()
        time.pass_by(1.0)
    time.until_done(*calls)
    assert begun == [(0, 0.0), (1, 1.0), (2, 60.0), (3, 61.0), (4, 120.0)]


def test_real_threads_never_begin_more_than_allowed() -> None:
    """The clock stands still: what is allowed now is allowed once, whoever asks."""
    pace = Pace(7, lambda: 100.0)
    given_up = threading.Event()
    allowed: list[bool] = []
    threads = [
        threading.Thread(target=lambda: allowed.append(pace.acquire(given_up.is_set))) for _ in range(30)
    ]
    for thread in threads:
        thread.start()
    while len(allowed) < 7:
        threads[0].join(0.01)
    given_up.set()
    pace.wake()
    for thread in threads:
        thread.join(10)
    assert sorted(allowed) == [False] * 23 + [True] * 7


@pytest.mark.parametrize("pace", [UNLIMITED, Pace(0), Pace(None)])
def test_without_a_limit_nobody_waits(pace: Pace) -> None:
    assert all(pace.acquire(NEVER) for _ in range(10_000))


def test_whoever_has_given_up_does_not_count(time: Time) -> None:
    pace = Pace(1, time)
    assert not pace.acquire(lambda: True)
    assert pace.acquire(NEVER)
    given_up = threading.Event()
    waiting = time.start(lambda: pace.acquire(given_up.is_set))
    behind = time.start(lambda: pace.acquire(NEVER))
    assert time.settle() == 2
    given_up.set()
    pace.wake()
    assert waiting.result(10) is False
    time.until_done(behind)
    assert behind.result() is True
    assert time.now == 160.0, "who waits behind is not kept waiting by it"


# in a pool


class Desk:
    """A pool of two callers and a pace of one call per minute."""

    def __init__(self, time: Time, model: ScriptedModel) -> None:
        self.time = time
        self.model = model
        self.feed = Feed(2, 50, 0.0, time)
        time.expect(2)
        self.pool = Pool(self.feed, model, "do it", 2, 9.0, Pace(1, time), clock=time, jitter=lambda: 0.0)
        for worker in self.pool._workers:
            worker.add_done_callback(lambda _: time.expect(-1))
        self.items = [Item(text, (("text", text),), [(Page(9), 1)]) for text in ("a", "b", "c")]
        for item in self.items:
            self.feed.offer(item)
        time.settle()


@pytest.fixture
def desk(time: Time) -> Iterator[Desk]:
    made = Desk(time, ScriptedModel())
    yield made
    made.pool.stop()
    time.settle()
    assert all(worker.done() for worker in made.pool._workers)


def test_a_pool_keeps_the_pace(desk: Desk, time: Time) -> None:
    for calls in (1, 2, 3):
        assert len(desk.model.calls) == calls
        time.pass_by(WINDOW - 0.1)
        time.settle()
        assert len(desk.model.calls) == calls
        time.pass_by(0.2)
        time.settle()


def test_a_row_that_waits_for_its_turn_when_the_desk_closes_is_not_called_and_not_counted(
    desk: Desk, time: Time
) -> None:
    assert len(desk.model.calls) == 1
    desk.feed.close()
    assert time.settle() == 0, "nobody sleeps on"
    assert len(desk.model.calls) == 1
    assert [item.tries for item in desk.items] == [1, 0, 0]
    assert (desk.feed.in_flight, desk.feed.uncommitted) == (0, 1)


def test_nobody_who_waits_for_a_turn_calls_while_the_provider_wants_to_be_left_alone(time: Time) -> None:
    gate = threading.Event()
    model = ScriptedModel(gate=gate)
    model.enqueue([Transient("rate_limited", wait=55.0, rate_limited=True)])
    feed = Feed(2, 50, 0.0, time)
    pace = Pace(2, time)
    assert pace.acquire(NEVER)
    time.pass_by(40.0)
    time.expect(2)
    pool = Pool(feed, model, "do it", 2, 999.0, pace, clock=time, jitter=lambda: 0.0)
    for worker in pool._workers:
        worker.add_done_callback(lambda _: time.expect(-1))
    for text in ("a", "b"):
        feed.offer(Item(text, (("text", text),), [(Page(9), 1)]))
    assert model.wait_until_in_flight(1)
    time.asleep(1)  # the other waits for its turn, 20 s from now
    gate.set()  # the first is told to wait 55 s
    time.settle()
    time.pass_by(30.0)
    time.settle()
    assert len(model.calls) == 1, "its turn has come, but nobody may call"
    time.pass_by(26.0)
    time.settle()
    assert len(model.calls) == 2
    time.pass_by(WINDOW)
    time.settle()
    assert [isinstance(call.outcome, Text) for call in model.calls] == [False, True, True]
    pool.stop()
    time.settle()


def test_pools_of_one_process_share_a_pace(time: Time) -> None:
    pace = Pace(3, time)
    models = [ScriptedModel(), ScriptedModel()]
    pools = []
    for model in models:
        feed = Feed(2, 50, 0.0, time)
        time.expect(2)
        pool = Pool(feed, model, "do it", 2, 9.0, pace, clock=time)
        for worker in pool._workers:
            worker.add_done_callback(lambda _: time.expect(-1))
        for text in ("a", "b", "c"):
            feed.offer(Item(text, (("text", text),), [(Page(9), 1)]))
        pools.append(pool)
    time.settle()
    assert sum(len(model.calls) for model in models) == 3
    pools[0].stop()
    time.pass_by(WINDOW)
    time.settle()
    assert len(models[1].calls) == 3, "who is left has the pace alone"
    pools[1].stop()
    time.settle()
