"""What the first card costs: from the start of the process to the answer, as after a cold start.

Run ``python tests/benchmarks/first_card.py --help``. The service runs as in the image,
under gunicorn, against a simulator in another process; CPU seconds are read from /proc. Nothing is asserted.
"""

import argparse
import csv
import json
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import requests

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from emulator import running_emulator  # noqa: E402  # after the path is set
from workspace import Google  # noqa: E402

from addon.simulator.identity import load_identity  # noqa: E402

TICKS = os.sysconf("SC_CLK_TCK")

AS_DEPLOYED = {
    "ADDON_MODEL": "gemini:gemini-2.5-flash",
    "ADDON_MODEL_KEY": "never-called",
    "ADDON_LOG_FORMAT": "json",
}
"""The offline model would bring libraries that a deployment does not load."""


def cpu_seconds(pid: int) -> float:
    """CPU time a process and its children have used so far."""
    total = 0.0
    for process in [pid, *children(pid)]:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
        total += (int(fields[11]) + int(fields[12])) / TICKS
    return total


def children(pid: int) -> list[int]:
    """Child processes of a process."""
    listed = Path(f"/proc/{pid}/task/{pid}/children").read_text()
    return [int(item) for item in listed.split()]


def start(stack: ExitStack, command: list[str], environment: dict[str, str], **more: Any) -> Any:
    """Start a process that ends with the block."""
    process = stack.enter_context(
        subprocess.Popen(command, cwd=ROOT, env=environment, stdin=subprocess.PIPE, **more)
    )
    stack.callback(process.kill)
    return process


def measure(store: str, environment: dict[str, str]) -> tuple[float, float]:
    """CPU seconds and seconds by the clock until the first card is there."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        sheet = folder / "sheet.csv"
        with sheet.open("w", newline="") as handle:
            csv.writer(handle).writerows([["id", "text"], ["1", "some text"]])
        with socket.create_server(("127.0.0.1", 0)) as probe:
            port = probe.getsockname()[1]
        url = f"http://127.0.0.1:{port}"
        command = [sys.executable, "-m", "addon.simulator", "--state", str(folder / "google")]
        command += ["--service", url, "--open", str(sheet), "--exit-with-stdin"]
        simulator = start(stack, command, environment, stdout=subprocess.PIPE, text=True)
        ready = json.loads(simulator.stdout.readline())
        (spreadsheet,) = ready["spreadsheets"].values()
        google = Google(spreadsheet, load_identity(folder / "google" / "identity.json"), url)
        began = time.monotonic()
        settings = {**environment, **ready["environment"], **AS_DEPLOYED, "ADDON_STORE": store}
        settings["ADDON_STATE"] = str(folder)
        service = start(
            stack,
            [sys.executable, "-m", "addon", "serve"],
            settings | {"PORT": str(port)},
            stderr=subprocess.DEVNULL,
        )
        while True:
            try:
                google.home()
                break
            except requests.ConnectionError:
                time.sleep(0.01)
        return cpu_seconds(service.pid), time.monotonic() - began


def slowest_imports(environment: dict[str, str], number: int = 12) -> list[str]:
    """The imports that take longest in themselves, at the start of a service."""
    command = [sys.executable, "-X", "importtime", "-c", "import addon.serve"]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True)
    lines = [line.split("|") for line in done.stderr.splitlines() if line.count("|") == 2][1:]
    lines.sort(key=lambda parts: -int(parts[1]))
    return [f"{int(parts[1]) / 1000:7.1f} ms  {parts[2].strip()}" for parts in lines[:number]]


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--stores", nargs="+", default=["sqlite", "firestore"], choices=["sqlite", "firestore"]
    )
    parser.add_argument("--times", type=int, default=5)
    options = parser.parse_args()
    environment = {name: value for name, value in os.environ.items() if not name.startswith("ADDON_")}
    with ExitStack() as stack:
        if "firestore" in options.stores:
            environment["FIRESTORE_EMULATOR_HOST"] = stack.enter_context(running_emulator())
        for store in options.stores:
            measure(store, environment)  # bytecode and file cache
            runs = [measure(store, environment) for _ in range(options.times)]
            cpu, clock = zip(*runs, strict=True)
            print(
                f"{store:<9} first card after {statistics.median(cpu):.2f} s of CPU "
                f"({min(cpu):.2f} to {max(cpu):.2f}), {statistics.median(clock):.2f} s by the clock"
            )
    print("slowest imports of the service, with all they import:")
    print("\n".join(slowest_imports(environment)))


if __name__ == "__main__":
    main()
