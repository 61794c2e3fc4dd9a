"""Sheets v4 over HTTP."""

from typing import Any

from flask import Response, g, request

from addon.simulator import a1
from addon.simulator.errors import Refusal, invalid, unsupported
from addon.simulator.filemeta import SPREADSHEET, at_least
from addon.simulator.files import Files
from addon.simulator.gate import answer, route
from addon.simulator.grid import Area, Sheet
from addon.simulator.gridrequests import apply
from addon.simulator.ranges import exceeds, filtered
from addon.simulator.sheetrequests import Editor, properties_of
from addon.simulator.workbook import Workbook
from addon.simulator.workbooks import Workbooks


class Sheets:
    """The methods of Sheets that the product uses."""

    def __init__(self, workbooks: Workbooks, files: Files, url: str) -> None:
        self._workbooks = workbooks
        self._files = files
        self._url = url

    def _opened(self, spreadsheet_id: str, needed: str) -> tuple[Workbook, Editor]:
        file = self._files.find(spreadsheet_id)
        if file is None or file.mime_type != SPREADSHEET:
            raise Refusal(404, "Requested entity was not found.")
        role = self._files.admit(file, g.caller.email)
        if not at_least(role, needed):
            raise Refusal(403, "The caller does not have permission")
        return self._workbooks.get(spreadsheet_id), Editor(g.caller.email, role == "owner")

    @route("GET", "/<spreadsheet_id>", "sheets.read")
    def get(self, spreadsheet_id: str) -> Response:
        if request.args.get("includeGridData") == "true" and "fields" not in request.args:
            raise unsupported("includeGridData")
        if "ranges" in request.args or "data" in (g.mask or {}).get("sheets", {}):
            raise unsupported("spreadsheets.get with cells or ranges")
        workbook, editor = self._opened(spreadsheet_id, "reader")
        properties = {
            "title": workbook.title,
            "locale": workbook.locale,
            "autoRecalc": "ON_CHANGE",
            "timeZone": workbook.time_zone,
        }
        sheets = [_shown(sheet, index, editor) for index, sheet in enumerate(workbook.sheets)]
        return answer(
            {
                "spreadsheetId": spreadsheet_id,
                "properties": properties,
                "sheets": sheets,
                "spreadsheetUrl": f"{self._url}/file/d/{spreadsheet_id}/view",
            }
        )

    @route("POST", "/<spreadsheet_id>/values:batchGetByDataFilter", "sheets.read")
    def read_filtered(self, spreadsheet_id: str) -> Response:
        workbook, _ = self._opened(spreadsheet_id, "reader")
        sheets = workbook.sheets
        filters = (g.body or {}).get("dataFilters", [])
        if not filters:
            raise invalid("Must specify at least one data filter.")
        columns = _by_columns(g.body.get("majorDimension"))
        matched: dict[str, dict[str, Any]] = {}
        for data_filter in filters:
            sheet, area = filtered(data_filter, sheets)
            values = _value_range(sheet, area, columns)
            # Filters that select the same range share one entry, which lists them all.
            entry = matched.setdefault(values["range"], {"valueRange": values, "dataFilters": []})
            entry["dataFilters"].append(data_filter)
        return answer({"spreadsheetId": spreadsheet_id, "valueRanges": list(matched.values())})

    @route("GET", "/<spreadsheet_id>/values/<path:cells>", "sheets.read")
    def read(self, spreadsheet_id: str, cells: str) -> Response:
        workbook, _ = self._opened(spreadsheet_id, "reader")
        sheet, bounds = a1.resolve(cells, workbook.sheets)
        area = bounds.within(sheet)
        if area.first_row >= sheet.row_count or area.first_column >= sheet.column_count:
            raise exceeds(sheet, area)
        clipped = Area(
            *(area.first_row, min(area.end_row, sheet.row_count)),
            *(area.first_column, min(area.end_column, sheet.column_count)),
        )
        return answer(_value_range(sheet, clipped, _by_columns(request.args.get("majorDimension"))))

    @route("POST", "/<spreadsheet_id>:batchUpdate", "sheets.write")
    def update(self, spreadsheet_id: str) -> Response:
        workbook, editor = self._opened(spreadsheet_id, "writer")
        body = g.body or {}
        if set(body) - {"requests"}:
            raise unsupported("batchUpdate with the spreadsheet in its answer")
        with workbook.edit() as draft:
            replies = apply(draft, body.get("requests", []), editor)
        return answer({"spreadsheetId": spreadsheet_id, "replies": replies})


def _shown(sheet: Sheet, index: int, editor: Editor) -> dict[str, Any]:
    shown: dict[str, Any] = {"properties": properties_of(sheet, index)}
    if sheet.protections:
        shown["protectedRanges"] = [
            {
                "protectedRangeId": number,
                "range": {
                    "sheetId": sheet.sheet_id,
                    "startRowIndex": item.area.first_row,
                    "endRowIndex": item.area.end_row,
                    "startColumnIndex": item.area.first_column,
                    "endColumnIndex": item.area.end_column,
                },
                "requestingUserCanEdit": editor.owner or editor.email in item.editors,
            }
            for number, item in enumerate(sheet.protections, start=1)
        ]
    return shown


def _by_columns(dimension: str | None) -> bool:
    return dimension == "COLUMNS"


def _value_range(sheet: Sheet, area: Area, columns: bool) -> dict[str, Any]:
    values = sheet.read(area)
    if columns:
        width = max(map(len, values), default=0)
        padded = [row + [""] * (width - len(row)) for row in values]
        values = [_trimmed(list(column)) for column in zip(*padded, strict=True)]
    shown = {"range": a1.show(sheet, area), "majorDimension": "COLUMNS" if columns else "ROWS"}
    return {**shown, "values": values} if values else shown  # an empty range has no `values` at all


def _trimmed(column: list[str]) -> list[str]:
    while column and not column[-1]:
        column.pop()
    return column
