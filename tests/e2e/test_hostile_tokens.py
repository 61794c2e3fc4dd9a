"""Every token that is not the right one for the route it comes to: who calls, as nobody else can.

A row is what comes and the reason in the log; the status is 401, whatever it was.
"""

import json
import time
from collections.abc import Callable
from typing import Any

import pytest
from forgery import EllipticKey, hs256, public_key, rsa_signed, unsigned
from hostile import World, named, sent
from stage import BOSS, OWNER, Stage

from addon.google.identity import REMOVED
from addon.simulator.identity import SCHEDULER_ACCOUNT, SYSTEM_ACCOUNT, TASKS_ACCOUNT
from addon.simulator.keys import Key

HOUR = 3600
Made = Callable[[Stage], str]


# ---------------------------------------------------------------------- who calls the sidebar


def google_kid(stage: Stage) -> dict[str, str]:
    return {"alg": "RS256", "kid": stage.identity.google.id, "typ": "JWT"}


def home(stage: Stage, **changes: Any) -> dict[str, Any]:
    return stage.claims(f"{stage.url}/sidebar/home", SYSTEM_ACCOUNT, **changes)


def as_google(stage: Stage, key: Key) -> str:
    """Signed by another key that says it is Google's."""
    return rsa_signed(key, google_kid(stage), home(stage))


def altered(stage: Stage) -> str:
    header, _, signature = stage.system("/sidebar/run").split(".")
    return f"{header}.{unsigned({}, home(stage)).split('.')[1]}.{signature}"


SYSTEM_TOKENS = named(
    # what comes as system token, in the header and in the body           reason in the log
    ("a key Google does not have", lambda s: s.stranger_key.sign(home(s)), "unknown_key_id"),
    ("a stranger's key under Google's id", lambda s: as_google(s, s.stranger_key), "wrong_signature"),
    ("the worker's key", lambda s: s.identity.worker_key.sign(home(s)), "unknown_key_id"),
    ("the worker's key under Google's id", lambda s: as_google(s, s.identity.worker_key), "wrong_signature"),
    ("another token's signature", altered, "wrong_signature"),
    ("alg none", lambda s: unsigned(google_kid(s) | {"alg": "none"}, home(s)), "not_signed_with_RS256"),
    ("alg None", lambda s: unsigned(google_kid(s) | {"alg": "None"}, home(s)), "not_signed_with_RS256"),
    ("no alg", lambda s: unsigned({"kid": s.identity.google.id}, home(s)), "not_signed_with_RS256"),
    (
        "HS256, the certificate as secret",
        lambda s: hs256(s.identity.google.certificate, google_kid(s) | {"alg": "HS256"}, home(s)),
        "not_signed_with_RS256",
    ),
    (
        "HS256, the public key as secret",
        lambda s: hs256(public_key(s.identity.google), google_kid(s) | {"alg": "HS256"}, home(s)),
        "not_signed_with_RS256",
    ),
    (
        "HS256 that says RS256",
        lambda s: hs256(public_key(s.identity.google), google_kid(s), home(s)),
        "wrong_signature",
    ),
    (
        "ES256 under Google's id",
        lambda s: EllipticKey().sign(google_kid(s) | {"alg": "ES256"}, home(s)),
        "not_signed_with_RS256",
    ),
    ("unsigned", lambda s: unsigned(google_kid(s), home(s)), "wrong_signature"),
    ("two segments", lambda s: s.system().rpartition(".")[0], "not_a_token"),
    ("cut short", lambda s: s.system()[:-20], "wrong_signature"),
    ("no JWT at all", lambda s: "open-sesame", "not_a_token"),
    ("7 KB of dots", lambda s: "." * 7_000, "not_a_token"),
    ("expired", lambda s: s.system(iat=int(time.time()) - 2 * HOUR, exp=int(time.time()) - HOUR), "expired"),
    ("of tomorrow", lambda s: s.system(iat=int(time.time()) + HOUR), "issued_in_the_future"),
    ("for ten years", lambda s: s.system(exp=int(time.time()) + 87_600 * HOUR), "valid_for_longer_than_any"),
    ("no expiry", lambda s: s.system(exp=None), "no_time_of_issue_or_expiry"),
    ("expiry as text", lambda s: s.system(exp="9999999999"), "no_time_of_issue_or_expiry"),
    ("another issuer", lambda s: s.system(iss="https://accounts.google.com.evil.test"), "wrong_issuer"),
    ("an issuer of its own", lambda s: s.system(iss=SYSTEM_ACCOUNT), "wrong_issuer"),
    ("no issuer", lambda s: s.system(iss=None), "wrong_issuer"),
    ("for another route, replayed", lambda s: s.system("/sidebar/cancel"), "wrong_audience"),
    ("for the service's root", lambda s: s.system(""), "wrong_audience"),
    ("for the route with a slash", lambda s: s.system("/sidebar/home/"), "wrong_audience"),
    ("for the route with a query", lambda s: s.system("/sidebar/home?a=1"), "wrong_audience"),
    ("for another host", lambda s: s.system(aud="https://evil.test/sidebar/home"), "wrong_audience"),
    ("for another name of the host", lambda s: s.system(aud=f"http://localhost:{s.port}/sidebar/home"),
     "wrong_audience"),
    ("for https", lambda s: s.system(aud=f"https://127.0.0.1:{s.port}/sidebar/home"), "wrong_audience"),
    ("for many", lambda s: s.system(aud=[f"{s.url}/sidebar/home"]), "wrong_audience"),
    ("for nobody", lambda s: s.system(aud=None), "wrong_audience"),
    (
        "another add-on's account",
        lambda s: s.system(email="service-2@gcp-sa-gsuiteaddons.iam.gserviceaccount.com"),
        "the_system_token_is_another_account",
    ),
    ("a look-alike account", lambda s: s.system(email=f"{SYSTEM_ACCOUNT}.evil.test"), "another_account"),
    ("the account in capitals", lambda s: s.system(email=SYSTEM_ACCOUNT.upper()), "another_account"),
    ("a person", lambda s: s.system(email=OWNER), "another_account"),
    ("no verified e-mail", lambda s: s.system(email_verified=None), "no_verified_e-mail"),
    ("an unverified e-mail", lambda s: s.system(email_verified=False), "no_verified_e-mail"),
    ("an e-mail verified in words", lambda s: s.system(email_verified="true"), "no_verified_e-mail"),
    ("the queue's", lambda s: s.automaton("tasks"), "wrong_audience"),
    ("the scheduler's", lambda s: s.automaton("schedule"), "wrong_audience"),
    ("the queue's account for this route", lambda s: s.system(email=TASKS_ACCOUNT), "another_account"),
    ("the person's own", lambda s: s.person(), "wrong_audience"),
)  # fmt: skip


