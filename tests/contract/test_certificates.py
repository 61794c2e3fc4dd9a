"""Certificates come over a real wire, seldom; and what is held serves while new ones cannot be had.

The only clock is the one that is told: no test waits for one.
"""

import itertools
import json
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from addon.google.certificates import (
    AGAIN,
    LONGEST,
    SHORTEST,
    STALE,
    Certificates,
    CertificatesUnavailable,
)

HOUR = 3_600.0


class Publisher:
    """What answers where certificates are fetched; ``status``, ``body`` and ``headers`` may change."""

    def __init__(self) -> None:
        self.fetches = 0
        self.elsewhere = 0
        self.status = 200
        self.body = b""
        self.headers: dict[str, str] = {}
        self.hold: threading.Event | None = None
        self.publish("a")
        publisher = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                publisher.answer(self)

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_port}/certs"

    def publish(self, *names: str, cache: str = f"public, max-age={int(HOUR)}") -> None:
        """Answer with these certificates from now on."""
        self.status, self.body = 200, json.dumps({name: f"PEM of {name}" for name in names}).encode()
        self.headers = {"Cache-Control": cache} if cache else {}

    def answer(self, handler: BaseHTTPRequestHandler) -> None:
        if handler.path != "/certs":
            self.elsewhere += 1
        self.fetches += 1
        if self.hold is not None:
            self.hold.wait(30)
        with suppress(ConnectionError):  # whoever asked may have given up
            handler.send_response(self.status)
            for name, value in self.headers.items():
                handler.send_header(name, value)
            handler.send_header("Content-Length", str(len(self.body)))
            handler.end_headers()
            handler.wfile.write(self.body)


class Desk:
    """Certificates, their publisher, and the clock."""

    def __init__(self, publisher: Publisher) -> None:
        self.publisher = publisher
        self.now = 1_000.0
        self.certificates = Certificates(publisher.url, lambda: self.now)

    def find(self, key_id: str) -> str:
        """What is found: a certificate, nothing, or that it cannot be told."""
        try:
            found = self.certificates.find(key_id)
        except CertificatesUnavailable:
            return "unavailable"
        return "none" if found is None else found.removeprefix("PEM of ")


