"""What hosted models are sent and say: strict checks of requests, answers and errors as they spell them."""

import json
from dataclasses import replace
from typing import Any, Literal

from discovery import problems as discovery_problems
from scripted import Received

Kind = Literal["gemini", "openai"]
KEY = "wire-key-4711"
MODELS = {"gemini": "gemini-2.5-flash", "openai": "gpt-4o-mini"}

VERTEX = "/v1/projects/p/locations/l/publishers/google/models/{}:generateContent"
OPENAI_FIELDS: dict[str, type | tuple[type, ...]] = {
    "model": str,
    "messages": list,
    "stream": bool,
    "temperature": (int, float),
    "max_tokens": int,
    "max_completion_tokens": int,
    "reasoning_effort": str,
}
"""The fields of a chat completion that a summary can need, with their types (OpenAI's API reference)."""


class Wrong(Exception):
    """What the provider would refuse: HTTP status, its word for it, and a sentence for whoever debugs."""

    def __init__(self, status: int, word: str, sentence: str) -> None:
        super().__init__(sentence)
        self.status, self.word, self.sentence = status, word, sentence


def row_of(kind: Kind, body: Any) -> list[dict[str, str]]:
    """The row in a request."""
    text = body["contents"][0]["parts"][0]["text"] if kind == "gemini" else body["messages"][1]["content"]
    row: list[dict[str, str]] = json.loads(text)
    return row


def summary_of(row: list[dict[str, str]]) -> str:
    """The deterministic summary of a row: told from every other row's."""
    words = " ".join(" ".join(cell["text"] for cell in row).split())
    return f"summary of {words[:40].rstrip()}"


def answer_of(kind: Kind, text: str, finish: str | None = None, usage: tuple[int, int] = (70, 30)) -> Any:
    """A complete answer that says ``text``."""
    if kind == "gemini":
        return {
            "candidates": [
                {
                    "content": {"role": "model", "parts": [{"text": text}]},
                    "finishReason": finish or "STOP",
                    "index": 0,
                }
            ],
            "usageMetadata": {
                "promptTokenCount": usage[0],
                "candidatesTokenCount": usage[1],
                "totalTokenCount": sum(usage),
            },
            "modelVersion": MODELS[kind],
        }
    message = {"role": "assistant", "content": text, "refusal": None}
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "model": MODELS[kind],
        "choices": [{"index": 0, "message": message, "finish_reason": finish or "stop"}],
        "usage": {"prompt_tokens": usage[0], "completion_tokens": usage[1], "total_tokens": sum(usage)},
    }


def error_of(kind: Kind, status: int, word: str, sentence: str) -> Any:
    """An error as this provider spells it."""
    if kind == "gemini":
        error: dict[str, Any] = {"code": status, "message": sentence, "status": "INVALID_ARGUMENT"}
        info = {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": word}
        return {"error": {**error, "details": [info]}}
    return {"error": {"message": sentence, "type": "invalid_request_error", "param": None, "code": word}}


def check(kind: Kind, key: str | None, request: Received) -> None:
    """Refuse what the provider would refuse.

    Raises
    ------
    Wrong
        With the status it would answer.
    """
    body = _body(request)
    if request.query:
        raise Wrong(400, "query", "a query parameter: a key must not be in the URL")
    (_check_gemini if kind == "gemini" else _check_openai)(key, request, body)


def _check_gemini(key: str | None, request: Received, body: Any) -> None:
    model = request.path.rpartition("/")[2].partition(":")[0]
    vertex = request.path.startswith("/v1/projects/")
    given = request.headers.get("x-goog-api-key")
    if vertex:
        given = request.headers.get("Authorization", "").removeprefix("Bearer ")
    if key is not None and given != key:
        status = 401 if vertex else 400
        raise Wrong(status, "API_KEY_INVALID", "API key not valid. Please pass a valid API key.")
    if model not in {"gemini-2.5-flash", "gemini-2.5-pro", "gemini-3-flash-preview"}:
        raise Wrong(404, "NOT_FOUND", f"models/{model} is not found for API version v1beta")
    if not vertex and not request.path.startswith("/v1beta/models/"):
        raise Wrong(404, "NOT_FOUND", f"no method {request.path}")
    # The Developer API's description is not among the installed ones; its method has the same fields.
    found = discovery_problems("aiplatform.v1", replace(request, path=VERTEX.format(model)))
    if found:
        raise Wrong(400, "INVALID_ARGUMENT", "; ".join(found))
    roles = [content.get("role") for content in body["contents"]]
    texts = [part["text"] for content in body["contents"] for part in content["parts"]]
    texts += [part["text"] for part in body["systemInstruction"]["parts"]]
    if roles != ["user"] or not all(texts):
        raise Wrong(400, "INVALID_ARGUMENT", "roles must be user and model, and no part may be empty")


def _check_openai(key: str | None, request: Received, body: Any) -> None:
    if key is not None and request.headers.get("Authorization") != f"Bearer {key}":
        raise Wrong(401, "invalid_api_key", "Incorrect API key provided.")
    if request.path != "/v1/chat/completions":
        raise Wrong(404, "not_found", f"no method {request.path}")
    for name, value in body.items():
        if name not in OPENAI_FIELDS or not isinstance(value, OPENAI_FIELDS[name]):
            raise Wrong(400, "unknown_parameter", f"{name} is unknown or {type(value).__name__}")
    if body["model"] != MODELS["openai"]:
        raise Wrong(404, "model_not_found", "The model does not exist")
    if body.get("stream"):
        raise Wrong(400, "unsupported_value", "nothing is streamed here")
    messages = [(one["role"], one["content"]) for one in body["messages"]]
    if [role for role, _ in messages] != ["system", "user"] or not all(text for _, text in messages):
        raise Wrong(400, "invalid_value", "a system and a user message, neither of them empty")


def _body(request: Received) -> Any:
    try:
        body = json.loads(request.body.decode("utf-8"))
    except ValueError as error:
        raise Wrong(400, "FAILED_PRECONDITION", "The input data is not valid json") from error
    text = json.dumps(body, ensure_ascii=False)
    if any("\ud800" <= character <= "\udfff" for character in text):
        raise Wrong(400, "FAILED_PRECONDITION", "The input data is not valid json: a lone surrogate")
    return body
