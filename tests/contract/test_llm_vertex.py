"""Gemini on Vertex AI: the same requests, with tokens that one thread renews for all."""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import google.auth.credentials
import google.auth.exceptions
import pytest
from llm_messages import KEY
from llm_wire import LlmServer

from addon.llm.base import Fatal, Outcome, Prompt, Text, Transient
from addon.llm.gemini import ApiKey, Gemini
from addon.llm.vertex import Vertex

PROMPT = Prompt("Summarise in one sentence.", (("Subject", "Late parcel"), ("Text", "It came on Monday.")))


@pytest.fixture
def server() -> Iterator[LlmServer]:
    with LlmServer("gemini").running() as running:
        yield running


class Token(google.auth.credentials.Credentials):
    """Tokens token-1, token-2, ...; ``fails`` is raised instead of renewing."""

    def __init__(self, fails: Exception | None = None) -> None:
        super().__init__()
        self.renewals = 0
        self.fails = fails
        self.together = threading.Lock()

    def refresh(self, request: Any) -> None:
        assert self.together.acquire(blocking=False), "two renewals at once"
        self.renewals += 1
        self.together.release()
        if self.fails:
            raise self.fails
        self.token = f"token-{self.renewals}"


def on_vertex(server: LlmServer, credentials: Token) -> Gemini:
    return Gemini("gemini-2.5-flash", Vertex(credentials, "my-project", "europe-west1", server.url))


def test_vertex_gets_the_same_body_and_a_token(server: LlmServer) -> None:
    server.key = "token-1"
    model = on_vertex(server, Token())
    assert isinstance(model.summarise(PROMPT, 5.0), Text)
    request = server.requests[0]
    assert request.path == (
        "/v1/projects/my-project/locations/europe-west1/publishers/google/models/gemini-2.5-flash:generateContent"
    )
    by_key = Gemini("gemini-2.5-flash", ApiKey(KEY, server.url))
    assert model.name == by_key.name
    assert model.settings == by_key.settings


def test_sixteen_first_calls_renew_the_token_once(server: LlmServer) -> None:
    server.key = "token-1"
    credentials = Token()
    model = on_vertex(server, credentials)
    with ThreadPoolExecutor(16) as threads:
        outcomes = list(threads.map(lambda _: model.summarise(PROMPT, 20.0), range(16)))
    assert all(isinstance(outcome, Text) for outcome in outcomes)
    assert credentials.renewals == 1


def test_a_token_that_is_rejected_is_renewed_once_for_all(server: LlmServer) -> None:
    server.key = "token-2"
    credentials = Token()
    model = on_vertex(server, credentials)
    with ThreadPoolExecutor(16) as threads:
        outcomes = list(threads.map(lambda _: model.summarise(PROMPT, 20.0), range(16)))
    assert all(isinstance(outcome, Text) for outcome in outcomes)
    assert credentials.renewals == 2


def test_a_new_token_that_is_rejected_too_is_final(server: LlmServer) -> None:
    server.key = "somebody else's"
    assert on_vertex(server, Token()).summarise(PROMPT, 5.0) == Fatal("key_rejected")
    assert len(server.requests) == 2


def wrapped() -> Exception:
    try:
        raise google.auth.exceptions.RefreshError("x") from google.auth.exceptions.TransportError("y")
    except google.auth.exceptions.RefreshError as error:
        return error


@pytest.mark.parametrize(
    ("failure", "outcome"),
    [
        (google.auth.exceptions.TransportError("no way"), Transient("token_not_renewed")),
        (google.auth.exceptions.RefreshError("later", retryable=True), Transient("token_not_renewed")),
        (wrapped(), Transient("token_not_renewed")),
        (google.auth.exceptions.RefreshError("revoked"), Fatal("key_rejected")),
    ],
)
def test_a_token_that_cannot_be_renewed_sends_nothing(
    server: LlmServer, failure: Exception, outcome: Outcome
) -> None:
    assert on_vertex(server, Token(failure)).summarise(PROMPT, 5.0) == outcome
    assert server.requests == []


@pytest.mark.parametrize(
    ("location", "host"),
    [("global", "aiplatform.googleapis.com"), ("us-east1", "us-east1-aiplatform.googleapis.com")],
)
def test_each_location_has_its_host(location: str, host: str) -> None:
    assert (
        Vertex(Token(), "p", location)
        .url("m")
        .startswith(f"https://{host}/v1/projects/p/locations/{location}/")
    )
