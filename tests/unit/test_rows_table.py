"""A sheet read as rows: ragged, changing under the reader, with titles people type."""

from collections.abc import Callable

import pytest
from stand_ins import FakeModel, FakeSheets

from addon.google.areas import Area
from addon.google.errors import OutOfGrid
from addon.rows.keys import CELL_LIMIT, ERROR_VALUES
from addon.rows.table import (
    WIDEST_PAGE,
    Brief,
    Column,
    ColumnsGone,
    Layout,
    Row,
    SheetGone,
    Table,
    column_letters,
    columns_of,
    first_free_column,
    read_header,
    resolve,
)

BRIEF = Brief(("title", "text"), "Summary", "shorten")
HEADER = ["title", "text", "Summary"]


def table(sheets: FakeSheets, brief: Brief = BRIEF, model: FakeModel | None = None) -> Table:
    return Table(sheets, "book", 0, brief, model or FakeModel())  # type: ignore[arg-type]


def read(sheets: FakeSheets, first: int = 1, end: int | None = 1000) -> list[Row]:
    _, (rows,) = table(sheets).read([(first, end)])
    return rows


def once(sheets: FakeSheets, name: str, count: int, change: Callable[[], None]) -> None:
    """Change the sheet right before the ``count``-th request called ``name``."""
    seen = 0

    def before(request: str) -> None:
        nonlocal seen
        if request == name:
            seen += 1
            if seen == count:
                change()

    sheets.before = before


@pytest.mark.parametrize(("index", "letters"), [(0, "A"), (25, "Z"), (26, "AA"), (701, "ZZ"), (702, "AAA")])
def test_columns_have_the_letters_people_see(index: int, letters: str) -> None:
    assert column_letters(index) == letters


def test_a_column_without_title_is_named_by_its_letter() -> None:
    assert columns_of(["id", "text", "", " \u200b", " padded\r\n"]) == (
        Column(0, "id"),
        Column(1, "text"),
        Column(2, "Column C", titled=False),
        Column(3, "Column D", titled=False),
        Column(4, "padded"),
    )


def test_a_title_of_control_characters_only_is_no_title() -> None:
    assert columns_of(["\x00"]) == (Column(0, "Column A", titled=False),)


def test_an_empty_sheet_has_no_columns() -> None:
    assert read_header(FakeSheets(), "book", 0) == ()  # type: ignore[arg-type]


def test_of_columns_with_one_title_the_first_counts() -> None:
    columns = columns_of(["id", "text", "Summary", "text", "Summary"])
    assert resolve(columns, Brief(("text",), "Summary", "x")) == Layout((1,), 2)


def test_a_column_without_title_is_not_found_by_its_letter_for_it_may_be_another_one_by_now() -> None:
    with pytest.raises(ColumnsGone):
        resolve(columns_of(["id", "", "S"]), Brief(("Column B",), "S", "x"))
    titled = columns_of(["Column B", "", "S"])
    assert resolve(titled, Brief(("Column B",), "S", "x")) == Layout((0,), 2), "a person's own title"


def test_missing_columns_are_all_named_to_the_person_and_not_in_the_message() -> None:
    with pytest.raises(ColumnsGone) as gone:
        resolve(columns_of(["title"]), BRIEF)
    assert gone.value.titles == ("text", "Summary")
    assert "Summary" not in str(gone.value)


def test_ragged_rows_are_padded() -> None:
    rows = read(FakeSheets([HEADER, ["a"], ["", "b"], ["c", "d", "done"], [], ["e", "", "x"]]))
    assert [(row.index, row.fields, row.output) for row in rows] == [
        (1, (("title", "a"),), ""),
        (2, (("text", "b"),), ""),
        (3, (("title", "c"), ("text", "d")), "done"),
        (4, (), ""),
        (5, (("title", "e"),), "x"),
    ]
    assert [row.key is None for row in rows] == [False, False, False, True, False]


def test_which_column_a_text_is_in_matters() -> None:
    one, other = read(FakeSheets([HEADER, ["a"], ["", "a"]]))
    assert one.key != other.key


def test_an_empty_cell_and_one_that_only_looks_empty_make_the_same_row() -> None:
    rows = read(FakeSheets([HEADER, ["a", ""], ["a", " \u200b"], ["a", "\x00"], ["a"]]))
    assert len({row.key for row in rows}) == 1


def test_rows_that_only_look_empty_are_blank() -> None:
    rows = read(FakeSheets([HEADER, [" ", "\u3000"], ["", "", "old summary"], ["\x00", "\u202e"], ["a"]]))
    assert [row.key is None for row in rows] == [True, True, True, False]
    assert rows[1].output == "old summary"


def test_blank_rows_below_the_last_one_are_not_rows() -> None:
    assert [row.index for row in read(FakeSheets([HEADER, ["a"], [], [], []]))] == [1]


