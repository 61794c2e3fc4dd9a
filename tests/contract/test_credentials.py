"""The worker's credentials without a key file, on the wire: its own token, and a token to act as a person."""

import json
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import google.auth
import pytest
import requests
from discovery import problems
from google.auth.exceptions import DefaultCredentialsError
from google.oauth2.credentials import Credentials
from requests.adapters import HTTPAdapter
from scripted import Clock, Received

from addon.google import credentials
from addon.google.access import Workers
from addon.google.credentials import SCOPES, NoCredentials
from addon.google.drive import Drive
from addon.google.errors import GoogleError, JobBlocked
from addon.google.session import Session, bearer
from addon.simulator.server import Simulator

PERSON = "person@example.com"


class Wire(HTTPAdapter):
    """What the worker sees of IAM Credentials, which signs for it, and of Google's token endpoint."""

    def __init__(self, simulator: Simulator) -> None:
        super().__init__()
        self.simulator = simulator
        self.signed: list[dict[str, Any]] = []
        self.may_sign = True

    def send(self, request: requests.PreparedRequest, **sending: Any) -> requests.Response:  # type: ignore[override]
        assert request.url is not None
        parts = urlsplit(request.url)
        if parts.hostname == "oauth2.googleapis.com":
            request.url = f"{self.simulator.url}{parts.path}"
            return super().send(request, **sending)
        assert parts.hostname == "iamcredentials.googleapis.com"
        return self._sign(request, parts.path)

    def _sign(self, request: requests.PreparedRequest, path: str) -> requests.Response:
        body = request.body if isinstance(request.body, bytes) else (request.body or "").encode()
        headers = {name.casefold(): value for name, value in request.headers.items()}
        assert problems("iamcredentials.v1", Received(str(request.method), path, {}, headers, body)) == []
        worker = self.simulator.identity.worker.email
        assert path == f"/v1/projects/-/serviceAccounts/{worker}:signJwt"
        assert headers["authorization"] == "Bearer of the environment"
        claims = json.loads(json.loads(body)["payload"])
        self.signed.append(claims)
        answer = requests.Response()
        answer.status_code = 200 if self.may_sign else 403
        error = {
            "error": {"code": 403, "status": "PERMISSION_DENIED", "message": "iam.serviceAccounts.signJwt"}
        }
        signed = {"keyId": "1", "signedJwt": self.simulator.identity.worker_key.sign(claims)}
        answer._content = json.dumps(signed if self.may_sign else error).encode()
        answer.headers["Content-Type"] = "application/json"
        return answer


@pytest.fixture
def wire(simulator: Simulator, monkeypatch: pytest.MonkeyPatch) -> Iterator[Wire]:
    """An environment with credentials, as Cloud Run's, and Google behind it."""
    found: Any = Credentials("of the environment")  # type: ignore[no-untyped-call]
    monkeypatch.setattr(google.auth, "default", lambda **_: (found, "project"))
    yield Wire(simulator)


def drive_of(wire: Wire, acts_as: str, clock: Clock) -> Drive:
    made = credentials.worker(None, wire.simulator.identity.worker.email, acts_as)
    session = Session(made, sleep=clock.sleep, clock=clock, random=lambda: 0.0)
    session._renewals.mount("https://", wire)
    return Drive(session, wire.simulator.url, "worker")


def test_without_a_key_file_the_account_signs_for_the_person(wire: Wire, clock: Clock) -> None:
    wire.simulator.oauth.delegated = frozenset(SCOPES)
    assert drive_of(wire, PERSON, clock).whoami().email == PERSON
    (claims,) = wire.signed
    assert (claims["iss"], claims["sub"]) == (wire.simulator.identity.worker.email, PERSON)
    assert set(claims["scope"].split()) == set(SCOPES)


def test_scopes_nobody_has_authorised_are_the_administrators_to_mend(wire: Wire, clock: Clock) -> None:
    with pytest.raises(JobBlocked) as refused:
        drive_of(wire, PERSON, clock).whoami()
    assert refused.value.code == "delegation_refused"
    assert "domain-wide delegation" in str(refused.value)


def test_an_account_that_may_not_sign_for_itself_is_the_operators_to_mend(wire: Wire, clock: Clock) -> None:
    wire.simulator.oauth.delegated = frozenset(SCOPES)
    wire.may_sign = False
    with pytest.raises(JobBlocked) as refused:
        drive_of(wire, PERSON, clock).whoami()
    assert refused.value.code == "api_refused"


def test_clients_of_one_person_are_never_handed_to_another(wire: Wire) -> None:
    workers = Workers(lambda email: bearer(f"token of {email}"), "https://sheets", "https://drive")
    first, second = workers.acting_as(PERSON), workers.acting_as("other@example.com")
    assert first is workers.acting_as(PERSON)
    tokens = [access.drive._session._credentials.token for access in (first, second, workers.acting_as())]
    assert tokens == [f"token of {PERSON}", "token of other@example.com", "token of "]


def test_an_environment_without_credentials_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    def nothing(**_: Any) -> None:
        raise DefaultCredentialsError("none")  # type: ignore[no-untyped-call]

    monkeypatch.setattr(google.auth, "default", nothing)
    for acts_as in ("", PERSON):
        with pytest.raises(NoCredentials, match="ADDON_CREDENTIALS"):
            credentials.worker(None, "worker@example.com", acts_as)


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        (
            {"error": "unauthorized_client", "error_description": "Client is unauthorized"},
            "delegation_refused",
        ),
        (
            {"error": "access_denied", "error_description": "Requested client not authorized."},
            "delegation_refused",
        ),
        ({"error": "invalid_grant", "error_description": "Invalid email or User ID"}, "delegation_refused"),
        ({"error": "invalid_grant", "error_description": "Invalid JWT Signature."}, "api_refused"),
        ({"error": "disabled_client", "error_description": "The OAuth client was disabled."}, "api_refused"),
    ],
)
def test_what_the_token_endpoint_says_decides_who_must_act(
    wire: Wire, clock: Clock, monkeypatch: pytest.MonkeyPatch, answer: dict[str, str], code: str
) -> None:
    wire.simulator.oauth.delegated = frozenset(SCOPES)

    def refuse(request: requests.PreparedRequest, path: str) -> requests.Response:
        response = requests.Response()
        response.status_code = 400
        response._content = json.dumps(answer).encode()
        return response

    sign = wire._sign
    drive = drive_of(wire, PERSON, clock)
    monkeypatch.setattr(
        wire, "send", lambda request, **_: (refuse if "token" in request.url else sign)(
            request, urlsplit(request.url).path
        )
    )  # fmt: skip
    with pytest.raises(GoogleError) as refused:
        drive.whoami()
    assert isinstance(refused.value, JobBlocked) and refused.value.code == code
    assert answer["error_description"] not in str(refused.value)
