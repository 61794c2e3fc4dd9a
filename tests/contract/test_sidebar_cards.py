"""Every card in both languages and many states is valid for Google's own card format, and fits a sidebar."""

import itertools
import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any, get_args

import pytest
from google.apps import card_v1
from google.protobuf import json_format
from hypothesis import given, settings
from hypothesis import strategies as st

from addon.jobs.model import FAILURE_CLASSES, PAUSE_REASONS
from addon.jobs.records import Mode, Status
from addon.jobs.status import MOST_LISTED, FailureGroup, JobLine, JobStatus
from addon.rows.table import Column
from addon.sidebar.admin_card import admin_card
from addon.sidebar.cards import connect_card, error_card, help_card
from addon.sidebar.run_card import RunView, Tab, run_card
from addon.sidebar.run_form import first_form, with_columns
from addon.sidebar.status_card import Rights, percent_settled
from addon.sidebar.status_card import status_card as build_status_card
from addon.sidebar.text import LANGUAGES, Words
from addon.sidebar.widgets import ACTIONS, ROUTES, Json, Links, bar

BASE = "https://addon.example.com"
NOW = datetime(2026, 12, 1, 3, 5, tzinfo=UTC)
LINKS = Links(BASE, "S" * 44)
OWNER = Rights()
TABS = [0, 1, 2, 50, 150]
COLUMNS = [0, 1, 20, 21, 100, 200]
NASTY = "<b>A&B</b> \"q\" 'r' <script>"
LANGUAGE = pytest.mark.parametrize("words", [Words(language) for language in LANGUAGES], ids=list(LANGUAGES))
STATUS = JobStatus(
    job_id="job-1",
    spreadsheet_id="S" * 44,
    sheet_id=0,
    status="running",
    reason=None,
    mode="new_or_changed",
    model="builtin-1",
    owner="u-1",
    rows=12_000,
    done=4_000,
    failed=800,
    blank=12,
    called=3_900,
    reused=900,
    repeated=0,
    input_tokens=1_234_567,
    output_tokens=89_012,
    rate=5.5,
    seconds_left=1_300.0,
    created_at=NOW - timedelta(hours=5),
    updated_at=NOW - timedelta(seconds=4),
    finished_at=None,
    now=NOW,
    results_link="https://drive.google.com/drive/folders/F",
    failures=(FailureGroup("blocked", 800, tuple(range(2, 12))),),
    notes=(),
)


def a_status(**changes: Any) -> JobStatus:
    return replace(STATUS, **changes)


def status_card(
    words: Words, links: Links, title: str, status: JobStatus, notice: str = "", rights: Rights = OWNER
) -> Json:
    """The card for whoever started the run, unless said otherwise."""
    return build_status_card(words, links, title, status, rights, notice)


def a_view(words: Words, *, tabs: int = 2, titles: list[str] | None = None, notice: str = "") -> RunView:
    columns = tuple(
        Column(index, title) for index, title in enumerate(["Id", "Body"] if titles is None else titles)
    )
    listed = [Tab(index, f"Tab {index}") for index in range(tabs)]
    form = with_columns(first_form(words), 0, columns) if tabs else first_form(words)
    return RunView("Book", listed, columns, form, "request-1", notice)


