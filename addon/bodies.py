"""Request bodies: read as JSON within limits, so that no caller makes the service work for nothing."""

import json
from collections.abc import Sequence
from typing import Any

from flask import Request
from werkzeug.exceptions import BadRequest, RequestEntityTooLarge, UnsupportedMediaType

DEEPEST = 32
"""Levels of nesting; an event object has some 8."""


def json_body(request: Request, most: int) -> Any:
    """The request's body.

    Parameters
    ----------
    most
        Bytes it may have.

    Raises
    ------
    HTTPException
        415 where it is not declared as JSON, 413 where it is too large, 400 where it is not JSON in UTF-8 (as
        RFC 8259 has it: no ``NaN``), nested more than `DEEPEST` levels, or names a field twice: whoever
        checks it and whoever uses it could otherwise read different values.
    """
    if request.mimetype != "application/json":
        raise UnsupportedMediaType("The body must be JSON (Content-Type: application/json).")
    request.max_content_length = most
    try:
        raw = request.get_data()
        if request.content_length is None and len(raw) >= most:  # chunks are cut at the limit
            raise RequestEntityTooLarge
        body = json.loads(raw.decode(), object_pairs_hook=_once, parse_constant=_no_number)
    except (ValueError, RecursionError):
        raise BadRequest("The body is not JSON, or is nested too deeply.") from None
    if _depth(body) > DEEPEST:
        raise BadRequest("The body is not JSON, or is nested too deeply.")
    return body


def _once(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a field is named twice")
    return found


def _no_number(name: str) -> None:
    raise ValueError(f"{name} is no number")


def _depth(value: Any) -> int:
    depth, level = 0, [value]
    while level:
        depth += 1
        level = [
            child
            for node in level
            if isinstance(node, dict | list)
            for child in (node.values() if isinstance(node, dict) else node)
        ]
    return depth
