"""Who is believed to be whom: every rule about ID tokens, with keys of our own and a clock that is told.

A row of a table is a token that breaks one rule, and the reason for which it is refused.
"""

import functools
import json
from collections.abc import Callable
from typing import Any

import pytest
from forgery import EllipticKey, hs256, public_key, rsa_signed, segment, unsigned
from hypothesis import given
from hypothesis import strategies as st

from addon.google.certificates import CertificatesUnavailable
from addon.google.id_tokens import LATEST, LONGEST, SKEW, Unauthorised, Verifier
from addon.google.identity import REMOVED, Caller, Identity, PersonUnknown, audience_of, user_id_of
from addon.simulator.keys import Key, make_key

NOW = 1_800_000_000.0
BASE = "https://addon.example.com"
HOME = f"{BASE}/sidebar/home"
CLIENT = "client.apps.googleusercontent.com"
SYSTEM = "service-1@gcp-sa-gsuiteaddons.iam.gserviceaccount.com"
TASKS, SCHEDULER = "tasks@p.iam.gserviceaccount.com", "scheduler@p.iam.gserviceaccount.com"
PERSON = "you@example.com"
ISSUERS = ("https://accounts.google.com", "accounts.google.com")
Json = dict[str, Any]


@functools.cache
def key(name: str = "google") -> Key:
    """A key pair; made once, for that takes its time."""
    return make_key(name)


@functools.cache
def elliptic() -> EllipticKey:
    return EllipticKey()


class KeyRing:
    """The certificates that Google would publish; what was looked for."""

    def __init__(self) -> None:
        self.known = {key().id: key().certificate, "elliptic": elliptic().certificate, "broken": "no PEM"}
        self.sought: list[str] = []
        self.gone = False

    def find(self, key_id: str) -> str | None:
        self.sought.append(key_id)
        if self.gone:
            raise CertificatesUnavailable("certificates cannot be fetched")
        return self.known.get(key_id)


def a_verifier(ring: KeyRing | None = None, now: float = NOW) -> Verifier:
    return Verifier(ring or KeyRing(), ISSUERS, lambda: now)  # type: ignore[arg-type]


def an_identity(ring: KeyRing | None = None) -> Identity:
    accounts: Any = {"tasks": TASKS, "schedule": SCHEDULER}
    return Identity(a_verifier(ring), BASE, SYSTEM, CLIENT, accounts, frozenset({"admin@example.com"}))


def claims(audience: str = HOME, email: str = SYSTEM, **changes: Any) -> Json:
    """What Google says in a token; a change to ``...`` leaves the claim out."""
    said = {"iss": ISSUERS[0], "aud": audience, "sub": "1234", "email": email, "email_verified": True}
    said |= {"iat": int(NOW), "exp": int(NOW) + 3600} | changes
    return {name: value for name, value in said.items() if value is not ...}


HEADER = {"alg": "RS256", "typ": "JWT"}


def signed(said: Json | None = None, **header: Any) -> str:
    """A token of Google's with this payload; header fields may be changed, or left out with ``...``."""
    fields = {
        name: value for name, value in (HEADER | {"kid": key().id} | header).items() if value is not ...
    }
    return rsa_signed(key(), fields, claims() if said is None else said)


def refusal(call: Callable[[], Any]) -> str:
    with pytest.raises(Unauthorised) as raised:
        call()
    assert str(raised.value) == raised.value.reason
    return raised.value.reason


def verified(token: str, audience: str = HOME, now: float = NOW) -> Json:
    return a_verifier(now=now).verify(token, audience)


# ------------------------------------------------------------------------------- the signature


def test_a_token_of_googles_holds_for_its_audience() -> None:
    assert verified(signed()) == claims()


