"""Partial responses: ``fields=id,sheets(properties(sheetId))`` as Google's APIs read it."""

import re
from typing import Any

from addon.simulator.errors import Refusal

Mask = dict[str, "Mask"]
"""Wanted names and what is wanted below each; an empty mask wants everything."""

_TOKEN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*|\*|[(),./]")


def parse_fields(text: str) -> Mask:
    """Read a ``fields`` parameter.

    Raises
    ------
    Refusal
        It is not well formed.
    """
    tokens = _TOKEN.findall(text)
    if "".join(tokens) != re.sub(r"\s", "", text) or not tokens:
        raise _bad(text)
    mask, rest = _selection(tokens, text)
    if rest:
        raise _bad(text)
    return mask


def _selection(tokens: list[str], text: str) -> tuple[Mask, list[str]]:
    mask: Mask = {}
    while True:
        level = mask
        while True:
            if not tokens or tokens[0] in "(),./":
                raise _bad(text)
            level = level.setdefault(tokens[0], {})
            tokens = tokens[1:]
            if not tokens or tokens[0] not in "./":
                break
            tokens = tokens[1:]
        if tokens and tokens[0] == "(":
            below, tokens = _selection(tokens[1:], text)
            if not tokens or tokens[0] != ")":
                raise _bad(text)
            level.update(below)
            tokens = tokens[1:]
        if not tokens or tokens[0] != ",":
            return mask, tokens
        tokens = tokens[1:]


def select(mask: Mask, value: Any) -> Any:
    """What ``mask`` wants of ``value``."""
    if not mask or ("*" in mask and not mask["*"]):
        return value
    if isinstance(value, list):
        return [select(mask, item) for item in value]
    if not isinstance(value, dict):
        return value
    below = {name: mask.get(name, mask.get("*")) for name in value}
    return {name: select(wanted, value[name]) for name, wanted in below.items() if wanted is not None}


def _bad(text: str) -> Refusal:
    return Refusal(400, f"Invalid field selection {text}", reason="invalidParameter", location="fields")
