"""Stored values as Firestore's protocol messages.

The messages are the plain protobuf ones below Google's wrappers, which cost about ten times as much to fill.
"""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from google.cloud.firestore_v1.types import Document, Value

from addon.store.documents import Data

DocumentMessage: Any = Document.pb()
ValueMessage: Any = Value.pb()

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def encode_fields(data: Mapping[str, Any], fields: Any) -> None:
    """Put every field of ``data`` into the message map ``fields``."""
    for name, value in data.items():
        encode(value, fields[name])


def encode(value: Any, message: Any) -> None:
    """Put one value, known to be storable, into a ``Value`` message."""
    if isinstance(value, str):
        message.string_value = value
    elif value is None:
        message.null_value = 0
    elif isinstance(value, bool):  # before int, whose subclass it is
        message.boolean_value = value
    elif isinstance(value, int):
        message.integer_value = value
    elif isinstance(value, float):
        message.double_value = value
    elif isinstance(value, datetime):
        set_timestamp(message.timestamp_value, value)
    elif isinstance(value, dict):
        message.map_value.SetInParent()
        encode_fields(value, message.map_value.fields)
    else:
        message.array_value.SetInParent()
        for item in value:
            encode(item, message.array_value.values.add())


def decode_fields(fields: Any) -> Data:
    """A fresh dict of a message map."""
    return {name: decode(value) for name, value in fields.items()}


def decode(message: Any) -> Any:
    """The value of a ``Value`` message."""
    kind = message.WhichOneof("value_type")
    if kind in _SCALARS:
        return getattr(message, kind)
    if kind == "timestamp_value":
        return to_datetime(message.timestamp_value)
    if kind == "map_value":
        return decode_fields(message.map_value.fields)
    if kind == "array_value":
        return [decode(item) for item in message.array_value.values]
    return None


_SCALARS = frozenset({"string_value", "integer_value", "boolean_value", "double_value"})


def set_timestamp(message: Any, time: datetime) -> None:
    """Put an aware time into a ``Timestamp`` message, to the microsecond."""
    since = time - EPOCH
    message.seconds = since.days * 86_400 + since.seconds
    message.nanos = since.microseconds * 1000


def to_datetime(message: Any) -> datetime:
    """The time of a ``Timestamp`` message, cut to the microsecond."""
    return EPOCH + timedelta(seconds=message.seconds, microseconds=message.nanos // 1000)
