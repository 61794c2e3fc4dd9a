"""The service under gunicorn."""

import contextlib
import json
import logging
import os
import signal
import socket
import threading
from collections.abc import Callable
from http import HTTPStatus
from typing import Any

from flask import Flask
from gunicorn.app.base import BaseApplication
from gunicorn.glogging import Logger
from gunicorn.http import errors, wsgi
from gunicorn.util import write_nonblock
from gunicorn.workers.gthread import ThreadWorker

from addon.app import create_app
from addon.hooks import HEADERS
from addon.jobs import events
from addon.loglines import configure
from addon.logs import event
from addon.settings import Settings

log = logging.getLogger(__name__)

GRACEFUL_SECONDS = 9
"""How long a worker told to end may finish its requests: Cloud Run kills it 10 s after SIGTERM."""


UNREADABLE = {
    errors.ExpectationFailed: 417,
    errors.ForbiddenProxyRequest: 403,
    errors.LimitRequestHeaders: 431,
    errors.LimitRequestLine: 414,
    errors.UnsupportedTransferCoding: 501,
}
"""Status for what gunicorn cannot read; 400 for all else that is wrong with a request."""

_OURS = (errors.ConfigurationProblem, errors.InvalidResponseHeader, errors.InvalidResponseHeaderName)
"""What gunicorn raises that no caller is to blame for."""


class Worker(ThreadWorker):  # type: ignore[misc]
    """Answers what is no request as the service answers all others, and quotes none of it.

    gunicorn would answer with a page, and would repeat the offending header, in the answer and in the log: a
    token, most likely.
    """

    def handle_request(self, req: Any, conn: Any) -> Any:
        """Let the application see broken chunks for what they are; gunicorn calls this for each request."""
        req.body = _Body(req.body)
        return super().handle_request(req, conn)

    def handle_error(self, req: Any, client: socket.socket, addr: Any, exc: Exception) -> None:  # noqa: ARG002
        """Answer, and log why; gunicorn calls this where no application has answered."""
        if isinstance(exc, errors.ParseException) and not isinstance(exc, _OURS):
            status, said = UNREADABLE.get(type(exc), 400), "The request cannot be read as HTTP."
            kind = type(exc).__name__
            event(log, "request_unreadable", severity=logging.WARNING, error=kind, status=status)
        else:
            status, said = 500, "Something unforeseen happened."
            events.unexpected(exc, "")
        with contextlib.suppress(OSError):  # a caller who has hung up is told nothing
            write_nonblock(client, _closing_answer(status, said))


class _Body:
    """A request's body. Its reader knows of broken connections, so chunks that cannot be read are one."""

    def __init__(self, body: Any) -> None:
        self._body = body

    def read(self, size: int | None = None) -> bytes:
        try:
            found: bytes = self._body.read(size)
        except errors.ParseException:
            raise ConnectionError("the body's chunks cannot be read") from None
        return found

    def __getattr__(self, name: str) -> Any:
        return getattr(self._body, name)


def _closing_answer(status: int, said: str) -> bytes:
    phrase = HTTPStatus(status).phrase
    code = phrase.lower().replace(" ", "_").replace("-", "_")
    body = json.dumps({"error": {"code": code, "message": said}})
    headers = {
        "Connection": "close",
        "Content-Type": "application/json",
        "Content-Length": str(len(body)),
        **HEADERS,
    }
    lines = [f"HTTP/1.1 {status} {phrase}", *(f"{name}: {value}" for name, value in headers.items())]
    return "\r\n".join([*lines, "", body]).encode()


class Log(Logger):  # type: ignore[misc]
    """gunicorn's own lines go where all others go. Its access log is off: the service logs requests."""

    def setup(self, cfg: Any) -> None:
        """Hand on to the root logger's handler; gunicorn calls this."""
        super().setup(cfg)
        for handler in list(self.error_log.handlers):
            self.error_log.removeHandler(handler)
        self.error_log.propagate = True


class Service(BaseApplication):  # type: ignore[misc]
    """gunicorn with the options a chain needs.

    Links work for minutes, so there is no request timeout: they end themselves. The application is made in
    each worker, after the fork, for gRPC clients do not survive one.
    """

    def __init__(self, bind: str, workers: int, threads: int) -> None:
        self._chosen = {
            "bind": bind,
            "workers": workers,
            "worker_class": Worker,
            "threads": threads,
            "timeout": 0,
            "graceful_timeout": GRACEFUL_SECONDS,
            "keepalive": 30,
            # Nobody's headers change what is called: the address is a setting, the path is the request's own.
            "forwarded_allow_ips": "",
            "control_socket_disable": True,
            "loglevel": "warning",
            "logger_class": Log,
            "post_worker_init": _hand_over_when_told_to_end,
        }
        super().__init__()

    def load_config(self) -> None:
        """Take over the options; gunicorn calls this."""
        for name, value in self._chosen.items():
            if name in self.cfg.settings:
                self.cfg.set(name, value)

    def load(self) -> Flask:
        """Make the application; gunicorn calls this in each worker."""
        return create_app()


def _hand_over_when_told_to_end(worker: Any) -> None:
    """Let links notice that the process is about to end, and end gracefully however it is told.

    Ctrl-C in a terminal reaches the workers as SIGINT, and as SIGQUIT from gunicorn; both would drop
    requests at once.
    """
    stopping = worker.wsgi.extensions["services"].stopping
    end_gracefully: Callable[[int, Any], Any] = signal.getsignal(signal.SIGTERM)  # type: ignore[assignment]

    def handle(number: int, frame: Any) -> None:
        stopping.set()
        end_gracefully(number, frame)

    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGQUIT):
        signal.signal(number, handle)


def serve(bind: str, workers: int, threads: int, settings: Settings) -> None:
    """Serve until told to end."""
    configure(settings.log_format, settings.project)
    wsgi.SERVER = "addon"  # gunicorn would name itself in every answer
    Service(bind, workers, threads).run()


def end_with_stdin() -> None:
    """End this process when its standard input closes, that is, when the process that started it dies."""

    def watch() -> None:
        while os.read(0, 4096):  # not sys.stdin: its lock would be in the way when the interpreter ends
            pass
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=watch, name="stdin", daemon=True).start()
