"""Everything that runs during chaos: service processes behind one address, Google, a store, a model."""

import csv
import json
import os
import random
import resource
import signal
import socket
import subprocess
import sys
import time
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import requests
from chaos_model import Provider
from chaos_wires import Wire, spread
from llm_messages import KEY
from workspace import Google

from addon.simulator.identity import load_identity
from addon.store.documents import Documents
from addon.store.firestore import FirestoreDocuments
from addon.store.sqlite import SqliteDocuments

ROOT = Path(__file__).resolve().parent.parent.parent
SKEWS = (0, 300, -300)
"""Seconds by which the clocks of the service processes are wrong."""
START_SECONDS = 60.0


def texts_of(seed: int, book: int, rows: int) -> list[str]:
    """A sheet's texts, told apart by their first words; some are blank, some equal to the one before."""
    drawn = random.Random(f"{seed} {book}")
    texts: list[str] = []
    for row in range(rows):
        kind = drawn.random()
        same = (
            texts[-1]
            if texts and kind < 0.05
            else f"{seed} b{book} r{row} " + "word " * drawn.randrange(1, 9)
        )
        texts.append("" if kind > 0.97 else same.strip())
    return texts


class World:
    """All processes of one round, and what is done to them.

    Parameters
    ----------
    emulator
        Address of the Firestore emulator, or nothing for SQLite; ``emulator_group`` is its process group.
    unprotected
        A protection to take away; see `chaos_service`.
    """

    def __init__(
        self,
        folder: Path,
        stack: ExitStack,
        provider: Provider,
        *,
        seed: int,
        books: int,
        rows: int,
        emulator: str = "",
        emulator_group: int = 0,
        unprotected: str = "",
    ) -> None:
        self.folder, self.provider = folder, provider
        self._stack, self._emulator, self._emulator_group = stack, emulator, emulator_group
        self._fault = folder / "store-fault"
        self._services: list[subprocess.Popen[Any] | None] = [None] * len(SKEWS)
        order = random.Random(seed)
        ports = [_free_port() for _ in SKEWS]
        self.balancer = Wire(spread(ports, order))
        stack.callback(self.balancer.close)
        self._ports, self.url = ports, f"http://127.0.0.1:{self.balancer.port}"
        self.store_wire = Wire(lambda: [_address(emulator)]) if emulator else None
        if self.store_wire is not None:
            stack.callback(self.store_wire.close)
        self._plain = {k: v for k, v in os.environ.items() if not k.startswith(("ADDON_", "FIRESTORE_"))}
        self._plain["PYTHONPATH"] = os.pathsep.join(
            map(str, (ROOT, ROOT / "tests", ROOT / "tests" / "chaos"))
        )
        self.google_port = _free_port()
        files = [self._write_sheet(book, texts_of(seed, book, rows)) for book in range(books)]
        self.wanted: dict[str, list[str]] = {}
        ready = self.start_simulator(*files)
        for book, file in enumerate(files):
            self.wanted[ready["spreadsheets"][str(file)]] = texts_of(seed, book, rows)
        self.identity = load_identity(folder / "google" / "identity.json")
        self._environment = self._settings(ready["environment"], unprotected)
        stack.callback(self._end)
        for number in range(len(SKEWS)):
            self.start_service(number)

    def _settings(self, google: dict[str, str], unprotected: str) -> dict[str, str]:
        self.project = f"t-{os.urandom(6).hex()}" if self._emulator else "local"
        chosen = {
            **self._plain,
            **google,
            "ADDON_BASE_URL": self.url,
            "ADDON_STATE": str(self.folder),
            "ADDON_PROJECT": self.project,
            "ADDON_QUEUE": f"projects/{self.project}/locations/local/queues/summaries",
            "ADDON_MODEL": "openai:gpt-4o-mini",
            "ADDON_MODEL_KEY": KEY,
            "ADDON_MODEL_ENDPOINT": self.provider.server.url,
            "ADDON_MODEL_TIMEOUT": "2",
            "ADDON_CONCURRENCY": "4",
            "ADDON_COMMIT_ROWS": "10",
            "ADDON_COMMIT_SECONDS": "0.3",
            "ADDON_DISPLAY_SECONDS": "1",
            "ADDON_LEASE_TTL": "6",
            "ADDON_LINK_BUDGET": "6",
            "ADDON_LOG_FORMAT": "json",
            "CHAOS_HURRY": "1",
            "CHAOS_UNPROTECTED": unprotected,
        }
        if self.store_wire is None:
            return chosen | {"CHAOS_STORE_FAULT": str(self._fault)}
        address = f"127.0.0.1:{self.store_wire.port}"
        return chosen | {"ADDON_STORE": "firestore", "FIRESTORE_EMULATOR_HOST": address}

    def _write_sheet(self, book: int, texts: list[str]) -> Path:
        file = self.folder / f"book{book}.csv"
        with file.open("w", newline="") as handle:
            csv.writer(handle).writerows([["id", "text"], *([str(n), text] for n, text in enumerate(texts))])
        return file

    # processes

    def start_simulator(self, *files: Path) -> Any:
        """Start Google where it was, on what it kept; what it says when it is ready."""
        command = [sys.executable, "-m", "addon.simulator", "--state", str(self.folder / "google")]
        command += ["--port", str(self.google_port), "--service", self.url, "--sweep", "1"]
        for file in files:
            command += ["--open", str(file)]
        with (self.folder / "google.log").open("a") as log:
            self._simulator = subprocess.Popen(
                command, cwd=ROOT, env=self._plain, stdout=subprocess.PIPE, stderr=log, text=True
            )
        assert self._simulator.stdout is not None
        with self._simulator.stdout as said:
            return json.loads(said.readline())

    def restart_simulator(self) -> None:
        """Kill Google without a warning, and start it again."""
        self._simulator.kill()
        self._simulator.wait()
        self.start_simulator()

    def start_service(self, number: int) -> None:
        """Start a service process; nobody waits until it answers."""
        command = [sys.executable, str(ROOT / "tests" / "chaos" / "chaos_service.py"), "serve"]
        command += ["--bind", f"127.0.0.1:{self._ports[number]}", "--threads", "48"]
        environment = {**self._environment, "CHAOS_SKEW": str(SKEWS[number])}
        with (self.folder / f"service{number}.log").open("a") as log:
            self._services[number] = subprocess.Popen(
                command, cwd=ROOT, env=environment, stdout=log, stderr=log, start_new_session=True
            )

    def kill_service(self, number: int) -> bool:
        """Kill -9 a service process and its worker, and start another; whether there was one."""
        process = self._services[number]
        if process is None or process.poll() is not None:
            self.start_service(number)
            return False
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        self.start_service(number)
        return True

    def kill_worker(self, number: int) -> bool:
        """Kill -9 the worker of a service process, which forks another; whether there was one."""
        workers = self._workers(number)
        for worker in workers:
            with suppress(ProcessLookupError):
                os.kill(worker, signal.SIGKILL)
        return bool(workers)

    def _workers(self, number: int) -> list[int]:
        process = self._services[number]
        if process is None or process.poll() is not None:
            return []
        with suppress(FileNotFoundError):
            return [
                int(pid)
                for pid in Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
            ]
        return []

    def await_ready(self) -> None:
        """Wait until every service process answers."""
        end = time.monotonic() + START_SECONDS
        for port in self._ports:
            while not _answers(f"http://127.0.0.1:{port}/readyz"):
                assert time.monotonic() < end, "a service process does not answer"
                time.sleep(0.1)

    # the store and the disk

    def store_fault(self, what: str, seconds: float) -> None:
        """Let the store be late, lose answers, or stand still."""
        if what == "paused":
            os.killpg(self._emulator_group, signal.SIGSTOP)
            time.sleep(seconds)
            os.killpg(self._emulator_group, signal.SIGCONT)
        elif self.store_wire is None:
            self._fault.write_text(what)
            time.sleep(seconds)
            self._fault.unlink(missing_ok=True)
        elif what == "late":
            self.store_wire.stall(seconds)
        else:
            self.store_wire.stall(0.3)  # so that what is answered now is on its way when the line is cut
            time.sleep(0.2)
            self.store_wire.cut()

    def fill_disk(self, victim: int, seconds: float) -> bool:
        """Let the kernel refuse every write of one process to a file for a while; whether there was one."""
        pids = self._workers(victim) if victim < len(SKEWS) else [self._simulator.pid]
        _limit(pids, 0)
        time.sleep(seconds)
        _limit(pids, resource.RLIM_INFINITY)
        return bool(pids)

    # looking

    def documents(self) -> Documents:
        """The store, as no fault touches it."""
        if self._emulator:
            return FirestoreDocuments(self.project)
        return SqliteDocuments(self.folder / "store.sqlite")

    def person(self, spreadsheet: str) -> Google:
        """Somebody who clicks in that spreadsheet."""
        return Google(spreadsheet, self.identity, self.url)

    def control(self, verb: str, path: str, body: Any = None) -> Any:
        """Ask the simulator for faults or figures."""
        answer = requests.request(
            verb,
            f"http://127.0.0.1:{self.google_port}/simulator/{path}",
            json=body,
            headers={"Authorization": f"Bearer {self.identity.operator_token}"},
            timeout=10,
        )
        assert answer.status_code == 200, answer.text
        return answer.json()

    def cells(self, spreadsheet: str) -> list[tuple[str, str]]:
        """Text and summary of each row, as the person's own token reads them."""
        answer = requests.post(
            f"http://127.0.0.1:{self.google_port}/v4/spreadsheets/{spreadsheet}/values:batchGetByDataFilter",
            json={"dataFilters": [{"gridRange": {"sheetId": 0, "startRowIndex": 1}}]},
            headers={"Authorization": f"Bearer {self.identity.user.token}"},
            timeout=30,
        )
        rows = answer.json()["valueRanges"][0]["valueRange"]["values"]
        return [(*row[1:], "", "")[:2] for row in rows]  # type: ignore[misc]

    def calm(self) -> None:
        """End every fault and see that everything runs."""
        self.control("DELETE", "faults")
        for number, process in enumerate(self._services):
            if process is None or process.poll() is not None:
                self.start_service(number)

    def _end(self) -> None:
        for process in self._services:
            if process is not None:
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        self._simulator.kill()
        self._simulator.wait()


def _limit(pids: list[int], size: int) -> None:
    for pid in pids:
        with suppress(ProcessLookupError):
            resource.prlimit(pid, resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port: int = probe.getsockname()[1]
    return port


def _address(text: str) -> tuple[str, int]:
    host, _, port = text.rpartition(":")
    return host, int(port)


def _answers(url: str) -> bool:
    try:
        return requests.get(url, timeout=5).status_code == 200
    except requests.RequestException:
        return False