@pytest.mark.parametrize(("made", "reason"), SYSTEM_TOKENS)
def test_a_system_token_that_does_not_hold_opens_nothing(stage: Stage, made: Made, reason: str) -> None:
    token = made(stage)
    event = stage.event(proof={"systemIdToken": token})
    sent(stage, stage.request("/sidebar/home", event, token=token), 401, reason)


GOOD = "good"
BOTH = named(
    # header                                     body                       reason in the log
    ("no token at all", None, None, "no_system_token"),
    ("good header, forged body", GOOD, "forged", "wrong_signature"),
    ("forged header, good body", "forged", GOOD, "wrong_signature"),
    ("header without its signature, no body", REMOVED, None, "no_system_token"),
    ("header without its signature, forged body", REMOVED, "forged", "wrong_signature"),
    ("both without signature", REMOVED, REMOVED, "no_system_token"),
)


@pytest.mark.parametrize(("header", "body", "reason"), BOTH)
def test_every_system_token_that_is_there_must_hold(
    stage: Stage, header: str | None, body: str | None, reason: str
) -> None:
    tokens = {
        None: None,
        GOOD: stage.system(),
        "forged": as_google(stage, stage.stranger_key),
        REMOVED: stage.system().rpartition(".")[0] + f".{REMOVED}",
    }
    event = stage.event(proof={"systemIdToken": tokens[body]})
    sent(stage, stage.request("/sidebar/home", event, token=tokens[header] or ""), 401, reason)


