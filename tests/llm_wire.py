"""Language models on this machine, as far as the wire shows: Gemini's and OpenAI's, strict about requests.

For tests in a thread (`LlmServer`), and for whole programs as a process of its own:

    python tests/llm_wire.py --port 0 --kind gemini --latency 0.2

It prints its URL, which is the endpoint (Gemini) or the base URL (OpenAI) to set. ``GET /counts`` tells
what it was asked; ``POST /faults {"answers": 2, "status": 503, "body": {}, "headers": {}}`` spoils
the next answers. Both are at the root, whatever the URL is.
"""

import argparse
import hashlib
import json
import socket
import sys
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

from llm_messages import KEY, Kind, Wrong, answer_of, check, error_of, row_of, summary_of
from requests.structures import CaseInsensitiveDict
from scripted import Received, Reply


class LlmServer:
    """A provider that answers from the row it is sent, checks what it is sent, and counts.

    Parameters
    ----------
    latency
        Seconds an answer takes.
    key
        The only key let in; an access token counts as one. ``None`` lets everybody in.
    answer
        Decides an answer where a test wants another than the row's summary; ``None`` leaves it.
        Called by many threads at once, while its call counts as in flight.
    """

    def __init__(
        self,
        kind: Kind,
        *,
        port: int = 0,
        latency: float = 0.0,
        key: str | None = KEY,
        answer: Callable[[Received], Reply | None] = lambda request: None,
    ) -> None:
        self.kind = kind
        self.latency = latency
        self.key = key
        self.answer = answer
        self.requests: list[Received] = []
        self.problems: list[str] = []
        self.answered: Counter[str] = Counter()
        self.in_flight = self.most_at_once = 0
        self.changed = threading.Condition()
        self._faults: deque[Reply] = deque()
        self._server = _Server(("127.0.0.1", port), self._handler())
        self.root = f"http://127.0.0.1:{self._server.server_address[1]}"
        self.url = self.root + ("/v1" if kind == "openai" else "")

    def enqueue(self, *replies: Reply) -> None:
        """What the next calls get instead of a summary."""
        with self.changed:
            self._faults.extend(replies)

    def serve(self) -> None:
        """Answer until interrupted."""
        self._server.serve_forever(0.01)

    @contextmanager
    def running(self) -> Iterator["LlmServer"]:
        thread = threading.Thread(target=self.serve)
        thread.start()
        try:
            yield self
        finally:
            self._server.shutdown()
            thread.join()
            self._server.server_close()
            assert self._server.errors == []

    def counts(self) -> dict[str, Any]:
        """What it was asked so far. ``repeated`` counts summaries of rows that had got theirs before."""
        with self.changed:
            return {
                "calls": len(self.requests),
                "answered": self.answered.total(),
                "rows": len(self.answered),
                "repeated": self.answered.total() - len(self.answered),
                "most_at_once": self.most_at_once,
                "faults_left": len(self._faults),
                "problems": list(self.problems),
            }

    def handle(self, request: Received) -> Reply:
        """Answer one request."""
        if request.method == "GET" and request.path == "/counts":
            return Reply(json=self.counts())
        if request.method == "POST" and request.path == "/faults":
            fault = dict(request.json)
            number = fault.pop("answers", 1)
            body = fault.pop("body", None)
            content = {"body": body.encode()} if isinstance(body, str) else {"json": body}
            self.enqueue(*[Reply(**content, **fault)] * number)
            return Reply(json=self.counts())
        with self.changed:
            self.requests.append(request)
            self.in_flight += 1
            self.most_at_once = max(self.most_at_once, self.in_flight)
            self.changed.notify_all()
        try:
            return self._call(request)
        finally:
            with self.changed:
                self.in_flight -= 1
                self.changed.notify_all()

    def _call(self, request: Received) -> Reply:
        try:
            check(self.kind, self.key, request)
        except Wrong as wrong:
            with self.changed:
                self.problems.append(wrong.sentence)
            return Reply(wrong.status, error_of(self.kind, wrong.status, wrong.word, wrong.sentence))
        if self.latency:
            time.sleep(self.latency)
        row = row_of(self.kind, request.json)
        with self.changed:
            fault = self._faults.popleft() if self._faults else None
        reply = fault or self.answer(request)
        if reply is None:
            characters = sum(len(cell["text"]) for cell in row)
            text = summary_of(row)
            reply = Reply(json=answer_of(self.kind, text, usage=(characters, len(text))))
            with self.changed:
                self.answered[hashlib.sha256(json.dumps(row).encode()).hexdigest()] += 1
        return reply

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        provider = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def answer(self) -> None:
                parts = urlsplit(self.path)
                content = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                query = parse_qs(parts.query, True)
                headers = CaseInsensitiveDict(self.headers)
                reply = provider.handle(Received(self.command, parts.path, query, headers, content))
                if reply.lost:
                    self.close_connection = True
                    self.connection.shutdown(socket.SHUT_RDWR)
                    return
                self.send_response(reply.status)
                sent = {"Content-Type": "application/json; charset=UTF-8", **reply.headers}
                if reply.status != 204:
                    sent.setdefault("Content-Length", str(len(reply.content)))
                for name, value in sent.items():
                    self.send_header(name, value)
                try:
                    self.end_headers()
                    for number, piece in enumerate(reply.pieces or (reply.content,)):
                        if number:
                            reply.between()
                        self.wfile.write(piece)
                except OSError:  # the client has had enough
                    self.close_connection = True

            do_GET = do_POST = answer  # noqa: N815 - names the library calls

            def log_message(self, *args: Any) -> None:
                pass

        return Handler


class _Server(ThreadingHTTPServer):
    """Keeps what goes wrong while it answers; takes a crowd of connections at once."""

    request_queue_size = 256

    def __init__(self, address: tuple[str, int], handler: type[BaseHTTPRequestHandler]) -> None:
        super().__init__(address, handler)
        self.errors: list[BaseException] = []

    def handle_error(self, request: Any, client_address: Any) -> None:
        error = sys.exception()
        if error is not None and not isinstance(error, ConnectionError):
            self.errors.append(error)


def main() -> None:
    """Serve until killed."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--kind", choices=["gemini", "openai"], default="gemini")
    parser.add_argument("--latency", type=float, default=0.0, help="seconds per answer")
    parser.add_argument("--key", default=KEY, help="the only key let in; an empty one lets everybody in")
    options = parser.parse_args()
    server = LlmServer(options.kind, port=options.port, latency=options.latency, key=options.key or None)
    print(server.url, flush=True)
    server.serve()


if __name__ == "__main__":
    main()
