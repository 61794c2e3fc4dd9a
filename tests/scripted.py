"""A server on this machine that answers what a test tells it to, and remembers what it was asked."""

import json
import socket
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

from requests.structures import CaseInsensitiveDict


@dataclass(frozen=True)
class Received:
    """One request as it arrived."""

    method: str
    path: str
    query: dict[str, list[str]]
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass(frozen=True)
class Reply:
    """What to answer. ``lost`` closes the connection instead; ``between`` runs before every later piece."""

    status: int = 200
    json: Any = None
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    lost: bool = False
    pieces: tuple[bytes, ...] = ()
    between: Callable[[], None] = lambda: None

    @property
    def content(self) -> bytes:
        return b"".join(self.pieces) or (self.body if self.json is None else json.dumps(self.json).encode())


def google_error(
    status: int,
    word: str = "",
    message: str = "",
    *,
    reason: str = "",
    headers: Mapping[str, str] | None = None,
) -> Reply:
    """An error as Google spells it: Sheets and Tasks with a status word, Drive with a legacy ``reason``."""
    error: dict[str, Any] = {"code": status, "message": message}
    if word:
        error["status"] = word
    if reason:
        error["errors"] = [{"domain": "global", "reason": reason, "message": message}]
    return Reply(status, {"error": error}, headers=headers or {})


class _Server(ThreadingHTTPServer):
    """Keeps what goes wrong while it answers, so that a failed check in ``answer`` fails the test."""

    def __init__(self, handler: type[BaseHTTPRequestHandler]) -> None:
        super().__init__(("127.0.0.1", 0), handler)
        self.errors: list[BaseException] = []

    def handle_error(self, request: Any, client_address: Any) -> None:
        error = sys.exception()
        if error is not None and not isinstance(error, ConnectionError):
            self.errors.append(error)


class Scripted:
    """Answers from ``enqueue``d replies in turn, or by ``answer`` where a test sets it."""

    def __init__(self) -> None:
        self.requests: list[Received] = []
        self.answer: Callable[[Received], Reply] = self._next
        self._replies: deque[Reply] = deque()
        self._lock = threading.Lock()
        self._server = _Server(self._handler())
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    def enqueue(self, *replies: Reply) -> None:
        self._replies.extend(replies)

    def _next(self, _: Received) -> Reply:
        return self._replies.popleft() if self._replies else Reply(418, {"error": {"status": "UNSCRIPTED"}})

    @contextmanager
    def running(self) -> Iterator["Scripted"]:
        thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield self
        finally:
            self._server.shutdown()
            thread.join()
            self._server.server_close()
            assert self._server.errors == []

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        script = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def answer(self) -> None:
                parts = urlsplit(self.path)
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                received = Received(
                    self.command,
                    parts.path,
                    parse_qs(parts.query, True),
                    CaseInsensitiveDict(self.headers),
                    body,
                )
                with script._lock:
                    script.requests.append(received)
                    reply = script.answer(received)
                if reply.lost:
                    self.close_connection = True
                    self.connection.shutdown(socket.SHUT_RDWR)
                    return
                self.send(reply)

            def send(self, reply: Reply) -> None:
                self.send_response(reply.status)
                headers = {"Content-Type": "application/json; charset=UTF-8", **reply.headers}
                headers.setdefault("Content-Length", str(len(reply.content)))
                for name, value in headers.items():
                    self.send_header(name, value)
                self.end_headers()
                for number, piece in enumerate(reply.pieces or (reply.content,)):
                    if number:
                        reply.between()
                    try:
                        self.wfile.write(piece)
                    except OSError:  # the client has had enough
                        self.close_connection = True
                        return

            do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = answer  # noqa: N815 - names the library calls

            def log_message(self, *args: Any) -> None:
                pass

        return Handler


class Clock:
    """A clock that only moves when somebody sleeps."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.sleeps: list[float] = []

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.sleeps.append(seconds)
        self.now += seconds
