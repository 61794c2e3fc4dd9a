"""The service as Cloud Run runs it: told to end, or killed, in the middle of a link."""

import contextlib
import csv
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import IO, Any

import pytest
import requests
from workspace import Google, button, form_of, refreshed_until, words

from addon.jobs.status import list_jobs
from addon.llm.scripted import read_call_log
from addon.simulator.identity import load_identity
from addon.store.sqlite import SqliteDocuments

ROOT = Path(__file__).resolve().parent.parent.parent
ROWS, CONCURRENCY, COMMIT_ROWS = 120, 4, 20


class Cloud:
    """Simulator and service as processes; the service can be ended and started again."""

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        self.folder = folder
        self.calls = folder / "calls.log"
        sheet = folder / "sheet.csv"
        with sheet.open("w", newline="") as handle:
            csv.writer(handle).writerows([["id", "text"], *([str(n), f"text {n}"] for n in range(ROWS))])
        with socket.create_server(("127.0.0.1", 0)) as probe:
            self.port = probe.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        command = [sys.executable, "-m", "addon.simulator", "--state", str(folder / "google")]
        command += ["--service", self.url, "--sweep", "1", "--open", str(sheet), "--exit-with-stdin"]
        simulator = stack.enter_context(
            subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        )
        stack.callback(simulator.terminate)
        assert simulator.stdout is not None
        ready = json.loads(simulator.stdout.readline())
        self.environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith("ADDON_")},
            "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'tests'}",
            "ADDON_STATE": str(folder),
            **ready["environment"],
            "ADDON_MODEL": "logged_model:logged",
            "ADDON_CONCURRENCY": str(CONCURRENCY),
            "ADDON_COMMIT_ROWS": str(COMMIT_ROWS),
            "ADDON_LEASE_TTL": "3",
            "ADDON_DISPLAY_SECONDS": "1",
            "LOGGED_CALLS": str(self.calls),
            "LOGGED_LATENCY": "0.1",
        }
        (spreadsheet,) = ready["spreadsheets"].values()
        self.google = Google(spreadsheet, load_identity(folder / "google" / "identity.json"), self.url)
        self.stack = stack

    def serve(self, stderr: IO[str] | None = None) -> "subprocess.Popen[Any]":
        """Start the service and wait until it answers."""
        command = [sys.executable, "-m", "addon", "serve", "--bind", f"127.0.0.1:{self.port}"]
        process = self.stack.enter_context(
            subprocess.Popen(command, cwd=ROOT, env=self.environment, stderr=stderr, start_new_session=True)
        )
        self.stack.callback(_kill, process)
        end = time.monotonic() + 30
        while time.monotonic() < end:
            try:
                if requests.get(f"{self.url}/readyz", timeout=5).status_code == 200:
                    return process
            except requests.ConnectionError:
                time.sleep(0.05)
        pytest.fail("the service did not start")

    def wait_for_calls(self, count: int) -> None:
        """Wait until that many calls have ended."""
        end = time.monotonic() + 30
        while read_call_log(self.calls).ended.total() < count:
            assert time.monotonic() < end
            time.sleep(0.02)