FORGED: dict[str, tuple[Callable[[], str], str]] = {
    # what is wrong: the token, the reason
    "alg none": (lambda: unsigned({"alg": "none", "kid": key().id}, claims()), "not signed with RS256"),
    "alg NONE": (lambda: unsigned({"alg": "NONE", "kid": key().id}, claims()), "not signed with RS256"),
    "alg in a list": (lambda: signed(alg=["RS256"]), "not signed with RS256"),
    "alg in small letters": (lambda: signed(alg="rs256"), "not signed with RS256"),
    "no alg": (lambda: signed(alg=...), "not signed with RS256"),
    "HS256 by certificate": (
        lambda: hs256(key().certificate, {"alg": "HS256", "kid": key().id}, claims()),
        "not signed with RS256",
    ),
    "HS256 by public key": (
        lambda: hs256(public_key(key()), {"alg": "HS256", "kid": key().id}, claims()),
        "not signed with RS256",
    ),
    "HS256 as RS256": (
        lambda: hs256(public_key(key()), {"alg": "RS256", "kid": key().id}, claims()),
        "wrong signature",
    ),
    "ES256": (
        lambda: elliptic().sign({"alg": "ES256", "kid": "elliptic"}, claims()),
        "not signed with RS256",
    ),
    "ES256 as RS256": (
        lambda: elliptic().sign({"alg": "RS256", "kid": "elliptic"}, claims()),
        "wrong signature",
    ),
    "RS256 for an elliptic key": (lambda: signed(kid="elliptic"), "wrong signature"),
    "RS384": (
        lambda: rsa_signed(key(), {"alg": "RS384", "kid": key().id}, claims(), "RS384"),
        "not signed with RS256",
    ),
    "PS256": (
        lambda: rsa_signed(key(), {"alg": "PS256", "kid": key().id}, claims(), "PS256"),
        "not signed with RS256",
    ),
    "RS384 as RS256": (
        lambda: rsa_signed(key(), {"alg": "RS256", "kid": key().id}, claims(), "RS384"),
        "wrong signature",
    ),
    "PS256 as RS256": (
        lambda: rsa_signed(key(), {"alg": "RS256", "kid": key().id}, claims(), "PS256"),
        "wrong signature",
    ),
    "a stranger's key": (
        lambda: rsa_signed(key("stranger"), HEADER | {"kid": key().id}, claims()),
        "wrong signature",
    ),
    "a stranger's key with a certificate of its own": (
        lambda: rsa_signed(
            key("stranger"),
            HEADER | {"kid": key().id, "x5c": [key("stranger").certificate], "jku": "https://evil.test"},
            claims(),
        ),
        "wrong signature",
    ),
    "unknown kid": (lambda: signed(kid="0" * 40), "unknown key id"),
    "no kid": (lambda: signed(kid=...), "no key id"),
    "empty kid": (lambda: signed(kid=""), "no key id"),
    "kid is a number": (lambda: signed(kid=7), "no key id"),
    "kid is a list": (lambda: signed(kid=[key().id]), "no key id"),
    "kid of a broken certificate": (lambda: signed(kid="broken"), "wrong signature"),
    "cut short": (lambda: signed()[:-4], "wrong signature"),
    "cut within a byte": (lambda: signed()[:-1], "not a token"),
    "no signature": (lambda: signed().rpartition(".")[0] + ".", "wrong signature"),
    "signature removed": (lambda: signed().rpartition(".")[0] + f".{REMOVED}", "wrong signature"),
    "another payload": (
        lambda: ".".join([signed().split(".")[0], segment(claims(sub="9")), signed().split(".")[2]]),
        "wrong signature",
    ),
    "two segments": (lambda: signed().rpartition(".")[0], "not a token"),
    "four segments": (lambda: signed() + ".x", "not a token"),
    "one segment": (lambda: "x", "not a token"),
    "nothing": (lambda: "", "not a token"),
    "spaces around": (lambda: f" {signed()} ", "not a token"),
    "not ASCII": (lambda: signed() + "é", "not a token"),
    "half of a pair": (lambda: signed() + "\ud800", "not a token"),
    "a NUL": (lambda: "\0.\0.\0", "not a token"),
    "too long": (lambda: signed(claims(padding="x" * LONGEST)), "not a token"),
    "header is a list": (lambda: rsa_signed(key(), ["RS256"], claims()), "not a token"),
    "payload is a list": (lambda: rsa_signed(key(), HEADER | {"kid": key().id}, [1]), "not a token"),
    "payload is text": (lambda: rsa_signed(key(), HEADER | {"kid": key().id}, "x"), "not a token"),
    "payload is null": (lambda: rsa_signed(key(), HEADER | {"kid": key().id}, None), "not a token"),
    "header is no JSON": (lambda: rsa_signed(key(), b"{", claims()), "not a token"),
    "header is not UTF-8": (lambda: rsa_signed(key(), b"\xff\xfe", claims()), "not a token"),
    "payload is no JSON": (lambda: rsa_signed(key(), HEADER | {"kid": key().id}, b"a=b"), "not a token"),
    "deep": (lambda: unsigned(b"[" * 3_000, b"[" * 2_000), "not a token"),
    "many digits": (lambda: unsigned(b'{"alg":' + b"9" * 5_000 + b"}", {}), "not a token"),
}


