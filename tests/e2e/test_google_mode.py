"""The service as it is deployed: the image's own command, Firestore, signed tokens, a hosted model.

Only the addresses differ from production: Google is the simulator, Firestore the official emulator, and the
Gemini API a server that speaks its wire. Nothing is let through for a test's sake.
"""

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
from typing import Any

import pytest
import requests
from infra_files import cmd
from llm_messages import KEY
from workspace import Google, button, form_of, refreshed_until, words

from addon.jobs.status import job_status, overview
from addon.settings import Settings
from addon.simulator.identity import SCHEDULER_ACCOUNT, TASKS_ACCOUNT, load_identity
from addon.store.firestore import FirestoreDocuments

ROOT = Path(__file__).resolve().parent.parent.parent
ROWS = 60
PATIENCE = 60.0


class Deployment:
    """Everything that runs, each in its own process, and the words tests use about it."""

    def __init__(self, folder: Path, stack: ExitStack, emulator: str) -> None:
        self.folder, self.stack = folder, stack
        self.project = f"t-{os.urandom(6).hex()}"
        self.log = folder / "service.log"
        sheet = folder / "sheet.csv"
        with sheet.open("w", newline="") as handle:
            csv.writer(handle).writerows([["id", "text"], *([str(n), f"text {n}"] for n in range(ROWS))])
        with socket.create_server(("127.0.0.1", 0)) as probe:
            self.port = probe.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        plain = {name: value for name, value in os.environ.items() if not name.startswith("ADDON_")}
        plain["PYTHONPATH"] = f"{ROOT}{os.pathsep}{ROOT / 'tests'}"
        command = [sys.executable, "-m", "addon.simulator", "--state", str(folder / "google")]
        command += ["--service", self.url, "--sweep", "1", "--open", str(sheet), "--exit-with-stdin"]
        ready = json.loads(self._start(command, plain))
        model = [sys.executable, str(ROOT / "tests" / "llm_wire.py"), "--kind", "gemini", "--latency", "0.05"]
        self.model = self._start(model, plain).strip()
        (self.spreadsheet,) = ready["spreadsheets"].values()
        self.identity = load_identity(folder / "google" / "identity.json")
        self.google = Google(self.spreadsheet, self.identity, self.url)
        self.environment = {
            **plain,
            **ready["environment"],
            "PORT": str(self.port),
            "FIRESTORE_EMULATOR_HOST": emulator,
            "ADDON_STORE": "firestore",
            "ADDON_PROJECT": self.project,
            "ADDON_QUEUE": f"projects/{self.project}/locations/local/queues/summaries",
            "ADDON_MODEL": "gemini:gemini-2.5-flash",
            "ADDON_MODEL_KEY": KEY,
            "ADDON_MODEL_ENDPOINT": self.model,
            "ADDON_REQUESTS_PER_MINUTE": "100000",
            "ADDON_CONCURRENCY": "8",
            "ADDON_LEASE_TTL": "5",
            "ADDON_DISPLAY_SECONDS": "1",
            "ADDON_LOG_FORMAT": "json",
            "ADDON_ADMINS": "admin@example.com",
        }

    def _start(self, command: list[str], environment: dict[str, str]) -> str:
        """Start a process that ends with the test; its first line."""
        process = self.stack.enter_context(
            subprocess.Popen(
                command, cwd=ROOT, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
            )
        )
        self.stack.callback(process.terminate)
        assert process.stdout is not None
        return process.stdout.readline()

    def serve(self) -> "subprocess.Popen[Any]":
        """Start the service by the image's command and wait until it answers."""
        _, *words_of_command = cmd()
        with self.log.open("a") as log:
            process = self.stack.enter_context(
                subprocess.Popen(
                    [sys.executable, *words_of_command],
                    cwd=ROOT,
                    env=self.environment,
                    stderr=log,
                    start_new_session=True,
                )
            )
        self.stack.callback(process.kill)
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            try:
                if requests.get(f"{self.url}/readyz", timeout=5).status_code == 200:
                    return process
            except requests.ConnectionError:
                time.sleep(0.05)
        pytest.fail("the service did not start")

    def calls(self) -> int:
        """Model calls answered with a summary so far; the provider found nothing wrong with any call."""
        counts = requests.get(f"{self.model}/counts", timeout=10).json()
        assert (counts["problems"], counts["repeated"]) == ([], 0)
        return int(counts["answered"])

    def cells(self) -> list[list[str]]:
        """What the sheet shows, read with the user's own token."""
        answer = requests.post(
            f"{self.environment['ADDON_SHEETS_ENDPOINT']}/v4/spreadsheets/{self.spreadsheet}"
            "/values:batchGetByDataFilter",
            json={"dataFilters": [{"gridRange": {"sheetId": 0}}]},
            headers={"Authorization": f"Bearer {self.identity.user.token}"},
            timeout=10,
        )
        values: list[list[str]] = answer.json()["valueRanges"][0]["valueRange"]["values"]
        return values

    def lines(self) -> list[dict[str, Any]]:
        """The service's log."""
        return [json.loads(line) for line in self.log.read_text().splitlines()]


