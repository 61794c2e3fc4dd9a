"""The idempotency key of a row, and the hygiene its text goes through first. Pure."""

import hashlib
import json
import re
import unicodedata
from collections.abc import Mapping, Sequence

KEY_VERSION = 1
"""Part of every key: raise it when the way a key is made changes, so that old results count as other work."""

CELL_LIMIT = 50_000
"""Characters one Sheets cell takes; longer writes are refused with HTTP 400."""

SUMMARY_LIMIT = 45_000
"""Longest summary kept, in UTF-16 units: below `CELL_LIMIT` whichever unit Sheets counts in."""

ERROR_VALUES = frozenset(
    {"#REF!", "#N/A", "#DIV/0!", "#NAME?", "#VALUE!", "#NUM!", "#NULL!", "#ERROR!", "Loading..."}
)
"""What `FORMATTED_VALUE` shows for a formula that failed or has not been computed yet."""

_INVISIBLE = re.compile(
    r"[\s\x00-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f"
    r"\u202a-\u202e\u2060-\u206f\u2800\u3164\ufe00-\ufe0f\ufeff\uffa0\U000e0000-\U000e0fff]*"
)
"""Spaces, controls, and what Unicode calls default ignorable: joiners, writing directions, fillers."""

_LONGEST_CHARACTER = 32
"""Code points that may make up one visible character; Unicode's stream-safe text has at most 31."""
_JOINER = "\u200d"
_ATTACHED = re.compile("[\u1160-\u11ff\u200d\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f]")
"""What belongs to the character before it and is no mark: Korean vowels and finals, skin tones, tags."""
_FLAG_LETTER = re.compile("[\U0001f1e6-\U0001f1ff]")
_REPLACEMENT = "\ufffd"


def clean(text: str) -> str:
    """Make cell text fit to be hashed, sent and stored.

    Line ends become ``\\n``; control characters other than newline and tab go (providers refuse them);
    a lone surrogate becomes U+FFFD (it cannot be encoded as UTF-8). Nothing else changes.
    """
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    if text.isascii() and text.isprintable():
        return text
    return "".join(map(_clean_character, text))


def _clean_character(character: str) -> str:
    if character in "\n\t":
        return character
    category = unicodedata.category(character)
    if category == "Cc":
        return ""
    return _REPLACEMENT if category == "Cs" else character


def is_blank(text: str) -> bool:
    """Whether nobody would see anything in the cell: only spaces and invisible characters."""
    return _INVISIBLE.fullmatch(text) is not None


def utf16_units(text: str) -> int:
    """Length in UTF-16 code units, the largest count Sheets could be using."""
    return len(text) + sum(1 for character in text if ord(character) > 0xFFFF)


def cap_summary(text: str) -> str:
    """Shorten a summary to `SUMMARY_LIMIT` UTF-16 units, marked by an ellipsis.

    What people see as one character (a letter with its marks, an emoji of several) is not cut in two.
    """
    if len(text) * 2 <= SUMMARY_LIMIT or utf16_units(text) <= SUMMARY_LIMIT:
        return text
    kept = text.encode("utf-16-le")[: (SUMMARY_LIMIT - 1) * 2].decode("utf-16-le", errors="ignore")
    longest = len(kept)
    for cut in range(longest, longest - _LONGEST_CHARACTER, -1):
        if not _inside_character(text[cut - 1], text[cut]):
            return text[:cut] + "…"
    return kept + "…"  # nobody writes characters that long


def _inside_character(before: str, after: str) -> bool:
    return (
        before == _JOINER
        or unicodedata.category(after).startswith("M")
        or _ATTACHED.match(after) is not None
        or (_FLAG_LETTER.match(before) is not None and _FLAG_LETTER.match(after) is not None)
    )


def idempotency_key(
    model: str,
    settings: Mapping[str, str | int | float | bool],
    instructions: str,
    fields: Sequence[tuple[str, str]],
) -> str:
    """Hash what decides a summary, and nothing else.

    Parameters
    ----------
    model, settings
        Name of the model and its generation settings.
    instructions
        What the person asked for.
    fields
        Column titles and cell texts in column order: the rendered prompt.

    Returns
    -------
    str
        64 hexadecimal digits: SHA-256 of the canonical JSON (sorted keys, no spaces, UTF-8). JSON keeps
        the borders between fields, so ``("a|b", "c")`` and ``("a", "b|c")`` differ.
    """
    canonical = json.dumps(
        [KEY_VERSION, model, dict(settings), instructions, [list(pair) for pair in fields]],
        ensure_ascii=False,
        sort_keys=True,
        separators=(",", ":"),
        allow_nan=False,
    )
    return hashlib.sha256(canonical.encode()).hexdigest()


def text_hash(text: str) -> str:
    """SHA-256 of a summary's UTF-8, in hexadecimal: tells whether a file or a cell still holds it."""
    return hashlib.sha256(text.encode("utf-8", errors="surrogatepass")).hexdigest()


def shard_of(key: str, shards: int) -> int:
    """Which of a job's shards works on ``key``: the same for equal rows, wherever they are or move to."""
    return int(key[:8], 16) % shards