@pytest.mark.parametrize("name", FORGED)
def test_a_signature_that_is_not_googles_is_refused(name: str) -> None:
    made, reason = FORGED[name]
    assert refusal(lambda: verified(made())) == reason


def test_a_token_does_not_choose_how_it_is_checked() -> None:
    ring = KeyRing()
    for name in ("alg none", "HS256 by public key", "ES256", "PS256", "no kid", "not ASCII"):
        refusal(lambda made=FORGED[name][0]: a_verifier(ring).verify(made(), HOME))
    assert ring.sought == [], "refused before any key is looked for"


def test_without_certificates_nobody_is_refused_or_let_in() -> None:
    ring = KeyRing()
    ring.gone = True
    with pytest.raises(CertificatesUnavailable):
        a_verifier(ring).verify(signed(), HOME)


# ---------------------------------------------------------------------------------- the claims

TIMES: dict[str, tuple[Json, str | None]] = {
    # what is said: changes, the reason (None where the token holds)
    "issued at the edge of the skew": ({"iat": NOW + SKEW}, None),
    "issued beyond it": ({"iat": NOW + SKEW + 1}, "issued in the future"),
    "expired at the edge of the skew": ({"exp": NOW - SKEW}, None),
    "expired beyond it": ({"exp": NOW - SKEW - 1}, "expired"),
    "whole numbers": ({"iat": int(NOW), "exp": int(NOW)}, None),
    "fractions": ({"iat": NOW - 0.5, "exp": NOW + 0.5}, None),
    "for a day": ({"exp": NOW + LATEST}, None),
    "for more than a day": ({"exp": NOW + LATEST + 1}, "valid for longer than any of Google's"),
    "for ever": ({"exp": 10**400}, "valid for longer than any of Google's"),
    "issued in ages": ({"iat": 10**400}, "issued in the future"),
    "issued ages ago": ({"iat": -(10**400)}, None),
    "expired before 1970": ({"exp": -1}, "expired"),
    "no iat": ({"iat": ...}, "no time of issue or expiry"),
    "no exp": ({"exp": ...}, "no time of issue or expiry"),
    "iat as text": ({"iat": str(int(NOW))}, "no time of issue or expiry"),
    "exp as text": ({"exp": str(int(NOW) + 60)}, "no time of issue or expiry"),
    "exp null": ({"exp": None}, "no time of issue or expiry"),
    "exp true": ({"exp": True}, "no time of issue or expiry"),
    "iat false": ({"iat": False}, "no time of issue or expiry"),
    "exp in a list": ({"exp": [NOW + 60]}, "no time of issue or expiry"),
    "exp NaN": ({"exp": float("nan")}, "no time of issue or expiry"),
    "exp infinite": ({"exp": float("inf")}, "no time of issue or expiry"),
    "iat NaN": ({"iat": float("nan")}, "no time of issue or expiry"),
    "iat infinitely long ago": ({"iat": float("-inf")}, "no time of issue or expiry"),
}
ISSUED: dict[str, tuple[Json, str | None]] = {
    "with https": ({"iss": "https://accounts.google.com"}, None),
    "without": ({"iss": "accounts.google.com"}, None),
    "with http": ({"iss": "http://accounts.google.com"}, "wrong issuer"),
    "with a slash": ({"iss": "https://accounts.google.com/"}, "wrong issuer"),
    "in capitals": ({"iss": "https://Accounts.google.com"}, "wrong issuer"),
    "look-alike": ({"iss": "https://accounts.google.com.evil.test"}, "wrong issuer"),
    "itself": ({"iss": SYSTEM}, "wrong issuer"),
    "in a list": ({"iss": ["https://accounts.google.com"]}, "wrong issuer"),
    "an object": ({"iss": {}}, "wrong issuer"),
    "none": ({"iss": ...}, "wrong issuer"),
}
AUDIENCES: dict[str, tuple[Json, str | None]] = {
    "exact": ({"aud": HOME}, None),
    "trailing slash": ({"aud": f"{HOME}/"}, "wrong audience"),
    "another path": ({"aud": f"{BASE}/sidebar/run"}, "wrong audience"),
    "no path": ({"aud": BASE}, "wrong audience"),
    "a query": ({"aud": f"{HOME}?a=1"}, "wrong audience"),
    "a list of it": ({"aud": [HOME]}, "wrong audience"),
    "http": ({"aud": HOME.replace("https", "http")}, "wrong audience"),
    "host in capitals": ({"aud": HOME.replace("addon", "ADDON")}, "wrong audience"),
    "with the port": ({"aud": HOME.replace(".com", ".com:443")}, "wrong audience"),
    "another host": ({"aud": "https://evil.test/sidebar/home"}, "wrong audience"),
    "longer host": ({"aud": HOME.replace(".com", ".com.evil.test")}, "wrong audience"),
    "empty": ({"aud": ""}, "wrong audience"),
    "null": ({"aud": None}, "wrong audience"),
    "none": ({"aud": ...}, "wrong audience"),
}


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        pytest.param(*row, id=f"{table} - {name}")
        for table, rows in {"times": TIMES, "issuer": ISSUED, "audience": AUDIENCES}.items()
        for name, row in rows.items()
    ],
)
def test_a_claim_that_does_not_fit_is_refused(changes: Json, reason: str | None) -> None:
    token = signed(claims(**changes))
    if reason is None:
        assert verified(token)["sub"] == "1234"
    else:
        assert refusal(lambda: verified(token)) == reason