def parts(value: Any) -> Iterator[tuple[str, Any]]:
    """Every key with its value, at any depth."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield key, inner
            yield from parts(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from parts(inner)


def named(card: Json, name: str) -> list[Any]:
    return [value for key, value in parts(card) if key == name]


def check(card: Json) -> Json:
    """Fail unless Google takes the card and shows all of it."""
    json_format.ParseDict(card, card_v1.Card.pb(card_v1.Card()))
    for key, value in parts(card):
        assert re.fullmatch(r"[a-z][A-Za-z0-9]*", key), key
        assert key not in {"columns", "carousel", "materialIcon", "interaction"}
        assert value is not None
        if key == "parameters":
            assert all(set(item) == {"key", "value"} for item in value)
            assert all(isinstance(text, str) for item in value for text in item.values())
        if key == "function":
            assert value.startswith(f"{BASE}/") and value.removeprefix(BASE) in ROUTES
        if key == "widgets":
            assert value
        if key == "items":
            assert 1 <= len(value) <= 100
        if key == "action":
            assert value["loadIndicator"] == "SPINNER"
    assert sum(map(len, named(card, "widgets"))) < 100
    names = [widget["name"] for key in ("selectionInput", "textInput") for widget in named(card, key)]
    assert len(names) == len(set(names))
    return card


def parameters(action: Json) -> dict[str, str]:
    return {item["key"]: item["value"] for item in action["parameters"]}


def texts(card: Json) -> str:
    """Everything in the card that people read as formatted text."""
    return "\n".join(str(value) for key in ("text", "topLabel", "bottomLabel") for value in named(card, key))


def an_admin_card(words: Words, jobs: int = MOST_LISTED, notice: str = "Notice") -> Json:
    statuses: tuple[Status, ...] = get_args(Status)
    lines = [
        JobLine(f"job-{n}", "S" * 44, statuses[n % len(statuses)], "stuck", NOW, 12_000, 7 * (n % 3))
        for n in range(jobs)
    ]
    return admin_card(words, LINKS, lines, NOW, NASTY, notice)


@LANGUAGE
@pytest.mark.parametrize("jobs", [0, 1, MOST_LISTED])
def test_the_administrators_card_is_valid_however_many_jobs_there_are(words: Words, jobs: int) -> None:
    card = check(an_admin_card(words, jobs))
    assert len(card["sections"]) == 1 + jobs


@LANGUAGE
def test_whoever_may_not_command_a_job_is_told_so_and_gets_no_buttons_for_it(words: Words) -> None:
    for status in get_args(Status):
        card = check(
            status_card(words, LINKS, "Book", a_status(status=status), rights=Rights(commands=False))
        )
        asked = {function.removeprefix(f"{BASE}/sidebar/") for function in named(card, "function")}
        assert asked <= {"refresh", "new"}
        assert (words("status.not_yours") in texts(card)) is (status not in {"done", "cancelled"})


@LANGUAGE
def test_the_simple_cards_are_valid(words: Words) -> None:
    check(help_card(words))
    check(error_card(words, LINKS, "x", "run", {"requestId": "r", "form": "{}"}))
    check(error_card(words, LINKS, "x", "refresh", {}))
    connect = check(connect_card(words, Links(BASE)))

    assert named(connect, "function") == [f"{BASE}/sidebar/connect"]


@LANGUAGE
@pytest.mark.parametrize("status", get_args(Status))
@pytest.mark.parametrize("reason", [None, *sorted(PAUSE_REASONS), "brand_new"])
def test_status_cards_are_valid_in_every_state(words: Words, status: Status, reason: str | None) -> None:
    over = status in {"done", "cancelled"}
    card = check(
        status_card(
            words,
            LINKS,
            "Book",
            a_status(status=status, reason=reason, finished_at=NOW if over else None),
            "Notice",
        )
    )

    asked = {function.rsplit("/", 1)[1] for function in named(card, "function")}
    if over:
        assert asked == {"new", "refresh", "retry"}
    else:
        assert asked == {"refresh", "cancel", "resume" if status == "paused" else "pause"}
    for action in named(card, "action"):
        assert parameters(action)["spreadsheetId"] == "S" * 44 and parameters(action)["jobId"] == "job-1"
    assert named(card, "url") == [STATUS.results_link]


@LANGUAGE
def test_five_thousand_failures_in_eight_groups_fit_and_can_be_retried_apart(words: Words) -> None:
    classes = sorted(FAILURE_CLASSES)
    groups = tuple(FailureGroup(name, 625, tuple(range(2, 12))) for name in classes)
    card = check(
        status_card(
            words, LINKS, NASTY * 9, a_status(status="done", failed=5_000, failures=groups, repeated=16)
        )
    )

    retries = [action for action in named(card, "action") if action["function"].endswith("/retry")]
    assert [parameters(action).get("errorClass") for action in retries] == [*classes, None]
    labels = [button["text"] for row in named(card, "buttons") for button in row]
    assert {"en": "Retry 5,000 failed rows", "ja": "失敗した 5,000 行をやり直す"}[words.language] in labels
    for name in classes:
        assert words.coded("failure", name) in texts(card)


@LANGUAGE
def test_a_finished_card_says_what_was_done_skipped_failed_and_spent(words: Words) -> None:
    card = check(
        status_card(
            words,
            LINKS,
            "Book",
            a_status(status="done", repeated=16, notes=("results_lost", "not_displayed"), finished_at=NOW),
        )
    )

    seen = texts(card)
    for number in ("12,000", "4,000", "800", "12", "900", "3,900", "1,234,567", "89,012", "16"):
        assert number in seen
    assert words("note.results_lost") in seen and words("note.not_displayed") in seen
    assert words("status.remaining", rows=words.count("row", 7_200)) in seen
    assert f"{'▓' * 20} 100%" in seen


@LANGUAGE
def test_nothing_is_said_about_double_billing_where_there_was_none(words: Words) -> None:
    sentence = words("status.repeated", calls=words.count("call", 0))

    assert sentence[:12] not in texts(status_card(words, LINKS, "Book", a_status(status="done")))


@LANGUAGE
@pytest.mark.parametrize(
    "changes",
    [
        {"rows": 0, "done": 0, "failed": 0, "failures": (), "rate": None, "seconds_left": None},
        {"done": 20_000},
        {"results_link": None, "failures": (FailureGroup("brand_new", 1, ()),)},
        {"status": "paused", "reason": None},
    ],
)
def test_status_cards_are_valid_with_odd_numbers(words: Words, changes: dict[str, Any]) -> None:
    check(status_card(words, LINKS, "", a_status(**changes)))


def test_the_bar_never_says_more_than_is_settled() -> None:
    assert percent_settled(a_status(rows=1_000, done=998, failed=1)) == 99
    assert percent_settled(a_status(rows=0, done=0, failed=0)) == 0
    assert percent_settled(a_status(rows=10, done=30)) == 100
    assert percent_settled(a_status(status="done", rows=10, done=3)) == 100
    assert {len(bar(percent)) for percent in range(101)} == {20}
    assert (bar(0), bar(99), bar(100)) == ("░" * 20, "▓" * 19 + "░", "▓" * 20)


@LANGUAGE
@pytest.mark.parametrize(("tabs", "columns"), [*itertools.product(TABS, COLUMNS)])
def test_run_cards_are_valid_for_small_and_huge_spreadsheets(words: Words, tabs: int, columns: int) -> None:
    titles = [f"Column {index}" for index in range(columns)]
    card = check(run_card(words, LINKS, a_view(words, tabs=tabs, titles=titles, notice="Notice")))

    inputs = {item["name"]: item for item in named(card, "selectionInput")}
    assert ("sheet" in inputs) == (tabs > 1)
    assert ("fixedFooter" in card) == (tabs > 0 and columns > 0)
    if tabs and columns:
        assert inputs["sources_0"]["type"] == ("CHECK_BOX" if columns <= 20 else "MULTI_SELECT")
        assert inputs["output_0"]["items"][0]["value"] == "new"
        left_out = words.count("column", 100)
        assert (left_out in texts(card)) == (columns == 200)
    if tabs == 150:
        assert words("run.more_tabs", tabs=words.count("tab", 50)) in texts(card)


@LANGUAGE
def test_a_run_card_offers_what_a_run_needs(words: Words) -> None:
    card = check(run_card(words, LINKS, a_view(words)))

    start = card["fixedFooter"]["primaryButton"]["onClick"]["action"]
    assert start["function"] == f"{BASE}/sidebar/run"
    assert parameters(start) == {"spreadsheetId": "S" * 44, "sheetId": "0", "requestId": "request-1"}
    assert words("run.close") in texts(card)
    inputs = {item["name"]: item for item in [*named(card, "selectionInput"), *named(card, "textInput")]}
    chosen = {
        name: [choice["value"] for choice in item["items"] if choice["selected"]]
        for name, item in inputs.items()
        if "items" in item
    }
    assert chosen == {"sheet": ["0"], "sources_0": ["Body"], "output_0": ["new"], "mode": ["new_or_changed"]}
    assert [choice["value"] for choice in inputs["mode"]["items"]] == list(get_args(Mode))
    assert inputs["new_title"]["value"] == {"en": "Summary", "ja": "要約"}[words.language]
    assert inputs["instructions"]["type"] == "MULTIPLE_LINE" and inputs["instructions"]["value"]
    assert [item["name"] for item in inputs.values() if "onChangeAction" in item] == ["sheet", "sources_0"]


@LANGUAGE
def test_columns_with_equal_or_endless_titles_do_not_break_the_card(words: Words) -> None:
    titles = ["Same", "Same", "x" * 201, "y" * 50_000, "z" * 200]
    card = check(run_card(words, LINKS, a_view(words, titles=titles)))

    (sources,) = [item for item in named(card, "selectionInput") if item["name"] == "sources_0"]
    assert [choice["value"] for choice in sources["items"]] == ["Same", "z" * 200]
    assert len(sources["items"][1]["text"]) == 60
    assert words("run.long_titles", columns=words.count("column", 2), limit="200") in texts(card)


@LANGUAGE
def test_titles_cannot_smuggle_markup_into_formatted_text(words: Words) -> None:
    view = replace(a_view(words, titles=[NASTY, "Body"], notice=NASTY), title=NASTY)
    cards = [
        run_card(words, LINKS, view),
        status_card(words, LINKS, NASTY, a_status(model=NASTY), NASTY),
        error_card(words, LINKS, NASTY, "refresh", {}),
    ]

    for card in map(check, cards):
        formatted = [
            *(widget["text"] for widget in named(card, "textParagraph")),
            *(widget[key] for widget in named(card, "decoratedText") for key in widget if key != "wrapText"),
            *named(card["sections"], "header"),
        ]
        shown = [text for text in formatted if isinstance(text, str)]
        for text in shown:
            assert not re.sub(r"^<b>([^<>]*)</b>$", r"\1", text).count("<")
        assert any("&lt;b&gt;A&amp;B&lt;/b&gt; \"q\" 'r' &lt;script&gt;" in text for text in shown)


@LANGUAGE
def test_an_item_keeps_its_title_as_it_is_because_google_shows_it_as_it_is(words: Words) -> None:
    card = check(run_card(words, LINKS, a_view(words, titles=[NASTY, "Body"])))

    (sources,) = [item for item in named(card, "selectionInput") if item["name"] == "sources_0"]
    assert (sources["items"][0]["text"], sources["items"][0]["value"]) == (NASTY, NASTY)


def test_only_known_actions_are_named_and_no_card_names_a_trigger() -> None:
    words = Words()
    cards = [
        connect_card(words, LINKS),
        run_card(words, LINKS, a_view(words)),
        *(status_card(words, LINKS, "Book", a_status(status=status)) for status in get_args(Status)),
        status_card(words, LINKS, "Book", a_status(), rights=Rights(admin=True)),
        an_admin_card(words),
    ]
    asked = {function.removeprefix(BASE) for card in cards for function in named(card, "function")}

    assert asked == set(ROUTES) - {"/sidebar/home", "/sidebar/file-granted"}
    assert len(ROUTES) == len(ACTIONS) == 14


@settings(max_examples=60, deadline=None)
@given(
    title=st.text(max_size=90),
    titles=st.lists(st.text(min_size=1, max_size=30), min_size=1, max_size=40),
    language=st.sampled_from(list(LANGUAGES)),
)
def test_any_titles_give_a_valid_card(title: str, titles: list[str], language: str) -> None:
    words = Words(language)
    check(run_card(words, LINKS, replace(a_view(words, titles=titles), title=title)))
    check(status_card(words, LINKS, title, a_status()))
