"""`addon jobs`: look at jobs, and retry, resume or cancel one."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import click

from addon import cli_text
from addon.environment import from_environment
from addon.google.errors import TryAgain
from addon.google.tasks import Tasks
from addon.jobs.commands import CommandRefused, cancel, resume, retry
from addon.jobs.model import FAILURE_CLASSES
from addon.jobs.status import JobStatus, job_status, list_jobs
from addon.services import build, open_documents
from addon.settings import Settings, SettingsError
from addon.store.documents import Documents


class SweepOnly(Tasks):
    """Stands for a queue that cannot be reached from here.

    The change of the job is in the store; the sweep of the service enqueues what is overdue, and so does the
    next `addon run` of the file.
    """

    def enqueue(self, *_: object, **__: object) -> bool:
        """Leave it to the sweep."""
        return False


@click.group()
@click.option("--state", type=click.Path(path_type=Path), metavar="FOLDER",
              help="State folder of the runs; the demo's is .state/demo.  "
                   "[default: .state, or ADDON_STATE]")  # fmt: skip
@click.pass_context
def jobs(context: click.Context, state: Path | None) -> None:
    """List jobs, show one, and retry, resume or cancel it.

    Every `addon run` and every click on Run summaries makes one job.
    """
    settings = from_environment()
    context.obj = replace(settings, state=(state or settings.state).absolute())


@jobs.command("list")
@click.option(
    "--limit",
    type=click.IntRange(1),
    metavar="N",
    default=20,
    show_default=True,
    help="How many, newest first.",
)
@click.pass_obj
def jobs_list(settings: Settings, limit: int) -> None:
    """List the newest jobs: id, start (UTC), status, rows."""
    with _documents(settings) as documents:
        found = list_jobs(documents, limit)
    if not found:
        click.echo("There are no jobs.")
    for status in found:
        click.echo(
            f"{status.job_id}  {status.created_at:%Y-%m-%d %H:%M}  {status.status:<9}  "
            f"{status.done:,} of {cli_text.plural(status.rows, 'row')}, {status.failed:,} failed"
        )


@jobs.command("show")
@click.argument("job_id")
@click.pass_obj
def jobs_show(settings: Settings, job_id: str) -> None:
    """Show one job: how far it is, what it cost, what failed and why."""
    with _documents(settings) as documents:
        status = job_status(documents, job_id)
    if status is None:
        raise CommandRefused("no_such_job")
    for name, value in _lines(status):
        click.echo(f"{name:<12} {value}")


def _lines(status: JobStatus) -> Iterator[tuple[str, str]]:
    yield "job", status.job_id
    yield "spreadsheet", f"{status.spreadsheet_id}, sheet {status.sheet_id}"
    yield "status", status.status
    if status.status == "paused":
        yield "to do", cli_text.paused(status.reason, f"run `addon jobs resume {status.job_id}`")
    yield (
        "rows",
        f"{status.done:,} of {status.rows:,} done, {status.failed:,} failed, {status.blank:,} blank",
    )
    yield "calls", f"{status.called:,}, of them at most {status.repeated:,} repeated after a breakdown"
    yield "tokens", f"{status.input_tokens:,} in, {status.output_tokens:,} out ({status.model})"
    if status.cost:
        yield "cost", f"about ${status.cost:,.4f} (expected: ${status.expected_cost or 0:,.4f})"
    yield "created", f"{status.created_at:%Y-%m-%d %H:%M:%S} UTC"
    yield "updated", f"{status.updated_at:%Y-%m-%d %H:%M:%S} UTC"
    yield "results", status.results_link or "-"
    for group in status.failures:
        yield "failed", cli_text.failed(group.error_class, group.count, group.rows)


@jobs.command("retry")
@click.argument("job_id")
@click.option("--class", "error_class", type=click.Choice(sorted(FAILURE_CLASSES)), metavar="CLASS",
              help="Only rows that failed for this reason: "
                   f"{', '.join(sorted(FAILURE_CLASSES))}.")  # fmt: skip
@click.pass_obj
def jobs_retry(settings: Settings, job_id: str, error_class: str | None) -> None:
    """Work on a finished job's failed rows again."""
    _go_on(settings, lambda documents, tasks: retry(documents, tasks, job_id, error_class))


@jobs.command("resume")
@click.argument("job_id")
@click.pass_obj
def jobs_resume(settings: Settings, job_id: str) -> None:
    """Let a paused job go on."""
    _go_on(settings, lambda documents, tasks: resume(documents, tasks, job_id))


@jobs.command("cancel")
@click.argument("job_id")
@click.pass_obj
def jobs_cancel(settings: Settings, job_id: str) -> None:
    """Cancel a job; its finished rows stay."""
    with _documents(settings) as documents:
        cancel(documents, job_id)
    click.echo("Cancelled. Finished rows stay.")


def _go_on(settings: Settings, command: Callable[[Documents, Tasks], None]) -> None:
    reached = True
    with _desk(settings) as (documents, tasks):
        try:
            command(documents, tasks)
        except TryAgain:  # the job is changed all the same, and the sweep enqueues what is overdue
            reached = False
    if reached and not isinstance(tasks, SweepOnly):
        click.echo("The job goes on.")
    else:
        click.echo(
            "The job is to go on. It does so within a minute where the service or `addon demo` runs on this "
            "state folder, or else with the next `addon run` of its file."
        )


@contextmanager
def _desk(settings: Settings) -> Iterator[tuple[Documents, Tasks]]:
    """Store and queue; for the state folder of `addon run` or the demo, no queue that is known here."""
    local = (settings.state / "google" / "identity.json").exists()
    if local and not settings.system_account:
        with _documents(settings) as documents:
            yield documents, SweepOnly(settings.queue, settings.base_url, settings.base_url, account="")
        return
    services = build(settings)
    try:
        yield services.documents, services.tasks
    finally:
        services.tasks.close()
        services.documents.close()


@contextmanager
def _documents(settings: Settings) -> Iterator[Documents]:
    if settings.store == "sqlite" and not (settings.state / "store.sqlite").exists():
        raise SettingsError(f"There is no store in {settings.state}: name the state folder with --state.")
    documents = open_documents(settings)
    try:
        yield documents
    finally:
        documents.close()
