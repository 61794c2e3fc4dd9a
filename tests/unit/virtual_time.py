"""Threads under a clock that a test moves: nothing sleeps, and whoever sleeps for ever is found out."""

import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any, TypeVar

import pytest

T = TypeVar("T")

PATIENCE = 20.0
"""Real seconds after which a test fails that would otherwise hang."""


@dataclass(eq=False)
class _Sleeper:
    """A thread asleep until it is notified or until its time has come."""

    until: float | None
    woken: threading.Event = field(default_factory=threading.Event)


class Time:
    """Seconds that pass when a test says so, and the threads that sleep by them.

    Call it for the present second. It stands in for ``threading`` where the code under test makes its
    conditions, so that it knows of every thread whether it sleeps.
    """

    def __init__(self, now: float = 100.0) -> None:
        self.now = now
        self.waits = 0
        self._changed = threading.Condition()
        self._sleepers: list[_Sleeper] = []
        self._running = 0

    def __call__(self) -> float:
        return self.now

    def stand_in_for_threading(self) -> Any:
        """What a module gets instead of ``threading``: true locks, conditions that sleep by this clock."""
        return SimpleNamespace(RLock=threading.RLock, Condition=lambda lock: _Condition(lock, self))

    def start(self, call: Callable[[], T]) -> "Future[T]":
        """Run a call in a thread that this clock knows of."""
        self.expect(1)
        executor = ThreadPoolExecutor(1)
        future = executor.submit(call)
        future.add_done_callback(lambda _: self.expect(-1))
        executor.shutdown(wait=False)
        return future

    def expect(self, threads: int) -> None:
        """Count threads that somebody else starts, or fewer again."""
        with self._changed:
            self._running += threads
            self._changed.notify_all()

    def settle(self) -> int:
        """Wait until every thread has ended or sleeps; how many sleep."""
        with self._changed:
            quiet = self._changed.wait_for(lambda: len(self._sleepers) >= self._running, PATIENCE)
            assert quiet, f"{self._running - len(self._sleepers)} threads neither end nor sleep"
            return len(self._sleepers)

    def asleep(self, sleepers: int) -> None:
        """Wait until that many threads sleep."""
        with self._changed:
            enough = self._changed.wait_for(lambda: len(self._sleepers) >= sleepers, PATIENCE)
            assert enough, f"{len(self._sleepers)} threads sleep, not {sleepers}"

    def pass_by(self, seconds: float) -> None:
        """Let time pass; whoever has slept long enough wakes."""
        with self._changed:
            self.now += seconds
            for sleeper in [one for one in self._sleepers if one.until is not None and one.until <= self.now]:
                self._wake(sleeper)

    def until_done(self, *futures: "Future[Any]") -> None:
        """Let time pass from alarm to alarm until all have ended; fail where nobody would ever wake."""
        self.settle()
        while not all(future.done() for future in futures):
            with self._changed:
                alarms = [one.until for one in self._sleepers if one.until is not None]
            assert alarms, "threads sleep and nothing will ever wake them"
            self.pass_by(max(0.0, min(alarms) - self.now))
            self.settle()

    def sleep(self, lock: "threading.RLock | None", sleeper: _Sleeper) -> None:  # type: ignore[valid-type]
        """Sleep until woken, with the lock released."""
        assert sleeper.until is None or sleeper.until > self.now, "a wait for no time at all: a busy loop"
        with self._changed:
            self.waits += 1
            self._sleepers.append(sleeper)
            self._changed.notify_all()
        if lock is not None:
            lock.release()  # type: ignore[attr-defined]
        try:
            assert sleeper.woken.wait(PATIENCE), "nobody has woken this thread"
        finally:
            if lock is not None:
                lock.acquire()  # type: ignore[attr-defined]

    def nap(self, seconds: float) -> None:
        """Sleep for some of this clock's seconds."""
        self.sleep(None, _Sleeper(self.now + seconds))

    def wake(self, sleeper: _Sleeper) -> None:
        """Wake a thread before its time."""
        with self._changed:
            self._wake(sleeper)

    def _wake(self, sleeper: _Sleeper) -> None:
        if sleeper in self._sleepers:
            self._sleepers.remove(sleeper)
            sleeper.woken.set()

    def __contains__(self, sleeper: _Sleeper) -> bool:
        with self._changed:
            return sleeper in self._sleepers


class _Condition:
    """`threading.Condition` as far as the feed uses it. No waiter wakes unless notified or due."""

    def __init__(self, lock: Any, time: Time) -> None:
        self._lock = lock
        self._time = time
        self._waiting: list[_Sleeper] = []

    def wait(self, timeout: float | None = None) -> None:
        sleeper = _Sleeper(None if timeout is None else self._time.now + timeout)
        self._waiting.append(sleeper)
        self._time.sleep(self._lock, sleeper)

    def notify(self, count: int = 1) -> None:
        self._waiting = [one for one in self._waiting if one in self._time]
        for sleeper in self._waiting[:count]:
            self._time.wake(sleeper)

    def notify_all(self) -> None:
        self.notify(len(self._waiting))


def virtual_time(monkeypatch: pytest.MonkeyPatch, module: Any) -> Time:
    """A clock for the conditions that ``module`` makes."""
    time = Time()
    monkeypatch.setattr(module, "threading", time.stand_in_for_threading())
    return time
