"""The simulator as a whole: Sheets, Drive, Cloud Tasks and sign-in behind one loopback port."""

import logging
import threading
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from urllib.parse import urlsplit

from flask import Flask

from addon.simulator import page_routes
from addon.simulator.control import Control
from addon.simulator.delivery import Courier
from addon.simulator.drive import Drive
from addon.simulator.faults import Counts, Faults, Quota
from addon.simulator.filecontrol import FileControl
from addon.simulator.files import Files
from addon.simulator.gate import Gate, mount
from addon.simulator.identity import (
    CLIENT_ID,
    SCHEDULER_ACCOUNT,
    SYSTEM_ACCOUNT,
    TASKS_ACCOUNT,
    load_identity,
    write_worker_file,
)
from addon.simulator.oauth import OAuth
from addon.simulator.schema import Schema
from addon.simulator.sharing import Sharing
from addon.simulator.sheets import Sheets
from addon.simulator.state import State
from addon.simulator.taskroutes import Tasks
from addon.simulator.tasks import TaskQueue
from addon.simulator.transport import LOOPBACK, Server
from addon.simulator.view import View
from addon.simulator.workbooks import Workbooks

logger = logging.getLogger(__name__)


class Simulator:
    """Google on this machine. Use it as a context manager, or call `start` and `stop`.

    Parameters
    ----------
    state
        Folder for everything it keeps; starting again on the same folder goes on where it stopped.
    service
        URL of the add-on's service, for the sweep.
    port
        Where it listens on 127.0.0.1; 0 for any free port.
    sweep
        Seconds between calls of ``<service>/schedule/sweep``; ``None`` for no calls.
    quota
        Reads, and writes, per minute and caller that Sheets allows (Google: 60); ``None`` for any number.
    clock
        Seconds since 1970, for quotas, dates and for how long a task's name stays taken.
    """

    def __init__(
        self,
        state: Path,
        *,
        service: str | None = None,
        port: int = 0,
        sweep: float | None = None,
        quota: int | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        if service is not None and urlsplit(service).hostname not in {LOOPBACK, "localhost"}:
            raise ValueError("The simulator calls a service on this machine only.")
        self.service = service
        self._state = State(state)
        self._stopping = threading.Event()
        self._counts = Counts()
        self._schema = Schema()
        self._sweep = sweep if service else None
        self._threads: list[threading.Thread] = []
        self.identity_file = self._state.folder / "identity.json"
        self.identity = load_identity(self.identity_file)
        self.faults = Faults()
        self.quota = Quota(quota, clock)
        self.files = Files(self._state, clock)
        self.workbooks = Workbooks(self._state, self.files, self.identity.user.email)
        self._courier = Courier(self.identity.id_token)
        self.queue = TaskQueue(self._state, self._courier, self.faults, self._counts, clock)
        app = Flask("addon.simulator", static_folder=None)
        app.json.sort_keys = False  # type: ignore[attr-defined]
        app.json.ensure_ascii = False  # type: ignore[attr-defined]
        self._server = Server(app, port)
        self.url = f"http://{LOOPBACK}:{self._server.server_port}"
        self.worker_file = self._state.folder / "worker-key.json"
        write_worker_file(self.worker_file, self.identity, f"{self.url}/token")
        self.oauth = OAuth(self.identity)
        self._route(app)

    def _route(self, app: Flask) -> None:
        Gate(
            self.identity,
            self._schema,
            self.faults,
            self._counts,
            self.quota,
            self.files.granted,
            self._stopping,
        ).install(app)
        sheets = Sheets(self.workbooks, self.files, self.url)
        app.register_blueprint(mount("sheets", sheets, "/v4/spreadsheets"))
        app.register_blueprint(mount("drive", Drive(self.files, self.identity, self.url)))
        sharing = Sharing(self.files)
        app.register_blueprint(mount("sharing", sharing, "/drive/v3/files/<file_id>/permissions"))
        app.register_blueprint(mount("tasks", Tasks(self.queue)))
        app.register_blueprint(mount("oauth", self.oauth))
        app.register_blueprint(mount("view", View(self.files, self.workbooks)))
        control = Control(self.identity, self.faults, self._counts, self.queue)
        for name, views in {"control": control, "filecontrol": FileControl(self.files)}.items():
            controls = mount(name, views, "/simulator")
            controls.before_request(control.authenticate)
            app.register_blueprint(controls)
        app.register_blueprint(page_routes.blueprint(self))

    @property
    def schema_checked(self) -> bool:
        """Whether requests are checked against Google's own description of its APIs."""
        return self._schema.active

    @property
    def counts(self) -> Counter[str]:
        """Requests so far per kind; a kind that never came counts 0."""
        return self._counts.now()

    def reset_counts(self) -> None:
        """Count from 0 again."""
        self._counts.reset()

    def start(self) -> None:
        """Answer requests, deliver tasks, and sweep."""
        self._threads.append(
            threading.Thread(target=self._server.serve_forever, args=(0.05,), name="simulator", daemon=True)
        )
        if self._sweep is not None:
            self._threads.append(
                threading.Thread(target=self._sweep_on, args=(self._sweep,), name="sweep", daemon=True)
            )
        for thread in self._threads:
            thread.start()
        self.queue.start()

    def stop(self) -> None:
        """End everything; what was answered is on disk."""
        self._stopping.set()
        self.queue.stop()
        self.faults.clear()
        self._server.stop()
        for thread in self._threads:
            thread.join()
        self._state.close()

    @property
    def service_environment(self) -> dict[str, str]:
        """The settings of a service whose Google this simulator is."""
        return {
            "ADDON_SHEETS_ENDPOINT": self.url,
            "ADDON_DRIVE_ENDPOINT": self.url,
            "ADDON_TASKS_ENDPOINT": self.url,
            "ADDON_CERTS_URL": f"{self.url}/oauth2/v1/certs",
            "ADDON_SYSTEM_ACCOUNT": SYSTEM_ACCOUNT,
            "ADDON_CLIENT_ID": CLIENT_ID,
            "ADDON_WORKER_ACCOUNT": self.identity.worker.email,
            "ADDON_TASKS_ACCOUNT": TASKS_ACCOUNT,
            "ADDON_SCHEDULER_ACCOUNT": SCHEDULER_ACCOUNT,
            "ADDON_CREDENTIALS": str(self.worker_file),
            **({"ADDON_BASE_URL": self.service} if self.service else {}),
        }

    def _sweep_on(self, seconds: float) -> None:
        url, audience = f"{self.service}/schedule/sweep", f"{self.service}/schedule"
        while not self._stopping.wait(seconds):
            status = self._courier.schedule(url, audience, deadline=60.0)
            if status >= 300:
                logger.info("The sweep was answered with %s.", status)

    def __enter__(self) -> "Simulator":
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.stop()
