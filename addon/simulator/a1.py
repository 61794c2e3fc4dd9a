"""A1 notation: columns as letters, ranges with and without a sheet's title."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from addon.simulator.errors import invalid
from addon.simulator.grid import Area, Sheet

_CELLS = re.compile(r"([A-Za-z]{0,3})([0-9]{0,7})(?::([A-Za-z]{0,3})([0-9]{0,7}))?")
_PLAIN_TITLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@dataclass(frozen=True, slots=True)
class Bounds:
    """An area that may be open on any side."""

    first_row: int | None = None
    end_row: int | None = None
    first_column: int | None = None
    end_column: int | None = None

    def within(self, sheet: Sheet) -> Area:
        """The area these bounds mean on ``sheet``, which may reach beyond its grid."""
        return Area(
            self.first_row or 0,
            sheet.row_count if self.end_row is None else self.end_row,
            self.first_column or 0,
            sheet.column_count if self.end_column is None else self.end_column,
        )


def letters(column: int) -> str:
    """Letters of a column: 0 is A, 26 is AA."""
    text = ""
    column += 1
    while column:
        column, rest = divmod(column - 1, 26)
        text = chr(65 + rest) + text
    return text


def number(text: str) -> int:
    """Column of letters: A is 0."""
    result = 0
    for letter in text.upper():
        result = result * 26 + ord(letter) - 64
    return result - 1


def show_title(title: str) -> str:
    """A title as it stands before the exclamation mark."""
    if _PLAIN_TITLE.fullmatch(title) and not _CELLS.fullmatch(title):
        return title
    return "'" + title.replace("'", "''") + "'"


def show(sheet: Sheet, area: Area) -> str:
    """A range with its sheet's title, as Sheets writes it in answers and errors."""
    first = f"{letters(area.first_column)}{area.first_row + 1}"
    last = f"{letters(area.end_column - 1)}{area.end_row}"
    return f"{show_title(sheet.title)}!{first if first == last else f'{first}:{last}'}"


def resolve(text: str, sheets: Sequence[Sheet]) -> tuple[Sheet, Bounds]:
    """Find the sheet and the bounds that a range in A1 notation means.

    Without a title it is the first visible sheet. What looks like a cell is one, whatever sheets are called.

    Raises
    ------
    Refusal
        It cannot be parsed, or there is no such sheet.
    """
    if text.startswith("'"):
        match = re.fullmatch(r"'((?:[^']|'')+)'(?:!(.+))?", text, re.DOTALL)
        if match is None:
            raise _unparsable(text)
        return _titled(text, match[1].replace("''", "'"), match[2], sheets)
    title, mark, cells = text.rpartition("!")
    if mark:
        return _titled(text, title, cells, sheets)
    bounds = _bounds(text)
    if bounds is None:
        return _titled(text, text, None, sheets)
    visible = next((sheet for sheet in sheets if not sheet.hidden), None)
    if visible is None:
        raise _unparsable(text)
    return visible, bounds


def _titled(text: str, title: str, cells: str | None, sheets: Sequence[Sheet]) -> tuple[Sheet, Bounds]:
    bounds = Bounds() if cells is None else _bounds(cells)
    sheet = next((sheet for sheet in sheets if sheet.title == title), None)
    if bounds is None or sheet is None:
        raise _unparsable(text)
    return sheet, bounds


def _bounds(cells: str) -> Bounds | None:
    match = _CELLS.fullmatch(cells)
    if match is None or not cells or match[2] == "0" or match[4] == "0":
        return None
    column, row, last_column, last_row = match.groups()
    if last_column is None:
        if not (column and row):
            return None
        last_column, last_row = column, row
    if not (column or row) or not (last_column or last_row):
        return None
    return Bounds(
        int(row) - 1 if row else None,
        int(last_row) if last_row else None,
        number(column) if column else None,
        number(last_column) + 1 if last_column else None,
    )


def _unparsable(text: str) -> Exception:
    return invalid(f"Unable to parse range: {text}")