@pytest.fixture
def deployment(tmp_path: Path, firestore_emulator: str) -> Iterator[Deployment]:
    """All of it but the service, which a test starts."""
    with ExitStack() as stack:
        yield Deployment(tmp_path, stack, firestore_emulator)


@pytest.mark.emulator
def test_from_the_first_card_to_the_last_summary(deployment: Deployment) -> None:
    service = deployment.serve()
    google = deployment.google
    connect = google.post(f"{google.service}/sidebar/home", google.event(granted=False)).json()
    assert connect["action"]["navigations"][0]["pushCard"]["name"] == "connect"
    card = google.home()
    card = google.click(button(card, "Run summaries"), form_of(card))
    assert "Expected cost: about $" in words(card)
    card = refreshed_until(google, card, "Finished")
    assert f"{ROWS} of {ROWS} rows done" in words(card)
    assert "gemini:gemini-2.5-flash" in words(card) and "Cost so far: about $" in words(card)
    assert deployment.calls() == ROWS
    header, *rows = deployment.cells()
    assert header == ["id", "text", "Summary"]
    assert [row[2] for row in rows] == [f"summary of {text}" for _, text, _ in rows]
    card = google.click(button(google.home(), "New run"))
    card = refreshed_until(google, google.click(button(card, "Run summaries"), form_of(card)), "Finished")
    assert deployment.calls() == ROWS, "nothing is paid twice"
    service.send_signal(signal.SIGTERM)
    assert service.wait(15) == 0
    lines = deployment.lines()
    assert {"job_started", "link_claimed", "commit", "display_beat", "job_ended"} <= {
        line.get("event", "") for line in lines
    }
    assert not [line for line in lines if line["severity"] in {"ERROR", "CRITICAL"}]
    secrets = [KEY, deployment.identity.user.token, "text 7", "Summarise this row"]
    assert [secret for secret in secrets if secret in deployment.log.read_text()] == []


@pytest.mark.emulator
def test_told_to_end_in_the_middle_it_hands_over_and_the_next_instance_goes_on(
    deployment: Deployment,
) -> None:
    service = deployment.serve()
    google = deployment.google
    card = google.home()
    card = google.click(button(card, "Run summaries"), form_of(card))
    end = time.monotonic() + PATIENCE
    while deployment.calls() < 10:
        assert time.monotonic() < end
        time.sleep(0.02)
    service.send_signal(signal.SIGTERM)
    assert service.wait(15) == 0
    deployment.serve()
    refreshed_until(google, card, "Finished")
    assert deployment.calls() == ROWS
    ended = [line for line in deployment.lines() if line.get("event") == "link_ended"]
    assert [line["outcome"] for line in ended] == ["handed_over", "finished"]
    claimed = [line for line in deployment.lines() if line.get("event") == "link_claimed"]
    assert not any(line["unclean"] for line in claimed)


@pytest.mark.emulator
def test_a_key_the_provider_rejects_pauses_the_job_with_a_sentence(
    deployment: Deployment, monkeypatch: pytest.MonkeyPatch
) -> None:
    deployment.environment["ADDON_MODEL_KEY"] = "wrong-key"
    deployment.serve()
    google = deployment.google
    card = google.home()
    card = google.click(button(card, "Run summaries"), form_of(card))
    card = refreshed_until(google, card, "Paused")
    assert "rejected the access key" in words(card)
    monkeypatch.setenv("FIRESTORE_EMULATOR_HOST", deployment.environment["FIRESTORE_EMULATOR_HOST"])
    documents = FirestoreDocuments(deployment.project)
    try:
        (line,) = overview(documents)
        status = job_status(documents, line.job_id)
        assert status is not None and (status.reason, status.called) == ("key_rejected", 0)
    finally:
        documents.close()


@pytest.mark.emulator
def test_the_queue_and_the_scheduler_each_have_their_own_way_in(deployment: Deployment) -> None:
    deployment.serve()
    identity, url = deployment.identity, deployment.url
    ways = {"/tasks/link": ("/tasks", TASKS_ACCOUNT), "/schedule/sweep": ("/schedule", SCHEDULER_ACCOUNT)}
    for path, way in ways.items():
        for audience, account in ways.values():
            token = identity.id_token(url + audience, account)
            headers = {"Authorization": f"Bearer {token}"}
            status = requests.post(url + path, json={}, headers=headers, timeout=10).status_code
            assert (status == 200) is (way == (audience, account)), (path, audience)


def test_the_settings_of_the_deployment_are_complete(deployment: Deployment) -> None:
    del deployment.environment["ADDON_SYSTEM_ACCOUNT"]
    del deployment.environment["ADDON_TASKS_ACCOUNT"]
    _, *words_of_command = cmd()
    done = subprocess.run(
        [sys.executable, *words_of_command],
        cwd=ROOT,
        env=deployment.environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE,
    )
    assert done.returncode == 2
    assert "ADDON_SYSTEM_ACCOUNT is not set" in done.stderr and "ADDON_TASKS_ACCOUNT" in done.stderr
    assert Settings().base_url not in done.stderr
