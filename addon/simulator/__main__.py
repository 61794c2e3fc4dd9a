"""``python -m addon.simulator``: Google on this machine, until it is told to stop."""

import argparse
import json
import logging
import os
import signal
import sys
import threading
from pathlib import Path

from addon.simulator.csvfile import WorkbookError
from addon.simulator.server import Simulator
from addon.simulator.state import StateInUse


def main(arguments: list[str] | None = None) -> int:
    """Run the simulator; print one line of JSON when it is ready."""
    parser = argparse.ArgumentParser(prog="python -m addon.simulator", description=__doc__)
    parser.add_argument("--state", type=Path, required=True, help="folder for everything it keeps")
    parser.add_argument("--port", type=int, default=0, help="port on 127.0.0.1; 0 takes any free one")
    parser.add_argument("--service", help="URL of the add-on's service")
    parser.add_argument("--sweep", type=float, help="seconds between calls of the service's sweep")
    parser.add_argument("--quota", type=int, help="Sheets reads, and writes, per minute and caller")
    parser.add_argument(
        "--open", type=Path, action="append", default=[], metavar="FILE.csv", help="a workbook"
    )
    parser.add_argument("--exit-with-stdin", action="store_true", help="stop when standard input is closed")
    options = parser.parse_args(arguments)
    logging.basicConfig(level=logging.WARNING, format="simulator: %(message)s")
    stopping = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stopping.set())
    if options.exit_with_stdin:
        threading.Thread(target=_wait_for_end, args=(stopping,), daemon=True).start()
    try:
        simulator = Simulator(
            options.state,
            service=options.service,
            port=options.port,
            sweep=options.sweep,
            quota=options.quota,
        )
    except (StateInUse, ValueError, OSError) as error:
        print(f"simulator: {error}", file=sys.stderr)
        return 1
    with simulator:
        try:
            opened = {str(path): simulator.workbooks.open_csv(path) for path in options.open}
        except WorkbookError as error:
            print(f"simulator: {error}", file=sys.stderr)
            return 1
        ready = {"url": simulator.url, "spreadsheets": opened, "environment": simulator.service_environment}
        print(json.dumps(ready), flush=True)
        stopping.wait()
    return 0


def _wait_for_end(stopping: threading.Event) -> None:
    while os.read(0, 4096):  # not sys.stdin: its lock would be in the way when the interpreter ends
        pass
    stopping.set()


if __name__ == "__main__":
    sys.exit(main())
