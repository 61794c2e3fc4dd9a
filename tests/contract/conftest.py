"""A running simulator and somebody who calls it; a session of Google's that never really waits."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from scripted import Clock
from simulated import Api, caller

from addon.google.session import Session, bearer
from addon.simulator.server import Simulator


@pytest.fixture
def simulator(tmp_path: Path) -> Iterator[Simulator]:
    """A simulator that checks requests against Google's own descriptions."""
    with Simulator(tmp_path / "state") as running:
        assert running.schema_checked
        yield running


@pytest.fixture
def api(simulator: Simulator) -> Iterator[Api]:
    """Raw requests in the name of the user."""
    with caller(simulator) as user:
        yield user


@pytest.fixture
def clock() -> Clock:
    """Time that passes when somebody pauses."""
    return Clock()


@pytest.fixture
def session(clock: Clock) -> Iterator[Session]:
    """A session whose retries take no time and have no jitter."""
    made = Session(bearer("local"), sleep=clock.sleep, clock=clock, random=lambda: 0.0)
    yield made
    made.close()
