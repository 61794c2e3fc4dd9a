"""One authorised call of the sidebar, and the proof that it may look into its spreadsheet."""

from dataclasses import dataclass

from addon.google.access import UserAccess
from addon.google.identity import Caller
from addon.google.sheets import SpreadsheetInfo
from addon.services import Services
from addon.sidebar.events import Event
from addon.sidebar.text import Words
from addon.sidebar.widgets import Links

PROOF_SECONDS = 10.0
"""Longest wait for the read that proves access; Google gives a sidebar call about 30 s in all."""


@dataclass(frozen=True, slots=True)
class Visit:
    """One authorised call.

    Parameters
    ----------
    user
        Clients with the caller's own token. Whatever a card's parameters claim, only what this token may
        open is read or acted on.
    caller
        Who they are, as Google says.
    """

    services: Services
    event: Event
    words: Words
    links: Links
    user: UserAccess
    caller: Caller


class NoSpreadsheet(Exception):
    """Google did not say which spreadsheet is open: the person has not granted the file yet."""


def prove(visit: Visit) -> SpreadsheetInfo:
    """Prove with a cheap read that the caller may open the spreadsheet, before anything of it is shown.

    Raises
    ------
    NoSpreadsheet
        Google did not say which one.
    GoogleError
        The caller's token does not open it.
    """
    if not visit.event.spreadsheet_id:
        raise NoSpreadsheet
    return visit.user.sheets.info(visit.event.spreadsheet_id, deadline=PROOF_SECONDS)


def may_command(caller: Caller, owner: str) -> bool:
    """Whether ``caller`` may pause, resume, cancel or retry a job that ``owner`` started."""
    return caller.admin or caller.user_id == owner
