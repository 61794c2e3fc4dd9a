"""The sidebar as Google calls it: real event objects over HTTP to gunicorn, on both stores."""

import os
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
import requests
from demo_process import running_demo
from workspace import Google, button, form_of, refreshed_until, words

from addon.simulator.identity import TASKS_ACCOUNT, load_identity

TESTS = Path(__file__).resolve().parent.parent


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
        identity = load_identity(tmp_path / "state" / "google" / "identity.json")
        port = urlsplit(url).port or 0
        spreadsheet = parse_qs(urlsplit(url).query)["spreadsheet"][0]
        yield Google(spreadsheet, identity, f"http://127.0.0.1:{port + 1}")


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
    for token in ("wrong", google.identity.id_token(google.service, TASKS_ACCOUNT)):
        headers = {"Authorization": f"Bearer {token}"}
        for path in ("/sidebar/home", "/tasks/link", "/schedule/sweep"):
            answer = requests.post(
                f"{google.service}{path}", json=google.event(), headers=headers, timeout=10
            )
            assert (answer.status_code, answer.json()["error"]["code"]) == (401, "unauthorised")
            assert "card" not in answer.text.lower()
    for method, path, status in (("GET", "/", 404), ("GET", "/sidebar/home", 405), ("POST", "/nothing", 404)):
        answer = requests.request(method, f"{google.service}{path}", timeout=10)
        assert answer.status_code == status
        assert set(answer.json()["error"]) == {"code", "message"}
