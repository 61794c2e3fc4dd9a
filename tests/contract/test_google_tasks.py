"""The Cloud Tasks client against Google's wire: named tasks, deadlines and tokens, and never any content."""

import base64
import json
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
from discovery import problems
from google.api_core.exceptions import AlreadyExists, DeadlineExceeded, PermissionDenied, ServiceUnavailable
from google.auth.exceptions import RefreshError, TransportError
from scripted import Clock, Reply, Scripted, google_error

from addon.google.errors import JobBlocked, TryAgain
from addon.google.session import bearer
from addon.google.tasks import Tasks

QUEUE = "projects/local/locations/local/queues/summaries"
BASE = "http://127.0.0.1:8080"
ACCOUNT = "worker@local.iam.gserviceaccount.com"
CREATED = Reply(json={"name": f"{QUEUE}/tasks/job-0-0-1"})


@pytest.fixture
def google() -> Iterator[Scripted]:
    """Google; at the end everything that was sent to it must be something the Cloud Tasks API knows."""
    with Scripted().running() as scripted:
        yield scripted
    checked = [problems("cloudtasks.v2", request, integer_enums=True) for request in scripted.requests]
    assert [found for found in checked if found] == []


@pytest.fixture
def tasks(google: Scripted, clock: Clock) -> Iterator[Tasks]:
    made = Tasks(QUEUE, google.url, BASE, account=ACCOUNT, sleep=clock.sleep, random=lambda: 0.0)
    yield made
    made.close()


def test_a_task_posts_json_to_this_service_with_a_deadline_and_a_token(
    google: Scripted, tasks: Tasks
) -> None:
    google.enqueue(CREATED)
    assert tasks.enqueue("job-0-0-1", "/tasks/link", {"job": "job", "shard": 0}) is True
    (request,) = google.requests
    assert (request.method, request.path) == ("POST", f"/v2/{QUEUE}/tasks")
    task = request.json["task"]
    assert json.loads(base64.b64decode(task["httpRequest"].pop("body"))) == {"job": "job", "shard": 0}
    assert task == {
        "name": f"{QUEUE}/tasks/job-0-0-1",
        "dispatchDeadline": "330s",
        "httpRequest": {
            "url": f"{BASE}/tasks/link",
            "httpMethod": 1,
            "headers": {"Content-Type": "application/json"},
            "oidcToken": {"serviceAccountEmail": ACCOUNT, "audience": f"{BASE}/tasks"},
        },
    }


def test_the_deadline_is_the_one_configured(google: Scripted, clock: Clock) -> None:
    google.enqueue(CREATED)
    tasks = Tasks(QUEUE, google.url, BASE, account=ACCOUNT, dispatch_deadline=90.5)
    tasks.enqueue("a", "/tasks/link", {})
    tasks.close()
    assert google.requests[0].json["task"]["dispatchDeadline"] == "90.500s"


@pytest.mark.parametrize("deadline", [14.9, 1801])
def test_a_deadline_that_cloud_tasks_does_not_take_is_refused_here(deadline: float) -> None:
    with pytest.raises(ValueError, match="15 to 1800"):
        Tasks(QUEUE, "http://127.0.0.1:9", BASE, account=ACCOUNT, dispatch_deadline=deadline)


def test_a_task_can_wait(google: Scripted, tasks: Tasks) -> None:
    google.enqueue(CREATED)
    tasks.enqueue("a", "/tasks/link", {}, not_before=datetime(2026, 12, 1, 7, 30, tzinfo=UTC))
    assert google.requests[0].json["task"]["scheduleTime"] == "2026-12-01T07:30:00Z"


def test_a_time_without_a_zone_is_refused(tasks: Tasks) -> None:
    with pytest.raises(ValueError, match="time zone"):
        tasks.enqueue("a", "/tasks/link", {}, not_before=datetime(2026, 12, 1, 7, 30))


def test_a_name_that_is_taken_is_a_success(google: Scripted, tasks: Tasks) -> None:
    google.enqueue(google_error(409, "ALREADY_EXISTS", "Requested entity already exists"))
    assert tasks.enqueue("job-0-0-1", "/tasks/link", {}) is False


def test_an_answer_that_was_lost_leads_to_one_task(google: Scripted, tasks: Tasks) -> None:
    google.enqueue(Reply(lost=True), google_error(409, "ALREADY_EXISTS"))
    assert tasks.enqueue("job-0-0-1", "/tasks/link", {}) is False
    first, second = (request.json["task"]["name"] for request in google.requests)
    assert first == second


