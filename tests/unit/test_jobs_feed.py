"""The desk under many threads: bounds that hold, wake-ups that are not lost, nobody who spins or hangs."""

import random
from collections.abc import Callable, Iterator
from concurrent.futures import Future

import pytest
from virtual_time import Time, virtual_time

from addon.jobs import feed as feeds
from addon.jobs.feed import Feed, Item, Page
from addon.llm.base import Text

C, ROWS, SECONDS = 3, 8, 1.0


@pytest.fixture
def time(monkeypatch: pytest.MonkeyPatch) -> Time:
    return virtual_time(monkeypatch, feeds)


@pytest.fixture
def feed(time: Time) -> Iterator[Feed]:
    one = Feed(C, ROWS, SECONDS, time)
    yield one
    one.close()
    time.settle()


def item(key: str, page: Page | None = None, row: int = 1) -> Item:
    return Item(key, (("text", key),), [(page or Page(10), row)])


def offer(feed: Feed, count: int, first: int = 0) -> None:
    for number in range(first, first + count):
        assert feed.offer(item(f"k{number}")) is True


def take(feed: Feed) -> Item:
    """Take what must be there without waiting."""
    taken = feed.take()
    assert taken is not None
    return taken


def answer(feed: Feed, *items: Item) -> None:
    for one in items:
        feed.answered(one, Text("an answer"))


def commit(feed: Feed) -> list[Item]:
    """Commit what is worth it now."""
    batch = feed.batch(0)
    feed.committed([(one, "made") for one in batch])
    return batch


def takers(feed: Feed, time: Time, count: int) -> "list[Future[Item | None]]":
    """Threads that take one item each; back once each has got one or sleeps."""
    threads = [time.start(feed.take) for _ in range(count)]
    time.settle()
    return threads


def done(futures: "list[Future[Item | None]]") -> int:
    return sum(future.done() for future in futures)


# what may be lost in a crash


def test_never_more_calls_in_flight_than_the_concurrency(feed: Feed, time: Time) -> None:
    offer(feed, 3 * C)
    threads = takers(feed, time, 2 * C)
    assert (done(threads), feed.in_flight) == (C, C)
    (first,) = [future.result() for future in threads if future.done()][:1]
    assert first is not None
    answer(feed, first)
    time.settle()
    assert (done(threads), feed.in_flight) == (C + 1, C)


def test_never_more_calls_begun_and_not_durable_than_concurrency_and_one_commit(
    feed: Feed, time: Time
) -> None:
    offer(feed, C + ROWS + 2)
    for _ in range(C + ROWS):
        answer(feed, take(feed))
    threads = takers(feed, time, 2)
    assert (done(threads), feed.in_flight, feed.uncommitted) == (0, 0, C + ROWS)
    batch = feed.batch(0)
    time.settle()
    assert done(threads) == 0, "what is being committed is not durable yet"
    feed.committed([(batch[0], "made")])
    time.settle()
    assert done(threads) == 1, "one durable, one more begun"
    feed.committed([(one, "made") for one in batch[1:]])
    time.settle()
    assert done(threads) == 2


def test_a_call_to_be_made_again_is_not_begun_until_it_is(feed: Feed, time: Time) -> None:
    offer(feed, 1)
    feed.again(take(feed), time() + 5)
    assert (feed.uncommitted, feed.in_flight, feed.idle) == (0, 0, False)
    time.pass_by(5)
    take(feed)
    assert (feed.uncommitted, feed.in_flight) == (1, 1)


