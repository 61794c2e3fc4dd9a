"""The requests of ``spreadsheets.batchUpdate`` that are about whole sheets, and what all requests share."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from addon.simulator.errors import invalid, unsupported
from addon.simulator.grid import Area, Sheet
from addon.simulator.ranges import find, no_grid
from addon.simulator.workbook import Draft

Body = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Editor:
    """Who asks for the changes; the owner may change protected cells too."""

    email: str
    owner: bool


def properties_of(sheet: Sheet, index: int) -> dict[str, Any]:
    """A sheet's ``SheetProperties``."""
    properties = {
        "sheetId": sheet.sheet_id,
        "title": sheet.title,
        "index": index,
        "sheetType": "GRID",
        "gridProperties": {"rowCount": sheet.row_count, "columnCount": sheet.column_count},
    }
    return properties | ({"hidden": True} if sheet.hidden else {})


def sheet_of(draft: Draft, sheet_id: int) -> Sheet:
    """A sheet of the draft, to change."""
    if draft.look(sheet_id) is None:
        raise no_grid(sheet_id)
    return draft.sheet(sheet_id)


def guard(sheet: Sheet, area: Area, editor: Editor) -> None:
    """Refuse to change protected cells."""
    if editor.owner:
        return
    for protection in sheet.protections:
        if protection.area.meets(area) and editor.email not in protection.editors:
            raise invalid(
                "You are trying to edit a protected cell or object. Please contact the spreadsheet owner to "
                "remove protection if you need to edit."
            )


def add_sheet(draft: Draft, body: Body, _editor: Editor) -> dict[str, Any]:
    """Add a sheet; its title and id must be free."""
    properties = body.get("properties", {})
    if set(properties) - {"sheetId", "title", "gridProperties"}:
        raise unsupported("addSheet with properties other than sheetId, title and gridProperties")
    grid = properties.get("gridProperties", {})
    title, sheet_id = properties.get("title"), properties.get("sheetId")
    if title is not None:
        _free_title(draft, title, None)
    if sheet_id is not None and draft.look(int(sheet_id)) is not None:
        raise invalid(f"Sheet with id {sheet_id} already exists. Please use a different id.")
    sheet = draft.add(title, int(grid.get("rowCount", 1000)), int(grid.get("columnCount", 26)), sheet_id)
    return {"addSheet": {"properties": properties_of(sheet, len(draft.sheets) - 1)}}


def delete_sheet(draft: Draft, body: Body, editor: Editor) -> dict[str, Any]:
    """Delete a sheet, but not the last that people see."""
    sheet = find(draft.sheets, int(body.get("sheetId", 0)))
    if all(other.hidden or other is sheet for other in draft.sheets):
        raise invalid("You can't remove all the visible sheets in a document.")
    guard(sheet, Area(0, sheet.row_count, 0, sheet.column_count), editor)
    draft.remove(sheet.sheet_id)
    return {}


def update_sheet_properties(draft: Draft, body: Body, _editor: Editor) -> dict[str, Any]:
    """Rename, hide or resize a sheet."""
    properties = body.get("properties", {})
    fields = {name.strip() for name in body.get("fields", "").split(",") if name.strip()}
    if not fields:
        raise invalid("At least one field must be listed in 'fields'. (Use '*' to indicate all fields.)")
    known = {"title", "hidden", "gridProperties.rowCount", "gridProperties.columnCount"}
    if not fields <= known | {"gridProperties"}:
        raise unsupported("updateSheetProperties with fields other than title, hidden and the grid's size")
    sheet = sheet_of(draft, int(properties.get("sheetId", 0)))
    if "title" in fields:
        sheet.title = _free_title(draft, properties.get("title", ""), sheet)
    if "hidden" in fields:
        hidden = bool(properties.get("hidden", False))
        if hidden and all(other.hidden or other is sheet for other in draft.sheets):
            raise invalid("You can't hide all the sheets in a document.")
        sheet.hidden = hidden
    grid = properties.get("gridProperties", {})
    wants_all = "gridProperties" in fields
    if wants_all or "gridProperties.rowCount" in fields:
        _resize(sheet, "row", int(grid.get("rowCount", 0)))
    if wants_all or "gridProperties.columnCount" in fields:
        _resize(sheet, "column", int(grid.get("columnCount", 0)))
    return {}


def _resize(sheet: Sheet, what: str, count: int) -> None:
    if count < 1:
        raise invalid(f"You can't delete all the {what}s on the sheet.")
    if what == "row":
        if count < sheet.row_count:
            sheet.delete_rows(count, sheet.row_count)
        sheet.row_count = count
    else:
        if count < sheet.column_count:
            sheet.delete_columns(count, sheet.column_count)
        sheet.column_count = count


def _free_title(draft: Draft, title: str, sheet: Sheet | None) -> str:
    if not title:
        raise invalid("The sheet name cannot be empty.")
    # Sheets takes titles for equal that differ in case only.
    if any(other.title.casefold() == title.casefold() for other in draft.sheets if other is not sheet):
        raise invalid(f'A sheet with the name "{title}" already exists. Please enter another name.')
    return title
