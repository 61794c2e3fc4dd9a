"""How many calls may begin per minute, all jobs of a process together."""

import threading
import time
from collections import deque
from collections.abc import Callable

WINDOW = 60.0
"""Seconds over which providers count requests per minute."""


class Pace:
    """Lets at most so many calls begin in any `WINDOW` seconds. Safe to share between threads.

    Who comes first goes first; each waits by itself, so that a call that may begin wakes one thread and not
    all of them.

    Parameters
    ----------
    per_minute
        Most calls per minute; ``None`` or 0 for no limit.
    clock
        Monotonic seconds.
    """

    def __init__(self, per_minute: int | None, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._most = per_minute or 0
        self._begun: deque[float] = deque(maxlen=self._most)
        self._lock = threading.RLock()
        self._queue: deque[threading.Condition] = deque()

    def acquire(self, given_up: Callable[[], bool]) -> bool:
        """Wait until a call may begin.

        Parameters
        ----------
        given_up
            Whether the call is not wanted any more; asked again at each `wake`. It must not wait for
            anything that waits for a pace.

        Returns
        -------
        bool
            Whether the call may begin; ``False`` once it is given up, and then it does not count.
        """
        if not self._most:
            return not given_up()
        turn = threading.Condition(self._lock)
        with self._lock:
            self._queue.append(turn)
            try:
                while not given_up():
                    first = self._queue[0] is turn
                    wait = self._wait() if first else None
                    if first and wait is None:
                        self._begun.append(self._clock())
                        return True
                    turn.wait(wait)
                return False
            finally:
                self._queue.remove(turn)
                if self._queue:
                    self._queue[0].notify()

    def wake(self) -> None:
        """Let everybody who waits ask again whether it has been given up."""
        with self._lock:
            for turn in self._queue:
                turn.notify()

    def _wait(self) -> float | None:
        """Seconds until another call may begin; ``None`` for now."""
        if len(self._begun) < self._most:
            return None
        left = self._begun[0] + WINDOW - self._clock()
        return left if left > 0 else None


UNLIMITED = Pace(None)
"""No limit."""
