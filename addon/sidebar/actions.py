"""What each route does for an authorised caller: prove access, call one thing, build the answer."""

import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from addon.google.access import UserAccess
from addon.google.errors import GrantMissing
from addon.google.sheets import SpreadsheetInfo
from addon.jobs import events
from addon.jobs.commands import CommandRefused, cancel, pause, resume, retry
from addon.jobs.plan import StartRefused
from addon.jobs.start import start
from addon.jobs.status import job_status, latest_status
from addon.rows.table import Column, ColumnsGone, SheetGone, read_header
from addon.services import Services
from addon.sidebar import answers
from addon.sidebar.cards import help_card
from addon.sidebar.events import Event
from addon.sidebar.run_card import RunView, Tab, run_card
from addon.sidebar.run_form import RunForm, first_form, read_form, with_columns
from addon.sidebar.status_card import status_card
from addon.sidebar.text import Words
from addon.sidebar.widgets import Action, Json, Links

PROOF_SECONDS = 10.0
"""Longest wait for the read that proves access; Google gives a sidebar call about 30 s in all."""


@dataclass(frozen=True, slots=True)
class Visit:
    """One authorised call.

    Parameters
    ----------
    user
        Clients with the caller's own token. Whatever a card's parameters claim, only what this token may
        open is read or acted on.
    """

    services: Services
    event: Event
    words: Words
    links: Links
    user: UserAccess


class NoSpreadsheet(Exception):
    """Google did not say which spreadsheet is open: the person has not granted the file yet."""


def _home(visit: Visit) -> Json:
    return answers.shown(_current(visit, _spreadsheet(visit)))


def _file_granted(visit: Visit) -> Json:
    if not visit.event.spreadsheet_id:
        return answers.to_root()
    return _home(visit)


def _connect(visit: Visit) -> Json:
    # Google shows no dialog for a file that is granted already, so the button would seem dead.
    try:
        info = _spreadsheet(visit)
    except (NoSpreadsheet, GrantMissing):
        return answers.ASK_FOR_FILE
    return answers.updated(_current(visit, info))


def _choose(visit: Visit) -> Json:
    return answers.updated(_run_card(visit, _spreadsheet(visit), read_form(visit.event)))


def _run(visit: Visit) -> Json:
    info, form = _spreadsheet(visit), read_form(visit.event)
    request_id = visit.event.identifier("requestId")
    if form.sheet_id is None or form.tab_changed or not request_id:
        return answers.updated(_run_card(visit, info, form, visit.words("run.tab_changed")))
    request = form.request(visit.event.spreadsheet_id, form.sheet_id, request_id)
    try:
        started = start(visit.services.desk, visit.user, request)
    except StartRefused as refused:
        return _refused(visit, info, form, refused.code, refused.names)
    except SheetGone:
        return _refused(visit, info, form, "no_such_sheet")
    except ColumnsGone as gone:
        return _refused(visit, info, form, "no_such_column", gone.titles)
    said = visit.words("said.started" if started.created else "said.already")
    return answers.updated(_job_card(visit, info, started.job_id), said)


def _refused(
    visit: Visit, info: SpreadsheetInfo, form: RunForm, code: str, names: Sequence[str] = ()
) -> Json:
    events.start_refused(code)
    notice = visit.words.coded("start", code, names=visit.words.titles(names))
    return answers.updated(_run_card(visit, info, form, notice), notice)


def _refresh(visit: Visit) -> Json:
    return answers.updated(_current(visit, _spreadsheet(visit)))


def _new(visit: Visit) -> Json:
    return answers.updated(_run_card(visit, _spreadsheet(visit), first_form(visit.words)))


def _help(visit: Visit) -> Json:
    return answers.pushed(help_card(visit.words))


def _pause(visit: Visit) -> Json:
    return _command(visit, lambda job_id: pause(visit.services.documents, job_id), "said.paused")


def _resume(visit: Visit) -> Json:
    services = visit.services
    return _command(visit, lambda job_id: resume(services.documents, services.tasks, job_id), "said.resumed")


def _cancel(visit: Visit) -> Json:
    return _command(visit, lambda job_id: cancel(visit.services.documents, job_id), "said.cancelled")


def _retry(visit: Visit) -> Json:
    services, error_class = visit.services, visit.event.identifier("errorClass") or None
    return _command(
        visit,
        lambda job_id: retry(services.documents, services.tasks, job_id, error_class),
        "said.retrying",
    )


def _command(visit: Visit, command: Callable[[str], None], said: str) -> Json:
    info = _spreadsheet(visit)
    job_id = visit.event.identifier("jobId")
    status = job_status(visit.services.documents, job_id) if job_id else None
    # A job of another spreadsheet is treated as one that does not exist: the caller proved no access to it.
    if status is None or status.spreadsheet_id != visit.event.spreadsheet_id:
        return answers.updated(_current(visit, info, visit.words.coded("command", "no_such_job")))
    try:
        command(job_id)
    except CommandRefused as refused:
        notice = visit.words.coded("command", refused.code)
        return answers.updated(_current(visit, info, notice), notice)
    return answers.updated(_job_card(visit, info, job_id), visit.words(said))


HANDLERS: Mapping[Action, Callable[[Visit], Json]] = {
    "home": _home,
    "file-granted": _file_granted,
    "connect": _connect,
    "choose": _choose,
    "run": _run,
    "refresh": _refresh,
    "pause": _pause,
    "resume": _resume,
    "cancel": _cancel,
    "retry": _retry,
    "new": _new,
    "help": _help,
}


def _spreadsheet(visit: Visit) -> SpreadsheetInfo:
    """Prove with a cheap read that the caller may open the spreadsheet, before anything of it is shown."""
    if not visit.event.spreadsheet_id:
        raise NoSpreadsheet
    return visit.user.sheets.info(visit.event.spreadsheet_id, deadline=PROOF_SECONDS)


def _current(visit: Visit, info: SpreadsheetInfo, notice: str = "") -> Json:
    """Build the card for how things stand: the active or last run, else the form to start one."""
    status = latest_status(visit.services.documents, visit.event.spreadsheet_id)
    if status is None:
        return _run_card(visit, info, first_form(visit.words), notice)
    return status_card(visit.words, visit.links, info.title, status, notice)


def _job_card(visit: Visit, info: SpreadsheetInfo, job_id: str) -> Json:
    """Build the card of one job; it is not there any more only if somebody deleted it this moment."""
    status = job_status(visit.services.documents, job_id)
    if status is None:
        return _current(visit, info)
    return status_card(visit.words, visit.links, info.title, status)


def _run_card(visit: Visit, info: SpreadsheetInfo, form: RunForm, notice: str = "") -> Json:
    """Build the form for the chosen tab, or for the first one if that is gone or none was chosen."""
    tabs = [Tab(sheet.sheet_id, sheet.title) for sheet in info.sheets if sheet.rows and not sheet.hidden]
    known = {tab.sheet_id for tab in tabs}
    sheet_id = form.sheet_id if form.sheet_id in known else next((tab.sheet_id for tab in tabs), None)
    columns: tuple[Column, ...] = ()
    if sheet_id is None:
        form = replace(form, sheet_id=None)
    else:
        header = read_header(visit.user.sheets, visit.event.spreadsheet_id, sheet_id)
        columns = tuple(column for column in header if column.titled)
        form = with_columns(form, sheet_id, columns)
    view = RunView(info.title, tabs, columns, form, secrets.token_urlsafe(16), notice)
    return run_card(visit.words, visit.links, view)
