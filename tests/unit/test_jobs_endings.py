"""What each error of Google's or of the sheet means for the link: go on later, or wait for a person."""

from typing import Any, get_args

import pytest

from addon.google.errors import (
    BlockCode,
    FileMissing,
    GoogleError,
    GrantMissing,
    JobBlocked,
    OutOfGrid,
    Refused,
    Service,
    TryAgain,
)
from addon.jobs.endings import (
    NO_DISPLAY,
    RETRY_DELAY,
    SHARE_DELAY,
    SHARE_SECONDS,
    Ending,
    ending_of,
    of_drive,
    patient,
)
from addon.jobs.model import PAUSE_REASONS
from addon.rows.table import ColumnsGone, SheetGone

SERVICES: tuple[Service, ...] = get_args(Service)
CODES: tuple[BlockCode, ...] = get_args(BlockCode)


def google(kind: type[GoogleError], service: Service = "Sheets", **more: Any) -> GoogleError:
    return kind("a sentence", service=service, **more)


@pytest.mark.parametrize("service", SERVICES)
@pytest.mark.parametrize(
    ("wait", "delay"), [(0.0, RETRY_DELAY), (3.0, RETRY_DELAY), (RETRY_DELAY, RETRY_DELAY), (90.0, 90.0)]
)
@pytest.mark.parametrize("outcome_unknown", [True, False])
def test_what_is_worth_another_try_hands_over_and_waits_as_asked(
    service: Service, wait: float, delay: float, outcome_unknown: bool
) -> None:
    error = google(TryAgain, service, wait=wait, status=503, outcome_unknown=outcome_unknown)
    assert ending_of(error) == Ending("handed over", delay=delay, silent="google_silent")


@pytest.mark.parametrize("service", SERVICES)
@pytest.mark.parametrize("code", CODES)
def test_what_blocks_a_job_pauses_it_for_that_reason(service: Service, code: BlockCode) -> None:
    assert ending_of(google(JobBlocked, service, code=code)) == Ending("paused", code)


def test_a_block_nobody_has_a_sentence_for_pauses_all_the_same() -> None:
    assert ending_of(google(JobBlocked, code="something_new")) == Ending("paused", "api_refused")


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (google(GrantMissing), "access_removed"),
        (google(FileMissing, "Drive", status=404), "results_file_gone"),
        (ColumnsGone(("text",)), "column_gone"),
        (SheetGone(), "sheet_gone"),
        (google(OutOfGrid), "api_refused"),
        (google(Refused, status=400, reason="X"), "api_refused"),
        (google(GoogleError), "api_refused"),
    ],
)
def test_errors_that_pause(error: Exception, reason: str) -> None:
    assert ending_of(error) == Ending("paused", reason)


def test_every_reason_an_ending_gives_is_one_a_job_can_be_paused_for() -> None:
    errors: list[Exception] = [google(JobBlocked, code=code) for code in CODES]
    errors += [google(kind) for kind in (TryAgain, GrantMissing, FileMissing, OutOfGrid)]
    endings = [ending_of(error) for error in (*errors, ColumnsGone(("x",)), SheetGone())]
    given = {reason for ending in endings for reason in (ending.reason, ending.silent) if reason}
    assert given <= PAUSE_REASONS
    assert NO_DISPLAY <= PAUSE_REASONS


@pytest.mark.parametrize("reason", sorted(PAUSE_REASONS))
@pytest.mark.parametrize("age", [0.0, SHARE_SECONDS - 0.1, SHARE_SECONDS, 1e6])
def test_only_what_a_fresh_share_explains_is_waited_for_and_not_for_ever(reason: str, age: float) -> None:
    ending = Ending("paused", reason)
    may_come = reason in {"access_removed", "run_file_gone", "results_file_gone"}
    if may_come and age < SHARE_SECONDS:
        assert patient(ending, age) == Ending("handed over", delay=SHARE_DELAY)
    else:
        assert patient(ending, age) is ending


@pytest.mark.parametrize("kind", ["finished", "closed", "over", "handed over"])
def test_other_endings_are_never_touched(kind: str) -> None:
    ending = Ending(kind, delay=7.0, silent="google_silent")
    assert patient(ending, 0.0) is ending


@pytest.mark.parametrize(
    ("error", "drive"),
    [
        (google(TryAgain, "Drive"), True),
        (google(FileMissing, "Drive"), True),
        (google(JobBlocked, "Drive", code="storage_full"), True),
        (google(TryAgain, "Sheets"), False),
        (google(TryAgain, "Tasks"), False),
        (ColumnsGone(()), False),
        (SheetGone(), False),
    ],
)
def test_nothing_can_be_committed_once_drive_refuses(error: Exception, drive: bool) -> None:
    assert of_drive(error) is drive
