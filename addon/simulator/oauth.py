"""Google's OAuth endpoints, as far as a service account needs them: certificates, and access tokens."""

from typing import Any

from flask import Response, jsonify, request
from google.auth import jwt
from google.auth.exceptions import GoogleAuthError

from addon.simulator.gate import route
from addon.simulator.identity import HOUR, Identity

_GRANT = "urn:ietf:params:oauth:grant-type:jwt-bearer"
_AUDIENCE = "https://oauth2.googleapis.com/token"
"""What assertions are for, wherever the endpoint is."""


class OAuth:
    """The token endpoint and the certificates."""

    def __init__(self, identity: Identity) -> None:
        self._identity = identity
        self.delegated: frozenset[str] = frozenset()
        """Scopes for which an administrator lets the worker act as any person of the domain."""

    @route("GET", "/oauth2/v1/certs")
    def certificates(self) -> Response:
        key = self._identity.google
        answer: Response = jsonify({key.id: key.certificate})
        answer.headers["Cache-Control"] = "public, max-age=19800, must-revalidate, no-transform"
        return answer

    @route("POST", "/token")
    def token(self) -> Response:
        if request.form.get("grant_type") != _GRANT:
            return _refused("unsupported_grant_type", "Invalid grant_type")
        try:
            claims: dict[str, Any] = jwt.decode(  # type: ignore[no-untyped-call]
                request.form.get("assertion", ""), self._identity.worker_key.certificate
            )
        except (GoogleAuthError, ValueError):
            return _refused("invalid_grant", "Invalid JWT Signature.")
        worker = self._identity.worker.email
        if claims.get("aud") != _AUDIENCE or claims.get("iss") != worker:
            return _refused("invalid_grant", "Invalid JWT: Failed audience check.")
        scopes = frozenset(str(claims.get("scope", "")).split())
        email = claims.get("sub", worker)
        if email != worker and not scopes <= self.delegated:
            return _refused(
                "unauthorized_client",
                "Client is unauthorized to retrieve access tokens using this method, "
                "or client not authorized for any of the scopes requested.",
                401,
            )
        token = self._identity.issue(email, scopes)
        return jsonify({"access_token": token, "expires_in": int(HOUR), "token_type": "Bearer"})


def _refused(error: str, description: str, status: int = 400) -> Response:
    answer: Response = jsonify({"error": error, "error_description": description})
    answer.status_code = status
    return answer
