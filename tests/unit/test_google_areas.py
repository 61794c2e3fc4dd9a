"""Values of an answer go to the area they belong to, whatever Google merges, repeats, cuts or leaves out."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from addon.google.areas import Area, Unmatched, grid_range, rows_by_area

A = Area(1, 4, 0, 1)
B = Area(1, 4, 2, 3)
OPEN = Area(1, None, 0, 1)


def matched(a1: str, values: Any, *areas: Area, **changes: int) -> dict[str, Any]:
    filters = [{"gridRange": {**grid_range(7, area), **changes}} for area in areas]
    value_range = {"range": a1, "majorDimension": "ROWS"}
    if values is not None:
        value_range["values"] = values
    return {"valueRange": value_range, "dataFilters": filters}


def test_an_answer_in_another_order_is_put_right() -> None:
    answer = [matched("'S'!C2:C4", [["c"]], B), matched("'S'!A2:A4", [["a"]], A)]
    assert rows_by_area(answer, [A, B]) == {A: [["a"]], B: [["c"]]}


def test_a_repeated_range_counts_once() -> None:
    answer = [matched("S!A2:A4", [["a"]], A, A), matched("S!A2:A4", [["a"]], A)]
    assert rows_by_area(answer, [A]) == {A: [["a"]]}


def test_areas_served_by_one_wider_range_are_cut_out_of_it() -> None:
    values = [["head"], ["a2", "b2", "c2"], [], ["a4", "b4", "c4"], ["a5"]]
    assert rows_by_area([matched("S!A1:C5", values, A, B)], [A, B]) == {
        A: [["a2"], [], ["a4"]],
        B: [["c2"], [], ["c4"]],
    }


def test_a_range_that_begins_later_than_its_area_leaves_blanks_before_it() -> None:
    assert rows_by_area([matched("S!A3:A4", [["a3"]], A)], [A]) == {A: [[], ["a3"]]}


def test_an_end_that_google_filled_in_is_still_the_open_area() -> None:
    answer = [matched("S!A2:A1000", [["a"]], OPEN, endRowIndex=1000)]
    assert rows_by_area(answer, [OPEN]) == {OPEN: [["a"]]}


def test_zeros_that_google_leaves_out_are_zeros() -> None:
    first = Area(0, 1, 0, None)
    item = {
        "valueRange": {"range": "S!A1:Z1", "values": [["h"]]},
        "dataFilters": [{"gridRange": {"endRowIndex": 1}}],
    }
    assert rows_by_area([item], [first]) == {first: [["h"]]}


def test_blanks_at_the_ends_are_dropped_and_blanks_inside_are_kept() -> None:
    answer = [matched("S!A2:C9", [["a", "", ""], [], ["", "b"], ["", ""], []], Area(1, 9, 0, 3))]
    assert rows_by_area(answer, [Area(1, 9, 0, 3)]) == {Area(1, 9, 0, 3): [["a"], [], ["", "b"]]}


def test_an_empty_area_has_no_values_key() -> None:
    assert rows_by_area([matched("S!A2:A4", None, A)], [A]) == {A: []}


def test_every_value_is_text() -> None:
    answer = [matched("S!A2:E2", [["00123", 7, 1.5, True, None, "x"]], Area(1, 2, 0, 6))]
    assert rows_by_area(answer, [Area(1, 2, 0, 6)]) == {
        Area(1, 2, 0, 6): [["00123", "7", "1.5", "TRUE", "", "x"]]
    }


@pytest.mark.parametrize(
    "item",
    [
        matched("S!D2:D4", [["d"]], Area(1, 4, 3, 4)),
        matched("S!A2:A9", [["a"]], A, endRowIndex=9),
        {"valueRange": {"range": "S!A2:A4", "values": [["a"]]}},
    ],
)
def test_values_of_an_area_nobody_asked_for_are_not_guessed_at(item: dict[str, Any]) -> None:
    with pytest.raises(Unmatched):
        rows_by_area([item], [A, B])


def test_values_that_could_be_of_two_areas_are_not_guessed_at() -> None:
    answer = [matched("S!A2:A3", [["a"]], A, endRowIndex=3)]
    with pytest.raises(Unmatched):
        rows_by_area(answer, [A, OPEN])


@given(
    row=st.integers(0, 2000),
    column=st.integers(0, 60),
    values=st.lists(st.lists(st.sampled_from(["", "a", "b"]), max_size=4), max_size=5),
)
def test_a_cell_keeps_its_place_wherever_the_area_is(row: int, column: int, values: list[list[str]]) -> None:
    area = Area(row, row + 5, column, column + 4)
    letters, number = "", column + 1
    while number:
        number, rest = divmod(number - 1, 26)
        letters = chr(ord("A") + rest) + letters
    (rows,) = rows_by_area(
        [matched(f"'it''s! odd'!{letters}{row + 1}:ZZ9999", values, area)], [area]
    ).values()
    for y, texts in enumerate(values):
        for x, text in enumerate(texts):
            assert (rows[y][x] if y < len(rows) and x < len(rows[y]) else "") == text
