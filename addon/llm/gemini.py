"""Google's Gemini models by plain REST: with an API key, or on Vertex AI with Google credentials.

Google's SDK would double what a worker takes to start, waits without limit by default and does not obey the
waits Google asks for; one POST with one deadline is all that is needed.
"""

import time
from collections.abc import Mapping
from typing import Any, Protocol
from urllib.parse import quote

from addon.llm.answers import count, items, mapping, read, said, string, word
from addon.llm.base import Blocked, Empty, Fatal, Outcome, Prompt, Transient, Truncated, Usage
from addon.llm.errors import error_inside, outcome_of_error
from addon.llm.http import Reply, Sender
from addon.llm.prompt import PROMPT_VERSION, render
from addon.llm.secret import check_key

ENDPOINT = "https://generativelanguage.googleapis.com"

MAX_OUTPUT_TOKENS = 4096
"""Most tokens of an answer. Thinking counts as output, and a few hundred tokens of it are usual even where
little is asked for: a limit close to the length of a summary leaves nothing for the summary."""

LEAST_BUDGET_PRO = 128
"""Tokens below which Gemini 2.5 Pro refuses a thinking budget (Gemini API guide on thinking)."""

LEVELS = ("minimal", "low", "medium", "high")
"""Thinking levels of Gemini 3; not every model takes ``minimal``."""


class Access(Protocol):
    """Whoever pays: where to ask, and how to say who asks."""

    def url(self, model: str) -> str:
        """Where ``model`` generates content. Holds no secret."""

    def headers(
        self, timeout: float, rejected: Mapping[str, str] | None, /
    ) -> dict[str, str] | Transient | Fatal:
        """Headers that carry the credential, got within ``timeout`` seconds, or why there are none.

        ``rejected`` are headers the provider has just refused. Where they are all there is, it is fatal.
        """


class ApiKey:
    """Access by an API key of the Gemini Developer API.

    Raises
    ------
    ValueError
        The key holds characters that cannot be in one.
    """

    def __init__(self, key: str, endpoint: str = ENDPOINT) -> None:
        self._key = check_key(key)
        self._endpoint = endpoint.rstrip("/")

    def url(self, model: str) -> str:
        """See `Access`."""
        return f"{self._endpoint}/v1beta/models/{quote(model, safe='')}:generateContent"

    def headers(
        self, _timeout: float, rejected: Mapping[str, str] | None, /
    ) -> dict[str, str] | Transient | Fatal:
        """See `Access`."""
        return {"x-goog-api-key": self._key} if rejected is None else Fatal("key_rejected")


class Gemini:
    """A Gemini model. Safe to share between threads.

    Parameters
    ----------
    model
        As Google names it, e.g. ``gemini-2.5-flash``.
    access
        `ApiKey`, or `addon.llm.vertex.Vertex`.
    temperature
        ``None`` leaves it to the model; Google advises that for Gemini 3.
    max_output_tokens
        Most tokens of one answer, thinking included.
    thinking
        ``least`` for as little as the model allows, ``default`` for the model's own measure, one of `LEVELS`
        (Gemini 3), or a number of tokens (Gemini 2.5).
    sender
        What sends requests.

    Raises
    ------
    ValueError
        ``thinking`` is none of these.
    """

    def __init__(
        self,
        model: str,
        access: Access,
        *,
        temperature: float | None = None,
        max_output_tokens: int = MAX_OUTPUT_TOKENS,
        thinking: str = "least",
        sender: Sender | None = None,
    ) -> None:
        self._model = model
        self._access = access
        self._sender = sender or Sender()
        self._config: dict[str, Any] = {"maxOutputTokens": max_output_tokens}
        if temperature is not None:
            self._config["temperature"] = temperature
        thoughts = thinking_config(model, thinking)
        if thoughts:
            self._config["thinkingConfig"] = thoughts
        self._settings: dict[str, str | int | float | bool] = {
            "prompt": PROMPT_VERSION,
            "max_output_tokens": max_output_tokens,
            **({} if temperature is None else {"temperature": temperature}),
            **thoughts,
        }

    @property
    def name(self) -> str:
        """The same for both ways of access, so that changing over calls no row again."""
        return f"gemini:{self._model}"

    @property
    def settings(self) -> Mapping[str, str | int | float | bool]:
        """What decides the answers beside the prompt."""
        return self._settings

    def summarise(self, prompt: Prompt, timeout: float) -> Outcome:
        """Answer within ``timeout`` seconds."""
        end = time.monotonic() + timeout
        headers = self._access.headers(timeout, None)
        reply = self._post(prompt, headers, end)
        if isinstance(reply, Reply) and reply.status == 401 and isinstance(headers, dict):
            # Nothing was generated: a new token where there can be one, and once more.
            reply = self._post(prompt, self._access.headers(end - time.monotonic(), headers), end)
        return outcome_of(reply) if isinstance(reply, Reply) else reply

    def _post(
        self, prompt: Prompt, headers: dict[str, str] | Transient | Fatal, end: float
    ) -> Reply | Transient | Fatal:
        if not isinstance(headers, dict):
            return headers
        return self._sender.post(
            self._access.url(self._model), self._body(prompt), headers, end - time.monotonic()
        )

    def _body(self, prompt: Prompt) -> dict[str, Any]:
        rendered = render(prompt)
        return {
            "systemInstruction": {"parts": [{"text": rendered.system}]},
            "contents": [{"role": "user", "parts": [{"text": rendered.user}]}],
            "generationConfig": self._config,
        }


