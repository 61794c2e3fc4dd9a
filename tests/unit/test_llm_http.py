"""One request, one deadline for all of its answer, and nothing from the environment that is not wanted."""

import gzip
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest
from scripted import Reply, Scripted

from addon.llm.base import Transient
from addon.llm.http import MOST_BYTES, Sender, _Timed
from addon.llm.http import Reply as Answer

PATIENCE = 20.0
"""Seconds after which a test fails that would otherwise hang; no call here has as long a deadline."""


@pytest.fixture
def sender() -> Iterator[Sender]:
    made = Sender()
    yield made
    made.close()


@pytest.fixture
def server() -> Iterator[Scripted]:
    with Scripted().running() as running:
        yield running


def post(sender: Sender, url: str, timeout: float = 5.0) -> Answer | Transient:
    return sender.post(f"{url}/x", {"text": "é\U0001f600"}, {"x-key": "k"}, timeout)


@contextmanager
def raw(*pieces: bytes, endless: bytes = b"") -> Iterator[str]:
    """A server that sends these pieces, then ``endless`` again and again, until its caller hangs up."""
    done = threading.Event()

    def serve() -> None:
        connection, _ = listener.accept()
        with connection:
            connection.recv(65536)
            try:
                for piece in pieces:
                    connection.sendall(piece)
                while endless and not done.wait(0.0 if len(endless) > 1000 else 0.02):
                    connection.sendall(endless)
                done.wait(PATIENCE)
            except OSError:
                return

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            done.set()
            thread.join()


# the deadline


HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"


@pytest.mark.parametrize(
    ("pieces", "endless"),
    [
        ((), b""),
        ((b"HTTP/1.1 200 OK\r\nX-A: ",), b"a"),
        ((HEAD,), b"X-A: a\r\n"),
        ((HEAD + b"Content-Length: 100000\r\n\r\n",), b"a"),
        ((HEAD + b"Transfer-Encoding: chunked\r\n\r\n",), b"1\r\na\r\n"),
        ((HEAD + b"\r\n",), b"a"),
        ((b"HTTP/1.1 100 Continue\r\n\r\n",), b"HTTP/1.1 100 Continue\r\n\r\n"),
        ((), b"HTTP/1.1 100 Continue\r\n\r\n" * 100),
    ],
    ids=[
        "silence",
        "in a header",
        "in headers",
        "in the body",
        "in chunks",
        "without length",
        "informational",
        "a flood",
    ],
)
def test_an_answer_that_trickles_in_does_not_outlast_the_deadline(
    sender: Sender, pieces: tuple[bytes, ...], endless: bytes
) -> None:
    with raw(*pieces, endless=endless) as url, ThreadPoolExecutor(1) as thread:
        call = thread.submit(post, sender, url, 0.3)
        try:
            assert call.result(PATIENCE / 2) == Transient("timeout")
        finally:
            sender.close()


def test_each_read_waits_no_longer_than_is_left_of_the_whole() -> None:
    one, other = socket.socketpair()
    with one, other, _Timed(one, time.monotonic() + 50.0) as timed:
        one.settimeout(1000.0)
        other.sendall(b"x")
        assert timed.readinto(bytearray(1)) == 1
        left = one.gettimeout()
        assert left is not None
        assert 0 < left <= 50.0


def test_a_deadline_that_is_over_sends_nothing(sender: Sender, server: Scripted) -> None:
    assert post(sender, server.url, 0.0) == Transient("timeout")
    assert post(sender, server.url, -1.0) == Transient("timeout")
    assert server.requests == []


def test_a_connection_kept_from_an_earlier_call_has_the_time_of_its_own_call(
    sender: Sender, server: Scripted
) -> None:
    server.enqueue(Reply(json=1), Reply(pieces=(b"1", b"2"), between=lambda: time.sleep(0.4)))
    assert isinstance(post(sender, server.url, 0.3), Answer)
    answer = post(sender, server.url, 10.0)
    assert isinstance(answer, Answer)
    assert answer.body == b"12"


# what goes wrong on the way


def test_nobody_there_is_told_from_a_lost_connection(sender: Sender) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
    assert post(sender, url) == Transient("unreachable")


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"nonsense\r\n\r\n",
        HEAD + b"Content-Length: 9\r\n\r\n{",
        HEAD + b"Content-Encoding: gzip\r\n\r\nnot packed at all",
    ],
)
def test_an_answer_that_breaks_off_or_is_none_is_a_lost_connection(sender: Sender, answer: bytes) -> None:
    def serve() -> None:
        connection, _ = listener.accept()
        with connection:
            connection.recv(65536)
            connection.sendall(answer)

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=serve)
        thread.start()
        assert post(sender, f"http://127.0.0.1:{listener.getsockname()[1]}") == Transient("connection_lost")
        thread.join()


