"""Reading a sheet as rows: columns found by their titles, ragged rows padded, every row keyed."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from addon.google.areas import Area
from addon.google.errors import OutOfGrid
from addon.google.sheets import SheetInfo, Sheets
from addon.llm.base import LanguageModel
from addon.rows.keys import CELL_LIMIT, ERROR_VALUES, clean, idempotency_key, is_blank, utf16_units

HEADER_ROW = 0
PAGE_ROWS = 2_000
"""Rows read at once: about Google's recommended 2 MB for texts of 1,000 characters."""
WIDEST_PAGE = 200_000
GROWTH = 8
"""A page grows by this up to the widest while it meets only blank rows: a million of them cost 8 requests."""


class ColumnsGone(Exception):
    """A column the job needs is no longer in the header row; ``titles`` names it for the person."""

    def __init__(self, titles: Sequence[str]) -> None:
        super().__init__(f"{len(titles)} columns of this job are not in the header row any more")
        self.titles = tuple(titles)


@dataclass(frozen=True, slots=True)
class Column:
    """A column of the sheet: its zero-based index, and its title, or ``Column C`` where it is not
    ``titled``."""

    index: int
    title: str
    titled: bool = True


@dataclass(frozen=True, slots=True)
class Brief:
    """What a job does with a row: which columns go in, which takes the summary, what to write.

    It holds the person's own words, so it lives in their Drive (the run file), never in the store.
    """

    source_columns: tuple[str, ...]
    output_column: str
    instructions: str


@dataclass(frozen=True, slots=True)
class Layout:
    """Where the columns of a `Brief` are at the moment (zero-based indexes)."""

    sources: tuple[int, ...]
    output: int


@dataclass(frozen=True, slots=True)
class Row:
    """One data row as it was when read.

    Parameters
    ----------
    index
        Zero-based row of the sheet, at that moment only.
    fields
        Title and cleaned text of each source column that is not blank, in column order.
    output
        What the output column shows.
    key
        Its idempotency key; ``None`` for a blank row.
    problem
        A failure class where no model should be asked (`source_error`, `source_too_long`), or ``None``.
    """

    index: int
    fields: tuple[tuple[str, str], ...]
    output: str
    key: str | None
    problem: str | None = None


def column_letters(index: int) -> str:
    """Spreadsheet letters of a zero-based column: 0 is A, 26 is AA."""
    letters = ""
    index += 1
    while index:
        index, rest = divmod(index - 1, 26)
        letters = chr(ord("A") + rest) + letters
    return letters


def columns_of(header: Sequence[str]) -> tuple[Column, ...]:
    """Turn a header row into columns."""
    return tuple(
        Column(index, f"Column {column_letters(index)}", titled=False)
        if is_blank(title)
        else Column(index, clean(title).strip())
        for index, title in enumerate(header)
    )


def read_header(sheets: Sheets, spreadsheet_id: str, sheet_id: int) -> tuple[Column, ...]:
    """Read the header row; an empty sheet has no columns."""
    (rows,) = sheets.read(spreadsheet_id, sheet_id, [Area(HEADER_ROW, HEADER_ROW + 1, 0, None)])
    return columns_of(rows[0] if rows else ())


def first_free_column(sheets: Sheets, spreadsheet_id: str, sheet: SheetInfo, header: Sequence[str]) -> int:
    """The first column right of the header with nothing in or right of it, in any row: a new column there
    covers nothing."""
    if len(header) >= sheet.columns:
        return sheet.columns
    (rows,) = sheets.read(spreadsheet_id, sheet.sheet_id, [Area(HEADER_ROW, None, len(header), None)])
    return len(header) + max((len(row) for row in rows), default=0)


def resolve(columns: Sequence[Column], brief: Brief) -> Layout:
    """Find a brief's columns by title; of several with one title the first counts.

    A column without a title is never found: its letter would be another column's after the next insertion.

    Raises
    ------
    ColumnsGone
        A title is missing.
    """
    where = {column.title: column.index for column in reversed(columns) if column.titled}
    wanted = (*brief.source_columns, brief.output_column)
    missing = [title for title in wanted if title not in where]
    if missing:
        raise ColumnsGone(missing)
    return Layout(tuple(where[title] for title in brief.source_columns), where[brief.output_column])


