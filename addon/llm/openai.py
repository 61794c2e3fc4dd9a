"""Any server that speaks OpenAI's chat completions: OpenAI, Azure, vLLM, Ollama, llama.cpp, gateways."""

from collections.abc import Mapping
from typing import Any, Literal
from urllib.parse import urlsplit

from addon.llm.answers import count, items, mapping, read, said, string, word
from addon.llm.base import Blocked, Empty, Outcome, Prompt, Transient, Truncated, Usage
from addon.llm.errors import error_inside, outcome_of_error
from addon.llm.http import Reply, Sender
from addon.llm.prompt import PROMPT_VERSION, render
from addon.llm.secret import check_key

BASE_URL = "https://api.openai.com/v1"

MAX_OUTPUT_TOKENS = 4096
"""Most tokens of an answer; a reasoning model's thinking counts as output."""

LimitField = Literal["max_completion_tokens", "max_tokens"]

_NEW_LIMIT_HOSTS = ("openai.com", "openai.azure.com")
_COMPLETE = frozenset({"stop", "eos", "eos_token", "stop_sequence", "end_turn"})
"""``stop``, and what compatible servers write for it."""


class OpenAI:
    """A model behind an OpenAI-compatible server. Safe to share between threads.

    Parameters
    ----------
    model
        As the server names it.
    key
        Its API key; local servers need none.
    base_url
        Up to and including the version, e.g. ``http://127.0.0.1:11434/v1``.
    temperature
        ``None`` leaves it to the model; OpenAI's reasoning models refuse any other.
    max_output_tokens
        Most tokens of one answer.
    thinking
        ``default``, or the word to send as ``reasoning_effort`` (``minimal``, ``low``, ...).
    limit_field
        What the server calls the limit. OpenAI's newer models refuse ``max_tokens``, and servers that only
        know that name ignore the new one; by default the host decides.

    Raises
    ------
    ValueError
        The key holds characters that cannot be in one, or ``thinking`` is not one word.
    """

    def __init__(
        self,
        model: str,
        key: str | None = None,
        base_url: str = BASE_URL,
        *,
        temperature: float | None = None,
        max_output_tokens: int = MAX_OUTPUT_TOKENS,
        thinking: str = "default",
        limit_field: LimitField | None = None,
        sender: Sender | None = None,
    ) -> None:
        self._model = model
        self._url = f"{base_url.rstrip('/')}/chat/completions"
        self._headers = {"Authorization": f"Bearer {check_key(key)}"} if key else {}
        self._sender = sender or Sender()
        chosen: dict[str, str | int | float | bool] = {}
        if temperature is not None:
            chosen["temperature"] = temperature
        if thinking != "default":
            if not word(thinking, ""):
                raise ValueError("thinking must be default, or one word such as minimal or low")
            chosen["reasoning_effort"] = thinking
        self._config = {limit_field or limit_field_of(base_url): max_output_tokens, **chosen}
        self._settings = {"prompt": PROMPT_VERSION, "max_output_tokens": max_output_tokens, **chosen}

    @property
    def name(self) -> str:
        """Without the server's address: a model that moves house makes no row new."""
        return f"openai:{self._model}"

    @property
    def settings(self) -> Mapping[str, str | int | float | bool]:
        """What decides the answers beside the prompt."""
        return self._settings

    def summarise(self, prompt: Prompt, timeout: float) -> Outcome:
        """Answer within ``timeout`` seconds."""
        reply = self._sender.post(self._url, self._body(prompt), self._headers, timeout)
        return outcome_of(reply) if isinstance(reply, Reply) else reply

    def _body(self, prompt: Prompt) -> dict[str, Any]:
        rendered = render(prompt)
        messages = [
            {"role": "system", "content": rendered.system},
            {"role": "user", "content": rendered.user},
        ]
        return {"model": self._model, "messages": messages, "stream": False, **self._config}


def limit_field_of(base_url: str) -> LimitField:
    """The name that the server at ``base_url`` most likely has for the most tokens of an answer."""
    server = urlsplit(base_url).hostname or ""
    new = any(server == name or server.endswith(f".{name}") for name in _NEW_LIMIT_HOSTS)
    return "max_completion_tokens" if new else "max_tokens"


def outcome_of(reply: Reply) -> Outcome:
    """The outcome of an answer to a chat completion."""
    if not 200 <= reply.status < 300:
        return outcome_of_error(reply)
    data = read(reply)
    if isinstance(data, Transient):
        return data
    error = error_inside(reply, data)
    if error is not None:
        return error
    choices = items(data.get("choices"))
    if not choices:
        return Transient("no_choices")
    tokens = mapping(data.get("usage"))
    usage = Usage(count(tokens.get("prompt_tokens")), count(tokens.get("completion_tokens")))
    return _outcome_of_choice(mapping(choices[0]), usage)


def _outcome_of_choice(choice: dict[str, Any], usage: Usage) -> Outcome:
    finish, message = string(choice.get("finish_reason")), mapping(choice.get("message"))
    if finish in _COMPLETE and not message.get("refusal"):
        return said(_text(message.get("content")), usage)
    if finish == "length":
        return Truncated(usage)
    if finish in {"tool_calls", "function_call"}:
        return Empty(usage)  # nothing was offered to be called
    if finish in {"", "error"}:
        return Transient("server_error" if finish else "no_finish_reason")
    return Blocked("refusal" if message.get("refusal") else word(finish, "unknown"), usage)


def _text(content: object) -> str:
    """What a message says: a text, or a list of parts of which only texts count."""
    if isinstance(content, str):
        return content
    parts = [mapping(part) for part in items(content)]
    return "".join(string(part.get("text")) for part in parts if part.get("type") == "text")
