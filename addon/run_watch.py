"""Watching a job from the terminal: progress, interruption, and what goes wrong on this machine's disk."""

import errno
import logging
import signal
import sqlite3
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

import click

from addon.jobs.chain import read_job, read_shards
from addon.jobs.records import Shard
from addon.jobs.status import JobStatus, job_status
from addon.store.documents import Documents, StoreError

AGAIN = "run the same command again"
"""How a run goes on, at the end of a sentence."""

POLL_SECONDS = 0.2
BAR = 24

STILL_SECONDS = 120.0
"""How long nothing may move, beyond two leases, until a run ends by itself. A lost worker's lease runs out
and the sweep enqueues its link again in less; a wait that the provider asked for does not count."""

_RAISED = frozenset({"enqueue_failed", "google_failed", "heal_failed", "store_failed", "unexpected"})
"""Events whose exception may end a run, or is nobody's intention."""

_SAID = frozenset({"model_raised", "task_dropped"})
"""Events that people are told of."""

_FULL = frozenset({errno.ENOSPC, errno.EDQUOT})
_CLOSED = frozenset({errno.EROFS, errno.EACCES, errno.EPERM})
_NO_FOLDER = frozenset({errno.EEXIST, errno.ENOTDIR})
_SQLITE_CLOSED = (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM, sqlite3.SQLITE_CANTOPEN)
_SQLITE_BROKEN = (sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


class RunStopped(Exception):
    """A run could not go on; the message is the sentence for the person, and says what to do."""


def disk_sentence(error: BaseException, state: Path) -> str | None:
    """What is wrong with the state folder or its disk; ``None`` where ``error`` is about something else."""
    cause = error.__cause__ if isinstance(error, StoreError) else error
    again = f"{AGAIN}: nothing that was finished is lost"
    if _is(cause, _FULL, (sqlite3.SQLITE_FULL,)):
        return f"The disk with {state} is full. Free some space, then {again}."
    if _is(cause, _CLOSED, _SQLITE_CLOSED):
        return (
            f"{state} may not be written to. Change that or name another folder with --state, then {again}."
        )
    if _is(cause, _NO_FOLDER, ()):
        return f"{state} is not a folder. Name another one with --state."
    if _is(cause, frozenset({errno.EIO}), _SQLITE_BROKEN):
        return f"The disk with {state} answers with errors. Check it, then {again}."
    return None


def _is(error: BaseException | None, numbers: frozenset[int], codes: tuple[int, ...]) -> bool:
    if isinstance(error, sqlite3.Error):
        return getattr(error, "sqlite_errorcode", 0) & 0xFF in codes  # the low byte is the primary code
    return isinstance(error, OSError) and error.errno in numbers


class Troubles(logging.Handler):
    """Hears of every error in the threads of this process, which otherwise print stack traces.

    Attributes
    ----------
    sentence
        What ends the run: the state folder cannot be written. The threads that met it may have ended.
    """

    def __init__(self, state: Path) -> None:
        super().__init__(logging.WARNING)
        self.sentence: str | None = None
        self._state = state
        self._said: set[str] = set()

    def emit(self, record: logging.LogRecord) -> None:
        """Take note of a warning's exception; logging calls this."""
        # Error handlers run while their exception is being handled, so it is at hand even where the record
        # does not carry it.
        error = (record.exc_info or sys.exc_info())[1]
        event = getattr(record, "event", None)
        if event in _SAID:
            self._say(record.getMessage())
        elif error is not None and (event is None or event in _RAISED):
            self.note(error)

    def note(self, error: BaseException) -> None:
        """Remember a disk's trouble; say in one line, once, where anything unforeseen was raised."""
        self.sentence = self.sentence or disk_sentence(error, self._state)
        if self.sentence is not None or isinstance(error, StoreError):
            return
        frames = traceback.extract_tb(error.__traceback__)
        where = f" in {frames[-1].filename}, line {frames[-1].lineno}" if frames else ""
        self._say(f"An unforeseen {type(error).__name__} was raised{where}.")

    def _say(self, line: str) -> None:
        if line not in self._said:
            self._said.add(line)
            click.echo(line, err=True)

    @contextmanager
    def heard(self) -> Iterator["Troubles"]:
        """Hear of errors until the block ends."""
        before, root = threading.excepthook, logging.getLogger()

        def ended(arguments: Any) -> None:
            self.note(arguments.exc_value)

        root.addHandler(self)
        threading.excepthook = ended
        try:
            yield self
        finally:
            threading.excepthook = before
            root.removeHandler(self)


class Stop:
    """Ctrl-C and SIGTERM: asked once, the run hands over; asked again, it ends at once."""

    def __init__(self) -> None:
        self.asked = threading.Event()
        self.now = threading.Event()

    def ask(self) -> None:
        """Take note of one request to stop."""
        (self.now if self.asked.is_set() else self.asked).set()

    @contextmanager
    def listening(self) -> Iterator["Stop"]:
        """Turn the signals into requests until the block ends."""
        before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
        for number in before:
            signal.signal(number, lambda *_: self.ask())
        try:
            yield self
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


class Progress:
    """A bar on a terminal; a line per tenth where standard error is a file."""

    def __init__(self, *, quiet: bool) -> None:
        self._quiet = quiet
        self._live = sys.stderr.isatty()
        self._last = -1

    def __enter__(self) -> "Progress":
        return self

    def __exit__(self, *_: object) -> None:
        if self._live and not self._quiet:
            click.echo(err=True)

    def show(self, status: JobStatus) -> None:
        """Show how far the job is."""
        if self._quiet:
            return
        over = status.done + status.failed
        share = over / status.rows if status.rows else 1.0
        line = f"{share:4.0%}  {over:,} of {status.rows:,} rows"
        if status.rate and share < 1:
            line += f"  {status.rate:,.0f}/s" if status.rate >= 1 else f"  {status.rate * 60:,.0f}/min"
        if status.seconds_left and status.seconds_left >= 1:
            line += f"  {_duration(status.seconds_left)} left"
        if self._live:
            filled = int(share * BAR)
            click.echo(f"\r{'█' * filled}{'░' * (BAR - filled)} {line:<50}", err=True, nl=False)
        elif int(share * 10) > self._last:
            self._last = int(share * 10)
            click.echo(line, err=True)


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes:,} min {rest} s" if minutes else f"{rest} s"


