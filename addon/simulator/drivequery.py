"""The ``q`` of Drive's ``files.list``, as far as it is imitated."""

import re
from collections.abc import Callable

from addon.simulator.errors import unsupported
from addon.simulator.filemeta import File

_TERM = re.compile(
    r"(?:trashed\s*=\s*(?P<trashed>true|false)"
    r"|name\s*=\s*'(?P<name>(?:[^'\\]|\\.)*)'"
    r"|mimeType\s*=\s*'(?P<mime>[^']*)'"
    r"|'(?P<parent>[^']+)'\s+in\s+parents"
    r"|appProperties\s+has\s*\{\s*key\s*=\s*'(?P<key>[^']*)'\s+and\s+value\s*=\s*'(?P<value>[^']*)'\s*\})"
)


def query(text: str) -> Callable[[File], bool]:
    """Read the ``q`` of ``files.list``: trash, name, type, parent and app properties, joined by ``and``.

    Raises
    ------
    Refusal
        501 for anything else.
    """
    terms: list[dict[str, str | None]] = []
    rest = text.strip()
    while rest:
        match = _TERM.match(rest)
        if match is None:
            raise unsupported("files.list with this q")
        terms.append(match.groupdict())
        rest = rest[match.end() :].strip()
        if rest:
            if not rest.startswith("and "):
                raise unsupported("files.list with this q")
            rest = rest[4:].strip()

    def fits(file: File) -> bool:
        return all(_meets(file, term) for term in terms)

    return fits


def _meets(file: File, term: dict[str, str | None]) -> bool:
    return (
        (term["trashed"] is None or file.trashed == (term["trashed"] == "true"))
        and (term["name"] is None or file.name == re.sub(r"\\(.)", r"\1", term["name"]))
        and (term["mime"] is None or file.mime_type == term["mime"])
        and (term["parent"] is None or term["parent"] in file.parents)
        and (term["key"] is None or file.app_properties.get(term["key"]) == term["value"])
    )
