"""Faults for tests: answers delayed, lost, replaced or repeated, when and as often as asked."""

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal, get_args

Kind = Literal[
    "sheets.read",
    "sheets.write",
    "drive.create",
    "drive.update",
    "drive.read",
    "drive.share",
    "tasks.create",
    "tasks.read",
    "tasks.dispatch",
]
Action = Literal["delay", "drop", "lost_answer", "status", "duplicate", "hold", "never"]
Match = str | Callable[[str, bytes], bool]
"""A text to be found in the path (or the task's name) or the body, or a function of both."""


@dataclass(eq=False, slots=True)
class Fault:
    """One fault; make it with `Faults.add`.

    Parameters
    ----------
    times
        How often it still happens; ``None`` for ever.
    seconds
        For ``delay``: how long.
    event
        For ``delay``: wait until it is set instead.
    status, reason, message, headers
        For ``status``: the answer given; ``with_effect``: the request is carried out all the same.
    hits
        How often it has happened.
    """

    number: int
    kind: Kind
    action: Action
    times: int | None = 1
    match: Match | None = None
    seconds: float = 0.0
    event: threading.Event | None = None
    status: int = 503
    reason: str | None = None
    message: str = "The service is currently unavailable."
    headers: Mapping[str, str] = field(default_factory=dict)
    with_effect: bool = False
    hits: int = 0
    entered: threading.Event = field(default_factory=threading.Event)
    _released: threading.Event = field(default_factory=threading.Event)

    def release(self) -> None:
        """Let everything go on that a ``hold`` holds, now and later."""
        self._released.set()

    def wait(self, timeout: float = 30.0) -> bool:
        """Wait until the fault happens; say whether it did within ``timeout`` seconds."""
        return self.entered.wait(timeout)

    def pause(self, stopping: threading.Event) -> None:
        """Block for as long as a ``delay`` or ``hold`` asks, at most until ``stopping``."""
        if self.action not in {"delay", "hold"}:
            return
        until = self._released if self.action == "hold" else self.event
        if until is None:
            stopping.wait(self.seconds)
            return
        while not until.wait(0.05) and not stopping.is_set():
            pass

    def fits(self, kind: str, where: str, body: bytes) -> bool:
        """Whether it is about this request."""
        if kind != self.kind or self.times == 0:
            return False
        if self.match is None:
            return True
        if isinstance(self.match, str):
            return self.match in where or self.match.encode() in body
        return self.match(where, body)


class Faults:
    """The faults of one simulator. Safe to share between threads."""

    def __init__(self) -> None:
        self._faults: list[Fault] = []
        self._lock = threading.Lock()
        self._number = 0

    def add(
        self,
        kind: Kind,
        action: Action,
        times: int | None = 1,
        match: Match | None = None,
        *,
        seconds: float = 0.0,
        event: threading.Event | None = None,
        status: int = 503,
        reason: str | None = None,
        message: str = "The service is currently unavailable.",
        headers: Mapping[str, str] | None = None,
        with_effect: bool = False,
    ) -> Fault:
        """Make the next ``times`` requests of a kind go wrong; of several faults the oldest comes first.

        ``delay`` waits before the request is carried out; ``drop`` closes the connection before it is;
        ``lost_answer`` carries it out and closes the connection; ``status`` answers with an error;
        ``hold`` waits for `Fault.release`. For ``tasks.dispatch``: ``duplicate`` delivers twice at once,
        ``never`` loses the task.

        Raises
        ------
        ValueError
            There is no such kind or action, or the action is for deliveries only.
        """
        if kind not in get_args(Kind) or action not in get_args(Action):
            raise ValueError(f"There is no fault {action!r} for {kind!r}.")
        if action in {"duplicate", "never"} and kind != "tasks.dispatch":
            raise ValueError(f"The fault {action!r} is for tasks.dispatch only.")
        with self._lock:
            self._number += 1
            fault = Fault(
                *(self._number, kind, action, times, match, seconds, event),
                *(status, reason, message, dict(headers or {}), with_effect),
            )
            self._faults.append(fault)
            return fault

    def take(self, kind: str, where: str, body: bytes) -> Fault | None:
        """The fault that this request meets, if any; it counts as having happened."""
        with self._lock:
            fault = next((item for item in self._faults if item.fits(kind, where, body)), None)
            if fault is None:
                return None
            fault.hits += 1
            if fault.times is not None:
                fault.times -= 1
            fault.entered.set()
            return fault

    def clear(self) -> None:
        """Forget all faults and let go of what they hold."""
        with self._lock:
            for fault in self._faults:
                fault.times = 0
                fault.release()
            self._faults.clear()

    def __iter__(self) -> Iterator[Fault]:
        with self._lock:
            return iter(list(self._faults))


class Counts:
    """Requests per kind."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()
        self._lock = threading.Lock()

    def add(self, kind: str) -> None:
        """Count one."""
        with self._lock:
            self._counts[kind] += 1

    def now(self) -> Counter[str]:
        """A copy of the counts; a kind that never came counts 0."""
        with self._lock:
            return self._counts.copy()

    def reset(self) -> None:
        """Start from 0."""
        with self._lock:
            self._counts.clear()


class Quota:
    """Requests per minute that one caller may make of one kind, as Sheets counts them.

    Parameters
    ----------
    per_minute
        How many; ``None`` for any number. Google's value is 60 for reads and 60 for writes.
    """

    def __init__(self, per_minute: int | None, clock: Callable[[], float] = time.time) -> None:
        self.per_minute = per_minute
        self._clock = clock
        self._used: Counter[tuple[str, str]] = Counter()
        self._minute = -1
        self._lock = threading.Lock()

    def allows(self, email: str, kind: str) -> bool:
        """Whether one more request fits into this minute; if so it is counted."""
        with self._lock:
            minute = int(self._clock() // 60)
            if minute != self._minute:
                self._minute = minute
                self._used.clear()
            if self.per_minute is not None and self._used[email, kind] >= self.per_minute:
                return False
            self._used[email, kind] += 1
            return True
