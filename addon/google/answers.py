"""What one HTTP answer of Google's means: a success, a refusal, or an attempt that failed."""

import json
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from email.utils import parsedate_to_datetime
from typing import Any

from addon.google.errors import TOO_MANY, Refused, Service

_NOT_BEGUN = frozenset({"rateLimitExceeded", "userRateLimitExceeded", "RATE_LIMIT_EXCEEDED", "ABORTED"})
"""Reasons under which Google did no work, so that any request may be sent again."""

_WORD = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,59}")


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer, read to its end.

    Parameters
    ----------
    data
        The parsed JSON object where JSON was asked for, otherwise ``None``.
    """

    status: int
    headers: Mapping[str, str]
    body: bytes
    data: Any = None


class Failed(Exception):
    """One attempt failed in a way that may be tried again.

    Parameters
    ----------
    begun
        Google may have carried the request out.
    wait
        Seconds Google asked to wait.
    """

    def __init__(
        self, reason: str, *, status: int | None = None, begun: bool = True, wait: float = 0.0
    ) -> None:
        super().__init__(reason)
        self.reason = reason
        self.status = status
        self.begun = begun
        self.wait = wait


def judge(answer: Answer, service: Service, *, wants_json: bool) -> Answer:
    """Return a success, with its JSON object parsed if that was wanted.

    Raises
    ------
    Failed
        Worth another attempt. That includes successes nobody can read: a page of HTML, or broken JSON.
    Refused
        Google understood the request and will not do it.
    """
    status = answer.status
    if not (200 <= status < 300 or status == 308):  # 308: Drive says that an upload is not complete
        raise _refusal(answer, service)
    if answer.body and answer.headers.get("Content-Type", "").startswith("text/html"):
        raise Failed("html_answer", status=status)
    if not wants_json:
        return answer
    try:
        data = json.loads(answer.body)
    except ValueError:
        data = None
    if not isinstance(data, dict):
        raise Failed("broken_json", status=status)
    return replace(answer, data=data)


def _refusal(answer: Answer, service: Service) -> Failed | Refused:
    status = answer.status
    reason, words = _explanation(answer.body)
    wait = retry_after(answer.headers.get("Retry-After"))
    if status == TOO_MANY or reason in _NOT_BEGUN:
        return Failed(reason, status=status, begun=False, wait=wait)
    if status >= 500 or status == 408 or status < 400:
        return Failed(reason, status=status, wait=wait)
    return Refused(
        f"{service} refused the request ({status} {reason}).",
        service=service,
        status=status,
        reason=reason,
        words=words,
    )


def _explanation(body: bytes) -> tuple[str, str]:
    """Google's most exact reason word, and its sentence. What is not a plain word may be content."""
    try:
        error = json.loads(body)["error"]
        exact = [item.get("reason") for item in (*error.get("errors", ()), *error.get("details", ()))]
        candidates = [*exact, error.get("status")]
        words = str(error.get("message", ""))
    except (ValueError, KeyError, TypeError, AttributeError):
        return "no_reason", ""
    for word in candidates:
        if isinstance(word, str) and _WORD.fullmatch(word):
            return word, words
    return "no_reason", words


def retry_after(value: str | None) -> float:
    """Seconds that a ``Retry-After`` header asks for, as a number or a date; 0 where it says nothing."""
    if value is None:
        return 0.0
    try:
        return max(0.0, float(value))
    except ValueError:
        pass  # then it should be a date
    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - time.time())
    except ValueError:
        return 0.0
