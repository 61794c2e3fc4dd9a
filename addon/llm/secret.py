"""A provider's key, checked before it can appear in an error of the HTTP library."""

import re

_KEY = re.compile(r"[!-~]{1,4096}")


def check_key(key: str) -> str:
    """The key without blanks around it.

    Raises
    ------
    ValueError
        It is empty or holds what cannot be in a header; the message does not show it.
    """
    key = key.strip()
    if _KEY.fullmatch(key) is None:
        raise ValueError("the API key is empty, or holds blanks or characters that no key has")
    return key
