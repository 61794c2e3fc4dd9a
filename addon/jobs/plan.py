"""What a click would do: the choice checked against the sheet, and the rows counted."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from addon.google.access import UserAccess
from addon.google.areas import Area
from addon.google.sheets import SheetInfo, SpreadsheetInfo
from addon.jobs.records import Mode, Result, results_path
from addon.llm.base import LanguageModel, Prompt
from addon.rows.keys import clean, is_blank
from addon.rows.table import HEADER_ROW, Brief, Column, Table, read_header
from addon.store.documents import Documents

MOST_ROWS = 200_000
"""Rows one job takes: what a click can count in time."""

SAMPLE_ROWS = 200
"""Rows by whose length the tokens of all are estimated: measuring each would take longer than a click may."""

LOOK_AHEAD = 20_000
"""Keys a click looks up at most, to make no more part files than needed."""


class StartRefused(Exception):
    """The request cannot become a job; ``code`` says why, ``names`` the columns it is about."""

    def __init__(self, code: str, *names: str) -> None:
        super().__init__(code)
        self.code = code
        self.names = names


@dataclass(frozen=True, slots=True)
class StartRequest:
    """What the person chose. ``request_id`` names the click: its replays are the same request."""

    spreadsheet_id: str
    sheet_id: int
    source_columns: tuple[str, ...]
    output_column: str
    instructions: str
    mode: Mode
    request_id: str


@dataclass(frozen=True, slots=True)
class Plan:
    """What was counted, and whether the output column is a new one. ``sample`` is what some of the rows would
    be asked with; it never leaves the click."""

    spreadsheet: SpreadsheetInfo
    sheet: SheetInfo
    new_column: bool
    rows: int
    blank: int
    keys: frozenset[str]
    todo: frozenset[str]
    sample: tuple[Prompt, ...]


def brief_of(request: StartRequest) -> Brief:
    """What the person chose, cleaned; raises `StartRefused` where something is missing."""
    instructions = clean(request.instructions).strip()
    output = clean(request.output_column).strip()
    if not request.source_columns:
        raise StartRefused("no_source_column")
    if is_blank(output):
        raise StartRefused("output_blank")
    if output in request.source_columns:
        raise StartRefused("output_is_source", output)
    if is_blank(instructions):
        raise StartRefused("no_instructions")
    return Brief(request.source_columns, output, instructions)


def plan(
    documents: Documents, model: LanguageModel, user: UserAccess, request: StartRequest, brief: Brief
) -> Plan:
    """Check the choice against the sheet and count what there is to do; changes nothing.

    Raises
    ------
    StartRefused
        The sheet or the choice does not make a job.
    """
    spreadsheet = user.sheets.info(request.spreadsheet_id)
    sheet = next((item for item in spreadsheet.sheets if item.sheet_id == request.sheet_id), None)
    if sheet is None:
        raise StartRefused("no_such_sheet")
    header = read_header(user.sheets, request.spreadsheet_id, request.sheet_id)
    new_column = _check_columns(header, brief)
    reading = replace(brief, output_column=brief.source_columns[0]) if new_column else brief
    table = Table(user.sheets, request.spreadsheet_id, request.sheet_id, reading, model, header)
    rows, blank, keys, sample = _count(table, brief.instructions)
    if rows == 0:
        raise StartRefused("all_blank" if blank or _has_rows(user, request, sheet) else "no_rows")
    todo = _todo(documents, request, keys)
    return Plan(spreadsheet, sheet, new_column, rows, blank, keys, todo, sample)


def _has_rows(user: UserAccess, request: StartRequest, sheet: SheetInfo) -> bool:
    """Whether other columns than the chosen ones hold anything."""
    if sheet.rows < 2:
        return False
    area = Area(HEADER_ROW + 1, None, 0, None)
    (rows,) = user.sheets.read(request.spreadsheet_id, request.sheet_id, [area])
    return bool(rows)


def _check_columns(header: Sequence[Column], brief: Brief) -> bool:
    """Whether the output column must be made."""
    if not any(column.titled for column in header):
        raise StartRefused("no_header")
    titles = Counter(column.title for column in header if column.titled)
    missing = [title for title in brief.source_columns if title not in titles]
    if missing:
        raise StartRefused("no_such_column", *missing)
    twice = [title for title in (*brief.source_columns, brief.output_column) if titles[title] > 1]
    if twice:
        raise StartRefused("duplicate_column", *twice)
    return brief.output_column not in titles


def _count(table: Table, instructions: str) -> tuple[int, int, frozenset[str], tuple[Prompt, ...]]:
    rows = blank = 0
    keys: set[str] = set()
    sample: list[Prompt] = []
    for _, page in table.pages():
        for row in page:
            if row.key is None:
                blank += 1
                continue
            rows += 1
            keys.add(row.key)
            if len(sample) < SAMPLE_ROWS:
                sample.append(Prompt(instructions, row.fields))
        if rows > MOST_ROWS:
            raise StartRefused("too_large")
    return rows, blank, frozenset(keys), tuple(sample)


def _todo(documents: Documents, request: StartRequest, keys: frozenset[str]) -> frozenset[str]:
    if request.mode == "all" or len(keys) > LOOK_AHEAD:
        return keys
    collection, now = results_path(request.spreadsheet_id), documents.now()
    found = documents.get_many(f"{collection}/{key}" for key in keys)
    done = {item.id for item in found.values() if Result.from_data(item.data).until > now}
    return keys - done
