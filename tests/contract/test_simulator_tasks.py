"""The simulated Cloud Tasks: names, retries, deadlines, headers."""

import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Event

import pytest
import requests
from google.auth import jwt
from simulated import QUEUE, Api, Receiver, caller, error, task

from addon.simulator.identity import SCHEDULER_ACCOUNT, WORKER
from addon.simulator.server import Simulator
from addon.simulator.taskrules import RetryConfig

TASKS = f"/v2/{QUEUE}/tasks"


@pytest.fixture
def simulator(tmp_path: Path) -> Iterator[Simulator]:
    with Simulator(tmp_path / "state") as running:
        running.queue.retry = RetryConfig(min_backoff=0.001, max_backoff=0.01)
        yield running


@pytest.fixture
def service() -> Iterator[Receiver]:
    with Receiver() as receiver:
        yield receiver


def test_a_task_is_delivered_once_with_cloud_tasks_headers(
    api: Api, simulator: Simulator, service: Receiver
) -> None:
    before = time.time()
    made = api.ok("POST", f"{TASKS}?$alt=json;enum-encoding=int", task(service.url, "job-0-0-1"))
    assert made["name"] == f"{QUEUE}/tasks/job-0-0-1"
    assert (made["dispatchDeadline"], made["httpRequest"]["httpMethod"]) == ("600s", 1)
    assert "body" not in made["httpRequest"]
    assert simulator.queue.wait_idle()
    ((path, headers, body),) = service.got
    assert (path, body) == ("/tasks/link", b'{"job": "j1"}')
    eta = headers.pop("X-CloudTasks-TaskETA")
    assert before - 1 < float(eta) < time.time() + 1
    assert "." in eta
    scheme, token = headers.pop("Authorization").split()
    claims = jwt.decode(token, simulator.identity.google.certificate)
    assert (scheme, claims["aud"], claims["email"]) == ("Bearer", service.url, WORKER)
    assert {name: value for name, value in headers.items() if name not in {"Host", "Content-Length"}} == {
        "Accept-Encoding": "identity",
        "Content-Type": "application/json",
        "User-Agent": "Google-Cloud-Tasks",
        "X-CloudTasks-QueueName": "summaries",
        "X-CloudTasks-TaskName": "job-0-0-1",
        "X-CloudTasks-TaskRetryCount": "0",
        "X-CloudTasks-TaskExecutionCount": "0",
    }
    assert simulator.queue.pending() == []


def test_without_an_oidc_token_no_proof_is_sent(api: Api, simulator: Simulator, service: Receiver) -> None:
    body = task(service.url)
    del body["task"]["httpRequest"]["oidcToken"]
    api.ok("POST", TASKS, body)
    assert simulator.queue.wait_idle()
    assert "Authorization" not in service.got[0][1]


def test_counts_in_the_headers_are_those_recorded_from_cloud_tasks(api: Api, simulator: Simulator) -> None:
    with Receiver([503, 404, 429, 500, 302]) as service:
        api.ok("POST", TASKS, task(service.url))
        assert simulator.queue.wait_idle()
    assert service.headers("TaskRetryCount") == ["0", "1", "2", "3", "4", "5"]
    assert service.headers("TaskExecutionCount") == ["0", "0", "1", "2", "2", "3"]
    assert service.headers("TaskPreviousResponse") == [None, "503", "404", "429", "500", "302"]
    assert service.headers("TaskRetryReason") == [None, "", "", "", "", ""]
    assert simulator.counts["tasks.dispatch"] == 6


def test_pauses_double_then_grow_evenly_up_to_the_longest() -> None:
    retry = RetryConfig(min_backoff=10, max_backoff=300, max_doublings=3)
    assert [retry.backoff(attempts) for attempts in range(1, 8)] == [10, 20, 40, 80, 160, 240, 300]


def test_a_conflict_is_tried_again_and_does_not_slow_the_queue_down(api: Api, simulator: Simulator) -> None:
    with Receiver([409] * 5) as service:
        api.ok("POST", TASKS, task(service.url))
        assert simulator.queue.wait_idle()
        assert len(service.got) == 6
    assert not simulator.queue.throttled


@pytest.mark.parametrize("status", [429, 503])
def test_429_and_5xx_slow_the_whole_queue_down(api: Api, simulator: Simulator, status: int) -> None:
    with Receiver([status] * 1000) as service:
        api.ok("POST", TASKS, task(service.url))
        service.wait(2)  # so the first answer has been taken note of
        assert simulator.queue.throttled


