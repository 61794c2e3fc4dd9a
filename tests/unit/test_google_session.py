"""The HTTP session: bounded retries by what may be sent twice, a total deadline, no content in errors."""

import threading
import time
import traceback
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path
from typing import Any

import google.auth.credentials
import pytest
import requests
from google.auth.exceptions import RefreshError, TransportError
from scripted import Clock, Received, Reply, Scripted, google_error

from addon.google.errors import GoogleError, Refused, TryAgain
from addon.google.session import LONGEST_WAIT, Session, bearer

TOKEN = "ya29.secret-token-of-the-user"
JITTER = 0.25


@pytest.fixture
def server() -> Iterator[Scripted]:
    with Scripted().running() as scripted:
        yield scripted


@pytest.fixture
def clock() -> Clock:
    return Clock()


def session_with(credentials: Any, clock: Clock, **changes: Any) -> Session:
    return Session(credentials, sleep=clock.sleep, clock=clock, random=lambda: JITTER, **changes)


@pytest.fixture
def session(clock: Clock) -> Iterator[Session]:
    made = session_with(bearer(TOKEN), clock)
    yield made
    made.close()


def send(session: Session, server: Scripted, *, idempotent: bool, **changes: Any) -> Any:
    return session.request(
        "POST", f"{server.url}/x", service="Sheets", idempotent=idempotent, wants_json=True, **changes
    ).data


GOOD = Reply(json={"good": 1})
LOST = Reply(lost=True)
HTML = Reply(body=b"<html>Sign in</html>", headers={"Content-Type": "text/html; charset=utf-8"})
BUSY = google_error(429, "RESOURCE_EXHAUSTED")
DOWN = google_error(503, "UNAVAILABLE")


# What was not begun is sent again, whatever it is


@pytest.mark.parametrize(
    "refusal",
    [
        BUSY,
        google_error(403, reason="userRateLimitExceeded"),
        google_error(403, reason="rateLimitExceeded"),
        google_error(409, "ABORTED"),
    ],
)
def test_work_that_google_did_not_begin_is_asked_for_again_even_if_it_must_not_happen_twice(
    server: Scripted, session: Session, refusal: Reply
) -> None:
    server.enqueue(refusal, refusal, GOOD)
    assert send(session, server, idempotent=False) == {"good": 1}
    assert len(server.requests) == 3


def test_the_pauses_double_with_jitter_and_the_attempts_are_bounded(
    server: Scripted, session: Session, clock: Clock
) -> None:
    server.answer = lambda _: BUSY
    with pytest.raises(TryAgain) as raised:
        send(session, server, idempotent=False)
    assert clock.sleeps == [1 + JITTER, 2 + JITTER, 4 + JITTER, 8 + JITTER]
    assert len(server.requests) == 5
    error = raised.value
    assert (error.service, error.status, error.reason) == ("Sheets", 429, "RESOURCE_EXHAUSTED")
    assert (error.wait, error.outcome_unknown) == (16 + JITTER, False)


# What may have been carried out is sent again only if that does no harm


@pytest.mark.parametrize(
    "failure", [LOST, DOWN, HTML, Reply(body=b'{"half":'), Reply(body=b"[]"), Reply(body=b"")]
)
def test_a_request_that_may_be_repeated_survives_a_failure(
    server: Scripted, session: Session, failure: Reply
) -> None:
    server.enqueue(failure, GOOD)
    assert send(session, server, idempotent=True) == {"good": 1}


@pytest.mark.parametrize("failure", [LOST, DOWN, HTML, Reply(body=b'{"half":')])
def test_a_request_that_must_not_be_repeated_is_sent_once_and_its_outcome_called_unknown(
    server: Scripted, session: Session, failure: Reply
) -> None:
    server.enqueue(failure, GOOD)
    with pytest.raises(TryAgain) as raised:
        send(session, server, idempotent=False)
    assert len(server.requests) == 1
    assert raised.value.outcome_unknown


