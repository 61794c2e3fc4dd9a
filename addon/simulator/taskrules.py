"""What Cloud Tasks accepts as a task, and how its JSON is read."""

import re
import secrets
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlsplit

from google.cloud.tasks_v2 import types as cloud
from google.protobuf import json_format

from addon.simulator.errors import Refusal, invalid, unsupported
from addon.simulator.transport import LOOPBACK

NAME_KEPT = 24 * 3600.0
"""Seconds for which a name stays taken after its task is done (Cloud Tasks quotas: up to 24 hours)."""
_TASK_BYTES = 1024 * 1024
_DEADLINES = (timedelta(seconds=15), timedelta(minutes=30))
_DEFAULT_DEADLINE = timedelta(minutes=10)
_FURTHEST = timedelta(days=30)
_QUEUE = re.compile(r"projects/[a-z0-9:.\-]+/locations/[a-z0-9\-]+/queues/[A-Za-z0-9\-]{1,100}")
_TASK_ID = re.compile(r"[A-Za-z0-9_\-]{1,500}")


@dataclass(frozen=True, slots=True)
class RetryConfig:
    """When a task that was not answered with 2xx is delivered again.

    Parameters
    ----------
    min_backoff, max_backoff
        Seconds before the second delivery, and at most.
    max_doublings
        How often the pause doubles before it grows by the same amount each time.
    max_attempts
        Deliveries in all, or ``None`` for any number; then the task is dropped.
    """

    min_backoff: float = 0.2
    max_backoff: float = 5.0
    max_doublings: int = 16
    max_attempts: int | None = None

    def backoff(self, attempts: int) -> float:
        """Seconds to wait after that many attempts."""
        doublings = min(attempts - 1, self.max_doublings)
        step: float = self.min_backoff * 2**doublings
        beyond = attempts - 1 - doublings
        return min(step * (1 + beyond), self.max_backoff)


def check_queue(name: str) -> str:
    """A queue's name; any well-formed one exists from its first use on.

    Raises
    ------
    Refusal
        404 for a name no queue can have.
    """
    if not _QUEUE.fullmatch(name):
        raise Refusal(404, "Queue does not exist. If you just created the queue, wait at least a minute.")
    return name


def check_task_name(name: str) -> str:
    """A task's full name.

    Raises
    ------
    Refusal
        It is malformed.
    """
    queue, mark, identifier = name.rpartition("/tasks/")
    if not mark or not _QUEUE.fullmatch(queue) or not _TASK_ID.fullmatch(identifier):
        raise invalid(
            'Invalid resource field value in the request: task name must be formatted: "projects/<PROJECT_ID>'
            '/locations/<LOCATION_ID>/queues/<QUEUE_ID>/tasks/<TASK_ID>".'
        )
    return name


def read_task(queue: str, body: Any, now: float) -> cloud.Task:
    """Read the JSON of ``tasks.create`` into a complete task.

    Raises
    ------
    Refusal
        It has unknown fields, or values that Cloud Tasks does not take.
    """
    message = cloud.CreateTaskRequest.pb()()
    try:
        json_format.ParseDict(body or {}, message)
    except json_format.ParseError as error:
        raise invalid(f"Invalid JSON payload received. {error}") from None
    task: cloud.Task = cloud.CreateTaskRequest.wrap(message).task
    pb = cloud.Task.pb(task)
    if pb.HasField("app_engine_http_request") or pb.HasField("retry_config"):
        raise unsupported("App Engine tasks and retry configurations of single tasks")
    if not pb.HasField("http_request"):
        raise invalid("Task.http_request must be set.")
    _check_request(task.http_request)
    _check_times(task, now)
    if task.name:
        check_task_name(task.name)
        if not task.name.startswith(f"{queue}/tasks/"):
            raise invalid("The queue name from request ('parent') must be the same as the task's queue.")
    else:
        task.name = f"{queue}/tasks/{secrets.randbelow(9 * 10**19) + 10**19}"
    if len(cloud.Task.serialize(task)) > _TASK_BYTES:
        raise invalid("Task size too large.")
    return task


def _check_request(request: cloud.HttpRequest) -> None:
    parts = urlsplit(request.url)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise invalid("HttpRequest.url must start with 'http://' or 'https://'.")
    if parts.scheme != "http" or parts.hostname not in {LOOPBACK, "localhost"}:
        raise invalid("HttpRequest.url: the simulator delivers over http to this machine only.")
    if request.http_method == cloud.HttpMethod.HTTP_METHOD_UNSPECIFIED:
        request.http_method = cloud.HttpMethod.POST  # type: ignore[assignment]
    if request.body and request.http_method not in {
        cloud.HttpMethod.POST,
        cloud.HttpMethod.PUT,
        cloud.HttpMethod.PATCH,
    }:
        raise invalid("HttpRequest.body is allowed with POST, PUT and PATCH only.")
    if cloud.HttpRequest.pb(request).HasField("oauth_token"):
        raise unsupported("OAuth tokens on tasks; use oidcToken")


def _check_times(task: cloud.Task, now: float) -> None:
    pb = cloud.Task.pb(task)
    if not pb.HasField("dispatch_deadline"):
        task.dispatch_deadline = _DEFAULT_DEADLINE
    if not _DEADLINES[0] <= task.dispatch_deadline <= _DEADLINES[1]:
        raise invalid("Task.dispatchDeadline must be between [15s, 30m].")
    present = datetime.fromtimestamp(now, UTC)
    if not pb.HasField("schedule_time"):
        task.schedule_time = present
    if task.schedule_time - present > _FURTHEST:
        raise invalid("Task.schedule_time must be less than 30 days in the future.")
    task.create_time = present
