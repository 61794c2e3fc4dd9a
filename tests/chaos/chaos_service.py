"""`addon serve` for the chaos tests: a wrong clock, a store that answers late or never, and less patience.

Everything is asked for in the environment, and nothing of it can be asked for in the product:

``CHAOS_SKEW``
    Seconds by which this machine's clock is wrong. Three things keep the right one: proofs of identity, in
    and out, which either side refuses otherwise; gRPC, whose core asks the kernel; and SQLite's store, whose
    clock is the machine's, and processes of one machine cannot differ there.
``CHAOS_STORE_FAULT``
    A file. While it exists, one SQLite commit in three goes wrong, as the file says: ``late`` (it takes 1.5 s
    longer, or is not sent) or ``lost`` (it is applied and answered with an error, or not sent).
``CHAOS_HURRY``
    Set: a late link is enqueued again after 3 s instead of 30 s, and a silent one followed after 1 s.
``CHAOS_UNPROTECTED``
    A protection to take away, to see the audit fail.
"""

import datetime as datetimes
import os
import random
import sys
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

true_time, true_datetime = time.time, datetime


def skew(seconds: float) -> None:
    """Let everything that is imported from now on see a wrong clock."""

    class Meta(type):
        def __instancecheck__(cls, instance: object) -> bool:
            # Every datetime is one of these, but not one of its subclasses.
            return (
                isinstance(instance, true_datetime) if cls is Skewed else super().__instancecheck__(instance)
            )

    class Skewed(datetime, metaclass=Meta):
        @classmethod
        def now(cls, tz: Any = None) -> Any:
            return true_datetime.now(tz) + timedelta(seconds=seconds)

        @classmethod
        def utcnow(cls) -> Any:
            return cls.now(UTC).replace(tzinfo=None)

    time.time = lambda: true_time() + seconds
    datetimes.datetime = Skewed  # type: ignore[misc]


def leave_out_what_needs_the_right_clock() -> None:
    """Leave google-auth, the check of ID tokens and gRPC out of it."""
    from google.auth import _helpers

    from addon.google import id_tokens

    if os.environ.get("FIRESTORE_EMULATOR_HOST"):
        import grpc._channel

        # gRPC hands moments of this clock to its core, which asks the kernel and would not agree.
        grpc._channel.time = SimpleNamespace(**{**vars(time), "time": true_time})
    _helpers.utcnow = lambda: true_datetime.now(UTC).replace(tzinfo=None)
    defaults = id_tokens.Verifier.__init__.__defaults__
    id_tokens.Verifier.__init__.__defaults__ = (*defaults[:-1], true_time)  # type: ignore[misc]


def spoil_store(fault: Path) -> None:
    """Wrap the store's commit."""
    from addon.store import sqlite
    from addon.store.documents import Unavailable

    def now() -> datetime:
        return true_datetime.now(UTC)

    class Faulty(sqlite.SqliteDocuments):
        def __init__(self, path: Path) -> None:
            super().__init__(path, clock=now)

        def commit(self, pending: Any, deadline: Any) -> bool:
            said = fault.read_text() if fault.exists() else ""
            unlucky = bool(said) and random.random() < 1 / 3
            if unlucky and random.random() < 0.5:
                raise Unavailable("chaos: the commit was not sent")
            if unlucky and said == "late":
                time.sleep(1.5)
            won = super().commit(pending, deadline)
            if unlucky and said == "lost":
                raise Unavailable("chaos: the answer was lost")
            return won

    sqlite.SqliteDocuments = Faulty  # type: ignore[misc]


def hurry() -> None:
    """Shorten what is long for people's sake, so that a minute holds many repairs."""
    from addon.jobs import link, model

    model.OVERDUE = timedelta(seconds=3)
    link.FIRST_DELAY = 1.0
    link.LONGEST_DELAY = 4.0


def unprotect(what: str) -> None:
    """Take a protection away, to see the audit fail."""
    from addon.jobs import commit, work

    if what == "account":  # calls that a killed worker may have made in vain are not reported
        commit.account = lambda risks, calls: (list(risks), 0)
    elif what == "recovery":  # a part is not read before it is written again
        work.recover = lambda *_: 0
    else:
        raise SystemExit(f"no such protection: {what}")


def main() -> None:
    """Serve, spoilt as the environment says."""
    if seconds := float(os.environ.get("CHAOS_SKEW", "0")):
        skew(seconds)
        leave_out_what_needs_the_right_clock()
    if fault := os.environ.get("CHAOS_STORE_FAULT"):
        spoil_store(Path(fault))
    if os.environ.get("CHAOS_HURRY"):
        hurry()
    if what := os.environ.get("CHAOS_UNPROTECTED"):
        unprotect(what)
    from addon.cli import main as addon

    sys.argv[0] = "addon"
    addon()


if __name__ == "__main__":
    main()
