"""The deployment descriptor: which URLs of this service Google calls, and with which scopes.

The template is ``manifests/deployment.json`` beside the package, in a checkout as in the container image.
"""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from addon.setting_values import is_loopback
from addon.sidebar.text import Words

TEMPLATE = Path(__file__).resolve().parent.parent / "manifests" / "deployment.json"

_PLACEHOLDER = re.compile(r"\{(\w+)\}")


class ManifestError(Exception):
    """The descriptor cannot be made; the message is the sentence for the operator."""


def read_template(path: Path = TEMPLATE) -> Any:
    """Read the template.

    Raises
    ------
    ManifestError
        It is not there, which is so where the package was installed without its checkout.
    """
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ManifestError(
            f"The template {path} cannot be read ({error.strerror}): run this in a checkout of the project, "
            "or in its container image."
        ) from None


def render(template: Any, base_url: str, words: Words, name: str = "") -> Any:
    """Return the template with its placeholders filled.

    Parameters
    ----------
    base_url
        Public URL of the service, as in ``ADDON_BASE_URL``: the audience of Google's tokens is made of it.
    words
        The language of the labels in the add-on's menu and of its name. Google keeps one text for everybody.
    name
        What the add-on is called; by default the product's name.

    Raises
    ------
    ManifestError
        Google could not call ``base_url``.
    """
    values = {
        "base_url": _checked(base_url),
        "name": name.strip() or words("product"),
        "status_label": words("status.menu"),
        "help_label": words("help.menu"),
    }
    return _filled(template, values)


def _filled(value: Any, values: Mapping[str, str]) -> Any:
    if isinstance(value, str):
        return _PLACEHOLDER.sub(lambda found: values[found[1]], value)
    if isinstance(value, list):
        return [_filled(item, values) for item in value]
    if isinstance(value, dict):
        return {key: _filled(item, values) for key, item in value.items()}
    return value


def _checked(base_url: str) -> str:
    """The URL without a slash at its end, if Google can call it."""
    url = base_url.strip()
    if "@" in url:  # first, so that no other sentence shows a password
        raise ManifestError("The URL must hold no user name or password, so no @.")
    try:
        parts = urlsplit(url)
        complete = bool(parts.hostname) and parts.port != 0
    except ValueError:  # brackets that do not match, or a port that is no number
        complete = False
    if not complete or re.search(r"\s", url):
        raise ManifestError(f"{url!r} is not a URL such as https://summaries.example.com.")
    if parts.scheme != "https":
        raise ManifestError(f"{url!r} must begin with https://: Google calls nothing else.")
    if parts.query or parts.fragment or "?" in url or "#" in url:
        raise ManifestError(f"{url!r} must have no query (?…) and no fragment (#…): paths are added to it.")
    if is_loopback(url):
        raise ManifestError(f"{url!r} is this machine, which Google cannot call.")
    return url.rstrip("/")
