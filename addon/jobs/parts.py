"""Parts: results files in the user's Drive, CSV with a header, written whole each time."""

import csv
import io
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import astuple, dataclass

from addon.google.drive import Drive
from addon.google.errors import FileMissing
from addon.google.session import Budget
from addon.rows.keys import text_hash

HEADER = ("key", "row", "summary", "model", "input_tokens", "output_tokens", "time")
BOM = "\ufeff"
"""Begins every part, so that spreadsheet programs read Japanese as UTF-8."""


@dataclass(frozen=True, slots=True)
class PartRow:
    """One result in a part. ``row`` is the sheet row (1-based) it was made from, when it was read."""

    key: str
    row: int
    summary: str
    model: str
    input_tokens: int
    output_tokens: int
    time: str


def encode(rows: Iterable[PartRow]) -> str:
    """CSV lines of rows, without header."""
    out = io.StringIO()
    csv.writer(out, lineterminator="\r\n").writerows(astuple(row) for row in rows)
    return out.getvalue()


def empty_part() -> bytes:
    """A part without results: what is created when a job starts."""
    return (BOM + ",".join(HEADER) + "\r\n").encode()


def decode(content: bytes) -> list[PartRow]:
    """Read a part.

    A line that is no result any more (somebody edited the file) becomes a row with an empty key, so that
    the rows after it keep their positions. A file that is no part at all has no rows.
    """
    text = content.decode("utf-8", errors="replace").removeprefix(BOM)
    try:
        lines = list(csv.reader(io.StringIO(text, newline="")))
    except csv.Error:
        return []
    if not lines or tuple(lines[0]) != HEADER:
        return []
    return [_row(line) for line in lines[1:]]


def _row(line: list[str]) -> PartRow:
    try:
        key, row, summary, model, input_tokens, output_tokens, time = line
        return PartRow(key, int(row), summary, model, int(input_tokens), int(output_tokens), time)
    except ValueError:
        return PartRow("", 0, "", "", 0, 0, "")


class PartWriter:
    """The part a shard is writing, and those after it.

    The rows of the open part are kept as text, for every upload writes the whole file. The last part takes
    whatever does not fit elsewhere: rows added while the job runs. ``trashed`` says that the open part is in
    the trash, where Drive goes on serving it.
    """

    def __init__(self, drive: Drive, file_ids: list[str], capacity: int, number: int) -> None:
        self._drive = drive
        self._file_ids = file_ids
        self._capacity = capacity
        self.number = number
        self.trashed = False
        self._chunks: list[str] = []
        self._count = 0

    @property
    def file_id(self) -> str:
        """Drive id of the open part."""
        return self._file_ids[self.number]

    def load(self, deadline: float) -> list[PartRow]:
        """Read the open part as the worker before left it, to go on from there.

        Raises
        ------
        FileMissing
            The file is gone.
        """
        self.trashed = self._drive.info(self.file_id, deadline=deadline).trashed
        rows = decode(self._drive.download(self.file_id, deadline=deadline))
        self._hold(rows)
        return rows

    def _hold(self, rows: list[PartRow]) -> None:
        self._chunks, self._count = [encode(rows)], len(rows)

    def room(self) -> int:
        """How many results still fit into the open part."""
        if self.number + 1 >= len(self._file_ids):
            return self._capacity
        return max(0, self._capacity - self._count)

    def turn(self, deadline: float) -> list[PartRow] | None:
        """Go on to the next part if the open one is full, and read what it holds already."""
        if self.room():
            return None
        rows = decode(self._drive.download(self._file_ids[self.number + 1], deadline=deadline))
        self.number += 1
        self._hold(rows)
        return rows

    def upload(self, rows: list[PartRow], deadline: Budget) -> int:
        """Write the open part with ``rows`` added; return the position of the first of them.

        Nothing is remembered unless Drive has confirmed the whole file by its hash.
        """
        added = encode(rows)
        content = empty_part() + "".join([*self._chunks, added]).encode()
        self.trashed = self._drive.update(self.file_id, content, deadline=deadline).trashed
        first = self._count
        self._chunks.append(added)
        self._count += len(rows)
        return first


class PartReader:
    """Summaries of committed results, read back from their parts; the few last used parts are kept."""

    KEPT = 4

    def __init__(self, drive: Drive) -> None:
        self._drive = drive
        self._parts: OrderedDict[str, dict[str, str]] = OrderedDict()
        self._fresh: set[str] = set()

    def begin(self) -> None:
        """From here on a part may have been written again: one more look at each file is allowed."""
        self._fresh.clear()

    def text(self, file_id: str, key: str, sha256: str) -> str | None:
        """The summary of ``key``, if the part still holds the text of that hash.

        The cache may be stale, so what it lacks is looked up in the file itself before it counts as gone;
        a file that is gone has no texts.
        """
        text = self._parts.get(file_id, {}).get(key)
        if (text is None or text_hash(text) != sha256) and file_id not in self._fresh:
            self._load(file_id)
            text = self._parts[file_id].get(key)
        elif text is not None:
            self._parts.move_to_end(file_id)
        return text if text is not None and text_hash(text) == sha256 else None

    def _load(self, file_id: str) -> None:
        try:
            rows = decode(self._drive.download(file_id))
        except FileMissing:
            rows = []
        self._parts[file_id] = {row.key: row.summary for row in rows}
        self._fresh.add(file_id)
        self._parts.move_to_end(file_id)
        while len(self._parts) > self.KEPT:
            forgotten, _ = self._parts.popitem(last=False)
            self._fresh.discard(forgotten)  # otherwise its texts would count as gone
