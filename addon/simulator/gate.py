"""What every request to a Google API passes on its way: caller, faults, schema, quota."""

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar
from urllib.parse import urlsplit

from flask import Blueprint, Flask, Response, current_app, g, jsonify, request
from werkzeug.exceptions import HTTPException

from addon.simulator import scopes
from addon.simulator.errors import Refusal
from addon.simulator.faults import Counts, Fault, Faults, Kind, Quota
from addon.simulator.fieldmask import parse_fields, select
from addon.simulator.identity import Identity
from addon.simulator.payload import read_json
from addon.simulator.schema import Schema
from addon.simulator.transport import hang_up
from addon.simulator.uploads import metadata_of

View = TypeVar("View", bound=Callable[..., Any])

_DESCRIBED = ("/v4/", "/drive/v3/", "/upload/drive/v3/")
_APIS = (*_DESCRIBED, "/v2/")


def route(verb: str, rule: str, kind: Kind | None = None) -> Callable[[View], View]:
    """Mark a method as the view of a route; with a kind it is a method of a Google API, counted as such."""

    def mark(view: View) -> View:
        view.routes = [*getattr(view, "routes", ()), (verb, rule)]  # type: ignore[attr-defined]
        if kind is not None:
            view.google_kind = kind  # type: ignore[attr-defined]
        return view

    return mark


def mount(name: str, views: object, prefix: str = "") -> Blueprint:
    """A blueprint of all methods of ``views`` that are marked with `route`."""
    blueprint = Blueprint(name, __name__)
    for attribute in dir(type(views)):
        view = getattr(views, attribute)
        for verb, rule in getattr(view, "routes", ()):
            blueprint.add_url_rule(prefix + rule, attribute, view, methods=[verb])
    return blueprint


def answer(value: Any, status: int = 200) -> Response:
    """A JSON answer, cut down to the fields the caller asked for."""
    response: Response = jsonify(select(g.mask, value) if g.mask else value)
    response.status_code = status
    return response


@dataclass(frozen=True, slots=True)
class Gate:
    """Lets requests through to the views, or refuses them as Google does.

    A view finds the caller in ``g.caller``, the JSON body (of an upload: its metadata) in ``g.body`` and the
    field mask in ``g.mask``. ``granted`` tells whether a file (by id) is granted to the add-on by a person.
    """

    identity: Identity
    schema: Schema
    faults: Faults
    counts: Counts
    quota: Quota
    granted: Callable[[str, str], bool]
    stopping: threading.Event

    def install(self, app: Flask) -> None:
        """Put the gate in front of everything the application serves."""
        app.before_request(self._before)
        app.after_request(self._after)
        app.register_error_handler(Refusal, _refused)
        app.register_error_handler(HTTPException, self._unrouted)

    def _before(self) -> Response | None:
        g.fault = None
        g.mask = None
        if urlsplit(f"//{request.host}").hostname not in {"127.0.0.1", "localhost"}:
            # A page from elsewhere whose name was made to point here must not read anything.
            raise Refusal(403, "The simulator answers to 127.0.0.1 and localhost only.")
        kind = getattr(current_app.view_functions.get(request.endpoint or ""), "google_kind", None)
        if kind is None:
            return None
        self.counts.add(kind)
        self._authenticate()
        dropped = self._meet_fault(kind)
        if dropped is not None:
            return dropped
        self._parse()
        if kind.startswith("sheets.") and not self.quota.allows(g.caller.email, kind):
            what = "Read" if kind == "sheets.read" else "Write"
            raise Refusal(
                429,
                f"Quota exceeded for quota metric '{what} requests' and limit '{what} requests per minute "
                "per user' of service 'sheets.googleapis.com' for consumer 'project_number:1'.",
            )
        return None

    def _authenticate(self) -> None:
        scheme, _, token = request.headers.get("Authorization", "").partition(" ")
        g.caller = self.identity.caller(token) if scheme == "Bearer" else None
        if g.caller is None:
            raise Refusal(
                401,
                "Request had invalid authentication credentials. Expected OAuth 2 access token, login cookie "
                "or other valid authentication credential.",
                location="Authorization",
            )

    def _meet_fault(self, kind: Kind) -> Response | None:
        fault = self.faults.take(kind, request.full_path, request.get_data())
        if fault is None:
            return None
        g.fault = fault
        fault.pause(self.stopping)
        if fault.action == "drop" or self.stopping.is_set():
            hang_up(request.environ["werkzeug.socket"])
            return Response()
        if fault.action == "status" and not fault.with_effect:
            g.fault = None
            raise _as_refusal(fault)
        return None

    def _parse(self) -> None:
        path = request.environ["REQUEST_URI"].partition("?")[0]
        g.body = metadata_of(request) if path.startswith("/upload/") else read_json(request.get_data())
        described = path.startswith(_DESCRIBED)
        if described and "fields" in request.args:
            g.mask = parse_fields(request.args["fields"])
        if described:
            query = [
                (name, value)
                for name, value in request.args.items(multi=True)
                if name != "upload_id"  # the session's own, not in the API's description
            ]
            if request.method != "PUT":  # a part of a resumable upload
                self.schema.check(request.method, path, query, g.body, g.mask)
            scopes.check(g.caller, request, g.body, self.granted)

    def _after(self, response: Response) -> Response:
        fault: Fault | None = g.get("fault")
        if fault is None:
            return response
        if fault.action == "lost_answer":
            hang_up(request.environ["werkzeug.socket"])
        elif fault.action == "status":
            return _refused(_as_refusal(fault))
        return response

    def _unrouted(self, error: HTTPException) -> Response | HTTPException:
        if not request.path.startswith(_APIS):
            return error
        if error.code not in {404, 405}:
            return _refused(Refusal(error.code or 500, "Internal error encountered."))
        path = request.environ["REQUEST_URI"].partition("?")[0]
        if self.schema.knows(request.method, path):
            return _refused(Refusal(501, "The simulator does not imitate this method."))
        return _refused(Refusal(404, "The requested URL was not found on this server."))


def _as_refusal(fault: Fault) -> Refusal:
    return Refusal(fault.status, fault.message, reason=fault.reason, headers=fault.headers)


def _refused(refusal: Refusal) -> Response:
    response: Response = jsonify(refusal.body(request.path))
    response.status_code = refusal.code
    response.headers.update(refusal.headers)
    return response
