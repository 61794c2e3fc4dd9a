"""What tests and the demo page do to a workbook, and that it is on disk."""

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from addon.simulator.csvfile import WorkbookError
from addon.simulator.files import Files
from addon.simulator.grid import Area
from addon.simulator.state import State
from addon.simulator.workbook import Workbook
from addon.simulator.workbooks import Workbooks

ROWS = [["id", "text"], ["2", "b"], ["1", "a"], ["", "x"], ["10", "c"]]


@pytest.fixture
def state(tmp_path: Path) -> Iterator[State]:
    opened = State(tmp_path / "state")
    yield opened
    opened.close()


def open_books(state: State) -> Workbooks:
    return Workbooks(state, Files(state), "you@example.com")


@pytest.fixture
def books(state: State) -> Workbooks:
    return open_books(state)


@pytest.fixture
def book(books: Workbooks) -> Workbook:
    return books.get(books.create("Inquiries", ROWS))


def test_cells_are_rectangular_and_end_with_the_last_filled_row(book: Workbook) -> None:
    book.set_cell(0, 6, 3, "far")
    assert book.cells(0)[5:] == [["", "", "", ""], ["", "", "", "far"]]
    book.set_cell(0, 6, 3, "")
    assert book.cells(0) == ROWS


def test_sorting_keeps_the_header_and_puts_blanks_last(book: Workbook) -> None:
    book.sort(0, 0)
    assert [row[0] for row in book.cells(0)] == ["id", "1", "2", "10", ""]
    book.sort(0, 0, descending=True)
    assert [row[0] for row in book.cells(0)] == ["id", "10", "2", "1", ""]


def test_rows_and_columns_are_inserted_and_deleted(book: Workbook) -> None:
    book.insert_rows(0, 1, rows=[("new", "row", "wide"), ("and", "more")])
    assert book.cells(0)[1:4] == [["new", "row", "wide"], ["and", "more", ""], ["2", "b", ""]]
    book.delete_rows(0, 1, 2)
    book.insert_columns(0, 0)
    assert book.cells(0)[1] == ["", "2", "b"]
    book.delete_columns(0, 1)
    assert book.cells(0)[1] == ["", "b"]
    sheet = book.sheet(0)
    assert (sheet.row_count, sheet.column_count) == (1000, 26)


def test_every_change_raises_the_revision_and_a_failed_one_changes_nothing(book: Workbook) -> None:
    before = book.revision
    book.set_cell(0, 1, 1, "x")
    assert book.revision == before + 1
    with pytest.raises(UnicodeEncodeError):
        book.set_cell(0, 1, 1, "\ud83d")
    with pytest.raises(WorkbookError, match="no sheet with id 9"):
        book.set_cell(9, 1, 1, "y")
    assert (book.revision, book.cells(0)[1][1]) == (before + 1, "x")


def test_unknown_workbooks_are_one_sentence(books: Workbooks) -> None:
    with pytest.raises(WorkbookError, match="There is no workbook"):
        books.get("nothing")


def test_sheets_protection_and_order_are_read_back_from_disk(state: State, book: Workbook) -> None:
    added = book.add_sheet("二", rows=5, columns=3)
    book.rename_sheet(0, "one")
    book.protect(added, Area(0, 5, 0, 1), ["a@example.com"])
    book.set_cell(added, 2, 1, "kept")
    book.sort(0, 1)
    again = open_books(state).get(book.spreadsheet_id)
    assert again.revision == book.revision
    assert [(sheet.sheet_id, sheet.title) for sheet in again.sheets] == [(0, "one"), (added, "二")]
    assert again.sheet(added).protections == book.sheet(added).protections
    assert again.cells(0) == book.cells(0)
    assert again.cells(added)[2] == ["", "kept"]
    book.delete_sheet(added)
    assert [sheet.title for sheet in open_books(state).get(book.spreadsheet_id).sheets] == ["one"]


def test_a_long_file_gets_a_grid_within_the_limit_of_cells(books: Workbooks) -> None:
    sheet = books.get(books.create("Long", [["a", "b"]], grid=(1000, 26))).sheet(0)
    assert (sheet.row_count, sheet.column_count) == (1000, 26)
    wide = books.get(books.create("Wide", [["x"] * 30])).sheet(0)
    assert wide.column_count == 30
    long = books.get(books.create("Long", [["x"]] * 500_000)).sheet(0)
    assert (long.row_count, long.column_count) == (500_000, 1)


def test_changes_from_many_threads_are_all_kept(book: Workbook) -> None:
    barrier = threading.Barrier(8)

    def change(column: int) -> None:
        barrier.wait()
        for row in range(10):
            book.set_cell(0, row + 10, column, f"{column}-{row}")

    threads = [threading.Thread(target=change, args=(column,)) for column in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert book.cells(0)[10:] == [[f"{column}-{row}" for column in range(8)] for row in range(10)]


steps = st.lists(
    st.one_of(
        st.tuples(st.just("set"), st.integers(0, 6), st.integers(0, 3), st.sampled_from(["", "x", "y"])),
        st.tuples(st.just("insert_rows"), st.integers(0, 6), st.integers(1, 2)),
        st.tuples(st.just("delete_rows"), st.integers(0, 6), st.integers(1, 2)),
        st.tuples(st.just("insert_columns"), st.integers(0, 3), st.integers(1, 2)),
        st.tuples(st.just("delete_columns"), st.integers(0, 3), st.integers(1, 2)),
    ),
    max_size=8,
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60, deadline=None)
@given(steps=steps)
def test_any_changes_do_what_they_do_to_a_plain_table_also_on_disk(state: State, steps: list[Any]) -> None:
    books = open_books(state)
    height, width = 12, 8
    model = [[f"{row}.{column}" for column in range(3)] + [""] * (width - 3) for row in range(4)]
    model += [[""] * width for _ in range(height - 4)]
    book = books.get(books.create("Model", [row[:3] for row in model[:4]], grid=(height, width)))
    for step in steps:
        if step[0] == "set":
            _, row, column, text = step
            model[row][column] = text
            book.set_cell(0, row, column, text)
            continue
        kind, at, count = step
        getattr(book, kind)(0, at, count)
        if kind == "insert_rows":
            model[at:at] = [[""] * len(model[0]) for _ in range(count)]
        elif kind == "delete_rows":
            del model[at : at + count]
        elif kind == "insert_columns":
            for line in model:
                line[at:at] = [""] * count
        else:
            for line in model:
                del line[at : at + count]
        if len(model) < 8 or len(model[0]) < 5:
            break
    for found in (book, open_books(state).get(book.spreadsheet_id)):
        sheet = found.sheet(0)
        assert (sheet.row_count, sheet.column_count) == (len(model), len(model[0]))
        cells = [[sheet.cell(row, column) for column in range(len(model[0]))] for row in range(len(model))]
        assert cells == model
