"""Words: complete in both languages, and quantities and times as people write them."""

from collections.abc import Set
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from string import Formatter
from typing import get_args

import pytest

from addon.google.errors import BlockCode
from addon.jobs.model import FAILURE_CLASSES, PAUSE_REASONS
from addon.jobs.records import Mode, Status
from addon.sidebar import text
from addon.sidebar.text import LANGUAGES, Words, shorten

EN, JA = LANGUAGES["en"], LANGUAGES["ja"]
NOW = datetime(2026, 12, 1, 3, 5, tzinfo=UTC)
TOKYO = timezone(timedelta(hours=9))

START_CODES = {
    *("no_such_sheet", "no_source_column", "no_such_column", "duplicate_column", "output_is_source"),
    *("output_blank", "no_header", "no_rows", "all_blank", "no_instructions", "too_large"),
}
COMMAND_CODES = {
    "no_such_job",
    "already_over",
    "not_paused",
    "nothing_failed",
    "another_job_active",
    "still_running",
    "not_yours",
}


def placeholders(template: str) -> list[str]:
    return sorted(name for _, name, _, _ in Formatter().parse(template) if name is not None)


def test_both_languages_have_the_same_keys() -> None:
    assert EN.keys() == JA.keys()


@pytest.mark.parametrize("key", sorted(EN))
def test_both_languages_have_the_same_placeholders(key: str) -> None:
    assert placeholders(EN[key]) == placeholders(JA[key])


def test_no_text_is_left_over() -> None:
    families = ("reason", "failure", "start", "command", "note", "blocked", "mode", "status", "help", "trial")
    units = ("row", "failed_row", "call", "column", "tab", "job")
    code = "".join(
        path.read_text("utf-8")
        for path in Path(text.__file__).parent.glob("*.py")
        if not path.name.startswith("text_")
    )

    assert [k for k in EN if f'"{k}"' not in code and k.split(".")[0] not in {*families, *units}] == []


@pytest.mark.parametrize("key", sorted(EN))
def test_no_text_holds_markup_or_edge_blanks(key: str) -> None:
    for sentence in (EN[key], JA[key]):
        assert not set("<>&") & set(sentence)
        assert sentence.strip() and (sentence == sentence.strip() or key == "list.comma")


@pytest.mark.parametrize(
    ("family", "codes"),
    [
        ("reason", PAUSE_REASONS),
        ("failure", FAILURE_CLASSES),
        ("blocked", set(get_args(BlockCode))),
        ("start", START_CODES),
        ("command", COMMAND_CODES),
        ("note", {"results_lost", "not_displayed"}),
        ("mode", set(get_args(Mode))),
        ("status", set(get_args(Status))),
    ],
)
def test_every_code_has_its_own_sentence_and_none_is_left_over(family: str, codes: Set[str]) -> None:
    have = {key.removeprefix(f"{family}.") for key in EN if key.startswith(f"{family}.")}

    assert codes <= have
    if family not in {"mode", "status"}:
        assert have == codes | {"other"}


@pytest.mark.parametrize(
    ("locale", "language"),
    [
        ("ja", "ja"),
        ("ja-JP", "ja"),
        ("JA_jp", "ja"),
        ("en-GB", "en"),
        ("", "en"),
        ("jav", "en"),
        ("fr", "en"),
    ],
)
def test_japanese_locales_get_japanese_and_all_others_english(locale: str, language: str) -> None:
    assert Words(locale).language == language


def test_a_code_of_a_newer_version_gets_the_general_sentence() -> None:
    assert Words().coded("reason", "brand_new") == EN["reason.other"]
    assert Words("ja").coded("failure", "blocked") == JA["failure.blocked"]


def test_quantities_agree_with_their_number() -> None:
    assert [Words().count("row", n) for n in (0, 1, 2, 12_345)] == [
        "0 rows",
        "1 row",
        "2 rows",
        "12,345 rows",
    ]
    assert Words("ja").count("row", 12_345) == "12,345 行"


@pytest.mark.parametrize(
    ("seconds", "en", "ja"),
    [
        (0.0, "less than a minute", "1 分未満"),
        (60.0, "less than a minute", "1 分未満"),
        (61.0, "about 2 min", "約 2 分"),
        (3_540.1, "about 1 h 0 min", "約 1 時間 0 分"),
        (9_000.0, "about 2 h 30 min", "約 2 時間 30 分"),
    ],
)
def test_durations_are_rounded_up_to_minutes(seconds: float, en: str, ja: str) -> None:
    assert (Words().duration(seconds), Words("ja").duration(seconds)) == (en, ja)


def test_rates_are_given_per_minute() -> None:
    assert [Words().rate(rate) for rate in (0.001, 1 / 60, 2.5)] == [
        "less than 1 row per minute",
        "1 row per minute",
        "150 rows per minute",
    ]


def test_times_are_in_the_persons_zone_with_the_date_where_it_is_another_day() -> None:
    yesterday = NOW - timedelta(hours=4)

    assert Words("ja", TOKYO).time(NOW, NOW) == "12:05"
    assert Words("ja", TOKYO).time(yesterday, NOW) == "08:05"
    assert Words("ja", TOKYO).time(NOW - timedelta(days=1), NOW) == "11月30日 12:05"
    assert Words("en").time(NOW, NOW) == "03:05 UTC"
    assert Words("en").time(yesterday, NOW) == "30 Nov 23:05 UTC"


def test_long_titles_are_cut_to_one_short_line() -> None:
    assert shorten(" a\n b ") == "a b"
    assert len(shorten("x" * 500)) == 60 and shorten("x" * 500).endswith("…")


def test_titles_are_listed_in_quotation_marks() -> None:
    assert Words().titles(["A", "B"]) == "“A”, “B”"
    assert Words("ja").titles(["A", "B"]) == "「A」、「B」"
