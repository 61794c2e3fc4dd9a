"""Faults happen when and as often as asked, and do to the request what they say."""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import requests
from simulated import Api, caller, error, reason, write

from addon.simulator.server import Simulator


@pytest.fixture
def simulator(tmp_path: Path) -> Iterator[Simulator]:
    with Simulator(tmp_path / "state") as running:
        yield running


@pytest.fixture
def sid(simulator: Simulator) -> str:
    return simulator.workbooks.create("Inquiries", [["id"]])


def test_a_dropped_request_has_no_effect(api: Api, simulator: Simulator, sid: str) -> None:
    simulator.faults.add("sheets.write", "drop")
    with pytest.raises(requests.ConnectionError):
        api.change(sid, write(0, 0, "changed"))
    assert api.values(sid) == [["id"]]
    assert api.change(sid, write(0, 0, "changed")).ok


def test_a_lost_answer_leaves_the_effect(api: Api, simulator: Simulator, sid: str) -> None:
    fault = simulator.faults.add("drive.create", "lost_answer")
    (file_id,) = api.ok("GET", "/drive/v3/files/generateIds", params={"count": "1"})["ids"]
    with pytest.raises(requests.ConnectionError):
        api("POST", "/drive/v3/files", {"id": file_id, "name": "a"})
    assert fault.hits == 1
    assert reason(api("POST", "/drive/v3/files", {"id": file_id, "name": "a"}), 409) == "fileIdInUse"


def test_a_status_comes_with_or_without_the_effect(api: Api, simulator: Simulator, sid: str) -> None:
    simulator.faults.add("sheets.write", "status", status=503, headers={"Retry-After": "7"})
    simulator.faults.add("sheets.write", "status", status=500, with_effect=True)
    first = api.change(sid, write(0, 0, "first"))
    assert (first.status_code, first.headers["Retry-After"]) == (503, "7")
    assert first.json()["error"]["status"] == "UNAVAILABLE"
    assert api.values(sid) == [["id"]]
    assert api.change(sid, write(0, 0, "second")).status_code == 500
    assert api.values(sid) == [["second"]]


def test_a_status_carries_drive_s_reason(api: Api, simulator: Simulator, sid: str) -> None:
    simulator.faults.add("drive.share", "status", status=403, reason="domainPolicy", message="No sharing.")
    body = {"type": "user", "role": "writer", "emailAddress": "a@example.com"}
    response = api("POST", f"/drive/v3/files/{sid}/permissions", body)
    assert (reason(response, 403), error(response, 403)) == ("domainPolicy", "No sharing.")


def test_a_fault_may_be_for_some_requests_only_and_for_a_number_of_them(
    api: Api, simulator: Simulator, sid: str
) -> None:
    simulator.faults.add("sheets.write", "status", times=2, match="poison")
    simulator.faults.add("sheets.read", "status", times=None, match=lambda where, body: b"nothing" in body)
    assert api.change(sid, write(0, 0, "fine")).ok
    statuses = [api.change(sid, write(0, 0, "poison")).status_code for _ in range(3)]
    assert statuses == [503, 503, 200]
    assert api.values(sid) == [["poison"]]


def test_held_requests_wait_until_they_are_released(api: Api, simulator: Simulator, sid: str) -> None:
    fault = simulator.faults.add("sheets.write", "hold")
    with ThreadPoolExecutor() as pool:
        waiting = pool.submit(api.change, sid, write(0, 0, "late"))
        assert fault.wait()
        with caller(simulator) as other:
            assert other.values(sid) == [["id"]]
        fault.release()
        assert waiting.result(30).ok
    assert api.values(sid) == [["late"]]


def test_a_delay_waits_for_an_event(api: Api, simulator: Simulator, sid: str) -> None:
    event = threading.Event()
    fault = simulator.faults.add("sheets.read", "delay", event=event)
    with ThreadPoolExecutor() as pool:
        waiting = pool.submit(api.values, sid)
        assert fault.wait()
        assert not waiting.done()
        event.set()
        assert waiting.result(30) == [["id"]]


def test_requests_are_counted_by_kind(api: Api, simulator: Simulator, sid: str) -> None:
    simulator.reset_counts()
    api.values(sid)
    api.change(sid, write(0, 0, "x"))
    api.upload({"name": "a"}, b"x")
    assert simulator.counts == {"sheets.read": 1, "sheets.write": 1, "drive.create": 1}
    assert simulator.counts["tasks.create"] == 0


def test_unknown_faults_are_refused(simulator: Simulator) -> None:
    with pytest.raises(ValueError, match="There is no fault"):
        simulator.faults.add("sheets.reads", "drop")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"tasks\.dispatch only"):
        simulator.faults.add("sheets.read", "duplicate")


def test_counts_faults_and_the_queue_can_be_used_from_another_process(
    api: Api, simulator: Simulator, sid: str
) -> None:
    assert api("GET", "/simulator/counts").status_code == 401
    operator = Api(simulator.url, simulator.identity.operator_token)
    with operator.session:
        fault = operator.ok(
            "POST", "/simulator/faults", {"kind": "sheets.read", "action": "hold", "times": 5}
        )
        with ThreadPoolExecutor() as pool:
            waiting = pool.submit(api.values, sid)
            operator.ok("POST", f"/simulator/faults/{fault['id']}:release")
            assert waiting.result(30) == [["id"]]
        (shown,) = operator.ok("GET", "/simulator/faults")
        assert (shown["hits"], shown["times"]) == (1, 4)
        assert operator("POST", "/simulator/faults", {"kind": "x", "action": "hold"}).status_code == 400
        assert operator("POST", "/simulator/faults", {"kinds": "x"}).status_code == 400
        operator.ok("DELETE", "/simulator/faults")
        assert operator.ok("GET", "/simulator/counts") == {"sheets.read": 1}
        operator.ok("DELETE", "/simulator/counts")
        operator.ok("POST", "/simulator/queue:pause")
        assert operator.ok("GET", "/simulator/queue") == {"pending": [], "throttled": False}
        operator.ok("POST", "/simulator/queue:resume")
    assert simulator.counts == {}
