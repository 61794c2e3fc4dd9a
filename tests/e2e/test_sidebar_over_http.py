"""The sidebar as Google calls it: real event objects over HTTP to gunicorn, on both stores."""

import json
import os
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
import requests
from demo_process import running_demo
from google.apps import card_v1
from google.protobuf import json_format

TESTS = Path(__file__).resolve().parent.parent
PATIENCE = 60.0


class Google:
    """Plays Workspace: posts events to the service and checks the shape of every answer."""

    def __init__(self, page_url: str, identity: dict[str, Any], service: str) -> None:
        self.page = page_url
        self.spreadsheet = parse_qs(urlsplit(page_url).query)["spreadsheet"][0]
        self.origin = page_url.split("/page/", maxsplit=1)[0]
        self.identity = identity
        self.service = service

    def event(self, *, granted: bool = True, **more: Any) -> dict[str, Any]:
        """An event object."""
        sheets = {"addonHasFileScopePermission": granted}
        if granted:
            sheets |= {"id": self.spreadsheet, "title": "inquiries"}
        common = {"hostApp": "SHEETS", "platform": "WEB", "userLocale": "en-US", **more}
        return {
            "commonEventObject": common,
            "authorizationEventObject": {
                "userOAuthToken": self.identity["user"]["token"],
                "systemIdToken": self.identity["system_token"],
            },
            "sheets": sheets,
        }

    def post(self, url: str, event: dict[str, Any], token: str | None = None) -> requests.Response:
        """POST an event as Google does."""
        authorization = {"Authorization": f"Bearer {token or self.identity['system_token']}"}
        return requests.post(url, json=event, headers=authorization, timeout=30)

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


@pytest.fixture
def google(tmp_path: Path, store_kind: str) -> Iterator[Google]:
    """A running demo on the store under test, with a model that logs its calls."""
    settings = {
        "ADDON_STORE": store_kind,
        "ADDON_PROJECT": f"t-{os.urandom(6).hex()}",
        "ADDON_MODEL": "logged_model:logged",
        "ADDON_CONCURRENCY": "8",
        "PYTHONPATH": str(TESTS),
        "LOGGED_CALLS": str(tmp_path / "calls.log"),
        "LOGGED_LATENCY": "0.02",
    }
    with running_demo(tmp_path, **settings) as url:
        identity = json.loads((tmp_path / "state" / "google" / "identity.json").read_text())
        port = urlsplit(url).port or 0
        yield Google(url, identity, f"http://127.0.0.1:{port + 1}")


def refreshed_until(google: Google, card: dict[str, Any], text: str) -> dict[str, Any]:
    """Press Refresh until the card says ``text``."""
    end = time.monotonic() + PATIENCE
    while text not in words(card):
        assert time.monotonic() < end, words(card)
        time.sleep(0.1)
        card = google.click(button(card, "Refresh"))
    return card


def test_from_the_connect_card_to_done(google: Google, tmp_path: Path) -> None:
    connect = google.post(f"{google.service}/sidebar/home", google.event(granted=False)).json()
    assert "pushCard" in connect["action"]["navigations"][0]
    card = google.home()
    run = button(card, "Run summaries")
    card = google.click(run, form_of(card))
    card = refreshed_until(google, card, "Finished")
    assert "40 of 40 rows done" in words(card)
    assert len((tmp_path / "calls.log").read_text().splitlines()) == 2 * 39, "39 distinct rows, start and end"
    again = google.click(run, form_of(google.home()))
    assert "Finished" in words(again), "the replayed click returns its own job"
    assert len((tmp_path / "calls.log").read_text().splitlines()) == 2 * 39


def test_two_clicks_at_once_make_one_job_and_one_call_per_row(google: Google, tmp_path: Path) -> None:
    first, second = google.home(), google.home()
    barrier = threading.Barrier(4)

    def click(card: dict[str, Any]) -> dict[str, Any]:
        barrier.wait()
        return google.click(button(card, "Run summaries"), form_of(card))

    with ThreadPoolExecutor(4) as executor:
        cards = list(executor.map(click, [first, first, second, second]))
    card = refreshed_until(google, cards[0], "Finished")
    assert "40 of 40 rows done" in words(card)
    assert len((tmp_path / "calls.log").read_text().splitlines()) == 2 * 39


def test_nobody_else_gets_in(google: Google) -> None:
    for token in ("wrong", google.identity["task_token"], google.identity["user"]["token"]):
        answer = google.post(f"{google.service}/sidebar/home", google.event(), token)
        assert (answer.status_code, answer.json()["error"]["code"]) == (401, "unauthorised")
        assert "card" not in answer.text.lower()
    for path in ("/tasks/link", "/tasks/sweep"):
        answer = google.post(f"{google.service}{path}", {}, google.identity["system_token"])
        assert (answer.status_code, answer.json()["error"]["code"]) == (401, "unauthorised")
    for method, path, status in (("GET", "/", 404), ("GET", "/sidebar/home", 405), ("POST", "/nothing", 404)):
        answer = requests.request(method, f"{google.service}{path}", timeout=10)
        assert answer.status_code == status
        assert set(answer.json()["error"]) == {"code", "message"}
