"""What Google posts to the sidebar's routes, read tolerantly into one typed `Event`.

Shape: https://developers.google.com/workspace/add-ons/reference/event-object. Google leaves out what is
empty (an unticked widget, a map with nothing in it, ``sheets`` before the person granted the file), so
a field that is absent or of another type than documented counts as absent. Fields this product has no
use for, and the duplicates of the older Gmail format at the top level, are not read at all.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta, timezone
from typing import Any

FORM_PARAMETER = "form"
"""Parameter in which a "Try again" button carries what the form held when its click failed."""

_ID = re.compile(r"[A-Za-z0-9_-]{1,128}")
_WIDEST_OFFSET = timedelta(hours=18)
"""Real zones reach from -12 to +14 hours; a larger offset is not a time zone."""


class BadEvent(Exception):
    """The request's body is no event object; nothing was done."""


@dataclass(frozen=True, slots=True)
class Event:
    """One call from the sidebar.

    Parameters
    ----------
    locale
        Language tag such as ``ja`` or ``en-GB``; empty where Google sent none.
    zone
        The person's offset from UTC at the moment, or ``None`` where Google sent none.
    parameters
        What the clicked button carried. Card state that the person's browser held: never proof of anything.
    form
        Chosen or typed values by widget name. A widget left empty is not in it.
    sheets_id
        The open spreadsheet, empty before the file grant (and, some report, in clicks).
    scopes
        Scopes the person granted; empty where Google did not list them.
    """

    locale: str
    zone: timezone | None
    parameters: Mapping[str, str]
    form: Mapping[str, tuple[str, ...]]
    sheets_id: str
    scopes: tuple[str, ...]

    @property
    def spreadsheet_id(self) -> str:
        """The spreadsheet the card was made for, else the open one; empty if neither is known."""
        return self.identifier("spreadsheetId") or self.sheets_id

    def identifier(self, name: str) -> str:
        """Return a parameter that is used as an id or in a path; empty if absent or not shaped like one."""
        value = self.parameters.get(name, "")
        return value if _ID.fullmatch(value) else ""

    def value(self, name: str) -> str | None:
        """Return the only or first value of a form widget, ``None`` if it was left empty."""
        return next(iter(self.form.get(name, ())), None)


def parse_event(body: object) -> Event:
    """Read a decoded JSON body.

    Raises
    ------
    BadEvent
        The body is not a JSON object. Nothing else is raised, whatever the body holds.
    """
    if not isinstance(body, dict):
        raise BadEvent("The body must be one JSON object.")
    common = _object(body, "commonEventObject")
    parameters = {
        _clean(name): _clean(value)
        for name, value in _object(common, "parameters").items()
        if isinstance(value, str)
    }
    form = _form(_object(common, "formInputs")) or _kept_form(parameters.get(FORM_PARAMETER, ""))
    sheets_id = _text(_object(body, "sheets"), "id")
    scopes = _object(body, "authorizationEventObject").get("authorizedScopes")
    return Event(
        locale=_text(common, "userLocale"),
        zone=_zone(_object(common, "timeZone").get("offset")),
        parameters=parameters,
        form=form,
        sheets_id=sheets_id if _ID.fullmatch(sheets_id) else "",
        scopes=tuple(scope for scope in scopes if isinstance(scope, str)) if isinstance(scopes, list) else (),
    )


def keep_form(event: Event) -> str:
    """Write the form down as a parameter, from which `parse_event` reads it back."""
    return json.dumps({name: list(values) for name, values in event.form.items()}, ensure_ascii=False)


def _object(parent: Mapping[str, Any], name: str) -> dict[str, Any]:
    child = parent.get(name)
    return child if isinstance(child, dict) else {}


def _text(parent: Mapping[str, Any], name: str) -> str:
    value = parent.get(name)
    return _clean(value) if isinstance(value, str) else ""


def _clean(value: str) -> str:
    # JSON may carry half of a surrogate pair, which no later UTF-8 encoder accepts.
    return value.encode("utf-8", "replace").decode("utf-8")


def _strings(values: object) -> tuple[str, ...]:
    if not isinstance(values, list):
        return ()
    return tuple(_clean(value) for value in values if isinstance(value, str))


def _form(inputs: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    form = {}
    for name, widget in inputs.items():
        values = _strings(_object(widget, "stringInputs").get("value")) if isinstance(widget, dict) else ()
        if values:
            form[_clean(name)] = values
    return form


def _kept_form(kept: str) -> dict[str, tuple[str, ...]]:
    try:
        form = json.loads(kept)
    except (ValueError, RecursionError):
        return {}
    if not isinstance(form, dict):
        return {}
    return {_clean(name): values for name, listed in form.items() if (values := _strings(listed))}


def _zone(offset: object) -> timezone | None:
    # Milliseconds; a number, or text as JSON of 64-bit fields has it.
    if isinstance(offset, str) and re.fullmatch(r"[+-]?[0-9]{1,9}", offset):
        offset = int(offset)
    if isinstance(offset, bool) or not isinstance(offset, int | float):
        return None
    if not abs(offset) <= _WIDEST_OFFSET / timedelta(milliseconds=1):
        return None
    return timezone(timedelta(minutes=round(offset / 60_000)))
