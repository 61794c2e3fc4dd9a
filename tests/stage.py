"""A real service process against the simulator, at rest, for callers of every kind.

The simulator runs in this process: only so there are access tokens for more people than its user. Its queue
is paused and nothing sweeps, so whatever changes between two looks was done by the request in between.
"""

import hashlib
import http.client
import json
import os
import signal
import socket
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import requests
from google.auth import crypt, jwt

from addon.jobs.records import job_id
from addon.simulator.identity import CLIENT_ID, SCHEDULER_ACCOUNT, SYSTEM_ACCOUNT, TASKS_ACCOUNT
from addon.simulator.keys import id_claims, make_key, subject_of
from addon.simulator.page_events import SCOPES
from addon.simulator.server import Simulator

ROOT = Path(__file__).resolve().parent.parent
OWNER, COLLEAGUE, STRANGER = "you@example.com", "colleague@example.com", "stranger@example.com"
ADMIN, BOSS = "admin@example.com", "boss@example.com"
ROWS = [["id", "text"], ["1", "The lift is stuck again."], ["2", "Where is my parcel?"]]
FORM = {
    "sheet": ["0"],
    "sources_0": ["text"],
    "output_0": ["new"],
    "new_title": ["Summary"],
    "instructions": ["Summarise."],
    "mode": ["all"],
}
Json = dict[str, Any]


class State(NamedTuple):
    """Everything a request could have had an effect on."""

    store: str
    queue: tuple[str, ...]
    google: Counter[str]


