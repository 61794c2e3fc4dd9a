"""Building blocks of cards: plain dicts in the JSON of ``google.apps.card.v1``.

Escaping happens here and nowhere else. Fields in which Google renders simple HTML (those of `paragraph`,
`labelled`, `captioned` and section headers) are always escaped: no caller can forget it. Fields that Google
shows as they are (card headers, buttons, labels, items, input values) are not: ``&amp;`` would be read there.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape
from typing import Any, Literal, get_args

Json = dict[str, Any]
Action = Literal[
    "home",
    "file-granted",
    "connect",
    "choose",
    "run",
    "refresh",
    "pause",
    "resume",
    "cancel",
    "retry",
    "new",
    "help",
    "admin",
    "test-model",
]
ACTIONS: tuple[Action, ...] = get_args(Action)
TRIGGERS: tuple[Action, ...] = ("home", "file-granted")
"""Actions that the manifest's triggers call; every other one is a click."""
ROUTES: tuple[str, ...] = tuple(f"/sidebar/{action}" for action in ACTIONS)
"""Path of every route that a button, an input or the manifest may name."""

FROM_ADMIN = "fromAdmin"
"""Parameter of buttons on the administrators' card. It proves nothing: only administrators may use it."""

MAX_ITEMS = 100
"""Items a selection may have; ``google.apps.card.v1.SelectionInput.items``: "Supports up to 100 items"."""
BAR_BLOCKS = 20


@dataclass(frozen=True, slots=True)
class Links:
    """Makes actions: full URLs of this service, and what every click carries.

    Parameters
    ----------
    base_url
        Public URL of the service, without a slash at its end. Google ignores a relative ``function``.
    spreadsheet_id, job_id
        What the card is about; empty where there is none. Google does not always send the open file's id.
    """

    base_url: str
    spreadsheet_id: str = ""
    job_id: str = ""

    def about(self, job_id: str) -> "Links":
        """Return links for one job."""
        return replace(self, job_id=job_id)

    def action(
        self, action: Action, parameters: Mapping[str, str] | None = None, *, keep_values: bool = False
    ) -> Json:
        """Return an ``Action``. ``keep_values`` leaves the form filled while the call lasts."""
        about = {"spreadsheetId": self.spreadsheet_id, "jobId": self.job_id}
        carried = {key: value for key, value in about.items() if value} | dict(parameters or {})
        built: Json = {
            "function": f"{self.base_url}/sidebar/{action}",
            "parameters": [{"key": key, "value": value} for key, value in carried.items()],
            "loadIndicator": "SPINNER",
        }
        return built | {"persistValues": True} if keep_values else built

    def button(
        self,
        text: str,
        action: Action,
        parameters: Mapping[str, str] | None = None,
        *,
        keep_values: bool = False,
    ) -> Json:
        """Return a button that calls one of this service's routes."""
        return {"text": text, "onClick": {"action": self.action(action, parameters, keep_values=keep_values)}}


def link_button(text: str, url: str) -> Json:
    """Return a button that opens a web page."""
    return {"text": text, "onClick": {"openLink": {"url": url}}}


def paragraph(text: str, *, strong: bool = False) -> Json:
    """Return a paragraph of plain text."""
    escaped = _escaped(text)
    return {"textParagraph": {"text": f"<b>{escaped}</b>" if strong else escaped}}


def labelled(label: str, text: str) -> Json:
    """Return plain text under a small label. A label that does not fit is cut, so keep it short."""
    return {"decoratedText": {"topLabel": _escaped(label), "text": _escaped(text), "wrapText": True}}


def captioned(text: str, caption: str, button: Json | None = None) -> Json:
    """Return plain text with a smaller caption below it and an optional button beside it."""
    widget: Json = {"text": _escaped(text), "bottomLabel": _escaped(caption), "wrapText": True}
    return {"decoratedText": widget | {"button": button} if button else widget}


def buttons(listed: Iterable[Json]) -> Json:
    """Return buttons in a row."""
    return {"buttonList": {"buttons": list(listed)}}


@dataclass(frozen=True, slots=True)
class Item:
    """One choice: what is shown, what is sent back, and whether it is chosen."""

    text: str
    value: str
    selected: bool = False


Selection = Literal["CHECK_BOX", "RADIO_BUTTON", "DROPDOWN", "MULTI_SELECT"]


def selection(
    kind: Selection, name: str, label: str, items: Sequence[Item], on_change: Json | None = None
) -> Json:
    """Return a choice among at most `MAX_ITEMS` items."""
    widget: Json = {
        "name": name,
        "label": label,
        "type": kind,
        "items": [{"text": item.text, "value": item.value, "selected": item.selected} for item in items],
    }
    if kind == "MULTI_SELECT":
        widget["multiSelectMaxSelectedItems"] = len(items)  # Google's default is 3
    if on_change:
        widget["onChangeAction"] = on_change
    return {"selectionInput": widget}


def text_input(name: str, label: str, value: str, *, limit: int, lines: bool = False, hint: str = "") -> Json:
    """Return a text field of at most ``limit`` characters; ``lines`` gives it several lines."""
    widget: Json = {
        "name": name,
        "label": label,
        "type": "MULTIPLE_LINE" if lines else "SINGLE_LINE",
        "value": value,
        "validation": {"characterLimit": limit, "inputType": "TEXT"},
    }
    return {"textInput": widget | {"hintText": hint} if hint else widget}


def section(widgets: Iterable[Json], header: str = "") -> Json:
    """Return a section; Google wants at least one widget in it."""
    built: Json = {"widgets": list(widgets)}
    return {"header": _escaped(header)} | built if header else built


def card(name: str, title: str, sections: Iterable[Json], footer: Json | None = None) -> Json:
    """Return a card; ``footer`` is the one button that stays in sight at the bottom."""
    built: Json = {"name": name, "header": {"title": title}, "sections": list(sections)}
    return built | {"fixedFooter": {"primaryButton": footer}} if footer else built


def bar(percent: int) -> str:
    """Return a progress bar of block characters; the card format has no progress widget."""
    full = percent * BAR_BLOCKS // 100
    return "▓" * full + "░" * (BAR_BLOCKS - full)


def _escaped(text: str) -> str:
    # Quotation marks stay: the text never goes into an attribute, and an entity might be shown as it is.
    return escape(text, quote=False)