def test_one_unknown_outcome_is_remembered_when_the_later_attempts_were_not_even_begun(
    server: Scripted, session: Session
) -> None:
    server.enqueue(DOWN, BUSY, BUSY, BUSY, BUSY)
    with pytest.raises(TryAgain) as raised:
        send(session, server, idempotent=True)
    assert (raised.value.status, raised.value.outcome_unknown) == (429, True)


def test_a_server_that_is_not_there_leaves_no_doubt_about_a_deadline(session: Session, clock: Clock) -> None:
    with pytest.raises(TryAgain) as raised:
        session.request("GET", "http://127.0.0.1:9/x", service="Drive", idempotent=True, deadline=5)
    assert (raised.value.status, raised.value.reason) == (None, "connection_lost")
    assert clock.sleeps == [1 + JITTER, 2 + JITTER]  # another 4 s would not fit into 5


def test_a_redirected_write_is_not_followed(server: Scripted, session: Session) -> None:
    server.enqueue(Reply(302, headers={"Location": f"{server.url}/elsewhere"}))
    with pytest.raises(TryAgain):
        send(session, server, idempotent=False)
    assert [request.path for request in server.requests] == ["/x"]


def test_a_plain_refusal_is_raised_at_once_with_googles_word(server: Scripted, session: Session) -> None:
    server.enqueue(google_error(400, "INVALID_ARGUMENT", "cell B2 holds: Confidential"))
    with pytest.raises(Refused) as raised:
        send(session, server, idempotent=True)
    assert (raised.value.status, raised.value.reason) == (400, "INVALID_ARGUMENT")
    assert "Confidential" not in f"{raised.value}{raised.value!r}"


@pytest.mark.parametrize(
    "body", [b"", b"oops", b'{"error": "invalid_token"}', b'{"error": {"status": "a b"}}']
)
def test_an_error_without_a_reason_word_is_still_an_error(
    server: Scripted, session: Session, body: bytes
) -> None:
    server.enqueue(Reply(400, body=body))
    with pytest.raises(Refused) as raised:
        send(session, server, idempotent=True)
    assert raised.value.reason == "no_reason"


def test_the_most_exact_reason_is_told(server: Scripted, session: Session) -> None:
    details = [{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "SERVICE_DISABLED"}]
    server.enqueue(Reply(403, {"error": {"status": "PERMISSION_DENIED", "details": details}}))
    with pytest.raises(Refused) as raised:
        send(session, server, idempotent=True)
    assert raised.value.reason == "SERVICE_DISABLED"


# Waiting


def test_a_wait_that_google_names_is_kept(server: Scripted, session: Session, clock: Clock) -> None:
    server.enqueue(google_error(429, headers={"Retry-After": "30"}), GOOD)
    send(session, server, idempotent=False)
    assert clock.sleeps == [30]


def test_a_wait_named_as_a_date_is_kept(server: Scripted, session: Session, clock: Clock) -> None:
    date = format_datetime(datetime.now(UTC) + timedelta(seconds=50), usegmt=True)
    server.enqueue(google_error(503, headers={"Retry-After": date}), GOOD)
    send(session, server, idempotent=True)
    assert 40 < clock.sleeps[0] <= 50


def test_a_wait_that_is_too_long_for_a_call_is_left_to_the_caller(
    server: Scripted, session: Session, clock: Clock
) -> None:
    server.enqueue(google_error(429, headers={"Retry-After": "3600"}))
    with pytest.raises(TryAgain) as raised:
        send(session, server, idempotent=True)
    assert (raised.value.wait, clock.sleeps) == (3600, [])
    assert raised.value.wait > LONGEST_WAIT


def test_a_nonsense_wait_is_no_wait(server: Scripted, session: Session, clock: Clock) -> None:
    server.enqueue(google_error(429, headers={"Retry-After": "soon"}), GOOD)
    send(session, server, idempotent=True)
    assert clock.sleeps == [1 + JITTER]


# The total deadline


