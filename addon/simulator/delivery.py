"""One delivery of a task: an HTTP request with Cloud Tasks' headers, given up at its deadline."""

import http.client
import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import urlsplit

from google.cloud.tasks_v2 import types as cloud

from addon.simulator.identity import SCHEDULER_ACCOUNT
from addon.simulator.transport import hang_up

logger = logging.getLogger(__name__)

GAVE_UP = 504
"""What the next attempt is told where the deadline passed (recorded from Cloud Tasks)."""
NO_ANSWER = 503
"""What the queue goes by where the connection was refused or broke off."""

_OURS = ("x-cloudtasks-", "x-google-", "x-appengine-")
_OWN_NAMES = {"host", "content-length", "user-agent", "authorization", "connection", "transfer-encoding"}


@dataclass(frozen=True, slots=True)
class Attempt:
    """The ``number``-th delivery (from 1) of a task that was due at ``due``.

    Parameters
    ----------
    answers
        Earlier attempts that were answered, 5xx not counted.
    previous
        Status of the last attempt.
    """

    task: cloud.Task
    due: float
    number: int
    answers: int
    previous: int | None

    def headers(self, sign: Callable[[str, str], str]) -> dict[str, str]:
        """All headers of the request but ``Host`` and ``Content-Length``.

        ``sign`` makes an ID token for an audience and a service account.
        """
        request = self.task.http_request
        result = {
            name: value
            for name, value in request.headers.items()
            if name.lower() not in _OWN_NAMES and not name.lower().startswith(_OURS)
        }
        _, _, _, _, _, queue, _, identifier = self.task.name.split("/")
        result |= {
            "User-Agent": "Google-Cloud-Tasks",
            "X-CloudTasks-QueueName": queue,
            "X-CloudTasks-TaskName": identifier,
            "X-CloudTasks-TaskRetryCount": str(self.number - 1),
            "X-CloudTasks-TaskExecutionCount": str(self.answers),
            "X-CloudTasks-TaskETA": f"{self.due:.6f}",
        }
        if self.previous is not None:
            result |= {
                "X-CloudTasks-TaskPreviousResponse": str(self.previous),
                "X-CloudTasks-TaskRetryReason": "",
            }
        if cloud.HttpRequest.pb(request).HasField("oidc_token"):
            account = request.oidc_token.service_account_email
            audience = request.oidc_token.audience or request.url
            result["Authorization"] = f"Bearer {sign(audience, account)}"
        return result


class Courier:
    """Sends requests to services on this machine. Safe to share between threads.

    Parameters
    ----------
    sign
        Makes an ID token for an audience and a service account.
    """

    def __init__(self, sign: Callable[[str, str], str]) -> None:
        self._sign = sign
        self._open: set[http.client.HTTPConnection] = set()
        self._lock = threading.Lock()
        self._ended = False

    def send(self, attempt: Attempt, deadline: float) -> int:
        """Deliver, and stop listening after ``deadline`` seconds: the service may go on all the same."""
        request = attempt.task.http_request
        method = cloud.HttpMethod(request.http_method).name
        return self.request(method, request.url, bytes(request.body), attempt.headers(self._sign), deadline)

    def schedule(self, url: str, audience: str, deadline: float) -> int:
        """Call ``url`` as Cloud Scheduler would."""
        headers = {
            "User-Agent": "Google-Cloud-Scheduler",
            "Content-Type": "application/json",
            "Authorization": f"Bearer {self._sign(audience, SCHEDULER_ACCOUNT)}",
        }
        return self.request("POST", url, b"{}", headers, deadline)

    def request(self, method: str, url: str, body: bytes, headers: dict[str, str], deadline: float) -> int:
        """Send one request and return the answer's status."""
        parts = urlsplit(url)
        connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=deadline)
        with self._lock:
            if self._ended:
                return NO_ANSWER
            self._open.add(connection)
        path = f"{parts.path or '/'}{'?' + parts.query if parts.query else ''}"
        try:
            connection.request(method, path, body or None, headers)
            with connection.getresponse() as response:
                return response.status
        except TimeoutError:
            return GAVE_UP
        except (OSError, http.client.HTTPException) as error:
            logger.info("A delivery was not answered (%s).", type(error).__name__)
            return NO_ANSWER
        finally:
            with self._lock:
                self._open.discard(connection)
            connection.close()

    def hang_up(self) -> None:
        """Break off every request going on, and send none any more."""
        with self._lock:
            self._ended = True
            for connection in self._open:
                if connection.sock is not None:
                    hang_up(connection.sock)
