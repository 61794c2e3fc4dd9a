"""A workbook: its sheets, changed in whole steps that are on disk before anybody sees them."""

import itertools
import secrets
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from addon.simulator.csvfile import Row, WorkbookError
from addon.simulator.grid import Area, Protection, Sheet, SortBy

WORKBOOK_CELLS = 10_000_000
"""Most grid cells of all sheets together, blank ones included (Sheets API limits)."""


class Draft:
    """One step of changes to a workbook; nobody sees it before `Workbook.edit` is left without an error.

    Parameters
    ----------
    make
        Makes a sheet's place in the state file and returns the blank sheet.
    """

    def __init__(self, sheets: Sequence[Sheet], make: Callable[[int, str, int, int], Sheet]) -> None:
        self.sheets = list(sheets)
        self._published = list(sheets)
        self._make = make

    def look(self, sheet_id: int) -> Sheet | None:
        """A sheet as it is in this draft, to read only."""
        return next((sheet for sheet in self.sheets if sheet.sheet_id == sheet_id), None)

    def sheet(self, sheet_id: int) -> Sheet:
        """A sheet of this draft, to change.

        Raises
        ------
        KeyError
            There is none with this id.
        """
        for position, sheet in enumerate(self.sheets):
            if sheet.sheet_id == sheet_id:
                if any(sheet is published for published in self._published):
                    sheet = self.sheets[position] = sheet.draft()  # noqa: PLW2901
                return sheet
        raise KeyError(sheet_id)

    def add(self, title: str | None, rows: int, columns: int, sheet_id: int | None = None) -> Sheet:
        """Add a sheet at the end; without a title it is called as Sheets would call it."""
        taken = {sheet.title for sheet in self.sheets}
        if title is None:
            title = next(name for number in itertools.count(1) if (name := f"Sheet{number}") not in taken)
        if sheet_id is None:
            sheet_id = secrets.randbelow(2**31 - 1) + 1 if self.sheets else 0
        sheet = self._make(sheet_id, title, rows, columns)
        self.sheets.append(sheet)
        return sheet

    def remove(self, sheet_id: int) -> None:
        """Remove a sheet."""
        self.sheets = [sheet for sheet in self.sheets if sheet.sheet_id != sheet_id]

    @property
    def changed(self) -> list[Sheet]:
        """Sheets that are not as published."""
        return [sheet for sheet in self.sheets if not any(sheet is old for old in self._published)]

    @property
    def removed(self) -> list[Sheet]:
        """Published sheets that are no longer there."""
        kept = {sheet.key for sheet in self.sheets}
        return [sheet for sheet in self._published if sheet.key not in kept]

    @property
    def grid_cells(self) -> int:
        """Cells of all grids, blank ones included."""
        return sum(sheet.row_count * sheet.column_count for sheet in self.sheets)


