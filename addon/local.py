"""The whole product in one process on this machine: the simulator, and the service that calls it.

`addon run` works this way, and so do the tests: a kill ends everything at once, and the state folder is all
that stays. Only one process may use a state folder; a lock on a file in it sees to that, and the system
drops the lock with the process, however it dies.
"""

import fcntl
import logging
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import IO

from flask import Flask
from werkzeug.serving import BaseWSGIServer, WSGIRequestHandler, make_server

from addon.app import create_app
from addon.services import Services, build
from addon.settings import Settings
from addon.simulator.server import Simulator

log = logging.getLogger(__name__)


class StateInUse(Exception):
    """Another process works with this state folder."""


class QuietHandler(WSGIRequestHandler):
    """Keeps connections open, sends small answers at once, and does not log every request."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        """Say nothing."""


class ServiceThread:
    """A WSGI application served from a thread, on a free port of this machine."""

    def __init__(self, app: Flask | None = None, port: int = 0) -> None:
        self._server: BaseWSGIServer = make_server(
            "127.0.0.1", port, app or _starting, threaded=True, request_handler=QuietHandler
        )
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever, name="service", daemon=True)

    def start(self, app: Flask) -> None:
        """Serve ``app`` from now on."""
        self._server.app = app
        self._thread.start()

    def stop(self) -> None:
        """Stop listening; requests under way end by themselves."""
        if self._thread.is_alive():
            self._server.shutdown()
            self._thread.join()
        self._server.server_close()


def _starting(_environ: object, start_response: Callable[..., object]) -> Iterator[bytes]:
    start_response("503 Service Unavailable", [("Content-Length", "0")])
    return iter(())


@contextmanager
def state_lock(state: Path) -> Iterator[None]:
    """Hold a state folder for this process.

    Raises
    ------
    StateInUse
        Another process holds it.
    OSError
        The folder cannot be made or written.
    """
    state.mkdir(parents=True, exist_ok=True)
    with (state / "lock").open("w") as handle:
        _lock(handle, state)
        yield


def _lock(handle: IO[str], state: Path) -> None:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise StateInUse(f"Another process is working with {state}; wait for it or stop it.") from None
    handle.write(f"{os.getpid()}\n")
    handle.flush()


@contextmanager
def local_stack(
    settings: Settings,
    *,
    sweep: float | None = 5.0,
    prepare: Callable[[Simulator], None] | None = None,
    adapt: Callable[[Services], Services] | None = None,
) -> Iterator[tuple[Simulator, Services]]:
    """Run simulator and service in this process until the block ends.

    Parameters
    ----------
    settings
        Endpoints, base URL and identity in it are replaced by those of the stack.
    sweep
        Seconds between sweeps.
    prepare
        Called with the simulator before anything is delivered: to open workbooks, for one.
    adapt
        Called with the services before they serve; tests put in models and faults.
    """
    service = ServiceThread()
    with Simulator(settings.state / "google", service=service.url, sweep=sweep) as simulator:
        if prepare is not None:
            prepare(simulator)
        local = replace(
            settings,
            base_url=service.url,
            sheets_endpoint=simulator.url,
            drive_endpoint=simulator.url,
            tasks_endpoint=simulator.url,
            local_identity=settings.state / "google" / "identity.json",
        )
        services = build(local)
        if adapt is not None:
            services = adapt(services)
        service.start(create_app(services=services))
        try:
            yield simulator, services
        finally:
            services.stopping.set()
            service.stop()
            services.documents.close()