def test_no_request_is_started_that_could_not_be_waited_for(
    server: Scripted, session: Session, clock: Clock
) -> None:
    server.answer = lambda _: DOWN
    began = clock.now
    with pytest.raises(TryAgain):
        send(session, server, idempotent=True, deadline=4)
    assert clock.now - began <= 4
    assert clock.sleeps == [1 + JITTER, 2 + JITTER]
    assert len(server.requests) == 3


def test_a_deadline_that_is_over_sends_nothing(server: Scripted, session: Session) -> None:
    with pytest.raises(TryAgain) as raised:
        send(session, server, idempotent=True, deadline=0)
    assert (server.requests, raised.value.reason, raised.value.outcome_unknown) == ([], "deadline", False)


def test_each_attempt_gets_no_more_time_than_is_left(
    server: Scripted, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    timeouts = []
    original = requests.adapters.HTTPAdapter.send

    def spy(self: Any, request: Any, **options: Any) -> Any:
        timeouts.append(options["timeout"])
        return original(self, request, **options)

    monkeypatch.setattr(requests.adapters.HTTPAdapter, "send", spy)
    server.answer = lambda _: DOWN
    with pytest.raises(TryAgain):
        send(session, server, idempotent=True, deadline=10)
    assert timeouts == [(5, 10), (5, 10 - 1.25), (5, 10 - 1.25 - 2.25), (2.25, 2.25)]


def test_an_answer_that_trickles_in_does_not_outlast_the_deadline(
    server: Scripted, session: Session, clock: Clock
) -> None:
    def a_minute_passes() -> None:
        clock.now += 60

    pieces = (b'{"a": ' + b" " * 70_000, b" " * 70_000, b" " * 70_000, b"1}")
    server.enqueue(Reply(pieces=pieces, between=a_minute_passes))
    with pytest.raises(TryAgain) as raised:
        send(session, server, idempotent=True, deadline=50)
    assert raised.value.reason == "timeout"


# Many threads


def test_sixteen_threads_sharing_a_session_never_get_each_others_answers(
    server: Scripted, session: Session
) -> None:
    server.answer = lambda request: Reply(json={"echo": request.json["mine"]})
    start = threading.Barrier(16)

    def many(thread: int) -> list[bool]:
        start.wait()
        sent = [f"{thread}-{number}" for number in range(20)]
        return [send(session, server, idempotent=True, json={"mine": mine})["echo"] == mine for mine in sent]

    with ThreadPoolExecutor(16) as pool:
        assert [all(right) for right in pool.map(many, range(16))] == [True] * 16
    assert len(server.requests) == 16 * 20


class Renewable(google.auth.credentials.Credentials):
    """Credentials whose token is ``token-N`` after the Nth renewal."""

    def __init__(self, renew: Callable[[], None] = lambda: None) -> None:
        super().__init__()
        self.renewals = 0
        self._renew = renew

    def refresh(self, request: Any) -> None:
        self._renew()
        self.renewals += 1
        self.token = f"token-{self.renewals}"


def test_sixteen_first_calls_renew_the_token_once(server: Scripted, clock: Clock) -> None:
    credentials = Renewable(renew=lambda: time.sleep(0.01))
    session = session_with(credentials, clock)
    server.answer = lambda _: GOOD
    start = threading.Barrier(16)

    def first(_: int) -> Any:
        start.wait()
        return send(session, server, idempotent=True)

    with ThreadPoolExecutor(16) as pool:
        assert list(pool.map(first, range(16))) == [{"good": 1}] * 16
    session.close()
    assert credentials.renewals == 1


def test_a_token_that_is_rejected_is_renewed_and_the_request_sent_once_more(
    server: Scripted, clock: Clock
) -> None:
    session = session_with(Renewable(), clock)
    server.enqueue(google_error(401, "UNAUTHENTICATED"), GOOD)
    assert send(session, server, idempotent=False) == {"good": 1}
    session.close()
    tokens = [request.headers["Authorization"] for request in server.requests]
    assert tokens == ["Bearer token-1", "Bearer token-2"]
    assert clock.sleeps == []


def test_a_token_that_nobody_can_renew_is_never_tried_twice(server: Scripted, session: Session) -> None:
    server.enqueue(google_error(401, "UNAUTHENTICATED"), GOOD)
    with pytest.raises(Refused) as raised:
        send(session, server, idempotent=True)
    assert (raised.value.status, len(server.requests)) == (401, 1)


def fail(error: Exception) -> Callable[[], None]:
    def renew() -> None:
        raise error

    return renew


def wrapped() -> None:
    raise RefreshError("metadata server") from TransportError("no route")


@pytest.mark.parametrize(
    "renew", [fail(TransportError("no route")), fail(RefreshError("later", retryable=True)), wrapped]
)
def test_a_renewal_that_fails_on_the_way_is_tried_again_and_nothing_was_sent(
    server: Scripted, clock: Clock, renew: Callable[[], None]
) -> None:
    session = session_with(Renewable(renew), clock)
    with pytest.raises(TryAgain) as raised:
        send(session, server, idempotent=False)
    session.close()
    assert (raised.value.outcome_unknown, server.requests, len(clock.sleeps)) == (False, [], 4)


def test_a_renewal_that_is_refused_is_not_tried_again(server: Scripted, clock: Clock) -> None:
    session = session_with(Renewable(fail(RefreshError("unauthorized_client"))), clock)
    with pytest.raises(Refused) as raised:
        send(session, server, idempotent=True)
    session.close()
    assert (raised.value.status, server.requests, clock.sleeps) == (401, [], [])


def test_a_connection_that_was_never_made_leaves_no_doubt_about_the_outcome(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(*_: Any, **__: Any) -> Any:
        raise requests.exceptions.ConnectTimeout("no answer")

    monkeypatch.setattr(requests.adapters.HTTPAdapter, "send", never)
    with pytest.raises(TryAgain) as raised:
        session.request("POST", "https://sheets.example/x", service="Sheets", idempotent=False)
    assert (raised.value.reason, raised.value.outcome_unknown) == ("timeout", False)


# What the environment must not change, and what must not leak


def test_a_netrc_file_does_not_replace_the_token(
    server: Scripted, session: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    netrc = tmp_path / "netrc"
    netrc.write_text("machine 127.0.0.1 login somebody password else\n")
    monkeypatch.setenv("NETRC", str(netrc))
    server.enqueue(GOOD)
    send(session, server, idempotent=True)
    assert server.requests[0].headers["Authorization"] == f"Bearer {TOKEN}"


def test_a_proxy_does_not_see_what_stays_on_this_machine(
    server: Scripted, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    monkeypatch.delenv("no_proxy", raising=False)
    monkeypatch.delenv("NO_PROXY", raising=False)
    server.enqueue(GOOD)
    assert send(session, server, idempotent=True) == {"good": 1}


def test_cookies_are_not_kept(server: Scripted, session: Session) -> None:
    server.enqueue(Reply(json={}, headers={"Set-Cookie": "sid=1; Path=/"}), GOOD)
    send(session, server, idempotent=True)
    send(session, server, idempotent=True)
    assert "Cookie" not in server.requests[1].headers


@pytest.mark.parametrize(
    "reply",
    [
        LOST,
        DOWN,
        BUSY,
        HTML,
        Reply(body=b"{"),
        google_error(401, message=f"bad token {TOKEN}"),
        google_error(403, message=TOKEN),
    ],
)
def test_the_token_is_in_no_error_and_no_traceback(server: Scripted, session: Session, reply: Reply) -> None:
    def answer(request: Received) -> Reply:
        assert TOKEN in request.headers["Authorization"]
        return reply

    server.answer = answer
    with pytest.raises(GoogleError) as raised:
        send(session, server, idempotent=True)
    everything = f"{raised.value}{raised.value!r}{''.join(traceback.format_exception(raised.value))}"
    assert TOKEN not in everything
