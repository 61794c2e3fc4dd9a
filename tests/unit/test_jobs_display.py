"""Display: a summary appears beside the text it was made from, wherever that is by now, or not at all."""

import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime

import pytest
from stand_ins import FakeModel, FakeSheets

from addon.google.errors import GoogleError, JobBlocked, OutOfGrid, TryAgain
from addon.jobs import display as display_module
from addon.jobs.display import MISSES, Display, until_settled
from addon.jobs.records import Job
from addon.rows.keys import idempotency_key
from addon.rows.table import Brief, ColumnsGone, Table

HEADER = ["text", "Summary"]
BRIEF = Brief(("text",), "Summary", "shorten")
THEN = datetime(2026, 1, 1, tzinfo=UTC)
JOB = Job("book", 0, "new_or_changed", "m", "o", THEN, 1, 1, 1, 0, "f", "r", {"0": ["p"]}, 1000)
NEVER = 3600.0
"""Seconds between beats: in these tests a beat comes when it is asked for."""
PATIENCE = 10.0

Make = Callable[[FakeSheets], Display]


def key(text: str) -> str:
    return idempotency_key("model-1", {}, "shorten", [("text", text)])


def no_stop(place: str) -> None:
    """Nothing happens at the places where a worker can be stopped."""


@pytest.fixture
def make() -> Iterator[Make]:
    made: list[Display] = []

    def begin(sheets: FakeSheets, seconds: float = NEVER, reach: Callable[[str], None] = no_stop) -> Display:
        table = Table(sheets, "book", 0, BRIEF, FakeModel())  # type: ignore[arg-type]
        made.append(Display(sheets, table, JOB, seconds, reach))  # type: ignore[arg-type]
        return made[-1]

    yield begin
    for display in made:
        display.stop(PATIENCE)


def beat(display: Display) -> None:
    assert until_settled(display, lambda: None, PATIENCE)


def sheet(*texts: str) -> FakeSheets:
    return FakeSheets([HEADER, *([text] for text in texts)], height=3000)


def outputs(sheets: FakeSheets) -> list[str]:
    return [sheets.shows(row, 1) for row in range(1, len(sheets.rows))]


def busy(request: str, error: GoogleError) -> Callable[[str], None]:
    def before(name: str) -> None:
        if name == request:
            raise error

    return before


def test_summaries_are_written_beside_their_texts_with_one_read_and_one_write(make: Make) -> None:
    sheets = sheet("a", "b", "c", "d")
    display = make(sheets)
    for row, text in enumerate(("a", "b", "d"), 1):
        display.add(key(text), f"sum {text}", {row}, replace=False)
    sheets.requests.clear()
    beat(display)
    assert outputs(sheets) == ["sum a", "sum b", "", ""]
    assert sheets.requests == ["read", "read", "write"], "the first read looks for the columns"
    assert display.writes == 1
    assert display.shown == {key("a"), key("b")}, "row 3 holds another text: d's row is looked for again"


def test_a_summary_follows_its_row_within_reach_and_never_goes_beside_another_text(make: Make) -> None:
    sheets = sheet("a", "b", "c")
    display = make(sheets)
    for row, text in enumerate("abc", 1):
        display.add(key(text), f"sum {text}", {row}, replace=False)
    sheets.rows[1:] = [["c"], ["x"], ["a"]]
    beat(display)
    assert outputs(sheets) == ["sum c", "", "sum a"]


def test_rows_that_move_between_two_beats_are_met_where_they_are(make: Make) -> None:
    sheets = sheet("a", "b")
    display = make(sheets)
    display.add(key("a"), "sum a", {1}, replace=False)
    beat(display)
    sheets.rows.insert(1, ["new"])
    display.add(key("b"), "sum b", {2}, replace=False)
    display.add(key("new"), "sum new", {1}, replace=False)
    beat(display)
    display.add(key("b"), "sum b", {3}, replace=False)
    beat(display)
    assert outputs(sheets) == ["sum new", "sum a", "sum b"]