@pytest.fixture
def publisher() -> Iterator[Publisher]:
    made = Publisher()
    thread = threading.Thread(target=made.server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    yield made
    made.server.shutdown()
    thread.join()
    made.server.server_close()


@pytest.fixture
def desk(publisher: Publisher) -> Desk:
    return Desk(publisher)


def test_certificates_are_fetched_once_for_many_calls(desk: Desk) -> None:
    assert [desk.find("a") for _ in range(20)] == ["a"] * 20
    assert desk.publisher.fetches == 1


@pytest.mark.parametrize(
    ("cache", "kept"),
    [
        ("public, max-age=19800, must-revalidate", 19_800),
        ("Max-Age=19800", 19_800),
        ("s-maxage=5, max-age=300", 300),
        ("max-age=1", SHORTEST),
        ("max-age=0", SHORTEST),
        ("no-store", SHORTEST),
        ("", SHORTEST),
        ("max-age=soon", SHORTEST),
        ("max-age=999999999", LONGEST),
        ("max-age=99999999999999999999", LONGEST),
    ],
)
def test_they_are_kept_for_as_long_as_they_say_within_bounds(desk: Desk, cache: str, kept: float) -> None:
    desk.publisher.publish("a", cache=cache)
    desk.find("a")
    desk.now += kept - 1
    assert (desk.find("a"), desk.publisher.fetches) == ("a", 1)
    desk.publisher.publish("b")
    desk.now += 1
    assert (desk.find("a"), desk.find("b"), desk.publisher.fetches) == ("none", "b", 2)


def test_the_bounds_are_half_a_minute_and_an_hour() -> None:
    assert (AGAIN, STALE) == (30.0, 3_600.0)


def test_a_key_that_is_new_is_fetched_at_once(desk: Desk) -> None:
    desk.find("a")
    desk.publisher.publish("a", "b")
    desk.now += AGAIN
    assert (desk.find("b"), desk.find("a"), desk.publisher.fetches) == ("b", "a", 2)


def test_made_up_key_ids_are_no_stream_of_fetches(desk: Desk) -> None:
    assert desk.find("a") == "a"
    for number in range(300):  # ten a second
        desk.now += 0.1
        assert desk.find(f"made up {number}") == "none"
    assert desk.publisher.fetches <= 2
    assert desk.find("a") == "a"


FAILURES: dict[str, Callable[[Publisher], None]] = {
    "a page": lambda p: setattr(p, "body", b"<html>Sorry</html>"),
    "no JSON object": lambda p: setattr(p, "body", b'["a"]'),
    "no text": lambda p: setattr(p, "body", b'{"a": 7}'),
    "nothing": lambda p: setattr(p, "body", b""),
    "no certificates": lambda p: setattr(p, "body", b"{}"),
    "not UTF-8": lambda p: setattr(p, "body", b"\xff\xfe\x00"),
    "500": lambda p: setattr(p, "status", 500),
    "404": lambda p: setattr(p, "status", 404),
    "a redirect": lambda p: p.__dict__.update(status=302, headers={"Location": "/elsewhere"}),
    "no answer": lambda p: p.server.server_close(),
}


@pytest.mark.parametrize("failure", FAILURES)
def test_without_any_nobody_can_be_told_from_anybody(desk: Desk, failure: str) -> None:
    if failure == "no answer":
        desk.certificates = Certificates("http://127.0.0.1:9/certs", lambda: desk.now)
    else:
        FAILURES[failure](desk.publisher)
    assert desk.find("a") == "unavailable"
    assert desk.publisher.elsewhere == 0, "redirects are not followed"


@pytest.mark.parametrize("failure", [name for name in FAILURES if name != "no answer"])
def test_old_ones_serve_for_an_hour_and_no_longer(desk: Desk, failure: str) -> None:
    desk.find("a")
    FAILURES[failure](desk.publisher)
    desk.now += HOUR
    assert desk.find("a") == "a", "stale, but nothing better is to be had"
    assert desk.find("b") == "none"
    desk.now += STALE - 1
    assert desk.find("a") == "a"
    desk.now += 1
    assert desk.find("a") == "unavailable"
    desk.now += AGAIN
    desk.publisher.publish("a")
    assert desk.find("a") == "a", "back again by itself"


def test_failed_fetches_are_no_stream_either(desk: Desk) -> None:
    desk.publisher.status = 503
    outcomes = []
    for _ in range(60):
        outcomes.append(desk.find("a"))
        desk.now += 1.0
    assert (set(outcomes), desk.publisher.fetches) == ({"unavailable"}, 2)
    desk.publisher.publish("a")
    assert desk.find("a") == "a"


def test_fresh_ones_serve_while_a_fetch_for_an_unknown_key_fails(desk: Desk) -> None:
    desk.find("a")
    desk.publisher.status = 500
    desk.now += AGAIN
    assert (desk.find("b"), desk.find("a"), desk.publisher.fetches) == ("none", "a", 2)


def test_many_threads_wait_for_one_fetch(desk: Desk) -> None:
    desk.publisher.hold = threading.Event()
    barrier = threading.Barrier(17)

    def find() -> str:
        barrier.wait()
        return desk.find("a")

    with ThreadPoolExecutor(16) as executor:
        waiting = [executor.submit(find) for _ in range(16)]
        barrier.wait()
        desk.publisher.hold.set()
        assert {future.result(30) for future in waiting} == {"a"}
    assert desk.publisher.fetches == 1


def test_a_publisher_that_says_nothing_is_given_up(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("addon.google.certificates.FETCH_SECONDS", 0.05)
    desk.find("a")
    desk.publisher.hold = threading.Event()
    desk.now += HOUR
    assert desk.find("a") == "a", "the old ones serve"
    desk.now += STALE
    assert desk.find("a") == "unavailable"
    desk.publisher.hold.set()


def test_a_clock_that_moves_in_any_steps_never_makes_more_than_two_fetches_a_minute(desk: Desk) -> None:
    for step, name in itertools.product((0.0, 0.5, 7.0, 29.0), ("a", "b", "c")):
        start, fetched = desk.now, desk.publisher.fetches
        while desk.now - start < 60:
            desk.find(name)
            desk.now += step or 60.0
        assert desk.publisher.fetches - fetched <= 3
