"""The desk between the scan that finds rows, the callers that ask the model, and the committer.

One lock, three conditions. What a crash may cost is bounded: never more than ``concurrency`` calls are in
flight, never more than ``concurrency + commit_rows`` begun and not committed."""

import heapq
import itertools
import math
import threading
from collections import Counter, deque
from collections.abc import Callable, Sequence

from addon.jobs.items import Answer, Item, Page


class Feed:
    """Candidates in, calls under way, answers out.

    Parameters
    ----------
    concurrency
        Most calls in flight.
    commit_rows
        Most answers in one commit.
    commit_seconds
        Longest an answer waits while the committer is free.
    clock
        Monotonic seconds.
    """

    def __init__(
        self, concurrency: int, commit_rows: int, commit_seconds: float, clock: Callable[[], float]
    ) -> None:
        lock = threading.RLock()
        self._can_take = threading.Condition(lock)
        self._can_offer = threading.Condition(lock)
        self._changed = threading.Condition(lock)
        self._lock = lock
        self._clock = clock
        self._most = concurrency
        self._allowed = concurrency
        self._successes = 0
        self._commit_rows = commit_rows
        self._commit_seconds = commit_seconds
        self._backlog_limit = max(4 * concurrency, 2 * commit_rows)
        self._backlog: deque[Item] = deque()
        self._later: list[tuple[float, int, Item]] = []
        self._order = itertools.count()
        self._ready: deque[Item] = deque()
        self._known: dict[str, Item] = {}
        self._finished: set[str] = set()
        self._in_flight = 0
        self._outstanding = 0
        self._gate = 0.0
        self._halved = -math.inf
        self._last_batch = clock() - commit_seconds
        self._closed = False
        self._poked = False
        self._when_stopped: list[Callable[[], None]] = []

    def when_stopped(self, tell: Callable[[], None]) -> None:
        """Have ``tell`` called whenever calls that have not begun are to be left for now, or for good."""
        self._when_stopped.append(tell)

    @property
    def stopped(self) -> bool:
        """Whether no call may begin now: the desk is closed, or the provider wants to be left alone."""
        with self._lock:
            return self._closed or self._gate > self._clock()

    def offer(self, item: Item) -> bool | None:
        """Queue a key, or let its rows wait for the call already queued for it.

        An item that has its answer already (a row no model should be asked about) goes to the committer.
        Returns ``None`` where the key was committed since its page was looked up, ``False`` once closed.
        Waits while enough are queued.
        """
        with self._lock:
            while not self._closed and self._is_full(item):
                self._can_offer.wait()
            if self._closed:
                return False
            if item.key in self._finished:
                return None
            known = self._known.get(item.key)
            if known is not None:
                known.rows += item.rows
            else:
                self._known[item.key] = item
                self._queue(item)
            for page, _ in item.rows:
                page.open += 1
            return True

    def _is_full(self, item: Item) -> bool:
        return len(self._backlog if item.answer is None else self._ready) >= self._backlog_limit

    def _queue(self, item: Item) -> None:
        if item.answer is None:
            self._backlog.append(item)
            self._can_take.notify()
        else:
            self._ready.append(item)
            self._changed.notify_all()

    def take(self) -> Item | None:
        """Wait for a key to call; ``None`` once closed."""
        with self._lock:
            while not self._closed:
                now = self._clock()
                item = self._next(now)
                if item is not None:
                    item.tries += 1
                    item.begun = now
                    self._in_flight += 1
                    self._outstanding += 1
                    self._can_offer.notify_all()
                    return item
                self._can_take.wait(self._pause(now))
            return None

    def _next(self, now: float) -> Item | None:
        if self._gate > now or self._in_flight >= self._allowed:
            return None
        if self._outstanding >= self._most + self._commit_rows:
            return None
        if self._later and self._later[0][0] <= now:
            return heapq.heappop(self._later)[2]
        return self._backlog.popleft() if self._backlog else None

    def _pause(self, now: float) -> float | None:
        times = [self._gate] if self._gate > now else []
        if self._later:
            times.append(self._later[0][0])
        future = [time - now for time in times if time > now]
        return min(future) if future else None

    def answered(self, item: Item, answer: Answer | str, *, success: bool = True) -> None:
        """A call ended with something to commit."""
        with self._lock:
            item.answer = answer
            self._in_flight -= 1
            self._ready.append(item)
            if success:
                self._grow()
            self._can_take.notify()
            self._changed.notify_all()

    def again(self, item: Item, at: float) -> None:
        """A call ended with nothing; make it again, not before ``at``."""
        with self._lock:
            self._in_flight -= 1
            self._outstanding -= 1
            heapq.heappush(self._later, (at, next(self._order), item))
            self._can_take.notify_all()
            self._changed.notify_all()

    def slow_down(self, until: float, begun: float) -> bool:
        """The provider wants fewer calls: none before ``until``, then half as many at a time.

        Half only once for calls ``begun`` before that was known, however late they are refused. Returns
        whether calls were let through until now.
        """
        with self._lock:
            now = self._clock()
            news = self._gate <= now
            if news and begun >= self._halved:
                self._allowed = max(1, self._allowed // 2)
                self._halved = now
            self._gate = max(self._gate, until)
            self._successes = 0
        self._tell_stopped()
        return news

    def _tell_stopped(self) -> None:
        """Without the lock: whoever is told may be waiting for it to ask whether this desk has stopped."""
        for tell in self._when_stopped:
            tell()

    def _grow(self) -> None:
        self._successes += 1
        if self._allowed < self._most and self._successes >= 2 * self._allowed:
            self._allowed += 1
            self._successes = 0
            self._can_take.notify()

    def batch(self, timeout: float) -> list[Item]:
        """Wait for answers worth a commit, at most ``timeout`` seconds; may come back empty-handed.

        Worth it: half a commit's rows, or anything once `commit_seconds` have passed since the last batch,
        or anything while no call is under way.
        """
        end = self._clock() + timeout
        with self._lock:
            while True:
                now = self._clock()
                if self._worth_it(now):
                    self._last_batch = now
                    self._can_offer.notify_all()
                    return [self._ready.popleft() for _ in range(min(self._commit_rows, len(self._ready)))]
                if self._poked or now >= end:
                    self._poked = False
                    return []
                due = self._last_batch + self._commit_seconds if self._ready else end
                self._changed.wait(max(0.0, min(end, due) - now))

    def _worth_it(self, now: float) -> bool:
        if not self._ready:
            return False
        return (
            len(self._ready) * 2 >= self._commit_rows
            or now >= self._last_batch + self._commit_seconds
            or (self._in_flight == 0 and not self._backlog)
            or self._closed
        )

    def committed(self, outcomes: Sequence[tuple[Item, str]]) -> None:
        """These items are durable, with what became of their rows; no call for them again in this pass."""
        with self._lock:
            for item, kind in outcomes:
                del self._known[item.key]
                self._finished.add(item.key)
                for page, _ in item.rows:
                    page.open -= 1
                    page.settle(kind)
                self._outstanding -= item.tries > 0
                self._can_take.notify()
            self._changed.notify_all()

    def settle(self, page: Page, kind: str, rows: int) -> None:
        """Count rows of a page that need nothing more."""
        with self._lock:
            page.settle(kind, rows)

    def seal(self, page: Page) -> None:
        """All rows of a page are queued or settled."""
        with self._lock:
            page.sealed = True

    def settled(self, pages: Sequence[Page]) -> list[Page]:
        """The leading pages in which every row is settled."""
        with self._lock:
            return list(itertools.takewhile(lambda page: page.sealed and not page.open, pages))

    def tally(self, pages: Sequence[Page]) -> Counter[str]:
        """What became of the rows of ``pages`` so far."""
        with self._lock:
            total: Counter[str] = Counter()
            for page in pages:
                total.update(page.tally)
            return total

    def forget(self) -> None:
        """Begin a new pass: keys committed in the pass before may be met again."""
        with self._lock:
            self._finished.clear()

    def wait_closed(self, seconds: float) -> bool:
        """Wait, at most so long, for the desk to be closed; whether it is."""
        with self._can_offer:
            return self._can_offer.wait_for(lambda: self._closed, seconds)

    def close(self) -> None:
        """No more calls and no more candidates; calls under way may still answer."""
        with self._lock:
            self._closed = True
            self._can_take.notify_all()
            self._can_offer.notify_all()
            self._changed.notify_all()
        self._tell_stopped()

    def poke(self) -> None:
        """Wake the committer: something outside the feed has changed."""
        with self._lock:
            self._poked = True
            self._changed.notify_all()

    @property
    def in_flight(self) -> int:
        """Calls under way."""
        with self._lock:
            return self._in_flight

    @property
    def uncommitted(self) -> int:
        """Calls begun whose outcome is not durable."""
        with self._lock:
            return self._outstanding

    @property
    def idle(self) -> bool:
        """Nothing queued, under way or waiting to be committed."""
        with self._lock:
            return not (self._backlog or self._later or self._ready or self._in_flight)
