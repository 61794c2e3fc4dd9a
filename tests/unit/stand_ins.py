"""Sheets, Drive and a model in memory, as far as the code under test asks of them."""

import hashlib
import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from addon.google.areas import Area
from addon.google.cells import Run
from addon.google.drive import FileInfo
from addon.google.errors import FileMissing, OutOfGrid, TryAgain
from addon.google.sheets import SheetInfo, SpreadsheetInfo
from addon.llm.base import Outcome, Prompt, Text


class FakeSheets:
    """One sheet (id 0) of one spreadsheet: ``rows`` hold its texts, ``height`` and ``width`` are its grid.

    As with Google, an area must lie inside the grid as a whole, and blank ends of an answer are left out.
    ``before`` is called with ``"info"``, ``"read"`` or ``"write"`` before each request is carried out;
    ``refuse`` maps rows to the reason their cells are refused for.
    """

    def __init__(self, rows: Iterable[Sequence[str]] = (), *, height: int = 1000, width: int = 26) -> None:
        self.rows: list[list[str]] = [list(row) for row in rows]
        self.height = max(height, len(self.rows))
        self.width = width
        self.sheet_id = 0
        self.requests: list[str] = []
        self.areas: list[tuple[Area, ...]] = []
        self.runs: list[Run] = []
        self.refuse: dict[int, str] = {}
        self.before: Callable[[str], None] = lambda name: None
        self._lock = threading.Lock()

    def _request(self, name: str) -> None:
        self.requests.append(name)
        self.before(name)

    def info(self, spreadsheet_id: str, *, deadline: float | None = None) -> SpreadsheetInfo:
        self._request("info")
        sheet = SheetInfo(self.sheet_id, "Sheet1", 0, self.height, self.width, False, "GRID")
        return SpreadsheetInfo("Book", "en", "UTC", (sheet,))

    def read(
        self, spreadsheet_id: str, sheet_id: int, areas: Sequence[Area], *, deadline: float | None = None
    ) -> list[list[list[str]]]:
        self._request("read")
        with self._lock:
            self.areas.append(tuple(areas))
            for area in areas:
                self._check(area.first_row, area.end_row, self.height)
                self._check(area.first_column, area.end_column, self.width)
            return [self._values(area) for area in areas]

    def write(
        self,
        spreadsheet_id: str,
        sheet_id: int,
        runs: Sequence[Run],
        *,
        grid: Any = None,
        deadline: Any = None,
    ) -> dict[int, str]:
        self._request("write")
        with self._lock:
            for run in runs:
                self._check(run.row, run.row + len(run.texts), self.height)
                self._check(run.column, run.column + 1, self.width)
            self.runs += runs
            cells = [(row, run.column, text) for run in runs for row, text in enumerate(run.texts, run.row)]
            for row, column, text in cells:
                if row not in self.refuse:
                    self.put(row, column, text)
            return {row: self.refuse[row] for row, _, _ in cells if row in self.refuse}

    def put(self, row: int, column: int, text: str) -> None:
        """Type a text into a cell."""
        while len(self.rows) <= row:
            self.rows.append([])
        texts = self.rows[row]
        texts += [""] * (column + 1 - len(texts))
        texts[column] = text

    def shows(self, row: int, column: int) -> str:
        """What a cell shows."""
        texts = self.rows[row] if row < len(self.rows) else []
        return texts[column] if column < len(texts) else ""

    def _values(self, area: Area) -> list[list[str]]:
        block = [list(row[area.first_column : area.end_column]) for row in self.rows]
        block = block[area.first_row : area.end_row]
        for texts in block:
            while texts and texts[-1] == "":
                texts.pop()
        while block and not block[-1]:
            block.pop()
        return block

    def _check(self, first: int, end: int | None, size: int) -> None:
        if first >= size or (end is not None and end > size):
            raise OutOfGrid("no such cells", service="Sheets", status=400)


class FakeDrive:
    """Files by id. ``broken`` makes every update fail as a silent Drive does; ``downloads`` counts."""

    def __init__(self, files: dict[str, bytes] | None = None) -> None:
        self.files = dict(files or {})
        self.trashed: set[str] = set()
        self.broken = False
        self.downloads = 0
        self.created: list[str] = []

    def download(self, file_id: str, *, deadline: float | None = None) -> bytes:
        self.downloads += 1
        if file_id not in self.files:
            raise FileMissing("gone", service="Drive", status=404)
        return self.files[file_id]

    def update(self, file_id: str, content: bytes, deadline: float | None = None) -> FileInfo:
        if self.broken:
            raise TryAgain("silent", service="Drive", outcome_unknown=True)
        if file_id not in self.files:
            raise FileMissing("gone", service="Drive", status=404)
        self.files[file_id] = content
        return self.info(file_id)

    def create_file(
        self,
        file_id: str,
        name: str,
        parent: str,
        content: bytes,
        mime_type: str = "text/csv",
        properties: object = None,
    ) -> FileInfo:
        if file_id not in self.files:
            self.files[file_id] = content
            self.created.append(file_id)
        return self.info(file_id)

    def info(self, file_id: str, *, deadline: float | None = None) -> FileInfo:
        if file_id not in self.files:
            raise FileMissing("gone", service="Drive", status=404)
        content = self.files[file_id]
        digest = hashlib.sha256(content).hexdigest()
        link = f"https://drive.example/{file_id}"
        return FileInfo(file_id, file_id, link, len(content), digest, file_id in self.trashed, {})


@dataclass
class FakeModel:
    """A model with a name and settings that answers with the first field."""

    name: str = "model-1"
    settings: dict[str, str | int | float | bool] = field(default_factory=dict)

    def summarise(self, prompt: Prompt, timeout: float) -> Outcome:
        return Text("summary of " + prompt.fields[0][1])
