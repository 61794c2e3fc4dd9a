"""`addon run`: the same job as in the sidebar, on a CSV file, without a browser."""

import contextlib
import sqlite3
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import click

from addon import cli_text
from addon.google.access import UserAccess
from addon.google.errors import FileMissing, GoogleError
from addon.jobs.commands import CommandRefused, cancel, release, resume
from addon.jobs.files import decode_brief
from addon.jobs.plan import StartRefused, StartRequest, brief_of
from addon.jobs.records import Job, Mode, job_path
from addon.jobs.start import start
from addon.jobs.status import JobStatus
from addon.local import local_stack, state_lock
from addon.rows.table import columns_of
from addon.run_files import check_places, copy_results
from addon.run_watch import (
    AGAIN,
    STILL_SECONDS,
    Progress,
    RunStopped,
    Stop,
    Troubles,
    Watch,
    disk_sentence,
)
from addon.services import Services
from addon.settings import Settings
from addon.simulator.server import Simulator
from addon.simulator.workbooks import WorkbookError
from addon.store.documents import StoreError

DONE, FAILURES, UNFINISHED, INTERRUPTED = 0, 3, 4, 130
"""Exit statuses; 2 is something to mend first."""

HAND_OVER_SECONDS = 20.0
"""How long an interrupted run waits for calls under way: a link gives them 15 s, then shows what came."""


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
    RunStopped, StateInUse, WorkbookError, SettingsError, GoogleError, StoreError, OSError
        The run could not go on; nothing that was finished is lost.
    """
    stop, troubles = Stop(), Troubles(settings.state)
    opened: list[str] = []

    def prepare(simulator: Simulator) -> None:
        opened.append(simulator.workbooks.open_csv(options.file))
        check_places(options.file, options.results)

    try:
        with (
            state_lock(settings.state),
            stop.listening(),
            troubles.heard(),
            local_stack(settings, prepare=prepare) as (simulator, services),
        ):
            still = 2 * settings.lease_ttl + STILL_SECONDS
            watch = Watch(services.documents, troubles, stop, still=still)
            return _Run(simulator, services, options, opened[0], stop, watch).run()
    except (OSError, sqlite3.Error, GoogleError, StoreError) as error:
        sentence = troubles.sentence or disk_sentence(error, settings.state)
        if sentence is None:
            raise
        raise RunStopped(sentence) from error


class _Run:
    """One run over one file, on a stack of its own."""

    def __init__(
        self,
        simulator: Simulator,
        services: Services,
        options: RunOptions,
        spreadsheet_id: str,
        stop: Stop,
        watch: Watch,
    ) -> None:
        self._simulator = simulator
        self._services = services
        self._options = options
        self._spreadsheet_id = spreadsheet_id
        self._stop = stop
        self._watch = watch
        self._called = 0

    def run(self) -> int:
        """Work, save, report; the exit status."""
        status = self._work()
        if status.status == "done" and status.done + status.failed < status.rows:
            # It was a retry of failed rows, begun with `addon jobs retry`: the rest is still to be looked at.
            status = self._work()
        self._save(status)
        return self._report(status)

    def _work(self) -> JobStatus:
        job_id = self._begin()
        before = self._watch.status(job_id).called
        with Progress(quiet=self._options.quiet) as progress:
            status = self._watch.follow(job_id, progress)
            if self._stop.asked.is_set():
                # Links under way end and show what they have; the queue must not begin others meanwhile.
                self._simulator.queue.pause()
                self._services.stopping.set()
            status = self._watch.settle(job_id, HAND_OVER_SECONDS)
            progress.show(status)
        self._called += status.called - before
        return status

    # beginning

    def _begin(self) -> str:
        """Start the job, or go on with the one a run before has left unfinished; its id."""
        services, columns = self._services, self._columns()
        request = self._request(columns)
        with services.user_access(self._simulator.identity.user.token, "local") as user:
            try:
                started = start(services.desk, user, request)
                # A file edited since may have no output column any more: a new start makes it.
                fits = request.output_column in columns and self._same_work(user, started.job_id, request)
                if not started.created and not fits:
                    with _over_meanwhile():
                        cancel(services.documents, started.job_id)
                    started = start(services.desk, user, request)
            except StartRefused as refusal:
                raise RunStopped(
                    cli_text.start_refused(
                        refusal.code,
                        self._options.file,
                        names=refusal.names,
                        columns=columns,
                        sources=request.source_columns,
                    )
                ) from None
        if not started.created:
            with _over_meanwhile():
                with services.user_access(self._simulator.identity.user.token, "local") as user:
                    services.access.give(user, self._spreadsheet_id)  # given back if the job was over
                release(services.documents, services.tasks, started.job_id)
                resume(services.documents, services.tasks, started.job_id)
            click.echo("Going on where the last run ended.", err=True)
        return started.job_id

    def _columns(self) -> tuple[str, ...]:
        cells = self._simulator.workbooks.get(self._spreadsheet_id).cells(0)
        return tuple(column.title for column in columns_of(cells[0] if cells else ()) if column.titled)

    def _request(self, columns: tuple[str, ...]) -> StartRequest:
        options = self._options
        return StartRequest(
            spreadsheet_id=self._spreadsheet_id,
            sheet_id=0,
            source_columns=tuple(title for text in options.source for title in titles_in(text, columns)),
            output_column=options.output,
            instructions=options.instructions,
            mode=options.mode,
            request_id=uuid.uuid4().hex,
        )

    def _same_work(self, user: UserAccess, job_id: str, request: StartRequest) -> bool:
        snapshot = self._services.documents.get(job_path(job_id))
        job = Job.from_data(snapshot.data) if snapshot else None
        if job is None or not job.prepared or job.mode != request.mode:
            return False
        if job.model != self._services.model.name:
            return False
        try:
            return decode_brief(user.drive.download(job.run_file)) == brief_of(request)
        except (FileMissing, ValueError):  # nobody can go on with a job whose run file is lost or spoilt
            return False

    # ending

    def _save(self, status: JobStatus) -> None:
        options = self._options
        try:
            self._simulator.workbooks.save_csv(self._spreadsheet_id, options.file)
        except WorkbookError as error:
            raise RunStopped(
                f"{error} The summaries are kept: once that is mended, {AGAIN} to write them."
            ) from None
        if options.results is None:
            return
        try:
            copy_results(self._parts(status.job_id), options.results)
        except OSError as error:
            raise RunStopped(
                f"The summaries are in {options.file}, but the results files could not be copied to "
                f"{options.results} ({error.strerror}). Mend that, then {AGAIN}."
            ) from None

    def _parts(self, job_id: str) -> Iterator[tuple[str, bytes]]:
        snapshot = self._services.documents.get(job_path(job_id))
        parts = Job.from_data(snapshot.data).parts if snapshot else {}
        for file_ids in parts.values():
            for file_id in file_ids:
                yield self._simulator.files.name(file_id), self._simulator.files.read(file_id)

    def _report(self, status: JobStatus) -> int:
        options = self._options
        blank = f", and skipped {cli_text.plural(status.blank, 'blank row')}" if status.blank else ""
        click.echo(
            f"{status.done:,} of {cli_text.plural(status.rows, 'row')} have a summary in column "
            f"“{options.output.strip()}” of {options.file}. This run made "
            f"{cli_text.plural(self._called, 'model call')}{blank}."
        )
        if status.repeated:
            calls = cli_text.plural(status.repeated, "call")
            click.echo(f"Up to {calls} may have been made twice, because work was interrupted.")
        for group in status.failures:
            click.echo(cli_text.failed(group.error_class, group.count, group.rows), err=True)
        return self._ending(status)

    def _ending(self, status: JobStatus) -> int:
        if status.status == "paused":
            click.echo(f"Paused. {cli_text.paused(status.reason, AGAIN)}", err=True)
            return UNFINISHED
        if status.status == "cancelled":
            click.echo(f"The job was cancelled. To do the rest after all, {AGAIN}.", err=True)
            return UNFINISHED
        if status.status != "done":
            click.echo(f"Stopped. Nothing that was finished is lost: {AGAIN} to go on.", err=True)
            return INTERRUPTED
        return FAILURES if status.failed else DONE


def titles_in(text: str, columns: tuple[str, ...]) -> list[str]:
    """The column titles in one ``--source``: the whole text if it is a title, else those between commas."""
    if text.strip() in columns:
        return [text.strip()]
    return [title.strip() for title in text.split(",") if title.strip()]


@contextlib.contextmanager
def _over_meanwhile() -> Iterator[None]:
    """Let a command fail that a job has forestalled by ending: that is as good."""
    try:
        yield
    except CommandRefused as refusal:
        if refusal.code != "already_over":
            raise
