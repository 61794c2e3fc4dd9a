"""Who calls. Locally: whoever knows the tokens that the simulator keeps in its identity file."""

import hashlib
import hmac
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol


class Headers(Protocol):
    """Request headers, looked up regardless of case."""

    def get(self, key: str, default: str) -> str:
        """The value of a header."""


class Unauthorised(Exception):
    """The caller has not proved who they are; ``reason`` is for the log and holds no token."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class IdentityError(Exception):
    """The identity file cannot be used; the message is a sentence for the operator."""


@dataclass(frozen=True, slots=True)
class Caller:
    """The person behind a sidebar call: a stable id, and their access token for this one call."""

    user_id: str
    token: str


@dataclass(frozen=True)
class LocalIdentity:
    """Callers of a service whose Google is the simulator on this machine.

    Parameters
    ----------
    system_token
        What the simulator, playing Google, proves itself with to ``/sidebar``.
    task_token
        The same for ``/tasks``.
    user_email, worker_email, worker_token
        The simulated person and service account.
    """

    system_token: str
    task_token: str
    user_email: str
    worker_email: str
    worker_token: str

    @classmethod
    def load(cls, path: Path) -> "LocalIdentity":
        """Read the simulator's identity file.

        Raises
        ------
        IdentityError
            It is missing or is no identity file.
        """
        try:
            data = json.loads(path.read_text(encoding="utf-8"))
            return cls(
                system_token=data["system_token"],
                task_token=data["task_token"],
                user_email=data["user"]["email"],
                worker_email=data["worker"]["email"],
                worker_token=data["worker"]["token"],
            )
        except FileNotFoundError:
            raise IdentityError(
                f"{path} does not exist: start the simulator first (`addon demo` does)."
            ) from None
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise IdentityError(
                f"{path} is not an identity file of the simulator ({type(error).__name__})."
            ) from None

    def sidebar_caller(self, headers: Headers, event: Mapping[str, Any]) -> Caller:
        """The person a sidebar event speaks for; raises `Unauthorised`."""
        _check(headers, self.system_token)
        authorization = event.get("authorizationEventObject")
        token = authorization.get("userOAuthToken") if isinstance(authorization, Mapping) else None
        if not isinstance(token, str) or not token:
            raise Unauthorised("the event carries no user token")
        return Caller(hashlib.sha256(self.user_email.encode()).hexdigest()[:24], token)

    def task_caller(self, headers: Headers) -> None:
        """Let the queue and the scheduler in; raises `Unauthorised` for anybody else."""
        _check(headers, self.task_token)


def _check(headers: Headers, token: str) -> None:
    scheme, _, given = headers.get("Authorization", "").partition(" ")
    if scheme != "Bearer":
        raise Unauthorised("no bearer token")
    if not hmac.compare_digest(given.encode(), token.encode()):
        raise Unauthorised("wrong token")
