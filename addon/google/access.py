"""Whose token a client acts with."""

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from addon.google.drive import Drive
from addon.google.session import Session
from addon.google.sheets import Sheets

MOST_KEPT = 200
"""People for whom the worker keeps clients; the least recent give way."""


@dataclass(frozen=True, slots=True)
class UserAccess:
    """Clients that act with the user's own token, for as long as their click lasts.

    Parameters
    ----------
    user_id
        A stable id of the person, never their e-mail address.
    email
        Their address, for what the click itself does.
    """

    user_id: str
    email: str
    sheets: Sheets
    drive: Drive


@dataclass(frozen=True, slots=True)
class WorkerAccess:
    """Clients that act as the worker, or as a person it may act as."""

    sheets: Sheets
    drive: Drive


class Workers:
    """Hands out the worker's clients. Safe to share between threads.

    Parameters
    ----------
    credentials
        Makes credentials to act as a person, by e-mail, or as the worker itself, for an empty one. Called at
        the first use: a card does not wait for it.
    """

    def __init__(self, credentials: Callable[[str], Any], sheets_endpoint: str, drive_endpoint: str) -> None:
        self._credentials = credentials
        self._sheets_endpoint = sheets_endpoint
        self._drive_endpoint = drive_endpoint
        self._lock = threading.Lock()
        self._kept: dict[str, WorkerAccess] = {}

    def acting_as(self, email: str = "") -> WorkerAccess:
        """Clients of the worker, or of the person with that e-mail."""
        with self._lock:
            access = self._kept.pop(email, None)
            if access is None:
                session = Session(self._credentials(email))
                access = WorkerAccess(
                    Sheets(session, self._sheets_endpoint, "worker"),
                    Drive(session, self._drive_endpoint, "worker"),
                )
            self._kept[email] = access  # now the most recent
            if len(self._kept) > MOST_KEPT:
                del self._kept[next(iter(self._kept))]
            return access