def test_a_summary_below_the_last_text_still_counts_as_a_row_with_something_in_it() -> None:
    assert [row.index for row in read(FakeSheets([HEADER, ["a"], [], ["", "", "left over"]]))] == [1, 2, 3]


@pytest.mark.parametrize("rows", [[], [[]], [HEADER]])
def test_a_sheet_without_data_has_no_rows(rows: list[list[str]]) -> None:
    sheets = FakeSheets(rows)
    if rows != [HEADER]:
        with pytest.raises(ColumnsGone):
            table(sheets).read([(1, 9)])
    else:
        assert read(sheets) == []


def test_texts_are_cleaned_before_they_are_keyed_and_the_output_is_kept_as_it_is() -> None:
    one, other = read(FakeSheets([HEADER, ["a\r\nb\x00", "", "x\r"], ["a\nb"]]))
    assert one.fields == other.fields == (("title", "a\nb"),)
    assert one.key == other.key
    assert one.output == "x\r"


@pytest.mark.parametrize("value", sorted(ERROR_VALUES))
def test_a_formula_that_failed_is_not_sent_to_the_model(value: str) -> None:
    whole, part = read(FakeSheets([HEADER, ["ok", f" {value}"], ["ok", f"about {value} values"]]))
    assert whole.problem == "source_error"
    assert part.problem is None


def test_a_cell_longer_than_sheets_takes_is_not_sent_to_the_model() -> None:
    texts = ["x" * CELL_LIMIT, "x" * (CELL_LIMIT + 1), "🙂" * 25_000, "🙂" * 25_001]
    rows = read(FakeSheets([HEADER, *([text] for text in texts)]))
    assert [row.problem for row in rows] == [None, "source_too_long", None, "source_too_long"]


def test_model_settings_and_instructions_go_into_the_keys() -> None:
    sheets = FakeSheets([HEADER, ["a"]])
    variants = [
        table(sheets),
        table(sheets, model=FakeModel("model-2")),
        table(sheets, model=FakeModel(settings={"temperature": 1})),
        table(sheets, brief=Brief(BRIEF.source_columns, BRIEF.output_column, "lengthen")),
        table(sheets, brief=Brief(("title",), "Summary", "shorten")),
    ]
    keys = [one.read([(1, 9)])[1][0][0].key for one in variants]
    assert len(set(keys[:4])) == 4
    assert keys[4] == keys[0], "a column that is blank in this row says nothing about it"


def test_several_windows_are_read_in_one_request_together_with_the_header() -> None:
    sheets = FakeSheets([HEADER, *([f"a{number}"] for number in range(1, 50))])
    one = table(sheets)
    one.read([(1, 2)])
    sheets.requests.clear()
    _, (first, second) = one.read([(3, 5), (40, 41)])
    assert [row.index for row in (*first, *second)] == [3, 4, 40]
    assert [row.fields[0][1] for row in (*first, *second)] == ["a3", "a4", "a40"]
    assert sheets.requests == ["read"]
    assert sheets.areas[-1][0] == Area(0, 1, 0, None)


def test_columns_that_moved_between_two_reads_are_found_again_in_that_read() -> None:
    sheets = FakeSheets([HEADER, ["a", "b", "old"]])
    one = table(sheets)
    before, (rows,) = one.read([(1, 9)])
    sheets.rows = [["new", "Summary", "text", "title"], ["z", "old", "b", "a"]]
    after, (moved,) = one.read([(1, 9)])
    assert (before, after) == (Layout((0, 1), 2), Layout((3, 2), 1))
    assert moved == rows


def test_columns_that_move_while_they_are_looked_for_are_found() -> None:
    sheets = FakeSheets([HEADER, ["a", "b", "old"]])

    def move() -> None:
        sheets.rows = [["text", "title", "Summary"], ["b", "a", "old"]]

    once(sheets, "read", 2, move)
    layout, (rows,) = table(sheets).read([(1, 9)])
    assert layout == Layout((1, 0), 2)
    assert rows[0].fields == (("title", "a"), ("text", "b"))


def test_columns_that_moved_out_of_a_sheet_made_narrower_are_found_again() -> None:
    sheets = FakeSheets([["x", *HEADER], ["x", "a", "b", "old"]], width=4)
    one = table(sheets)
    one.read([(1, 9)])
    sheets.rows, sheets.width = [HEADER, ["a", "b", "old"]], 3
    layout, (rows,) = one.read([(1, 9)])
    assert layout == Layout((0, 1), 2)
    assert rows[0].output == "old"


def test_every_page_of_a_sheet_made_narrower_is_read() -> None:
    sheets = FakeSheets([["x", *HEADER], *(["x", "a", "b"] for _ in range(5))], width=4)

    def narrow() -> None:
        sheets.rows, sheets.width = [row[1:] for row in sheets.rows], 3

    once(sheets, "read", 3, narrow)
    assert [row.index for _, page in table(sheets).pages(page_rows=2) for row in page] == [1, 2, 3, 4, 5]


