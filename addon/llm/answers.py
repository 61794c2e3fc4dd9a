"""What providers' answers have in common: their JSON, words, counts and waits, read with suspicion. Pure."""

import json
import math
import re
import time
from email.utils import parsedate_to_datetime
from typing import Any

from addon.llm.base import Empty, Outcome, Text, Transient, Usage
from addon.llm.http import Reply
from addon.rows.keys import clean, is_blank

LONGEST_WAIT = 24 * 3600.0
"""Seconds; a provider that asks for more is taken to mean a day."""

_WORD = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,59}")
_DURATION = re.compile(r"(\d{1,9}(?:\.\d{1,9})?)s")
_THINKING = re.compile(r"\s*<think>(?:.*?</think>|.*\Z)", re.DOTALL)


def word(value: object, default: str) -> str:
    """``value`` where it is a plain enum word; anything else may be a sentence that quotes content."""
    return value if isinstance(value, str) and _WORD.fullmatch(value) else default


def count(value: object) -> int:
    """A number of tokens; 0 where a provider reports none or nonsense."""
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 < value < 10**9 else 0


def string(value: object) -> str:
    """``value`` where it is a string, otherwise an empty one."""
    return value if isinstance(value, str) else ""


def mapping(value: object) -> dict[str, Any]:
    """``value`` where it is a JSON object, otherwise an empty one."""
    return value if isinstance(value, dict) else {}


def items(value: object) -> list[Any]:
    """``value`` where it is a JSON list, otherwise an empty one."""
    return value if isinstance(value, list) else []


def read(reply: Reply) -> dict[str, Any] | Transient:
    """The JSON object of a success, or why it is none: asking again may bring one."""
    if not reply.body.strip():
        return Transient("empty_answer")
    if reply.headers.get("Content-Type", "").lower().startswith("text/html"):
        return Transient("html_answer")
    try:
        data = json.loads(reply.body)
    except (ValueError, RecursionError):
        return Transient("broken_json")
    return data if isinstance(data, dict) else Transient("unexpected_json")


def said(text: str, usage: Usage) -> Outcome:
    """The outcome of a complete answer: its text without thinking, or `Empty`.

    Open models behind servers that do not know of thinking write it into the text, between ``<think>``
    tags.
    """
    text = clean(_THINKING.sub("", text, count=1) if text.lstrip().startswith("<think>") else text).strip()
    return Empty(usage) if is_blank(text) else Text(text, usage)


def duration(value: object) -> float | None:
    """Seconds of a JSON duration such as ``53s`` or ``3.5s``."""
    found = _DURATION.fullmatch(value) if isinstance(value, str) else None
    return min(float(found[1]), LONGEST_WAIT) if found else None


def retry_after(reply: Reply) -> float | None:
    """Seconds that the headers ask to wait: ``retry-after-ms``, or ``Retry-After`` as a number or a date."""
    for name, unit in (("retry-after-ms", 0.001), ("Retry-After", 1.0)):
        seconds = _number(reply.headers.get(name))
        if seconds is not None:
            return min(seconds * unit, LONGEST_WAIT)
    try:
        date = parsedate_to_datetime(reply.headers.get("Retry-After", ""))
        return min(max(0.0, date.timestamp() - time.time()), LONGEST_WAIT)
    except (ValueError, OverflowError):
        return None


def _number(value: str | None) -> float | None:
    try:
        number = float(value or "")
    except ValueError:
        return None
    return number if number >= 0 and math.isfinite(number) else None
