"""The simulator's own routes, for tests and tools in other processes; they need the operator token."""

from typing import Any, cast

from flask import Response, jsonify, request

from addon.simulator.errors import Refusal, invalid
from addon.simulator.faults import Action, Counts, Fault, Faults, Kind
from addon.simulator.gate import route
from addon.simulator.identity import Identity, same
from addon.simulator.tasks import TaskQueue


class Control:
    """Counters, faults and the queue."""

    def __init__(self, identity: Identity, faults: Faults, counts: Counts, queue: TaskQueue) -> None:
        self._identity = identity
        self._faults = faults
        self._counts = counts
        self._queue = queue

    def authenticate(self) -> None:
        """Refuse a request without the operator token."""
        scheme, _, token = request.headers.get("Authorization", "").partition(" ")
        if scheme != "Bearer" or not same(token, self._identity.operator_token):
            raise Refusal(401, "This needs the operator token of identity.json.")

    @route("GET", "/counts")
    def show_counts(self) -> Response:
        return jsonify(self._counts.now())

    @route("DELETE", "/counts")
    def reset_counts(self) -> Response:
        self._counts.reset()
        return jsonify({})

    @route("GET", "/faults")
    def show_faults(self) -> Response:
        return jsonify([_shown(fault) for fault in self._faults])

    @route("POST", "/faults")
    def add_fault(self) -> Response:
        body: dict[str, Any] = request.get_json()
        extra = {"seconds", "status", "reason", "message", "headers", "with_effect"}
        unknown = set(body) - extra - {"kind", "action", "times", "match"}
        if unknown:
            raise invalid(f"Unknown: {', '.join(sorted(unknown))}.")
        try:
            fault = self._faults.add(
                cast(Kind, body.get("kind")),
                cast(Action, body.get("action")),
                body.get("times", 1),
                body.get("match"),
                **{name: body[name] for name in extra if name in body},
            )
        except ValueError as error:
            raise invalid(str(error)) from None
        return jsonify(_shown(fault))

    @route("POST", "/faults/<int:number>:release")
    def release(self, number: int) -> Response:
        for fault in self._faults:
            if fault.number == number:
                fault.release()
                return jsonify(_shown(fault))
        raise Refusal(404, f"There is no fault {number}.")

    @route("DELETE", "/faults")
    def clear(self) -> Response:
        self._faults.clear()
        return jsonify({})

    @route("GET", "/queue")
    def show_queue(self) -> Response:
        return jsonify({"pending": self._queue.pending(), "throttled": self._queue.throttled})

    @route("POST", "/queue:<any(pause, resume):action>")
    def command(self, action: str) -> Response:
        (self._queue.pause if action == "pause" else self._queue.resume)()
        return jsonify({})


def _shown(fault: Fault) -> dict[str, Any]:
    return {
        "id": fault.number,
        "kind": fault.kind,
        "action": fault.action,
        "times": fault.times,
        "hits": fault.hits,
    }
