"""A model that says what a test or benchmark tells it to, and remembers what it was asked.

For tests and benchmarks only: no setting reaches it.
"""

import hashlib
import json
import os
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from addon.llm.base import Empty, Outcome, Prompt, Text, Transient, Usage

Answer = Callable[[Prompt], Outcome | None]
"""Decides the outcome of a prompt; ``None`` leaves it to the default answer."""


def fields_digest(prompt: Prompt) -> str:
    """SHA-256 of a prompt's fields, in hexadecimal: names a row's content without showing it."""
    canonical = json.dumps(prompt.fields, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()


def default_answer(prompt: Prompt) -> Outcome:
    """``summary of`` and the first 40 characters of the row's texts; `Empty` for a blank row.

    Its usage counts characters, so that a test can add it up: read from the fields, written in the text.
    """
    read = sum(len(text) for _, text in prompt.fields)
    words = " ".join(" ".join(text for _, text in prompt.fields).split())
    if not words:
        return Empty(Usage(read, 0))
    summary = f"summary of {words[:40].rstrip()}"
    return Text(summary, Usage(read, len(summary)))


@dataclass(frozen=True, slots=True)
class Call:
    """One call in the history.

    Parameters
    ----------
    prompt, timeout
        What it was called with.
    started, ended
        Places in the one order of all starts and ends, counted from 1; ``ended`` is ``None`` in flight.
    outcome
        What it answered; ``None`` in flight, and where the script raised.
    """

    prompt: Prompt
    timeout: float
    started: int
    ended: int | None = None
    outcome: Outcome | None = None


@dataclass(frozen=True, slots=True)
class CallLog:
    """Counts from a log file: how often a call started and ended, by `fields_digest`."""

    started: Counter[str]
    ended: Counter[str]

    @property
    def interrupted(self) -> Counter[str]:
        """Calls whose process died, or that are still in flight."""
        return self.started - self.ended


def read_call_log(path: Path) -> CallLog:
    """Count the calls in a log that `ScriptedModel` wrote, from however many processes.

    A missing file means no calls. A last line cut short by a crash of the machine is left out.
    """
    counts: dict[str, Counter[str]] = {"start": Counter(), "end": Counter()}
    text = path.read_text("ascii") if path.exists() else ""
    for line in text.splitlines(keepends=True):
        if line.endswith("\n"):
            event, digest, _ = line.split(" ", 2)
            counts[event][digest] += 1
    return CallLog(started=counts["start"], ended=counts["end"])


class ScriptedModel:
    """A `LanguageModel` under a test's control; safe to call from many threads.

    An outcome is taken, as calls start, from what was enqueued; then from ``default``; then it is
    `default_answer`.

    Parameters
    ----------
    name, settings
        What it reports as a model; both are part of idempotency keys.
    default
        Decides outcomes once nothing is enqueued. May raise, to play an adapter with a bug.
    latency
        Seconds each call takes. One longer than the call's timeout ends in ``Transient("timeout")`` then.
    gate
        Holds calls in flight: an `Event` until it is set, a `Semaphore` until it is released, once per
        call. A call still held at its timeout ends in ``Transient("timeout")``, and an outcome that was
        enqueued for it is used up.
    log
        File that gets a line at each start and end, in the kernel's hands before the call goes on, so
        that a test can count the calls of processes it has killed. It holds digests, never text.
    """

    def __init__(
        self,
        name: str = "scripted",
        default: Answer | None = None,
        *,
        settings: Mapping[str, str | int | float | bool] | None = None,
        latency: float = 0.0,
        gate: threading.Event | threading.Semaphore | None = None,
        log: Path | None = None,
    ) -> None:
        self.name = name
        self.settings: Mapping[str, str | int | float | bool] = dict(settings or {})
        self._default = default
        self._latency = latency
        self._gate = gate
        self._log = log
        self._changed = threading.Condition()
        self._script: deque[Outcome] = deque()
        self._calls: list[Call] = []
        self._events = 0
        self._in_flight = 0
        self._max_concurrent = 0

    def enqueue(self, outcomes: Iterable[Outcome]) -> None:
        """Script the outcomes of the next calls, in the order in which they start."""
        with self._changed:
            self._script.extend(outcomes)

    def summarise(self, prompt: Prompt, timeout: float) -> Outcome:
        """Answer as scripted, within ``timeout`` seconds."""
        number, scripted = self._start(prompt, timeout)
        outcome: Outcome | None = None
        try:
            outcome = self._held(timeout) or scripted or self._decide(prompt)
            return outcome
        finally:
            self._end(number, outcome)

    @property
    def calls(self) -> list[Call]:
        """Every call so far, in the order in which they started."""
        with self._changed:
            return list(self._calls)

    @property
    def calls_by_key(self) -> Counter[str]:
        """Calls started, by `fields_digest`: a value above 1 is a row that was paid twice."""
        return Counter(fields_digest(call.prompt) for call in self.calls)

    @property
    def in_flight(self) -> int:
        """Calls that have started and not ended."""
        with self._changed:
            return self._in_flight

    @property
    def max_concurrent(self) -> int:
        """Most calls that were in flight at once."""
        with self._changed:
            return self._max_concurrent

    @property
    def unused(self) -> int:
        """Enqueued outcomes that no call has taken."""
        with self._changed:
            return len(self._script)

    def count(self, prompt: Prompt) -> int:
        """Calls started with the fields of this prompt."""
        return self.calls_by_key[fields_digest(prompt)]

    def wait_until_started(self, calls: int, timeout: float = 10.0) -> bool:
        """Wait until that many calls have started in all; says whether they have within ``timeout`` s."""
        with self._changed:
            return self._changed.wait_for(lambda: len(self._calls) >= calls, timeout)

    def wait_until_in_flight(self, calls: int, timeout: float = 10.0) -> bool:
        """Wait until that many calls are in flight at once; says whether they are within ``timeout`` s."""
        with self._changed:
            return self._changed.wait_for(lambda: self._in_flight >= calls, timeout)

    def wait_until_ended(self, calls: int, timeout: float = 10.0) -> bool:
        """Wait until that many calls have ended in all; says whether they have within ``timeout`` s."""
        with self._changed:
            return self._changed.wait_for(lambda: len(self._calls) - self._in_flight >= calls, timeout)

    def _start(self, prompt: Prompt, timeout: float) -> tuple[int, Outcome | None]:
        with self._changed:
            number = len(self._calls)
            self._write("start", prompt, number)
            self._events += 1
            self._calls.append(Call(prompt, timeout, started=self._events))
            self._in_flight += 1
            self._max_concurrent = max(self._max_concurrent, self._in_flight)
            self._changed.notify_all()
            return number, self._script.popleft() if self._script else None

    def _held(self, timeout: float) -> Outcome | None:
        if self._latency:
            time.sleep(min(self._latency, timeout))
        left = timeout - self._latency
        if left < 0:
            opened = False
        elif isinstance(self._gate, threading.Event):
            opened = self._gate.wait(left)
        else:
            opened = self._gate is None or self._gate.acquire(timeout=left)
        return None if opened else Transient("timeout")

    def _decide(self, prompt: Prompt) -> Outcome:
        decided = self._default(prompt) if self._default else None
        return decided or default_answer(prompt)

    def _end(self, number: int, outcome: Outcome | None) -> None:
        with self._changed:
            call = self._calls[number]
            self._write("end", call.prompt, number)
            self._events += 1
            self._calls[number] = Call(call.prompt, call.timeout, call.started, self._events, outcome)
            self._in_flight -= 1
            self._changed.notify_all()

    def _write(self, event: str, prompt: Prompt, number: int) -> None:
        if self._log is None:
            return
        line = f"{event} {fields_digest(prompt)} {os.getpid()}-{number}\n"
        # One write to a descriptor in append mode: lines of several processes do not mix, and once it
        # returns the line outlives the process.
        descriptor = os.open(self._log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            os.write(descriptor, line.encode("ascii"))
        finally:
            os.close(descriptor)