def test_a_column_inserted_before_the_others_moves_the_summaries_with_it(make: Make) -> None:
    sheets = sheet("a", "b")
    display = make(sheets)
    display.add(key("a"), "sum a", {1}, replace=False)
    beat(display)
    for row in sheets.rows:
        row.insert(0, "id")
    display.add(key("b"), "sum b", {2}, replace=False)
    beat(display)
    assert [row[:3] for row in sheets.rows[1:]] == [["id", "a", "sum a"], ["id", "b", "sum b"]]


def test_a_text_edited_since_gets_nothing(make: Make) -> None:
    sheets = sheet("a")
    display = make(sheets)
    display.add(key("a"), "sum a", {1}, replace=True)
    sheets.rows[1][0] = "a, edited"
    beat(display)
    assert outputs(sheets) == [""]
    assert display.writes == 0
    assert display.shown == set()


def test_equal_rows_all_get_the_summary(make: Make) -> None:
    sheets = sheet("a", "b", "a", "a")
    display = make(sheets)
    display.add(key("a"), "sum a", {1}, replace=False)
    display.add(key("a"), "sum a", {3, 4}, replace=False)
    beat(display)
    assert outputs(sheets) == ["sum a", "", "sum a", "sum a"]


@pytest.mark.parametrize(("there", "replace", "after"), [
    ("", False, "sum a"),
    (" \u200b", False, "sum a"),
    ("a person's own", False, "a person's own"),
    ("an older summary", True, "sum a"),
    ("sum a", False, "sum a"),
])  # fmt: skip
def test_what_is_in_a_cell_stays_unless_it_is_to_be_replaced(
    make: Make, there: str, replace: bool, after: str
) -> None:
    sheets = FakeSheets([HEADER, ["a", there]])
    display = make(sheets)
    display.add(key("a"), "sum a", {1}, replace=replace)
    beat(display)
    assert outputs(sheets) == [after]
    assert display.shown == {key("a")}
    assert display.writes == (0 if there == after else 1), "what is there already is not written"


def test_a_person_typing_into_the_cell_before_the_beat_keeps_their_words(make: Make) -> None:
    sheets = sheet("a")
    display = make(sheets)
    display.add(key("a"), "sum a", {1}, replace=False)
    sheets.put(1, 1, "mine")
    beat(display)
    assert outputs(sheets) == ["mine"]


def test_to_replace_stays_to_replace_when_a_summary_is_added_again(make: Make) -> None:
    sheets = FakeSheets([HEADER, ["a", "old"]])
    display = make(sheets)
    display.add(key("a"), "sum a", {1}, replace=True)
    display.add(key("a"), "sum a", {1}, replace=False)
    beat(display)
    assert outputs(sheets) == ["sum a"]


def test_texts_that_look_like_formulas_are_written_as_they_are(make: Make) -> None:
    sheets = sheet("a")
    display = make(sheets)
    display.add(key("a"), "=IMPORTDATA(A1)", {1}, replace=False)
    beat(display)
    assert outputs(sheets) == ["=IMPORTDATA(A1)"]


def test_without_anything_to_show_google_is_not_asked(make: Make) -> None:
    sheets = sheet("a")
    display = make(sheets)
    beat(display)
    assert sheets.requests == []


def test_a_summary_shown_is_not_written_again(make: Make) -> None:
    sheets = sheet("a")
    display = make(sheets)
    display.add(key("a"), "sum a", {1}, replace=False)
    beat(display)
    sheets.requests.clear()
    beat(display)
    assert sheets.requests == []


def test_a_row_not_found_is_looked_for_a_few_beats_and_then_left_to_the_next_pass(make: Make) -> None:
    sheets = sheet("x")
    display = make(sheets)
    display.add(key("a"), "sum a", {1}, replace=False)
    for _ in range(MISSES):
        beat(display)
    reads = sheets.requests.count("read")
    beat(display)
    assert sheets.requests.count("read") == reads
    assert display.shown == set()


