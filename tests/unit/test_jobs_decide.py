"""What a row needs: the whole table."""

import itertools
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from addon.jobs.decide import Policy, Verdict, decide
from addon.jobs.records import MODES, Failure, Job, Mode, Result
from addon.rows.keys import text_hash
from addon.rows.table import Row

NOW = datetime(2026, 1, 1, tzinfo=UTC)
JOB = Job("s", 0, "new_or_changed", "m", "o", NOW, 1, 1, 1, 0, "f", "r", {"0": ["p"]}, 1000)
OTHERS = Result("p", 0, text_hash("sum"), 3, "other", "m", 1, 1, NOW, NOW + timedelta(microseconds=1))

RESULTS = {
    "none": None,
    "ours": replace(OTHERS, job="j"),
    "another job's": OTHERS,
    "expired": replace(OTHERS, until=NOW),
    "ours, expired": replace(OTHERS, job="j", until=NOW - timedelta(days=1)),
}
CELLS = {"blank": "", "spaces": " \u200b", "the summary": "sum", "other text": "edited"}

FIRST_RUN = {
    # mode, result: verdict for each of CELLS
    ("new_or_changed", "none"): "call call call call",
    ("new_or_changed", "ours"): "show show done ask",
    ("new_or_changed", "another job's"): "show show done ask",
    ("new_or_changed", "expired"): "call call call call",
    ("new_or_changed", "ours, expired"): "call call call call",
    ("empty_only", "none"): "call call kept kept",
    ("empty_only", "ours"): "show show done kept",
    ("empty_only", "another job's"): "show show done kept",
    ("empty_only", "expired"): "call call kept kept",
    ("empty_only", "ours, expired"): "call call kept kept",
    ("all", "none"): "call call call call",
    ("all", "ours"): "show show done ask",
    ("all", "another job's"): "call call call call",
    ("all", "expired"): "call call call call",
    ("all", "ours, expired"): "call call call call",
}
"""A first run, no failure, nothing shown by this worker yet, no worker that died before."""

RUNS = {
    "first run": {"retry_epoch": 0},
    "retry of all": {"retry_epoch": 2},
    "retry of blocked": {"retry_epoch": 2, "retry_class": "blocked"},
    "retry of empty": {"retry_epoch": 2, "retry_class": "empty"},
}
FAILURES = {
    "none": None,
    "earlier": Failure("blocked", 2, 1, epoch=1),
    "current": Failure("blocked", 2, 1, epoch=2),
}
STANDS = {
    # run, failure: whether it stays a failed row
    ("first run", "earlier"),
    ("first run", "current"),
    ("retry of all", "current"),
    ("retry of blocked", "current"),
    ("retry of empty", "earlier"),
    ("retry of empty", "current"),
}


def row(output: str = "") -> Row:
    return Row(1, (("t", "x"),), output, "k")


def policy(mode: Mode = "new_or_changed", **changes: object) -> Policy:
    return Policy("j", replace(JOB, mode=mode, **changes), NOW)  # type: ignore[arg-type]


def expected(mode: str, result: str, cell: str, run: str, failure: str, shown: bool) -> str:
    """The first run's table, and on top of it what a failure, a retry and an earlier write change."""
    verdict = dict(zip(CELLS, FIRST_RUN[mode, result].split(), strict=True))[cell]
    counts = result == "ours" or (result == "another job's" and mode != "all")
    if verdict == "kept" and not counts:
        return "kept"  # whatever failed there: the cell is not to be touched
    if (run, failure) in STANDS:
        return "failed"
    if verdict == "call" and run != "first run" and failure == "none":
        return "left"
    if shown and counts and cell == "other text":
        return "ask"
    return verdict


def cases() -> Iterator[tuple[str, str, str, str, str, bool]]:
    return itertools.product(MODES, RESULTS, CELLS, RUNS, FAILURES, (False, True))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("result", RESULTS)
