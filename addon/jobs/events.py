"""What is logged of jobs: each event with its fields. Ids, counts and words, never content."""

import logging
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice

from addon.google.errors import GoogleError
from addon.jobs.records import Job
from addon.logs import code, event, place_of, who, word
from addon.store.documents import StoreError

log = logging.getLogger("addon.jobs")

MOST_LISTED = 20
"""Failed rows of one commit that get a line each; ``commit`` counts all of them."""


def job_started(job_id: str, job: Job, todo: int, seconds: float) -> None:
    """A click became a job with ``todo`` keys to call."""
    event(
        log,
        "job_started",
        job=job_id,
        spreadsheet=job.spreadsheet_id,
        who=job.owner,
        mode=job.mode,
        model=word(job.model),
        shards=job.shards,
        rows=job.rows,
        distinct=job.distinct,
        todo=todo,
        blank=job.blank,
        parts=sum(map(len, job.parts.values())),
        milliseconds=seconds * 1000,
    )


def start_refused(reason: str) -> None:
    """A click became no job."""
    event(log, "start_refused", reason=reason, who=who())


def job_done(job_id: str, job: Job) -> None:
    """A job has reached its end."""
    finished = job.finished_at or job.created_at
    event(
        log,
        "job_ended",
        job=job_id,
        who=who(),
        outcome="done",
        rows_done=sum(job.tally.get(kind, 0) for kind in ("done", "made", "kept")),
        rows_failed=job.tally.get("failed", 0),
        seconds=(finished - job.created_at).total_seconds(),
    )


def job_cancelled(job_id: str, reason: str) -> None:
    """A job was cancelled: by a person, or because its click died or could not make its files."""
    event(log, "job_cancelled", job=job_id, who=who(), reason=reason)


def job_paused(job_id: str, reason: str) -> None:
    """A job waits for a person."""
    severity = {"by_person": logging.INFO, "stuck": logging.ERROR}.get(reason, logging.WARNING)
    event(log, "job_paused", severity=severity, job=job_id, who=who(), reason=reason)


def job_resumed(job_id: str) -> None:
    """A paused job goes on."""
    event(log, "job_resumed", job=job_id, who=who())


def job_retried(job_id: str, error_class: str | None) -> None:
    """A job begins anew over its failed rows."""
    event(log, "job_retried", job=job_id, who=who(), error_class=error_class or "all")


def link_claimed(attempt: int, unclean: bool, fence: int) -> None:
    """A link holds its shard; ``unclean`` where the worker before ended without handing over."""
    severity = logging.WARNING if unclean else logging.INFO
    event(log, "link_claimed", severity=severity, attempt=attempt, unclean=unclean, fence=fence)


def link_refused(reason: str, status: int) -> None:
    """A link was not to work; ``status`` is the answer to the queue."""
    event(log, "link_refused", reason=reason, status=status)


@dataclass
class LinkEnd:
    """How a link ended; ``crashed`` until somebody says otherwise.

    ``calls``, ``rows`` and ``failed`` were committed, ``repeated`` of the calls may have been made before;
    ``in_vain`` were made and not committed. ``delay`` is in seconds, until the next link.
    """

    attempt: int
    outcome: str = "crashed"
    reason: str = ""
    calls: int = 0
    rows: int = 0
    failed: int = 0
    repeated: int = 0
    commits: int = 0
    in_vain: int = 0
    delay: float = 0.0

    def log(self, seconds: float) -> None:
        """Log it, after that many seconds of work."""
        severities = {"crashed": logging.ERROR, "fenced": logging.WARNING}
        event(
            log,
            "link_ended",
            severity=severities.get(self.outcome, logging.INFO),
            outcome=self.outcome.replace(" ", "_"),
            reason=self.reason,
            seconds=seconds,
            attempt=self.attempt,
            calls=self.calls,
            rows=self.rows,
            failed=self.failed,
            repeated=self.repeated,
            commits=self.commits,
            in_vain=self.in_vain,
            delay_seconds=self.delay,
        )


def commit(rows: int, failed: int, calls: int, file: str, uploading: float, writing: float) -> None:
    """Answers became durable; the last two are the seconds of the upload and of the transaction."""
    event(
        log,
        "commit",
        rows=rows,
        failed=failed,
        calls=calls,
        file=file,
        upload_milliseconds=uploading * 1000,
        transaction_milliseconds=writing * 1000,
    )


def rows_failed(rows: Iterable[tuple[str, str, str]]) -> None:
    """Rows got no summary: key, failure class and the provider's reason of each. The first few are named."""
    for key, error_class, detail in islice(rows, MOST_LISTED):
        event(log, "row_failed", key=key[:8], error_class=error_class, detail=word(detail))


