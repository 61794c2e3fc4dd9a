"""Requests are checked against the discovery documents that Google publishes."""

from pathlib import Path

import pytest
from simulated import Api, caller, error, write

from addon.simulator import schema
from addon.simulator.server import Simulator


@pytest.fixture
def sid(simulator: Simulator) -> str:
    return simulator.workbooks.create("Inquiries", [["id"]])


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        ({"request": []}, 'Unknown name "request"'),
        ({"requests": [{"updateCell": {}}]}, "Unknown name \"updateCell\" at 'requests[0]'"),
        ({"requests": [{"updateCells": {"start": {"sheetID": 0}}}]}, 'Unknown name "sheetID"'),
        ({"requests": {"updateCells": {}}}, "Invalid value at 'requests'"),
        ({"requests": [{"appendDimension": {"dimension": "ROW"}}]}, "Invalid value at"),
        ({"requests": [{"appendDimension": {"length": "many"}}]}, "Invalid value at"),
        ({"requests": [{"updateCells": {"fields": 5}}]}, "Invalid value at"),
    ],
)
def test_unknown_and_ill_typed_fields_are_refused_at_any_depth(
    api: Api, sid: str, body: dict, sentence: str
) -> None:
    response = api("POST", f"/v4/spreadsheets/{sid}:batchUpdate", body)
    assert sentence in error(response, 400)
    assert response.json()["error"]["status"] == "INVALID_ARGUMENT"


@pytest.mark.parametrize(
    ("verb", "path"),
    [
        ("GET", "/v4/spreadsheets/{sid}?maxResults=3"),
        ("GET", "/v4/spreadsheets/{sid}?includeGridData=True"),
        ("GET", "/v4/spreadsheets/{sid}/values/A1?valueRenderOption=formatted"),
        ("GET", "/v4/spreadsheets/{sid}/values/A1?majorDimension=ROWS&majorDimension=COLUMNS"),
        ("GET", "/drive/v3/files?maxResults=3"),
        ("GET", "/drive/v3/files/generateIds?count=x"),
        ("GET", "/drive/v3/files?supportsAllDrives=True&includeItemsFromAllDrives=True"),
        ("GET", "/drive/v3/files/{sid}?fields=title"),
        ("POST", "/v4/spreadsheets/{sid}/values:batchGetByDataFilter?valueRenderOption=FORMULA"),
    ],
)
def test_query_parameters_are_checked(api: Api, sid: str, verb: str, path: str) -> None:
    body = None if verb == "GET" else {"dataFilters": [{"gridRange": {}}]}
    error(api(verb, path.format(sid=sid), body), 400)


def test_drive_fields_of_older_versions_are_refused(api: Api) -> None:
    assert 'Unknown name "title"' in error(api("POST", "/drive/v3/files", {"title": "x"}), 400)
    metadata = {"name": "x", "labels": {}}
    assert 'Unknown name "labels"' in error(api.upload(metadata, b"x"), 400)


def test_a_method_that_google_has_and_the_simulator_has_not_says_so(api: Api, sid: str) -> None:
    path = f"/v4/spreadsheets/{sid}/values/A1:append"
    assert "does not imitate" in error(api("POST", path, {"values": [["x"]]}), 501)
    assert "does not imitate" in error(
        api("POST", f"/v4/spreadsheets/{sid}:batchUpdate", {"requests": [{"addChart": {}}]}), 501
    )


@pytest.mark.parametrize(
    "path", ["/v4/spreadsheet/x", "/v4/spreadsheets/x:batchUpdates", "/drive/v2/files", "/x"]
)
def test_what_google_has_not_is_not_found(api: Api, path: str) -> None:
    assert api("POST", path, {}).status_code == 404


@pytest.mark.parametrize(
    "body",
    [
        b"{",
        b'{"requests": NaN}',
        b'{"requests": [{"updateCells": {"fields": "\\ud83d"}}]}',
        b'{"requests": "\xff"}',
        b"[]",
        b'"text"',
    ],
)
def test_a_body_that_is_no_json_object_is_refused(api: Api, sid: str, body: bytes) -> None:
    message = error(api("POST", f"/v4/spreadsheets/{sid}:batchUpdate", data=body), 400)
    assert message.startswith("Invalid JSON payload received. ")
    assert "Unexpected token" in message or "Root element" in message


def test_numbers_and_formulas_are_refused_rather_than_imitated(api: Api, sid: str) -> None:
    for value in ({"numberValue": 1}, {"formulaValue": "=1"}, {"boolValue": True}):
        request = write(0, 0, "x")
        request["updateCells"]["rows"][0]["values"][0]["userEnteredValue"] = value
        assert "does not imitate cells other than text" in error(api.change(sid, request), 501)


def test_without_the_documents_it_says_that_nothing_is_checked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(schema, "_folder", lambda: None)
    with Simulator(tmp_path / "state") as simulator, caller(simulator) as api:
        assert not simulator.schema_checked
        sid = simulator.workbooks.create("Inquiries", [["id"]])
        assert api.values(sid) == [["id"]]
        assert api("POST", "/v4/nothing", {}).status_code == 404
