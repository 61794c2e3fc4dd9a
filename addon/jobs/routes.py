"""The queue's and the scheduler's way in: parse, call one thing, map the answer."""

from collections.abc import Mapping
from typing import Any

from flask import Blueprint, Response, jsonify, request
from flask.typing import ResponseReturnValue
from werkzeug.exceptions import HTTPException

from addon.google.errors import GoogleError
from addon.google.identity import LocalIdentity, Unauthorised
from addon.google.tasks import Tasks
from addon.jobs import events
from addon.jobs.link import LinkMessage, run_link
from addon.jobs.sweep import sweep
from addon.jobs.tools import Tools
from addon.store.documents import StoreError


def blueprint(tools: Tools, tasks: Tasks, identity: LocalIdentity) -> Blueprint:
    """Routes under ``/tasks``; every caller must prove to be the queue or the scheduler."""
    routes = Blueprint("tasks", __name__)

    @routes.before_request
    def check_caller() -> tuple[Response, int] | None:
        try:
            identity.task_caller(request.headers)
        except Unauthorised as error:
            events.caller_refused("tasks", error.reason)
            return _error(401, "unauthorised", "This address is for the task queue only.")
        return None

    @routes.post("/link")
    def link() -> tuple[Response, int]:
        try:
            message = _message(request.get_json(silent=True))
        except ValueError as error:
            events.task_dropped(str(error))
            return jsonify({"outcome": f"dropped: {error}"}), 200  # anything else would bring it back
        answer = run_link(tools, tasks, message)
        return jsonify({"outcome": answer.outcome}), answer.status

    @routes.post("/sweep")
    def run_sweep() -> tuple[Response, int]:
        return jsonify({"enqueued": sweep(tools.documents, tasks)}), 200

    @routes.errorhandler(StoreError)
    def store_error(error: StoreError) -> tuple[Response, int]:
        events.store_failed(error, request.path)
        return _error(503, "store", "The store did not answer; the task will come back.")

    @routes.errorhandler(GoogleError)
    def google_error(error: GoogleError) -> tuple[Response, int]:
        events.google_failed(error, request.path)
        return _error(503, "google", "Google did not answer; the task will come back.")

    @routes.errorhandler(Exception)
    def unexpected(error: Exception) -> ResponseReturnValue:
        """Log what nobody foresaw by its class and place alone: its message may quote a row."""
        if isinstance(error, HTTPException):
            return error
        events.unexpected(error, request.path)
        return _error(500, "unexpected", "Something unforeseen happened; the task will come back.")

    return routes


def _message(body: object) -> LinkMessage:
    if not isinstance(body, Mapping):
        raise ValueError("the body is not a JSON object")
    numbers: dict[str, Any] = {name: body.get(name) for name in ("shard", "epoch", "step")}
    job = body.get("job")
    if not isinstance(job, str) or not job.isalnum():
        raise ValueError("the field job is not an id")
    for name, value in numbers.items():
        if not isinstance(value, int) or isinstance(value, bool) or value < 0:
            raise ValueError(f"the field {name} is not a count")
    return LinkMessage(job, **numbers)


def _error(status: int, code: str, message: str) -> tuple[Response, int]:
    return jsonify({"error": {"code": code, "message": message}}), status