# ------------------------------------------------------------------- Google, for our own add-on


def an_event(**tokens: Any) -> Json:
    person = {"userOAuthToken": "ya29.user-token", "userIdToken": signed(claims(CLIENT, PERSON))}
    given = person | {"systemIdToken": signed()} | tokens
    return {"authorizationEventObject": {name: token for name, token in given.items() if token is not ...}}


def caller(event: Json | None = None, target: str = "/sidebar/home", **headers: str) -> Caller:
    return an_identity().sidebar_caller(target, headers, an_event() if event is None else event)


def test_a_person_is_known_by_what_google_says_of_them() -> None:
    found = caller(Authorization=f"Bearer {signed()}")
    assert found == Caller(user_id_of("1234"), PERSON, "ya29.user-token", admin=False)
    assert "ya29" not in repr(found)


@pytest.mark.parametrize("email", ["admin@example.com", "Admin@Example.com"])
def test_an_administrator_is_one_however_the_address_is_spelt(email: str) -> None:
    assert caller(an_event(userIdToken=signed(claims(CLIENT, email)))).admin


def test_the_query_of_the_address_is_part_of_what_the_token_is_for() -> None:
    event = an_event(systemIdToken=signed(claims(f"{HOME}?a=1")))
    assert caller(event, "/sidebar/home?a=1").email == PERSON
    assert refusal(lambda: caller(event)) == "wrong audience"
    assert refusal(lambda: caller(target="/sidebar/home?a=1")) == "wrong audience"