class Workbook:
    """A spreadsheet. Safe to share between threads; `workbooks.Workbooks` makes them.

    Parameters
    ----------
    spreadsheet_id
        Its id, in Sheets and in Drive.
    revision
        Grows with every change.
    save
        Writes a draft and the revision it makes to disk.
    make
        See `Draft`.
    title
        Looks up its title, which is its name in Drive.
    """

    def __init__(
        self,
        spreadsheet_id: str,
        sheets: Sequence[Sheet],
        revision: int,
        *,
        save: Callable[["Workbook", Draft, int], None],
        make: Callable[[int, str, int, int], Sheet],
        title: Callable[[], str],
    ) -> None:
        self.spreadsheet_id = spreadsheet_id
        self.locale = "en_US"
        self.time_zone = "Etc/GMT"
        self.sheets: tuple[Sheet, ...] = tuple(sheets)
        self.revision = revision
        self._save = save
        self._make = make
        self._title = title
        self._lock = threading.RLock()

    @property
    def title(self) -> str:
        """Its name in Drive."""
        return self._title()

    @contextmanager
    def edit(self) -> Iterator[Draft]:
        """Change the workbook in one step; an error in the body leaves it as it was."""
        with self._lock:
            draft = Draft(self.sheets, self._make)
            yield draft
            self._save(self, draft, self.revision + 1)
            self.sheets = tuple(draft.sheets)
            self.revision += 1

    def sheet(self, sheet_id: int) -> Sheet:
        """A sheet as it is now, to read only.

        Raises
        ------
        WorkbookError
            There is none with this id.
        """
        for sheet in self.sheets:
            if sheet.sheet_id == sheet_id:
                return sheet
        raise WorkbookError(f"Workbook {self.spreadsheet_id} has no sheet with id {sheet_id}.")

    def cells(self, sheet_id: int) -> list[list[str]]:
        """All cells down to the last row and out to the last column with anything in it."""
        sheet = self.sheet(sheet_id)
        rows = sheet.read(Area(0, sheet.row_count, 0, sheet.column_count))
        width = max(map(len, rows), default=0)
        return [row + [""] * (width - len(row)) for row in rows]

    def set_cell(self, sheet_id: int, row: int, column: int, text: str) -> None:
        """Put ``text`` into a cell, enlarging the grid where it is too small."""
        text.encode("utf-8")  # a lone surrogate is refused here and not when the file is saved
        with self._draft(sheet_id) as sheet:
            sheet.row_count = max(sheet.row_count, row + 1)
            sheet.column_count = max(sheet.column_count, column + 1)
            sheet.write(row, column, [text])

    def sort(self, sheet_id: int, column: int, descending: bool = False) -> None:
        """Sort the rows below the header by a column."""
        with self._draft(sheet_id) as sheet:
            area = Area(1, sheet.row_count, 0, sheet.column_count)
            sheet.sort(area, [SortBy(column, descending)])

    def insert_rows(self, sheet_id: int, at: int, count: int = 1, rows: Sequence[Row] = ()) -> None:
        """Insert rows before row ``at``: ``rows``, or ``count`` blank ones."""
        with self._draft(sheet_id) as sheet:
            sheet.insert_rows(at, len(rows) or count)
            for offset, cells in enumerate(rows):
                sheet.column_count = max(sheet.column_count, len(cells))
                sheet.write(at + offset, 0, cells)

    def delete_rows(self, sheet_id: int, at: int, count: int = 1) -> None:
        """Delete ``count`` rows from row ``at`` on."""
        with self._draft(sheet_id) as sheet:
            sheet.delete_rows(at, min(at + count, sheet.row_count))

    def insert_columns(self, sheet_id: int, at: int, count: int = 1) -> None:
        """Insert blank columns before column ``at``."""
        with self._draft(sheet_id) as sheet:
            sheet.insert_columns(at, count)

    def delete_columns(self, sheet_id: int, at: int, count: int = 1) -> None:
        """Delete ``count`` columns from column ``at`` on."""
        with self._draft(sheet_id) as sheet:
            sheet.delete_columns(at, min(at + count, sheet.column_count))

    def rename_sheet(self, sheet_id: int, title: str) -> None:
        """Give a sheet another title."""
        with self._draft(sheet_id) as sheet:
            sheet.title = title

    def add_sheet(self, title: str | None = None, rows: int = 1000, columns: int = 26) -> int:
        """Add a blank sheet and return its id."""
        with self.edit() as draft:
            return draft.add(title, rows, columns).sheet_id

    def delete_sheet(self, sheet_id: int) -> None:
        """Delete a sheet."""
        with self.edit() as draft:
            draft.remove(sheet_id)

    def protect(self, sheet_id: int, area: Area, editors: Sequence[str] = ()) -> None:
        """Let only the owner and ``editors`` (e-mail addresses) change the cells of ``area``."""
        with self._draft(sheet_id) as sheet:
            sheet.protections += (Protection(area, tuple(editors)),)

    @contextmanager
    def _draft(self, sheet_id: int) -> Iterator[Sheet]:
        self.sheet(sheet_id)
        with self.edit() as draft:
            yield draft.sheet(sheet_id)