class Watch:
    """Follows a job to its end, to a pause, or until it is asked to stop.

    Parameters
    ----------
    still
        Seconds in which nothing may move.
    clock
        Monotonic seconds.
    """

    def __init__(
        self,
        documents: Documents,
        troubles: Troubles,
        stop: Stop,
        *,
        still: float,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._documents = documents
        self._troubles = troubles
        self._stop = stop
        self._still = still
        self._clock = clock

    def follow(self, job_id: str, progress: Progress) -> JobStatus:
        """Show progress until the job is over, paused or the person asks to stop; its status then.

        Raises
        ------
        RunStopped
            The state folder cannot be written, or nothing moves any more.
        """
        since, before = self._clock(), None
        while True:
            status = self.status(job_id)
            progress.show(status)
            if status.status in {"done", "cancelled", "paused"}:
                return status
            if self._troubles.sentence is not None:
                raise RunStopped(self._troubles.sentence)
            moved = (status.updated_at, status.done, status.failed)
            if moved != before or self._waits(job_id, status.now):
                since, before = self._clock(), moved
            elif self._clock() - since > self._still:
                raise RunStopped(
                    f"Nothing has moved for {_duration(self._still)}. Nothing that was finished is lost: run "
                    "the same command again, and see what `addon doctor` says if that does not help."
                )
            if self._stop.asked.wait(POLL_SECONDS):
                return status

    def settle(self, job_id: str, seconds: float) -> JobStatus:
        """Wait until no worker holds a shard of the job, at most ``seconds``; its status then."""
        end = self._clock() + seconds
        while True:
            status = self.status(job_id)
            broken = self._troubles.sentence is not None
            if broken or self._clock() > end or not self._held(job_id, status.now):
                return status
            if self._stop.now.wait(POLL_SECONDS / 2):
                return status

    def status(self, job_id: str) -> JobStatus:
        """The job as it is now."""
        status = job_status(self._documents, job_id)
        if status is None:
            raise RunStopped("The job is gone: somebody emptied its state folder or store. Run again.")
        return status

    def _waits(self, job_id: str, now: datetime) -> bool:
        """Whether the job's next link is to come later: the model or a service wants to be left alone."""
        return any(
            shard.due_at is not None and shard.due_at > now and not shard.owner and not shard.closed
            for shard in self._shards(job_id)
        )

    def _held(self, job_id: str, now: datetime) -> bool:
        """Whether a live worker holds a shard of the job."""
        return any(
            shard.owner and shard.expires_at is not None and shard.expires_at > now
            for shard in self._shards(job_id)
        )

    def _shards(self, job_id: str) -> list[Shard]:
        job = read_job(self._documents, job_id)
        return list(read_shards(self._documents, job_id, job).values())