def test_a_column_deleted_between_two_reads_is_gone() -> None:
    sheets = FakeSheets([HEADER, ["a", "b", "old"]])
    one = table(sheets)
    one.read([(1, 9)])
    sheets.rows = [["title", "text"], ["a", "b"]]
    with pytest.raises(ColumnsGone) as gone:
        one.read([(1, 9)])
    assert gone.value.titles == ("Summary",)


def test_rows_outside_the_grid_are_said_to_be_so() -> None:
    sheets = FakeSheets([HEADER, ["a"]], height=10)
    with pytest.raises(OutOfGrid):
        table(sheets).read([(5, 11)])


def test_a_sheet_that_was_deleted_is_gone() -> None:
    sheets = FakeSheets([HEADER, ["a"]])
    sheets.sheet_id = 7
    with pytest.raises(SheetGone):
        list(table(sheets).pages())


def test_pages_read_every_row_once_up_to_the_end_of_the_grid() -> None:
    sheets = FakeSheets([HEADER, *([f"a{number}"] for number in range(1, 8))], height=8)
    pages = list(table(sheets).pages(page_rows=3))
    assert [[row.index for row in rows] for _, rows in pages] == [[1, 2, 3], [4, 5, 6], [7]]
    assert [after for after, _ in pages] == [4, 7, 10]


def test_pages_can_begin_in_the_middle() -> None:
    sheets = FakeSheets([HEADER, *([f"a{number}"] for number in range(1, 8))], height=8)
    assert [row.index for _, rows in table(sheets).pages(5, page_rows=3) for row in rows] == [5, 6, 7]


@pytest.mark.parametrize(("first", "height"), [(1, 1), (8, 8), (900, 8)])
def test_where_there_are_no_rows_there_are_no_pages(first: int, height: int) -> None:
    sheets = FakeSheets([HEADER], height=height)
    assert list(table(sheets).pages(first)) == []


def test_rows_added_while_pages_are_read_are_in_the_last_page() -> None:
    sheets = FakeSheets([HEADER, *(["a"] for _ in range(5))], height=6)

    def grow() -> None:
        sheets.rows += [["b"], ["c"]]
        sheets.height = 8

    once(sheets, "read", 3, grow)
    pages = list(table(sheets).pages(page_rows=3))
    assert [row.index for _, rows in pages for row in rows] == [1, 2, 3, 4, 5, 6, 7]
    assert pages[-1][0] == 8


@pytest.mark.parametrize(("height", "left"), [(3, [1, 2, 3]), (5, [1, 2, 3, 4]), (6, [1, 2, 3, 4, 5])])
def test_of_rows_deleted_while_pages_are_read_those_left_are_read(height: int, left: list[int]) -> None:
    sheets = FakeSheets([HEADER, *(["a"] for _ in range(20))], height=21)

    def shrink() -> None:
        del sheets.rows[height:]
        sheets.height = height

    once(sheets, "read", 3, shrink)
    assert [row.index for _, rows in table(sheets).pages(page_rows=3) for row in rows] == left


def test_a_blank_tail_costs_few_requests() -> None:
    sheets = FakeSheets([HEADER, ["a"]], height=400_000)
    pages = list(table(sheets).pages())
    assert pages[-1][0] >= 400_000
    assert [row.index for _, rows in pages for row in rows] == [1]
    assert sheets.requests.count("read") < 20
    assert all(
        area.end_row is None or area.end_row - area.first_row <= WIDEST_PAGE for area in sheets.areas[-1]
    )


def test_after_a_gap_of_blank_rows_pages_are_small_again() -> None:
    sheets = FakeSheets([HEADER, *([""] for _ in range(40)), *(["a"] for _ in range(40))], height=200)
    sizes = []
    first = 1
    for after, rows in table(sheets).pages(page_rows=2):
        sizes.append((after - first, any(row.key for row in rows)))
        first = after
    wide = max(size for size, full in sizes if not full)
    met = next(number for number, (_, full) in enumerate(sizes) if full)
    assert wide > 2
    assert sizes[met + 1][0] == 2


def test_a_new_column_goes_right_of_everything_in_any_row() -> None:
    sheets = FakeSheets([["title", "text"], ["a", "b", "", "a note"], ["c"]], width=26)
    sheet = sheets.info("book").sheets[0]
    assert first_free_column(sheets, "book", sheet, sheets.rows[0]) == 4  # type: ignore[arg-type]
    sheets.rows[1] = ["a"]
    assert first_free_column(sheets, "book", sheet, sheets.rows[0]) == 2  # type: ignore[arg-type]
    sheets.width = 2
    narrow = sheets.info("book").sheets[0]
    assert first_free_column(sheets, "book", narrow, sheets.rows[0]) == 2  # type: ignore[arg-type]
