"""JSON bodies, as strictly as Google reads them."""

import json
import re
from typing import Any

from addon.simulator.errors import invalid

_ESCAPED_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")


def read_json(content: bytes) -> Any:
    """Read a JSON object; no content at all is ``None``.

    Raises
    ------
    Refusal
        It is not JSON, not UTF-8, holds a number JSON does not have or half of a surrogate pair.
    """
    if not content:
        return None

    def refuse(constant: str) -> Any:
        raise ValueError(constant)

    try:
        body = json.loads(content, parse_constant=refuse)
        if _ESCAPED_SURROGATE.search(content):
            json.dumps(body, ensure_ascii=False).encode("utf-8")
    except ValueError:  # also what is not UTF-8, and half of a surrogate pair
        raise invalid("Invalid JSON payload received. Unexpected token.") from None
    if not isinstance(body, dict):
        raise invalid("Invalid JSON payload received. Root element must be a message.")
    return body
