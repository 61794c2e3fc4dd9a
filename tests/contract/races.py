"""Threads that start at the same moment."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")


def all_at_once(number: int, work: Callable[[int], T]) -> list[T | Exception]:
    """Run ``work(0)`` … ``work(number - 1)`` together; an exception stands in the place of an answer."""
    barrier = threading.Barrier(number)

    def run(index: int) -> T | Exception:
        barrier.wait()
        try:
            return work(index)
        except Exception as error:  # noqa: BLE001  the test looks at it
            return error

    with ThreadPoolExecutor(number) as pool:
        return list(pool.map(run, range(number)))
