"""Who calls: Google for a person, the task queue, the scheduler. Each proves it with an ID token."""

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from addon.google.id_tokens import Unauthorised, Verifier, account_of

Automaton = Literal["tasks", "schedule"]
"""Callers that act for nobody; also the first part of the paths they call."""

REMOVED = "SIGNATURE_REMOVED_BY_GOOGLE"
"""What Cloud Run puts in place of a header token's signature where it has checked the token itself."""

EMAIL_SCOPE = "https://www.googleapis.com/auth/userinfo.email"
"""Without it, Google does not say who the person is."""


_TOKEN = re.compile(r"[!-~]{1,8192}")
"""An access token, as far as it can go into a header; what is in it is Google's business."""


class Headers(Protocol):
    """Request headers, looked up regardless of case."""

    def get(self, key: str, default: str) -> str:
        """The value of a header."""


class PersonUnknown(Exception):
    """Google calls, but the person has not allowed it to say who they are: ask for `EMAIL_SCOPE`."""


@dataclass(frozen=True, slots=True)
class Caller:
    """The person behind a sidebar call.

    Parameters
    ----------
    user_id
        Stable id that does not tell who it is.
    email
        As verified by Google.
    token
        Their access token, for this one call.
    admin
        Whether they may see and retry every job.
    """

    user_id: str
    email: str
    token: str = field(repr=False)
    admin: bool


@dataclass(frozen=True)
class Identity:
    """Tells callers apart.

    Parameters
    ----------
    base_url
        Root URL of this service as configured, never as the request claims it.
    system_account
        E-mail of this add-on's service account: those of all other add-ons have the same shape.
    client_id
        OAuth client that people's ID tokens are for.
    accounts
        E-mails of the service accounts behind the queue and the scheduler.
    admins
        E-mail addresses of administrators, in lower case.
    """

    verifier: Verifier
    base_url: str
    system_account: str
    client_id: str
    accounts: Mapping[Automaton, str]
    admins: frozenset[str] = frozenset()

    def sidebar_caller(self, target: str, headers: Headers, event: Mapping[str, Any]) -> Caller:
        """The person a sidebar event speaks for.

        Parameters
        ----------
        target
            Path and query of the request: Google's token names the exact address it calls.

        Raises
        ------
        Unauthorised
            The call is not Google's for this add-on.
        PersonUnknown
            It is, but does not say for whom.
        CertificatesUnavailable
            It cannot be told at the moment.
        """
        authorization = event.get("authorizationEventObject")
        said = authorization if isinstance(authorization, Mapping) else {}
        self._check_google(self.base_url + target, _bearer(headers), _text(said, "systemIdToken"))
        token = _text(said, "userOAuthToken")
        if not _TOKEN.fullmatch(token):
            raise Unauthorised("the event carries no user token")
        person = _text(said, "userIdToken")
        if not person:
            raise PersonUnknown
        claims = self.verifier.verify(person, self.client_id)
        subject, email = claims.get("sub"), account_of(claims)
        if not isinstance(subject, str) or not subject:
            raise Unauthorised("the person's token has no subject")
        return Caller(user_id_of(subject), email, token, email.casefold() in self.admins)

    def _check_google(self, audience: str, header: str, body: str) -> None:
        """Check the token in the header, in the body, or both: every one that is there must hold.

        Behind Cloud Run's own check the header's has lost its signature; the body's has not.
        """
        given = [token for token in (header, body) if token and not token.endswith(f".{REMOVED}")]
        if not given:
            raise Unauthorised("no system token")
        for token in given:
            if account_of(self.verifier.verify(token, audience)) != self.system_account:
                raise Unauthorised("the system token is another account's")

    def check_automaton(self, caller: Automaton, headers: Headers) -> None:
        """Let the queue or the scheduler in.

        Raises
        ------
        Unauthorised
            The caller is somebody else.
        CertificatesUnavailable
            It cannot be told at the moment.
        """
        token = _bearer(headers)
        if not token:
            raise Unauthorised("no bearer token")
        claims = self.verifier.verify(token, audience_of(self.base_url, caller))
        if account_of(claims) != self.accounts[caller]:
            raise Unauthorised("the token is another account's")


def audience_of(base_url: str, caller: Automaton) -> str:
    """What the tokens of the queue or the scheduler are for: neither's are good for the other's routes."""
    return f"{base_url}/{caller}"


def user_id_of(subject: str) -> str:
    """The id a person is known by here."""
    # Half of a surrogate pair, which JSON may hold, has no bytes of its own.
    return hashlib.sha256(subject.encode("utf-8", "backslashreplace")).hexdigest()[:24]


def _bearer(headers: Headers) -> str:
    scheme, _, token = headers.get("Authorization", "").partition(" ")
    return token.strip() if scheme.casefold() == "bearer" else ""


def _text(parent: Mapping[str, Any], name: str) -> str:
    value = parent.get(name)
    return value if isinstance(value, str) else ""
