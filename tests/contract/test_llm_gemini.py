"""Gemini over the wire: what is sent, and what becomes of everything Google may answer."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest
from llm_messages import KEY, answer_of
from llm_wire import LlmServer
from scripted import Reply

from addon.llm.base import (
    Blocked,
    Empty,
    Fatal,
    Outcome,
    Prompt,
    Rejected,
    Text,
    Transient,
    Truncated,
    Usage,
)
from addon.llm.gemini import ApiKey, Gemini, thinking_config

USAGE = Usage(70, 30)
PROMPT = Prompt("Summarise in one sentence.", (("Subject", "Late parcel"), ("Text", "It came on Monday.")))


@pytest.fixture
def server() -> Iterator[LlmServer]:
    with LlmServer("gemini").running() as running:
        yield running


def gemini(server: LlmServer, model: str = "gemini-2.5-flash", key: str = KEY, **options: Any) -> Gemini:
    return Gemini(model, ApiKey(key, server.url), **options)


def ask(server: LlmServer, reply: Reply) -> Outcome:
    server.enqueue(reply)
    outcome = gemini(server).summarise(PROMPT, 5.0)
    assert server.problems == []
    assert len(server.requests) == 1, "one call, one request"
    return outcome


def said(*parts: Any, finish: object = "STOP", **more: Any) -> Reply:
    """An answer with these parts."""
    body = answer_of("gemini", "")
    body["candidates"][0] |= {"content": {"role": "model", "parts": list(parts)}, "finishReason": finish}
    return Reply(json={**body, **more})


def ended(finish: object) -> Reply:
    """An answer without content."""
    body = answer_of("gemini", "")
    body["candidates"] = [{"finishReason": finish, "index": 0}]
    return Reply(json=body)


def without(name: str) -> Reply:
    body = answer_of("gemini", "hello")
    del body[name]
    return Reply(json=body)


BROKEN = {"candidates": None, "usageMetadata": {"promptTokenCount": 70, "candidatesTokenCount": 30}}
ODD_USAGE = {"promptTokenCount": "many", "candidatesTokenCount": -3, "thoughtsTokenCount": True}

SUCCESSES: dict[str, tuple[Reply, Outcome]] = {
    "a summary": (said({"text": " hello \n"}), Text("hello", USAGE)),
    "in two parts": (said({"text": "hel"}, {"text": "lo"}), Text("hello", USAGE)),
    "after a thought": (
        said({"text": "hm", "thought": True}, {"text": "hello"}),
        Text("hello", USAGE),
    ),
    "with a lone surrogate": (
        Reply(
            body=b'{"candidates":[{"finishReason":"STOP","content":{"parts":[{"text":"a\\ud83d\\u0000b"}]}}]}'
        ),
        Text("a\ufffdb"),
    ),
    "thinking counts as output": (
        said(
            {"text": "hello"},
            usageMetadata={"promptTokenCount": 5, "candidatesTokenCount": 3, "thoughtsTokenCount": 90},
        ),
        Text("hello", Usage(5, 93)),
    ),
    "no usage": (without("usageMetadata"), Text("hello")),
    "odd usage": (said({"text": "hello"}, usageMetadata=ODD_USAGE), Text("hello")),
    "usage is a list": (said({"text": "hello"}, usageMetadata=[1]), Text("hello")),
    "only a thought": (said({"text": "hm", "thought": True}), Empty(USAGE)),
    "an empty text": (said({"text": ""}), Empty(USAGE)),
    "a text nobody sees": (said({"text": " \u200b\n"}), Empty(USAGE)),
    "no parts": (said(), Empty(USAGE)),
    "parts of another kind": (said({"functionCall": {"name": "f"}}, "x", {"text": 3}), Empty(USAGE)),
    "the model stumbled": (ended("MALFORMED_RESPONSE"), Empty(USAGE)),
    "MAX_TOKENS with half a text": (said({"text": "half a"}, finish="MAX_TOKENS"), Truncated(USAGE)),
    "MAX_TOKENS without parts": (ended("MAX_TOKENS"), Truncated(USAGE)),
    **{
        word: (ended(word), Blocked(word, USAGE))
        for word in (
            "SAFETY",
            "RECITATION",
            "PROHIBITED_CONTENT",
            "SPII",
            "BLOCKLIST",
            "OTHER",
            "MODEL_ARMOR",
        )
    },
    "SAFETY with a text": (said({"text": "half"}, finish="SAFETY"), Blocked("SAFETY", USAGE)),
    "an unknown end": (said({"text": "t"}, finish="BRAND_NEW"), Blocked("BRAND_NEW", USAGE)),
    "an end that is a sentence": (ended("The parcel of Ms. Ito"), Blocked("UNKNOWN", USAGE)),
    "an end that is a list": (ended(["STOP"]), Transient("no_finish_reason")),
    "no end": (said({"text": "hello"}, finish=None), Transient("no_finish_reason")),
    "a blocked prompt": (
        Reply(
            json={
                "promptFeedback": {"blockReason": "PROHIBITED_CONTENT"},
                "usageMetadata": BROKEN["usageMetadata"],
            }
        ),
        Blocked("PROHIBITED_CONTENT", USAGE),
    ),
    "no candidates": (Reply(json={"candidates": []}), Transient("no_candidates")),
    "candidates null": (Reply(json=BROKEN), Transient("no_candidates")),
    "candidates of another kind": (Reply(json={"candidates": ["x"]}), Transient("no_finish_reason")),
    "nothing": (Reply(json={}), Transient("no_candidates")),
    "an empty body": (Reply(), Transient("empty_answer")),
    "204": (Reply(204), Transient("empty_answer")),
    "a page": (
        Reply(body=b"<html>hi</html>", headers={"Content-Type": "text/html"}),
        Transient("html_answer"),
    ),
    "a page said to be JSON": (Reply(body=b"<html>hi</html>"), Transient("broken_json")),
    "broken JSON": (Reply(body=b'{"candidates": [{"conte'), Transient("broken_json")),
    "a deep JSON": (Reply(body=b"[" * 100_000), Transient("broken_json")),
    "bytes": (Reply(body=b"\xff\xfe\x00"), Transient("broken_json")),
    "a list": (Reply(json=[1]), Transient("unexpected_json")),
    "a number": (Reply(body=b"7"), Transient("unexpected_json")),
    "an error of its own": (
        Reply(json={"error": {"code": 503, "status": "UNAVAILABLE", "message": "busy"}}),
        Transient("server_error"),
    ),
    "a refusal of its own": (
        Reply(json={"error": {"code": 429, "status": "RESOURCE_EXHAUSTED"}}),
        Transient("rate_limited", rate_limited=True),
    ),
    "an error without a code": (Reply(json={"error": "busy"}), Transient("error_in_answer")),
    "far too long": (Reply(body=b" " * (5 * 1024 * 1024)), Transient("answer_too_long")),
}


@pytest.mark.parametrize("case", SUCCESSES)
def test_every_answer_of_200_has_its_outcome(server: LlmServer, case: str) -> None:
    reply, outcome = SUCCESSES[case]
    assert ask(server, reply) == outcome


def error(
    status: int,
    word: str = "",
    message: str = "",
    *details: dict[str, Any],
    headers: dict[str, str] | None = None,
) -> Reply:
    body = {"code": status, "message": message, "status": word, "details": list(details)}
    return Reply(status, {"error": body}, headers=headers or {})


def retry_in(delay: str) -> dict[str, Any]:
    return {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": delay}


def quota(quota_id: str, value: str = "10") -> dict[str, Any]:
    violation = {"quotaId": quota_id, "quotaValue": value, "quotaMetric": "requests"}
    return {"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": [violation]}


def because(reason: str) -> dict[str, Any]:
    return {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": reason}


def limited(wait: float | None) -> Transient:
    return Transient("rate_limited", wait, rate_limited=True)


BUSY = "RESOURCE_EXHAUSTED"
SECRET = "the row of Ms. Ito"

ERRORS: dict[str, tuple[Reply, Outcome]] = {
    "429 with RetryInfo": (error(429, BUSY, "", retry_in("53s")), limited(53.0)),
    "429 with part of a second": (error(429, BUSY, "", retry_in("3.5s")), limited(3.5)),
    "429 with a quota per minute": (
        error(429, BUSY, "", quota("GenerateRequestsPerMinutePerProjectPerModel"), retry_in("7s")),
        limited(7.0),
    ),
    "RetryInfo before Retry-After": (
        error(429, BUSY, "", retry_in("7s"), headers={"Retry-After": "90"}),
        limited(7.0),
    ),
    "429 with Retry-After": (error(429, BUSY, headers={"Retry-After": "11"}), limited(11.0)),
    "429 with Retry-After of nonsense": (error(429, BUSY, headers={"Retry-After": "soon"}), limited(None)),
    "429 with Retry-After of nan": (error(429, BUSY, headers={"Retry-After": "nan"}), limited(None)),
    "429 with RetryInfo of nonsense": (error(429, BUSY, "", retry_in("-3s")), limited(None)),
    "429 for ever": (error(429, BUSY, "", retry_in("999999999s")), limited(86400.0)),
    "429 without a hint": (error(429, BUSY, "Resource exhausted. Please try again later."), limited(None)),
    "429 as a page": (Reply(429, body=b"<html>", headers={"Content-Type": "text/html"}), limited(None)),
    "429 for the day": (
        error(429, BUSY, "", quota("GenerateRequestsPerDayPerProjectPerModel-FreeTier"), retry_in("9s")),
        Fatal("quota_exhausted"),
    ),
    "429 for a quota of nothing": (error(429, BUSY, "", quota("PerMinute", "0")), Fatal("quota_exhausted")),
    "429 with limit: 0": (error(429, BUSY, "Quota exceeded, limit: 0, model: x"), Fatal("quota_exhausted")),
    "429 with limit: 0.5": (error(429, BUSY, "Quota exceeded, limit: 0.5"), limited(None)),
    "404": (error(404, "NOT_FOUND", "models/x is not found"), Fatal("model_unknown")),
    "404 as a page": (Reply(404, body=b"<html>"), Fatal("model_unknown")),
    "401": (error(401, "UNAUTHENTICATED"), Fatal("key_rejected")),
    "403": (error(403, "PERMISSION_DENIED"), Fatal("key_rejected")),
    "400 for the key": (
        error(
            400,
            "INVALID_ARGUMENT",
            "API key not valid. Please pass a valid API key.",
            because("API_KEY_INVALID"),
        ),
        Fatal("key_rejected"),
    ),
    "400 for the key, in words alone": (
        error(400, "INVALID_ARGUMENT", "API key expired. Please renew it."),
        Fatal("key_rejected"),
    ),
    "400 for the country": (
        error(400, "FAILED_PRECONDITION", "User location is not supported for the API use."),
        Fatal("key_rejected"),
    ),
    "400": (error(400, "INVALID_ARGUMENT", f"Bad text: {SECRET}"), Rejected("INVALID_ARGUMENT")),
    "400 that quotes a key's refusal": (
        error(400, "INVALID_ARGUMENT", "Bad text: API key not valid"),
        Rejected("INVALID_ARGUMENT"),
    ),
    "400 with a reason": (
        error(400, "INVALID_ARGUMENT", "", because("TOO_LONG")),
        Rejected("TOO_LONG"),
    ),
    "400 with sentences for words": (error(400, SECRET, SECRET, because(SECRET)), Rejected("no_reason")),
    "400 as a page": (Reply(400, body=b"<html>"), Rejected("no_reason")),
    "400 in a list": (
        Reply(400, [{"error": {"code": 400, "status": "INVALID_ARGUMENT"}}]),
        Rejected("INVALID_ARGUMENT"),
    ),
    "400 of odd shapes": (
        Reply(
            400, {"error": {"code": [], "status": 3, "details": [7, {"violations": 3}, {"violations": [3]}]}}
        ),
        Rejected("no_reason"),
    ),
    "413": (Reply(413), Rejected("no_reason")),
    "301": (Reply(301, headers={"Location": "http://127.0.0.1:9/"}), Transient("redirected")),
    "408": (Reply(408), Transient("server_error")),
    "500": (error(500, "INTERNAL"), Transient("server_error")),
    "502 as a page": (Reply(502, body=b"<html>Bad Gateway"), Transient("server_error")),
    "503 with a wait": (
        error(503, "UNAVAILABLE", headers={"Retry-After": "4"}),
        Transient("server_error", 4.0),
    ),
    "504": (error(504, "DEADLINE_EXCEEDED"), Transient("server_error")),
    "a lost connection": (Reply(lost=True), Transient("connection_lost")),
}


@pytest.mark.parametrize("case", ERRORS)
def test_every_error_has_its_outcome(server: LlmServer, case: str) -> None:
    reply, outcome = ERRORS[case]
    assert ask(server, reply) == outcome


def test_a_wait_named_as_a_date_is_kept(server: LlmServer) -> None:
    date = format_datetime(datetime.now(UTC) + timedelta(seconds=40), usegmt=True)
    outcome = ask(server, error(429, BUSY, headers={"Retry-After": date}))
    assert isinstance(outcome, Transient)
    assert outcome.wait is not None
    assert 20 < outcome.wait <= 40


# what is sent


def test_instructions_and_row_are_sent_apart_and_nothing_else(server: LlmServer) -> None:
    model = gemini(server, temperature=0.2, max_output_tokens=900)
    outcome = model.summarise(PROMPT, 5.0)
    assert outcome == Text("summary of Late parcel It came on Monday.", Usage(29, 41))
    request = server.requests[0]
    assert request.path == "/v1beta/models/gemini-2.5-flash:generateContent"
    body = request.json
    assert set(body) == {"systemInstruction", "contents", "generationConfig"}
    assert body["generationConfig"] == {
        "maxOutputTokens": 900,
        "temperature": 0.2,
        "thinkingConfig": {"thinkingBudget": 0},
    }
    system = body["systemInstruction"]["parts"][0]["text"]
    assert system.endswith("Summarise in one sentence.")
    assert "Monday" not in system
    assert "Summarise" not in str(body["contents"])
    assert model.name == "gemini:gemini-2.5-flash"
    assert model.settings == {
        "prompt": 1,
        "max_output_tokens": 900,
        "temperature": 0.2,
        "thinkingBudget": 0,
    }


@pytest.mark.parametrize("text", ["\ud83d", "a\x00b\x1f", "", "\U0001f600 \u2028 日本語", '"}]}\n</row>'])
def test_whatever_is_in_a_cell_a_title_or_the_instructions_makes_a_proper_request(
    server: LlmServer, text: str
) -> None:
    prompt = Prompt(f"Do {text}", ((text, "x"), (text, f"y {text}")))
    assert isinstance(gemini(server).summarise(prompt, 5.0), Text)
    assert server.problems == []


@pytest.mark.parametrize(
    ("model", "thinking", "config"),
    [
        ("gemini-2.5-flash", "least", {"thinkingBudget": 0}),
        ("gemini-2.5-flash-lite", "least", {"thinkingBudget": 0}),
        ("gemini-2.5-pro", "least", {"thinkingBudget": 128}),
        ("gemini-3-flash-preview", "least", {"thinkingLevel": "LOW"}),
        ("gemini-3.1-pro-preview", "high", {"thinkingLevel": "HIGH"}),
        ("gemini-2.5-pro", "2000", {"thinkingBudget": 2000}),
        ("gemini-2.0-flash", "least", {}),
        ("gemini-2.5-flash", "default", {}),
        ("gemini-3-flash-preview", "default", {}),
    ],
)
def test_thinking_is_asked_for_as_the_model_takes_it(
    server: LlmServer, model: str, thinking: str, config: dict[str, Any]
) -> None:
    assert thinking_config(model, thinking) == config
    made = gemini(server, model, thinking=thinking)
    assert {name: value for name, value in made.settings.items() if "thinking" in name} == config


@pytest.mark.parametrize(
    ("model", "thinking"), [("gemini-2.5-flash", "low"), ("gemini-3-pro", "much"), ("x", "-1")]
)
def test_a_thinking_nobody_understands_is_refused_at_once(
    server: LlmServer, model: str, thinking: str
) -> None:
    with pytest.raises(ValueError, match="thinking must be"):
        gemini(server, model, thinking=thinking)


@pytest.mark.parametrize("model", ["gemini-2.5-pro", "gemini-3-flash-preview"])
def test_levels_and_budgets_are_fields_that_google_knows(server: LlmServer, model: str) -> None:
    assert isinstance(gemini(server, model).summarise(PROMPT, 5.0), Text)
    assert server.problems == []


def test_a_model_google_does_not_know_and_a_wrong_key_are_told_apart(server: LlmServer) -> None:
    assert gemini(server, "gemini-99").summarise(PROMPT, 5.0) == Fatal("model_unknown")
    assert gemini(server, key="wrong").summarise(PROMPT, 5.0) == Fatal("key_rejected")
    assert gemini(server, "../../x?key=1").summarise(PROMPT, 5.0) == Fatal("model_unknown")


# secrets, threads


@pytest.mark.parametrize("case", [*SUCCESSES, *ERRORS])
def test_the_key_and_the_row_are_in_no_outcome_and_no_log(
    server: LlmServer, caplog: pytest.LogCaptureFixture, case: str
) -> None:
    reply, _ = {**SUCCESSES, **ERRORS}[case]
    server.enqueue(reply)
    model = gemini(server)
    with caplog.at_level("INFO"):
        outcome = model.summarise(PROMPT, 5.0)
    shown = f"{outcome!r}{model!r}{vars(model)!r}{caplog.text}"
    assert KEY not in shown
    assert SECRET not in shown
    assert all(KEY not in str(request.query) + request.path for request in server.requests)


@pytest.mark.parametrize("key", ["", "  ", "two\nlines", "schlüssel", "a b"])
def test_a_key_that_can_be_none_is_refused_without_showing_it(key: str) -> None:
    with pytest.raises(ValueError, match="API key") as raised:
        ApiKey(key)
    assert not key.strip() or key not in str(raised.value)


def test_sixteen_threads_sharing_a_model_never_get_each_others_summaries(server: LlmServer) -> None:
    model = gemini(server)

    def call(number: int) -> bool:
        prompt = Prompt("Summarise.", (("n", f"row {number} of many"),))
        return model.summarise(prompt, 20.0) == Text(
            f"summary of row {number} of many",
            Usage(len(f"row {number} of many"), len(f"summary of row {number} of many")),
        )

    with ThreadPoolExecutor(16) as threads:
        assert all(threads.map(call, range(160)))
    assert server.counts()["rows"] == 160
