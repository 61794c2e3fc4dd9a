"""The log: named events with small fields, and what lines belong to; `loglines` makes lines of them.

A line never carries content. Fields are numbers, truth values and single words; of exceptions only class and
place are written, for their messages may quote a row.
"""

import logging
import math
import re
import threading
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar, Token
from pathlib import Path
from types import MappingProxyType
from typing import Any, ParamSpec, Protocol, TypeVar

Value = str | int | float | bool
"""What a field may hold."""

P = ParamSpec("P")
R = TypeVar("R")

WITHHELD = "withheld"
"""Stands for a value that is no single word; the field is named in ``flagged``."""

_SINGLE_WORD = re.compile(r"[A-Za-z0-9_.:/<>-]{0,120}")
_REASON = re.compile(r"[A-Za-z0-9_.:-]{1,60}")
_TRACEPARENT = re.compile(
    r"(?!ff)([0-9a-f]{2})-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-[0-9a-f]{2}(-.*)?"
)
_CLOUD_TRACE = re.compile(r"(?!0{32})([0-9a-fA-F]{32})(?:/([0-9]{1,20}))?(?:;.{0,20})?")

_NOTHING: Mapping[str, Value] = MappingProxyType({})
_bound: ContextVar[Mapping[str, Value]] = ContextVar("addon_log_bound", default=_NOTHING)
_strict = threading.Event()


class Headers(Protocol):
    """Request headers, looked up regardless of case."""

    def get(self, key: str, default: str) -> str:
        """The value of a header."""


# events


def be_strict() -> None:
    """Raise where a field is no number, truth value or single word; for tests."""
    _strict.set()


def event(
    logger: logging.Logger, name: str, *, severity: int = logging.INFO, said: str = "", **fields: Value
) -> None:
    """Log an event.

    Parameters
    ----------
    name
        Its name, which metrics are made from.
    said
        The sentence for people, with fields in braces; name and fields where there is none.
    fields
        Numbers, truth values and single words of at most 120 characters. Anything else is replaced by
        `WITHHELD`, and the field is named in the field ``flagged``.

    Raises
    ------
    ValueError
        A field is none of these, and `be_strict` was called.
    """
    if not (logger.isEnabledFor(severity) or _strict.is_set()):
        return
    checked: dict[str, Any] = {field: _checked(value) for field, value in fields.items()}
    flagged = [field for field, value in checked.items() if value is None]
    if flagged:
        if _strict.is_set():
            raise ValueError(f"event {name}: no number, truth value or single word in {', '.join(flagged)}")
        checked |= dict.fromkeys(flagged, WITHHELD) | {"flagged": flagged}
    message = said.format_map(checked) if said else listed(name, checked)
    logger.log(severity, message, extra={"event": name, "fields": checked}, stacklevel=2)


def _checked(value: object) -> Value | None:
    if isinstance(value, bool | int):
        return value
    if isinstance(value, float) and math.isfinite(value):
        return round(value, 3)
    return value if isinstance(value, str) and _SINGLE_WORD.fullmatch(value) else None


def listed(name: str, fields: Mapping[str, Any]) -> str:
    """A line for people: ``name field=value field=value``."""
    return " ".join([name, *(f"{field}={value}" for field, value in fields.items())])


def word(detail: str) -> str:
    """Somebody else's reason if it is one word, else nothing: a sentence may hold content."""
    return detail if _REASON.fullmatch(detail) else ""


def code(sentence: str) -> str:
    """A sentence of ours as one word."""
    return re.sub(r"[^A-Za-z0-9_.:-]+", "_", sentence)[:120]


def place_of(error: BaseException) -> str:
    """File and line where an exception was raised; nothing where it was not raised."""
    frames = traceback.extract_tb(error.__traceback__)
    return f"{Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else ""


# what lines belong to


def bind(**fields: Value) -> Token[Mapping[str, Value]]:
    """Add fields to every line this thread writes, libraries' included, until `unbind`.

    What is no number, truth value or single word is replaced by `WITHHELD`.
    """
    checked = {field: WITHHELD if _checked(value) is None else value for field, value in fields.items()}
    return _bound.set({**_bound.get(), **checked})


def unbind(token: Token[Mapping[str, Value]]) -> None:
    """Take back what `bind` has added."""
    _bound.reset(token)


@contextmanager
def bound(**fields: Value) -> Iterator[None]:
    """Add fields to every line this thread writes until the block ends."""
    token = bind(**fields)
    try:
        yield
    finally:
        unbind(token)


def carried(function: Callable[P, R]) -> Callable[P, R]:
    """``function`` for another thread: its lines there belong to what this thread's belong to now."""
    fields = _bound.get()

    def run(*args: P.args, **kwargs: P.kwargs) -> R:
        token = _bound.set(fields)
        try:
            return function(*args, **kwargs)
        finally:
            _bound.reset(token)

    return run


def belonging() -> Mapping[str, Value]:
    """What this thread's lines belong to now; ``trace`` and ``span`` among it."""
    return _bound.get()


def who() -> str:
    """Who acts: the bound ``who``, which is the hash of a person's id, else ``system``."""
    return str(_bound.get().get("who", "system"))


def trace_of(headers: Headers) -> dict[str, str]:
    """``trace`` (32 hex digits) and ``span`` (16) of a request, as far as its headers tell them.

    Sources: W3C Trace Context, section 3.2; Google's ``X-Cloud-Trace-Context: TRACE/SPAN;o=OPTIONS``, whose
    span is decimal.
    """
    found = _TRACEPARENT.fullmatch(headers.get("traceparent", ""))
    if found and not (found[1] == "00" and found[4]):  # only later versions may say more
        return {"trace": found[2], "span": found[3]}
    found = _CLOUD_TRACE.fullmatch(headers.get("X-Cloud-Trace-Context", ""))
    if not found:
        return {}
    span = int(found[2] or 0)
    return {"trace": found[1].lower(), **({"span": f"{span:016x}"} if 0 < span < 2**64 else {})}