ACCOUNTS = {
    # e-mail of the system token, verified or not: the reason
    "another add-on": ({"email": SYSTEM.replace("-1@", "-2@")}, "the system token is another account's"),
    "in capitals": ({"email": SYSTEM.upper()}, "the system token is another account's"),
    "longer domain": ({"email": f"{SYSTEM}.evil.test"}, "the system token is another account's"),
    "longer name": ({"email": f"x{SYSTEM}"}, "the system token is another account's"),
    "a space behind": ({"email": f"{SYSTEM} "}, "the system token is another account's"),
    "look-alike letters": (
        {"email": SYSTEM.replace("s", "\u0455", 1)},
        "the system token is another account's",
    ),
    "the queue": ({"email": TASKS}, "the system token is another account's"),
    "a list": ({"email": [SYSTEM]}, "no verified e-mail address"),
    "none": ({"email": ...}, "no verified e-mail address"),
    "empty": ({"email": ""}, "no verified e-mail address"),
    "unverified": ({"email_verified": False}, "no verified e-mail address"),
    "verified is missing": ({"email_verified": ...}, "no verified e-mail address"),
    "verified in words": ({"email_verified": "true"}, "no verified e-mail address"),
    "verified is 1": ({"email_verified": 1}, "no verified e-mail address"),
}


@pytest.mark.parametrize("name", ACCOUNTS)
def test_only_this_add_ons_account_calls_the_sidebar(name: str) -> None:
    changes, reason = ACCOUNTS[name]
    assert refusal(lambda: caller(an_event(systemIdToken=signed(claims(**changes))))) == reason


GOOD, FORGERY, STRIPPED = "good", "forged", "stripped"
WHERE: dict[str, tuple[str | None, str | None, str | None]] = {
    # header, body: the reason (None where the call is Google's)
    "both": (GOOD, GOOD, None),
    "header only": (GOOD, None, None),
    "body only": (None, GOOD, None),
    "stripped header, good body": (STRIPPED, GOOD, None),
    "good header, stripped body": (GOOD, STRIPPED, None),
    "good header, forged body": (GOOD, FORGERY, "wrong signature"),
    "forged header, good body": (FORGERY, GOOD, "wrong signature"),
    "stripped header, forged body": (STRIPPED, FORGERY, "wrong signature"),
    "stripped header only": (STRIPPED, None, "no system token"),
    "both stripped": (STRIPPED, STRIPPED, "no system token"),
    "none": (None, None, "no system token"),
}


@pytest.mark.parametrize("name", WHERE)
def test_the_system_token_may_be_in_two_places_and_must_hold_wherever_it_is(name: str) -> None:
    header, body, reason = WHERE[name]
    tokens = {
        GOOD: signed(),
        FORGERY: rsa_signed(key("stranger"), HEADER | {"kid": key().id}, claims()),
        STRIPPED: f"{signed().rpartition('.')[0]}.{REMOVED}",
    }
    event = an_event(systemIdToken=tokens[body] if body else ...)
    headers = {"Authorization": f"Bearer {tokens[header]}"} if header else {}
    if reason is None:
        assert caller(event, **headers).email == PERSON
    else:
        assert refusal(lambda: caller(event, **headers)) == reason


@pytest.mark.parametrize("form", ["Bearer {}", "bearer {}", "BEARER {}", "Bearer   {}", "Bearer {} "])
def test_the_scheme_is_bearer_in_any_spelling(form: str) -> None:
    assert caller(an_event(systemIdToken=...), Authorization=form.format(signed())).email == PERSON


@pytest.mark.parametrize(
    "form", ["Basic {}", "{}", "Bearer{}", "Bearer", "Token {}", "Bearer {0},Bearer {0}"]
)
def test_no_other_authorization_is_read(form: str) -> None:
    event = an_event(systemIdToken=...)
    assert refusal(lambda: caller(event, Authorization=form.format(signed()))) in {
        "no system token",
        "not a token",  # two headers, which the server joins
    }


