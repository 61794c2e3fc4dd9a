"""What is to be done with one row, given what the index knows of its key. Pure."""

from dataclasses import dataclass
from datetime import datetime
from enum import Enum

from addon.jobs.records import Failure, Job, Result
from addon.rows.keys import is_blank, text_hash
from addon.rows.table import Row


class Verdict(Enum):
    """What a row needs. The first group is settled: nothing more to do in this pass."""

    DONE = "done"
    """Its summary is in the sheet."""
    BLANK = "blank"
    """It has no text."""
    FAILED = "failed"
    """It is listed as failed, and not to be tried again."""
    KEPT = "kept"
    """Its output cell holds something that is not to be replaced."""
    LEFT = "left"
    """It is not part of this retry."""

    CALL = "call"
    """Ask the model."""
    SHOW = "show"
    """It has a result; write it."""
    ASK = "ask"
    """It has a result and another text beside it: write it only if that text is one of ours."""


@dataclass(frozen=True, slots=True)
class Policy:
    """A job's choices, as far as they decide about rows.

    ``crashed`` says that a worker of this job has ended without showing all it had committed: then what
    stands in a cell beside a result of this job may never have been replaced.
    """

    job_id: str
    job: Job
    now: datetime
    crashed: bool = False

    def valid(self, result: Result | None) -> bool:
        """Whether a result counts: within its retention, and made by this job if all rows are to be made."""
        if result is None or result.until <= self.now:
            return False
        return self.job.mode != "all" or result.job == self.job_id

    def final(self, failure: Failure | None) -> bool:
        """Whether a failure stands: it is not one of those this epoch retries."""
        if failure is None:
            return False
        if failure.epoch >= self.job.retry_epoch:
            return True
        return self.job.retry_class is not None and failure.error_class != self.job.retry_class


def decide(
    policy: Policy, row: Row, result: Result | None, failure: Failure | None, *, shown: bool = False
) -> Verdict:
    """Decide about ``row``; ``shown`` says that this worker has written the row's summary before."""
    if row.key is None:
        return Verdict.BLANK
    valid = result is not None and policy.valid(result)
    if not valid and policy.job.mode == "empty_only" and not is_blank(row.output):
        return Verdict.KEPT
    if policy.final(failure):
        return Verdict.FAILED
    if result is not None and valid:
        return _with_result(policy, row, result, shown=shown)
    if failure is None and policy.job.retry_epoch:
        return Verdict.LEFT
    return Verdict.CALL


def _with_result(policy: Policy, row: Row, result: Result, *, shown: bool) -> Verdict:
    if text_hash(row.output) == result.sha256:
        return Verdict.DONE
    if is_blank(row.output):
        return Verdict.SHOW
    if shown:  # either a person has edited it since, or a sort has put another row's summary there
        return Verdict.ASK
    if policy.job.mode == "empty_only":
        return Verdict.KEPT
    return Verdict.SHOW if policy.crashed and result.job == policy.job_id else Verdict.ASK