def test_a_task_that_is_never_answered_well_is_dropped_after_its_attempts(
    api: Api, simulator: Simulator
) -> None:
    simulator.queue.retry = RetryConfig(0.001, 0.01, max_attempts=3)
    with Receiver([500] * 9) as service:
        api.ok("POST", TASKS, task(service.url, "hopeless"))
        assert simulator.queue.wait_idle()
        assert len(service.got) == 3
    error(api("POST", TASKS, task(service.url, "hopeless")), 409)


def test_a_name_is_taken_while_pending_while_running_and_after_completion(
    api: Api, simulator: Simulator
) -> None:
    hold = Event()
    with Receiver(hold=hold) as service:
        simulator.queue.pause()
        api.ok("POST", TASKS, task(service.url, "once"))
        assert error(api("POST", TASKS, task(service.url, "once")), 409) == "Requested entity already exists"
        simulator.queue.resume()
        service.wait(1)
        assert error(api("POST", TASKS, task(service.url, "once")), 409) == "Requested entity already exists"
        hold.set()
        assert simulator.queue.wait_idle()
        response = api("POST", TASKS, task(service.url, "once"))
        assert "existed too recently" in error(response, 409)
        assert response.json()["error"]["status"] == "ALREADY_EXISTS"
        assert len(service.got) == 1


def test_a_name_is_free_again_a_day_after_completion(tmp_path: Path, service: Receiver) -> None:
    now = [1_000_000.0]
    with Simulator(tmp_path / "state", clock=lambda: now[0]) as simulator, caller(simulator) as api:
        api.ok("POST", TASKS, task(service.url, "daily"))
        assert simulator.queue.wait_idle()
        now[0] += 24 * 3600 - 1
        error(api("POST", TASKS, task(service.url, "daily")), 409)
        now[0] += 2
        api.ok("POST", TASKS, task(service.url, "daily"))
        assert simulator.queue.wait_idle()
    assert len(service.got) == 2


def test_deleted_and_purged_names_stay_taken(api: Api, simulator: Simulator, service: Receiver) -> None:
    api.ok("POST", f"/v2/{QUEUE}:pause")
    for name in ("deleted", "purged"):
        api.ok("POST", TASKS, task(service.url, name))
    assert api.ok("GET", f"{TASKS}/deleted")["name"] == f"{QUEUE}/tasks/deleted"
    api.ok("DELETE", f"{TASKS}/deleted")
    assert [item["name"] for item in api.ok("GET", TASKS)["tasks"]] == [f"{QUEUE}/tasks/purged"]
    api.ok("POST", f"/v2/{QUEUE}:purge")
    api.ok("POST", f"/v2/{QUEUE}:resume")
    for name in ("deleted", "purged"):
        error(api("GET", f"{TASKS}/{name}"), 404)
        error(api("POST", TASKS, task(service.url, name)), 409)
    assert simulator.queue.pending() == []
    assert service.got == []


def test_after_the_deadline_the_next_attempt_overlaps_the_first(api: Api, simulator: Simulator) -> None:
    simulator.queue.deadline = 0.05
    hold = Event()
    with Receiver(hold=hold) as service:
        api.ok("POST", TASKS, task(service.url, "slow"))
        service.wait(2)  # the second comes while the first still works: the queue only stopped listening
        assert service.headers("TaskPreviousResponse")[:2] == [None, "504"]
        assert service.headers("TaskExecutionCount")[:2] == ["0", "0"]
        simulator.queue.deadline = None
        hold.set()
        assert simulator.queue.wait_idle()


def test_scheduled_tasks_wait_for_their_time(api: Api, simulator: Simulator, service: Receiver) -> None:
    later = (datetime.now(UTC) + timedelta(hours=1)).isoformat()
    soon = datetime.now(UTC) + timedelta(milliseconds=150)
    api.ok("POST", TASKS, task(service.url, "later", scheduleTime=later))
    api.ok("POST", TASKS, task(service.url, "soon", scheduleTime=soon.isoformat()))
    service.wait(1)
    assert datetime.now(UTC) >= soon
    assert service.headers("TaskName") == ["soon"]
    assert abs(float(service.headers("TaskETA")[0] or 0) - soon.timestamp()) < 0.001
    assert f"{QUEUE}/tasks/later" in simulator.queue.pending()


