"""`addon run`: the same job as in the sidebar, on a CSV file, without a browser."""

import os
import signal
import sys
import threading
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import click

from addon.google.access import UserAccess
from addon.jobs.commands import cancel, release, resume
from addon.jobs.link import decode_brief
from addon.jobs.parts import empty_part
from addon.jobs.plan import StartRequest, brief_of
from addon.jobs.records import Job, Mode, job_path
from addon.jobs.start import start
from addon.jobs.status import JobStatus, job_status
from addon.local import local_stack, state_lock
from addon.services import Services
from addon.settings import Settings
from addon.sidebar.text import Words
from addon.simulator.server import Simulator

DONE, FAILURES, PAUSED, INTERRUPTED = 0, 3, 4, 130
"""Exit statuses; 2 is a usage error."""

POLL_SECONDS = 0.2
BAR = 24


@dataclass(frozen=True)
class RunOptions:
    """What `addon run` was asked to do. ``results`` is the folder the results files are copied to."""

    file: Path
    source: tuple[str, ...]
    output: str
    instructions: str
    mode: Mode
    results: Path | None
    quiet: bool


def run(settings: Settings, options: RunOptions) -> int:
    """Summarise a CSV file's rows; the exit status.

    Raises
    ------
    StateInUse, WorkbookError, StartRefused, GoogleError, StoreError, OSError
        The run could not go on; nothing that was finished is lost.
    """
    opened: list[str] = []

    def prepare(simulator: Simulator) -> None:
        opened.append(simulator.workbooks.open_csv(options.file))

    with (
        state_lock(settings.state),
        _interruptible() as interrupted,
        local_stack(settings, prepare=prepare) as (simulator, services),
    ):
        spreadsheet_id = opened[0]
        job_id = _begin(simulator, services, options, spreadsheet_id)
        status = _watch(services, job_id, interrupted, quiet=options.quiet)
        simulator.workbooks.save_csv(spreadsheet_id, options.file)
        _copy_results(simulator, services, job_id, options.results)
    return _report(status, options, interrupted=interrupted.is_set())


def _begin(simulator: Simulator, services: Services, options: RunOptions, spreadsheet_id: str) -> str:
    """Start the job, or go on with the one a run before has left unfinished."""
    request = StartRequest(
        spreadsheet_id=spreadsheet_id,
        sheet_id=0,
        source_columns=options.source,
        output_column=options.output,
        instructions=options.instructions,
        mode=options.mode,
        request_id=uuid.uuid4().hex,
    )
    with services.user_access(simulator.identity.user.token, "local") as user:
        started = start(services.desk, user, request)
        if not started.created and not _same_work(services, user, started.job_id, request):
            cancel(services.documents, started.job_id)
            started = start(services.desk, user, request)
    if not started.created:
        release(services.documents, services.tasks, started.job_id)
        resume(services.documents, services.tasks, started.job_id)
        click.echo("Going on where the last run ended.", err=True)
    return started.job_id


def _same_work(services: Services, user: UserAccess, job_id: str, request: StartRequest) -> bool:
    snapshot = services.documents.get(job_path(job_id))
    job = Job.from_data(snapshot.data) if snapshot else None
    if job is None or not job.prepared or job.mode != request.mode or job.model != services.model.name:
        return False
    return decode_brief(user.drive.download(job.run_file)) == brief_of(request)


def _watch(services: Services, job_id: str, interrupted: threading.Event, *, quiet: bool) -> JobStatus:
    with _Progress(quiet=quiet) as progress:
        while True:
            status = job_status(services.documents, job_id)
            if status is None:
                raise RuntimeError("the job has disappeared from the store")
            progress.show(status)
            if status.status in {"done", "cancelled", "paused"}:
                return status
            if interrupted.wait(POLL_SECONDS):
                services.stopping.set()
                return status


class _Progress:
    """A bar on a terminal; now and then a line where standard error is a file."""

    def __init__(self, *, quiet: bool) -> None:
        self._quiet = quiet
        self._live = sys.stderr.isatty()
        self._last = -1

    def __enter__(self) -> "_Progress":
        return self

    def __exit__(self, *_: object) -> None:
        if self._live and not self._quiet:
            click.echo(err=True)

    def show(self, status: JobStatus) -> None:
        """Show how far the job is."""
        if self._quiet:
            return
        over = status.done + status.failed
        share = over / status.rows if status.rows else 1.0
        line = f"{share:4.0%}  {over:,} of {status.rows:,} rows"
        if status.rate:
            line += f"  {status.rate:,.0f}/s"
        if status.seconds_left:
            line += f"  {status.seconds_left:,.0f} s left"
        if self._live:
            filled = round(share * BAR)
            click.echo(f"\r{'█' * filled}{'░' * (BAR - filled)} {line:<50}", err=True, nl=False)
        elif int(share * 10) > self._last:
            self._last = int(share * 10)
            click.echo(line, err=True)


def _copy_results(simulator: Simulator, services: Services, job_id: str, folder: Path | None) -> None:
    """Copy the job's parts out of the simulated Drive; an empty part says nothing and stays there."""
    snapshot = services.documents.get(job_path(job_id))
    if folder is None or snapshot is None:
        return
    folder.mkdir(parents=True, exist_ok=True)
    for file_ids in Job.from_data(snapshot.data).parts.values():
        for file_id in file_ids:
            content = simulator.files.read(file_id)
            if content != empty_part():
                _write(folder / simulator.files.name(file_id), content)


def _write(path: Path, content: bytes) -> None:
    beside = path.with_name(f".{path.name}.new")
    with beside.open("wb") as handle:
        handle.write(content)
        handle.flush()
        os.fsync(handle.fileno())
    beside.replace(path)


def _report(status: JobStatus, options: RunOptions, *, interrupted: bool) -> int:
    words = Words("en")
    made = status.done - status.reused
    click.echo(
        f"{status.done:,} of {status.rows:,} rows have a summary in column {options.output!r} of "
        f"{options.file}: {made:,} made now, {status.reused:,} kept; {status.blank:,} blank rows skipped; "
        f"{status.called:,} model calls."
    )
    if status.repeated:
        click.echo(f"Up to {status.repeated:,} calls may have been made twice, after a worker died.")
    for group in status.failures:
        rows = ", ".join(map(str, group.rows)) + (", …" if group.count > len(group.rows) else "")
        click.echo(
            f"{group.count:,} failed (rows {rows}): {words.coded('failure', group.error_class)}", err=True
        )
    if status.status == "paused":
        click.echo(f"Paused: {words.coded('reason', status.reason or '')}", err=True)
        return PAUSED
    if interrupted and status.status not in {"done", "cancelled"}:
        click.echo("Stopped. Nothing finished is lost: run the same command again to go on.", err=True)
        return INTERRUPTED
    return FAILURES if status.failed else DONE


@contextmanager
def _interruptible() -> Iterator[threading.Event]:
    """Turn Ctrl-C and SIGTERM into an event while the block runs."""
    event = threading.Event()
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    for number in before:
        signal.signal(number, lambda *_: event.set())
    try:
        yield event
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
