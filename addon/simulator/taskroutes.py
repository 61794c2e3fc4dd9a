"""Cloud Tasks v2 over HTTP."""

import time

from flask import Response, g, jsonify, request
from google.cloud.tasks_v2 import types as cloud
from google.protobuf import json_format

from addon.simulator.errors import invalid
from addon.simulator.gate import route
from addon.simulator.taskrules import check_queue, check_task_name, read_task
from addon.simulator.tasks import TaskQueue

_QUEUE = "/v2/<path:queue>"
_TASK = "/v2/<path:queue>/tasks/<identifier>"
_INTEGERS = "json;enum-encoding=int"


class Tasks:
    """The methods of Cloud Tasks that the product uses, and those its tests drive a queue with."""

    def __init__(self, queue: TaskQueue) -> None:
        self._queue = queue

    @route("POST", f"{_QUEUE}/tasks", "tasks.create")
    def create(self, queue: str) -> Response:
        _parameters()
        task = read_task(check_queue(queue), g.body, time.time())
        self._queue.add(task)
        return _task(task)

    @route("GET", f"{_QUEUE}/tasks", "tasks.read")
    def find(self, queue: str) -> Response:
        _parameters()
        prefix = f"{check_queue(queue)}/tasks/"
        names = [name for name in self._queue.pending() if name.startswith(prefix)]
        return jsonify({"tasks": [_as_json(self._queue.get(name)) for name in names]})

    @route("GET", _TASK, "tasks.read")
    def get(self, queue: str, identifier: str) -> Response:
        _parameters()
        return _task(self._queue.get(check_task_name(f"{queue}/tasks/{identifier}")))

    @route("DELETE", _TASK, "tasks.read")
    def delete(self, queue: str, identifier: str) -> Response:
        _parameters()
        self._queue.delete(check_task_name(f"{queue}/tasks/{identifier}"))
        return jsonify({})

    @route("POST", f"{_QUEUE}:<any(purge, pause, resume):action>", "tasks.read")
    def command(self, queue: str, action: str) -> Response:
        _parameters()
        check_queue(queue)
        if action == "purge":
            self._queue.purge(queue)
        elif action == "pause":
            self._queue.pause()
        else:
            self._queue.resume()
        state = "PAUSED" if action == "pause" else "RUNNING"
        return jsonify({"name": queue, "state": state})


def _parameters() -> None:
    for name, value in request.args.items():
        if (name, value) not in {("$alt", _INTEGERS), ("$alt", "json"), ("alt", "json")}:
            raise invalid(
                f'Invalid JSON payload received. Unknown name "{name}": Cannot bind query parameter.'
            )


def _task(task: cloud.Task) -> Response:
    return jsonify(_as_json(task))


def _as_json(task: cloud.Task) -> object:
    shown = cloud.Task(task)
    shown.http_request.body = b""  # the basic view leaves the payload out
    integers = request.args.get("$alt") == _INTEGERS
    return json_format.MessageToDict(cloud.Task.pb(shown), use_integers_for_enums=integers)