PEOPLE: dict[str, tuple[Json, str]] = {
    # the person's token: changes to its claims, the reason
    "another client": ({"aud": "other.apps.googleusercontent.com"}, "wrong audience"),
    "this service": ({"aud": HOME}, "wrong audience"),
    "expired": ({"exp": NOW - 60}, "expired"),
    "no subject": ({"sub": ...}, "the person's token has no subject"),
    "empty subject": ({"sub": ""}, "the person's token has no subject"),
    "subject is a number": ({"sub": 1234}, "the person's token has no subject"),
    "unverified": ({"email_verified": False}, "no verified e-mail address"),
    "no e-mail": ({"email": ...}, "no verified e-mail address"),
}


@pytest.mark.parametrize("name", PEOPLE)
def test_a_person_proves_who_they_are_to_this_add_on(name: str) -> None:
    changes, reason = PEOPLE[name]
    token = signed(claims(CLIENT, PERSON) | changes if ... not in changes.values() else _without(changes))
    assert refusal(lambda: caller(an_event(userIdToken=token))) == reason


def _without(changes: Json) -> Json:
    return {name: value for name, value in claims(CLIENT, PERSON).items() if name not in changes}


def test_another_person_is_another_caller() -> None:
    other = caller(an_event(userIdToken=signed(claims(CLIENT, "her@example.com", sub="5"))))
    assert (other.user_id, other.email) == (user_id_of("5"), "her@example.com")
    assert other.user_id != caller().user_id


@pytest.mark.parametrize("absent", [..., "", None, 7, ["x"]])
def test_a_person_who_is_not_named_is_unknown_once_google_is_proved(absent: Any) -> None:
    event = an_event(userIdToken=absent)
    with pytest.raises(PersonUnknown):
        caller(event)
    event["authorizationEventObject"]["systemIdToken"] = "x"
    assert refusal(lambda: caller(event)) == "not a token", "nobody else is told what Google would be"


@pytest.mark.parametrize("token", [..., "", None, 7, "a b", "a\r\nX: y", "\ud800", "é", "x" * 9_000])
def test_a_call_without_a_token_to_act_with_is_no_call(token: Any) -> None:
    event = an_event(userOAuthToken=token)
    assert refusal(lambda: caller(event)) == "the event carries no user token"


@pytest.mark.parametrize("said", [..., None, [], "x", 7, {}])
def test_an_event_without_proofs_proves_nothing(said: Any) -> None:
    event = {} if said is ... else {"authorizationEventObject": said}
    assert refusal(lambda: caller(event)) == "no system token"


# ---------------------------------------------------------------------- the queue, the scheduler

AUTOMATA = {
    # who is let in, token's audience, token's account: the reason (None where it is let in)
    "the queue": ("tasks", "tasks", TASKS, None),
    "the scheduler": ("schedule", "schedule", SCHEDULER, None),
    "the scheduler at the queue's": ("tasks", "schedule", SCHEDULER, "wrong audience"),
    "the queue at the scheduler's": ("schedule", "tasks", TASKS, "wrong audience"),
    "the queue with the wrong audience": ("schedule", "schedule", TASKS, "the token is another account's"),
    "the scheduler with the wrong one": ("tasks", "tasks", SCHEDULER, "the token is another account's"),
    "the add-on": ("tasks", "tasks", SYSTEM, "the token is another account's"),
    "a person": ("tasks", "tasks", PERSON, "the token is another account's"),
    "for a route": ("tasks", "tasks/link", TASKS, "wrong audience"),
}


@pytest.mark.parametrize("name", AUTOMATA)
def test_queue_and_scheduler_are_let_in_by_their_own_doors(name: str) -> None:
    door, audience, account, reason = AUTOMATA[name]
    headers = {"Authorization": f"Bearer {signed(claims(f'{BASE}/{audience}', account))}"}
    check = functools.partial(an_identity().check_automaton, door, headers)  # type: ignore[arg-type]
    assert (check() if reason is None else refusal(check)) == reason