def test_a_server_without_tls_is_no_tls_server(sender: Sender, server: Scripted) -> None:
    outcome = post(sender, server.url.replace("http:", "https:"))
    assert outcome in {Transient("tls_failed"), Transient("connection_lost")}


@pytest.mark.parametrize("packed", [True, False])
def test_an_answer_without_end_is_given_up(sender: Sender, server: Scripted, packed: bool) -> None:
    body = b" " * (2 * MOST_BYTES)
    server.enqueue(
        Reply(body=gzip.compress(body), headers={"Content-Encoding": "gzip"}) if packed else Reply(body=body)
    )
    assert post(sender, server.url) == Transient("answer_too_long")


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_redirects_are_not_followed(sender: Sender, server: Scripted, status: int) -> None:
    server.enqueue(Reply(status, headers={"Location": f"{server.url}/elsewhere"}))
    answer = post(sender, server.url)
    assert isinstance(answer, Answer)
    assert answer.status == status
    assert len(server.requests) == 1


@pytest.mark.parametrize("reply", [Reply(503), Reply(429), Reply(lost=True), Reply(body=b"{")])
def test_nothing_is_sent_twice(sender: Sender, server: Scripted, reply: Reply) -> None:
    server.enqueue(reply, Reply(json=1))
    post(sender, server.url)
    assert len(server.requests) == 1


def test_the_body_is_utf8_json(sender: Sender, server: Scripted) -> None:
    server.enqueue(Reply(json=1))
    post(sender, server.url)
    assert server.requests[0].body == '{"text": "é\U0001f600"}'.encode()
    assert server.requests[0].headers["Content-Type"] == "application/json"
    assert server.requests[0].headers["x-key"] == "k"


# what the environment must not change


def test_a_netrc_file_adds_no_credentials(
    sender: Sender, server: Scripted, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    netrc = tmp_path / "netrc"
    netrc.write_text("machine 127.0.0.1 login somebody password else\n")
    monkeypatch.setenv("NETRC", str(netrc))
    server.enqueue(Reply(json=1))
    post(sender, server.url)
    assert "Authorization" not in server.requests[0].headers


def proxies(monkeypatch: pytest.MonkeyPatch, url: str) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, url)
    monkeypatch.delenv("no_proxy", raising=False)
    monkeypatch.delenv("NO_PROXY", raising=False)


def test_a_proxy_does_not_see_what_stays_on_this_machine(
    sender: Sender, server: Scripted, monkeypatch: pytest.MonkeyPatch
) -> None:
    proxies(monkeypatch, "http://127.0.0.1:9")
    server.enqueue(Reply(json=1))
    assert isinstance(post(sender, server.url), Answer)


def test_a_proxy_is_used_for_what_does_not(
    sender: Sender, server: Scripted, monkeypatch: pytest.MonkeyPatch
) -> None:
    proxies(monkeypatch, server.url)
    server.enqueue(Reply(json=1))
    assert isinstance(post(sender, "http://llm.example"), Answer)
    assert server.requests[0].headers["Host"] == "llm.example"


def test_a_proxy_that_is_not_there_is_nobody_there(sender: Sender, monkeypatch: pytest.MonkeyPatch) -> None:
    proxies(monkeypatch, "http://127.0.0.1:9")
    assert post(sender, "http://llm.example") == Transient("unreachable")


def test_an_answer_through_a_proxy_has_the_deadline_too(
    sender: Sender, monkeypatch: pytest.MonkeyPatch
) -> None:
    with raw(HEAD, endless=b"X-A: a\r\n") as url, ThreadPoolExecutor(1) as thread:
        proxies(monkeypatch, url)
        call = thread.submit(post, sender, "http://llm.example", 0.3)
        try:
            assert call.result(PATIENCE / 2) == Transient("timeout")
        finally:
            sender.close()


def test_cookies_are_not_kept(sender: Sender, server: Scripted) -> None:
    server.enqueue(Reply(json=1, headers={"Set-Cookie": "sid=1; Path=/"}), Reply(json=1))
    post(sender, server.url)
    post(sender, server.url)
    assert "Cookie" not in server.requests[1].headers


def test_the_port_and_the_offline_model_are_imported_without_any_http_library() -> None:
    code = (
        "import sys, addon.llm.base, addon.llm.builtin, addon.llm.pace;"
        "print([one for one in ('requests', 'urllib3', 'google.auth') if one in sys.modules])"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "[]"
