"""The demo as a process of its own, as a newcomer starts it."""

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def _two_free_ports() -> int:
    """A port whose next one is free as well."""
    while True:
        with socket.create_server(("127.0.0.1", 0)) as first:
            port: int = first.getsockname()[1]
            try:
                with socket.create_server(("127.0.0.1", port + 1)):
                    return port
            except OSError:
                continue


@contextmanager
def running_demo(folder: Path, **settings: str) -> Iterator[str]:
    """Run the demo with its state in ``folder``; the page's URL."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("ADDON_")}
    environment |= settings
    command = [sys.executable, "-m", "addon", "demo", "--no-browser"]
    command += ["--state", str(folder / "state"), "--port", str(_two_free_ports())]
    with subprocess.Popen(
        command, cwd=ROOT, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        assert "http://127.0.0.1" in line
        try:
            yield line.split()[-1]
        finally:
            process.terminate()
            status = process.wait(30)
        assert status == 0
