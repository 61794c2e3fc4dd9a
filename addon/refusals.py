"""Answers to callers that get no card: one JSON shape for machines, never a page."""

from flask import Response, jsonify
from werkzeug.exceptions import HTTPException, MethodNotAllowed


def refusal(status: int, code: str, message: str) -> tuple[Response, int]:
    """Answer with a word for programs and a sentence for people."""
    return jsonify({"error": {"code": code, "message": message}}), status


def http_refusal(error: HTTPException) -> tuple[Response, int]:
    """The same for an error of HTTP: its name is the word, its description the sentence."""
    code = error.name.lower().replace(" ", "_")
    answer, status = refusal(error.code or 500, code, error.description or error.name)
    if isinstance(error, MethodNotAllowed) and error.valid_methods:
        answer.headers["Allow"] = ", ".join(error.valid_methods)  # RFC 9110, section 15.5.6
    return answer, status