def test_the_whole_table(mode: Mode, result: str) -> None:
    for case in cases():
        if case[:2] != (mode, result):
            continue
        _, _, cell, run, failure, shown = case
        chosen = policy(mode, **RUNS[run])
        got = decide(chosen, row(CELLS[cell]), RESULTS[result], FAILURES[failure], shown=shown)
        assert got.value == expected(*case), case


@pytest.mark.parametrize(
    ("mode", "result", "shown", "verdict"),
    [
        ("new_or_changed", "ours", False, Verdict.SHOW),
        ("all", "ours", False, Verdict.SHOW),
        ("empty_only", "ours", False, Verdict.KEPT),
        ("new_or_changed", "another job's", False, Verdict.ASK),
        ("new_or_changed", "ours", True, Verdict.ASK),
        ("new_or_changed", "expired", False, Verdict.CALL),
    ],
)
def test_what_a_worker_that_died_may_not_have_replaced_is_replaced(
    mode: Mode, result: str, shown: bool, verdict: Verdict
) -> None:
    crashed = replace(policy(mode), crashed=True)
    assert decide(crashed, row("edited"), RESULTS[result], None, shown=shown) is verdict


def test_a_worker_that_died_changes_nothing_where_no_other_text_stands() -> None:
    for mode, result, cell, run, failure, shown in cases():
        if cell == "other text":
            continue
        chosen = policy(mode, **RUNS[run])  # type: ignore[arg-type]
        both = [
            decide(one, row(CELLS[cell]), RESULTS[result], FAILURES[failure], shown=shown)
            for one in (chosen, replace(chosen, crashed=True))
        ]
        assert both[0] is both[1]


def test_a_blank_row_needs_nothing_whatever_is_known() -> None:
    blank = Row(1, (), "left over", None)
    for mode, result, _, run, failure, shown in cases():
        chosen = policy(mode, **RUNS[run])  # type: ignore[arg-type]
        assert decide(chosen, blank, RESULTS[result], FAILURES[failure], shown=shown) is Verdict.BLANK


def test_a_summary_in_the_sheet_is_never_called_for_unless_all_are_to_be_made() -> None:
    for mode, result, cell, run, failure, shown in cases():
        if mode == "all" or result not in {"ours", "another job's"}:
            continue
        chosen = policy(mode, **RUNS[run])  # type: ignore[arg-type]
        got = decide(chosen, row(CELLS[cell]), RESULTS[result], FAILURES[failure], shown=shown)
        assert got is not Verdict.CALL, "what is committed is not paid for twice"


def test_a_filled_cell_is_never_written_where_only_empty_ones_are_to_be_filled() -> None:
    for mode, result, cell, run, failure, _ in cases():
        if mode != "empty_only" or cell != "other text":
            continue
        chosen = policy(mode, **RUNS[run])
        got = decide(chosen, row(CELLS[cell]), RESULTS[result], FAILURES[failure])
        assert got in {Verdict.KEPT, Verdict.FAILED}


def test_a_result_counts_until_the_moment_its_retention_ends() -> None:
    assert policy().valid(replace(OTHERS, until=NOW + timedelta(microseconds=1)))
    assert not policy().valid(replace(OTHERS, until=NOW))


def test_a_row_that_failed_in_a_later_epoch_than_this_run_is_not_tried_again() -> None:
    late = Failure("blocked", 2, 1, epoch=3)
    assert decide(policy(retry_epoch=2), row(), None, late) is Verdict.FAILED


def test_a_summary_whose_cell_was_refused_is_listed_and_only_a_retry_writes_it_again() -> None:
    refused = Failure("cell_refused", 2, 1, epoch=1)
    assert decide(policy(), row(), RESULTS["ours"], refused) is Verdict.FAILED
    assert decide(policy(retry_epoch=2), row(), RESULTS["ours"], refused) is Verdict.SHOW
