"""All workbooks: made, kept in the state file, opened from CSV files and saved to them."""

import hashlib
import itertools
import json
import sqlite3
import threading
from collections.abc import Iterable, Sequence
from dataclasses import asdict, astuple
from pathlib import Path

from addon.simulator import csvfile
from addon.simulator.csvfile import Row, Style, WorkbookError
from addon.simulator.filemeta import SPREADSHEET
from addon.simulator.files import Files
from addon.simulator.grid import Area, Protection, Sheet
from addon.simulator.state import State
from addon.simulator.workbook import WORKBOOK_CELLS, Draft, Workbook

__all__ = ["WorkbookError", "Workbooks"]

_encode = json.JSONEncoder(ensure_ascii=False).encode  # json.dumps would make an encoder for every row

DEFAULT_GRID = (1000, 26)
"""Rows and columns of a new sheet in Google Sheets."""


class Workbooks:
    """The workbooks of one simulator.

    Parameters
    ----------
    files
        Where each workbook is a file too.
    owner
        E-mail address of the local user, whose the workbooks are where nobody else is named.
    """

    def __init__(self, state: State, files: Files, owner: str) -> None:
        self._state = state
        self._files = files
        self._owner = owner
        self._open: dict[str, Workbook] = {}
        self._lock = threading.RLock()
        (last_row,) = state.rows("SELECT coalesce(max(id), 0) FROM rows")[0]
        (last_sheet,) = state.rows("SELECT coalesce(max(key), 0) FROM sheets")[0]
        self._new_row = itertools.count(last_row + 1).__next__
        self._new_sheet = itertools.count(last_sheet + 1).__next__

    def create(
        self,
        title: str,
        rows: Iterable[Sequence[str]] = (),
        sheet_title: str = "Sheet1",
        grid: tuple[int, int] = DEFAULT_GRID,
        *,
        owner: str | None = None,
        parent: str | None = None,
    ) -> str:
        """Make a workbook with one sheet (id 0) that holds ``rows``, and return its id.

        The grid is enlarged where ``rows`` need more than ``grid`` (rows, columns). The local user owns it
        unless an ``owner`` is named, or the folder ``parent`` is in a shared drive.
        """
        parents = [] if parent is None else [parent]
        drive = None if parent is None else self._files.known(parent).drive
        spreadsheet_id = self._files.add(
            owner or self._owner, title, SPREADSHEET, parents=parents, drive=drive
        )
        with self._state.transaction() as statements:
            statements.execute(
                "INSERT INTO spreadsheets VALUES (?, 0, 'en_US', 'Etc/GMT', NULL, NULL, NULL)",
                [spreadsheet_id],
            )
        with self.get(spreadsheet_id).edit() as draft:
            _fill(draft.add(sheet_title, *grid), [tuple(row) for row in rows], grid)
        return spreadsheet_id

    def get(self, spreadsheet_id: str) -> Workbook:
        """The workbook with this id.

        Raises
        ------
        WorkbookError
            There is none.
        """
        with self._lock:
            if spreadsheet_id not in self._open:
                self._open[spreadsheet_id] = self._load(spreadsheet_id)
            return self._open[spreadsheet_id]

    def ids(self) -> list[str]:
        """Ids of all workbooks, the oldest first."""
        return [row[0] for row in self._state.rows("SELECT id FROM spreadsheets ORDER BY rowid")]

    def open_csv(self, path: Path | str, title: str | None = None) -> str:
        """Make a CSV file a workbook and return its id; the same file keeps its id.

        The file is read again only if it is not as it was when it was last read or saved here; then its
        content takes the place of the first sheet.

        Raises
        ------
        WorkbookError
            The file cannot be read as CSV.
        """
        path = Path(path).resolve()
        content = csvfile.load(path)
        sha256 = hashlib.sha256(content).hexdigest()
        with self._lock:
            known = self._state.rows(
                "SELECT id, csv_sha256 FROM spreadsheets WHERE csv_path = ?", [str(path)]
            )
            if known and known[0][1] == sha256:
                return str(known[0][0])
            rows, style = csvfile.parse(content, path)
            spreadsheet_id = str(known[0][0]) if known else self.create(title or path.stem)
            workbook = self.get(spreadsheet_id)
            with workbook.edit() as draft:
                sheet = draft.sheet(0) if draft.look(0) else draft.add(None, *DEFAULT_GRID, sheet_id=0)
                _fill(sheet, rows, DEFAULT_GRID)
            self._remember(spreadsheet_id, path, sha256, style)
            return spreadsheet_id

    def save_csv(self, spreadsheet_id: str, path: Path | str) -> None:
        """Write the first sheet (id 0) to a CSV file, in the style of the file it came from.

        Raises
        ------
        WorkbookError
            The file cannot be written, or another program has changed it since it was read here; either
            way it is left as it is.
        """
        path = Path(path).resolve()
        with self._lock:
            source, sha256, style = self._source(spreadsheet_id)
            if path == source and path.exists():
                found = hashlib.sha256(csvfile.load(path)).hexdigest()
                if found != sha256:
                    raise WorkbookError(
                        f"{path} was changed by another program since it was read; save to another file."
                    )
            content = csvfile.render(_levelled(self.get(spreadsheet_id).sheet(0), style), style)
            csvfile.store(path, content)
            if path == source:
                self._remember(spreadsheet_id, path, hashlib.sha256(content).hexdigest(), style)

    def _source(self, spreadsheet_id: str) -> tuple[Path | None, str | None, Style]:
        found = self._state.rows(
            "SELECT csv_path, csv_sha256, csv_style FROM spreadsheets WHERE id = ?", [spreadsheet_id]
        )
        if not found or found[0][0] is None:
            return None, None, Style()
        path, sha256, style = found[0]
        return Path(path), sha256, Style(**json.loads(style))

    def _remember(self, spreadsheet_id: str, path: Path, sha256: str, style: Style) -> None:
        with self._state.transaction() as statements:
            statements.execute(
                "UPDATE spreadsheets SET csv_path = ?, csv_sha256 = ?, csv_style = ? WHERE id = ?",
                [str(path), sha256, json.dumps(asdict(style)), spreadsheet_id],
            )

    def _load(self, spreadsheet_id: str) -> Workbook:
        found = self._state.rows("SELECT revision FROM spreadsheets WHERE id = ?", [spreadsheet_id])
        if not found:
            raise WorkbookError(f"There is no workbook with id {spreadsheet_id}.")
        sheets = []
        for key, sheet_id, title, hidden, height, width, protections, order in self._state.rows(
            "SELECT key, sheet_id, title, hidden, row_count, column_count, protections, row_order "
            "FROM sheets WHERE spreadsheet = ? ORDER BY position",
            [spreadsheet_id],
        ):
            sheet = Sheet(key, sheet_id, title, height, width, bool(hidden), new_id=self._new_row)
            sheet.ids.frombytes(order)
            stored = {
                row_id: tuple(json.loads(cells))
                for row_id, cells in self._state.rows("SELECT id, cells FROM rows WHERE sheet = ?", [key])
            }
            sheet.rows = [stored[row_id] for row_id in sheet.ids]
            sheet.protections = tuple(
                Protection(Area(*area), tuple(editors)) for area, editors in json.loads(protections)
            )
            sheets.append(sheet)
        return Workbook(
            spreadsheet_id,
            sheets,
            found[0][0],
            save=self._save,
            make=self._make,
            title=lambda: self._files.name(spreadsheet_id),
        )

    def _make(self, sheet_id: int, title: str, rows: int, columns: int) -> Sheet:
        return Sheet(self._new_sheet(), sheet_id, title, rows, columns, new_id=self._new_row)

    def _save(self, workbook: Workbook, draft: Draft, revision: int) -> None:
        spreadsheet_id = workbook.spreadsheet_id
        with self._state.transaction() as statements:
            for sheet in draft.removed:
                statements.execute("DELETE FROM rows WHERE sheet = ?", [sheet.key])
                statements.execute("DELETE FROM sheets WHERE key = ?", [sheet.key])
            for sheet in draft.changed:
                changes = sheet.changes
                statements.executemany(
                    "DELETE FROM rows WHERE id = ?", [(row_id,) for row_id in changes.dropped]
                )
                statements.executemany(
                    "INSERT INTO rows VALUES (?, ?, ?) ON CONFLICT (id) DO UPDATE SET cells = excluded.cells",
                    ((row_id, sheet.key, _encode(cells)) for row_id, cells in changes.written.items()),
                )
                _save_sheet(statements, spreadsheet_id, sheet)
            statements.executemany(
                "UPDATE sheets SET position = ? WHERE key = ?",
                [(position, sheet.key) for position, sheet in enumerate(draft.sheets)],
            )
            statements.execute(
                "UPDATE spreadsheets SET revision = ? WHERE id = ?", [revision, spreadsheet_id]
            )
            self._files.touch(statements, spreadsheet_id)


