"""Sending content to Drive: along with its request while it is small, resumable when it is large."""

import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from addon.google.answers import Answer
from addon.google.errors import TryAgain
from addon.google.session import Budget, Session

SMALL_BYTES = 5 * 1024 * 1024
"""Largest content of a simple or multipart upload (Drive's upload guide: 5 MB)."""

ROUNDS = 3
"""How often a large upload is begun; one that breaks off is begun anew, for it replaces the whole content."""


@dataclass(frozen=True, slots=True)
class Content:
    """Bytes and what they are."""

    data: bytes
    mime_type: str


def upload(
    session: Session,
    method: str,
    url: str,
    params: Mapping[str, str],
    metadata: Mapping[str, Any],
    content: Content,
    budget: Budget,
) -> Answer:
    """Send content, with metadata where there is any; sending it twice must do no harm.

    Raises
    ------
    TryAgain, Refused
        As `Session.request`.
    """
    if len(content.data) > SMALL_BYTES:
        return _in_rounds(session, method, url, params, metadata, content, budget)
    if metadata:
        kind, (headers, body) = "multipart", _multipart(metadata, content)
    else:
        kind, headers, body = "media", {"Content-Type": content.mime_type}, content.data
    return session.request(
        method,
        url,
        service="Drive",
        idempotent=True,
        params={"uploadType": kind, **params},
        body=body,
        headers=headers,
        wants_json=True,
        deadline=budget.left(),
    )


def _multipart(metadata: Mapping[str, Any], content: Content) -> tuple[dict[str, str], bytes]:
    """Metadata and content as ``multipart/related`` (RFC 2387): one JSON part, one media part."""
    boundary = secrets.token_hex(24)
    json_part = (
        f"--{boundary}\r\nContent-Type: application/json; charset=UTF-8\r\n\r\n{json.dumps(metadata)}\r\n"
    )
    media_part = f"--{boundary}\r\nContent-Type: {content.mime_type}\r\n\r\n"
    body = json_part.encode() + media_part.encode() + content.data + f"\r\n--{boundary}--\r\n".encode()
    return {"Content-Type": f"multipart/related; boundary={boundary}"}, body


def _in_rounds(
    session: Session,
    method: str,
    url: str,
    params: Mapping[str, str],
    metadata: Mapping[str, Any],
    content: Content,
    budget: Budget,
) -> Answer:
    headers = {"X-Upload-Content-Type": content.mime_type, "X-Upload-Content-Length": str(len(content.data))}
    for attempt in range(1, ROUNDS + 1):
        opened = session.request(
            method,
            url,
            service="Drive",
            idempotent=True,
            params={"uploadType": "resumable", **params},
            json=metadata,
            headers=headers,
            deadline=budget.left(),
        )
        try:
            return session.request(
                "PUT",
                _place(opened, url),
                service="Drive",
                idempotent=False,
                body=content.data,
                headers={"Content-Type": content.mime_type},
                wants_json=True,
                deadline=budget.left(),
            )
        except TryAgain as error:
            if attempt == ROUNDS or not error.outcome_unknown or not session.pause(error.wait, budget):
                raise
    raise AssertionError("unreachable: the last round returns or raises")


def _place(opened: Answer, url: str) -> str:
    """Where to send the content: on the same server only, for the token goes there too."""
    place = opened.headers.get("Location", "")
    if urlsplit(place)[:2] != urlsplit(url)[:2]:
        raise TryAgain(
            "Drive named no usable place to send a large file to; try again later.",
            service="Drive",
            status=opened.status,
            reason="no_upload_address",
        )
    return place