def test_at_most_sixteen_deliveries_at_once(api: Api, simulator: Simulator) -> None:
    hold = Event()
    with Receiver(hold=hold) as service:
        for number in range(20):
            api.ok("POST", TASKS, task(service.url, f"t{number}"))
        service.wait(16)
        assert not service.arrived.acquire(timeout=0.1)
        hold.set()
        assert simulator.queue.wait_idle()
        assert len(service.got) == 20


@pytest.mark.parametrize(
    ("change", "status"),
    [
        ({"dispatchDeadline": "14s"}, 400),
        ({"dispatchDeadline": "1801s"}, 400),
        ({"scheduleTime": "2200-01-01T00:00:00Z"}, 400),
        ({"name": f"{QUEUE}/tasks/a b"}, 400),
        ({"name": f"{QUEUE}/tasks/{'x' * 501}"}, 400),
        ({"name": f"{QUEUE}2/tasks/x"}, 400),
        ({"payload": "x"}, 400),
        ({"httpRequest": {}}, 400),
        ({"httpRequest": {"url": "http://example.com/"}}, 400),
        ({"httpRequest": {"url": "http://127.0.0.1:1/", "httpMethod": 2, "body": "YQ=="}}, 400),
        ({"httpRequest": {"url": "http://127.0.0.1:1/", "body": "YQ" * 800_000}}, 400),
        ({"httpRequest": {"url": "http://127.0.0.1:1/", "verb": "POST"}}, 400),
        ({"appEngineHttpRequest": {}, "httpRequest": None}, 501),
    ],
)
def test_bad_tasks_are_refused(
    api: Api, simulator: Simulator, service: Receiver, change: dict, status: int
) -> None:
    body = task(service.url)
    body["task"] |= change
    error(api("POST", TASKS, body), status)
    assert simulator.queue.pending() == []


def test_no_queue_has_a_malformed_name(api: Api, service: Receiver) -> None:
    path = "/v2/projects/local/locations/local/queues/under_score/tasks"
    assert error(api("POST", path, task(service.url)), 404).startswith("Queue does not exist")
    error(api("POST", f"{TASKS}?view=FULL", task(service.url)), 400)


def test_duplicates_are_delivered_at_the_same_time(api: Api, simulator: Simulator) -> None:
    hold = Event()
    simulator.faults.add("tasks.dispatch", "duplicate")
    with Receiver(hold=hold) as service:
        api.ok("POST", TASKS, task(service.url, "twice"))
        service.wait(2)
        hold.set()
        assert simulator.queue.wait_idle()
    assert service.headers("TaskRetryCount") == ["0", "0"]


def test_deliveries_can_be_lost_dropped_refused_and_their_answers_ignored(
    api: Api, simulator: Simulator, service: Receiver
) -> None:
    for action, received in (("never", 0), ("drop", 1), ("lost_answer", 2), ("status", 1)):
        service.got.clear()
        simulator.faults.add("tasks.dispatch", action, match=action)
        api.ok("POST", TASKS, task(service.url, f"task-{action}"))
        assert simulator.queue.wait_idle()
        assert len(service.got) == received, action
    assert service.headers("TaskRetryCount") == ["1"]


def test_a_create_whose_answer_was_lost_is_found_by_its_name(
    api: Api, simulator: Simulator, service: Receiver
) -> None:
    simulator.faults.add("tasks.create", "lost_answer")
    with pytest.raises(requests.ConnectionError):
        api("POST", TASKS, task(service.url, "lost"))
    error(api("POST", TASKS, task(service.url, "lost")), 409)
    assert simulator.queue.wait_idle()
    assert len(service.got) == 1


def test_the_sweep_is_called_with_the_schedulers_token(tmp_path: Path, service: Receiver) -> None:
    with Simulator(tmp_path / "state", service=service.url, sweep=0.01) as simulator:
        service.wait(2)
        path, headers, body = service.got[0]
        assert (path, body) == ("/schedule/sweep", b"{}")
        claims = jwt.decode(headers["Authorization"].split()[1], simulator.identity.google.certificate)
        assert (claims["aud"], claims["email"]) == (f"{service.url}/schedule", SCHEDULER_ACCOUNT)


def test_a_service_elsewhere_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="this machine only"):
        Simulator(tmp_path / "state", service="https://example.com", sweep=1)
