"""What an access token may do: the OAuth scopes that each method accepts, and what ``drive.file`` reaches."""

import re
from collections.abc import Callable, Collection, Iterator
from typing import Any

from flask import Request

from addon.simulator.errors import Refusal
from addon.simulator.filemeta import not_found

PREFIX = "https://www.googleapis.com/auth/"
DRIVE_FILE = f"{PREFIX}drive.file"

_CHANGE = "drive drive.file"
_METADATA = f"{_CHANGE} drive.metadata drive.metadata.readonly drive.readonly"
_CELLS = f"{_CHANGE} spreadsheets"
_FILE = r"/drive/v3/files/(?!(?:trash|generateCseToken)$)[^/]+"
_BOOK = r"/v4/spreadsheets/[^/:]+"

_METHODS = (
    ("GET", r"/drive/v3/about", _METADATA),
    ("GET", r"/drive/v3/files/generateIds", _CHANGE),
    ("GET", r"/drive/v3/files", _METADATA),
    ("POST", r"(/upload)?/drive/v3/files", _CHANGE),
    ("PUT", rf"/upload/drive/v3/files|/upload{_FILE}", _CHANGE),  # a part of a resumable upload
    ("GET", _FILE, _METADATA),
    ("PATCH", rf"(/upload)?{_FILE}", f"{_CHANGE} drive.metadata"),
    ("DELETE", _FILE, _CHANGE),
    ("GET", rf"{_FILE}/permissions", _METADATA),
    ("POST", rf"{_FILE}/permissions", _CHANGE),
    ("DELETE", rf"{_FILE}/permissions/[^/]+", _CHANGE),
    ("GET", _BOOK, f"{_CELLS} drive.readonly spreadsheets.readonly"),
    ("GET", rf"{_BOOK}/values/.+", f"{_CELLS} drive.readonly spreadsheets.readonly"),
    ("POST", rf"{_BOOK}/values:batchGetByDataFilter", _CELLS),
    ("POST", rf"{_BOOK}:batchUpdate", _CELLS),
)
"""Verb, path and accepted scopes of the methods that are imitated, as Google's discovery documents list them.

Left out are scopes that reach other things than the files here: ``drive.appdata``, ``drive.meet.readonly``,
``drive.photos.readonly`` and ``drive.scripts``.
"""


def accepted(verb: str, path: str) -> frozenset[str] | None:
    """The scopes one of which a method asks for; ``None`` for what is no method of Sheets or Drive."""
    for known_verb, pattern, names in _METHODS:
        if verb == known_verb and re.fullmatch(pattern, path):
            return frozenset(PREFIX + name for name in names.split())
    return None


def allows(verb: str, path: str, scopes: Collection[str]) -> bool:
    """Whether a token with these scopes may call the method; which files it reaches is another question."""
    wanted = accepted(verb, path)
    return wanted is None or not wanted.isdisjoint(scopes)


def app_files_only(caller: Any, request: Request) -> bool:
    """Whether only ``drive.file`` lets the caller in, so that nothing but the add-on's own files is there.

    A caller without ``scopes`` has them all.
    """
    wanted = accepted(request.method, request.path)
    scopes: Collection[str] | None = getattr(caller, "scopes", None)
    return wanted is not None and scopes is not None and wanted & frozenset(scopes) == {DRIVE_FILE}


def check(caller: Any, request: Request, body: Any, granted: Callable[[str, str], bool]) -> None:
    """Refuse what the caller's token may not do; for every request to Sheets and Drive, once it is parsed.

    Parameters
    ----------
    caller
        Whose token it is, with ``email`` and ``scopes``; without scopes it has them all.
    body
        The request's JSON, of an upload its metadata.
    granted
        Whether a file (by id) was created or opened with the add-on for a person (by address).

    Raises
    ------
    Refusal
        403 for a missing scope; for a file that ``drive.file`` does not reach Drive's 404 or Sheets' 403.
    """
    scopes: Collection[str] | None = getattr(caller, "scopes", None)
    if scopes is None:
        return
    if not allows(request.method, request.path, scopes):
        raise Refusal(
            403,
            "Request had insufficient authentication scopes.",
            reason="insufficientPermissions",
            word="ACCESS_TOKEN_SCOPE_INSUFFICIENT",
        )
    if not app_files_only(caller, request):
        return
    for file_id in _files_of(request, body):
        if not granted(file_id, caller.email):
            if request.path.startswith("/v4/"):
                raise Refusal(403, "The caller does not have permission")
            raise not_found(file_id)


def _files_of(request: Request, body: Any) -> Iterator[str]:
    """Every file that a request is about, or wants to put something into."""
    arguments = request.view_args or {}
    yield from (arguments[name] for name in ("file_id", "spreadsheet_id") if name in arguments)
    parents = body.get("parents") or () if isinstance(body, dict) else ()
    yield from (str(parent) for parent in parents if parent != "root")
    if "addParents" in request.args:
        yield request.args["addParents"]
