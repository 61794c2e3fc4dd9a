"""One HTTP session per credential: bounded retries, a total deadline, and errors without content."""

import functools
import random as random_numbers
import threading
import time
from collections.abc import Callable, Mapping
from http.cookiejar import DefaultCookiePolicy
from typing import Any

import google.auth.exceptions
import requests
from google.auth.transport.requests import AuthorizedSession, Request
from google.oauth2.credentials import Credentials
from requests.adapters import HTTPAdapter

from addon.google.answers import Answer, Failed, judge
from addon.google.errors import Refused, Service, TryAgain
from addon.setting_values import is_loopback

POOL_SIZE = 32
"""Connections kept per host: as many as threads are likely to share one session."""

LONGEST_WAIT = 64.0
"""Seconds a back-off grows to, and the longest a call sleeps at all; Google's guides end at 32 to 64 s."""

RENEWAL_SECONDS = 10.0
"""Time-out of fetching a new token; others wait for it meanwhile."""

_LOST = (
    requests.exceptions.ConnectionError,
    requests.exceptions.ChunkedEncodingError,
    requests.exceptions.ContentDecodingError,
    requests.exceptions.TooManyRedirects,
)


def bearer(token: str) -> Any:
    """Credentials for an access token that nobody can renew: a user's, or a local one."""
    return Credentials(token)  # type: ignore[no-untyped-call]


