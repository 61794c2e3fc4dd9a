"""Plays Workspace to the service over HTTP: events out, answers checked against Google's card definition."""

import json
import time
from collections.abc import Iterator
from typing import Any

import requests
from google.apps import card_v1
from google.protobuf import json_format

from addon.simulator.identity import Identity
from addon.simulator.page_events import authorization

PATIENCE = 60.0


class Google:
    """Plays Workspace: posts events to the service and checks the shape of every answer."""

    def __init__(self, spreadsheet: str, identity: Identity, service: str) -> None:
        self.spreadsheet = spreadsheet
        self.identity = identity
        self.service = service

    def event(self, *, granted: bool = True, **more: Any) -> dict[str, Any]:
        """An event object, but for who proves what: that depends on where it goes."""
        sheets = {"addonHasFileScopePermission": granted}
        if granted:
            sheets |= {"id": self.spreadsheet, "title": "inquiries"}
        common = {"hostApp": "SHEETS", "platform": "WEB", "userLocale": "en-US", **more}
        return {
            "commonEventObject": common,
            "sheets": sheets,
        }

    def post(self, url: str, event: dict[str, Any]) -> requests.Response:
        """POST an event as Google does, with tokens for exactly this address."""
        proof = {**authorization(self.identity, url), "userOAuthToken": self.identity.user.token}
        headers = {"Authorization": f"Bearer {proof['systemIdToken']}"}
        return requests.post(
            url, json=event | {"authorizationEventObject": proof}, headers=headers, timeout=30
        )

    def click(self, button: dict[str, Any], form: dict[str, list[str]] | None = None) -> dict[str, Any]:
        """Press a button; the wrapped answer's card."""
        action = button["onClick"]["action"]
        parameters = {item["key"]: item["value"] for item in action.get("parameters", [])}
        inputs = {name: {"stringInputs": {"value": value}} for name, value in (form or {}).items()}
        event = self.event(parameters=parameters, formInputs=inputs)
        answer = self.post(action["function"], event)
        assert answer.status_code == 200, answer.text
        actions = answer.json()["renderActions"]["action"]
        (navigation,) = actions["navigations"]
        return checked(navigation["updateCard"])

    def home(self) -> dict[str, Any]:
        """Open the panel; the unwrapped answer's card."""
        answer = self.post(f"{self.service}/sidebar/home", self.event())
        (navigation,) = answer.json()["action"]["navigations"]
        return checked(navigation["pushCard"])


def checked(card: dict[str, Any]) -> dict[str, Any]:
    """The card, if Google's own definition of a card accepts it."""
    json_format.ParseDict(card, card_v1.Card.pb(card_v1.Card()))
    return card


def widgets(node: Any) -> Iterator[dict[str, Any]]:
    """All dicts within a card."""
    if isinstance(node, dict):
        yield node
        for value in node.values():
            yield from widgets(value)
    elif isinstance(node, list):
        for value in node:
            yield from widgets(value)


def button(card: dict[str, Any], text: str) -> dict[str, Any]:
    """The button of that text."""
    return next(item for item in widgets(card) if item.get("text") == text and "onClick" in item)


def form_of(card: dict[str, Any]) -> dict[str, list[str]]:
    """What a person who changes nothing would send."""
    form: dict[str, list[str]] = {}
    for item in widgets(card):
        if "selectionInput" in item:
            field = item["selectionInput"]
            chosen = [entry["value"] for entry in field.get("items", []) if entry.get("selected")]
            if chosen:
                form[field["name"]] = chosen
        if "textInput" in item and item["textInput"].get("value"):
            form[item["textInput"]["name"]] = [item["textInput"]["value"]]
    return form


def words(card: dict[str, Any]) -> str:
    """All text of a card."""
    return json.dumps(card, ensure_ascii=False)


def refreshed_until(google: Google, card: dict[str, Any], text: str) -> dict[str, Any]:
    """Press Refresh until the card says ``text``."""
    end = time.monotonic() + PATIENCE
    while text not in words(card):
        assert time.monotonic() < end, words(card)
        time.sleep(0.1)
        card = google.click(button(card, "Refresh"))
    return card
