"""Whether an ID token is one of Google's, was made for us, and is valid now."""

import base64
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from google.auth import crypt, jwt
from google.auth.exceptions import GoogleAuthError

from addon.google.certificates import Certificates

SKEW = 30.0
"""Seconds by which clocks may differ."""

LONGEST = 8_192
"""Characters of a token; Google's have some 1,000."""

LATEST = 86_400.0
"""Seconds from now until a token expires, at most; Google's expire after an hour."""


class Unauthorised(Exception):
    """The caller has not proved who they are; ``reason`` is for the log and holds no token."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True)
class Verifier:
    """Verifies ID tokens: RS256 only, with Google's certificates.

    Parameters
    ----------
    certificates
        Where the keys come from.
    issuers
        Who may have issued a token.
    clock
        Seconds since 1970.
    """

    certificates: Certificates
    issuers: Sequence[str]
    clock: Callable[[], float] = time.time

    def verify(self, token: str, audience: str) -> dict[str, Any]:
        """Return the claims of a token for exactly ``audience``.

        Raises
        ------
        Unauthorised
            The token does not hold; the reason says what about it.
        CertificatesUnavailable
            It cannot be told at the moment.
        """
        header, claims = _decoded(token)
        # Before any key is looked at: a token must not choose how it is checked.
        if header.get("alg") != "RS256":
            raise Unauthorised("not signed with RS256")
        key_id = header.get("kid")
        if not isinstance(key_id, str) or not key_id:
            raise Unauthorised("no key id")
        certificate = self.certificates.find(key_id)
        if certificate is None:
            raise Unauthorised("unknown key id")
        if not _signed(token, certificate):
            raise Unauthorised("wrong signature")
        self._check(claims, audience)
        return claims

    def _check(self, claims: dict[str, Any], audience: str) -> None:
        now, issued, expires = self.clock(), _number(claims.get("iat")), _number(claims.get("exp"))
        if issued > now + SKEW:
            raise Unauthorised("issued in the future")
        if expires < now - SKEW:
            raise Unauthorised("expired")
        if expires > now + LATEST:
            raise Unauthorised("valid for longer than any of Google's")
        if claims.get("iss") not in self.issuers:
            raise Unauthorised("wrong issuer")
        if claims.get("aud") != audience:
            raise Unauthorised("wrong audience")


def account_of(claims: dict[str, Any]) -> str:
    """The verified e-mail address in ``claims``; raises `Unauthorised` where there is none."""
    email = claims.get("email")
    if not isinstance(email, str) or not email or claims.get("email_verified") is not True:
        raise Unauthorised("no verified e-mail address")
    return email


def _number(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise Unauthorised("no time of issue or expiry")
    if isinstance(value, float) and not math.isfinite(value):  # NaN is neither too early nor too late
        raise Unauthorised("no time of issue or expiry")
    return value


def _decoded(token: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Header and claims, not believed yet. Messages of what is raised below would quote the token."""
    if len(token) > LONGEST or not token.isascii():
        raise Unauthorised("not a token")
    try:
        header, claims = jwt.decode_header(token), jwt.decode(token, verify=False)  # type: ignore[no-untyped-call]
    except (GoogleAuthError, ValueError, RecursionError):
        raise Unauthorised("not a token") from None
    if not isinstance(header, dict) or not isinstance(claims, dict):
        raise Unauthorised("not a token")
    return header, claims


def _signed(token: str, certificate: str) -> bool:
    message, _, signature = token.rpartition(".")
    try:
        raw = base64.urlsafe_b64decode(signature + "=" * (-len(signature) % 4))
        return bool(crypt.verify_signature(message, raw, certificate))  # type: ignore[no-untyped-call]
    except (ValueError, TypeError):  # not base64; no certificate; one of another kind of key
        return False
