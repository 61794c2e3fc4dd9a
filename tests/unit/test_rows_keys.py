"""The key of a row, and the hygiene its text goes through."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from stand_ins import FakeModel, FakeSheets

from addon.rows.keys import (
    CELL_LIMIT,
    SUMMARY_LIMIT,
    cap_summary,
    clean,
    idempotency_key,
    is_blank,
    shard_of,
    text_hash,
    utf16_units,
)
from addon.rows.table import Brief, Table

Fields = list[tuple[str, str]]
anything = st.text(st.characters(codec=None, exclude_categories=[]), max_size=60)
sendable = st.text(st.characters(codec="utf-8"), max_size=30)
fields = st.lists(st.tuples(sendable, sendable), max_size=4)


def key(*pairs: tuple[str, str], model: str = "m", instructions: str = "i", **settings: object) -> str:
    return idempotency_key(model, settings, instructions, pairs)  # type: ignore[arg-type]


def test_the_key_keeps_the_borders_between_fields() -> None:
    assert key(("t", "a|b"), ("t", "c")) != key(("t", "a"), ("t", "b|c"))
    assert key(("a|b", "c")) != key(("a", "b|c"))
    assert key(("a", "bc")) != key(("ab", "c"))
    assert key(("a", "b"), ("c", "d")) != key(("a", 'b"],["c","d'))
    assert key(("a", "b\nc")) != key(("a", "b"), ("c", ""))
    assert key(("t", "x"), instructions="i") != key(("t", ""), instructions="ix")


@given(fields, fields)
def test_only_equal_fields_have_equal_keys(first: Fields, second: Fields) -> None:
    assert (key(*first) == key(*second)) == (first == second)


@given(sendable, sendable, sendable, sendable)
def test_only_equal_model_and_instructions_have_equal_keys(a: str, b: str, c: str, d: str) -> None:
    same = key(("t", "x"), model=a, instructions=b) == key(("t", "x"), model=c, instructions=d)
    assert same == ((a, b) == (c, d))


def test_each_thing_that_decides_a_summary_changes_the_key() -> None:
    different = [
        key(("t", "x")),
        key(("t", "y")),
        key(("u", "x")),
        key(("t", "x"), ("u", "y")),
        key(("u", "y"), ("t", "x")),
        key(("t", "x"), model="n"),
        key(("t", "x"), instructions="j"),
        key(("t", "x"), temperature=0),
        key(("t", "x"), temperature=1),
        key(("t", "x"), temperature="0"),
        key(("t", "x"), top_p=0),
    ]
    assert len(set(different)) == len(different)


def test_the_order_in_which_settings_are_listed_does_not_change_the_key() -> None:
    assert key(("t", "x"), a=1, b=2) == key(("t", "x"), b=2, a=1)


def test_the_key_does_not_change_from_one_version_of_the_program_to_the_next() -> None:
    assert key(("t", "日本語")) == "5f4b568ba310f5c8bd6ebb26e523f2a5a4673a6e2f24257b1d1338a663ff880c"


@pytest.mark.parametrize("settings", [{"temperature": float("nan")}, {"temperature": float("inf")}])
def test_a_setting_that_is_no_number_is_refused_rather_than_hashed(settings: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="JSON"):
        idempotency_key("m", settings, "i", [("t", "x")])


def test_the_place_of_a_row_its_neighbours_and_its_output_are_not_in_its_key() -> None:
    brief = Brief(("text",), "Summary", "shorten")

    def keys(sheets: FakeSheets, spreadsheet: str) -> list[str | None]:
        table = Table(sheets, spreadsheet, 0, brief, FakeModel())  # type: ignore[arg-type]
        _, (rows,) = table.read([(1, 9)])
        return [row.key for row in rows if row.key]

    here = keys(FakeSheets([["text", "Summary"], ["x", ""]]), "one")
    there = keys(
        FakeSheets([["Summary", "id", "text"], ["", "7", ""], ["", "8", ""], ["old", "9", "x"]]), "other"
    )
    assert here == there
    assert len(here) == 1


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a\x00b\x1f\x7f\x9fc", "abc"),
        ("\ud83d", "\ufffd"),
        ("x\udc00y", "x\ufffdy"),
        ("a\r\nb\rc\n\rd", "a\nb\nc\n\nd"),
        ("tab\tstays", "tab\tstays"),
        ("00123", "00123"),
        ("=1+1", "=1+1"),
        ("👩‍👩‍👧 👍🏽 🇯🇵 日本語", "👩‍👩‍👧 👍🏽 🇯🇵 日本語"),
        ("\u202eright to left\u202c \u2067x\u2069", "\u202eright to left\u202c \u2067x\u2069"),
        ("e\u0301 か\u3099", "e\u0301 か\u3099"),
        (" spaces  stay ", " spaces  stay "),
        ("", ""),
    ],
)
def test_hygiene_takes_only_what_cannot_be_sent(text: str, expected: str) -> None:
    assert clean(text) == expected


@given(anything)
def test_cleaned_text_can_be_sent_and_cleaning_it_again_changes_nothing(text: str) -> None:
    cleaned = clean(text)
    cleaned.encode()
    assert clean(cleaned) == cleaned
    assert not any(unicodedata.category(one) == "Cc" and one not in "\n\t" for one in cleaned)
    text_hash(cleaned)
    key(("t", cleaned))


@given(st.text(st.characters(codec="utf-8", exclude_categories=["Cc"]), max_size=60))
def test_text_without_controls_is_left_alone(text: str) -> None:
    assert clean(text) == text


@pytest.mark.parametrize(
    "text",
    [
        *("", " ", "\n\t\r", "\u3000", "\u200b", "\ufeff \u200d", "\xa0", "\u202e\u202c", "\u2067\u2069"),
        *("\x00", "\x1b \x7f", "\ufe0f", "\u3164", "\u00ad", "\u061c", "\u2028"),
    ],
)
def test_what_nobody_can_see_is_blank(text: str) -> None:
    assert is_blank(text)


@pytest.mark.parametrize(
    "text", ["0", ".", "\u200bx", "🙂", "#REF!", "日", "\u202ex", "\ud83d", "\u0301", "-"]
)
def test_what_somebody_can_see_is_not_blank(text: str) -> None:
    assert not is_blank(text)


@given(anything)
def test_what_cleaning_empties_was_blank_before(text: str) -> None:
    assert is_blank(clean(text)) == is_blank(text)


@given(sendable)
def test_units_are_those_of_utf16(text: str) -> None:
    assert utf16_units(text) == len(text.encode("utf-16-le")) // 2


def test_a_summary_within_the_limit_stays_and_one_unit_more_is_cut() -> None:
    assert SUMMARY_LIMIT == 45_000 < CELL_LIMIT
    assert cap_summary("x" * SUMMARY_LIMIT) == "x" * SUMMARY_LIMIT
    assert cap_summary("x" * (SUMMARY_LIMIT + 1)) == "x" * (SUMMARY_LIMIT - 1) + "…"
    assert cap_summary("🙂" * 22_500) == "🙂" * 22_500
    assert cap_summary("🙂" * 22_501) == "🙂" * 22_499 + "…"


@pytest.mark.parametrize(
    "whole",
    [
        "e\u0301",
        "か\u3099",
        "e\u0301\u0302",
        "👍🏽",
        "❤\ufe0f",
        "👩\u200d👩\u200d👧",
        "नि",
        "🇯🇵",
        "ᄒ\u1161\u11ab",
    ],
)
@pytest.mark.parametrize("room", range(12))
def test_a_cut_tears_nothing_apart_that_people_see_as_one_character(whole: str, room: int) -> None:
    before = "x" * (SUMMARY_LIMIT - 1 - room)
    capped = cap_summary(before + whole + "y" * 20)
    assert capped.endswith("…")
    assert utf16_units(capped) <= SUMMARY_LIMIT
    rest = capped[len(before) : -1]
    assert rest == "" or rest.rstrip("y") == whole


@given(
    st.text(st.sampled_from("a🙂e\u0301日\u200d\ufe0f🇯🇵🏽"), min_size=1, max_size=50), st.integers(1, 2000)
)
def test_a_long_summary_is_a_beginning_of_it_marked_as_cut(text: str, times: int) -> None:
    long = text * times
    capped = cap_summary(long)
    assert utf16_units(capped) <= SUMMARY_LIMIT
    capped.encode()
    if utf16_units(long) <= SUMMARY_LIMIT:
        assert capped == long
    else:
        assert capped.endswith("…")
        assert long.startswith(capped[:-1])
        assert utf16_units(capped) > SUMMARY_LIMIT - 100, "no more is lost than one character"


@given(st.integers(1, 12), st.text())
def test_every_key_has_one_shard(shards: int, text: str) -> None:
    assert 0 <= shard_of(text_hash(text), shards) < shards


def test_keys_are_spread_over_all_shards() -> None:
    counts = [0] * 4
    for number in range(400):
        counts[shard_of(key(("t", str(number))), 4)] += 1
    assert min(counts) > 50
