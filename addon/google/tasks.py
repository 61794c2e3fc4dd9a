"""Cloud Tasks: putting one named task into the queue, so that naming it twice makes one task."""

import json
import random as random_numbers
import re
import threading
import time
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any
from urllib.parse import urlsplit

import requests
from google.api_core.exceptions import AlreadyExists, GoogleAPICallError
from google.auth.credentials import AnonymousCredentials
from google.auth.exceptions import GoogleAuthError, TransportError
from google.cloud import tasks_v2
from google.cloud.tasks_v2.services.cloud_tasks.transports.rest import CloudTasksRestTransport
from google.protobuf.duration_pb2 import Duration
from google.protobuf.json_format import ParseError

from addon.google.errors import JobBlocked, Refused, TryAgain, blocked
from addon.google.identity import audience_of

ATTEMPTS = 3
"""How often one task is offered; the sweep enqueues again what could not be enqueued."""

CALL_SECONDS = 10.0
"""Time-out of one call; creating a named task is slower than an unnamed one, but not that slow."""

LONGEST_VALUE = 200
"""Characters of a payload's value: enough for any id or counter, too little for a text."""

_NAME = re.compile(r"[A-Za-z0-9_-]{1,500}")


class Tasks:
    """A queue whose tasks call this service with an OIDC token. Safe to share between threads.

    The client is made at the first use: one that was made before a fork hangs.

    Parameters
    ----------
    queue
        Full name of the queue, ``projects/P/locations/L/queues/Q``.
    endpoint
        Root URL of the API: ``http`` is spoken to as plain REST (only the simulator is), ``https`` with gRPC.
    base_url
        Root URL of this service.
    account
        E-mail of the service account the tokens are for.
    credentials
        Makes what to prove oneself with, at the first use.
    dispatch_deadline
        Seconds the queue waits for one dispatch, 15 to 1800; without it Cloud Tasks waits 600.
    sleep, random
        For tests: how to pause, numbers in ``[0, 1)`` for jitter.
    """

    def __init__(
        self,
        queue: str,
        endpoint: str,
        base_url: str,
        *,
        account: str,
        credentials: Callable[[], Any] = AnonymousCredentials,
        dispatch_deadline: float = 330,
        sleep: Callable[[float], None] = time.sleep,
        random: Callable[[], float] = random_numbers.random,
    ) -> None:
        if not 15 <= dispatch_deadline <= 1800:
            raise ValueError(f"a dispatch deadline is 15 to 1800 seconds, not {dispatch_deadline:g}")
        self._queue = queue
        self._endpoint = urlsplit(endpoint)
        self._base_url = base_url
        self._account = account
        self._credentials = credentials
        self._dispatch_deadline = dispatch_deadline
        self._sleep = sleep
        self._random = random
        self._creating = threading.Lock()
        self._client: tasks_v2.CloudTasksClient | None = None

    def enqueue(
        self,
        name: str,
        path: str,
        body: Mapping[str, str | int],
        *,
        not_before: datetime | None = None,
    ) -> bool:
        """Put a task into the queue that POSTs ``body`` as JSON to ``path`` of this service.

        Parameters
        ----------
        name
            Id of the task, ``[A-Za-z0-9_-]{1,500}``; the same id again makes no second task, for up to
            24 hours after the first is gone.
        body
            Keys and counters only, never content.
        not_before
            Aware time of the first dispatch; ``None`` for at once.

        Returns
        -------
        bool
            ``False`` where the name is taken, which is as good: the task is there, or has been.

        Raises
        ------
        TryAgain
            The queue could not be reached; the task may be in it nevertheless.
        JobBlocked
            ``api_refused``: no such queue, or this service may not use it.
        """
        task = self._task(name, path, body, not_before)
        for attempt in range(1, ATTEMPTS + 1):
            try:
                self._connected().create_task(parent=self._queue, task=task, retry=None, timeout=CALL_SECONDS)
                return True
            except GoogleAPICallError as error:
                if _name_is_taken(error):
                    return False
                if not _is_passing(error):
                    raise self._refused(name, error) from None
                status, reason = error.code, _word(error)
            except (requests.exceptions.ConnectionError, requests.exceptions.Timeout, TransportError):
                status, reason = None, "connection_lost"
            except GoogleAuthError as error:
                raise JobBlocked(
                    f"Cloud Tasks does not let this service in ({type(error).__name__}): "
                    f"task {name} was not made.",
                    code="api_refused",
                    service="Tasks",
                    reason="unauthenticated",
                ) from None
            except ParseError:
                status, reason = None, "broken_json"
            wait = 2.0 ** (attempt - 1) / 2 + self._random() / 2
            if attempt < ATTEMPTS:
                self._sleep(wait)
        raise TryAgain(
            f"Cloud Tasks did not confirm task {name} ({reason}); the sweep will enqueue it again.",
            service="Tasks",
            status=status,
            reason=reason,
            wait=wait,
            outcome_unknown=True,
        )

    def close(self) -> None:
        """Release connections."""
        with self._creating:
            if self._client is not None:
                self._client.transport.close()  # type: ignore[no-untyped-call]
                self._client = None

    def _connected(self) -> tasks_v2.CloudTasksClient:
        with self._creating:
            if self._client is None:
                host = self._endpoint.netloc
                if self._endpoint.scheme == "http":
                    transport = CloudTasksRestTransport(
                        host=host, url_scheme="http", credentials=self._credentials()
                    )
                    self._client = tasks_v2.CloudTasksClient(transport=transport)
                else:
                    self._client = tasks_v2.CloudTasksClient(
                        credentials=self._credentials(), client_options={"api_endpoint": host}
                    )
            return self._client

    def _task(
        self, name: str, path: str, body: Mapping[str, str | int], not_before: datetime | None
    ) -> tasks_v2.Task:
        if not _NAME.fullmatch(name):
            raise ValueError("a task's name is 1 to 500 letters, digits, hyphens and underscores")
        if not_before is not None and not_before.tzinfo is None:
            raise ValueError("the time of a task's first dispatch must say its time zone")
        _check_payload(body)
        seconds, fraction = divmod(self._dispatch_deadline, 1)
        return tasks_v2.Task(
            name=f"{self._queue}/tasks/{name}",
            http_request=tasks_v2.HttpRequest(
                url=self._base_url + path,
                http_method=tasks_v2.HttpMethod.POST,
                headers={"Content-Type": "application/json"},
                body=json.dumps(dict(body)).encode(),
                oidc_token=tasks_v2.OidcToken(
                    service_account_email=self._account, audience=audience_of(self._base_url, "tasks")
                ),
            ),
            # Duration.FromTimedelta returns None, which would leave the deadline unset.
            dispatch_deadline=Duration(seconds=int(seconds), nanos=int(fraction * 1e9)),
            schedule_time=not_before,
        )

    def _refused(self, name: str, error: GoogleAPICallError) -> Exception:
        refusal = Refused(
            f"Cloud Tasks refused task {name}.", service="Tasks", status=error.code, reason=_word(error)
        )
        return blocked("api_refused", f"task {name}", refusal)


def _check_payload(body: Mapping[str, str | int]) -> None:
    for key, value in body.items():
        if isinstance(value, bool) or not isinstance(value, str | int):
            raise TypeError(f"the payload's {key} must be a short string or an integer")
        if isinstance(value, str) and len(value) > LONGEST_VALUE:
            raise ValueError(f"the payload's {key} is longer than {LONGEST_VALUE} characters")


def _name_is_taken(error: GoogleAPICallError) -> bool:
    """Over REST, ALREADY_EXISTS and ABORTED both arrive as `Conflict`; only the body tells them apart."""
    return isinstance(error, AlreadyExists) or _word(error) == "ALREADY_EXISTS"


def _is_passing(error: GoogleAPICallError) -> bool:
    return error.code is None or error.code in {408, 409, 429} or error.code >= 500


def _word(error: GoogleAPICallError) -> str:
    """Google's status word, such as ``UNAVAILABLE``."""
    if error.grpc_status_code is not None:
        return str(error.grpc_status_code.name)
    try:
        return str(error.response.json()["error"]["status"])
    except (AttributeError, ValueError, KeyError, TypeError):
        return type(error).__name__
