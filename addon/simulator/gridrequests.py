"""The requests of ``spreadsheets.batchUpdate`` that the product or its tests use."""

from collections.abc import Callable
from typing import Any

from addon.simulator import sheetrequests
from addon.simulator.errors import Refusal, invalid, unsupported
from addon.simulator.grid import Area, Sheet, SortBy
from addon.simulator.ranges import bounds_of, checked_text, fits
from addon.simulator.sheetrequests import Body, Editor, guard, sheet_of
from addon.simulator.workbook import WORKBOOK_CELLS, Draft


def apply(draft: Draft, requests: list[Body], editor: Editor) -> list[dict[str, Any]]:
    """Carry out requests in their order and return the replies. The first bad one refuses them all.

    Raises
    ------
    Refusal
        As Google refuses, naming the request.
    """
    if not requests:
        raise invalid("Must specify at least one request.")
    return [_one(draft, number, request, editor) for number, request in enumerate(requests)]


def _one(draft: Draft, number: int, request: Body, editor: Editor) -> dict[str, Any]:
    if len(request) != 1:
        raise invalid(f"Invalid value at 'requests[{number}]' (oneof), exactly one kind must be set.")
    ((kind, body),) = request.items()
    handler = _HANDLERS.get(kind)
    if handler is None:
        raise unsupported(f"the request {kind}")
    before = draft.grid_cells
    try:
        reply = handler(draft, body, editor)
        if draft.grid_cells > max(WORKBOOK_CELLS, before):
            raise invalid(
                "This action would increase the number of cells in the workbook above the limit of "
                f"{WORKBOOK_CELLS} cells."
            )
    except Refusal as refusal:
        if refusal.code == 400:
            raise invalid(f"Invalid requests[{number}].{kind}: {refusal.message}") from None
        raise
    return reply


def _inside(sheet: Sheet, area: Area) -> Area:
    for name, end, limit, what in (
        ("endRowIndex", area.end_row, sheet.row_count, "row"),
        ("endColumnIndex", area.end_column, sheet.column_count, "column"),
    ):
        if end > limit:
            raise invalid(f"GridRange.{name}[{end}] is after last {what} in grid[{sheet.sheet_id}]")
    if not fits(sheet, area):
        raise invalid("The range is empty.")
    return area


def _update_cells(draft: Draft, body: Body, editor: Editor) -> dict[str, Any]:
    fields = [name.strip() for name in body.get("fields", "").split(",") if name.strip()]
    if not fields:
        raise invalid("At least one field must be listed in 'fields'. (Use '*' to indicate all fields.)")
    if not set(fields) <= {"*", "userEnteredValue", "userEnteredValue.stringValue"}:
        raise unsupported("updateCells with fields other than userEnteredValue")
    texts = [[_text(cell) for cell in row.get("values", [])] for row in body.get("rows", [])]
    sheet, area = _target(draft, body, texts)
    guard(sheet, area, editor)
    for offset, row in enumerate(texts):
        sheet.write(area.first_row + offset, area.first_column, row)
    return {}


def _target(draft: Draft, body: Body, texts: list[list[str]]) -> tuple[Sheet, Area]:
    """Where ``updateCells`` writes. Under ``range`` the texts are padded: what is not given is cleared."""
    width = max(map(len, texts), default=0)
    if "start" in body and "range" not in body:
        start = body["start"]
        sheet = sheet_of(draft, int(start.get("sheetId", 0)))
        row, column = int(start.get("rowIndex", 0)), int(start.get("columnIndex", 0))
        for name, at, limit, what in (
            ("rowIndex", row, sheet.row_count, "row"),
            ("columnIndex", column, sheet.column_count, "column"),
        ):
            if not 0 <= at < limit:
                raise invalid(f"GridCoordinate.{name}[{at}] is after last {what} in grid[{sheet.sheet_id}]")
        area, limits = (
            Area(row, row + len(texts), column, column + width),
            (sheet.row_count, sheet.column_count),
        )
    elif "range" in body and "start" not in body:
        sheet = sheet_of(draft, int(body["range"].get("sheetId", 0)))
        area = _inside(sheet, bounds_of(body["range"]).within(sheet))
        limits = (area.end_row, area.end_column)
    else:
        raise invalid("Exactly one of start and range must be set.")
    for what, end, limit in (
        ("row", area.first_row + len(texts), limits[0]),
        ("column", area.first_column + width, limits[1]),
    ):
        if end > limit:
            raise invalid(
                f"Attempting to write {what}: {limit}, beyond the last requested {what} of: {limit - 1}"
            )
    if "range" in body:
        texts.extend([] for _ in range(area.end_row - area.first_row - len(texts)))
        for line in texts:
            line.extend([""] * (area.end_column - area.first_column - len(line)))
    return sheet, area


