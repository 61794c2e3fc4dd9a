"""The HTTP server: connections stay open, answers leave in one piece, nothing but loopback."""

import io
import logging
import socket
import threading
from typing import Any

from flask import Flask
from werkzeug.serving import ThreadedWSGIServer, WSGIRequestHandler

logger = logging.getLogger(__name__)

LOOPBACK = "127.0.0.1"


class _Handler(WSGIRequestHandler):
    """Werkzeug's handler closes each connection after one request; this one keeps it open.

    The request's body is read to its end first, so that the next request starts where it should, and the
    answer is sent with one write, so that no part of it waits for an acknowledgement.
    """

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: "Server"

    def setup(self) -> None:
        super().setup()
        self.server.opened(self.connection)

    def finish(self) -> None:
        self.server.closed(self.connection)
        try:
            super().finish()
        except ConnectionError:
            logger.debug("A client closed its connection before the answer.")

    def run_wsgi(self) -> None:
        if self.headers.get("Expect", "").strip().lower() == "100-continue":
            self.wfile.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        environ = self.make_environ()
        if environ.get("wsgi.input_terminated"):
            body = environ["wsgi.input"].read()
        else:
            length = int(self.headers.get("Content-Length") or 0)
            body = self.rfile.read(length)
            if len(body) < length:  # the client died; half a request asks for nothing
                self.close_connection = True
                return
        environ |= {"wsgi.input": io.BytesIO(body), "CONTENT_LENGTH": str(len(body))}
        started: list[Any] = []

        def start_response(status: str, headers: list[tuple[str, str]], _: Any = None) -> Any:
            started[:] = [status, headers]

        answer = self.server.app(environ, start_response)
        try:
            content = b"".join(answer)
        finally:
            if hasattr(answer, "close"):
                answer.close()
        status, headers = started
        code, _, phrase = status.partition(" ")
        self.send_response(int(code), phrase)
        for name, value in headers:
            if name.lower() != "content-length" or self.command == "HEAD":
                self.send_header(name, value)
        if self.command != "HEAD" and int(code) != 204:
            self.send_header("Content-Length", str(len(content)))
        buffered = b"".join(self._headers_buffer) + b"\r\n"
        self._headers_buffer: list[bytes] = []
        self.wfile.write(buffered if self.command == "HEAD" else buffered + content)

    def log(self, type: str, message: str, *args: Any) -> None:
        """Say nothing: paths may carry what a person typed."""

    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        """Say nothing."""


class Server(ThreadedWSGIServer):
    """Serves a Flask application on 127.0.0.1.

    Parameters
    ----------
    port
        Where; 0 for any free port, then see ``port``.
    """

    def __init__(self, app: Flask, port: int) -> None:
        self._connections: set[socket.socket] = set()
        self._idle = threading.Condition()
        super().__init__(LOOPBACK, port, app, _Handler)

    def opened(self, connection: socket.socket) -> None:
        """Remember a connection, to close it at the end."""
        with self._idle:
            self._connections.add(connection)

    def closed(self, connection: socket.socket) -> None:
        """Forget a connection."""
        with self._idle:
            self._connections.discard(connection)
            self._idle.notify_all()

    def stop(self, timeout: float = 5.0) -> None:
        """Close every connection, also idle ones, and wait until no request is worked on any more."""
        self.shutdown()
        self.server_close()
        with self._idle:
            for connection in self._connections:
                hang_up(connection)
            self._idle.wait_for(lambda: not self._connections, timeout)


def hang_up(connection: socket.socket) -> None:
    """End a connection for both sides at once; the other side sees it break off."""
    try:
        connection.shutdown(socket.SHUT_RDWR)
    except OSError:
        logger.debug("The connection was closed already.")
