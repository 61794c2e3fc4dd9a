"""The command line: `addon`, also `python -m addon`."""

import errno
import io
import json
import os
import sys
import threading
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import NoReturn

import click

from addon import __version__, cli_text
from addon.cli_jobs import jobs
from addon.environment import examine_environment, from_environment
from addon.google.errors import GoogleError
from addon.jobs.commands import CommandRefused
from addon.jobs.records import MODES, Mode
from addon.services import check
from addon.settings import SettingsError
from addon.store.documents import StoreError

USAGE, INTERRUPTED = 2, 130
DEFAULT_INSTRUCTIONS = "Summarise this in one or two short sentences."


class _Group(click.Group):
    """Turns what people can mend into one sentence, instead of a stack trace."""

    def invoke(self, ctx: click.Context) -> object:
        """Run a command; click calls this."""
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, io.TextIOWrapper):
                stream.reconfigure(errors="backslashreplace")  # a terminal may not know every character
        try:
            return super().invoke(ctx)
        except CommandRefused as error:
            _fail(cli_text.command_refused(error.code))
        except (SettingsError, StoreError, GoogleError) as error:
            _fail(str(error))
        except KeyboardInterrupt:
            _leave(INTERRUPTED)
        except OSError as error:
            if error.errno == errno.EPIPE:
                raise  # whoever read our output has seen enough: click ends quietly
            where = f"{error.filename}: " if error.filename else ""
            _fail(f"{where}{error.strerror or error}. Nothing that was finished is lost.")


def _fail(sentence: str) -> NoReturn:
    click.echo(sentence, err=True)
    _leave(USAGE)


def _leave(status: int) -> NoReturn:
    """End with an exit status, at once: Python would wait for threads that may be calling a model."""
    if threading.active_count() == 1:
        sys.exit(status)
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


@click.group(cls=_Group, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, package_name="sheet-summaries")
def main() -> None:
    """Have a language model summarise every row of a sheet, durably.

    Kill it at any moment and start it again: it goes on, and makes no call twice whose answer it has kept.
    To see it, try `addon demo`; to use it on a file, `addon run`.
    """


@main.command()
@click.option("--port", type=click.IntRange(1, 65534), metavar="PORT", default=8765, show_default=True,
              help="Port of the page on this machine; the service behind it takes the next one.")  # fmt: skip
@click.option("--file", "workbook", type=click.Path(path_type=Path), metavar="FILE",
              help="Show this CSV file instead of the sample.")  # fmt: skip
@click.option("--state", type=click.Path(path_type=Path), metavar="FOLDER", default=Path(".state/demo"),
              show_default=True, help="Folder that keeps everything; delete it to begin anew.")  # fmt: skip
@click.option("--lang", type=click.Choice(["en", "ja"]), default=None,
              help="Language of the sidebar.  [default: the browser's]")  # fmt: skip
@click.option("--browser/--no-browser", default=True, help="Whether to open the page in a browser.")
def demo(port: int, workbook: Path | None, state: Path, lang: str | None, browser: bool) -> None:
    """Try it in a browser: a sheet beside the sidebar.

    Everything runs on this machine, with no account, no key and no network. Ctrl-C ends it.
    """
    from addon.demo import DemoFailed  # noqa: PLC0415  # the simulator is not needed elsewhere
    from addon.demo import demo as run_demo  # noqa: PLC0415
    from addon.simulator.state import StateInUse  # noqa: PLC0415

    try:
        run_demo(state.absolute(), port, workbook, browser=browser, language=lang or "")
    except (DemoFailed, StateInUse) as error:
        _fail(str(error))


@main.command("run")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--source", multiple=True, required=True, metavar="TITLE",
              help="Column to read, by its title in the first line. For several give it again, or put "
                   "commas between the titles.")  # fmt: skip
@click.option("--output", required=True, metavar="TITLE",
              help="Column for the summaries; made if there is none.")  # fmt: skip
@click.option("--instructions", default=DEFAULT_INSTRUCTIONS, metavar="TEXT", show_default=True,
              help="What to write about each row; other words make every row new.")  # fmt: skip
@click.option("--rows", "mode", type=click.Choice(MODES), default="new_or_changed", show_default=True,
              help="Which rows: those new or changed since the last run, those with an empty output "
                   "cell, or all of them again.")  # fmt: skip
@click.option("--results", type=click.Path(path_type=Path), metavar="FOLDER",
              help="Also copy the results files of this run into this folder.")  # fmt: skip
