"""Workspace's side of the add-on: builds the event objects and posts them to the add-on's service.

Shape of an event: https://developers.google.com/workspace/add-ons/reference/event-object. Tokens are put in
here and never reach the browser.
"""

import re
from collections.abc import Sequence
from typing import Any, Protocol

import requests

from addon.simulator.errors import Refusal, invalid
from addon.simulator.files import Files
from addon.simulator.identity import CLIENT_ID, SYSTEM_ACCOUNT, Identity
from addon.simulator.workbook import Workbook
from addon.simulator.workbooks import Workbooks

Json = dict[str, Any]

ANSWER_SECONDS = 30.0
"""How long Workspace waits for an answer, as developers report it; Google documents no figure."""

EMAIL_SCOPE = "https://www.googleapis.com/auth/userinfo.email"
SCOPES = (
    "https://www.googleapis.com/auth/drive.file",
    EMAIL_SCOPE,
    "https://www.googleapis.com/auth/script.locale",
)
_TRIGGERS = {"homepage": "home", "fileGranted": "file-granted"}
_LOCALE = re.compile(r"[A-Za-z]{2,3}([-_][A-Za-z0-9]{2,8}){0,3}")


class Google(Protocol):
    """What the page needs of the simulator."""

    @property
    def workbooks(self) -> Workbooks:
        """All workbooks."""

    @property
    def files(self) -> Files:
        """All files, and which of them are granted to the add-on."""

    @property
    def identity(self) -> Identity:
        """Who the local user is, and what proves that Workspace calls."""

    @property
    def service(self) -> str | None:
        """URL of the add-on's service."""


class Workspace:
    """Sends events to the add-on. Safe to share between threads."""

    def __init__(self, google: Google) -> None:
        self._google = google

    def send(self, workbook: Workbook, body: Json) -> Json:
        """Post the event the page asks for and return what the add-on made of it.

        ``answer`` is the add-on's JSON. Where it gave none that Google would look at, ``problem`` says why:
        ``no_service``, ``no_answer``, ``too_slow``, ``not_json`` or ``status`` (its number is in ``status``).

        Raises
        ------
        Refusal
            The page asks for something Google would not send.
        """
        kind = str(body.get("kind"))
        url = self._url(kind, body.get("function"))
        spreadsheet_id = workbook.spreadsheet_id
        email = self._google.identity.user.email
        if kind == "fileGranted":
            self._google.files.grant(spreadsheet_id, email)
        granted = self._google.files.granted(spreadsheet_id, email)
        event = {
            "commonEventObject": _common(body, workbook, with_form=kind == "click"),
            "authorizationEventObject": authorization(self._google.identity, url),
            "sheets": {"addonHasFileScopePermission": granted},
        }
        if granted:
            event["sheets"] |= {"id": spreadsheet_id, "title": workbook.title}
        outcome = self._post(url, event) if url else {"problem": "no_service"}
        return outcome | {"granted": granted}

    def _url(self, kind: str, function: object) -> str:
        """The URL to post to; empty where no service is configured."""
        service = (self._google.service or "").rstrip("/")
        if kind in _TRIGGERS:
            return f"{service}/sidebar/{_TRIGGERS[kind]}" if service else ""
        if kind != "click":
            raise invalid(f"kind must be click or one of {', '.join(_TRIGGERS)}.")
        # The slash matters: without it http://127.0.0.1:80 would also stand for port 8080.
        if service and not (isinstance(function, str) and function.startswith(f"{service}/")):
            raise Refusal(403, f"A function must be a full URL of the add-on's service, {service}/…")
        return str(function) if service else ""

    def _post(self, url: str, event: Json) -> Json:
        proof = {"Authorization": f"Bearer {event['authorizationEventObject']['systemIdToken']}"}
        try:
            with requests.Session() as session:
                session.trust_env = False  # no proxy stands between us and the loopback
                answer = session.post(
                    url, json=event, headers=proof, timeout=(3, ANSWER_SECONDS), allow_redirects=False
                )
        except requests.Timeout:
            return {"problem": "too_slow"}
        except requests.RequestException:
            return {"problem": "no_answer"}
        if answer.status_code != 200:
            return {"problem": "status", "status": answer.status_code}
        try:
            return {"answer": answer.json()}
        except ValueError:
            return {"problem": "not_json"}


def authorization(identity: Identity, url: str, scopes: Sequence[str] = SCOPES) -> Json:
    """The ``authorizationEventObject`` of a call of ``url`` by the local user, who has granted ``scopes``."""
    email = identity.user.email
    said: Json = {
        "userOAuthToken": identity.issue(email, scopes),
        "systemIdToken": identity.id_token(url, SYSTEM_ACCOUNT),
        "authorizedScopes": list(scopes),
    }
    if EMAIL_SCOPE in scopes:
        said["userIdToken"] = identity.id_token(CLIENT_ID, email)
    return said


def _common(body: Json, workbook: Workbook, *, with_form: bool) -> Json:
    """The ``commonEventObject``; as in Google's, maps with nothing in them are left out."""
    locale = body.get("locale")
    known = isinstance(locale, str) and _LOCALE.fullmatch(locale)
    common: Json = {
        "hostApp": "SHEETS",
        "platform": "WEB",
        "userLocale": locale if known else "en",
        "timeZone": _zone(body.get("timeZone"), workbook),
    }
    if not with_form:
        return common
    if parameters := _parameters(body.get("parameters") or []):
        common["parameters"] = parameters
    form = body.get("formInputs") or {}
    if not isinstance(form, dict):
        raise invalid("formInputs must be a map.")
    filled = {name: value for name, value in form.items() if value != {"stringInputs": {"value": []}}}
    return common | {"formInputs": filled} if filled else common


def _zone(zone: object, workbook: Workbook) -> Json:
    if isinstance(zone, dict) and isinstance(zone.get("id"), str) and isinstance(zone.get("offset"), int):
        return {"id": zone["id"], "offset": zone["offset"]}
    return {"id": workbook.time_zone, "offset": 0}


def _parameters(listed: object) -> dict[str, str]:
    """The map that the add-on receives for the list that its card holds."""
    parameters = {}
    for item in listed if isinstance(listed, list) else [listed]:
        key, value = (item.get("key"), item.get("value")) if isinstance(item, dict) else (None, None)
        if not isinstance(key, str) or not isinstance(value, str):
            raise invalid("parameters must be a list of {key, value}, both of them strings.")
        parameters[key] = value
    return parameters
