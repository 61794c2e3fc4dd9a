"""The model port: one prompt in, one typed outcome out.

An adapter never raises for what a provider says: every answer, refusal or breakdown is an `Outcome`,
so that the worker decides by type and no case is forgotten.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens a call consumed; thinking counts as output."""

    input_tokens: int = 0
    output_tokens: int = 0

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(self.input_tokens + other.input_tokens, self.output_tokens + other.output_tokens)


@dataclass(frozen=True, slots=True)
class Prompt:
    """What is asked about one row.

    Parameters
    ----------
    instructions
        What the person wants written, the same for every row of a job.
    fields
        Column title and cell text, in column order: data, never instructions.
    """

    instructions: str
    fields: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Text:
    """A complete, non-blank summary."""

    text: str
    usage: Usage = field(default_factory=Usage)


@dataclass(frozen=True, slots=True)
class Blocked:
    """The provider refused this row; asking again gives the same answer. ``reason`` is its enum word."""

    reason: str
    usage: Usage = field(default_factory=Usage)


@dataclass(frozen=True, slots=True)
class Truncated:
    """The answer hit the output limit; half a summary is never accepted."""

    usage: Usage = field(default_factory=Usage)


@dataclass(frozen=True, slots=True)
class Empty:
    """The call succeeded and said nothing."""

    usage: Usage = field(default_factory=Usage)


@dataclass(frozen=True, slots=True)
class Rejected:
    """The provider calls this one request malformed (HTTP 400): fatal for the row, not for the job."""

    reason: str
    usage: Usage = field(default_factory=Usage)


@dataclass(frozen=True, slots=True)
class Transient:
    """Worth asking again.

    Parameters
    ----------
    reason
        Short class for logs and counts, e.g. ``rate_limited``, ``timeout``, ``server_error``. Never content.
    wait
        Seconds the provider asked to wait, or ``None`` where it named none.
    rate_limited
        The provider says there are too many calls: fewer at a time from now on.
    """

    reason: str
    wait: float | None = None
    rate_limited: bool = False


@dataclass(frozen=True, slots=True)
class Fatal:
    """No row can succeed until a person acts. ``reason`` is one of the job's pause reasons."""

    reason: str


Outcome = Text | Blocked | Truncated | Empty | Rejected | Transient | Fatal


class LanguageModel(Protocol):
    """Summarises one row at a time. Safe to call from many threads at once."""

    @property
    def name(self) -> str:
        """Its public name and version; part of every idempotency key."""

    @property
    def settings(self) -> Mapping[str, str | int | float | bool]:
        """The generation settings that decide its answers; part of every idempotency key."""

    def summarise(self, prompt: Prompt, timeout: float) -> Outcome:
        """Answer within ``timeout`` seconds; never raises for what the provider does."""