@click.option("--state", type=click.Path(path_type=Path), metavar="FOLDER",
              help="Folder that remembers what is done; keep it.  "
                   "[default: .state, or ADDON_STATE]")  # fmt: skip
@click.option("--quiet", is_flag=True, help="Show no progress, only the result and what failed.")
def run_file(
    file: Path,
    source: tuple[str, ...],
    output: str,
    instructions: str,
    mode: Mode,
    results: Path | None,
    state: Path | None,
    quiet: bool,
) -> None:
    """Summarise the rows of a CSV file, and write the summaries into it.

    FILE is UTF-8 text with column titles in its first line. It is only replaced as a whole, at the end.
    Run the same command again after Ctrl-C or a crash, and it goes on; after edits, and it calls the model
    only for rows that are new or changed.

    \b
    Exit status:
      0    every row has its summary, or no text
      2    something to mend first; the sentence says what
      3    done, but some rows failed; they are listed
      4    paused or cancelled: the sentence says what to do
      130  stopped by Ctrl-C
    """
    from addon.run import RunOptions, run  # noqa: PLC0415
    from addon.run_watch import RunStopped  # noqa: PLC0415
    from addon.simulator.state import StateInUse  # noqa: PLC0415
    from addon.simulator.workbooks import WorkbookError  # noqa: PLC0415

    settings = from_environment()
    settings = replace(settings, state=(state or settings.state).absolute())
    options = RunOptions(file, source, output, instructions, mode, results, quiet)
    try:
        status = run(settings, options)
    except (RunStopped, StateInUse, WorkbookError) as error:
        _fail(str(error))
    _leave(status)


@main.command()
@click.option("--bind", default=None, metavar="HOST:PORT",
              help="Where to listen.  "
                   "[default: 0.0.0.0:$PORT where PORT is set, else 127.0.0.1:8080]")  # fmt: skip
@click.option(
    "--workers", type=click.IntRange(1), metavar="N", default=1, show_default=True, help="Processes."
)
@click.option("--threads", type=click.IntRange(1), metavar="N", default=16, show_default=True,
              help="Requests each process takes at a time.")  # fmt: skip
@click.option("--exit-with-stdin", is_flag=True, hidden=True, help="End when standard input closes.")
def serve(bind: str | None, workers: int, threads: int, exit_with_stdin: bool) -> None:
    """Serve the sidebar and the task queue.

    The environment configures it: `addon doctor` lists and checks every setting.
    """
    from addon.serve import end_with_stdin  # noqa: PLC0415  # gunicorn is not needed elsewhere
    from addon.serve import serve as run_service  # noqa: PLC0415

    settings = from_environment()
    check(settings)  # a bad setting is one sentence here, not a crash per worker
    if exit_with_stdin:
        end_with_stdin()
    port = os.environ.get("PORT")
    run_service(bind or (f"0.0.0.0:{port}" if port else "127.0.0.1:8080"), workers, threads, settings)


@main.command()
def doctor() -> None:
    """List every setting, and check what works on this machine.

    Exit status: 0 if nothing is wrong, 1 if something is.
    """
    from addon.doctor import WRONG, examine, settings_lines  # noqa: PLC0415

    settings, problems = examine_environment()
    for line in settings_lines(settings):
        click.echo(line)
    click.echo()
    worst = 0
    for verdict, sentence in chain(((WRONG, problem) for problem in problems), examine(settings)):
        worst = max(worst, verdict == WRONG)
        click.echo(f"{verdict:<5}  {sentence}")
    sys.exit(worst)


@main.command()
@click.option("--base-url", required=True, metavar="URL",
              help="Public URL of the service, the same as its ADDON_BASE_URL.")  # fmt: skip
@click.option("--name", default="", metavar="NAME",
              help="What the add-on is called.  [default: the product's name]")  # fmt: skip
@click.option("--lang", type=click.Choice(["en", "ja"]), default="en", show_default=True,
              help="Language of the add-on's menu, which is one for everybody.")  # fmt: skip
def manifest(base_url: str, name: str, lang: str) -> None:
    """Print the deployment descriptor for Google Workspace.

    Save it, and hand the file to `gcloud workspace-add-ons deployments create`.
    """
    from addon.manifest import ManifestError, read_template, render  # noqa: PLC0415
    from addon.sidebar.text import Words  # noqa: PLC0415

    try:
        made = render(read_template(), base_url, Words(lang), name)
    except ManifestError as error:
        _fail(str(error))
    click.echo(json.dumps(made, ensure_ascii=False, indent=2))


main.add_command(jobs)
