"""Why a link ends, and which ending an error of Google's or of the sheet means."""

import traceback
from dataclasses import dataclass
from pathlib import Path

from addon.google.errors import FileMissing, GoogleError, GrantMissing, JobBlocked, TryAgain
from addon.jobs.model import PAUSE_REASONS
from addon.rows.table import ColumnsGone, SheetGone

RETRY_DELAY = 10.0
"""Seconds before the next link after Google itself did not answer properly."""

NO_DISPLAY = frozenset(
    {
        "access_removed",
        "sheet_gone",
        "spreadsheet_trashed",
        "column_gone",
        "protected",
        "workbook_full",
    }
)
"""Pause reasons that say the sheet cannot be written."""


@dataclass(frozen=True, slots=True)
class Ending:
    """Why a link ended: ``finished``, ``closed`` (its shard), ``paused`` (with a reason), ``over`` (the job
    was paused or cancelled by somebody), or ``handed over`` with a delay in seconds. ``silent`` is the pause
    reason this becomes if it happens too often in a row."""

    kind: str
    reason: str | None = None
    delay: float = 0.0
    silent: str | None = None


_REASONS: tuple[tuple[type[Exception], str], ...] = (
    (GrantMissing, "access_removed"),
    (FileMissing, "results_file_gone"),
    (ColumnsGone, "column_gone"),
    (SheetGone, "sheet_gone"),
)


SHARE_SECONDS = 30.0
"""How long a share may take to be seen everywhere; until then a missing file may only be not visible yet."""

SHARE_DELAY = 5.0
_NOT_VISIBLE = frozenset({"access_removed", "run_file_gone", "results_file_gone"})


def patient(ending: Ending, age: float) -> Ending:
    """The ending, or another try soon where the job is only ``age`` seconds old and sees no access yet."""
    if ending.reason in _NOT_VISIBLE and age < SHARE_SECONDS:
        return Ending("handed over", delay=SHARE_DELAY)
    return ending


def ending_of(error: Exception) -> Ending:
    """The ending an error means: try again later, or pause for a person."""
    if isinstance(error, TryAgain):
        return Ending("handed over", delay=max(error.wait or 0.0, RETRY_DELAY), silent="google_silent")
    if isinstance(error, JobBlocked) and error.code in PAUSE_REASONS:
        return Ending("paused", error.code)
    for kind, reason in _REASONS:
        if isinstance(error, kind):
            return Ending("paused", reason)
    return Ending("paused", "api_refused")


def place_of(error: BaseException) -> str:
    """Class and place of what nobody foresaw, for the log: its message may quote a row."""
    frames = traceback.extract_tb(error.__traceback__)
    where = f" at {Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else ""
    return f"{type(error).__name__}{where}"


def of_drive(error: Exception) -> bool:
    """Whether Drive refused something: then nothing can be committed either."""
    return isinstance(error, GoogleError) and error.service == "Drive"
