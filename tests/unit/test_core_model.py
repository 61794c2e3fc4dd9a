"""Every decision about a job: state and command in, state or refusal out."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from addon.jobs import model
from addon.jobs.model import Refused
from addon.jobs.records import Job, Shard, job_id, task_name

NOW = datetime(2026, 1, 1, tzinfo=UTC)
LATER = NOW + timedelta(seconds=100)
JOB = Job(
    "s",
    0,
    "new_or_changed",
    "m",
    "o",
    NOW,
    2,
    9,
    9,
    0,
    "f",
    "r",
    {"0": ["a", "b"], "1": ["c"]},
    1000,
    prepared=True,
)
HELD = Shard(owner="w", fence=3, expires_at=LATER, attempts=1, at_risk=7)


def claim(job: Job = JOB, shard: Shard | None = None, turn: tuple[int, int] = (1, 0)) -> Any:
    return model.claim(job, shard or Shard(), turn, "me", NOW, 60.0, 24)


def test_a_free_shard_is_claimed_and_the_job_begins() -> None:
    job, shard, unclean = claim()
    assert (job.status, job.started_at) == ("running", NOW)
    assert not unclean
    assert shard == Shard(
        owner="me", fence=1, attempts=1, expires_at=NOW + timedelta(seconds=60), at_risk=24, updated_at=NOW
    )


def test_an_expired_lease_is_taken_and_what_its_holder_may_have_called_is_remembered() -> None:
    _, shard, unclean = claim(shard=replace(HELD, expires_at=NOW))
    assert unclean
    assert (shard.fence, shard.owner, shard.risks, shard.at_risk) == (4, "me", [7], 24)


@pytest.mark.parametrize(
    ("job", "shard", "turn", "code", "answer"),
    [
        (replace(JOB, status="done"), Shard(), (1, 0), "over", 200),
        (replace(JOB, status="cancelled"), Shard(), (1, 0), "over", 200),
        (JOB, Shard(closed=True), (1, 0), "over", 200),
        (replace(JOB, status="paused"), Shard(), (1, 0), "not_running", 200),
        (replace(JOB, prepared=False), Shard(), (1, 0), "not_running", 200),
        (JOB, Shard(step=2), (1, 1), "behind", 200),
        (JOB, Shard(epoch=2, step=1), (1, 5), "behind", 200),
        (JOB, Shard(step=1), (1, 2), "ahead", 409),
        (JOB, Shard(epoch=1), (2, 0), "ahead", 409),
        (JOB, HELD, (1, 0), "held", 409),
        (JOB, Shard(attempts=model.MAX_ATTEMPTS), (1, 0), "stuck", 200),
    ],
)
def test_claims_that_are_refused(
    job: Job, shard: Shard, turn: tuple[int, int], code: str, answer: int
) -> None:
    with pytest.raises(Refused) as refused:
        claim(job, shard, turn)
    assert (refused.value.code, refused.value.answer) == (code, answer)


@pytest.mark.parametrize("shard", [replace(HELD, fence=4), replace(HELD, owner="")])
def test_a_late_holder_is_fenced(shard: Shard) -> None:
    with pytest.raises(Refused, match="fenced"):
        model.held(shard, 3)


def test_a_clean_end_leaves_nothing_at_risk_and_makes_the_next_step_due() -> None:
    shard = model.released(replace(HELD, nudges=2), NOW, advance=True, delay=5)
    assert (shard.owner, shard.at_risk, shard.attempts, shard.step, shard.nudges) == ("", 0, 0, 1, 0)
    assert shard.due_at == NOW + timedelta(seconds=5)


def test_the_last_open_shard_checks_the_whole_sheet() -> None:
    shards = {0: replace(HELD, cursor=9, tally={"made": 4}), 1: Shard()}
    closed, closing = model.finish(shards, 0, 3, NOW)
    assert (closed.closed, closed.owner, closing) == (True, "", False)
    checking, closing = model.finish({0: shards[0], 1: Shard(closed=True)}, 0, 3, NOW)
    assert closing
    assert (checking.closed, checking.closing, checking.cursor) == (False, True, 0)
    assert checking.first_tally == {"made": 4}


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        ("queued", "paused"),
        ("running", "paused"),
        ("paused", "paused"),
        ("done", "done"),
        ("cancelled", "cancelled"),
    ],
)
def test_pausing(status: Any, expected: str) -> None:
    before = replace(JOB, status=status, reason="stuck" if status == "paused" else None)
    after = model.paused(before, "protected", NOW)
    assert after.status == expected
    assert after.reason == ("protected" if status in {"queued", "running"} else before.reason)


def test_an_unknown_pause_reason_is_a_mistake() -> None:
    with pytest.raises(ValueError, match="not a pause reason"):
        model.paused(JOB, "because", NOW)


@pytest.mark.parametrize(
    ("job", "shard", "late"),
    [
        (JOB, Shard(due_at=NOW - model.OVERDUE), True),
        (JOB, Shard(due_at=NOW), False),
        (JOB, Shard(), True),
        (JOB, HELD, False),
        (JOB, replace(HELD, expires_at=NOW, due_at=NOW - model.OVERDUE), True),
        (JOB, replace(HELD, expires_at=NOW, due_at=NOW), False),
        (JOB, Shard(closed=True), False),
        (replace(JOB, status="paused"), Shard(), False),
        (replace(JOB, status="done"), Shard(), False),
        (replace(JOB, prepared=False), Shard(), False),
    ],
)
def test_what_is_overdue(job: Job, shard: Shard, late: bool) -> None:
    assert model.overdue(job, shard, NOW) is late


def test_task_names_are_made_of_the_state_alone_and_fresh_after_a_nudge() -> None:
    shard = Shard(epoch=2, step=3)
    assert task_name("j", 1, shard) == task_name("j", 1, shard) == "j-1-2-3"
    assert task_name("j", 1, model.nudged(shard, NOW)) == "j-1-2-3-n1"
    reopened = model.reopened(model.nudged(shard, NOW), 3, NOW, from_start=False)
    assert task_name("j", 1, reopened) == "j-1-3-4"


def test_a_replayed_click_asks_for_the_same_job() -> None:
    assert job_id("s", "click") == job_id("s", "click")
    assert (
        len({job_id("s", "a"), job_id("s", "b"), job_id("t", "a"), job_id("s\na", ""), job_id("s", "\na")})
        == 5
    )


def test_parts_without_a_result_are_spare() -> None:
    shards = {0: Shard(made=5, part=0), 1: Shard()}
    assert model.spare_parts(JOB, shards) == ["b", "c"]
    assert model.spare_parts(JOB, {0: Shard(made=5, part=1), 1: Shard(made=1)}) == []


def test_records_come_back_from_the_store_and_ignore_what_a_newer_version_added() -> None:
    assert Job.from_data({**JOB.to_data(), "new_field": 1}) == JOB
    assert Shard.from_data({**HELD.to_data(), "new_field": 1}) == HELD


@st.composite
def histories(draw: st.DrawFn) -> list[tuple[list[int], int]]:
    """Links: the keys each calls (only uncommitted ones), and how many of these it commits before it dies."""
    committed: set[int] = set()
    links = []
    for _ in range(draw(st.integers(0, 5))):
        left = [number for number in range(20) if number not in committed]
        called = draw(st.lists(st.sampled_from(left), unique=True, max_size=12)) if left else []
        kept = draw(st.integers(max(0, len(called) - BOUND), len(called)))
        committed |= set(called[:kept])
        links.append((called, kept))
    return links


BOUND = 6
"""Calls a worker may have begun and not committed."""


@given(histories(), st.randoms())
def test_the_reported_repeats_are_never_fewer_than_the_truth(
    history: list[tuple[list[int], int]], order: Any
) -> None:
    calls = dict.fromkeys(range(20), 0)
    committed: set[int] = set()
    risks: list[int] = []
    reported = 0
    for called, kept in history:
        for number in called:
            calls[number] += 1
        for number in called[:kept]:
            committed.add(number)
            risks, repeated = model.account(risks, 1)
            reported += repeated
        risks = [*risks, BOUND]
    rest = [number for number in range(20) if number not in committed]
    order.shuffle(rest)
    for number in rest:  # the last link lives to the end
        calls[number] += 1
    risks, repeated = model.account(risks, len(rest))
    reported += repeated
    assert reported >= sum(count - 1 for count in calls.values())


@pytest.mark.parametrize("closing", [False, True])
def test_after_a_death_during_the_check_of_the_sheet_the_whole_sheet_is_checked_again(closing: bool) -> None:
    _, shard, _ = claim(shard=replace(HELD, expires_at=NOW, closing=closing, cursor=40))
    assert shard.dirty is closing
