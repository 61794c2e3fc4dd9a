"""One sheet's cells and what can be done to them. Rows and columns count from zero; no I/O."""

import itertools
from array import array
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace

from addon.simulator.csvfile import Row


@dataclass(frozen=True, slots=True)
class Area:
    """A rectangle of cells, ends excluded."""

    first_row: int
    end_row: int
    first_column: int
    end_column: int

    def meets(self, other: "Area") -> bool:
        """Whether the two have a cell in common."""
        return max(self.first_row, other.first_row) < min(self.end_row, other.end_row) and max(
            self.first_column, other.first_column
        ) < min(self.end_column, other.end_column)


@dataclass(frozen=True, slots=True)
class Protection:
    """Cells that only the owner and ``editors`` may change."""

    area: Area
    editors: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SortBy:
    """A column to sort by."""

    column: int
    descending: bool = False


@dataclass(slots=True)
class Changes:
    """What must be written to disk: rows with new cells, rows that are gone, a new order."""

    written: dict[int, Row] = field(default_factory=dict)
    dropped: set[int] = field(default_factory=set)
    reordered: bool = False


@dataclass(slots=True)
class Sheet:
    """A sheet. Once published it is never changed: changes are made to a `draft`.

    Parameters
    ----------
    key
        Its number in the state file.
    rows
        Cells down to the last row ever written; a row ends where its cells do. Blank cells are ``""``.
    ids
        The identity of each row in ``rows``, so that moving a row does not mean storing it anew.
    """

    key: int
    sheet_id: int
    title: str
    row_count: int
    column_count: int
    hidden: bool = False
    rows: list[Row] = field(default_factory=list)
    ids: "array[int]" = field(default_factory=lambda: array("q"))
    protections: tuple[Protection, ...] = ()
    new_id: Callable[[], int] = itertools.count(1).__next__
    changes: Changes = field(default_factory=Changes)

    def draft(self) -> "Sheet":
        """A copy that can be changed without anybody seeing it."""
        return replace(self, rows=list(self.rows), ids=array("q", self.ids), changes=Changes())

    def cell(self, row: int, column: int) -> str:
        """Text of one cell."""
        cells = self.rows[row] if row < len(self.rows) else ()
        return cells[column] if column < len(cells) else ""

    def read(self, area: Area) -> list[list[str]]:
        """Cells of ``area`` without blanks at the end of each row, and without blank rows at the end."""
        result = []
        for cells in self.rows[area.first_row : area.end_row]:
            values = list(cells[area.first_column : area.end_column])
            while values and not values[-1]:
                values.pop()
            result.append(values)
        while result and not result[-1]:
            result.pop()
        return result

    def write(self, row: int, column: int, texts: Sequence[str]) -> None:
        """Put texts into a row, from ``column`` on."""
        if row >= len(self.rows):
            if not any(texts):
                return
            self._extend(row + 1)
        old = self.rows[row]
        new = old + ("",) * (column - len(old))
        new = new[:column] + tuple(texts) + new[column + len(texts) :]
        if len(new) > len(old) and not any(new[len(old) :]):
            new = new[: len(old)]  # writing a blank where there is nothing does not make the row wider
        self._put(row, new)

    def replace_rows(self, rows: Iterable[Row]) -> None:
        """Put ``rows`` in the place of everything there is, and make the grid large enough for them."""
        self.changes.dropped.update(self.ids)
        self.rows, self.ids = list(rows), array("q")
        self.ids.extend(self.new_id() for _ in self.rows)
        self.changes.written = dict(zip(self.ids, self.rows, strict=True))
        self.changes.reordered = True

    def insert_rows(self, at: int, count: int) -> None:
        """Insert blank rows before row ``at``."""
        if at < len(self.rows):
            self.rows[at:at] = [()] * count
            made = array("q", (self.new_id() for _ in range(count)))
            self.ids[at:at] = made
            self.changes.written.update(dict.fromkeys(made, ()))
            self.changes.reordered = True
        self.row_count += count

    def delete_rows(self, first: int, end: int) -> None:
        """Remove rows ``first`` to ``end``, the end excluded."""
        self.changes.dropped.update(self.ids[first:end])
        for row_id in self.ids[first:end]:
            self.changes.written.pop(row_id, None)
        del self.rows[first:end]
        del self.ids[first:end]
        self.changes.reordered = True
        self.row_count -= end - first

    def insert_columns(self, at: int, count: int) -> None:
        """Insert blank columns before column ``at``."""
        for row, cells in enumerate(self.rows):
            if at < len(cells):
                self._put(row, cells[:at] + ("",) * count + cells[at:])
        self.column_count += count

    def delete_columns(self, first: int, end: int) -> None:
        """Remove columns ``first`` to ``end``, the end excluded."""
        for row, cells in enumerate(self.rows):
            if first < len(cells):
                self._put(row, cells[:first] + cells[end:])
        self.column_count -= end - first

    def sort(self, area: Area, by: Sequence[SortBy]) -> None:
        """Sort the rows of ``area``; a stable sort with blanks last, as Sheets does."""
        end = min(area.end_row, len(self.rows))
        order = list(range(area.first_row, end))
        for spec in reversed(by):
            filled = [row for row in order if self.cell(row, spec.column)]
            blank = [row for row in order if not self.cell(row, spec.column)]
            column = spec.column
            filled.sort(key=lambda row: _rank(self.cell(row, column)), reverse=spec.descending)
            order = filled + blank
        if area.first_column == 0 and area.end_column >= self.column_count:
            self.rows[area.first_row : end] = [self.rows[row] for row in order]
            self.ids[area.first_row : end] = array("q", [self.ids[row] for row in order])
            self.changes.reordered = True
            return
        blocks = [
            [self.cell(row, column) for column in range(area.first_column, area.end_column)] for row in order
        ]
        for row, block in enumerate(blocks, start=area.first_row):
            self.write(row, area.first_column, block)

    def _extend(self, height: int) -> None:
        while len(self.rows) < height:
            self.rows.append(())
            self.ids.append(self.new_id())
            self.changes.written[self.ids[-1]] = ()
        self.changes.reordered = True

    def _put(self, row: int, cells: Row) -> None:
        self.rows[row] = cells
        self.changes.written[self.ids[row]] = cells


def _rank(text: str) -> tuple[int, float, str]:
    try:
        return (0, float(text), "")
    except ValueError:
        return (1, 0.0, text.casefold())
