"""The command line: `addon`, also `python -m addon`."""

import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import NoReturn

import click

from addon import __version__
from addon.google.errors import GoogleError
from addon.jobs.commands import CommandRefused, cancel, resume, retry
from addon.jobs.plan import StartRefused
from addon.jobs.records import MODES, Mode
from addon.jobs.status import JobStatus, job_status, list_jobs
from addon.services import Services, build, open_documents
from addon.settings import Settings, SettingsError, from_environment
from addon.sidebar.text import Words
from addon.store.documents import Documents, StoreError

USAGE = 2
DEFAULT_INSTRUCTIONS = "Summarise this in one or two short sentences."


class _Group(click.Group):
    """Turns what people can mend into one sentence, instead of a stack trace."""

    def invoke(self, ctx: click.Context) -> object:
        """Run a command; click calls this."""
        try:
            return super().invoke(ctx)
        except StartRefused as error:
            _fail(Words("en").coded("start", error.code, names=", ".join(error.names)))
        except CommandRefused as error:
            _fail(Words("en").coded("command", error.code))
        except (SettingsError, StoreError, GoogleError) as error:
            _fail(str(error))
        except OSError as error:
            where = f"{error.filename}: " if error.filename else ""
            _fail(f"{where}{error.strerror or error}. Nothing that was finished is lost.")


def _fail(sentence: str) -> NoReturn:
    click.echo(sentence, err=True)
    sys.exit(USAGE)


@click.group(cls=_Group, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, package_name="sheet-summaries")
def main() -> None:
    """Summarise every row of a sheet, durably: kill it at any moment, run it again, and it goes on."""


@main.command()
@click.option("--port", default=8765, show_default=True, help="Port of the page; the service takes the next.")
@click.option("--file", "workbook", type=click.Path(path_type=Path), help="Open this CSV, not the sample.")
@click.option("--state", type=click.Path(path_type=Path), default=Path(".state/demo"), show_default=True,
              help="Folder that keeps everything; delete it to begin anew.")  # fmt: skip
@click.option("--lang", type=click.Choice(["en", "ja"]), default=None, help="Language of the sidebar.")
@click.option("--browser/--no-browser", default=True, help="Open the page in a browser.")
def demo(port: int, workbook: Path | None, state: Path, lang: str | None, browser: bool) -> None:
    """Show a sheet beside the sidebar, on this machine, with no account and no key."""
    from addon.demo import DemoFailed  # noqa: PLC0415  # the simulator is not needed elsewhere
    from addon.demo import demo as run_demo  # noqa: PLC0415
    from addon.local import StateInUse  # noqa: PLC0415

    try:
        run_demo(state.absolute(), port, workbook, browser=browser, language=lang or "")
    except (DemoFailed, StateInUse) as error:
        _fail(str(error))


@main.command("run")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--source", required=True, help="Column to read, by its title; several with commas between.")
@click.option("--output", required=True, help="Column for the summaries; made if there is none.")
@click.option("--instructions", default=DEFAULT_INSTRUCTIONS, show_default=True, help="What to write.")
@click.option("--rows", "mode", type=click.Choice(MODES), default="new_or_changed", show_default=True,
              help="Which rows: those new or changed since the last run, those with an empty output "
                   "cell, or all.")  # fmt: skip
@click.option("--results", type=click.Path(path_type=Path), help="Copy the results files into this folder.")
@click.option("--state", type=click.Path(path_type=Path), help="Folder that remembers what is done.")
@click.option("--quiet", is_flag=True, help="No progress, only the result.")
def run_file(
    file: Path,
    source: str,
    output: str,
    instructions: str,
    mode: Mode,
    results: Path | None,
    state: Path | None,
    quiet: bool,
) -> None:
    """Summarise the rows of a CSV file and write the summaries into it.

    Run it again after a kill, and it goes on; after an edit, and it does only what is new. Exit status: 0
    all done, 3 done with failed rows, 4 paused (a person must act), 2 something to mend first.
    """
    from addon.local import StateInUse  # noqa: PLC0415  # the simulator is not needed elsewhere
    from addon.run import RunOptions, run  # noqa: PLC0415
    from addon.simulator.workbooks import WorkbookError  # noqa: PLC0415

    settings = from_environment()
    settings = replace(settings, state=(state or settings.state).absolute())
    columns = tuple(title.strip() for title in source.split(",") if title.strip())
    options = RunOptions(file, columns, output, instructions, mode, results, quiet)
    try:
        sys.exit(run(settings, options))
    except (StateInUse, WorkbookError) as error:
        _fail(str(error))


