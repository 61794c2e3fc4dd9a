"""Raw HTTP to the simulator, as any client of Google's would send it."""

import base64
import json
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import requests

from addon.simulator.identity import Principal
from addon.simulator.server import Simulator

QUEUE = "projects/local/locations/local/queues/summaries"


class Api:
    """Requests that one caller makes."""

    def __init__(self, url: str, token: str) -> None:
        self.url = url
        self.session = requests.Session()
        self.session.headers["Authorization"] = f"Bearer {token}"

    def __call__(self, verb: str, path: str, body: Any = None, **sending: Any) -> requests.Response:
        if body is not None:
            sending["json"] = body
        return self.session.request(verb, self.url + path, timeout=30, **sending)

    def ok(self, verb: str, path: str, body: Any = None, **sending: Any) -> Any:
        response = self(verb, path, body, **sending)
        assert response.status_code < 300, response.text
        return response.json() if response.content else None

    def read(self, spreadsheet_id: str, *ranges: dict[str, int]) -> Any:
        filters = [{"gridRange": {"sheetId": 0, **item}} for item in ranges or ({},)]
        return self.ok(
            "POST", f"/v4/spreadsheets/{spreadsheet_id}/values:batchGetByDataFilter", {"dataFilters": filters}
        )["valueRanges"]

    def values(self, spreadsheet_id: str) -> list[list[str]]:
        (found,) = self.read(spreadsheet_id)
        return found["valueRange"].get("values", [])

    def change(self, spreadsheet_id: str, *changes: dict[str, Any]) -> requests.Response:
        return self("POST", f"/v4/spreadsheets/{spreadsheet_id}:batchUpdate", {"requests": list(changes)})

    def upload(
        self, metadata: dict[str, Any], content: bytes, file_id: str = "", **params: str
    ) -> requests.Response:
        parts = (
            b"--sep\r\nContent-Type: application/json; charset=UTF-8\r\n\r\n"
            + json.dumps(metadata).encode()
            + b"\r\n--sep\r\nContent-Type: text/csv\r\n\r\n"
            + content
            + b"\r\n--sep--"
        )
        return self(
            "PATCH" if file_id else "POST",
            f"/upload/drive/v3/files{'/' + file_id if file_id else ''}",
            data=parts,
            params={"uploadType": "multipart", **params},
            headers={"Content-Type": "multipart/related; boundary=sep"},
        )


@contextmanager
def caller(simulator: Simulator, principal: Principal | None = None) -> Iterator[Api]:
    """The user, or somebody else, calling."""
    api = Api(simulator.url, (principal or simulator.identity.user).token)
    with api.session:
        yield api


def write(row: int, column: int, *texts: str, sheet_id: int = 0) -> dict[str, Any]:
    """An ``updateCells`` request of one column, as text."""
    return {
        "updateCells": {
            "start": {"sheetId": sheet_id, "rowIndex": row, "columnIndex": column},
            "rows": [{"values": [{"userEnteredValue": {"stringValue": text}}]} for text in texts],
            "fields": "userEnteredValue",
        }
    }


def error(response: requests.Response, status: int) -> str:
    """The sentence of an error, whose status must be ``status``."""
    assert response.status_code == status, response.text
    found = response.json()["error"]
    assert found["code"] == status
    return found["message"]


def reason(response: requests.Response, status: int) -> str:
    """Drive's reason word."""
    error(response, status)
    return response.json()["error"]["errors"][0]["reason"]


class Receiver:
    """A service that tasks are delivered to. Answers ``statuses`` in turn, then 200.

    Parameters
    ----------
    hold
        Each request waits for it before it is answered.
    """

    def __init__(self, statuses: Iterable[int] = (), hold: threading.Event | None = None) -> None:
        self.got: list[tuple[str, dict[str, str], bytes]] = []
        self.arrived = threading.Semaphore(0)
        self._statuses = iter(statuses)
        self._hold = hold
        self._lock = threading.Lock()
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                receiver._receive(self)

            def log_message(self, *_: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def _receive(self, handler: BaseHTTPRequestHandler) -> None:
        body = handler.rfile.read(int(handler.headers.get("Content-Length") or 0))
        with self._lock:
            self.got.append((handler.path, dict(handler.headers), body))
            status = next(self._statuses, 200)
        self.arrived.release()
        if self._hold is not None:
            self._hold.wait(30)
        try:
            handler.send_response(status)
            handler.send_header("Content-Length", "0")
            handler.end_headers()
        except ConnectionError:
            pass  # the queue has stopped listening

    def wait(self, number: int) -> None:
        """Wait until that many more requests have come."""
        for _ in range(number):
            assert self.arrived.acquire(timeout=30), f"only {len(self.got)} deliveries"

    def headers(self, name: str) -> list[str | None]:
        """A header of every delivery, with the X-CloudTasks- in front left out of ``name``."""
        return [headers.get(f"X-CloudTasks-{name}") for _, headers, _ in self.got]

    def __enter__(self) -> "Receiver":
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._hold is not None:
            self._hold.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


def task(url: str, name: str = "", **more: Any) -> dict[str, Any]:
    """The body of ``tasks.create``."""
    request = {
        "url": f"{url}/tasks/link",
        "httpMethod": 1,
        "headers": {"Content-Type": "application/json", "X-CloudTasks-Forged": "1"},
        "body": base64.b64encode(b'{"job": "j1"}').decode(),
        "oidcToken": {"serviceAccountEmail": "worker@local.iam.gserviceaccount.com", "audience": url},
    }
    named = {"name": f"{QUEUE}/tasks/{name}"} if name else {}
    return {"task": {"httpRequest": request, **named, **more}}