def _save_sheet(statements: sqlite3.Connection, spreadsheet_id: str, sheet: Sheet) -> None:
    protections = [[list(astuple(item.area)), item.editors] for item in sheet.protections]
    values = [sheet.title, sheet.hidden, sheet.row_count, sheet.column_count, json.dumps(protections)]
    statements.execute(
        "INSERT INTO sheets VALUES (?, ?, ?, 0, ?, ?, ?, ?, ?, '') ON CONFLICT (key) DO UPDATE SET "
        "title = excluded.title, hidden = excluded.hidden, row_count = excluded.row_count, "
        "column_count = excluded.column_count, protections = excluded.protections",
        [sheet.key, spreadsheet_id, sheet.sheet_id, *values],
    )
    if sheet.changes.reordered:
        statements.execute("UPDATE sheets SET row_order = ? WHERE key = ?", [sheet.ids.tobytes(), sheet.key])


def _fill(sheet: Sheet, rows: list[Row], grid: tuple[int, int]) -> None:
    width = max(map(len, rows), default=1)
    sheet.replace_rows(rows)
    sheet.row_count, sheet.column_count = max(grid[0], len(rows)), max(grid[1], width)
    if sheet.row_count * sheet.column_count > WORKBOOK_CELLS:
        sheet.column_count = width  # a long file has room for few blank columns in a workbook


def _levelled(sheet: Sheet, style: Style) -> list[Row]:
    """Rows as wide as each other, if the file's were."""
    rows = list(sheet.rows)
    if not style.rectangular:
        return rows
    width = max(map(len, rows), default=0)
    return [row and row + ("",) * (width - len(row)) for row in rows]
