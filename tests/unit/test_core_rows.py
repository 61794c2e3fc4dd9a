"""Keys, hygiene, and finding rows again."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from addon.google.cells import Run
from addon.rows.keys import (
    SUMMARY_LIMIT,
    cap_summary,
    clean,
    idempotency_key,
    is_blank,
    shard_of,
    text_hash,
    utf16_units,
)
from addon.rows.locate import WINDOW_ROWS, runs, targets, windows
from addon.rows.table import Brief, Column, ColumnsGone, Row, column_letters, columns_of, resolve

anything = st.text(st.characters(), max_size=40)


def key(*fields: tuple[str, str], model: str = "m", instructions: str = "i", **settings: str) -> str:
    return idempotency_key(model, settings, instructions, fields)


def test_the_key_keeps_the_borders_between_fields() -> None:
    assert key(("t", "a|b"), ("t", "c")) != key(("t", "a"), ("t", "b|c"))
    assert key(("a|b", "c")) != key(("a", "b|c"))
    assert key(("a", "b"), ("c", "d")) != key(("a", 'b"],["c","d'))


def test_the_key_is_made_of_what_decides_a_summary_and_changes_with_each_part_of_it() -> None:
    base = key(("t", "x"))
    assert base == key(("t", "x"))
    others = [
        key(("t", "y")),
        key(("u", "x")),
        key(("t", "x"), model="n"),
        key(("t", "x"), instructions="j"),
        key(("t", "x"), temperature="0"),
    ]
    assert len({base, *others}) == 6


@given(
    st.lists(st.tuples(anything, anything), max_size=4), st.lists(st.tuples(anything, anything), max_size=4)
)
def test_different_fields_have_different_keys(
    first: list[tuple[str, str]], second: list[tuple[str, str]]
) -> None:
    first = [(clean(a), clean(b)) for a, b in first]
    second = [(clean(a), clean(b)) for a, b in second]
    assert (key(*first) == key(*second)) == (first == second)


@given(st.text(st.characters(codec=None, exclude_categories=[]), max_size=60))
def test_cleaned_text_can_be_sent_and_cleaning_it_again_changes_nothing(text: str) -> None:
    cleaned = clean(text)
    cleaned.encode()
    assert clean(cleaned) == cleaned
    assert not any(ord(character) < 32 and character not in "\n\t" for character in cleaned)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a\x00b\x1f", "ab"),
        ("\ud83d", "\ufffd"),
        ("a\r\nb\rc", "a\nb\nc"),
        ("tab\tstays", "tab\tstays"),
        ("00123", "00123"),
        ("👩‍👩‍👧 日本語", "👩‍👩‍👧 日本語"),
    ],
)
def test_hygiene(text: str, expected: str) -> None:
    assert clean(text) == expected


@pytest.mark.parametrize("text", ["", " ", "\n\t", "\u3000", "\u200b", "\ufeff \u200d", "\xa0"])
def test_what_nobody_can_see_is_blank(text: str) -> None:
    assert is_blank(text)


@pytest.mark.parametrize("text", ["0", ".", "\u200bx", "🙂", "#REF!"])
def test_what_somebody_can_see_is_not_blank(text: str) -> None:
    assert not is_blank(text)


@given(st.text(st.sampled_from("a🙂e\u0301日"), min_size=0, max_size=50), st.integers(1, 2000))
def test_a_long_summary_is_cut_below_the_limit_and_never_inside_a_character(text: str, times: int) -> None:
    long = text * times
    capped = cap_summary(long)
    assert utf16_units(capped) <= SUMMARY_LIMIT
    capped.encode()
    assert capped == long or (long.startswith(capped[:-1]) and capped.endswith("…"))


@given(st.integers(1, 12), st.text())
def test_every_key_has_one_shard(shards: int, text: str) -> None:
    assert 0 <= shard_of(text_hash(text), shards) < shards


@pytest.mark.parametrize(("index", "letters"), [(0, "A"), (25, "Z"), (26, "AA"), (701, "ZZ"), (702, "AAA")])
def test_column_letters(index: int, letters: str) -> None:
    assert column_letters(index) == letters


def test_columns_are_found_by_title_wherever_they_are_and_blank_ones_never() -> None:
    columns = columns_of(["id", "", " text ", "id"])
    assert columns == (
        Column(0, "id"),
        Column(1, "Column B", titled=False),
        Column(2, "text"),
        Column(3, "id"),
    )
    layout = resolve(columns, Brief(("text",), "id", "x"))
    assert (layout.sources, layout.output) == ((2,), 0)
    with pytest.raises(ColumnsGone) as gone:
        resolve(columns, Brief(("nope", "Column B"), "Summary", "x"))
    assert gone.value.titles == ("nope", "Column B", "Summary")
    assert "nope" not in str(gone.value)


@given(st.sets(st.integers(1, 20_000), max_size=60))
def test_windows_cover_every_row_and_none_is_too_wide(indexes: set[int]) -> None:
    found = windows(indexes)
    assert all(any(first <= index < end for first, end in found) for index in indexes)
    assert all(0 < end - first <= WINDOW_ROWS for first, end in found)
    assert all(before[1] <= after[0] for before, after in itertools.pairwise(found))


@given(st.dictionaries(st.integers(1, 60), st.text(max_size=3), max_size=40), st.integers(0, 5))
def test_runs_write_exactly_the_cells(cells: dict[int, str], column: int) -> None:
    made: list[Run] = runs(column, cells)
    written = {run.row + offset: text for run in made for offset, text in enumerate(run.texts)}
    assert written == cells
    assert all(run.column == column for run in made)
    ends = {run.row + len(run.texts) for run in made}
    assert not ends & {run.row for run in made}, "neighbouring runs are one run"


def test_targets_are_the_rows_of_a_key_wherever_they_are() -> None:
    rows = [
        Row(1, (), "", "k1"),
        Row(2, (), "old", "k2"),
        Row(3, (), "done", "k1"),
        Row(4, (), "", None),
        Row(9, (), "", "k1"),
        Row(10, (), "", "k3"),
    ]
    assert targets(rows, {"k1": "done", "k2": "new"}) == {1: "done", 2: "new", 9: "done"}
