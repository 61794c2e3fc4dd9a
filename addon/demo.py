"""`addon demo`: simulator and service as processes of their own, and a page to click in."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
import urllib.error
import urllib.request
import webbrowser
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from addon.local import state_lock
from addon.simulator.samples import SAMPLE

START_SECONDS = 30.0
"""How long a process may take to answer for the first time."""

SWEEP_SECONDS = 10
PACED_MODEL = "addon.llm.paced:Paced"


class DemoFailed(Exception):
    """The demo could not start; the message says why."""


def demo(state: Path, port: int, workbook: Path | None, *, browser: bool, language: str) -> None:
    """Run the demo until interrupted.

    Raises
    ------
    DemoFailed
        A process did not start.
    StateInUse
        Another demo runs on the same state folder.
    """
    with state_lock(state), contextlib.ExitStack() as stack:
        stop = threading.Event()
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: stop.set())
        service_url = f"http://127.0.0.1:{port + 1}"
        simulator = stack.enter_context(_simulator(state, port, service_url, workbook or SAMPLE))
        ready = _first_line(simulator)
        (spreadsheet,) = ready["spreadsheets"].values()
        service = stack.enter_context(_service(state, port + 1, ready["environment"]))
        _await_answer(service, f"{service_url}/readyz", stop)
        url = f"{ready['url']}/page/?spreadsheet={spreadsheet}" + (f"&lang={language}" if language else "")
        click.echo(f"Sheet Summaries is running at {url}\nPress Ctrl-C to stop; run it again to go on.")
        if browser:
            webbrowser.open(url)
        while not stop.wait(0.5):
            for process, name in ((simulator, "simulator"), (service, "service")):
                if process.poll() is not None:
                    raise DemoFailed(f"The {name} ended by itself (exit status {process.returncode}).")


@contextlib.contextmanager
def _simulator(state: Path, port: int, service_url: str, workbook: Path) -> Iterator["subprocess.Popen[str]"]:
    command = [sys.executable, "-m", "addon.simulator", "--state", str(state / "google"), "--port", str(port)]
    command += ["--service", service_url, "--sweep", str(SWEEP_SECONDS), "--open", str(workbook)]
    yield from _process([*command, "--exit-with-stdin"], dict(os.environ), subprocess.PIPE)


@contextlib.contextmanager
def _service(state: Path, port: int, google: dict[str, str]) -> Iterator["subprocess.Popen[str]"]:
    environment = {
        "ADDON_MODEL": PACED_MODEL,
        "ADDON_CONCURRENCY": "4",
        "ADDON_DISPLAY_SECONDS": "1",
        "ADDON_ADMINS": "you@example.com",
        **os.environ,
        **google,
        "ADDON_STATE": str(state),
    }
    command = [sys.executable, "-m", "addon", "serve", "--bind", f"127.0.0.1:{port}", "--exit-with-stdin"]
    yield from _process(command, environment)


def _process(
    command: list[str], environment: dict[str, str], stdout: int = subprocess.DEVNULL
) -> Iterator["subprocess.Popen[str]"]:
    """Run a child that ends with this process, however this process ends: its standard input closes.

    It has a session of its own, so that Ctrl-C reaches only this process, which ends the children in turn.
    """
    with subprocess.Popen(
        command, env=environment, stdin=subprocess.PIPE, stdout=stdout, text=True, start_new_session=True
    ) as process:
        try:
            yield process
        finally:
            process.terminate()
            try:
                process.wait(15)
            except subprocess.TimeoutExpired:
                process.kill()


def _first_line(process: "subprocess.Popen[str]") -> dict[str, Any]:
    line = process.stdout.readline() if process.stdout else ""
    if not line:
        raise DemoFailed("The simulator did not start; the lines above say why.")
    answer: dict[str, Any] = json.loads(line)
    return answer


def _await_answer(process: "subprocess.Popen[str]", url: str, stop: threading.Event) -> None:
    for _ in range(int(START_SECONDS / 0.1)):
        if stop.is_set():
            return
        if process.poll() is not None:
            break
        try:
            with urllib.request.urlopen(url, timeout=5):
                return
        except (urllib.error.URLError, OSError):
            stop.wait(0.1)
    raise DemoFailed("The service did not start; the lines above say why.")
