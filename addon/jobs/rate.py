"""How fast a link makes rows durable."""

import time
from collections import deque

RATE_WINDOW = 30.0
"""Seconds over which the rate is measured."""


class Rate:
    """Rows per second over the last `RATE_WINDOW`."""

    def __init__(self) -> None:
        self._recent: deque[tuple[float, int]] = deque()

    def add(self, rows: int) -> None:
        """Take note of a commit."""
        now = time.monotonic()
        self._recent.append((now, rows))
        while now - self._recent[0][0] > RATE_WINDOW:
            self._recent.popleft()

    @property
    def per_second(self) -> float:
        """Rows per second; 0 while there is but one commit to measure from."""
        if len(self._recent) < 2:
            return 0.0
        seconds = self._recent[-1][0] - self._recent[0][0]
        rows = sum(count for _, count in list(self._recent)[1:])
        return rows / seconds if seconds > 0 else 0.0
