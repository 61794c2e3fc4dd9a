"""Cloud Tasks v2: tasks kept on disk, delivered at least once, retried with growing pauses."""

import heapq
import logging
import sqlite3
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count

from google.cloud.tasks_v2 import types as cloud

from addon.simulator.delivery import Attempt, Courier
from addon.simulator.errors import Refusal
from addon.simulator.faults import Counts, Fault, Faults
from addon.simulator.state import State
from addon.simulator.taskrules import NAME_KEPT, RetryConfig

logger = logging.getLogger(__name__)

CONCURRENT = 16
"""Deliveries at once."""
_SLOWEST = 1.0
"""Most seconds between deliveries while the queue is slowed down."""


@dataclass(slots=True)
class _Waiting:
    task: cloud.Task
    due: float
    attempts: int = 0
    answers: int = 0
    previous: int | None = None


class TaskQueue:
    """The queues of one simulator, which share one pace. Safe to share between threads.

    Parameters
    ----------
    clock
        Seconds since 1970; decides when a task's name is free again, and nothing else.
    retry
        Changed only while nothing is delivered.
    deadline
        Seconds after which an attempt is given up, in place of each task's own ``dispatch_deadline`` (which
        is at least 15 s).
    """

    def __init__(
        self,
        state: State,
        courier: Courier,
        faults: Faults,
        counts: Counts,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.retry = RetryConfig()
        self.deadline: float | None = None
        self._state = state
        self._courier = courier
        self._faults = faults
        self._counts = counts
        self._clock = clock
        self._changed = threading.Condition()
        self._tasks: dict[str, _Waiting] = {}
        self._heap: list[tuple[float, int, str]] = []
        self._order = count()
        self._running = 0
        self._paused = False
        self._stopping = threading.Event()
        self._pause_between = 0.0
        self._not_before = 0.0
        self._threads: set[threading.Thread] = set()
        self._dispatcher: threading.Thread | None = None

    @property
    def throttled(self) -> bool:
        """Whether the queue is slowed down because of answers 429 or 5xx."""
        return self._pause_between > 0

    def start(self) -> None:
        """Take up the tasks on disk, those in delivery when the last process ended included, and deliver."""
        stored = "SELECT name, task, due, attempts, answers, previous FROM tasks WHERE gone IS NULL"
        for name, task, due, attempts, answers, previous in self._state.rows(stored):
            waiting = _Waiting(cloud.Task.deserialize(task), due, attempts, answers, previous)
            self._tasks[name] = waiting
            self._push(name, waiting.due)
        self._dispatcher = threading.Thread(target=self._dispatch, name="tasks", daemon=True)
        self._dispatcher.start()

    def stop(self) -> None:
        """Deliver nothing any more; what is in delivery will be delivered again by the next process."""
        with self._changed:
            self._stopping.set()
            self._changed.notify_all()
        self._courier.hang_up()
        if self._dispatcher is not None:
            self._dispatcher.join()
        with self._changed:
            threads = list(self._threads)
        for thread in threads:
            thread.join(5.0)

    def add(self, task: cloud.Task) -> None:
        """Take a task; it is on disk when this returns.

        Raises
        ------
        Refusal
            409 where a task has, or had in the last 24 hours, its name.
        """
        with self._changed:
            self._refuse_taken(task.name)
            due = max(task.schedule_time.timestamp(), time.time())
            with self._state.transaction() as statements:
                statements.execute(
                    "INSERT OR REPLACE INTO tasks VALUES (?, ?, ?, 0, 0, NULL, NULL)",
                    [task.name, cloud.Task.serialize(task), due],
                )
            self._tasks[task.name] = _Waiting(task, due)
            self._push(task.name, due)
            if self._heap[0][2] == task.name:
                self._changed.notify_all()  # only a task that is now the next one concerns the dispatcher

    def get(self, name: str) -> cloud.Task:
        """A task that is not done yet.

        Raises
        ------
        Refusal
            404 where there is none.
        """
        with self._changed:
            if name not in self._tasks:
                raise Refusal(
                    404, "The task no longer exists, though a task with this name existed recently."
                )
            waiting = self._tasks[name]
            task = cloud.Task(waiting.task)
            task.dispatch_count, task.response_count = waiting.attempts, waiting.answers
            return task

    def delete(self, name: str) -> None:
        """Remove a task that is not done yet; its name stays taken.

        Raises
        ------
        Refusal
            404 where there is none.
        """
        self.get(name)
        self._finish(name)

    def purge(self, queue: str) -> None:
        """Remove all tasks of a queue; their names stay taken."""
        for name in self.pending():
            if name.startswith(f"{queue}/tasks/"):
                self._finish(name)

    def pause(self) -> None:
        """Deliver nothing until `resume`; attempts going on are not ended."""
        with self._changed:
            self._paused = True

    def resume(self) -> None:
        """Deliver again."""
        with self._changed:
            self._paused = False
            self._changed.notify_all()

    def pending(self) -> list[str]:
        """Full names of the tasks that are not done yet, those in delivery included."""
        with self._changed:
            return sorted(self._tasks)

    def wait_idle(self, timeout: float = 30.0) -> bool:
        """Wait until no task is left; say whether that happened within ``timeout`` seconds."""
        with self._changed:
            return self._changed.wait_for(lambda: not self._tasks and not self._running, timeout)

    def _refuse_taken(self, name: str) -> None:
        if name in self._tasks:
            raise Refusal(409, "Requested entity already exists")
        gone = self._state.rows("SELECT gone FROM tasks WHERE name = ?", [name])
        if gone and gone[0][0] is not None and gone[0][0] + NAME_KEPT > self._clock():
            raise Refusal(
                409, "The task cannot be created because a task with this name existed too recently."
            )

    def _push(self, name: str, due: float) -> None:
        heapq.heappush(self._heap, (due, next(self._order), name))

    def _dispatch(self) -> None:
        while True:
            with self._changed:
                name = self._next()
                if name is None:
                    return
                waiting = self._tasks[name]
                waiting.attempts += 1
                self._running += 1
                self._remember(name, waiting)
                attempt = Attempt(
                    waiting.task, waiting.due, waiting.attempts, waiting.answers, waiting.previous
                )
                self._not_before = time.monotonic() + self._pause_between
            self._spawn(name, attempt)

    def _next(self) -> str | None:
        """Wait for the task to deliver next; ``None`` when there will be none."""
        while not self._stopping.is_set():
            while self._heap and self._heap[0][2] not in self._tasks:
                heapq.heappop(self._heap)
            wait: float | None = None
            if self._heap and not self._paused and self._running < CONCURRENT:
                wait = max(self._heap[0][0] - time.time(), self._not_before - time.monotonic())
                if wait <= 0:
                    return heapq.heappop(self._heap)[2]
            self._changed.wait(wait)
        return None

    def _spawn(self, name: str, attempt: Attempt) -> None:
        thread = threading.Thread(target=self._attempt, args=(name, attempt), name="delivery", daemon=True)
        with self._changed:
            self._threads.add(thread)
        thread.start()

    def _attempt(self, name: str, attempt: Attempt) -> None:
        try:
            task = attempt.task
            fault = self._faults.take("tasks.dispatch", name, task.http_request.body)
            if fault is not None and fault.action == "never":
                self._finish(name)
                return
            status = self._deliver(attempt, fault)
            if not self._stopping.is_set():
                self._settle(name, status)
        except sqlite3.OperationalError as error:
            logger.warning("A task is done, but not on disk (%s).", error)
        finally:
            with self._changed:
                self._running -= 1
                self._threads.discard(threading.current_thread())
                self._changed.notify_all()

    def _deliver(self, attempt: Attempt, fault: Fault | None) -> int:
        """Carry out one attempt and return the status the queue goes by; 503 where there was no answer."""
        if fault is not None:
            fault.pause(self._stopping)
            if fault.action == "drop" or self._stopping.is_set():
                return 503
            if fault.action == "status" and not fault.with_effect:
                return fault.status
        twin: threading.Thread | None = None
        if fault is not None and fault.action == "duplicate":
            twin = threading.Thread(target=self._send, args=(attempt,), name="duplicate", daemon=True)
            twin.start()
        status = self._send(attempt)
        if twin is not None:
            twin.join()
        if fault is not None and fault.action == "status":
            return fault.status
        return 503 if fault is not None and fault.action == "lost_answer" else status

    def _send(self, attempt: Attempt) -> int:
        self._counts.add("tasks.dispatch")
        deadline = self.deadline or attempt.task.dispatch_deadline.total_seconds()
        return self._courier.send(attempt, deadline)

    def _settle(self, name: str, status: int) -> None:
        with self._changed:
            waiting = self._tasks.get(name)
            slow = status == 429 or status >= 500
            faster = self._pause_between / 2 if self._pause_between > 0.02 else 0.0
            self._pause_between = min(max(self._pause_between * 2, 0.02), _SLOWEST) if slow else faster
            if waiting is None:
                return  # deleted while it was delivered
            limit = self.retry.max_attempts
            if 200 <= status < 300 or (limit is not None and waiting.attempts >= limit):
                self._finish(name)
                return
            waiting.answers += status < 500
            waiting.previous = status
            waiting.due = time.time() + self.retry.backoff(waiting.attempts)
            self._remember(name, waiting)
            self._push(name, waiting.due)
            self._changed.notify_all()

    def _remember(self, name: str, waiting: _Waiting) -> None:
        """Keep what became of a task. A full disk must not end the deliveries: what is on disk is older, so
        there may be one too many of them, but not one too few."""
        values = [waiting.due, waiting.attempts, waiting.answers, waiting.previous, name]
        try:
            with self._state.transaction() as statements:
                statements.execute(
                    "UPDATE tasks SET due = ?, attempts = ?, answers = ?, previous = ? WHERE name = ?", values
                )
        except sqlite3.OperationalError as error:
            logger.warning("A task is delivered again after a restart (%s).", error)

    def _finish(self, name: str) -> None:
        with self._changed:
            self._tasks.pop(name, None)
            with self._state.transaction() as statements:
                statements.execute(
                    "UPDATE tasks SET gone = ?, task = NULL WHERE name = ?", [self._clock(), name]
                )
                statements.execute("DELETE FROM tasks WHERE gone < ?", [self._clock() - NAME_KEPT])
            self._changed.notify_all()