@pytest.mark.parametrize(
    "failure",
    [
        google_error(503, "UNAVAILABLE"),
        google_error(504, "DEADLINE_EXCEEDED"),
        google_error(500, "INTERNAL"),
        google_error(429, "RESOURCE_EXHAUSTED"),
        google_error(409, "ABORTED"),
        Reply(lost=True),
        Reply(body=b"<html>hello</html>", headers={"Content-Type": "text/html"}),
    ],
)
def test_a_passing_failure_is_tried_again_a_few_times(
    google: Scripted, tasks: Tasks, clock: Clock, failure: Reply
) -> None:
    google.enqueue(failure, failure, CREATED)
    assert tasks.enqueue("a", "/tasks/link", {}) is True
    assert clock.sleeps == [0.5, 1.0]
    google.answer = lambda _: failure
    with pytest.raises(TryAgain) as raised:
        tasks.enqueue("a", "/tasks/link", {})
    assert (raised.value.service, raised.value.outcome_unknown) == ("Tasks", True)
    assert len(google.requests) == 6


@pytest.mark.parametrize(
    ("status", "word"), [(403, "PERMISSION_DENIED"), (404, "NOT_FOUND"), (400, "INVALID_ARGUMENT")]
)
def test_a_queue_that_refuses_is_the_operators_business(
    google: Scripted, tasks: Tasks, status: int, word: str
) -> None:
    google.enqueue(google_error(status, word))
    with pytest.raises(JobBlocked) as raised:
        tasks.enqueue("a", "/tasks/link", {})
    assert (raised.value.code, raised.value.status, raised.value.reason) == ("api_refused", status, word)
    assert len(google.requests) == 1


class Grpc:
    """A client as it behaves over gRPC, where errors come as other classes."""

    def __init__(self, *outcomes: Exception | None) -> None:
        self.outcomes = list(outcomes)

    def create_task(self, **_: Any) -> None:
        outcome = self.outcomes.pop(0)
        if outcome is not None:
            raise outcome


def over_grpc(clock: Clock, monkeypatch: pytest.MonkeyPatch, *outcomes: Exception | None) -> Tasks:
    client = Grpc(*outcomes)
    made: list[Any] = []

    def make(**options: Any) -> Grpc:
        made.append(options)
        return client

    monkeypatch.setattr("addon.google.tasks.tasks_v2.CloudTasksClient", make)
    tasks = Tasks(QUEUE, "https://cloudtasks.googleapis.com", BASE, account=ACCOUNT, sleep=clock.sleep)
    assert made == []  # nothing is connected before the first use, which is after the fork
    return tasks


def test_grpc_errors_mean_the_same(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    tasks = over_grpc(
        clock,
        monkeypatch,
        ServiceUnavailable("x"),
        DeadlineExceeded("x"),
        None,
        AlreadyExists("x"),
        PermissionDenied("x"),
    )
    assert tasks.enqueue("a", "/tasks/link", {}) is True
    assert tasks.enqueue("a", "/tasks/link", {}) is False
    with pytest.raises(JobBlocked) as raised:
        tasks.enqueue("a", "/tasks/link", {})
    assert raised.value.reason == "PERMISSION_DENIED"


def test_credentials_that_are_not_accepted_block_and_a_failed_renewal_passes(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    tasks = over_grpc(clock, monkeypatch, TransportError("no route"), None, RefreshError("invalid_grant"))
    assert tasks.enqueue("a", "/tasks/link", {}) is True
    with pytest.raises(JobBlocked) as raised:
        tasks.enqueue("a", "/tasks/link", {})
    assert (raised.value.code, raised.value.reason) == ("api_refused", "unauthenticated")


def test_the_simulator_is_told_who_calls(google: Scripted) -> None:
    google.enqueue(CREATED, google_error(401, "UNAUTHENTICATED"))
    worker = bearer("ya29.local-worker")
    tasks = Tasks(QUEUE, google.url, BASE, account=ACCOUNT, credentials=lambda: worker)
    assert tasks.enqueue("a", "/tasks/link", {}) is True
    with pytest.raises(JobBlocked) as raised:
        tasks.enqueue("a", "/tasks/link", {})
    tasks.close()
    assert google.requests[0].headers["Authorization"] == "Bearer ya29.local-worker"
    assert "ya29" not in f"{raised.value}{raised.value!r}"


@pytest.mark.parametrize("name", ["", "a b", "a/b", "ä", "x" * 501, "a\n"])
def test_a_name_that_cloud_tasks_does_not_take_is_refused_here(
    google: Scripted, tasks: Tasks, name: str
) -> None:
    with pytest.raises(ValueError, match="name"):
        tasks.enqueue(name, "/tasks/link", {})
    assert google.requests == []


@pytest.mark.parametrize(
    "value", ["confidential " * 16, True, 1.5, None, ["confidential"], {"text": "confidential"}]
)
def test_nothing_that_could_be_content_gets_into_a_task(google: Scripted, tasks: Tasks, value: Any) -> None:
    with pytest.raises((TypeError, ValueError)) as raised:
        tasks.enqueue("a", "/tasks/link", {"job": value})
    assert "confidential" not in str(raised.value)
    assert google.requests == []