class Budget:
    """What is left of a total deadline; ``None`` seconds mean that there is no deadline."""

    def __init__(self, seconds: float | None, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._end = None if seconds is None else clock() + seconds

    def left(self) -> float | None:
        """Seconds left, never negative; ``None`` without a deadline."""
        return None if self._end is None else max(0.0, self._end - self._clock())

    def covers(self, wait: float) -> bool:
        """Whether time is left for a request after a pause of ``wait`` seconds."""
        left = self.left()
        return left is None or wait < left

    def cap(self, seconds: float) -> float:
        """``seconds``, or what is left if that is less; above zero, as time-outs must be."""
        left = self.left()
        return seconds if left is None else max(0.001, min(seconds, left))


class Session:
    """Sends requests with one credential. Safe to share between threads.

    Parameters
    ----------
    credentials
        Whoever the requests act for.
    timeout
        Seconds to connect, and seconds to wait for each piece of the answer.
    max_attempts
        How often a request is sent at most.
    sleep, clock, random
        For tests: how to pause, a monotonic clock in seconds, numbers in ``[0, 1)`` for jitter.
    """

    def __init__(
        self,
        credentials: Any,
        *,
        timeout: tuple[float, float] = (5, 65),
        max_attempts: int = 5,
        sleep: Callable[[float], None] = time.sleep,
        clock: Callable[[], float] = time.monotonic,
        random: Callable[[], float] = random_numbers.random,
    ) -> None:
        self._credentials = credentials
        self._timeout = timeout
        self._max_attempts = max_attempts
        self._sleep = sleep
        self._clock = clock
        self._random = random
        self._renewing = threading.Lock()
        self._renewals = requests.Session()
        # google-auth renews tokens without a lock, so eight first calls renew eight times; `_token` has one.
        self._http: requests.Session = AuthorizedSession(  # type: ignore[no-untyped-call]
            credentials, max_refresh_attempts=0, auth_request=Request(self._renewals)
        )
        self._http.auth = _as_it_is  # otherwise a line in ~/.netrc replaces the token
        self._http.cookies.set_policy(DefaultCookiePolicy(allowed_domains=[]))
        for scheme in ("https://", "http://"):
            self._http.mount(scheme, HTTPAdapter(pool_connections=8, pool_maxsize=POOL_SIZE, max_retries=0))

    def close(self) -> None:
        """Release connections."""
        self._http.close()
        self._renewals.close()

    def budget(self, seconds: float | Budget | None) -> Budget:
        """A total deadline for several requests: on this session's clock, or one that has begun already."""
        return seconds if isinstance(seconds, Budget) else Budget(seconds, self._clock)

    def pause(self, wait: float, budget: Budget) -> bool:
        """Wait ``wait`` seconds and say yes; or say no at once where that is too long for a call to wait."""
        if wait > LONGEST_WAIT or not budget.covers(wait):
            return False
        if wait:
            self._sleep(wait)
        return True

    def request(
        self,
        method: str,
        url: str,
        *,
        service: Service,
        idempotent: bool,
        params: Mapping[str, str] | None = None,
        json: Any = None,
        body: bytes | None = None,
        headers: Mapping[str, str] | None = None,
        wants_json: bool = False,
        deadline: float | None = None,
    ) -> Answer:
        """Send a request until it is answered, refused, out of attempts or out of time.

        What Google did not begin (429, and 403 for its rate) is always sent again; what it may have carried
        out (5xx, lost connections, time-outs, answers that cannot be read) only if ``idempotent``.

        Parameters
        ----------
        params
            Query parameters as Google spells them: booleans are ``true`` and ``false``.
        json, body
            What to send: a value as JSON, or bytes.
        wants_json
            The answer must be a JSON object; it is parsed into `Answer.data`.
        deadline
            Seconds all attempts and pauses may take together. A pause that would outlast it is not begun.

        Raises
        ------
        TryAgain
            Attempts or time used up; its ``outcome_unknown`` says if the request may have been carried out.
        Refused
            Google understood the request and will not do it.
        """
        budget = self.budget(deadline)
        sending = {"params": params, "json": json, "data": body, "headers": dict(headers or {})}
        failure = Failed("deadline", begun=False)
        outcome_unknown = False
        wait = 0.0
        for attempt in range(self._max_attempts):
            if not self.pause(wait, budget):
                break
            try:
                return judge(self._attempt(method, url, sending, budget), service, wants_json=wants_json)
            except Failed as error:
                failure = error
            except google.auth.exceptions.RefreshError as error:
                failure = _not_renewed(error, service)
            except google.auth.exceptions.TransportError:
                failure = Failed("token_not_renewed", begun=False)
            outcome_unknown = outcome_unknown or failure.begun
            wait = max(failure.wait, min(2.0**attempt + self._random(), LONGEST_WAIT))
            if failure.begun and not idempotent:
                break
        status = "" if failure.status is None else f"{failure.status} "
        raise TryAgain(
            f"{service} gave no usable answer ({status}{failure.reason}); try again later.",
            service=service,
            status=failure.status,
            reason=failure.reason,
            wait=wait,
            outcome_unknown=outcome_unknown,
        )

    def _attempt(self, method: str, url: str, sending: dict[str, Any], budget: Budget) -> Answer:
        token = self._token(budget)
        answer = self._send(method, url, sending, budget)
        if answer.status == 401:  # nothing was done: a new token, and once more
            self._token(budget, rejected=token)
            answer = self._send(method, url, sending, budget)
        return answer

    def _send(self, method: str, url: str, sending: dict[str, Any], budget: Budget) -> Answer:
        connect, read = self._timeout
        try:
            with self._http.request(
                method,
                url,
                timeout=(budget.cap(connect), budget.cap(read)),
                stream=True,
                allow_redirects=method == "GET",
                # A proxy named in the environment is not to see what stays on this machine.
                proxies={"no_proxy": "127.0.0.1,localhost,::1"} if is_loopback(url) else None,
                **sending,
            ) as response:
                return Answer(response.status_code, response.headers, _read(response, budget))
        except requests.exceptions.Timeout as error:
            connected = not isinstance(error, requests.exceptions.ConnectTimeout)
            raise Failed("timeout", begun=connected) from None
        except _LOST:
            raise Failed("connection_lost") from None

    def _token(self, budget: Budget, *, rejected: str | None = None) -> str:
        """The token to send; one thread renews it for all where it is stale or was ``rejected``."""
        if not self._renewing.acquire(timeout=budget.cap(RENEWAL_SECONDS)):
            raise Failed("token_not_renewed", begun=False)
        try:
            if not self._credentials.valid or self._credentials.token == rejected:
                renew = functools.partial(Request(self._renewals), timeout=budget.cap(RENEWAL_SECONDS))
                self._credentials.refresh(renew)
            return str(self._credentials.token)
        finally:
            self._renewing.release()


DELEGATION_WORDS = ("unauthorized_client", "access_denied", "Invalid email or User ID")
"""What the token endpoint says where nobody has let the account act as this person, or nobody can."""


def _as_it_is(request: requests.PreparedRequest) -> requests.PreparedRequest:
    return request


def _read(response: requests.Response, budget: Budget) -> bytes:
    pieces = []
    for piece in response.iter_content(64 * 1024):
        pieces.append(piece)
        if not budget.covers(0):  # the time-out is per piece, so a trickle would outlast any deadline
            raise requests.exceptions.ReadTimeout("the answer trickles in")
    return b"".join(pieces)


def _not_renewed(error: google.auth.exceptions.RefreshError, service: Service) -> Failed:
    """Sort a failed renewal: the metadata server's transport errors come wrapped as refusals."""
    if error.retryable or isinstance(error.__cause__, google.auth.exceptions.TransportError):
        return Failed("token_not_renewed", begun=False)
    said = str(error.args[0]) if error.args else ""
    raise Refused(
        f"{service} cannot be asked: the access token is not accepted and cannot be renewed.",
        service=service,
        status=401,
        reason="delegation_refused"
        if any(word in said for word in DELEGATION_WORDS)
        else "token_not_renewed",
    ) from None