@dataclass(frozen=True)
class Answer:
    """What came back; status 0 where the connection was closed without a word."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        """The body, decoded."""
        return json.loads(self.body)


class Stage:
    """The service, its Google, and what callers send."""

    def __init__(self, simulator: Simulator, folder: Path, port: int) -> None:
        self.google = simulator
        self.identity = simulator.identity
        self.folder = folder
        self.port = port
        self.url = f"http://127.0.0.1:{port}"
        self.log = folder / "log"
        self.stranger_key = make_key("a stranger")
        # Reading a private key takes longer than a request; a test here makes three tokens.
        self._signer = crypt.RSASigner.from_string(self.identity.google.private, self.identity.google.id)
        self.mine = self.book(OWNER, "Inquiries of mine")
        self.theirs = self.book(BOSS, "Inquiries of the boss")

    def book(self, owner: str, title: str) -> str:
        """A workbook its owner has opened with the add-on; its id."""
        sid = self.google.workbooks.create(title, ROWS, owner=owner)
        self.google.files.grant(sid, owner)
        return sid

    def let(self, spreadsheet: str, email: str, role: str = "writer") -> None:
        """Share a workbook, and have the person open it with the add-on."""
        self.google.files.share(self.google.files.known(spreadsheet), email, role)
        self.google.files.grant(spreadsheet, email)

    # proofs

    def claims(self, audience: str, account: str, **changes: Any) -> Json:
        """What Google would say in a token, but for the changes; ``None`` leaves a claim out."""
        changed = id_claims(audience, subject_of(account), account) | changes
        return {name: value for name, value in changed.items() if value is not None}

    def signed(self, claims: Json) -> str:
        """A token of Google's."""
        token: bytes = jwt.encode(self._signer, claims)
        return token.decode()

    def system(self, path: str = "/sidebar/home", email: str = SYSTEM_ACCOUNT, **changes: Any) -> str:
        """A system token, signed by Google."""
        return self.signed(self.claims(f"{self.url}{path}", email, **changes))

    def person(self, email: str = OWNER, audience: str = CLIENT_ID, **changes: Any) -> str:
        """A person's ID token, signed by Google."""
        return self.signed(self.claims(audience, email, **changes))

    def automaton(self, caller: str, **changes: Any) -> str:
        """The token of the queue (``tasks``) or the scheduler (``schedule``)."""
        account = TASKS_ACCOUNT if caller == "tasks" else SCHEDULER_ACCOUNT
        return self.signed(self.claims(f"{self.url}/{caller}", account, **changes))

    # requests

    def event(
        self,
        path: str = "/sidebar/home",
        email: str = OWNER,
        *,
        spreadsheet: str = "",
        filled: Mapping[str, list[str]] | None = None,
        proof: Json | None = None,
        **parameters: str,
    ) -> Json:
        """An event object with everything right; ``proof`` replaces tokens, ``None`` leaves one out."""
        said = {
            "userOAuthToken": self.identity.issue(email, SCOPES),
            "userIdToken": self.person(email),
            "systemIdToken": self.system(path),
            "authorizedScopes": list(SCOPES),
        } | (proof or {})
        spreadsheet = spreadsheet or self.mine
        inputs = {name: {"stringInputs": {"value": value}} for name, value in (filled or {}).items()}
        return {
            "commonEventObject": {
                "hostApp": "SHEETS",
                "parameters": {"spreadsheetId": spreadsheet, **parameters},
                "formInputs": inputs,
            },
            "authorizationEventObject": {name: value for name, value in said.items() if value is not None},
            "sheets": {"addonHasFileScopePermission": True, "id": spreadsheet, "title": "a title"},
        }

    def request(
        self,
        target: str,
        body: bytes | Json = b"",
        *,
        method: str = "POST",
        token: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> bytes:
        """The bytes of a request; with an event as body its system token is also in the header."""
        if isinstance(body, dict):
            said = body.get("authorizationEventObject", {})
            token = said.get("systemIdToken") if token is None else token
            body = json.dumps(body).encode()
        lines = {
            "Host": f"127.0.0.1:{self.port}",
            "Content-Type": "application/json",
            "Content-Length": str(len(body)),
            **({"Authorization": f"Bearer {token}"} if token else {}),
            **(headers or {}),
        }
        head = "".join(f"{name}: {value}\r\n" for name, value in lines.items() if value is not None)
        return f"{method} {target} HTTP/1.1\r\n{head}\r\n".encode("latin-1") + body

    def send(self, request: bytes, *, method: str = "POST") -> Answer:
        """Send bytes as they are; the first answer."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=30) as connection:
            with suppress(ConnectionError):  # it may answer before it has read everything
                connection.sendall(request)
            response = http.client.HTTPResponse(connection, method=method)
            try:
                response.begin()
                return Answer(response.status, dict(response.getheaders()), response.read())
            except (http.client.HTTPException, ConnectionError):
                return Answer(0, {}, b"")

    def click(self, action: str, email: str = OWNER, **more: Any) -> Answer:
        """A proper call of the sidebar."""
        path = f"/sidebar/{action}"
        return self.send(self.request(path, self.event(path, email, **more)))

    def run(self, email: str, spreadsheet: str) -> str:
        """Start a job; its id."""
        request_id = hashlib.sha256(os.urandom(9)).hexdigest()
        given = {"requestId": request_id, "sheetId": "0", "filled": FORM}
        answer = self.click("run", email, spreadsheet=spreadsheet, **given)
        assert b'"status"' in answer.body, answer.body
        return job_id(spreadsheet, request_id)

    # looking

    def state(self) -> State:
        """How everything stands."""
        with sqlite3.connect(f"file:{self.folder / 'store.sqlite'}?mode=ro", uri=True) as store:
            rows = store.execute("SELECT * FROM documents ORDER BY collection, id").fetchall()
        store.close()
        return State(repr(rows), tuple(self.google.queue.pending()), self.google.counts)

    def job(self, found: str) -> Json:
        """A job's document."""
        with sqlite3.connect(f"file:{self.folder / 'store.sqlite'}?mode=ro", uri=True) as store:
            ((data,),) = store.execute(
                "SELECT data FROM documents WHERE collection = 'jobs' AND id = ?", [found]
            )
        store.close()
        return dict(json.loads(data))

    def logged(self, since: int) -> str:
        """The log from that position on."""
        return self.log.read_text()[since:]


@contextmanager
def staged(folder: Path) -> Iterator[Stage]:
    """Run simulator and service until the block ends."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    with Simulator(folder / "google", service=f"http://127.0.0.1:{port}") as simulator:
        simulator.queue.pause()
        stage = Stage(simulator, folder, port)
        environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith("ADDON_")},
            **simulator.service_environment,
            "PYTHONPATH": str(ROOT),
            "ADDON_STATE": str(folder),
            "ADDON_ADMINS": ADMIN,
            "ADDON_LOG_FORMAT": "json",
        }
        command = [sys.executable, "-m", "addon", "serve", "--bind", f"127.0.0.1:{port}"]
        with (
            stage.log.open("w") as log,
            subprocess.Popen(
                command, cwd=ROOT, env=environment, stderr=log, start_new_session=True
            ) as process,
        ):
            try:
                _wait_until_ready(stage)
                yield stage
            finally:
                os.killpg(process.pid, signal.SIGKILL)


def _wait_until_ready(stage: Stage) -> None:
    end = time.monotonic() + 30
    while time.monotonic() < end:
        try:
            if requests.get(f"{stage.url}/readyz", timeout=5).status_code == 200:
                return
        except requests.ConnectionError:
            time.sleep(0.05)
    pytest.fail(f"the service did not start: {stage.log.read_text()}")
