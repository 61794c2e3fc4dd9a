"""Writing cells as text in one request, and finding the rows whose content Google refuses."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from addon.google.errors import Refused, TryAgain, blocked, refuses_content
from addon.google.session import Budget

CELL_LIMIT = 50_000
"""Most UTF-16 units in one cell. Sheets speaks of characters and does not say which; this is the lower."""

HOPELESS_ROWS = 8
"""So many rows refused for a reason not known, and none accepted: then it is not the rows."""

GROWTH_ATTEMPTS = 3
"""How often a request that enlarges the sheet is made when its answer gets lost."""

Grid = tuple[int, int]
Post = Callable[[list[dict[str, Any]], bool, float | None], None]


@dataclass(frozen=True, slots=True)
class Run:
    """Texts for consecutive rows of one column, from ``row`` down; an empty text clears its cell."""

    row: int
    column: int
    texts: Sequence[str]


class CellWriter:
    """One write to one sheet.

    Parameters
    ----------
    post
        Sends requests as one atomic batch: the requests, whether they may be sent twice, and the seconds
        left. Raises `Refused` or `TryAgain`.
    read_grid
        Reads the sheet's rows and columns, given the seconds left.
    pause
        Waits so many seconds, or says no where that is not worth while.
    target
        The spreadsheet by id, for error messages.
    grid
        The sheet's rows and columns as the caller knows them; ``None`` never enlarges it.
    """

    def __init__(
        self,
        post: Post,
        read_grid: Callable[[float | None], Grid],
        pause: Callable[[float, Budget], bool],
        *,
        target: str,
        sheet_id: int,
        grid: Grid | None,
        budget: Budget,
    ) -> None:
        self._post = post
        self._read_grid = read_grid
        self._pause = pause
        self._target = target
        self._sheet_id = sheet_id
        self._grid = grid
        self._budget = budget
        self._cells: dict[tuple[int, int], str] = {}
        self._refused: dict[int, str] = {}
        self._accepted = False

    def write(self, runs: Sequence[Run]) -> dict[int, str]:
        """Write the runs; return the reason for each row that was refused."""
        for run in runs:
            for row, text in enumerate(run.texts, run.row):
                self._cells[row, run.column] = text
                if len(text.encode("utf-16-le", "surrogatepass")) // 2 > CELL_LIMIT:
                    self._refused[row] = "cell_too_long"
        self._write_rows(sorted({row for row, _ in self._cells} - self._refused.keys()))
        return self._refused

    def _write_rows(self, rows: list[int]) -> None:
        refusal = self._try(rows) if rows else None
        if refusal is None:
            self._accepted = self._accepted or bool(rows)
        elif len(rows) == 1:
            self._refuse(rows[0], refusal)
        else:
            middle = len(rows) // 2
            self._write_rows(rows[:middle])
            self._write_rows(rows[middle:])

    def _refuse(self, row: int, refusal: Refused) -> None:
        self._refused[row] = refuses_content(refusal) or refusal.reason
        strange = sum(reason != "cell_too_long" for reason in self._refused.values())
        if strange >= HOPELESS_ROWS and not self._accepted:
            raise blocked("api_refused", self._target, refusal)

    def _try(self, rows: list[int]) -> Refused | None:
        """Write all of ``rows``, or say how Google refuses their content."""
        attempt = 1
        while True:
            growth = self._growth(rows)
            try:
                self._post([*growth, *self._updates(rows)], not growth, self._budget.left())
            except Refused as refusal:
                if refuses_content(refusal) is None:
                    raise
                return refusal
            except TryAgain as error:
                # Cells may be written twice, but a sheet must not grow twice: look whether it has grown.
                last = attempt == GROWTH_ATTEMPTS
                if (
                    not growth
                    or not error.outcome_unknown
                    or last
                    or not self._pause(error.wait, self._budget)
                ):
                    raise
                self._grid = self._read_grid(self._budget.left())
                attempt += 1
                continue
            for request in growth:
                self._note_growth(request["appendDimension"])
            return None

    def _growth(self, rows: list[int]) -> list[dict[str, Any]]:
        if self._grid is None:
            return []
        wanted = set(rows)
        columns = {column for row, column in self._cells if row in wanted}
        missing = {
            "ROWS": rows[-1] + 1 - self._grid[0],
            "COLUMNS": max(columns) + 1 - self._grid[1],
        }
        return [
            {"appendDimension": {"sheetId": self._sheet_id, "dimension": dimension, "length": length}}
            for dimension, length in missing.items()
            if length > 0
        ]

    def _note_growth(self, growth: Mapping[str, Any]) -> None:
        assert self._grid is not None
        rows, columns = self._grid
        if growth["dimension"] == "ROWS":
            self._grid = (rows + growth["length"], columns)
        else:
            self._grid = (rows, columns + growth["length"])

    def _updates(self, rows: list[int]) -> list[dict[str, Any]]:
        """One ``updateCells`` per vertical run; a cell without a value in the mask's field is cleared."""
        updates: list[dict[str, Any]] = []
        wanted = set(rows)
        expected: tuple[int, int] | None = None
        for column, row in sorted((column, row) for row, column in self._cells if row in wanted):
            text = self._cells[row, column]
            cell = {"userEnteredValue": {"stringValue": text}} if text else {}
            if (column, row) != expected:
                start = {"sheetId": self._sheet_id, "rowIndex": row, "columnIndex": column}
                updates.append({"updateCells": {"start": start, "rows": [], "fields": "userEnteredValue"}})
            updates[-1]["updateCells"]["rows"].append({"values": [cell]})
            expected = (column, row + 1)
        return updates
