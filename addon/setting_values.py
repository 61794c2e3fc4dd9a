"""How a setting's text becomes its value, or a ``ValueError`` with half a sentence: "must …"."""

import base64
import re
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

PROVIDERS = ("gemini", "vertex", "openai")
"""Hosted models, named ``provider:model``."""

KEY_BYTES = 32
"""Length of a key for AES-256."""

_EMAIL = re.compile(r"[^@\s,]+@[^@\s,]+\.[^@\s,]+")
_HOSTED = re.compile(rf"({'|'.join(PROVIDERS)}):[A-Za-z0-9][\w.:/@-]{{0,99}}")
_FACTORY = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_]\w*")
_WORD = re.compile(r"[A-Za-z0-9_.:-]+")
_PRICE = re.compile(r"\d{1,5}(\.\d{1,6})?,\d{1,5}(\.\d{1,6})?")


def is_loopback(url: str) -> bool:
    """Whether ``url`` points at this machine."""
    return urlsplit(url).hostname in {"127.0.0.1", "localhost", "::1"}


def text(value: str) -> str:
    """Any text."""
    return value


def word(value: str) -> str:
    """An identifier of Google's: no spaces, quotes or slashes."""
    if not _WORD.fullmatch(value):
        raise ValueError("must be one word of letters, digits, dots, colons, hyphens and underscores")
    return value


def choice(*allowed: str) -> Callable[[str], str]:
    """One of a few words."""

    def parse(value: str) -> str:
        if value not in allowed:
            raise ValueError(f"must be one of {', '.join(allowed)}")
        return value

    return parse


def number(kind: type[int] | type[float], low: float, high: float) -> Callable[[str], int | float]:
    """A number from ``low`` to ``high``."""

    def parse(value: str) -> int | float:
        noun = "a whole number" if kind is int else "a number"
        try:
            found = kind(value)
        except ValueError:
            raise ValueError(f"must be {noun} from {low:g} to {high:g}") from None
        if not low <= found <= high:
            raise ValueError(f"must be {noun} from {low:g} to {high:g}")
        return found

    return parse


def path(value: str) -> Path:
    """A path; ``~`` stands for the home folder."""
    try:
        return Path(value).expanduser()
    except RuntimeError:
        raise ValueError("must not begin with ~ and a name that has no home folder here") from None


def url(value: str) -> str:
    """A root URL, without the slash at its end."""
    try:
        parts = urlsplit(value)
        complete = parts.scheme in {"http", "https"} and parts.hostname and parts.port != 0
    except ValueError:  # brackets that do not match, or a port that is no number
        complete = False
    if not complete or parts.query or parts.fragment:
        raise ValueError("must be a URL such as https://summaries.example.com")
    if parts.scheme == "http" and not is_loopback(value):
        raise ValueError("must use https, unless it points at this machine (127.0.0.1 or localhost)")
    return value.rstrip("/")


def email(value: str) -> str:
    """One e-mail address."""
    if not _EMAIL.fullmatch(value):
        raise ValueError("must be an e-mail address")
    return value


def emails(value: str) -> tuple[str, ...]:
    """E-mail addresses with commas between them, compared without regard to case."""
    found = tuple(item.strip().casefold() for item in value.split(","))
    if not all(map(_EMAIL.fullmatch, found)):
        raise ValueError("must be e-mail addresses with commas between them")
    return found


def issuers(value: str) -> tuple[str, ...]:
    """Issuers of ID tokens with commas between them."""
    found = tuple(item.strip() for item in value.split(","))
    if not all(re.fullmatch(r"[\w.:/-]+", item) for item in found):
        raise ValueError("must be issuers with commas between them, such as https://accounts.google.com")
    return found


def model(value: str) -> str:
    """A model of ours, of a provider's, or of somebody else's."""
    if value == "builtin" or _HOSTED.fullmatch(value):
        return value
    if value.partition(":")[0] in PROVIDERS or not _FACTORY.fullmatch(value):
        raise ValueError(
            "must be builtin, gemini:MODEL, vertex:MODEL, openai:MODEL, "
            "or package.module:function that makes a LanguageModel"
        )
    return value


def price(value: str) -> str:
    """Two prices with a comma between them."""
    if not _PRICE.fullmatch(value):
        raise ValueError("must be US dollars per million input and output tokens, such as 0.10,0.40")
    return value


def keys(value: str) -> tuple[bytes, ...]:
    """Keys for AES-256, with commas between them."""
    try:
        found = tuple(base64.b64decode(item.strip(), validate=True) for item in value.split(","))
    except ValueError:
        found = ()
    if not found or any(len(key) != KEY_BYTES for key in found):
        raise ValueError(
            "must be 32 bytes each in base64, with commas between them (openssl rand -base64 32)"
        )
    return found
