"""What an error answer means for the row, the pace or the job: one table for all providers. Pure.

Google's words (``status``, ``details``) and OpenAI's (``code``, ``type``) do not collide, and gateways in
front of either mix them. A provider's sentences are matched and never passed on: they may quote the row.
"""

import json
import re
from dataclasses import dataclass
from typing import Any

from addon.llm.answers import duration, items, mapping, retry_after, string, word
from addon.llm.base import Blocked, Fatal, Outcome, Rejected, Transient
from addon.llm.http import Reply

_FATAL_WORDS = {
    **dict.fromkeys(("API_KEY_INVALID", "invalid_api_key", "account_deactivated"), "key_rejected"),
    **dict.fromkeys(("model_not_found", "model_not_available", "DeploymentNotFound"), "model_unknown"),
    **dict.fromkeys(
        ("insufficient_quota", "billing_hard_limit_reached", "billing_not_active", "insufficient_balance"),
        "insufficient_quota",
    ),
}
"""Words of a refusal (4xx) that say no row can succeed, whatever the status is."""

_BLOCKED_WORDS = frozenset({"content_filter", "content_policy_violation"})
"""Azure's and OpenAI's words for a row that was refused before the model saw it."""

_FATAL_STATUSES = {401: "key_rejected", 402: "insufficient_quota", 403: "key_rejected", 404: "model_unknown"}

_KEY_REFUSED = re.compile(
    r"API key (not valid|expired|not found)|User location is not supported", re.IGNORECASE
)
"""How Google's 400 begins for a wrong key, and for any key where it does not sell the API."""

_NO_QUOTA = re.compile(r"\blimit: 0(?![\d.])")


@dataclass(frozen=True, slots=True)
class _Explanation:
    """An error's words, most exact first; its sentence; the code it gives for itself; what it asks for."""

    words: tuple[str, ...] = ()
    sentence: str = ""
    code: int = 0
    wait: float | None = None
    out_of_quota: bool = False

    @property
    def reason(self) -> str:
        return self.words[0] if self.words else "no_reason"

    @property
    def blocked(self) -> bool:
        return not _BLOCKED_WORDS.isdisjoint(self.words)


def outcome_of_error(reply: Reply) -> Outcome:
    """Sort an answer that is no success."""
    return _sort(reply.status, _explain(_parsed(reply.body)), reply)


def error_inside(reply: Reply, data: dict[str, Any]) -> Outcome | None:
    """The outcome of an error that a gateway wrapped into a success; ``None`` where there is none."""
    if not data.get("error"):
        return None
    found = _explain(data)
    if 400 <= found.code < 600:
        return _sort(found.code, found, reply)
    if _fatal(found) or found.blocked:
        return _refusal(400, found, None)
    return Transient("error_in_answer", found.wait)


def _sort(status: int, found: _Explanation, reply: Reply) -> Outcome:
    wait = retry_after(reply) if found.wait is None else found.wait
    if status >= 500 or status in {408, 409, 425}:
        return Transient("server_error", wait)
    if status < 400:
        return Transient("redirected", wait)
    return _refusal(status, found, wait)


def _refusal(status: int, found: _Explanation, wait: float | None) -> Outcome:
    """A 4xx that is not about the moment: fatal, too many calls, or this row's own."""
    fatal = _fatal(found) or _FATAL_STATUSES.get(status)
    if status == 429 and fatal is None:
        if found.out_of_quota:
            return Fatal("quota_exhausted")
        return Transient("rate_limited", wait, rate_limited=True)
    if fatal is not None:
        return Fatal(fatal)
    return Blocked("content_filter") if found.blocked else Rejected(found.reason)


def _fatal(found: _Explanation) -> str | None:
    named = next((_FATAL_WORDS[one] for one in found.words if one in _FATAL_WORDS), None)
    return named or ("key_rejected" if _KEY_REFUSED.match(found.sentence) else None)


def _parsed(body: bytes) -> Any:
    try:
        data = json.loads(body)
    except (ValueError, RecursionError):
        return None
    return data[0] if isinstance(data, list) and data else data  # Google's streams wrap errors in a list


def _explain(data: Any) -> _Explanation:
    error = mapping(data).get("error")
    if not isinstance(error, dict):
        return _Explanation(sentence=string(error))
    details = [mapping(item) for item in items(error.get("details"))]
    candidates = [item.get("reason") for item in details]
    candidates += [error.get("code"), error.get("status"), error.get("type")]
    words = tuple(plain for one in candidates if (plain := word(one, "")))
    sentence = string(error.get("message"))
    violations = [mapping(one) for item in details for one in items(item.get("violations"))]
    waits = [seconds for item in details if (seconds := duration(item.get("retryDelay"))) is not None]
    return _Explanation(
        words,
        sentence,
        error["code"] if isinstance(error.get("code"), int) else 0,
        max(waits, default=None),
        any(_spent(one) for one in violations) or _NO_QUOTA.search(sentence) is not None,
    )


def _spent(violation: dict[str, Any]) -> bool:
    """Whether a quota is used up for the day, or was never granted."""
    return "PerDay" in str(violation.get("quotaId", "")) or str(violation.get("quotaValue", "")) == "0"
