"""Chat completions over the wire: what is sent, and what becomes of everything a server may answer."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
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
from addon.llm.openai import OpenAI, limit_field_of

USAGE = Usage(70, 30)
PROMPT = Prompt("Summarise in one sentence.", (("Subject", "Late parcel"), ("Text", "It came on Monday.")))
SECRET = "the row of Ms. Ito"


@pytest.fixture
def server() -> Iterator[LlmServer]:
    with LlmServer("openai").running() as running:
        yield running


def openai(server: LlmServer, key: str | None = KEY, model: str = "gpt-4o-mini", **options: Any) -> OpenAI:
    return OpenAI(model, key, server.url, **options)


def ask(server: LlmServer, reply: Reply) -> Outcome:
    server.enqueue(reply)
    outcome = openai(server).summarise(PROMPT, 5.0)
    assert server.problems == []
    assert len(server.requests) == 1, "one call, one request"
    return outcome


def said(content: object, finish: object = "stop", **message: Any) -> Reply:
    """An answer with this content."""
    body = answer_of("openai", "")
    body["choices"][0] |= {"finish_reason": finish}
    body["choices"][0]["message"] |= {"content": content, **message}
    return Reply(json=body)


def with_usage(usage: object) -> Reply:
    return Reply(json={**answer_of("openai", "hello"), "usage": usage})


SUCCESSES: dict[str, tuple[Reply, Outcome]] = {
    "a summary": (said(" hello \n"), Text("hello", USAGE)),
    "in parts": (
        said(
            [
                {"type": "text", "text": "hel"},
                {"type": "reasoning", "text": "hm"},
                {"type": "text", "text": "lo"},
            ]
        ),
        Text("hello", USAGE),
    ),
    "a server's own word for the end": (said("hello", "eos_token"), Text("hello", USAGE)),
    "reasoning beside it": (said("hello", reasoning_content="hm"), Text("hello", USAGE)),
    "reasoning within it": (said("<think>\nhm\n</think>\n\nhello"), Text("hello", USAGE)),
    "a tag in the middle": (said("hello <think>x</think>"), Text("hello <think>x</think>", USAGE)),
    "a lone surrogate": (
        Reply(body=b'{"choices":[{"finish_reason":"stop","message":{"content":"a\\ud83d\\u0000b"}}]}'),
        Text("a\ufffdb"),
    ),
    "no usage": (with_usage(None), Text("hello")),
    "odd usage": (with_usage({"prompt_tokens": "7", "completion_tokens": -1}), Text("hello")),
    "half a usage": (with_usage({"prompt_tokens": 7}), Text("hello", Usage(7, 0))),
    "only reasoning": (said("", reasoning_content="hm"), Empty(USAGE)),
    "only reasoning within": (said("<think>hm"), Empty(USAGE)),
    "content null": (said(None), Empty(USAGE)),
    "content of another kind": (said({"text": "x"}), Empty(USAGE)),
    "a text nobody sees": (said(" \u200b\n"), Empty(USAGE)),
    "a call of nothing": (said(None, "tool_calls"), Empty(USAGE)),
    "a refusal": (said(None, refusal=f"I will not, {SECRET}"), Blocked("refusal", USAGE)),
    "content_filter": (said("half", "content_filter"), Blocked("content_filter", USAGE)),
    "length": (said("half a", "length"), Truncated(USAGE)),
    "length with reasoning alone": (said("", "length", reasoning_content="hm"), Truncated(USAGE)),
    "an unknown end": (said("t", "brand_new"), Blocked("brand_new", USAGE)),
    "an end that is a sentence": (said("t", SECRET), Blocked("unknown", USAGE)),
    "an end that is a list": (said("t", ["stop"]), Transient("no_finish_reason")),
    "no end": (said("hello", None), Transient("no_finish_reason")),
    "an error for an end": (said("half", "error"), Transient("server_error")),
    "no choices": (Reply(json={"choices": []}), Transient("no_choices")),
    "choices null": (Reply(json={"choices": None}), Transient("no_choices")),
    "choices of another kind": (Reply(json={"choices": ["x"]}), Transient("no_finish_reason")),
    "a message of another kind": (
        Reply(json={"choices": [{"finish_reason": "stop", "message": "x"}]}),
        Empty(),
    ),
    "nothing": (Reply(json={}), Transient("no_choices")),
    "an empty body": (Reply(), Transient("empty_answer")),
    "204": (Reply(204), Transient("empty_answer")),
    "a page": (Reply(body=b"<html>", headers={"Content-Type": "text/html"}), Transient("html_answer")),
    "a page said to be JSON": (Reply(body=b"<html>"), Transient("broken_json")),
    "broken JSON": (Reply(body=b'{"choices": [{"mess'), Transient("broken_json")),
    "a stream": (Reply(body=b"data: {}\n\ndata: [DONE]\n\n"), Transient("broken_json")),
    "a list": (Reply(json=[1]), Transient("unexpected_json")),
    "an error of its own": (
        Reply(json={"error": {"code": 502, "message": SECRET}}),
        Transient("server_error"),
    ),
    "an error without a code": (Reply(json={"error": {"message": SECRET}}), Transient("error_in_answer")),
    "a known refusal of its own": (
        Reply(json={"error": {"code": "insufficient_quota"}}),
        Fatal("insufficient_quota"),
    ),
    "a filter's refusal of its own": (
        Reply(json={"error": {"code": "content_filter"}}),
        Blocked("content_filter"),
    ),
}


@pytest.mark.parametrize("case", SUCCESSES)
def test_every_answer_of_200_has_its_outcome(server: LlmServer, case: str) -> None:
    reply, outcome = SUCCESSES[case]
    assert ask(server, reply) == outcome


def error(
    status: int,
    code: object = None,
    kind: str = "",
    message: str = "",
    *,
    headers: dict[str, str] | None = None,
) -> Reply:
    body = {"message": message, "type": kind, "param": None, "code": code}
    return Reply(status, {"error": body}, headers=headers or {})


def limited(wait: float | None) -> Transient:
    return Transient("rate_limited", wait, rate_limited=True)


ERRORS: dict[str, tuple[Reply, Outcome]] = {
    "429 with Retry-After": (error(429, "rate_limit_exceeded", headers={"Retry-After": "11"}), limited(11.0)),
    "429 with milliseconds": (
        error(429, "rate_limit_exceeded", headers={"retry-after-ms": "1500", "Retry-After": "2"}),
        limited(1.5),
    ),
    "429 without a hint": (error(429, "rate_limit_exceeded"), limited(None)),
    "429 as a text": (Reply(429, body=b"slow down"), limited(None)),
    "429 without credit": (
        error(429, "insufficient_quota", "insufficient_quota", headers={"Retry-After": "9"}),
        Fatal("insufficient_quota"),
    ),
    "429 without credit by its type": (error(429, None, "insufficient_quota"), Fatal("insufficient_quota")),
    "429 of a gateway to Gemini, for the day": (
        Reply(
            429,
            [
                {
                    "error": {
                        "code": 429,
                        "status": "RESOURCE_EXHAUSTED",
                        "details": [
                            {
                                "@type": "x/google.rpc.QuotaFailure",
                                "violations": [{"quotaId": "RequestsPerDay"}],
                            }
                        ],
                    }
                }
            ],
        ),
        Fatal("quota_exhausted"),
    ),
    "402": (Reply(402), Fatal("insufficient_quota")),
    "401": (
        error(401, "invalid_api_key", message=f"Incorrect API key provided: {KEY}"),
        Fatal("key_rejected"),
    ),
    "403": (error(403, "unsupported_country_region_territory"), Fatal("key_rejected")),
    "403 for the model": (error(403, "model_not_found"), Fatal("model_unknown")),
    "404": (error(404, "model_not_found"), Fatal("model_unknown")),
    "404 with a number": (error(404, 404, "NotFoundError"), Fatal("model_unknown")),
    "404 of Ollama": (Reply(404, {"error": "model 'x' not found"}), Fatal("model_unknown")),
    "400 for the model": (error(400, "model_not_found"), Fatal("model_unknown")),
    "400": (error(400, None, "invalid_request_error", SECRET), Rejected("invalid_request_error")),
    "400 too long": (error(400, "context_length_exceeded"), Rejected("context_length_exceeded")),
    "400 of Azure's filter": (error(400, "content_filter"), Blocked("content_filter")),
    "400 with sentences for words": (error(400, SECRET, SECRET), Rejected("no_reason")),
    "400 as a text": (Reply(400, body=SECRET.encode()), Rejected("no_reason")),
    "422": (Reply(422, {"detail": [{"msg": SECRET}]}), Rejected("no_reason")),
    "307": (Reply(307, headers={"Location": "http://127.0.0.1:9/"}), Transient("redirected")),
    "408": (Reply(408), Transient("server_error")),
    "409": (Reply(409), Transient("server_error")),
    "500": (error(500, "insufficient_quota"), Transient("server_error")),
    "503 while it loads": (error(503, headers={"Retry-After": "4"}), Transient("server_error", 4.0)),
    "529": (Reply(529), Transient("server_error")),
    "a lost connection": (Reply(lost=True), Transient("connection_lost")),
}


@pytest.mark.parametrize("case", ERRORS)
def test_every_error_has_its_outcome(server: LlmServer, case: str) -> None:
    reply, outcome = ERRORS[case]
    assert ask(server, reply) == outcome


# what is sent


def test_instructions_and_row_are_sent_apart_and_nothing_else(server: LlmServer) -> None:
    model = openai(server, temperature=0.2, max_output_tokens=900, thinking="low")
    outcome = model.summarise(PROMPT, 5.0)
    assert outcome == Text("summary of Late parcel It came on Monday.", Usage(29, 41))
    body = server.requests[0].json
    system, user = (message.pop("content") for message in body["messages"])
    assert body == {
        "model": "gpt-4o-mini",
        "messages": [{"role": "system"}, {"role": "user"}],
        "stream": False,
        "max_tokens": 900,
        "temperature": 0.2,
        "reasoning_effort": "low",
    }
    assert system.endswith("Summarise in one sentence.")
    assert "Monday" not in system
    assert "Summarise" not in user
    assert model.name == "openai:gpt-4o-mini"
    assert model.settings == {
        "prompt": 1,
        "max_output_tokens": 900,
        "temperature": 0.2,
        "reasoning_effort": "low",
    }


@pytest.mark.parametrize(
    ("base_url", "field"),
    [
        ("https://api.openai.com/v1", "max_completion_tokens"),
        ("https://eu.api.openai.com/v1", "max_completion_tokens"),
        ("https://mine.openai.azure.com/openai/v1", "max_completion_tokens"),
        ("http://127.0.0.1:11434/v1", "max_tokens"),
        ("https://notopenai.com/v1", "max_tokens"),
    ],
)
def test_the_limit_has_the_name_that_the_server_knows(base_url: str, field: str) -> None:
    assert limit_field_of(base_url) == field


def test_the_name_of_the_limit_can_be_set_and_changes_no_key(
    server: LlmServer,
) -> None:
    model = openai(server, limit_field="max_completion_tokens")
    assert isinstance(model.summarise(PROMPT, 5.0), Text)
    assert server.requests[0].json["max_completion_tokens"] == 4096
    assert "max_tokens" not in server.requests[0].json
    assert model.settings == openai(server).settings


@pytest.mark.parametrize("text", ["\ud83d", "a\x00b\x1f", "", "\U0001f600 \u2028 日本語", '"}]}\n</row>'])
def test_whatever_is_in_a_cell_a_title_or_the_instructions_makes_a_proper_request(
    server: LlmServer, text: str
) -> None:
    prompt = Prompt(f"Do {text}", ((text, "x"), (text, f"y {text}")))
    assert isinstance(openai(server).summarise(prompt, 5.0), Text)
    assert server.problems == []


def test_a_server_of_ones_own_needs_no_key(server: LlmServer) -> None:
    server.key = None
    assert isinstance(openai(server, key=None).summarise(PROMPT, 5.0), Text)
    assert "Authorization" not in server.requests[0].headers


def test_a_model_the_server_does_not_know_and_a_wrong_key_are_told_apart(server: LlmServer) -> None:
    assert openai(server, model="gpt-99").summarise(PROMPT, 5.0) == Fatal("model_unknown")
    assert openai(server, key="wrong").summarise(PROMPT, 5.0) == Fatal("key_rejected")


@pytest.mark.parametrize("thinking", ["", "very much", "low\n"])
def test_a_thinking_that_is_not_one_word_is_refused_at_once(server: LlmServer, thinking: str) -> None:
    with pytest.raises(ValueError, match="thinking must be"):
        openai(server, thinking=thinking)


# secrets, threads


@pytest.mark.parametrize("case", [*SUCCESSES, *ERRORS])
def test_the_key_and_the_row_are_in_no_outcome_and_no_log(
    server: LlmServer, caplog: pytest.LogCaptureFixture, case: str
) -> None:
    reply, _ = {**SUCCESSES, **ERRORS}[case]
    server.enqueue(reply)
    model = openai(server)
    with caplog.at_level("INFO"):
        outcome = model.summarise(PROMPT, 5.0)
    shown = f"{outcome!r}{model!r}{caplog.text}"
    assert KEY not in shown
    assert SECRET not in shown


@pytest.mark.parametrize("key", ["two\nlines", "schlüssel", "a b"])
def test_a_key_that_can_be_none_is_refused_without_showing_it(key: str) -> None:
    with pytest.raises(ValueError, match="API key") as raised:
        OpenAI("gpt-4o-mini", key)
    assert key not in str(raised.value)


def test_sixteen_threads_sharing_a_model_never_get_each_others_summaries(server: LlmServer) -> None:
    model = openai(server)

    def call(number: int) -> Outcome:
        return model.summarise(Prompt("Summarise.", (("n", f"row {number} of many"),)), 20.0)

    with ThreadPoolExecutor(16) as threads:
        outcomes = list(threads.map(call, range(160)))
    texts = [outcome.text for outcome in outcomes if isinstance(outcome, Text)]
    assert texts == [f"summary of row {number} of many" for number in range(160)]
    assert server.counts()["rows"] == 160
