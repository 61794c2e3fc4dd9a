"""The queue's and the scheduler's calls: who may make them, and what becomes of what fails."""

import re
from collections.abc import Callable, Mapping

from flask import Blueprint, Response, request
from werkzeug.exceptions import HTTPException

from addon.google.certificates import CertificatesUnavailable
from addon.google.errors import GoogleError
from addon.google.id_tokens import Unauthorised
from addon.google.identity import Automaton, Identity
from addon.jobs import events
from addon.refusals import http_refusal, refusal
from addon.store.documents import StoreError

MAX_BODY = 16 * 1024
"""Bytes of a task's body: ids and counters."""

MOST_COUNTED = 2**31 - 1
"""A shard, epoch or step is far below."""

_SUBJECT = re.compile(r"[A-Za-z0-9_-]{1,128}")

Answer = tuple[Response, int]
Guard = Callable[[], Answer | None]


def guard(identity: Identity, caller: Automaton) -> Guard:
    """Refuse whoever does not prove to be that caller."""

    def check() -> Answer | None:
        try:
            identity.check_automaton(caller, request.headers)
        except Unauthorised as error:
            events.caller_refused(caller, error.reason)
            return refusal(401, "unauthorised", "The call does not prove to come from where it should.")
        return None

    return check


def answer_errors(routes: Blueprint) -> None:
    """Answer what fails so that the task comes back."""

    @routes.errorhandler(CertificatesUnavailable)
    def no_certificates(error: CertificatesUnavailable) -> Answer:
        events.certificates_unavailable(error, request.path)
        return refusal(503, "certificates", "Callers cannot be told apart at the moment.")

    @routes.errorhandler(StoreError)
    def store_error(error: StoreError) -> Answer:
        events.store_failed(error, request.path)
        return refusal(503, "store", "The store did not answer; the task will come back.")

    @routes.errorhandler(GoogleError)
    def google_error(error: GoogleError) -> Answer:
        events.google_failed(error, request.path)
        return refusal(503, "google", "Google did not answer; the task will come back.")

    routes.register_error_handler(HTTPException, http_refusal)

    @routes.errorhandler(Exception)
    def unexpected(error: Exception) -> Answer:
        """Log what nobody foresaw by its class and place alone: its message may quote a row."""
        events.unexpected(error, request.path)
        return refusal(500, "unexpected", "Something unforeseen happened; the task will come back.")


def round_message(body: object) -> tuple[str, int]:
    """Subject and step of a round's task.

    Raises
    ------
    ValueError
        The body is not that of such a task; no retry can mend it.
    """
    if not isinstance(body, Mapping):
        raise ValueError("the body is not a JSON object")
    subject, step = body.get("subject"), body.get("step")
    if not isinstance(subject, str) or not _SUBJECT.fullmatch(subject):
        raise ValueError("the field subject is not an id")
    if not isinstance(step, int) or isinstance(step, bool) or not 0 <= step <= MOST_COUNTED:
        raise ValueError("the field step is not a count")
    return subject, step
