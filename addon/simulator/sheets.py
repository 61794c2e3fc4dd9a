"""Sheets v4 over HTTP."""

from typing import Any

from flask import Blueprint, Response, g, request

from addon.simulator import a1
from addon.simulator.errors import Refusal, invalid, unsupported
from addon.simulator.files import SPREADSHEET, Files
from addon.simulator.gate import answer, handles
from addon.simulator.grid import Area, Sheet
from addon.simulator.gridrequests import Editor, apply, properties_of
from addon.simulator.ranges import exceeds, filtered
from addon.simulator.workbook import Workbook
from addon.simulator.workbooks import Workbooks


def blueprint(workbooks: Workbooks, files: Files, url: str) -> Blueprint:
    """The methods of Sheets that the product uses."""
    routes = Blueprint("sheets", __name__, url_prefix="/v4/spreadsheets")

    def opened(spreadsheet_id: str, needed: str) -> tuple[Workbook, Editor]:
        file = files.find(spreadsheet_id)
        if file is None or file.mime_type != SPREADSHEET:
            raise Refusal(404, "Requested entity was not found.")
        role = files.role(file, g.caller.email)
        if role is None or (needed == "writer" and role not in {"writer", "owner"}):
            raise Refusal(403, "The caller does not have permission")
        return workbooks.get(spreadsheet_id), Editor(g.caller.email, role == "owner")

    @routes.get("/<spreadsheet_id>")
    @handles("sheets.read")
    def get(spreadsheet_id: str) -> Response:
        if request.args.get("includeGridData") == "true" and "fields" not in request.args:
            raise unsupported("includeGridData")
        if "ranges" in request.args or "data" in (g.mask or {}).get("sheets", {}):
            raise unsupported("spreadsheets.get with cells or ranges")
        workbook, editor = opened(spreadsheet_id, "reader")
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
                "spreadsheetUrl": f"{url}/file/d/{spreadsheet_id}/view",
            }
        )

    @routes.post("/<spreadsheet_id>/values:batchGetByDataFilter")
    @handles("sheets.read")
    def read_filtered(spreadsheet_id: str) -> Response:
        workbook, _ = opened(spreadsheet_id, "writer")  # Google wants a scope that may write here
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

    @routes.get("/<spreadsheet_id>/values/<path:cells>")
    @handles("sheets.read")
    def read(spreadsheet_id: str, cells: str) -> Response:
        workbook, _ = opened(spreadsheet_id, "reader")
        sheet, bounds = a1.resolve(cells, workbook.sheets)
        area = bounds.within(sheet)
        if area.first_row >= sheet.row_count or area.first_column >= sheet.column_count:
            raise exceeds(sheet, area)
        clipped = Area(
            *(area.first_row, min(area.end_row, sheet.row_count)),
            *(area.first_column, min(area.end_column, sheet.column_count)),
        )
        return answer(_value_range(sheet, clipped, _by_columns(request.args.get("majorDimension"))))

    @routes.post("/<spreadsheet_id>:batchUpdate")
    @handles("sheets.write")
    def update(spreadsheet_id: str) -> Response:
        workbook, editor = opened(spreadsheet_id, "writer")
        body = g.body or {}
        if set(body) - {"requests"}:
            raise unsupported("batchUpdate with the spreadsheet in its answer")
        with workbook.edit() as draft:
            replies = apply(draft, body.get("requests", []), editor)
        return answer({"spreadsheetId": spreadsheet_id, "replies": replies})

    return routes


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
