"""Stored values as JSON text: what SQLite keeps and can look into."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from addon.store.documents import Data

TIME_KEY = "$t"
"""Key of the object that stands for a time; no field may begin with ``$`` (see `addon.store.values`)."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def microseconds(time: datetime) -> int:
    """Whole microseconds since 1970."""
    return (time - _EPOCH) // timedelta(microseconds=1)


def dumps(data: Mapping[str, Any]) -> str:
    """JSON text in which a time is ``{"$t": microseconds}``."""
    return _encode(data)


def loads(text: str) -> Data:
    """A fresh copy of what `dumps` wrote."""
    # The hook costs a call per object, and most documents that are read in bulk hold no time.
    data: Data = _decode(text) if f'"{TIME_KEY}"' in text else json.loads(text)
    return data


def merged(text: str, changes: str) -> str:
    """``text`` with the top-level fields of ``changes`` in place of its own."""
    return _encode(json.loads(text) | json.loads(changes))


def _default(value: Any) -> Any:
    return {TIME_KEY: microseconds(value)} if isinstance(value, datetime) else dict(value)


def _hook(value: dict[str, Any]) -> Any:
    if TIME_KEY in value:
        return _EPOCH + timedelta(microseconds=value[TIME_KEY])
    return value


# Made once: `json.loads` and `json.dumps` would make new ones at every call.
_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), default=_default).encode
_decode = json.JSONDecoder(object_hook=_hook).decode
