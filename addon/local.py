"""The whole product in one process on this machine: the simulator, and the service that calls it.

`addon run` works this way, and so do the tests: a kill ends everything at once, and the state folder is all
that stays. Only one process may use a state folder; a lock on a file in it sees to that, and the system
drops the lock with the process, however it dies.
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from flask import Flask

from addon.app import create_app
from addon.environment import with_environment
from addon.services import Services, build
from addon.settings import Settings
from addon.simulator.server import Simulator
from addon.simulator.state import hold
from addon.simulator.transport import LOOPBACK, Server


class ServiceThread:
    """A WSGI application served from a thread, on a free port of this machine.

    The address is known before the application is: its settings hold the address.
    """

    def __init__(self) -> None:
        self._server = Server(Flask(__name__, static_folder=None), 0)
        self.url = f"http://{LOOPBACK}:{self._server.server_port}"
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(0.05,), name="service", daemon=True
        )

    def start(self, app: Flask) -> None:
        """Serve ``app`` from now on."""
        self._server.app = app
        self._thread.start()

    def stop(self) -> None:
        """Stop listening and wait a little; a link under way ends by itself."""
        if self._thread.is_alive():
            self._server.stop()
            self._thread.join()
        else:
            self._server.server_close()


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
    with hold(state / "lock", f"Another process is working with {state}; wait for it or stop it."):
        yield


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
        Endpoints, base URL and accounts in it are replaced by those of the stack.
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
        services = build(with_environment(settings, simulator.service_environment))
        if adapt is not None:
            services = adapt(services)
        service.start(create_app(services=services))
        try:
            yield simulator, services
        finally:
            services.stopping.set()
            service.stop()
            services.documents.close()
