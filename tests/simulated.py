"""Raw HTTP to the simulator, as any client of Google's would send it."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
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
