"""Real processes are killed and everything around them misbehaves, while many jobs run; then an audit.

    python tests/chaos/chaos.py --kills 200 --store sqlite --seed 1

Rounds of 20 jobs at once, each on a spreadsheet of its own, until so many processes were killed. Prints its
figures, and the seed that repeats it; the exit status is 1 where the audit finds something.
"""

import argparse
import json
import os
import signal
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from unittest import mock

from chaos_audit import Verdict, audit
from chaos_model import Provider
from chaos_plan import faults
from chaos_round import Round
from chaos_world import SKEWS, World
from emulator import running_emulator


@dataclass(frozen=True)
class Shape:
    """How large a round is, and how bad it gets.

    ``kills`` ends its faults, as does the end of its jobs; ``pace`` is the mean number of seconds between two
    faults; ``patience`` how long the jobs may take once nothing happens any more.
    """

    books: int = 20
    rows: int = 150
    kills: int = 1_000
    pace: float = 0.6
    latency: float = 0.6
    patience: float = 120.0
    seconds: float = 600.0


@dataclass
class Outcome:
    """A round's figures and problems."""

    verdict: Verdict
    happened: Counter[str] = field(default_factory=Counter)
    seconds: float = 0.0


def one_round(
    folder: Path,
    seed: int,
    shape: Shape,
    *,
    emulator: str = "",
    emulator_group: int = 0,
    unprotected: str = "",
) -> Outcome:
    """Run one round in ``folder``."""
    began = time.monotonic()
    provider = Provider(seed, latency=shape.latency, slow=2.5, trouble=0.1)
    with ExitStack() as stack:
        stack.enter_context(provider.server.running())
        if emulator:  # for this round only: other tests have an emulator of their own
            stack.enter_context(mock.patch.dict(os.environ, FIRESTORE_EMULATOR_HOST=emulator))
        world = World(
            folder,
            stack,
            provider,
            seed=seed,
            books=shape.books,
            rows=shape.rows,
            emulator=emulator,
            emulator_group=emulator_group,
            unprotected=unprotected,
        )
        world.await_ready()
        this = Round(world)
        stack.callback(this.documents.close)
        watcher = threading.Thread(target=this.watch)
        watcher.start()
        try:
            this.start_all()
            plan = faults(seed, "firestore" if emulator else "sqlite", len(SKEWS), shape.pace)
            this.suffer(plan, shape.kills, began + shape.seconds)
            world.calm()
            this.settle(shape.patience)
        finally:
            this.stop()
            watcher.join()
        verdict = audit(this.facts())
        verdict.problems[:0] = [*this.problems, *provider.server.problems]
    happened = this.happened + Counter({f"model {kind}": n for kind, n in provider.faults.items()})
    return Outcome(verdict, happened, time.monotonic() - began)


@contextmanager
def emulator_in_a_group() -> Iterator[tuple[str, int]]:
    """Run the emulator; its address and process group: stopped it keeps its memory, killed it would not."""
    with running_emulator() as address:
        port = address.rpartition(":")[2]
        yield address, group_of(port)


def group_of(port: str) -> int:
    """Process group of the emulator that was started for ``port``."""
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                words = (entry / "cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            if f"--port={port}".encode() in words:
                return os.getpgid(int(entry.name))
    raise LookupError(f"no emulator on port {port}")


def main() -> int:
    """Run rounds until the kills are reached."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=200, help="processes to kill in all")
    parser.add_argument("--seconds", type=float, default=3600, help="most seconds in all")
    parser.add_argument("--seed", type=int, help="repeats a run; drawn where it is left out")
    parser.add_argument("--store", choices=["sqlite", "firestore"], default="sqlite")
    parser.add_argument("--rows", type=int, default=Shape.rows)
    parser.add_argument("--books", type=int, default=Shape.books, help="spreadsheets, and jobs, at once")
    parser.add_argument("--pace", type=float, default=Shape.pace, help="mean seconds between two faults")
    parser.add_argument("--keep", type=Path, help="folder to keep everything in")
    parser.add_argument("--unprotected", default="", help="take a protection away: account, recovery")
    chosen = parser.parse_args()
    seed = chosen.seed if chosen.seed is not None else int.from_bytes(os.urandom(3))
    print(f"seed {seed}, store {chosen.store}", flush=True)
    began, total, happened, rounds, problems = time.monotonic(), Counter[str](), Counter[str](), 0, []
    with ExitStack() as stack:
        address, group = "", 0
        if chosen.store == "firestore":
            address, group = stack.enter_context(emulator_in_a_group())
        while happened["kills"] < chosen.kills and time.monotonic() - began < chosen.seconds:
            left = chosen.kills - happened["kills"]
            shape = Shape(books=chosen.books, rows=chosen.rows, kills=left, pace=chosen.pace)
            with tempfile.TemporaryDirectory() as made:
                folder = Path(made)
                if chosen.keep:
                    folder = chosen.keep / f"round{rounds}"
                    folder.mkdir(parents=True)
                outcome = one_round(
                    folder,
                    seed + rounds,
                    shape,
                    emulator=address,
                    emulator_group=group,
                    unprotected=chosen.unprotected,
                )
            rounds += 1
            happened += outcome.happened
            total += Counter(outcome.verdict.figures)
            problems += outcome.verdict.problems
            line = {"round": rounds, "seed": seed + rounds - 1, "seconds": round(outcome.seconds)}
            print(
                json.dumps(line | {"kills": outcome.happened["kills"]} | outcome.verdict.figures), flush=True
            )
            for problem in outcome.verdict.problems:
                print(f"  PROBLEM {problem}", flush=True)
    print(json.dumps({"faults": dict(sorted(happened.items()))}))
    figures = {"seed": seed, "store": chosen.store, "rounds": rounds, "kills": happened["kills"], **total}
    print(json.dumps(figures | {"problems": len(problems), "seconds": round(time.monotonic() - began)}))
    return 1 if problems else 0


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    sys.exit(main())
