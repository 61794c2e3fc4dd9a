"""What people do to a job from its card: owners to their own, administrators to any."""

import logging
from collections.abc import Callable, Mapping

from addon.jobs.commands import CommandRefused, cancel, pause, resume, retry
from addon.jobs.status import JobStatus, job_status
from addon.sidebar import answers
from addon.sidebar.actions import current, job_card
from addon.sidebar.admin import admin_view
from addon.sidebar.visit import Visit, may_command, prove
from addon.sidebar.widgets import FROM_ADMIN, Action, Json

log = logging.getLogger(__name__)

Command = Callable[[Visit, str], None]


def _pause(visit: Visit, job_id: str) -> None:
    pause(visit.services.documents, job_id)


def _resume(visit: Visit, job_id: str) -> None:
    resume(visit.services.documents, visit.services.tasks, job_id)


def _cancel(visit: Visit, job_id: str) -> None:
    cancel(visit.services.documents, job_id)


def _retry(visit: Visit, job_id: str) -> None:
    error_class = visit.event.identifier("errorClass") or None
    retry(visit.services.documents, visit.services.tasks, job_id, error_class)


_COMMANDS: Mapping[Action, tuple[Command, str]] = {
    "pause": (_pause, "said.paused"),
    "resume": (_resume, "said.resumed"),
    "cancel": (_cancel, "said.cancelled"),
    "retry": (_retry, "said.retrying"),
}
_NEEDS_ACCESS = frozenset({"resume", "retry"})
"""Commands after which the worker needs the spreadsheet again: the access may be gone, or given back."""


def _carry_out(visit: Visit, action: Action) -> Json:
    """Carry out a command on a job of the open spreadsheet."""
    if visit.caller.admin and visit.event.parameters.get(FROM_ADMIN):
        return _as_admin(visit, action)
    info = prove(visit)
    status = _status(visit)
    # A job of another spreadsheet is treated as one that does not exist: the caller proved no access to it.
    if status is None or status.spreadsheet_id != visit.event.spreadsheet_id:
        return answers.updated(current(visit, info, visit.words.coded("command", "no_such_job")))
    if not may_command(visit.caller, status.owner):
        notice = visit.words.coded("command", "not_yours")
        return answers.updated(current(visit, info, notice), notice)
    if action in _NEEDS_ACCESS:
        visit.services.access.give(visit.user, status.spreadsheet_id)
    refused = _run(visit, action, status)
    if refused:
        return answers.updated(current(visit, info, refused), refused)
    return answers.updated(job_card(visit, info, status.job_id), visit.words(_COMMANDS[action][1]))


def _as_admin(visit: Visit, action: Action) -> Json:
    """Carry out an administrator's command on any job; their token need not open its spreadsheet."""
    status = _status(visit)
    if status is None:
        return answers.updated(admin_view(visit, visit.words.coded("command", "no_such_job")))
    said = _run(visit, action, status) or visit.words(_COMMANDS[action][1])
    return answers.updated(admin_view(visit, said), said)


def _run(visit: Visit, action: Action, status: JobStatus) -> str:
    """Why the command was refused; empty where it was carried out."""
    try:
        _COMMANDS[action][0](visit, status.job_id)
    except CommandRefused as refused:
        return visit.words.coded("command", refused.code)
    log.info("job %s: %s by %s", status.job_id, action, visit.caller.user_id)
    return ""


def _status(visit: Visit) -> JobStatus | None:
    job_id = visit.event.identifier("jobId")
    return job_status(visit.services.documents, job_id) if job_id else None


def _handler(action: Action) -> Callable[[Visit], Json]:
    return lambda visit: _carry_out(visit, action)


HANDLERS: Mapping[Action, Callable[[Visit], Json]] = {action: _handler(action) for action in _COMMANDS}