@pytest.mark.parametrize("seed", range(12))
def test_the_bounds_hold_and_every_key_is_called_and_committed_once_whatever_happens(
    feed: Feed, time: Time, seed: int
) -> None:
    """Callers, a scan and a committer at once; calls fail, are rate limited, take their time."""
    chance = random.Random(seed)
    keys = [f"k{number}" for number in range(120)]
    begun: set[str] = set()
    flying: set[str] = set()
    ended: list[str] = []
    worst = {"begun": 0, "flying": 0}
    page = Page(10)
    waits = time.waits

    def call() -> None:
        while (one := feed.take()) is not None:
            begun.add(one.key)
            flying.add(one.key)
            worst["begun"] = max(worst["begun"], len(begun))
            worst["flying"] = max(worst["flying"], len(flying))
            time.nap(chance.choice([0.01, 0.3, 2.0]))
            fate = chance.random()
            flying.discard(one.key)
            if fate < 0.2:
                begun.discard(one.key)
                if fate < 0.1:
                    feed.slow_down(time() + chance.choice([0.5, 4.0]), one.begun)
                feed.again(one, time() + chance.choice([0.1, 1.0, 9.0]))
            else:
                feed.answered(one, Text("x") if fate > 0.25 else "model_error", success=fate > 0.25)

    def scan() -> None:
        for row, key in enumerate([*keys, *chance.sample(keys, 40)]):
            feed.offer(item(key, page, row))

    def commit_all() -> None:
        while len(ended) < len(keys):
            batch = feed.batch(0.25)
            assert len(batch) <= ROWS
            if batch:
                time.nap(0.2)  # the upload
            begun.difference_update(one.key for one in batch)
            feed.committed([(one, "made") for one in batch])
            ended.extend(one.key for one in batch)

    callers = [time.start(call) for _ in range(C + 2)]
    time.until_done(time.start(scan), time.start(commit_all))
    feed.close()
    time.until_done(*callers)
    assert sorted(ended) == sorted(keys)
    assert worst["flying"] <= C
    assert worst["begun"] <= C + ROWS
    assert (feed.uncommitted, feed.in_flight, feed.idle, page.open) == (0, 0, True, 0)
    assert time.waits - waits < 10_000, "threads wake for nothing"


# duplicates


@pytest.mark.parametrize("where", ["queued", "called", "to be called again", "answered", "being committed"])
def test_equal_rows_wait_for_the_one_call_wherever_it_is(feed: Feed, time: Time, where: str) -> None:
    page = Page(10)
    feed.offer(item("k", page, 1))
    one = None
    if where != "queued":
        one = take(feed)
    if one is not None and where == "to be called again":
        feed.again(one, time())
    if one is not None and where in {"answered", "being committed"}:
        answer(feed, one)
    batch = feed.batch(0) if where == "being committed" else []
    assert feed.offer(item("k", page, 2)) is True
    assert page.open == 2
    if where in {"queued", "to be called again"}:
        one = take(feed)
    if one is not None and where in {"queued", "called", "to be called again"}:
        answer(feed, one)
    batch = batch or feed.batch(0)
    assert [[row for _, row in each.rows] for each in batch] == [[1, 2]]
    feed.committed([(each, "made") for each in batch])
    assert (page.open, page.tally) == (0, {"made": 2})
    assert feed.idle, "the second row made no call of its own"


def test_a_key_committed_meanwhile_must_be_looked_up_again_until_a_new_pass(feed: Feed) -> None:
    offer(feed, 1)
    answer(feed, take(feed))
    commit(feed)
    page = Page(10)
    assert feed.offer(item("k0", page)) is None
    assert (page.open, feed.idle) == (0, True)
    feed.forget()
    assert feed.offer(item("k0", page)) is True
    assert take(feed).key == "k0"


def test_a_key_committed_while_its_equal_waited_for_room_must_be_looked_up_again(
    feed: Feed, time: Time
) -> None:
    offer(feed, 1)
    first = take(feed)
    limit = max(4 * C, 2 * ROWS)
    offer(feed, limit, first=1)
    equal = time.start(lambda: feed.offer(item("k0")))
    time.settle()
    assert not equal.done()
    answer(feed, first)
    time.pass_by(SECONDS)
    assert commit(feed) == [first]
    time.settle()
    take(feed)
    time.until_done(equal)
    assert equal.result() is None


# batches