class Table:
    """One sheet read as rows for one brief. Columns are found anew in every read, for they move.

    Parameters
    ----------
    sheets
        Client acting for whoever may read the sheet.
    model
        Its name and settings go into the keys.
    header
        The sheet's columns, where they have just been read.
    """

    def __init__(
        self,
        sheets: Sheets,
        spreadsheet_id: str,
        sheet_id: int,
        brief: Brief,
        model: LanguageModel,
        header: Sequence[Column] = (),
    ) -> None:
        self._sheets = sheets
        self._spreadsheet_id = spreadsheet_id
        self._sheet_id = sheet_id
        self._brief = brief
        self._model_name = model.name
        self._model_settings = dict(model.settings)
        self._layout = resolve(header, brief) if header else None

    def read(self, windows: Sequence[tuple[int, int | None]]) -> tuple[Layout, list[list[Row]]]:
        """Read windows of rows ``(first, end)`` together with the header, in one request.

        Returns the layout the rows were read by and, per window, its rows up to the last one with anything
        in it. If the columns turn out to have moved since the last read, the request is made again.
        """
        while True:
            layout = self._layout or self._look_for_columns()
            areas = [Area(HEADER_ROW, HEADER_ROW + 1, 0, None)]
            for first, end in windows:
                areas += [Area(first, end, column, column + 1) for column in (*layout.sources, layout.output)]
            try:
                answer = self._sheets.read(self._spreadsheet_id, self._sheet_id, areas)
            except OutOfGrid:
                if self._look_for_columns() == layout:
                    raise  # the rows are not there any more
                continue  # columns moved, and the sheet has fewer now
            now = resolve(columns_of(answer[0][0] if answer[0] else ()), self._brief)
            if now == layout:
                return now, self._rows(windows, answer[1:])
            self._layout = now

    def _look_for_columns(self) -> Layout:
        header = read_header(self._sheets, self._spreadsheet_id, self._sheet_id)
        self._layout = resolve(header, self._brief)
        return self._layout

    def pages(
        self, first: int = HEADER_ROW + 1, *, page_rows: int = PAGE_ROWS
    ) -> Iterator[tuple[int, list[Row]]]:
        """Read from row ``first`` to the end of the sheet, a page at a time.

        Yields the zero-based row after the page, and the page's rows (fewer where it ends in blank rows).
        """
        height, size = self.height(), page_rows
        while True:
            end = first + size
            last = end >= height
            try:
                _, (rows,) = self.read([(first, None if last else end)])
            except OutOfGrid:  # rows were deleted meanwhile: perhaps above this page, perhaps in it
                now = self.height()
                if now <= first:
                    return
                if now >= height:
                    raise
                height = now
                continue
            yield (max(end, first + len(rows)), rows)
            if last:
                return
            size = page_rows if any(row.key for row in rows) else min(size * GROWTH, WIDEST_PAGE)
            first = end

    def height(self) -> int:
        """Rows of the sheet's grid now, header included."""
        for sheet in self._sheets.info(self._spreadsheet_id).sheets:
            if sheet.sheet_id == self._sheet_id:
                return sheet.rows
        raise SheetGone

    def _rows(
        self, windows: Sequence[tuple[int, int | None]], answer: Sequence[list[list[str]]]
    ) -> list[list[Row]]:
        width = len(self._brief.source_columns) + 1
        result = []
        for number, (first, _) in enumerate(windows):
            columns = answer[number * width : (number + 1) * width]
            height = max((len(column) for column in columns), default=0)
            result.append([self._row(first + offset, columns, offset) for offset in range(height)])
        return result

    def _row(self, index: int, columns: Sequence[list[list[str]]], offset: int) -> Row:
        texts = [_cell(column, offset) for column in columns]
        output = texts.pop()
        if all(is_blank(text) for text in texts):
            return Row(index, (), output, None)
        fields = tuple(
            (title, clean(text))
            for title, text in zip(self._brief.source_columns, texts, strict=True)
            if not is_blank(text)
        )
        key = idempotency_key(self._model_name, self._model_settings, self._brief.instructions, fields)
        return Row(index, fields, output, key, _problem(texts))


class SheetGone(Exception):
    """The job's sheet is no longer in the spreadsheet."""


def _cell(column: list[list[str]], offset: int) -> str:
    if offset >= len(column) or not column[offset]:
        return ""
    return column[offset][0]


def _problem(texts: Sequence[str]) -> str | None:
    if any(text.strip() in ERROR_VALUES for text in texts):
        return "source_error"
    if any(len(text) * 2 > CELL_LIMIT and utf16_units(text) > CELL_LIMIT for text in texts):
        return "source_too_long"
    return None
