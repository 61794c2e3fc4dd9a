"""Refusals in the shape each Google API gives them."""

from collections.abc import Mapping
from typing import Any

_STATUS = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    409: "ALREADY_EXISTS",
    429: "RESOURCE_EXHAUSTED",
    500: "INTERNAL",
    501: "UNIMPLEMENTED",
    503: "UNAVAILABLE",
    504: "DEADLINE_EXCEEDED",
}
_DRIVE_REASON = {
    400: "badRequest",
    401: "authError",
    403: "insufficientFilePermissions",
    404: "notFound",
    429: "rateLimitExceeded",
    500: "internalError",
    501: "notImplemented",
    503: "backendError",
}


class Refusal(Exception):
    """An answer other than 2xx that Google would give.

    Parameters
    ----------
    code
        HTTP status.
    message
        Google's sentence, as far as it is known.
    reason
        Drive's reason word; where it is left out, the usual one for ``code``.
    location
        What a Drive parameter error points at, such as ``fields``.
    status
        The canonical status word, where it is not the usual one for ``code``.
    word
        Google's exact reason in ``details``, for what every API says alike.
    """

    def __init__(
        self,
        code: int,
        message: str,
        *,
        reason: str | None = None,
        location: str | None = None,
        status: str | None = None,
        headers: Mapping[str, str] | None = None,
        word: str | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.reason = reason
        self.location = location
        self.status = status or _STATUS.get(code, "UNKNOWN")
        self.headers = dict(headers or {})
        self.word = word

    def body(self, path: str) -> dict[str, Any]:
        """The JSON answer for a request to ``path``: Drive and the others differ."""
        error: dict[str, Any] = {"code": self.code, "message": self.message}
        if self.word is not None:
            info = {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": self.word}
            error |= {"status": self.status, "details": [info | {"domain": "googleapis.com"}]}
        if "/drive/v3" not in path:
            return {"error": error | {"status": self.status}}
        reason = self.reason or _DRIVE_REASON.get(self.code, "unknown")
        usage = reason.endswith(("LimitExceeded", "QuotaExceeded"))
        detail = {
            "message": self.message,
            "domain": "usageLimits" if usage else "global",
            "reason": reason,
        }
        if self.location is not None:
            detail |= {"location": self.location, "locationType": "parameter"}
        return {"error": error | {"errors": [detail]}}


def invalid(message: str) -> Refusal:
    """A 400 with ``message``."""
    return Refusal(400, message)


def unsupported(what: str) -> Refusal:
    """A 501 for what Google does and this simulator does not: never a guess at an answer."""
    return Refusal(501, f"The simulator does not imitate {what}.")