def test_a_cell_sheets_refuses_is_reported_once_with_its_row_and_the_others_are_written(make: Make) -> None:
    sheets = sheet("a", "b", "c")
    sheets.refuse = {2: "cell_too_long"}
    display = make(sheets)
    for row, text in enumerate("abc", 1):
        display.add(key(text), f"sum {text}", {row}, replace=False)
    beat(display)
    assert outputs(sheets) == ["sum a", "", "sum c"]
    assert display.take_refused() == {key("b"): (2, "cell_too_long")}
    assert display.take_refused() == {}
    assert display.error is None


def test_rows_deleted_from_the_sheet_are_left_to_the_next_pass(make: Make) -> None:
    sheets = sheet("a", "b")
    display = make(sheets)
    display.add(key("b"), "sum b", {2}, replace=False)
    del sheets.rows[2:]
    sheets.height = 2
    beat(display)
    assert display.error is None
    requests = len(sheets.requests)
    beat(display)
    assert len(sheets.requests) == requests


def test_rows_deleted_between_the_look_and_the_write_do_not_end_the_job(make: Make) -> None:
    sheets = sheet("a", "b")

    def shrink(name: str) -> None:
        if name == "write":
            del sheets.rows[2:]
            sheets.height = 2

    display = make(sheets)
    display.add(key("b"), "sum b", {2}, replace=False)
    sheets.before = shrink
    beat(display)
    assert display.error is None
    display.check()
    assert display.shown == set()


def test_a_passing_fault_loses_nothing(make: Make) -> None:
    sheets = sheet("a")
    display = make(sheets)
    display.add(key("a"), "sum a", {1}, replace=False)
    for request in ("read", "write"):
        sheets.before = busy(request, TryAgain("busy", service="Sheets"))
        beat(display)
    assert display.error is None
    assert outputs(sheets) == [""]
    sheets.before = no_stop
    beat(display)
    assert outputs(sheets) == ["sum a"]


def test_a_write_that_was_carried_out_although_its_answer_was_lost_is_seen_and_not_repeated(
    make: Make,
) -> None:
    sheets = sheet("a")
    display = make(sheets)
    display.add(key("a"), "sum a", {1}, replace=False)

    def lost(name: str) -> None:
        if name == "write":
            sheets.put(1, 1, "sum a")
            raise TryAgain("lost", service="Sheets", outcome_unknown=True)

    sheets.before = lost
    beat(display)
    sheets.before = no_stop
    sheets.requests.clear()
    beat(display)
    assert "write" not in sheets.requests
    assert display.shown == {key("a")}


def test_faults_in_a_row_are_kept_for_the_link_and_success_between_them_counts(make: Make) -> None:
    sheets = sheet("a", "b")
    display = make(sheets)
    fault = TryAgain("busy", service="Sheets")
    for name in ("a", "b"):
        display.add(key(name), f"sum {name}", {1, 2}, replace=False)
        sheets.before = busy("read", fault)
        for _ in range(2):
            beat(display)
        assert display.error is None
        sheets.before = no_stop
        beat(display)
    display.add(key("c"), "sum c", {1}, replace=False)
    sheets.before = busy("read", fault)
    for _ in range(3):
        beat(display)
    assert display.error is fault
    with pytest.raises(TryAgain):
        display.check()


@pytest.mark.parametrize("request_name", ["read", "write"])
def test_what_needs_a_person_is_kept_at_once(make: Make, request_name: str) -> None:
    sheets = sheet("a")
    display = make(sheets)
    display.add(key("a"), "sum a", {1}, replace=False)
    error = JobBlocked("no", code="protected", service="Sheets", status=403)
    sheets.before = busy(request_name, error)
    beat(display)
    assert display.error is error
    with pytest.raises(JobBlocked):
        display.check()


def test_a_column_that_is_gone_is_kept_for_the_link(make: Make) -> None:
    sheets = sheet("a")
    display = make(sheets)
    display.add(key("a"), "sum a", {1}, replace=False)
    sheets.rows[0] = ["text", "Renamed"]
    beat(display)
    assert isinstance(display.error, ColumnsGone)


