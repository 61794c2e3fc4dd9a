"""The sidebar's HTTP edge: read and authorise the call, hand it on, turn what went wrong into an answer."""

import secrets
from dataclasses import dataclass
from functools import partial

from flask import Blueprint, g, request
from flask.typing import ResponseReturnValue
from werkzeug.exceptions import HTTPException

from addon.bodies import json_body
from addon.google.certificates import CertificatesUnavailable
from addon.google.errors import FileMissing, GoogleError, GrantMissing, JobBlocked, TryAgain
from addon.google.id_tokens import Unauthorised
from addon.google.identity import EMAIL_SCOPE, PersonUnknown
from addon.jobs import events
from addon.logs import bound
from addon.refusals import http_refusal, refusal
from addon.services import Services
from addon.sidebar import answers
from addon.sidebar.admin import AdminsOnly
from addon.sidebar.cards import connect_card, error_card
from addon.sidebar.events import FORM_PARAMETER, BadEvent, Event, keep_form, parse_event
from addon.sidebar.handlers import HANDLERS
from addon.sidebar.text import Words
from addon.sidebar.visit import NoSpreadsheet, Visit
from addon.sidebar.widgets import TRIGGERS, Action, Json, Links
from addon.store.documents import StoreError

MAX_BODY_BYTES = 256 * 1024
"""An event is a few KB of tokens and a form of at most 4,000 characters of text."""

FILE_SCOPE = "https://www.googleapis.com/auth/drive.file"
FILE_SCOPES = frozenset(
    {
        FILE_SCOPE,
        "https://www.googleapis.com/auth/drive",
        "https://www.googleapis.com/auth/spreadsheets",
    }
)
"""With any of these Google lets a token read a spreadsheet (scopes of `spreadsheets.get`)."""


@dataclass(frozen=True, slots=True)
class _Call:
    """A call as far as it is understood: enough to answer it, whatever happens next."""

    action: Action
    event: Event
    words: Words
    links: Links

    def answer(self, card: Json) -> Json:
        return answers.shown(card) if self.action in TRIGGERS else answers.updated(card)

    def failed(self, sentence: str) -> Json:
        """Answer with what happened and a button that makes the same call again."""
        if self.action in TRIGGERS:
            return self.answer(error_card(self.words, self.links, sentence, "refresh", {}))
        parameters = dict(self.event.parameters)
        if self.event.form:
            parameters[FORM_PARAMETER] = keep_form(self.event)
        return self.answer(error_card(self.words, self.links, sentence, self.action, parameters))


def blueprint(services: Services) -> Blueprint:
    """Build the routes ``POST /sidebar/<action>``."""
    routes = Blueprint("sidebar", __name__, url_prefix="/sidebar")
    for action in HANDLERS:
        routes.add_url_rule(f"/{action}", action, partial(_answer, services, action), methods=["POST"])
    routes.register_error_handler(BadEvent, lambda error: refusal(400, "bad_event", str(error)))
    routes.register_error_handler(Unauthorised, _unauthorised)
    routes.register_error_handler(CertificatesUnavailable, _no_certificates)
    routes.register_error_handler(HTTPException, http_refusal)
    # The outermost edge: Google drops an error page without a word, so whatever fails, people get a sentence.
    # The failure is logged there, so nothing is swallowed.
    routes.register_error_handler(Exception, _unexpected)
    return routes


def _answer(services: Services, action: Action) -> ResponseReturnValue:
    body = json_body(request, MAX_BODY_BYTES)
    event = parse_event(body)
    try:
        caller = services.identity.sidebar_caller(_target(action), request.headers, body)
    except PersonUnknown:
        return answers.ask_for_scopes(EMAIL_SCOPE, *_missing(event))
    words, links = Words(event.locale, event.zone), Links(services.settings.base_url, event.spreadsheet_id)
    call = g.sidebar_call = _Call(action, event, words, links)
    if missing := _missing(event):
        return answers.ask_for_scopes(*missing)
    try:
        access = services.user_access(caller.token, caller.user_id, caller.email)
        with bound(who=caller.user_id), access as user:
            return HANDLERS[action](Visit(services, event, words, links, user, caller))
    except (NoSpreadsheet, GrantMissing):
        return call.answer(connect_card(words, links))
    except AdminsOnly:
        return call.answer(error_card(words, links, words("error.admins_only"), "refresh", {}))
    except (GoogleError, StoreError) as error:
        if isinstance(error, GoogleError):
            events.google_failed(error, request.path)
        else:
            events.store_failed(error, request.path)
        return call.failed(_sentence(words, error))


def _target(action: Action) -> str:
    """Path and query that Google's token must name: those of the route, however the request spelt them."""
    query = request.query_string.decode("ascii", "replace")
    return f"/sidebar/{action}" + (f"?{query}" if query else "")


def _missing(event: Event) -> list[str]:
    """Scopes without which nothing can be done, and which the person has not granted."""
    return [FILE_SCOPE] if event.scopes and FILE_SCOPES.isdisjoint(event.scopes) else []


def _sentence(words: Words, error: GoogleError | StoreError) -> str:
    if isinstance(error, TryAgain):
        return words("error.google_busy")
    if isinstance(error, FileMissing):
        return words("error.file_gone")
    if isinstance(error, StoreError):
        return words("error.store_busy")
    return words.coded("blocked", error.code if isinstance(error, JobBlocked) else "other")


def _unauthorised(error: Unauthorised) -> ResponseReturnValue:
    events.caller_refused("sidebar", error.reason)
    return refusal(401, "unauthorised", "The call does not carry valid proof that it comes from Google.")


def _no_certificates(error: CertificatesUnavailable) -> ResponseReturnValue:
    events.certificates_unavailable(error, request.path)
    return refusal(503, "certificates", "Callers cannot be told apart at the moment; try again.")


def _unexpected(error: Exception) -> ResponseReturnValue:
    reference = secrets.token_hex(4)
    events.unexpected(error, request.path, reference)
    call: _Call | None = g.get("sidebar_call")
    if call is None:
        return refusal(500, "internal_error", f"The call failed; reference {reference}.")
    return call.failed(call.words("error.unexpected", reference=reference))
