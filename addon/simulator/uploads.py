"""The three ways a file's content comes to Drive: media, multipart, and resumable."""

import re
import secrets
import threading
from dataclasses import dataclass, field
from typing import Any

from flask import Request

from addon.simulator.errors import Refusal, invalid
from addon.simulator.payload import read_json

_SIMPLE_BYTES = 5 * 1024 * 1024
"""Most bytes of a simple or multipart upload (Drive guide on uploads)."""
_CHUNK = 256 * 1024
"""Parts of a resumable upload but the last are multiples of this (same guide)."""


def metadata_of(request: Request) -> Any:
    """The metadata that an upload request carries beside its content."""
    kind = request.args.get("uploadType")
    if kind == "media" or request.method == "PUT":
        return None
    if kind == "multipart":
        return read_json(_parts(request)[0])
    if kind == "resumable":
        return read_json(request.get_data())
    raise invalid("Invalid value for uploadType: it must be media, multipart or resumable.")


def content_of(request: Request) -> tuple[bytes, str]:
    """Content and MIME type of a simple or multipart upload."""
    if request.args["uploadType"] == "multipart":
        _, content, mime_type = _parts(request)
    else:
        content, mime_type = request.get_data(), request.content_type or "application/octet-stream"
    if len(content) > _SIMPLE_BYTES:
        raise Refusal(413, "Request is too large; use a resumable upload.", reason="uploadTooLarge")
    return content, mime_type


def _parts(request: Request) -> tuple[bytes, bytes, str]:
    """Split ``multipart/related`` by hand: Werkzeug's parser knows form data only."""
    boundary = request.mimetype_params.get("boundary")
    if request.mimetype != "multipart/related" or not boundary:
        raise invalid("Multipart uploads must be multipart/related with a boundary.")
    pieces = (b"\r\n" + request.get_data()).split(b"\r\n--" + boundary.encode())
    if len(pieces) != 4 or not pieces[3].startswith(b"--"):
        raise invalid("Multipart uploads must have exactly two parts.")
    found = []
    for piece in pieces[1:3]:
        head, mark, content = piece.partition(b"\r\n\r\n")
        if not mark:
            raise invalid("A part of the upload has no content.")
        kind = re.search(rb"(?im)^content-type:[ \t]*([^\r\n]+)", head)
        found.append((content, kind[1].decode("latin-1").strip() if kind else "application/octet-stream"))
    return found[0][0], found[1][0], found[1][1]


@dataclass(slots=True)
class Session:
    """A resumable upload that has begun. Sessions are lost when the simulator restarts."""

    file_id: str | None
    metadata: dict[str, Any]
    mime_type: str
    email: str
    received: bytearray = field(default_factory=bytearray)


class Sessions:
    """The resumable uploads going on."""

    def __init__(self) -> None:
        self._sessions: dict[str, Session] = {}
        self._lock = threading.Lock()

    def open(self, session: Session) -> str:
        """Begin an upload and return its id."""
        upload_id = secrets.token_urlsafe(24)
        with self._lock:
            self._sessions[upload_id] = session
        return upload_id

    def get(self, upload_id: str, email: str) -> Session:
        """The upload with this id.

        Raises
        ------
        Refusal
            There is none (any more).
        """
        with self._lock:
            session = self._sessions.get(upload_id)
        if session is None or session.email != email:
            raise Refusal(404, "The upload session was not found; begin a new one.")
        return session

    def close(self, upload_id: str) -> None:
        """End an upload."""
        with self._lock:
            self._sessions.pop(upload_id, None)


def receive(session: Session, request: Request) -> bool:
    """Take in one part of an upload; say whether it is complete.

    Raises
    ------
    Refusal
        The part does not go on where the last one ended.
    """
    content = request.get_data()
    header = request.headers.get("Content-Range")
    if header is None:
        session.received[:] = content
        return True
    match = re.fullmatch(r"bytes (?:(\d+)-(\d+)|\*)/(\d+|\*)", header)
    if match is None:
        raise invalid("Invalid Content-Range.")
    first, last, total = match.groups()
    if first is not None:
        if int(first) != len(session.received) or int(last) - int(first) + 1 != len(content):
            raise invalid("The part does not go on where the last one ended.")
        if (total == "*" or int(last) + 1 < int(total)) and len(content) % _CHUNK:
            raise invalid("Parts but the last must be multiples of 262144 bytes.")
        session.received += content
    return total != "*" and len(session.received) == int(total)
