"""What a row needs: the whole table."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from addon.jobs.decide import Policy, Verdict, decide
from addon.jobs.records import MODES, Failure, Job, Mode, Result
from addon.rows.keys import text_hash
from addon.rows.table import Row

NOW = datetime(2026, 1, 1, tzinfo=UTC)
JOB = Job("s", 0, "new_or_changed", "m", "o", NOW, 1, 1, 1, 0, "f", "r", {"0": ["p"]}, 1000)
OLD = Result("p", 0, text_hash("sum"), 3, "other", "m", 1, 1, NOW, NOW + timedelta(days=1))
OURS = replace(OLD, job="j")
EXPIRED = replace(OURS, until=NOW)
FAILED = Failure("blocked", 2, 1, epoch=1)


def row(output: str = "") -> Row:
    return Row(1, (("t", "x"),), output, "k")


def policy(mode: Mode = "new_or_changed", **changes: object) -> Policy:
    return Policy("j", replace(JOB, mode=mode, **changes), NOW)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("mode", "result", "output", "verdict"),
    [
        ("new_or_changed", None, "", Verdict.CALL),
        ("new_or_changed", None, "something", Verdict.CALL),
        ("new_or_changed", EXPIRED, "sum", Verdict.CALL),
        ("new_or_changed", OLD, "", Verdict.SHOW),
        ("new_or_changed", OLD, " ", Verdict.SHOW),
        ("new_or_changed", OLD, "sum", Verdict.DONE),
        ("new_or_changed", OLD, "else", Verdict.ASK),
        ("new_or_changed", OURS, "else", Verdict.ASK),
        ("empty_only", None, "", Verdict.CALL),
        ("empty_only", None, "something", Verdict.KEPT),
        ("empty_only", EXPIRED, "sum", Verdict.KEPT),
        ("empty_only", OLD, "", Verdict.SHOW),
        ("empty_only", OLD, "sum", Verdict.DONE),
        ("empty_only", OURS, "else", Verdict.KEPT),
        ("all", None, "", Verdict.CALL),
        ("all", OLD, "sum", Verdict.CALL),
        ("all", OLD, "", Verdict.CALL),
        ("all", OURS, "sum", Verdict.DONE),
        ("all", OURS, "else", Verdict.ASK),
    ],
)
def test_by_mode_result_and_cell(mode: Mode, result: Result | None, output: str, verdict: Verdict) -> None:
    assert decide(policy(mode), row(output), result, None) is verdict


@pytest.mark.parametrize(
    ("mode", "result", "verdict"),
    [
        ("new_or_changed", OURS, Verdict.SHOW),
        ("all", OURS, Verdict.SHOW),
        ("empty_only", OURS, Verdict.KEPT),
        ("new_or_changed", OLD, Verdict.ASK),
    ],
)
def test_what_a_dead_worker_may_not_have_replaced_is_replaced(
    mode: Mode, result: Result, verdict: Verdict
) -> None:
    assert decide(replace(policy(mode), crashed=True), row("else"), result, None) is verdict


def test_a_blank_row_needs_nothing_whatever_is_known() -> None:
    assert decide(policy("all"), Row(1, (), "x", None), OURS, FAILED) is Verdict.BLANK


def test_another_text_where_a_summary_was_shown_is_replaced_only_if_it_is_one_of_ours() -> None:
    for mode in MODES:
        assert decide(policy(mode), row("edited"), OURS, None, shown=True) is Verdict.ASK
    assert decide(policy(), row(""), OURS, None, shown=True) is Verdict.SHOW


@pytest.mark.parametrize(
    ("retry_epoch", "retry_class", "failure", "verdict"),
    [
        (0, None, FAILED, Verdict.FAILED),
        (2, None, FAILED, Verdict.CALL),
        (2, "blocked", FAILED, Verdict.CALL),
        (2, "empty", FAILED, Verdict.FAILED),
        (2, None, replace(FAILED, epoch=2), Verdict.FAILED),
        (2, None, replace(FAILED, epoch=3), Verdict.FAILED),
        (2, None, None, Verdict.LEFT),
        (0, None, None, Verdict.CALL),
    ],
)
def test_failures_stand_until_they_are_retried(
    retry_epoch: int, retry_class: str | None, failure: Failure | None, verdict: Verdict
) -> None:
    chosen = policy(retry_epoch=retry_epoch, retry_class=retry_class)
    assert decide(chosen, row(), None, failure) is verdict


def test_a_summary_whose_cell_was_refused_is_listed_and_not_written_again() -> None:
    refused = replace(FAILED, error_class="cell_refused")
    assert decide(policy(), row(), OURS, refused) is Verdict.FAILED
    assert decide(policy(retry_epoch=2), row(), OURS, refused) is Verdict.SHOW
