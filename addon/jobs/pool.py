"""The callers: threads that keep the model busy, and what is done with each of its outcomes."""

import random
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor

from addon.jobs import events
from addon.jobs.feed import Feed
from addon.jobs.items import Item
from addon.jobs.model import PAUSE_REASONS
from addon.jobs.steps import Reach, nothing
from addon.llm.base import Empty, Fatal, LanguageModel, Outcome, Prompt, Text, Transient
from addon.llm.pace import UNLIMITED, Pace
from addon.logs import carried
from addon.rows.keys import is_blank

MAX_TRIES = 4
"""Calls of one row that may fail while others succeed, before it is recorded as `model_error`. Calls the
provider had no room for do not count: they say nothing about the row."""

MAYBE_BILLED = frozenset({"timeout", "connection_lost"})
"""Reasons for which the provider may have answered, and charged, what never came back."""

SILENT = 20
"""Transient outcomes in a row, over all rows, that end a link early."""

FIRST_PAUSE = 1.0
LONGEST_PAUSE = 30.0
"""Seconds before a second call of a row; doubled each time up to the longest, with full jitter added."""

LONGEST_WAIT = 60.0
"""A longer wait asked for by the provider is spent between links, not inside one."""


class Pool:
    """Calls the model for what the feed offers.

    Parameters
    ----------
    feed
        Where keys come from and answers go.
    model, instructions
        Whom to ask, and for what.
    threads
        Most calls in flight.
    timeout
        Seconds one call may take.
    pace
        How many calls may begin per minute, together with the other pools of the process.

    Attributes
    ----------
    fatal
        Pause reason, once the model said that no row can succeed.
    suspended
        Seconds to wait before the next link, once the provider has been silent or asked for a long wait.
    silent
        Whether it was silence, not a wait it asked for.
    repeats
        Calls that timed out and were made again: the provider may have answered, and billed, both.
    """

    def __init__(
        self,
        feed: Feed,
        model: LanguageModel,
        instructions: str,
        threads: int,
        timeout: float,
        pace: Pace = UNLIMITED,
        reach: Reach = nothing,
        *,
        clock: Callable[[], float] = time.monotonic,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        self.fatal: str | None = None
        self.suspended: float | None = None
        self.silent = False
        self.repeats = 0
        self._feed = feed
        self._model = model
        self._instructions = instructions
        self._timeout = timeout
        self._pace = pace
        self._reach = reach
        self._clock = clock
        self._jitter = jitter
        self._in_a_row = 0
        self._told = clock()
        self._lock = threading.Lock()
        feed.when_stopped(pace.wake)
        self._executor = ThreadPoolExecutor(threads, thread_name_prefix="call")
        self._workers: list[Future[None]] = [
            self._executor.submit(carried(self._work)) for _ in range(threads)
        ]
        for worker in self._workers:
            worker.add_done_callback(self._ended)

    @property
    def told(self) -> float:
        """Seconds for which the provider still asks to be left alone."""
        return max(0.0, self._told - self._clock())

    def check(self) -> None:
        """Notice a model adapter that broke its promise not to raise: no row can go on until it is mended."""
        for worker in self._workers:
            error = worker.exception() if worker.done() else None
            if error is not None and self.fatal is None:
                events.model_raised(error)
                self.fatal = "stuck"

    def stop(self) -> None:
        """Take no more work. Calls under way end by themselves, within their timeout."""
        self._feed.close()
        self._executor.shutdown(wait=False)

    def _ended(self, worker: Future[None]) -> None:
        if worker.exception() is not None:
            self._feed.close()

    def _work(self) -> None:
        while (item := self._feed.take()) is not None:
            if not self._pace.acquire(lambda: self._feed.stopped):
                item.tries -= 1  # taken and not called
                self._feed.again(item, self._clock())
                continue
            outcome = None
            try:
                self._reach("before call")
                outcome = self._model.summarise(Prompt(self._instructions, item.fields), self._timeout)
            finally:
                if outcome is None:  # it raised: the call is over all the same, and nobody is to repeat it
                    self._feed.close()
                    self._feed.again(item, self._clock())
            self._reach("after call")
            self._sort(item, outcome)

    def _sort(self, item: Item, outcome: Outcome) -> None:
        if isinstance(outcome, Text) and is_blank(outcome.text):
            outcome = Empty(outcome.usage)
        if isinstance(outcome, Transient):
            self._transient(item, outcome)
            return
        self._in_a_row = 0
        if not isinstance(outcome, Fatal):
            item.calls += 1
            item.spent += outcome.usage
        if isinstance(outcome, Fatal):
            self._refused(outcome)
            self._feed.close()
            self._feed.again(item, self._clock())
        elif isinstance(outcome, Empty) and item.calls == 1:
            self._feed.again(item, self._clock())
        else:
            self._feed.answered(item, outcome)

    def _refused(self, outcome: Fatal) -> None:
        with self._lock:
            first = self.fatal is None
            self.fatal = outcome.reason if outcome.reason in PAUSE_REASONS else "stuck"
        if first:
            events.model_refused(outcome.reason)

    def _transient(self, item: Item, outcome: Transient) -> None:
        now, wait = self._clock(), outcome.wait or 0.0
        pause = min(FIRST_PAUSE * 2 ** (item.tries - 1), LONGEST_PAUSE)
        at = now + max(wait, pause) + pause * self._jitter()
        item.faults += not outcome.rate_limited
        if self._give_up(outcome, now + wait):
            self._feed.close()
            self._feed.again(item, at)
        elif item.faults >= MAX_TRIES:
            self._feed.answered(item, "model_error", success=False)
        else:
            if outcome.rate_limited and self._feed.slow_down(at, item.begun):
                events.model_slowed(at - now, outcome.reason)
            self._feed.again(item, at)

    def _give_up(self, outcome: Transient, until: float) -> bool:
        """Count a call that brought nothing; whether the link is to end for it."""
        wait = outcome.wait or 0.0
        too_long = wait > LONGEST_WAIT
        with self._lock:
            self._in_a_row += 1
            self.repeats += outcome.reason in MAYBE_BILLED
            self._told = max(self._told, until)
            if not too_long and self._in_a_row < SILENT:
                return False
            first = self.suspended is None
            self.silent = not too_long and (self.silent or first)
            self.suspended = max(wait, self.suspended or 0.0)
        if first:
            events.model_suspended(wait, not too_long, outcome.reason)
        return True
