"""Access to Gemini on Vertex AI: a project that pays, and Google credentials that renew themselves."""

import functools
import threading
import time
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

import google.auth.exceptions
import requests
from google.auth.transport.requests import Request

from addon.llm.base import Fatal, Transient

SCOPE = "https://www.googleapis.com/auth/cloud-platform"
"""The scope generateContent asks for on Vertex AI (its discovery document)."""

RENEWAL_SECONDS = 10.0
"""Time-out of fetching a new token; other callers wait for it meanwhile."""


def host(location: str) -> str:
    """Where Vertex AI is in ``location``; ``global`` has no prefix."""
    return (
        "https://aiplatform.googleapis.com"
        if location == "global"
        else f"https://{location}-aiplatform.googleapis.com"
    )


class Vertex:
    """An `addon.llm.gemini.Access` by Google credentials.

    Parameters
    ----------
    credentials
        From google-auth, with `SCOPE`.
    project, location
        Who pays, and where the model runs, e.g. ``europe-west1`` or ``global``.
    endpoint
        Base URL, where it is not the location's own.
    """

    def __init__(self, credentials: Any, project: str, location: str, endpoint: str | None = None) -> None:
        self._credentials = credentials
        self._renewing = threading.Lock()
        base = (endpoint or host(location)).rstrip("/")
        self._models = f"{base}/v1/projects/{quote(project, safe=':')}/locations/{quote(location, safe='')}"

    def url(self, model: str) -> str:
        """See `Access`."""
        return f"{self._models}/publishers/google/models/{quote(model, safe='')}:generateContent"

    def headers(
        self, timeout: float, rejected: Mapping[str, str] | None, /
    ) -> dict[str, str] | Transient | Fatal:
        """See `Access`. One thread renews the token for all where it is stale or was rejected."""
        end = time.monotonic() + max(0.0, min(timeout, RENEWAL_SECONDS))
        if not self._renewing.acquire(timeout=max(0.0, end - time.monotonic())):
            return Transient("token_not_renewed")
        try:
            if not self._credentials.valid or self._headers() == rejected:
                self._renew(max(0.001, end - time.monotonic()))
            return self._headers()
        except google.auth.exceptions.TransportError:
            return Transient("token_not_renewed")
        except google.auth.exceptions.GoogleAuthError as error:
            # The metadata server's failures come wrapped as refusals.
            wrapped = isinstance(error.__cause__, google.auth.exceptions.TransportError)
            return Transient("token_not_renewed") if error.retryable or wrapped else Fatal("key_rejected")
        finally:
            self._renewing.release()

    def _renew(self, timeout: float) -> None:
        with requests.Session() as session:
            self._credentials.refresh(functools.partial(Request(session), timeout=timeout))

    def _headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self._credentials.token}"}
