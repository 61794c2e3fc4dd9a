"""Key to row, now: windows, targets and runs."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st
from stand_ins import FakeSheets

from addon.google.cells import Run
from addon.rows.locate import WINDOW_ROWS, runs, targets, windows
from addon.rows.table import Row

cells_of_a_column = st.dictionaries(st.integers(1, 60), st.text(max_size=3), max_size=40)


@pytest.mark.parametrize(
    ("indexes", "expected"),
    [
        ([], []),
        ([5], [(5, 6)]),
        ([9, 5, 5], [(5, 10)]),
        ([1, WINDOW_ROWS], [(1, WINDOW_ROWS + 1)]),
        ([1, WINDOW_ROWS + 1], [(1, 2), (WINDOW_ROWS + 1, WINDOW_ROWS + 2)]),
    ],
)
def test_near_rows_share_a_window_and_far_ones_do_not(
    indexes: list[int], expected: list[tuple[int, int]]
) -> None:
    assert windows(indexes) == expected


@given(st.sets(st.integers(1, 20_000), max_size=60))
def test_windows_cover_every_row_in_order_without_overlap_and_none_is_too_wide(indexes: set[int]) -> None:
    found = windows(indexes)
    assert all(any(first <= index < end for first, end in found) for index in indexes)
    assert all(0 < end - first <= WINDOW_ROWS for first, end in found)
    assert all(before[1] <= after[0] for before, after in itertools.pairwise(found))
    assert all(first in indexes and end - 1 in indexes for first, end in found), "no row more than needed"
    assert all(after[0] - before[0] >= WINDOW_ROWS for before, after in itertools.pairwise(found)), "few"


def test_targets_are_the_rows_of_a_key_wherever_they_are() -> None:
    rows = [
        Row(1, (), "", "k1"),
        Row(2, (), "old", "k2"),
        Row(3, (), "done", "k1"),
        Row(4, (), "", None),
        Row(9, (), " done", "k1"),
        Row(10, (), "", "k3"),
    ]
    assert targets(rows, {"k1": "done", "k2": "new", "elsewhere": "x"}) == {1: "done", 2: "new", 9: "done"}


def test_without_rows_or_texts_there_is_nothing_to_write() -> None:
    assert targets([], {"k": "x"}) == {}
    assert targets([Row(1, (), "", "k")], {}) == {}
    assert runs(3, {}) == []


def test_consecutive_rows_are_one_run_and_a_gap_begins_another() -> None:
    assert runs(2, {4: "b", 3: "a", 9: "x", 6: "c", 7: "d"}) == [
        Run(3, 2, ("a", "b")),
        Run(6, 2, ("c", "d")),
        Run(9, 2, ("x",)),
    ]


@given(cells_of_a_column, cells_of_a_column, st.integers(0, 5))
def test_writing_the_runs_is_writing_the_cells(
    there: dict[int, str], cells: dict[int, str], column: int
) -> None:
    by_runs, by_cells = FakeSheets(width=6), FakeSheets(width=6)
    for sheets in (by_runs, by_cells):
        for row, text in there.items():
            sheets.put(row, column, text)
    by_runs.write("book", 0, runs(column, cells))
    for row, text in cells.items():
        by_cells.put(row, column, text)
    assert all(by_runs.shows(row, c) == by_cells.shows(row, c) for row in range(70) for c in range(6))


@given(cells_of_a_column)
def test_runs_are_as_few_as_can_be(cells: dict[int, str]) -> None:
    made = runs(0, cells)
    ends = {run.row + len(run.texts) for run in made}
    assert not ends & {run.row for run in made}, "neighbouring runs are one run"
    assert all(run.texts for run in made)
