"""What Drive knows about a file, and the rules for it."""

import hashlib
import secrets
from collections.abc import Mapping
from dataclasses import dataclass

from addon.simulator.errors import Refusal, invalid

FOLDER = "application/vnd.google-apps.folder"
SPREADSHEET = "application/vnd.google-apps.spreadsheet"
GOOGLE_TYPES = "application/vnd.google-apps."

ROLES = ("reader", "commenter", "writer", "fileOrganizer", "organizer", "owner")
"""The weakest first. The two organizers are for shared drives; what is in one has no owner."""

_PROPERTY_BYTES = 124
"""Most UTF-8 bytes of an app property's key and value together (Drive guide on custom file properties)."""
_PROPERTIES = 30
"""Most app properties of one file that one app may have (same guide)."""


@dataclass(frozen=True, slots=True)
class File:
    """A file's metadata.

    Parameters
    ----------
    owner
        E-mail address; empty for what is in a shared drive, which nobody owns.
    trashed
        By itself; what is in a folder in the trash is trashed too.
    blob
        Names the content in the state folder; Google's own formats have none.
    drive
        The shared drive it is in.
    writers_can_share
        Whether others than the owner may share it.
    """

    id: str
    owner: str
    name: str
    mime_type: str
    description: str
    parents: tuple[str, ...]
    app_properties: Mapping[str, str]
    trashed: bool
    version: int
    created: float
    modified: float
    blob: str | None = None
    size: int | None = None
    md5: str | None = None
    sha256: str | None = None
    drive: str | None = None
    writers_can_share: bool = True


@dataclass(frozen=True, slots=True)
class Permission:
    """What somebody may do with a file, by one of `ROLES`; ``file`` is where it was given."""

    id: str
    email: str
    role: str
    file: str


def at_least(role: str | None, needed: str) -> bool:
    """Whether a role may do all that ``needed`` may."""
    return role is not None and ROLES.index(role) >= ROLES.index(needed)


def domain_of(email: str) -> str:
    """The organisation an address belongs to."""
    return email.rpartition("@")[2].lower()


def permission_id(email: str) -> str:
    """The id of a person's permission: the same on every file, as in Drive."""
    return str(int(hashlib.sha256(email.lower().encode()).hexdigest()[:16], 16))


def not_found(file_id: str) -> Refusal:
    """Drive's answer for a file that is not there, and equally for one that the caller may not see."""
    return Refusal(404, f"File not found: {file_id}.", location="fileId")


def insufficient() -> Refusal:
    """Drive's answer for a file that the caller may see, but not use like this."""
    return Refusal(403, "The user does not have sufficient permissions for this file.")


def new_id(length: int = 33) -> str:
    """An id such as Drive makes: 33 characters for files, 44 for spreadsheets, beginning with 1."""
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    return "1" + "".join(secrets.choice(alphabet) for _ in range(length - 1))


def merged_properties(old: Mapping[str, str], changes: Mapping[str, str | None]) -> dict[str, str]:
    """App properties after a change; ``None`` clears one.

    Raises
    ------
    Refusal
        One is too long, or there are too many.
    """
    result = dict(old)
    for key, value in changes.items():
        if value is None:
            result.pop(key, None)
            continue
        if len((key + value).encode()) > _PROPERTY_BYTES:
            raise invalid(
                f"Properties and app properties are limited to {_PROPERTY_BYTES} bytes. "
                "The limit applies to the sum of the key and value in UTF-8."
            )
        result[key] = value
    if len(result) > _PROPERTIES:
        raise Refusal(403, "The limit for app properties was exceeded.", reason="appPropertiesLimitExceeded")
    return result
