"""Whose token a client acts with."""

from dataclasses import dataclass

from addon.google.drive import Drive
from addon.google.sheets import Sheets


@dataclass(frozen=True, slots=True)
class UserAccess:
    """Clients that act with the user's own token, for as long as their click lasts.

    ``user_id`` is a stable id of the person, never their e-mail address.
    """

    user_id: str
    sheets: Sheets
    drive: Drive