def thinking_config(model: str, thinking: str) -> dict[str, str | int]:
    """What to send for a wish; nothing where the model's own measure is wished or none can be set.

    A budget and a level exclude each other, and a model refuses (400) what belongs to the other generation.

    Raises
    ------
    ValueError
        The wish cannot be understood, or not for this model.
    """
    if thinking == "default":
        return {}
    if thinking.isascii() and thinking.isdigit():
        return {"thinkingBudget": int(thinking)}
    third = model.startswith("gemini-3")
    if thinking == "least":
        if third:
            return {"thinkingLevel": "LOW"}  # the least that every model of the family takes
        if model.startswith("gemini-2.5-pro"):
            return {"thinkingBudget": LEAST_BUDGET_PRO}
        return {"thinkingBudget": 0} if model.startswith("gemini-2.5-flash") else {}
    if thinking in LEVELS and third:
        return {"thinkingLevel": thinking.upper()}
    raise ValueError(
        f"thinking must be least, default or a number of tokens, or, for Gemini 3, one of {', '.join(LEVELS)}"
    )


_MISHAPS = frozenset({"MALFORMED_RESPONSE", "MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL"})
"""Ways to end in which the model stumbled over its own format; a second try may not."""


def outcome_of(reply: Reply) -> Outcome:
    """The outcome of an answer to generateContent."""
    if not 200 <= reply.status < 300:
        return outcome_of_error(reply)
    data = read(reply)
    if isinstance(data, Transient):
        return data
    error = error_inside(reply, data)
    if error is not None:
        return error
    usage = _usage(mapping(data.get("usageMetadata")))
    blocked = mapping(data.get("promptFeedback")).get("blockReason")
    if blocked:
        return Blocked(word(blocked, "UNKNOWN"), usage)
    candidates = items(data.get("candidates"))
    if not candidates:
        return Transient("no_candidates")
    return _outcome_of_candidate(mapping(candidates[0]), usage)


def _outcome_of_candidate(candidate: dict[str, Any], usage: Usage) -> Outcome:
    finish = string(candidate.get("finishReason"))
    if finish == "STOP":
        return said(_text(candidate), usage)
    if finish == "MAX_TOKENS":
        return Truncated(usage)
    if finish in _MISHAPS:
        return Empty(usage)
    if not finish:
        return Transient("no_finish_reason")
    return Blocked(word(finish, "UNKNOWN"), usage)  # every other way to end, the ones yet to come included


def _text(candidate: dict[str, Any]) -> str:
    """What the candidate says, without what it thought."""
    parts = map(mapping, items(mapping(candidate.get("content")).get("parts")))
    return "".join(string(part.get("text")) for part in parts if not part.get("thought"))


def _usage(counts: dict[str, Any]) -> Usage:
    read_tokens = count(counts.get("promptTokenCount")) + count(counts.get("toolUsePromptTokenCount"))
    return Usage(
        read_tokens, count(counts.get("candidatesTokenCount")) + count(counts.get("thoughtsTokenCount"))
    )