def test_an_automaton_without_a_token_stays_outside() -> None:
    stripped = signed(claims(audience_of(BASE, "tasks"), TASKS)).rpartition(".")[0]
    for headers, reason in (
        ({}, "no bearer token"),
        ({"Authorization": "Basic x"}, "no bearer token"),
        ({"Authorization": f"Bearer {stripped}.{REMOVED}"}, "wrong signature"),
    ):
        assert refusal(lambda h=headers: an_identity().check_automaton("tasks", h)) == reason


# ------------------------------------------------------------------------- whatever comes at all

ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
CLAIM_NAMES = ["iss", "aud", "sub", "email", "email_verified", "iat", "exp"]


@st.composite
def tokens(draw: st.DrawFn) -> str:
    """Texts that are, nearly are, or are not at all tokens."""
    kind = draw(st.sampled_from(["text", "segments", "unsigned", "cut", "signed"]))
    if kind == "text":
        return draw(st.text(max_size=60))
    if kind == "segments":
        return ".".join(draw(st.lists(st.binary(max_size=30).map(segment), min_size=3, max_size=3)))
    header = draw(st.just(HEADER | {"kid": key().id}) | ANY_JSON)
    changes = draw(st.dictionaries(st.sampled_from(CLAIM_NAMES), ANY_JSON, max_size=4))
    said = draw(st.just(claims() | changes) | st.just(claims(CLIENT, PERSON) | changes) | ANY_JSON)
    if kind == "unsigned":
        return unsigned(header, said, draw(st.binary(max_size=10).map(segment)))
    token = rsa_signed(key(), header, said)
    return token[: draw(st.integers(0, len(token)))] if kind == "cut" else token


TOKENS = tokens()
EVENTS = st.fixed_dictionaries(
    {},
    optional={
        "authorizationEventObject": ANY_JSON
        | st.fixed_dictionaries(
            {},
            optional={
                "systemIdToken": TOKENS | ANY_JSON,
                "userIdToken": TOKENS | ANY_JSON,
                "userOAuthToken": st.text(max_size=40) | ANY_JSON,
            },
        )
    },
)


def leaks(error: BaseException, *sent: object) -> bool:
    """Whether an exception, or one behind it, holds 12 characters of any text that was sent."""
    said = ""
    seen: BaseException | None = error
    while seen is not None:
        said += f"{seen!s} {seen!r} {seen.args!r}"
        seen = seen.__cause__ or (None if seen.__suppress_context__ else seen.__context__)
    texts = [text for text in map(str, sent) if len(text) >= 12]
    return any(text[at : at + 12] in said for text in texts for at in range(len(text) - 11))


@given(token=TOKENS, audience=st.sampled_from([HOME, CLIENT, ""]))
def test_no_text_makes_the_verifier_stumble_or_tell(token: str, audience: str) -> None:
    try:
        assert isinstance(verified(token, audience), dict)
    except Unauthorised as refused:
        assert not leaks(refused, token)


@given(header=st.none() | TOKENS, event=EVENTS, target=st.sampled_from(["/sidebar/home", "/sidebar/run?x"]))
def test_no_call_makes_the_identity_stumble_or_tell(header: str | None, event: Json, target: str) -> None:
    headers = {} if header is None else {"Authorization": f"Bearer {header}"}
    try:
        found = an_identity().sidebar_caller(target, headers, event)
        assert isinstance(found.user_id, str) and "token" not in repr(found)
    except (Unauthorised, PersonUnknown) as refused:
        said = event.get("authorizationEventObject")
        assert not leaks(refused, header or "", *(said.values() if isinstance(said, dict) else ()))


@given(subject=st.text(st.characters(), min_size=1) | st.just("\ud800"))
def test_every_subject_has_an_id(subject: str) -> None:
    assert len(user_id_of(subject)) == 24
    token = signed(claims(CLIENT, PERSON, sub=json.loads(json.dumps(subject))))
    assert caller(an_event(userIdToken=token)).user_id == user_id_of(subject)