@main.command()
@click.option("--bind", default=None, help="Address and port.  [default: 0.0.0.0:$PORT or 127.0.0.1:8080]")
@click.option("--workers", default=1, show_default=True, help="Processes.")
@click.option("--threads", default=16, show_default=True, help="Requests each takes at a time.")
@click.option("--exit-with-stdin", is_flag=True, hidden=True, help="End when standard input closes.")
def serve(bind: str | None, workers: int, threads: int, exit_with_stdin: bool) -> None:
    """Serve sidebar and task queue, configured by the environment (see `addon doctor`)."""
    from addon.serve import end_with_stdin  # noqa: PLC0415  # gunicorn is not needed elsewhere
    from addon.serve import serve as run_service  # noqa: PLC0415

    build(from_environment()).documents.close()  # a bad setting is one sentence here, not a crash per worker
    if exit_with_stdin:
        end_with_stdin()
    port = os.environ.get("PORT")
    run_service(bind or (f"0.0.0.0:{port}" if port else "127.0.0.1:8080"), workers, threads)


@main.command()
def doctor() -> None:
    """Check every setting and everything the service stands on, a sentence each."""
    from addon.doctor import examine, settings_lines  # noqa: PLC0415

    settings = from_environment()
    for line in settings_lines(settings):
        click.echo(line)
    click.echo()
    healthy = True
    for works, sentence in examine(settings):
        healthy = healthy and works
        click.echo(f"{'ok   ' if works else 'WRONG'}  {sentence}")
    sys.exit(0 if healthy else 1)


@main.group()
@click.option("--state", type=click.Path(path_type=Path), help="Folder of the SQLite store.")
@click.pass_context
def jobs(context: click.Context, state: Path | None) -> None:
    """Look at jobs, and retry, resume or cancel one."""
    settings = from_environment()
    context.obj = replace(settings, state=(state or settings.state).absolute())


@jobs.command("list")
@click.option("--limit", default=20, show_default=True, help="How many, newest first.")
@click.pass_obj
def jobs_list(settings: Settings, limit: int) -> None:
    """List the newest jobs."""
    documents = _documents(settings)
    try:
        found = list_jobs(documents, limit)
    finally:
        documents.close()
    if not found:
        click.echo("There are no jobs.")
    for status in found:
        click.echo(
            f"{status.job_id}  {status.created_at:%Y-%m-%d %H:%M}  {status.status:<9}  "
            f"{status.done:,}/{status.rows:,} rows, {status.failed:,} failed"
        )


@jobs.command("show")
@click.argument("job_id")
@click.pass_obj
def jobs_show(settings: Settings, job_id: str) -> None:
    """Show one job."""
    documents = _documents(settings)
    try:
        status = job_status(documents, job_id)
    finally:
        documents.close()
    if status is None:
        raise CommandRefused("no_such_job")
    _show(status)


def _show(status: JobStatus) -> None:
    words = Words("en")
    lines = {
        "job": status.job_id,
        "spreadsheet": f"{status.spreadsheet_id}, sheet {status.sheet_id}",
        "status": status.status,
        "rows": f"{status.done:,} of {status.rows:,} done, {status.failed:,} failed, {status.blank:,} blank",
        "calls": f"{status.called:,}, of them at most {status.repeated:,} repeated after a breakdown",
        "tokens": f"{status.input_tokens:,} in, {status.output_tokens:,} out ({status.model})",
        "created": f"{status.created_at:%Y-%m-%d %H:%M:%S} UTC",
        "updated": f"{status.updated_at:%Y-%m-%d %H:%M:%S} UTC",
        "results": status.results_link or "-",
    }
    if status.reason:
        lines["to do"] = words.coded("reason", status.reason)
    for name, value in lines.items():
        click.echo(f"{name:<12} {value}")
    for group in status.failures:
        rows = ", ".join(map(str, group.rows))
        sentence = words.coded("failure", group.error_class)
        click.echo(f"{'failed':<12} {group.count:,} (rows {rows}): {sentence}")


@jobs.command("retry")
@click.argument("job_id")
@click.option("--class", "error_class", help="Only rows of this failure class.")
@click.pass_obj
def jobs_retry(settings: Settings, job_id: str, error_class: str | None) -> None:
    """Work on a job's failed rows again."""
    services = build(settings)
    retry(services.documents, services.tasks, job_id, error_class)
    _done(services, job_id)


@jobs.command("resume")
@click.argument("job_id")
@click.pass_obj
def jobs_resume(settings: Settings, job_id: str) -> None:
    """Let a paused job go on."""
    services = build(settings)
    resume(services.documents, services.tasks, job_id)
    _done(services, job_id)


@jobs.command("cancel")
@click.argument("job_id")
@click.pass_obj
def jobs_cancel(settings: Settings, job_id: str) -> None:
    """Cancel a job; its finished rows stay."""
    documents = _documents(settings)
    try:
        cancel(documents, job_id)
    finally:
        documents.close()
    click.echo("Cancelled. Finished rows stay.")


def _done(services: Services, job_id: str) -> None:
    status = job_status(services.documents, job_id)
    services.documents.close()
    click.echo(f"The job is {status.status if status else 'gone'}.")


def _documents(settings: Settings) -> Documents:
    if settings.store == "sqlite" and not (settings.state / "store.sqlite").exists():
        raise SettingsError(f"There is no store in {settings.state}: name the folder with --state.")
    return open_documents(settings)