def test_a_mistake_of_ours_is_not_swallowed(make: Make) -> None:
    sheets = sheet("a")

    reached = threading.Event()

    def broken(place: str) -> None:
        reached.set()
        raise AssertionError(place)

    display = make(sheets, reach=broken)  # type: ignore[call-arg]
    display.add(key("a"), "sum a", {1}, replace=False)
    display.flush()
    assert reached.wait(PATIENCE)
    display.stop(PATIENCE)
    with pytest.raises(AssertionError, match="before display"):
        display.check()


def test_what_is_added_while_a_beat_is_under_way_waits_for_the_next(make: Make) -> None:
    sheets = sheet("a", "b", "a")
    writing, go_on = threading.Event(), threading.Event()

    def hold(name: str) -> None:
        if name == "write":
            writing.set()
            assert go_on.wait(PATIENCE)

    sheets.before = hold
    display = make(sheets)
    display.add(key("a"), "sum a", {1}, replace=False)
    display.flush()
    assert writing.wait(PATIENCE)
    display.add(key("a"), "sum a", {3}, replace=False)
    display.add(key("b"), "sum b", {2}, replace=False)
    assert not display.settled
    go_on.set()
    beat(display)
    beat(display)
    assert outputs(sheets) == ["sum a", "sum b", "sum a"]
    assert display.shown == {key("a"), key("b")}


def test_beats_come_by_themselves(make: Make) -> None:
    sheets = sheet("a")
    written = threading.Event()
    display = make(sheets, 0.01, lambda place: written.set() if place == "after display" else None)  # type: ignore[call-arg]
    display.add(key("a"), "sum a", {1}, replace=False)
    assert written.wait(PATIENCE)
    assert outputs(sheets) == ["sum a"]


def test_waiting_for_a_flush_has_an_end_and_the_lease_is_renewed_meanwhile(make: Make) -> None:
    sheets = sheet("a")
    go_on = threading.Event()

    def hold(name: str) -> None:
        assert go_on.wait(PATIENCE)

    sheets.before = hold
    display = make(sheets)
    display.add(key("a"), "sum a", {1}, replace=False)
    beats: list[int] = []
    assert until_settled(display, lambda: beats.append(1), 0.02) is False
    assert beats
    go_on.set()


def test_a_stopped_display_writes_nothing_more(make: Make) -> None:
    sheets = sheet("a")
    display = make(sheets)
    display.add(key("a"), "sum a", {1}, replace=False)
    display.stop(PATIENCE)
    display.flush()
    display.stop(PATIENCE)
    assert sheets.requests == []
    display.check()


def test_rows_outside_the_sheet_are_never_asked_for_after_they_were_forgotten(make: Make) -> None:
    sheets = sheet("a")
    display = make(sheets)
    sheets.before = busy("read", OutOfGrid("none", service="Sheets", status=400))
    display.add(key("a"), "sum a", {1}, replace=False)
    beat(display)
    sheets.before = no_stop
    sheets.requests.clear()
    beat(display)
    assert sheets.requests == []
    assert display.error is None


def test_too_many_requests_lose_nothing_and_make_the_beats_rarer(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(display_module, "FIRST_PAUSE", 0.02)
    sheets = sheet("a", "b")
    refusals = [TryAgain("too many", service="Sheets", status=429) for _ in range(6)]
    asked: list[float | None] = []

    def before(name: str) -> None:
        if name == "write" and refusals:
            raise refusals.pop()

    def wait_for(stopped: Callable[[], bool], pause: float | None = None) -> bool:
        asked.append(pause)
        return stopped()

    display = make(sheets, 0.01)
    monkeypatch.setattr(display._wake, "wait_for", wait_for)
    sheets.before = before
    display.add(key("a"), "sum a", {1}, replace=False)
    display.add(key("b"), "sum b", {2}, replace=False)
    assert until_settled(display, lambda: None, PATIENCE)
    assert outputs(sheets) == ["sum a", "sum b"]
    assert display.error is None, "six in a row are no fault"
    assert asked == pytest.approx([0.02, 0.04, 0.08, 0.16, 0.32, 0.64])
