"""What a request's ranges mean on the sheets there are, and what lies outside them."""

from collections.abc import Mapping, Sequence
from typing import Any

from addon.simulator import a1
from addon.simulator.errors import Refusal, invalid, unsupported
from addon.simulator.grid import Area, Sheet

CELL_UNITS = 50_000
"""Most characters of one cell (Sheets API); counted in UTF-16 units, the stricter of the two readings."""


def no_grid(sheet_id: int) -> Refusal:
    """There is no sheet with this id."""
    return invalid(f"No grid with id: {sheet_id}")


def bounds_of(grid_range: Mapping[str, Any]) -> a1.Bounds:
    """The bounds of a ``GridRange``; absent ends are open.

    Raises
    ------
    Refusal
        An index is negative, or an end is not after its start.
    """
    bounds = a1.Bounds(
        grid_range.get("startRowIndex"),
        grid_range.get("endRowIndex"),
        grid_range.get("startColumnIndex"),
        grid_range.get("endColumnIndex"),
    )
    for start, end in ((bounds.first_row, bounds.end_row), (bounds.first_column, bounds.end_column)):
        if (start or 0) < 0 or (end is not None and end <= (start or 0)):
            raise invalid("GridRange indexes must not be negative, and each end must be after its start.")
    return bounds


def find(sheets: Sequence[Sheet], sheet_id: int) -> Sheet:
    """The sheet with this id.

    Raises
    ------
    Refusal
        There is none.
    """
    for sheet in sheets:
        if sheet.sheet_id == sheet_id:
            return sheet
    raise no_grid(sheet_id)


def fits(sheet: Sheet, area: Area) -> bool:
    """Whether ``area`` is inside the sheet's grid."""
    return (
        area.first_row < area.end_row <= sheet.row_count
        and area.first_column < area.end_column <= sheet.column_count
    )


def exceeds(sheet: Sheet, area: Area) -> Refusal:
    """The answer of the values methods to a range that is not inside the grid."""
    shown = a1.show(
        sheet,
        Area(
            area.first_row,
            max(area.end_row, area.first_row + 1),
            area.first_column,
            max(area.end_column, area.first_column + 1),
        ),
    )
    return invalid(
        f"Range ({shown}) exceeds grid limits. Max rows: {sheet.row_count}, max columns: {sheet.column_count}"
    )


def filtered(data_filter: Mapping[str, Any], sheets: Sequence[Sheet]) -> tuple[Sheet, Area]:
    """The area a data filter selects. It must be inside the grid as a whole.

    Raises
    ------
    Refusal
        It selects nothing, or what is not there.
    """
    if len(data_filter) != 1:
        raise invalid("Exactly one of developerMetadataLookup, a1Range and gridRange must be set.")
    if "gridRange" in data_filter:
        grid_range = data_filter["gridRange"]
        sheet = find(sheets, int(grid_range.get("sheetId", 0)))
        area = bounds_of(grid_range).within(sheet)
    elif "a1Range" in data_filter:
        sheet, bounds = a1.resolve(data_filter["a1Range"], sheets)
        area = bounds.within(sheet)
    else:
        raise unsupported("data filters by developer metadata")
    if not fits(sheet, area):
        raise exceeds(sheet, area)
    return sheet, area


def checked_text(text: str) -> str:
    """A text that fits into a cell.

    Raises
    ------
    Refusal
        It is too long.
    """
    if len(text) * 2 > CELL_UNITS and len(text.encode("utf-16-le")) // 2 > CELL_UNITS:
        raise invalid(
            f"Your input contains more than the maximum of {CELL_UNITS} characters in a single cell."
        )
    return text