def _kill(process: "subprocess.Popen[Any]") -> None:
    """Kill gunicorn and its workers."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


@pytest.fixture
def cloud(tmp_path: Path) -> Iterator[Cloud]:
    """A running simulator with a sheet, and no service yet."""
    with ExitStack() as stack:
        yield Cloud(tmp_path, stack)


def test_a_service_told_to_end_hands_over_and_no_call_is_repeated(cloud: Cloud) -> None:
    service = cloud.serve()
    card = cloud.google.home()
    card = cloud.google.click(button(card, "Run summaries"), form_of(card))
    cloud.wait_for_calls(20)
    service.send_signal(signal.SIGTERM)
    assert service.wait(15) == 0
    started = read_call_log(cloud.calls).started.total()
    assert started < ROWS
    cloud.serve()
    card = refreshed_until(cloud.google, card, "Finished")
    assert f"{ROWS} of {ROWS} rows done" in words(card)
    assert read_call_log(cloud.calls).started.total() == ROWS
    assert "twice" not in words(card)


def test_calls_longer_than_the_grace_are_left_behind_and_said_to_be(cloud: Cloud) -> None:
    cloud.environment["LOGGED_LATENCY"] = "20"
    service = cloud.serve()
    card = cloud.google.home()
    card = cloud.google.click(button(card, "Run summaries"), form_of(card))
    end = time.monotonic() + 30
    while read_call_log(cloud.calls).started.total() < CONCURRENCY:
        assert time.monotonic() < end
        time.sleep(0.02)
    service.send_signal(signal.SIGTERM)
    service.wait(15)
    store = SqliteDocuments(cloud.folder / "store.sqlite")
    try:
        (job,) = list_jobs(store)
        shard = store.get(f"jobs/{job.job_id}/shards/0")
    finally:
        store.close()
    assert shard is not None
    assert (shard.data["owner"], shard.data["step"]) == ("", 1), "handed over, not left to its lease"
    assert job.repeated >= CONCURRENCY


def test_in_production_every_line_is_json_gunicorns_and_a_killed_workers_too(cloud: Cloud) -> None:
    cloud.environment |= {"ADDON_LOG_FORMAT": "json", "ADDON_PROJECT": "a-project"}
    log = cloud.folder / "log"
    with log.open("w") as stderr:
        service = cloud.serve(stderr)
        headers = {"traceparent": f"00-{'a' * 32}-{'b' * 16}-01"}
        requests.get(f"{cloud.url}/nowhere?secret", headers=headers, timeout=5)
        card = cloud.google.home()
        card = cloud.google.click(button(card, "Run summaries"), form_of(card))
        refreshed_until(cloud.google, card, "Finished")
        (worker,) = _children(service.pid)
        _await_line(log, "link_ended")  # the job is over a moment before its last link says so
        os.kill(worker, signal.SIGKILL)
        _await_line(log, "SIGKILL")
        service.send_signal(signal.SIGTERM)
        service.wait(15)
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    events = {line.get("event") for line in lines}
    assert {"request", "job_started", "link_claimed", "commit", "link_ended", "job_ended", "sweep"} <= events
    assert "gunicorn.error" in {line["logger"] for line in lines}
    (nowhere,) = [line for line in lines if line.get("status") == 404]
    assert nowhere["logging.googleapis.com/trace"] == f"projects/a-project/traces/{'a' * 32}"
    started = next(line for line in lines if line.get("event") == "job_started")
    assert started["who"] and started["rows"] == ROWS
    assert "secret" not in log.read_text()


def _await_line(log: Path, words: str) -> None:
    """Wait until a log says something."""
    end = time.monotonic() + 30
    while words not in log.read_text():
        assert time.monotonic() < end
        time.sleep(0.05)


def _children(pid: int) -> list[int]:
    """Processes started by a process."""
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


@pytest.mark.parametrize("signal_number", [signal.SIGINT, signal.SIGQUIT])
def test_ctrl_c_in_a_terminal_hands_over_as_well(cloud: Cloud, signal_number: signal.Signals) -> None:
    service = cloud.serve()
    card = cloud.google.home()
    card = cloud.google.click(button(card, "Run summaries"), form_of(card))
    cloud.wait_for_calls(10)
    os.killpg(service.pid, signal_number)  # a terminal sends it to the whole group
    service.wait(15)
    cloud.serve()
    card = refreshed_until(cloud.google, card, "Finished")
    assert read_call_log(cloud.calls).started.total() == ROWS
    assert "twice" not in words(card)


def test_a_killed_service_goes_on_by_itself_and_says_what_may_be_repeated(cloud: Cloud) -> None:
    service = cloud.serve()
    card = cloud.google.home()
    card = cloud.google.click(button(card, "Run summaries"), form_of(card))
    cloud.wait_for_calls(20)
    _kill(service)
    service.wait(5)
    before = read_call_log(cloud.calls).started.total()
    cloud.serve()
    card = refreshed_until(cloud.google, card, "Finished")
    log = read_call_log(cloud.calls)
    repeats = log.started.total() - len(log.started)
    assert before < ROWS
    assert len(log.started) == ROWS
    assert repeats <= CONCURRENCY + COMMIT_ROWS
    assert f"{ROWS} of {ROWS} rows done" in words(card)
