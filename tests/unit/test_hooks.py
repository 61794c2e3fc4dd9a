"""What surrounds every request: its trace, its line in the log, and the headers of its answer."""

import json
import logging
import threading
from collections.abc import Iterator
from io import StringIO
from types import SimpleNamespace
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from recording import json_lines

from addon import hooks
from addon.app import create_app
from addon.logs import belonging
from addon.settings import Settings
from addon.store.documents import StoreError

ID, SPAN = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"


@pytest.fixture
def stream() -> Iterator[StringIO]:
    """What is logged, down to debugging."""
    with json_lines() as stream:
        logging.getLogger("addon").setLevel(logging.DEBUG)
        yield stream


@pytest.fixture
def client() -> FlaskClient:
    """An application with a route that works, one that logs and one that fails."""
    app = Flask("sample")
    hooks.install(app)

    @app.get("/fine")
    def fine() -> str:
        logging.getLogger("a.library").warning("inside")
        return "fine"

    @app.post("/broken")
    def broken() -> str:
        raise RuntimeError("secret")

    return app.test_client()


def lines(stream: StringIO) -> list[dict[str, Any]]:
    """What was logged."""
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def test_a_request_is_one_line_with_route_status_and_time(client: FlaskClient, stream: StringIO) -> None:
    client.get("/fine?secret=1")
    *_, line = lines(stream)
    assert (line["event"], line["severity"], line["route"]) == ("request", "INFO", "/fine")
    assert (line["method"], line["status"]) == ("GET", 200)
    latency = line["httpRequest"].pop("latency")
    assert latency == f"{line['milliseconds'] / 1000:.3f}s"
    assert line["httpRequest"] == {"requestMethod": "GET", "requestUrl": "/fine", "status": 200}
    assert "secret" not in stream.getvalue()


def test_an_unknown_path_or_method_is_not_repeated_in_the_log(client: FlaskClient, stream: StringIO) -> None:
    assert client.get("/secret/path?secret").status_code == 404
    assert client.open("/fine", method="SECRET").status_code == 405
    first, second = lines(stream)
    assert (first["route"], first["status"]) == ("none", 404)
    assert (second["method"], second["status"]) == ("other", 405)
    assert "secret" not in stream.getvalue().lower()


def test_a_request_that_fails_is_a_line_too(client: FlaskClient, stream: StringIO) -> None:
    assert client.post("/broken").status_code == 500
    *_, line = lines(stream)
    assert (line["event"], line["severity"], line["status"]) == ("request", "WARNING", 500)
    assert "secret" not in stream.getvalue()


def test_all_lines_of_a_request_carry_its_trace_and_none_after_it_does(
    client: FlaskClient, stream: StringIO
) -> None:
    client.get("/fine", headers={"traceparent": f"00-{ID}-{SPAN}-01"})
    client.get("/fine", headers={"traceparent": "nonsense"})
    traces = [line.get("logging.googleapis.com/trace") for line in lines(stream)]
    assert traces == [f"projects/a-project/traces/{ID}"] * 2 + [None] * 2
    assert belonging() == {}


@pytest.mark.parametrize("path", ["/fine", "/nowhere"])
def test_every_answer_is_not_to_be_kept_guessed_at_or_framed(client: FlaskClient, path: str) -> None:
    headers = client.get(path).headers
    assert headers["Cache-Control"] == "no-store"
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Referrer-Policy"] == "no-referrer"
    assert headers["Content-Security-Policy"].startswith("default-src 'none'")
    assert client.post("/broken").headers["Cache-Control"] == "no-store"


class Services:
    """Just enough for an application that is asked whether it is ready."""

    def __init__(self) -> None:
        self.settings = Settings()
        self.stopping = threading.Event()
        self.broken = False
        self.tools = self.tasks = self.identity = SimpleNamespace()
        self.documents = self

    def now(self) -> None:
        """The store's clock."""
        if self.broken:
            raise StoreError("secret")


def test_probes_say_which_part_is_not_ready_and_are_quiet_while_all_is_well(stream: StringIO) -> None:
    services = Services()
    client = create_app(services=services).test_client()  # type: ignore[arg-type]
    assert client.get("/healthz").json == {"status": "ok"}
    assert client.get("/readyz").json == {"status": "ready"}
    services.broken = True
    store = client.get("/readyz")
    services.stopping.set()
    stopping = client.get("/readyz")
    assert (store.status_code, store.json["error"]["code"]) == (503, "store")  # type: ignore[index]
    assert (stopping.status_code, stopping.json["error"]["code"]) == (503, "stopping")  # type: ignore[index]
    assert client.get("/healthz").status_code == 200
    severities = [(line["route"], line["severity"]) for line in lines(stream)]
    assert severities == [
        ("/healthz", "DEBUG"),
        ("/readyz", "DEBUG"),
        ("/readyz", "WARNING"),
        ("/readyz", "WARNING"),
        ("/healthz", "DEBUG"),
    ]
    assert "secret" not in stream.getvalue() + store.text