def _text(cell: Body) -> str:
    value = cell.get("userEnteredValue") or {}
    if set(value) - {"stringValue"}:
        raise unsupported("cells other than text: only userEnteredValue.stringValue")
    return checked_text(value.get("stringValue", ""))


def _dimension(body: Body) -> str:
    dimension = body.get("dimension", "DIMENSION_UNSPECIFIED")
    if dimension not in {"ROWS", "COLUMNS"}:
        raise invalid("No dimension specified.")
    return str(dimension)


def _append_dimension(draft: Draft, body: Body, _editor: Editor) -> dict[str, Any]:
    sheet = sheet_of(draft, int(body.get("sheetId", 0)))
    length = int(body.get("length", 0))
    if length < 1:
        raise invalid("length must be greater than zero.")
    if _dimension(body) == "ROWS":
        sheet.row_count += length
    else:
        sheet.column_count += length
    return {}


def _span(draft: Draft, body: Body) -> tuple[Sheet, str, int, int]:
    span = body.get("range", {})
    sheet, dimension = sheet_of(draft, int(span.get("sheetId", 0))), _dimension(span)
    count = sheet.row_count if dimension == "ROWS" else sheet.column_count
    first, end = int(span.get("startIndex", 0)), int(span.get("endIndex", count))
    if not 0 <= first < end:
        raise invalid("range.endIndex must be after range.startIndex.")
    return sheet, dimension, first, end


def _insert_dimension(draft: Draft, body: Body, _editor: Editor) -> dict[str, Any]:
    sheet, dimension, first, end = _span(draft, body)
    count, insert, what = (
        (sheet.row_count, sheet.insert_rows, "row")
        if dimension == "ROWS"
        else (sheet.column_count, sheet.insert_columns, "column")
    )
    if first > count or (first == 0 and body.get("inheritFromBefore", False)):
        raise invalid(f"range.startIndex[{first}] is not a place for a new {what} of a grid with {count}.")
    insert(first, end - first)
    return {}


def _delete_dimension(draft: Draft, body: Body, editor: Editor) -> dict[str, Any]:
    sheet, dimension, first, end = _span(draft, body)
    rows = dimension == "ROWS"
    count, what = (sheet.row_count, "row") if rows else (sheet.column_count, "column")
    if end > count:
        raise invalid(
            f"Cannot delete a {what} that doesn't exist. "
            f"Tried to delete {what} index {end - 1} but there are only {count} {what}s."
        )
    if end - first == count:
        raise invalid(f"You can't delete all the {what}s on the sheet.")
    area = Area(first, end, 0, sheet.column_count) if rows else Area(0, sheet.row_count, first, end)
    guard(sheet, area, editor)
    (sheet.delete_rows if rows else sheet.delete_columns)(first, end)
    return {}


def _sort_range(draft: Draft, body: Body, editor: Editor) -> dict[str, Any]:
    grid_range = body.get("range", {})
    sheet = sheet_of(draft, int(grid_range.get("sheetId", 0)))
    area = _inside(sheet, bounds_of(grid_range).within(sheet))
    guard(sheet, area, editor)
    specs = []
    for spec in body.get("sortSpecs", []):
        if set(spec) - {"dimensionIndex", "sortOrder"}:
            raise unsupported("sorting by colour or by a data source")
        column = int(spec.get("dimensionIndex", 0))
        if not area.first_column <= column < area.end_column:
            raise invalid(f"sortSpecs.dimensionIndex[{column}] is outside the range.")
        specs.append(SortBy(column, spec.get("sortOrder") == "DESCENDING"))
    sheet.sort(area, specs)
    return {}


_HANDLERS: dict[str, Callable[[Draft, Body, Editor], dict[str, Any]]] = {
    "updateCells": _update_cells,
    "appendDimension": _append_dimension,
    "insertDimension": _insert_dimension,
    "deleteDimension": _delete_dimension,
    "sortRange": _sort_range,
    "addSheet": sheetrequests.add_sheet,
    "deleteSheet": sheetrequests.delete_sheet,
    "updateSheetProperties": sheetrequests.update_sheet_properties,
}