def display_beat(cells: int, moved: int, left: int, refused: int, seconds: float) -> None:
    """Summaries were written into the sheet."""
    milliseconds = seconds * 1000
    event(
        log, "display_beat", cells=cells, moved=moved, left=left, refused=refused, milliseconds=milliseconds
    )


def model_slowed(wait: float, reason: str) -> None:
    """The provider wants fewer calls."""
    event(log, "model_slowed", severity=logging.WARNING, wait_seconds=wait, reason=word(reason))


def model_suspended(wait: float, silent: bool, reason: str) -> None:
    """The provider is silent, or asks for a long wait: the link ends for it."""
    event(
        log,
        "model_suspended",
        severity=logging.WARNING,
        wait_seconds=wait,
        silent=silent,
        reason=word(reason),
    )


def model_refused(reason: str) -> None:
    """The provider takes no row until a person acts."""
    event(log, "model_refused", severity=logging.ERROR, reason=word(reason))


def model_raised(error: BaseException) -> None:
    """The adapter broke its promise not to raise."""
    said = "The model adapter raised {error} at {place}."
    fields = {"error": type(error).__name__, "place": place_of(error)}
    event(log, "model_raised", severity=logging.ERROR, said=said, **fields)


@dataclass
class Swept:
    """What a sweep has found and done; ``waiting`` is in seconds, of the link that waits longest."""

    running: int = 0
    queued: int = 0
    paused: int = 0
    stuck: int = 0
    enqueued: int = 0
    cancelled: int = 0
    skipped: int = 0
    pruned: int = 0
    waiting: float = 0.0

    def log(self, seconds: float) -> None:
        """Log it, after that many seconds of work."""
        event(
            log,
            "sweep",
            severity=logging.WARNING if self.skipped else logging.INFO,
            active=self.running + self.queued,
            running=self.running,
            queued=self.queued,
            paused=self.paused,
            stuck=self.stuck,
            enqueued=self.enqueued,
            cancelled=self.cancelled,
            skipped=self.skipped,
            pruned=self.pruned,
            oldest_waiting_seconds=self.waiting,
            milliseconds=seconds * 1000,
        )


def heal_failed(job_id: str, error: Exception) -> None:
    """The sweep could not look after a job this time."""
    event(log, "heal_failed", severity=logging.WARNING, job=job_id, error=type(error).__name__)


def enqueue_failed(job_id: str, shard: int, error: GoogleError) -> None:
    """A job's first link is not in the queue; the sweep puts it there."""
    fields = {"error": type(error).__name__, "reason": word(error.reason)}
    event(log, "enqueue_failed", severity=logging.WARNING, job=job_id, shard=shard, **fields)


def task_dropped(reason: str) -> None:
    """A task came with a body that no retry can mend; ``reason`` is a sentence of ours."""
    event(log, "task_dropped", severity=logging.ERROR, reason=code(reason))


def google_failed(error: GoogleError, route: str) -> None:
    """Google did not do what was asked."""
    event(
        log,
        "google_failed",
        severity=logging.WARNING,
        service=error.service,
        error=type(error).__name__,
        status=error.status or 0,
        reason=word(error.reason),
        route=route,
    )


def store_failed(error: StoreError, route: str) -> None:
    """The store did not do what was asked."""
    event(log, "store_failed", severity=logging.WARNING, error=type(error).__name__, route=route)


def certificates_unavailable(error: Exception, route: str) -> None:
    """Nobody could be told from anybody else."""
    event(log, "certificates_unavailable", severity=logging.ERROR, error=type(error).__name__, route=route)


def access_kept(spreadsheet_id: str, error: GoogleError) -> None:
    """The worker's access could not be given back yet; a sweep tries again."""
    event(
        log,
        "access_kept",
        severity=logging.WARNING,
        spreadsheet=spreadsheet_id,
        error=type(error).__name__,
        reason=code(error.reason),
    )


def access_withdrawn(spreadsheet_id: str) -> None:
    """The worker has given its access back."""
    event(log, "access_withdrawn", spreadsheet=spreadsheet_id)


def caller_refused(surface: str, reason: str) -> None:
    """Somebody has not proved to be who may call; ``reason`` is a sentence of ours."""
    event(log, "caller_refused", severity=logging.WARNING, surface=surface, reason=code(reason))


def unexpected(error: Exception, route: str, reference: str = "") -> None:
    """Nobody foresaw this. ``reference`` is what a person was shown."""
    event(
        log,
        "unexpected",
        severity=logging.ERROR,
        said="{route}: {error} at {place}, reference {reference}" if reference else "",
        error=type(error).__name__,
        place=place_of(error),
        route=route,
        **({"reference": reference} if reference else {}),
    )
