"""Promises 1 to 4 at every fault point, under every fault, on both stores."""

import threading
from pathlib import Path

import pytest
from fault_scene import (
    CLICK,
    FAULTS,
    JUMP,
    LOST,
    NOT_POSSIBLE,
    STEPS,
    Fault,
    assert_promises,
    freeze_before_the_upload,
    play,
    scene,
    strike,
)
from mortal import AtStep, Killed, Lives, MovableClock

from addon.jobs.chain import LinkMessage
from addon.jobs.steps import Step
from addon.store.documents import Documents

pytestmark = pytest.mark.usefixtures("nobody_waits_long")

CASES = [(step, fault) for step in STEPS for fault in FAULTS if (step, fault) not in NOT_POSSIBLE]


def test_every_combination_is_tried_or_has_a_reason_not_to_be() -> None:
    assert set(CASES) | set(NOT_POSSIBLE) == {(step, fault) for step in STEPS for fault in FAULTS}
    assert {step for step, fault in CASES if fault == "lost answer"} == set(LOST)


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("step", STEPS)
def test_promises_1_to_4(tmp_path: Path, documents: Documents, step: Step, fault: Fault) -> None:
    if (step, fault) in NOT_POSSIBLE:
        return
    with scene(tmp_path, documents, step, strike(fault, step)) as it:
        job = play(it, step, fault)
        assert_promises(it, job)
        again = it.deliver(LinkMessage(job, 0, 1, 0))
        assert (again.status, again.outcome) == (200, "over")
        calls = len(it.model.calls)
        assert it.click("the-click").created is False or step in CLICK
        assert len(it.model.calls) == calls


def test_a_worker_that_stood_still_between_renewal_and_upload_is_too_late(
    tmp_path: Path, documents: Documents
) -> None:
    with scene(tmp_path, documents, "before part upload", freeze_before_the_upload) as it:
        assert_promises(it, play(it, "before part upload", "stall past the lease"))


def test_a_life_that_is_over_does_nothing_more(tmp_path: Path, documents: Documents) -> None:
    """Of the tools of this table: without it a crash would be no crash."""
    lives = Lives(MovableClock(documents), JUMP)
    reached = threading.Event()
    with lives.one():
        with pytest.raises(Killed):
            lives.die()
        with pytest.raises(Killed):
            AtStep(lives, "before call", 1, reached.set)("before call")
    assert not reached.is_set()