PERSON_TOKENS = named(
    # what comes as the person's token                                     reason in the log
    ("for another client", lambda s: s.person(audience="other.apps.googleusercontent.com"), "wrong_audience"),
    ("for this service's address", lambda s: s.person(audience=f"{s.url}/sidebar/home"), "wrong_audience"),
    ("expired", lambda s: s.person(iat=0, exp=HOUR), "expired"),
    ("of somebody else, by a stranger's key",
     lambda s: rsa_signed(s.stranger_key, google_kid(s), s.claims("x", BOSS)), "wrong_signature"),
    ("no subject", lambda s: s.person(sub=None), "no_subject"),
    ("a subject that is no text", lambda s: s.person(sub=7), "no_subject"),
    ("an unverified e-mail", lambda s: s.person(email_verified=False), "no_verified_e-mail"),
    ("no JWT", lambda s: OWNER, "not_a_token"),
)  # fmt: skip


@pytest.mark.parametrize(("made", "reason"), PERSON_TOKENS)
def test_a_person_who_does_not_prove_who_they_are_gets_no_card(stage: Stage, made: Made, reason: str) -> None:
    event = stage.event(proof={"userIdToken": made(stage)})
    sent(stage, stage.request("/sidebar/home", event), 401, reason)


@pytest.mark.parametrize("token", ["", None, "a b", "a\r\nX-Evil: 1", "\ud800", "é", "x" * 9_000])
def test_an_access_token_that_fits_no_header_is_none(stage: Stage, token: str | None) -> None:
    event = stage.event(proof={"userOAuthToken": token})
    sent(stage, stage.request("/sidebar/home", event), 401, "the_event_carries_no_user_token")


def test_a_person_who_is_not_named_is_asked_for_the_scope_and_shown_nothing(stage: Stage) -> None:
    before = stage.state()
    answer = stage.send(stage.request("/sidebar/home", stage.event(proof={"userIdToken": None})))
    assert answer.status == 200
    assert set(answer.json) == {"requesting_google_scopes"}
    assert stage.state() == before


# ------------------------------------------------------------- one caller on another's routes

AUTOMATA = named(
    # what comes                             where                 reason in the log
    ("sidebar on link", lambda s: s.system("/tasks/link"), "/tasks/link", "wrong_audience"),
    ("sidebar on sweep", lambda s: s.system("/schedule/sweep"), "/schedule/sweep", "wrong_audience"),
    ("add-on for the queue", lambda s: s.system("/tasks"), "/tasks/link", "the_token_is_another_account"),
    ("scheduler on link", lambda s: s.automaton("schedule"), "/tasks/link", "wrong_audience"),
    ("queue on sweep", lambda s: s.automaton("tasks"), "/schedule/sweep", "wrong_audience"),
    ("scheduler for the queue", lambda s: s.automaton("tasks", email=SCHEDULER_ACCOUNT), "/tasks/link",
     "another_account"),
    ("queue for the scheduler", lambda s: s.automaton("schedule", email=TASKS_ACCOUNT), "/schedule/sweep",
     "another_account"),
    ("the worker", lambda s: s.automaton("tasks", email=s.identity.worker.email), "/tasks/link",
     "another_account"),
    ("a person", lambda s: s.automaton("tasks", email=OWNER), "/tasks/link", "another_account"),
    ("for the whole address", lambda s: s.automaton("tasks", aud=f"{s.url}/tasks/link"), "/tasks/link",
     "wrong_audience"),
    ("unverified", lambda s: s.automaton("tasks", email_verified=False), "/tasks/link", "no_verified"),
    ("expired", lambda s: s.automaton("tasks", iat=0, exp=HOUR), "/tasks/link", "expired"),
    ("by a stranger", lambda s: s.stranger_key.sign(s.claims(f"{s.url}/tasks", TASKS_ACCOUNT)),
     "/tasks/link", "unknown_key_id"),
    ("without signature", lambda s: s.automaton("tasks").rpartition(".")[0] + f".{REMOVED}", "/tasks/link",
     "wrong_signature"),
    ("nothing", lambda s: "", "/tasks/link", "no_bearer_token"),
    ("nothing, swept", lambda s: "", "/schedule/sweep", "no_bearer_token"),
)  # fmt: skip


@pytest.mark.parametrize(("made", "path", "reason"), AUTOMATA)
def test_queue_and_scheduler_have_their_own_routes_and_nobody_else_has(
    world: World, stage: Stage, made: Made, path: str, reason: str
) -> None:
    body = json.dumps({"job": world.my_job, "shard": 0, "epoch": 0, "step": 0}).encode()
    sent(stage, stage.request(path, body, token=made(stage)), 401, reason)
