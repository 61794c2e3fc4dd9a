"""The queue's and the scheduler's way in: parse, call one thing, map the answer."""

import re
from collections.abc import Mapping
from typing import Any

from flask import Blueprint, Response, jsonify, request

from addon.automata import MAX_BODY, MOST_COUNTED, Guard, answer_errors, guard
from addon.bodies import json_body
from addon.google.identity import Identity
from addon.google.tasks import Tasks
from addon.jobs import events
from addon.jobs.chain import LINK_PATH, LinkMessage
from addon.jobs.sweep import sweep
from addon.jobs.tools import Tools

_ID = re.compile(r"[A-Za-z0-9]{1,64}")


def blueprint(tools: Tools, tasks: Tasks, identity: Identity) -> Blueprint:
    """The routes of the queue and of the scheduler; every caller must prove to be the one or the other."""
    routes = Blueprint("automata", __name__)
    _tasks_routes(routes, tools, tasks, guard(identity, "tasks"))
    _schedule_routes(routes, tools, tasks, guard(identity, "schedule"))
    answer_errors(routes)
    return routes


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
