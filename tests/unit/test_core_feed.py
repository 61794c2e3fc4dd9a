"""The desk: what may be in flight, what waits for whom, and when a batch is worth a commit."""

import threading
from collections.abc import Callable

import pytest

from addon.jobs.feed import Feed, Item, Page
from addon.llm.base import Text

C, COMMIT_ROWS = 4, 6


class Clock:
    """Seconds that pass when a test says so."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def feed(clock: Clock) -> Feed:
    return Feed(C, COMMIT_ROWS, 1.0, clock)


def item(key: str, page: Page | None = None, row: int = 1) -> Item:
    return Item(key, (("t", key),), [(page or Page(10), row)])


def offer(feed: Feed, count: int, start: int = 0) -> list[Item]:
    items = [item(f"k{number}") for number in range(start, start + count)]
    assert all(feed.offer(one) for one in items)
    return items


def take(feed: Feed) -> Item:
    got: list[Item | None] = []
    thread = threading.Thread(target=lambda: got.append(feed.take()), daemon=True)
    thread.start()
    thread.join(5)
    assert got, "nothing to take"
    assert got[0] is not None
    return got[0]


def is_blocked(call: Callable[[], object]) -> threading.Thread:
    """Start a call that must not return; the thread to watch."""
    thread = threading.Thread(target=call, daemon=True)
    thread.start()
    thread.join(0.05)
    assert thread.is_alive()
    return thread


def test_never_more_than_the_concurrency_in_flight(feed: Feed) -> None:
    offer(feed, C + 1)
    taken = [take(feed) for _ in range(C)]
    waiting = is_blocked(feed.take)
    feed.answered(taken[0], Text("x"))
    waiting.join(5)
    assert not waiting.is_alive()
    assert feed.in_flight == C


def test_never_more_than_concurrency_and_one_commit_begun_and_not_durable(feed: Feed) -> None:
    offer(feed, C + COMMIT_ROWS + 1)
    for _ in range(C + COMMIT_ROWS):
        feed.answered(take(feed), Text("x"))
    assert feed.uncommitted == C + COMMIT_ROWS
    waiting = is_blocked(feed.take)
    batch = feed.batch(0)
    feed.committed([(one, "made") for one in batch])
    waiting.join(5)
    assert not waiting.is_alive()


def test_equal_rows_share_one_call_also_while_it_is_being_committed(feed: Feed) -> None:
    page = Page(10)
    assert feed.offer(item("k", page, 1))
    assert feed.offer(item("k", page, 2))
    taken = take(feed)
    assert feed.offer(item("k", page, 3))
    feed.answered(taken, Text("x"))
    (batch,) = feed.batch(0)
    assert feed.offer(item("k", page, 4))
    feed.committed([(batch, "made")])
    assert [row for _, row in batch.rows] == [1, 2, 3, 4]
    assert (page.tally, page.open) == ({"made": 4}, 0)
    assert feed.offer(item("k", page, 5)) is None, "committed meanwhile: it must be looked up again"
    assert feed.idle


def test_a_row_no_model_is_asked_about_goes_to_the_committer(feed: Feed) -> None:
    one = item("k")
    one.answer = "source_error"
    assert feed.offer(one)
    assert feed.batch(0) == [one]
    assert feed.in_flight == 0


def test_rows_no_model_is_asked_about_take_no_room_from_the_calls(feed: Feed, clock: Clock) -> None:
    for number in range(C + COMMIT_ROWS):
        one = item(f"error {number}")
        one.answer = "source_error"
        assert feed.offer(one)
    offer(feed, 1)
    called = take(feed)
    assert feed.uncommitted == 1
    while batch := feed.batch(0):
        feed.committed([(one, "failed") for one in batch])
    assert feed.uncommitted == 1
    feed.answered(called, Text("x"))
    feed.committed([(one, "made") for one in feed.batch(0)])
    assert (feed.uncommitted, feed.idle) == (0, True)


def test_the_scan_waits_also_where_nothing_but_such_rows_comes(feed: Feed) -> None:
    page = Page(10)

    def scan() -> None:
        for number in range(1000):
            one = item(f"error {number}", page)
            one.answer = "source_error"
            feed.offer(one)

    scanning = is_blocked(scan)
    assert page.open < 1000
    while scanning.is_alive() or not feed.idle:
        feed.committed([(one, "failed") for one in feed.batch(0.05)])
    assert (page.open, page.tally) == (0, {"failed": 1000})


def test_half_a_commit_is_worth_it_at_once_and_less_only_in_time(feed: Feed, clock: Clock) -> None:
    offer(feed, 8)
    taken = [take(feed) for _ in range(4)]
    feed.answered(taken[0], Text("x"))
    assert feed.batch(0) == [taken[0]], "the first answer has waited since the start"
    feed.answered(taken[1], Text("x"))
    assert feed.batch(0) == []
    clock.now += 1.0
    assert feed.batch(0) == [taken[1]]
    more = [take(feed), take(feed)]
    for one in (taken[2], taken[3], more[0]):
        feed.answered(one, Text("x"))
    assert len(feed.batch(0)) == 3


def test_the_last_answers_do_not_wait(feed: Feed) -> None:
    offer(feed, 2)
    first, last = take(feed), take(feed)
    feed.answered(first, Text("x"))
    feed.batch(0)
    feed.answered(last, Text("x"))
    assert feed.batch(0) == [last]


def test_a_batch_is_never_larger_than_a_commit(feed: Feed) -> None:
    offer(feed, C + COMMIT_ROWS)
    for _ in range(C + COMMIT_ROWS):
        feed.answered(take(feed), Text("x"))
    assert len(feed.batch(0)) == COMMIT_ROWS


def test_a_call_to_be_made_again_waits_for_its_time_and_others_go_on(feed: Feed, clock: Clock) -> None:
    offer(feed, 2)
    slow = take(feed)
    feed.again(slow, clock.now + 30)
    other = take(feed)
    assert other is not slow
    feed.answered(other, Text("x"))
    assert not feed.idle
    clock.now += 30
    assert take(feed) is slow


def test_a_rate_limit_stops_everybody_then_halves_and_grows_back(feed: Feed, clock: Clock) -> None:
    offer(feed, 12)
    taken = [take(feed) for _ in range(C)]
    for one in taken:  # four refusals of one moment halve once
        feed.slow_down(clock.now + 5, one.begun)
        feed.again(one, clock.now + 5)
    waiting = is_blocked(feed.take)
    clock.now += 5
    feed.poke()
    feed.again(item("wake"), clock.now)  # somebody moves, the waiting one looks again
    waiting.join(5)
    assert not waiting.is_alive()
    feed_in_flight = feed.in_flight
    assert feed_in_flight <= C // 2


def test_closing_wakes_everybody(feed: Feed) -> None:
    offer(feed, C)
    for _ in range(C):
        take(feed)
    takers = [is_blocked(feed.take) for _ in range(3)]
    offerers = [is_blocked(lambda: offer_until_closed(feed))]
    feed.close()
    for thread in (*takers, *offerers):
        thread.join(5)
        assert not thread.is_alive()
    assert feed.offer(item("late")) is False
    assert feed.take() is None


def offer_until_closed(feed: Feed) -> None:
    number = 1000
    while feed.offer(item(f"k{number}")):
        number += 1


def test_poking_wakes_the_committer(feed: Feed, clock: Clock) -> None:
    waiting = is_blocked(lambda: feed.batch(60))
    feed.poke()
    waiting.join(5)
    assert not waiting.is_alive()


def test_a_poke_before_the_committer_waits_is_not_lost(feed: Feed) -> None:
    feed.poke()
    waiting = threading.Thread(target=lambda: feed.batch(60), daemon=True)
    waiting.start()
    waiting.join(5)
    assert not waiting.is_alive()


def test_only_leading_pages_with_every_row_settled_move_the_cursor(feed: Feed) -> None:
    first, second, third = Page(10), Page(20), Page(30)
    feed.offer(item("a", second))
    for page in (first, second, third):
        feed.settle(page, "done", 2)
    feed.seal(first)
    assert feed.settled([first, second, third]) == [first]
    feed.seal(second)
    feed.seal(third)
    assert feed.settled([first, second, third]) == [first], "a row of the second page is under way"
    taken = take(feed)
    feed.answered(taken, Text("x"))
    feed.committed([(one, "made") for one in feed.batch(0)])
    assert feed.settled([first, second, third]) == [first, second, third]
    assert feed.tally([first, second, third]) == {"done": 6, "made": 1}


def test_of_many_takers_and_offerers_every_key_is_called_once(clock: Clock) -> None:
    feed = Feed(8, 20, 0.0, clock)
    seen: list[str] = []
    lock = threading.Lock()

    def call() -> None:
        while (one := feed.take()) is not None:
            with lock:
                seen.append(one.key)
            feed.answered(one, Text("x"))

    callers = [threading.Thread(target=call) for _ in range(8)]
    for thread in callers:
        thread.start()
    done = 0
    offerer = threading.Thread(target=lambda: offer(feed, 500))
    offerer.start()
    while done < 500:
        batch = feed.batch(0.01)
        clock.now += 0.01
        feed.committed([(one, "made") for one in batch])
        done += len(batch)
    feed.close()
    for thread in (*callers, offerer):
        thread.join(5)
        assert not thread.is_alive()
    assert sorted(seen) == sorted(f"k{number}" for number in range(500))
    assert feed.uncommitted == 0
