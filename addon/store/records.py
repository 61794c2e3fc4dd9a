"""Dataclasses that are stored as they are."""

from collections.abc import Mapping
from dataclasses import asdict, fields
from typing import Any, Self


class Record:
    """Base of dataclasses whose fields are a document's fields."""

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> Self:
        """Build from stored fields; fields of a newer version are ignored."""
        known = {item.name for item in fields(cls)}  # type: ignore[arg-type]
        return cls(**{name: value for name, value in data.items() if name in known})

    def to_data(self) -> dict[str, Any]:
        """All fields, ready to be stored."""
        return asdict(self)  # type: ignore[call-overload, no-any-return]
