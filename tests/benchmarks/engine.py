"""How close a job comes to the speed its model allows, and what it costs in requests and memory.

Run ``make bench``, or ``python tests/benchmarks/engine.py --help``. The simulator runs as a process of its
own, as Google would; service and model run in this one. Figures go to standard output, nothing is asserted.
"""

import argparse
import csv
import json
import os
import resource
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
import uuid
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from emulator import running_emulator  # noqa: E402  # after the path is set

from addon.app import create_app  # noqa: E402
from addon.environment import with_environment  # noqa: E402
from addon.jobs.plan import StartRequest  # noqa: E402
from addon.jobs.start import start  # noqa: E402
from addon.jobs.status import JobStatus, job_status  # noqa: E402
from addon.llm.base import Outcome, Prompt, Text, Usage  # noqa: E402
from addon.local import ServiceThread  # noqa: E402
from addon.services import Services, build  # noqa: E402
from addon.settings import Settings  # noqa: E402
from addon.store.documents import Documents  # noqa: E402


class Model:
    """Answers after a fixed time."""

    name = "benchmark"
    settings: dict[str, str | int | float | bool] = {}  # noqa: RUF012  # the port wants a plain attribute

    def __init__(self, latency: float) -> None:
        self._latency = latency
        self._lock = threading.Lock()
        self.calls = 0

    def summarise(self, prompt: Prompt, timeout: float) -> Outcome:
        """Answer."""
        with self._lock:
            self.calls += 1
        if self._latency:
            time.sleep(self._latency)
        return Text(f"Summary of {prompt.fields[0][1][:80]}", Usage(100, 30))


class Commits:
    """Counts what a store is asked to commit; everything else is passed on."""

    def __init__(self, documents: Documents) -> None:
        self._documents = documents
        self.commits = 0

    def transact(self, work: Any, **options: Any) -> Any:
        """Count, then commit."""
        self.commits += 1
        return self._documents.transact(work, **options)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._documents, name)


@dataclass
class Bench:
    """One running product."""

    services: Services
    model: Model
    commits: Commits
    google: str
    token: str
    user_token: str
    spreadsheet: str

    def counts(self) -> dict[str, int]:
        """Requests that reached the simulator."""
        request = urllib.request.Request(
            f"{self.google}/simulator/counts", headers={"Authorization": f"Bearer {self.token}"}
        )
        with urllib.request.urlopen(request) as answer:
            counts: dict[str, int] = json.load(answer)
        return counts

    def run(self) -> tuple[float, JobStatus]:
        """Run the job; seconds from the end of the click to the end of the job."""
        request = StartRequest(
            self.spreadsheet, 0, ("text",), "Summary", "Summarise.", "new_or_changed", uuid.uuid4().hex
        )
        with self.services.user_access(self.user_token, "bench") as user:
            job = start(self.services.desk, user, request).job_id
        began = time.perf_counter()
        while True:
            status = job_status(self.services.documents, job)
            if status is not None and status.status in {"done", "paused"}:
                return time.perf_counter() - began, status
            time.sleep(0.05)


@contextmanager
def product(rows: int, latency: float, settings: Settings) -> Iterator[Bench]:
    """Run simulator, service and a sheet of ``rows`` rows."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        sheet = folder / "sheet.csv"
        with sheet.open("w", newline="", encoding="utf-8") as handle:
            lines = ([str(n), f"inquiry {n}: " + "the parcel came late. " * 12] for n in range(rows))
            csv.writer(handle).writerows([["id", "text"], *lines])
        service = ServiceThread()
        command = [sys.executable, "-m", "addon.simulator", "--state", str(folder / "google")]
        command += ["--service", service.url, "--sweep", "30", "--open", str(sheet), "--exit-with-stdin"]
        process = stack.enter_context(
            subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                env={**os.environ, "PYTHONPATH": str(ROOT)},
            )
        )
        stack.callback(process.terminate)
        assert process.stdout is not None
        ready = json.loads(process.stdout.readline())
        identity_file = folder / "google" / "identity.json"
        identity = json.loads(identity_file.read_text())
        google = ready["url"]
        services = build(
            with_environment(
                replace(settings, state=folder, project=f"bench-{uuid.uuid4().hex[:12]}"),
                ready["environment"],
            )
        )
        stack.callback(services.documents.close)
        model, commits = Model(latency), Commits(services.documents)
        services = replace(services, model=model, documents=commits)  # type: ignore[arg-type]
        service.start(create_app(services=services))
        stack.callback(service.stop)
        (spreadsheet,) = ready["spreadsheets"].values()
        yield Bench(
            services,
            model,
            commits,
            google,
            identity["operator_token"],
            identity["user"]["token"],
            spreadsheet,
        )


def measure(rows: int, latency: float, concurrency: int, store: str, *, say: bool = True) -> None:
    """Run one job and print its line."""
    with product(rows, latency, Settings(store=store, concurrency=concurrency)) as bench:
        seconds, status = bench.run()
        counts = bench.counts()
    if not say:
        return
    ideal = rows * latency / concurrency
    against = f"{seconds / ideal:5.3f} of ideal" if ideal else f"{rows / seconds:7,.0f} rows/s"
    print(
        f"{store:<9} rows {rows:>6}  latency {latency:.1f} s  C {concurrency:>2}  {seconds:7.2f} s  {against}"
        f"  "
        f"done {status.done}  calls {bench.model.calls}  commits {bench.commits.commits}  "
        f"sheets writes {counts.get('sheets.write', 0)} reads {counts.get('sheets.read', 0)}  "
        f"drive updates {counts.get('drive.update', 0)} creates {counts.get('drive.create', 0)}  "
        f"tasks {counts.get('tasks.create', 0)}  "
        f"peak {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:,.0f} MB",
        flush=True,
    )


def main() -> None:
    """Measure what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=640)
    parser.add_argument("--stores", nargs="*", default=["sqlite", "firestore"])
    parser.add_argument("--concurrency", nargs="*", type=int, default=[16, 64])
    parser.add_argument("--latency", nargs="*", type=float, default=[0.6, 0.0])
    parser.add_argument("--repeat", type=int, default=1)
    options = parser.parse_args()
    with ExitStack() as stack:
        if "firestore" in options.stores:
            os.environ["FIRESTORE_EMULATOR_HOST"] = stack.enter_context(running_emulator())
        for store in options.stores:
            measure(200, 0.0, 16, store, say=False)  # the emulator is slow until its code is compiled
            for latency in options.latency:
                for concurrency in options.concurrency if latency else options.concurrency[:1]:
                    for _ in range(options.repeat):
                        measure(options.rows, latency, concurrency, store)


if __name__ == "__main__":
    main()
