"""The faults of a run, drawn from its seed: what, and how long after the one before."""

import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

Kind = Literal["kill", "simulator", "task", "google", "store", "disk"]


@dataclass(frozen=True)
class Fault:
    """One fault. ``wait`` is in seconds after the one before; ``what`` and ``how`` are for its kind."""

    wait: float
    kind: Kind
    what: str = ""
    how: dict[str, Any] | None = None


_TASKS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("dropped", {"kind": "tasks.dispatch", "action": "never"}),
    ("duplicated", {"kind": "tasks.dispatch", "action": "duplicate", "times": 4}),
    (
        "delayed",
        {"kind": "tasks.dispatch", "action": "delay", "seconds": 2.5, "times": 3},
    ),  # others overtake it
    ("delivered again when done", {"kind": "tasks.dispatch", "action": "lost_answer", "times": 4}),
    ("refused by the queue", {"kind": "tasks.create", "action": "status", "status": 503, "times": 3}),
    ("taken without a word", {"kind": "tasks.create", "action": "lost_answer", "times": 3}),
)
_GOOGLE: tuple[tuple[str, dict[str, Any]], ...] = (
    ("sheet write unanswered", {"kind": "sheets.write", "action": "lost_answer", "times": 3}),
    ("sheet read refused", {"kind": "sheets.read", "action": "status", "status": 503, "times": 3}),
    ("part upload unanswered", {"kind": "drive.update", "action": "lost_answer", "times": 4}),
    ("part upload refused", {"kind": "drive.update", "action": "status", "status": 503, "times": 4}),
)
_STORE = {"sqlite": ("late", "lost"), "firestore": ("late", "lost", "paused")}


def faults(seed: int, store: str, services: int, pace: float) -> Iterator[Fault]:
    """Faults without end, ``pace`` seconds apart on average; two in five kill a service or its worker."""
    drawn = random.Random(seed)
    while True:
        wait = drawn.uniform(0.2, 1.8) * pace
        number = drawn.random()
        if number < 0.4:
            victim = drawn.randrange(services)
            yield Fault(wait, "kill", drawn.choice(("worker", "worker", "service")), {"victim": victim})
        elif number < 0.46:
            yield Fault(wait, "simulator")
        elif number < 0.7:
            yield Fault(wait, "task", *drawn.choice(_TASKS))
        elif number < 0.82:
            yield Fault(wait, "google", *drawn.choice(_GOOGLE))
        elif number < 0.94 or store != "sqlite":
            what, seconds = drawn.choice(_STORE[store]), drawn.uniform(1, 3)
            yield Fault(wait, "store", what, {"seconds": seconds})
        else:
            victim = drawn.randrange(services + 1)  # the last one is the simulator
            yield Fault(wait, "disk", "full", {"victim": victim, "seconds": drawn.uniform(0.5, 1.5)})
