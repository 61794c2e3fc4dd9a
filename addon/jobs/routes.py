"""The queue's and the scheduler's way in: parse, call one thing, map the answer."""

import re
from collections.abc import Callable, Mapping
from typing import Any

from flask import Blueprint, Response, jsonify, request
from werkzeug.exceptions import HTTPException

from addon.bodies import json_body
from addon.google.certificates import CertificatesUnavailable
from addon.google.errors import GoogleError
from addon.google.id_tokens import Unauthorised
from addon.google.identity import Automaton, Identity
from addon.google.tasks import Tasks
from addon.jobs import events
from addon.jobs.chain import LINK_PATH, LinkMessage
from addon.jobs.sweep import sweep
from addon.jobs.tools import Tools
from addon.refusals import http_refusal, refusal
from addon.store.documents import StoreError

MAX_BODY = 16 * 1024
"""Bytes of a task's body: ids and counters."""

MOST_COUNTED = 2**31 - 1
"""A shard, epoch or step is far below."""

_ID = re.compile(r"[A-Za-z0-9]{1,64}")

Guard = Callable[[], "tuple[Response, int] | None"]


def blueprint(tools: Tools, tasks: Tasks, identity: Identity) -> Blueprint:
    """The routes of the queue and of the scheduler; every caller must prove to be the one or the other."""
    routes = Blueprint("automata", __name__)
    _tasks_routes(routes, tools, tasks, _guard(identity, "tasks"))
    _schedule_routes(routes, tools, tasks, _guard(identity, "schedule"))
    _error_handlers(routes)
    return routes


def _guard(identity: Identity, caller: Automaton) -> Guard:
    def check() -> tuple[Response, int] | None:
        try:
            identity.check_automaton(caller, request.headers)
        except Unauthorised as error:
            events.caller_refused(caller, error.reason)
            return refusal(401, "unauthorised", "The call does not prove to come from where it should.")
        return None

    return check


def _tasks_routes(routes: Blueprint, tools: Tools, tasks: Tasks, guard: Guard) -> None:
    @routes.post(LINK_PATH)
    def link() -> tuple[Response, int]:
        if (refusal := guard()) is not None:
            return refusal
        try:
            message = _message(json_body(request, MAX_BODY))
        except ValueError as error:
            events.task_dropped(str(error))
            return jsonify({"outcome": f"dropped: {error}"}), 200  # anything else would bring it back
        from addon.jobs.link import run_link  # noqa: PLC0415  # a card must not wait for the worker's code

        answer = run_link(tools, tasks, message)
        return jsonify({"outcome": answer.outcome}), answer.status


def _schedule_routes(routes: Blueprint, tools: Tools, tasks: Tasks, guard: Guard) -> None:
    @routes.post("/schedule/sweep")
    def run_sweep() -> tuple[Response, int]:
        return guard() or (jsonify({"enqueued": sweep(tools.documents, tasks, tools.access)}), 200)


def _error_handlers(routes: Blueprint) -> None:
    @routes.errorhandler(CertificatesUnavailable)
    def no_certificates(error: CertificatesUnavailable) -> tuple[Response, int]:
        events.certificates_unavailable(error, request.path)
        return refusal(503, "certificates", "Callers cannot be told apart at the moment.")

    @routes.errorhandler(StoreError)
    def store_error(error: StoreError) -> tuple[Response, int]:
        events.store_failed(error, request.path)
        return refusal(503, "store", "The store did not answer; the task will come back.")

    @routes.errorhandler(GoogleError)
    def google_error(error: GoogleError) -> tuple[Response, int]:
        events.google_failed(error, request.path)
        return refusal(503, "google", "Google did not answer; the task will come back.")

    routes.register_error_handler(HTTPException, http_refusal)

    @routes.errorhandler(Exception)
    def unexpected(error: Exception) -> tuple[Response, int]:
        """Log what nobody foresaw by its class and place alone: its message may quote a row."""
        events.unexpected(error, request.path)
        return refusal(500, "unexpected", "Something unforeseen happened; the task will come back.")


def _message(body: object) -> LinkMessage:
    if not isinstance(body, Mapping):
        raise ValueError("the body is not a JSON object")
    numbers: dict[str, Any] = {name: body.get(name) for name in ("shard", "epoch", "step")}
    job = body.get("job")
    if not isinstance(job, str) or not _ID.fullmatch(job):
        raise ValueError("the field job is not an id")
    for name, value in numbers.items():
        if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= MOST_COUNTED:
            raise ValueError(f"the field {name} is not a count")
    return LinkMessage(job, **numbers)
