"""The certificates Google signs ID tokens with, fetched once and kept for as long as Google says."""

import re
import threading
import time
from collections.abc import Callable, Mapping

import requests

FETCH_SECONDS = 5.0
"""Time-out of a fetch: a caller waits for it."""

SHORTEST, LONGEST = 60.0, 86_400.0
"""Seconds certificates are kept, whatever the answer says. Google's say some hours."""

AGAIN = 30.0
"""Seconds between fetches at least: tokens with made-up key ids must not become a stream of fetches."""

STALE = 3_600.0
"""Seconds certificates serve beyond their time while new ones cannot be had."""

_MAX_AGE = re.compile(r"\bmax-age=(\d{1,9})", re.IGNORECASE)


class CertificatesUnavailable(Exception):
    """They cannot be fetched, so nobody can be told from anybody else at the moment."""


class Certificates:
    """PEM certificates by key id. Safe to share between threads.

    Parameters
    ----------
    url
        Answers a JSON object of key ids and PEM certificates, as Google's
        https://www.googleapis.com/oauth2/v1/certs does.
    clock
        Monotonic, in seconds; for tests.
    """

    def __init__(self, url: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._url = url
        self._clock = clock
        self._lock = threading.Lock()
        self._known: Mapping[str, str] = {}
        self._until = self._last_try = float("-inf")

    def find(self, key_id: str) -> str | None:
        """The certificate of that id; ``None`` where there is none, even among the newest ones.

        Raises
        ------
        CertificatesUnavailable
            Whether there is one cannot be told at the moment.
        """
        with self._lock:
            now = self._clock()
            fresh = now < self._until
            if fresh and key_id in self._known:
                return self._known[key_id]
            if now - self._last_try >= AGAIN:
                self._fetch(now)
            elif not fresh and now >= self._until + STALE:
                raise CertificatesUnavailable("certificates could not be fetched a moment ago")
            return self._known.get(key_id)

    def _fetch(self, now: float) -> None:
        """Take new certificates; keep the old ones, for a while, where there is no answer."""
        self._last_try = now
        try:
            with requests.Session() as session:
                session.trust_env = False
                answer = session.get(self._url, timeout=FETCH_SECONDS, allow_redirects=False)
            found = answer.json() if answer.status_code == 200 else None
        except (requests.RequestException, ValueError):
            found = None
        if isinstance(found, dict) and found and all(isinstance(pem, str) for pem in found.values()):
            self._known = found
            age = _MAX_AGE.search(answer.headers.get("Cache-Control", ""))
            self._until = now + min(max(float(age[1]) if age else SHORTEST, SHORTEST), LONGEST)
        elif now >= self._until + STALE:
            raise CertificatesUnavailable("certificates cannot be fetched")
