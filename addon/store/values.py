"""What may be stored and where: paths and values that both adapters take, and how large they are."""

import math
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from addon.store.documents import MAX_DOCUMENT_BYTES, MAX_IN_VALUES, DocumentTooLarge

MAX_ID_BYTES = 1500
"""Longest path segment (Firestore quotas page, "constraints on document IDs")."""

MAX_DEPTH = 20
"""Deepest nesting of lists and dicts (Firestore quotas page)."""

_INT64 = range(-(2**63), 2**63)
_OPERATORS = ("==", "<", "<=", ">", ">=", "in")

TRAIL_FIELD = "_trail"
"""Bookkeeping field of the Firestore adapter, hidden from `Snapshot.data`."""


def check_document(path: str) -> str:
    """Return ``path`` if it names a document.

    Raises
    ------
    ValueError
        It has an odd number of segments, or a segment no store takes.
    """
    if _segments(path) % 2:
        raise ValueError(f"{path!r} names a collection, not a document.")
    return path


def check_collection(path: str) -> str:
    """Return ``path`` if it names a collection; see `check_document`."""
    if not _segments(path) % 2:
        raise ValueError(f"{path!r} names a document, not a collection.")
    return path


def split(path: str) -> tuple[str, str]:
    """Collection and id of a document path."""
    collection, _, identifier = path.rpartition("/")
    return collection, identifier


def _segments(path: str) -> int:
    segments = path.split("/")
    for segment in segments:
        if segment in {"", ".", ".."} or (segment.startswith("__") and segment.endswith("__")):
            raise ValueError(f"{segment!r} in the path {path!r} cannot be a segment of a path.")
        if not segment.isprintable() or len(segment.encode()) > MAX_ID_BYTES:
            raise ValueError(
                f"A segment of the path {path[:80]!r} is longer than {MAX_ID_BYTES} bytes or not printable."
            )
    return len(segments)


def check_field(field: str) -> tuple[str, ...]:
    """Segments of a dotted field name used in a condition or an order.

    Raises
    ------
    ValueError
        A segment is empty or cannot be a field's name.
    """
    segments = tuple(field.split("."))
    for segment in segments:
        _key(segment)
        if not segment or any(character in segment for character in '"`\\'):
            raise ValueError(f"{field!r} cannot be used in a query.")
    return segments


def check_size(path: str, data: Mapping[str, Any]) -> int:
    """Bytes that a document takes by Firestore's rules (page "storage size"), once it is known to fit.

    Raises
    ------
    DocumentTooLarge
        It is near Firestore's limit.
    TypeError, ValueError
        A value that the stores cannot both hold.
    """
    size = _measure_dict(data, 0) + len(path) + 32
    if size > MAX_DOCUMENT_BYTES:
        raise DocumentTooLarge(
            f"The document {path} would take {size:,} bytes; the limit is {MAX_DOCUMENT_BYTES:,}. "
            "Keep long texts in a file and only its id here."
        )
    return size


def check_condition(operator: str, value: Any) -> None:
    """Refuse a comparison that the stores cannot both make.

    Raises
    ------
    TypeError, ValueError
        An unknown operator, a list or a dict to compare with, ``None`` except in ``==``, or an ``in`` with no
        value or too many.
    """
    if operator not in _OPERATORS:
        raise ValueError(f"{operator!r} is no operator of a query; use one of {', '.join(_OPERATORS)}.")
    values = list(value) if operator == "in" else [value]
    if operator == "in" and not 1 <= len(values) <= MAX_IN_VALUES:
        raise ValueError(f"An `in` takes 1 to {MAX_IN_VALUES} values, not {len(values)}; ask several times.")
    for item in values:
        if item is None and operator != "==":
            raise ValueError("A query can only ask whether a field == None.")
        if isinstance(item, list | tuple | dict):
            raise TypeError("A query compares with single values, not with a list or a dict.")
        _measure(item, 0)


def check_direction(direction: str) -> str:
    """Return ``direction`` if it is one."""
    if direction not in ("asc", "desc"):
        raise ValueError(f"{direction!r} is no direction of an order; use asc or desc.")
    return direction


def _measure(value: Any, depth: int) -> int:
    if value is None or isinstance(value, bool):
        return 1
    for kind, measure in _MEASURES:
        if isinstance(value, kind):
            return measure(value, depth)
    raise TypeError(f"A {type(value).__name__} cannot be stored.")


def _measure_text(value: str, _depth: int) -> int:
    return (len(value) if value.isascii() else len(value.encode())) + 1


def _measure_int(value: int, _depth: int) -> int:
    if value not in _INT64:
        raise ValueError("A whole number beyond 64 bits cannot be stored.")
    return 8


def _measure_float(value: float, _depth: int) -> int:
    if not math.isfinite(value):
        raise ValueError("A number that is not finite cannot be stored.")
    return 8


def _measure_datetime(value: datetime, _depth: int) -> int:
    if value.tzinfo is None:
        raise ValueError("A time without its zone cannot be stored; use an aware one.")
    return 8


def _measure_list(value: list[Any] | tuple[Any, ...], depth: int) -> int:
    if depth >= MAX_DEPTH:
        raise ValueError(f"Values nested deeper than {MAX_DEPTH} levels cannot be stored.")
    if any(isinstance(item, list | tuple) for item in value):
        raise ValueError("A list directly in a list cannot be stored; put it into a dict.")
    return sum(_measure(item, depth + 1) for item in value)


def _measure_dict(value: Mapping[str, Any], depth: int) -> int:
    if depth >= MAX_DEPTH:
        raise ValueError(f"Values nested deeper than {MAX_DEPTH} levels cannot be stored.")
    return sum(_key(key) + _measure(item, depth + 1) for key, item in value.items())


def _key(key: str) -> int:
    """Bytes of a field's name, once it is known to be one that both stores take."""
    if not isinstance(key, str):
        raise TypeError(f"A field's name must be a string, not a {type(key).__name__}.")
    if not key or not key.isprintable() or key == TRAIL_FIELD or key.startswith(("$", "__")):
        raise ValueError(f"{key!r} cannot be a field's name.")
    size = len(key.encode()) + 1
    if size > MAX_ID_BYTES:
        raise ValueError(f"The field's name {key[:80]!r} is longer than {MAX_ID_BYTES} bytes.")
    return size


_MEASURES: tuple[tuple[Any, Callable[[Any, int], int]], ...] = (
    (str, _measure_text),
    (int, _measure_int),
    (datetime, _measure_datetime),
    (dict, _measure_dict),
    (list | tuple, _measure_list),
    (float, _measure_float),
)
