"""A short run of chaos on each store; `make chaos` is the long one."""

import itertools
from collections import Counter
from pathlib import Path

import pytest
from chaos import Shape, emulator_in_a_group, one_round
from chaos_plan import faults
from emulator import emulator_command, emulator_is_required

SHORT = Shape(books=20, rows=12, kills=6, pace=0.5, latency=0.3, patience=90, seconds=30)


def test_the_same_seed_draws_the_same_faults_and_another_seed_others() -> None:
    def drawn(seed: int) -> list[object]:
        return list(itertools.islice(faults(seed, "sqlite", 3, 1.0), 50))

    assert drawn(1) == drawn(1)
    assert drawn(1) != drawn(2)


@pytest.mark.parametrize("store", ["sqlite", "firestore"])
def test_every_kind_of_fault_is_drawn(store: str) -> None:
    kinds = Counter(fault.kind for fault in itertools.islice(faults(1, store, 3, 1.0), 500))
    wanted = {"kill", "simulator", "task", "google", "store"} | ({"disk"} if store == "sqlite" else set())
    assert kinds.keys() == wanted
    assert kinds["kill"] > 150


def test_twenty_jobs_survive_kills_on_sqlite(tmp_path: Path) -> None:
    outcome = one_round(tmp_path, 11, SHORT)
    print(outcome)  # shown when the test fails
    assert outcome.verdict.problems == []
    assert outcome.happened["kills"] > 0


@pytest.mark.emulator
def test_twenty_jobs_survive_kills_on_firestore(tmp_path: Path) -> None:
    if emulator_command() is None and not emulator_is_required():
        pytest.skip("The official Firestore emulator is not installed: chaos did not run on it.")
    # An emulator of its own: it is stopped for seconds, which other tests would not like.
    with emulator_in_a_group() as (address, group):
        outcome = one_round(tmp_path, 12, SHORT, emulator=address, emulator_group=group)
    print(outcome)
    assert outcome.verdict.problems == []
    assert outcome.happened["kills"] > 0