def test_half_a_commit_of_answers_is_worth_one_at_once(feed: Feed, time: Time) -> None:
    offer(feed, 2 * ROWS)
    answer(feed, take(feed))
    assert len(commit(feed)) == 1, "the first answer has waited since the start"
    committer = time.start(lambda: feed.batch(0.5))
    for number in range(ROWS // 2):
        time.settle()
        assert not committer.done(), f"{number} answers are too few"
        answer(feed, take(feed))
    time.until_done(committer)
    assert len(committer.result()) == ROWS // 2
    assert time() == 100.0, "no second has passed"


def test_fewer_answers_wait_for_their_time_and_no_longer(feed: Feed, time: Time) -> None:
    offer(feed, 2 * ROWS)
    answer(feed, take(feed))
    commit(feed)
    answer(feed, take(feed))
    committer = time.start(lambda: feed.batch(60))
    time.settle()
    time.pass_by(SECONDS * 0.9)
    time.settle()
    assert not committer.done()
    time.until_done(committer)
    assert len(committer.result()) == 1
    assert time() == pytest.approx(100.0 + SECONDS)


def test_an_answer_that_comes_to_a_sleeping_committer_shortens_its_sleep(feed: Feed, time: Time) -> None:
    offer(feed, 2 * ROWS)
    answer(feed, take(feed))
    commit(feed)
    committer = time.start(lambda: feed.batch(60))
    time.settle()
    answer(feed, take(feed))
    time.until_done(committer)
    assert time() == pytest.approx(100.0 + SECONDS)


@pytest.mark.parametrize("end", ["answered", "again"])
def test_nothing_waits_once_nothing_is_under_way(feed: Feed, time: Time, end: str) -> None:
    offer(feed, 3)
    first, second, third = take(feed), take(feed), take(feed)
    answer(feed, first)
    commit(feed)
    answer(feed, second)
    committer = time.start(lambda: feed.batch(60))
    time.settle()
    assert not committer.done(), "a call is under way"
    if end == "answered":
        answer(feed, third)
    else:
        feed.again(third, time() + 30)
    time.until_done(committer)
    assert second in committer.result()
    assert time() == 100.0


def test_the_committer_gives_up_in_time_where_nothing_comes(feed: Feed, time: Time) -> None:
    committer = time.start(lambda: feed.batch(7))
    time.until_done(committer)
    assert committer.result() == []
    assert time() == 107.0
    assert time.waits == 1


def test_a_poke_wakes_the_committer_once(feed: Feed, time: Time) -> None:
    for early in (True, False):
        if early:
            feed.poke()
        committer = time.start(lambda: feed.batch(60))
        if not early:
            time.settle()
            feed.poke()
        time.until_done(committer)
        assert committer.result() == []
        assert time() == 100.0
    committer = time.start(lambda: feed.batch(60))
    time.settle()
    assert not committer.done(), "a poke wakes once"


def test_a_poke_takes_no_answers_away(feed: Feed, time: Time) -> None:
    offer(feed, 1)
    answer(feed, take(feed))
    feed.poke()
    assert len(commit(feed)) == 1


def test_a_row_without_a_call_wakes_a_sleeping_committer(feed: Feed, time: Time) -> None:
    committer = time.start(lambda: feed.batch(60))
    time.settle()
    one = item("error")
    one.answer = "source_error"
    feed.offer(one)
    time.until_done(committer)
    assert committer.result() == [one]
    assert time() == 100.0


def test_closing_wakes_a_committer_that_waits_for_more_answers(feed: Feed, time: Time) -> None:
    offer(feed, 3)
    answer(feed, take(feed))
    commit(feed)
    one, _ = take(feed), take(feed)
    answer(feed, one)
    committer = time.start(lambda: feed.batch(60))
    time.settle()
    assert not committer.done()
    feed.close()
    time.until_done(committer)
    assert (committer.result(), time()) == ([one], 100.0)


# rate limits


@pytest.fixture
def wide(time: Time) -> Iterator[Feed]:
    """A feed of 8 at a time."""
    one = Feed(8, ROWS, SECONDS, time)
    yield one
    one.close()
    time.settle()


def test_refusals_of_one_moment_halve_once_and_nothing_starts_before_the_gate(wide: Feed, time: Time) -> None:
    offer(wide, 16)
    calls = [take(wide) for _ in range(8)]
    for number, one in enumerate(calls):
        wide.slow_down(time() + (5.7, 5, 5.3)[number % 3], one.begun)
        wide.again(one, time())
    threads = takers(wide, time, 12)
    assert done(threads) == 0
    time.pass_by(5)
    time.settle()
    assert done(threads) == 0, "the latest wait counts"
    time.pass_by(0.8)
    time.settle()
    assert (done(threads), wide.in_flight) == (4, 4)


def test_late_refusals_of_calls_begun_before_the_first_do_not_halve_again(wide: Feed, time: Time) -> None:
    offer(wide, 30)
    calls = [take(wide) for _ in range(8)]
    time.pass_by(1)
    wide.slow_down(time() + 5, calls[0].begun)
    wide.again(calls[0], time() + 5)
    for one in calls[1:]:
        time.pass_by(6)  # the gate is open again, and this call has been under way all the time
        wide.slow_down(time(), one.begun)
        wide.again(one, time() + 60)
    assert wide._allowed == 4
    later = take(wide)
    wide.slow_down(time() + 5, later.begun)
    assert wide._allowed == 2, "a call of the smaller crowd was refused"


@pytest.mark.parametrize(("refusals", "allowed"), [(0, 8), (1, 4), (2, 2), (3, 1), (4, 1)])
def test_each_refusal_after_a_gate_halves_again_and_one_call_always_remains(
    wide: Feed, time: Time, refusals: int, allowed: int
) -> None:
    offer(wide, 16)
    for _ in range(refusals):
        wide.slow_down(time() + 5, time())
        time.pass_by(5)
    assert done(takers(wide, time, 12)) == allowed


def test_successes_grow_the_concurrency_back_but_never_beyond(wide: Feed, time: Time) -> None:
    wide.slow_down(time() + 1, time())
    time.pass_by(1)
    allowed = []
    for number in range(60):
        offer(wide, 1, first=number)
        answer(wide, take(wide))
        commit(wide)
        time.pass_by(SECONDS)
        allowed.append(wide._allowed)
    grown = [allowed.index(more) + 1 for more in (5, 6, 7, 8)]
    assert grown == [8, 18, 30, 44], "twice as many successes as are allowed add one"
    assert sorted(allowed) == allowed
    assert allowed[-1] == 8


def test_failures_do_not_grow_it(wide: Feed, time: Time) -> None:
    wide.slow_down(time() + 1, time())
    time.pass_by(1)
    for number in range(60):
        offer(wide, 1, first=number)
        wide.answered(take(wide), "model_error", success=False)
        commit(wide)
        time.pass_by(SECONDS)
    assert wide._allowed == 4


def test_successes_from_before_a_refusal_do_not_count(wide: Feed, time: Time) -> None:
    for number, expected in enumerate([4] * 7 + [2] * 3 + [3]):
        if number in {0, 7}:
            wide.slow_down(time() + 1, time())
            time.pass_by(1)
        offer(wide, 1, first=number)
        answer(wide, take(wide))
        commit(wide)
        time.pass_by(SECONDS)
        assert wide._allowed == expected, f"after {number + 1} successes"


def test_growth_wakes_one_caller_more_than_the_answer_does(time: Time) -> None:
    feed = Feed(2, 50, SECONDS, time)
    feed.slow_down(time() + 1, time())
    time.pass_by(1)
    offer(feed, 20)
    answer(feed, take(feed))
    one = take(feed)
    threads = takers(feed, time, 5)
    assert done(threads) == 0
    answer(feed, one)
    time.settle()
    assert done(threads) == 2
    feed.close()
    time.settle()


def test_growth_wakes_a_caller_that_was_kept_waiting(time: Time) -> None:
    feed = Feed(2, 50, SECONDS, time)
    feed.slow_down(time() + 1, time())
    time.pass_by(1)
    offer(feed, 20)

    made: list[str] = []

    def call() -> int:
        count = 0
        while (one := feed.take()) is not None:
            time.nap(1.0)
            answer(feed, one)
            made.append(one.key)
            count += 1
            if len(made) == 20:
                feed.close()
        return count

    callers = [time.start(call) for _ in range(2)]
    time.until_done(*callers)
    assert len(set(made)) == 20
    assert min(caller.result() for caller in callers) >= 5, "one caller has slept through"


# waking and sleeping


def test_a_call_to_be_made_again_waits_for_its_time_and_wakes_a_caller_by_itself(
    feed: Feed, time: Time
) -> None:
    offer(feed, 1)
    one = take(feed)
    (caller,) = takers(feed, time, 1)
    feed.again(one, time() + 30)
    time.settle()
    assert not caller.done()
    time.pass_by(29.9)
    time.settle()
    assert not caller.done()
    time.pass_by(0.2)
    time.until_done(caller)
    assert caller.result() is one


def test_an_earlier_time_replaces_a_later_alarm(feed: Feed, time: Time) -> None:
    offer(feed, 2)
    late, early = take(feed), take(feed)
    feed.again(late, time() + 100)
    callers = takers(feed, time, 2)
    feed.again(early, time() + 1)
    time.settle()
    time.pass_by(1)
    time.settle()
    assert [caller.result() for caller in callers if caller.done()] == [early]


@pytest.mark.parametrize("sleepers", [1, C])
def test_every_offer_wakes_a_caller(feed: Feed, time: Time, sleepers: int) -> None:
    callers = takers(feed, time, sleepers)
    offer(feed, sleepers)
    time.until_done(*callers)
    assert done(callers) == sleepers


def test_a_caller_asleep_costs_nothing(feed: Feed, time: Time) -> None:
    callers = takers(feed, time, C)
    before = time.waits
    for _ in range(50):
        time.pass_by(1000)
        time.settle()
    assert time.waits == before
    assert done(callers) == 0


def test_a_full_desk_keeps_the_scan_waiting_until_a_call_begins(feed: Feed, time: Time) -> None:
    limit = max(4 * C, 2 * ROWS)
    offer(feed, limit)
    scan = time.start(lambda: feed.offer(item("one more")))
    time.settle()
    assert not scan.done()
    take(feed)
    time.until_done(scan)
    assert scan.result() is True


def test_rows_without_a_call_keep_the_scan_waiting_until_a_batch_is_taken(feed: Feed, time: Time) -> None:
    def refused(number: int) -> Item:
        one = item(f"error {number}")
        one.answer = "source_error"
        return one

    limit = max(4 * C, 2 * ROWS)
    for number in range(limit):
        assert feed.offer(refused(number))
    scan = time.start(lambda: feed.offer(refused(limit)))
    time.settle()
    assert not scan.done()
    assert len(commit(feed)) == ROWS
    time.until_done(scan)
    assert (scan.result(), feed.uncommitted) == (True, 0)


WAITING: "dict[str, Callable[[Feed], object]]" = {
    "callers": lambda feed: feed.take(),
    "scan": lambda feed: feed.offer(item("one more")),
    "committer": lambda feed: feed.batch(1e6),
}


@pytest.mark.parametrize("who", sorted(WAITING))
def test_closing_wakes_everybody_and_nothing_more_begins(feed: Feed, time: Time, who: str) -> None:
    limit = max(4 * C, 2 * ROWS)
    offer(feed, C)
    under_way = [take(feed) for _ in range(C)]
    offer(feed, limit, first=C)
    waiting = [time.start(lambda: WAITING[who](feed)) for _ in range(1 if who == "committer" else 5)]
    time.settle()
    assert not any(future.done() for future in waiting)
    feed.close()
    if who == "committer":
        answer(feed, under_way[0])  # a closed feed keeps no answer waiting, and its last callers may answer
    time.until_done(*waiting)
    expected: dict[str, object] = {"callers": None, "scan": False, "committer": [under_way[0]]}
    assert [future.result() for future in waiting] == [expected[who]] * len(waiting)
    assert feed.take() is None
    assert feed.offer(item("late")) is False
    assert feed.offer(item("k0")) is False, "also where an equal row is under way"


def test_what_came_before_the_close_can_be_committed_after_it(feed: Feed) -> None:
    offer(feed, C)
    calls = [take(feed) for _ in range(C)]
    feed.close()
    for left, one in zip(range(C - 1, -1, -1), calls, strict=True):
        answer(feed, one)
        assert commit(feed) == [one]
        assert feed.uncommitted == left


def test_idle_means_nothing_queued_under_way_or_waiting(feed: Feed, time: Time) -> None:
    assert feed.idle
    offer(feed, 1)
    assert not feed.idle
    one = take(feed)
    assert not feed.idle
    feed.again(one, time())
    assert not feed.idle
    answer(feed, take(feed))
    assert not feed.idle
    commit(feed)
    assert feed.idle
