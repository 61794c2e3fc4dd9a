"""The check against Google's discovery documents finds what Google would refuse."""

import json
from typing import Any

import pytest
from discovery import problems
from requests.structures import CaseInsensitiveDict
from scripted import Received

GRID = {"sheetId": 0, "startRowIndex": 0}


def request(method: str, path: str, query: dict[str, list[str]] | None = None, body: Any = None) -> Received:
    headers = CaseInsensitiveDict({} if body is None else {"Content-Type": "application/json"})
    return Received(method, path, query or {}, headers, b"" if body is None else json.dumps(body).encode())


@pytest.mark.parametrize(
    ("service", "bad", "said"),
    [
        ("sheets.v4", request("GET", "/v4/spreadsheets/X/values/'a/b'!A1"), "no method"),
        ("sheets.v4", request("GET", "/v4/spreadsheets/X", {"maxResults": ["3"]}), "unknown query parameter"),
        (
            "sheets.v4",
            request("POST", "/v4/spreadsheets/X:batchUpdate", body={"request": []}),
            "unknown field",
        ),
        (
            "sheets.v4",
            request("POST", "/v4/spreadsheets/X/values:batchGetByDataFilter", body={"majorDimension": "ROW"}),
            "not one of",
        ),
        (
            "sheets.v4",
            request(
                "POST",
                "/v4/spreadsheets/X/values:batchGetByDataFilter",
                body={"dataFilters": [{"gridRange": {**GRID, "endRow": 3}}]},
            ),
            "unknown field body.dataFilters[0].gridRange.endRow",
        ),
        (
            "sheets.v4",
            request(
                "POST",
                "/v4/spreadsheets/X/values:batchGetByDataFilter",
                body={"dataFilters": [{"gridRange": {"sheetId": "0"}}]},
            ),
            "is str, not integer",
        ),
        ("drive.v3", request("POST", "/drive/v3/files", body={"title": "v2"}), "unknown field"),
        (
            "drive.v3",
            request("GET", "/drive/v3/files/X", {"supportsAllDrives": ["True"]}),
            "not true or false",
        ),
        (
            "drive.v3",
            request("GET", "/drive/v3/files/generateIds", {"supportsAllDrives": ["true"]}),
            "unknown",
        ),
        ("drive.v3", request("PATCH", "/upload/drive/v3/file/X"), "no method"),
        (
            "cloudtasks.v2",
            request("POST", "/v2/projects/p/locations/l/queues/q/tasks", body={"task": {"httpMethod": 1}}),
            "unknown field",
        ),
    ],
)
def test_a_request_google_would_refuse_is_found(service: str, bad: Received, said: str) -> None:
    assert said in " ".join(problems(service, bad))


def test_a_good_request_is_left_alone() -> None:
    body = {"dataFilters": [{"gridRange": GRID}], "majorDimension": "ROWS"}
    good = request("POST", "/v4/spreadsheets/X/values:batchGetByDataFilter", {"fields": ["x"]}, body)
    assert problems("sheets.v4", good) == []
