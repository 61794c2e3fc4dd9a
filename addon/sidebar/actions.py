"""What each route does for an authorised caller: prove access, call one thing, build the answer."""

import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from addon.google.errors import GrantMissing
from addon.google.sheets import SpreadsheetInfo
from addon.jobs.plan import StartRefused
from addon.jobs.start import start
from addon.jobs.status import JobStatus, job_status, latest_status
from addon.rows.table import Column, ColumnsGone, SheetGone, read_header
from addon.sidebar import answers
from addon.sidebar.cards import help_card
from addon.sidebar.run_card import RunView, Tab, run_card
from addon.sidebar.run_form import RunForm, first_form, read_form, with_columns
from addon.sidebar.status_card import Rights, status_card
from addon.sidebar.visit import NoSpreadsheet, Visit, may_command, prove
from addon.sidebar.widgets import Action, Json


def _home(visit: Visit) -> Json:
    return answers.shown(current(visit, prove(visit)))


def _file_granted(visit: Visit) -> Json:
    if not visit.event.spreadsheet_id:
        return answers.to_root()
    return _home(visit)


def _connect(visit: Visit) -> Json:
    # Google shows no dialog for a file that is granted already, so the button would seem dead.
    try:
        info = prove(visit)
    except (NoSpreadsheet, GrantMissing):
        return answers.ASK_FOR_FILE
    return answers.updated(current(visit, info))


def _choose(visit: Visit) -> Json:
    return answers.updated(_run_card(visit, prove(visit), read_form(visit.event)))


def _run(visit: Visit) -> Json:
    info, form = prove(visit), read_form(visit.event)
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
    return answers.updated(job_card(visit, info, started.job_id), said)


def _refused(
    visit: Visit, info: SpreadsheetInfo, form: RunForm, code: str, names: Sequence[str] = ()
) -> Json:
    notice = visit.words.coded("start", code, names=visit.words.titles(names))
    return answers.updated(_run_card(visit, info, form, notice), notice)


def _refresh(visit: Visit) -> Json:
    return answers.updated(current(visit, prove(visit)))


def _new(visit: Visit) -> Json:
    return answers.updated(_run_card(visit, prove(visit), first_form(visit.words)))


def _help(visit: Visit) -> Json:
    return answers.pushed(help_card(visit.words))


HANDLERS: Mapping[Action, Callable[[Visit], Json]] = {
    "home": _home,
    "file-granted": _file_granted,
    "connect": _connect,
    "choose": _choose,
    "run": _run,
    "refresh": _refresh,
    "new": _new,
    "help": _help,
}


def current(visit: Visit, info: SpreadsheetInfo, notice: str = "") -> Json:
    """Build the card for how things stand: the active or last run, else the form to start one."""
    status = latest_status(visit.services.documents, visit.event.spreadsheet_id)
    if status is None:
        return _run_card(visit, info, first_form(visit.words), notice)
    return status_card(visit.words, visit.links, info.title, status, rights(visit, status), notice)


def rights(visit: Visit, status: JobStatus) -> Rights:
    """What the caller may do about a job of a spreadsheet they may open."""
    return Rights(commands=may_command(visit.caller, status.owner), admin=visit.caller.admin)


def job_card(visit: Visit, info: SpreadsheetInfo, job_id: str) -> Json:
    """Build the card of one job; it is not there any more only if somebody deleted it this moment."""
    status = job_status(visit.services.documents, job_id)
    if status is None:
        return current(visit, info)
    return status_card(visit.words, visit.links, info.title, status, rights(visit, status))


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
    view = RunView(
        info.title, tabs, columns, form, secrets.token_urlsafe(16), notice, admin=visit.caller.admin
    )
    return run_card(visit.words, visit.links, view)
