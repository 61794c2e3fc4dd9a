"""Every decision about a job as a table: each state under each command, and what refusals tell the queue."""

from dataclasses import fields, replace
from datetime import datetime, timedelta
from itertools import product
from typing import Any

import pytest
from samples import JOB, NOW, STATUSES

from addon.jobs import model
from addon.jobs.model import MAX_ATTEMPTS, OVERDUE, PAUSE_REASONS, Refused
from addon.jobs.records import Job, Shard, Status, task_name

SECOND = timedelta(seconds=1)
TTL, RISK = 60.0, 24

LEASES: dict[str, Shard] = {
    "free": Shard(epoch=2, step=5, due_at=NOW),
    "live": Shard(epoch=2, step=5, owner="w", fence=7, attempts=1, at_risk=9, expires_at=NOW + SECOND),
    "expiring now": Shard(epoch=2, step=5, owner="w", fence=7, attempts=1, at_risk=9, expires_at=NOW),
    "expired": Shard(epoch=2, step=5, owner="w", fence=7, attempts=1, at_risk=9, expires_at=NOW - SECOND),
    "without expiry": Shard(epoch=2, step=5, owner="w", fence=7, attempts=1, at_risk=9),
    "closed": Shard(epoch=2, step=5, closed=True),
    "tried too often": Shard(epoch=2, step=5, attempts=MAX_ATTEMPTS, due_at=NOW),
    "tried often": Shard(epoch=2, step=5, attempts=MAX_ATTEMPTS - 1, due_at=NOW),
}
HELD_BY_THE_DEAD = {"expiring now", "expired", "without expiry"}

TURNS = {
    "current": (2, 5),
    "step behind": (2, 4),
    "step ahead": (2, 6),
    "epoch behind": (1, 99),
    "epoch ahead": (3, 0),
}


def job(status: Status, *, prepared: bool = True) -> Job:
    reason = "by_person" if status == "paused" else None
    return replace(JOB, status=status, prepared=prepared, reason=reason)


def changed(before: Any, after: Any) -> set[str]:
    """Names of the fields that differ."""
    return {item.name for item in fields(before) if getattr(before, item.name) != getattr(after, item.name)}


def expected_refusal(status: str, prepared: bool, lease: str, turn: str) -> tuple[str, int] | None:
    """The table, in words: what stops a claim first."""
    if status in {"done", "cancelled"} or lease == "closed":
        return "over", 200
    if status == "paused" or not prepared:
        return "not_running", 200
    if turn in {"step behind", "epoch behind"}:
        return "behind", 200
    if turn in {"step ahead", "epoch ahead"}:
        return "ahead", 409
    return {"live": ("held", 409), "tried too often": ("stuck", 200)}.get(lease)


@pytest.mark.parametrize(("status", "prepared"), [*product(STATUSES, [True, False])])
def test_a_claim_in_every_state_of_job_lease_and_turn(status: Status, prepared: bool) -> None:
    before = job(status, prepared=prepared)
    for (lease, shard), (turn, numbers) in product(LEASES.items(), TURNS.items()):
        refusal = expected_refusal(status, prepared, lease, turn)
        try:
            after, taken, unclean = model.claim(before, shard, numbers, "me", NOW, TTL, RISK)
        except Refused as error:
            assert (error.code, error.answer) == refusal, (lease, turn)
            continue
        assert refusal is None, (lease, turn)
        assert after.status == "running"
        assert unclean == (lease in HELD_BY_THE_DEAD)
        assert taken.risks == ([9] if unclean else [])
        assert taken == replace(
            shard,
            owner="me",
            fence=shard.fence + 1,
            attempts=shard.attempts + 1,
            expires_at=NOW + timedelta(seconds=TTL),
            at_risk=RISK,
            risks=taken.risks,
            unshown=unclean,
            updated_at=NOW,
        )


def test_no_refusal_slows_the_queue() -> None:
    """Cloud Tasks takes 429 and 5xx for an overloaded service and slows the whole queue."""
    table = product(STATUSES, [True, False], LEASES, TURNS)
    answers = {refusal[1] for row in table if (refusal := expected_refusal(*row)) is not None}
    assert answers == {200, 409}
    assert Refused("any").answer == 200


def test_the_first_claim_starts_the_clock_and_later_ones_leave_it() -> None:
    first, _, _ = model.claim(job("queued"), LEASES["free"], (2, 5), "a", NOW, TTL, RISK)
    assert (first.status, first.started_at) == ("running", NOW)
    later = NOW + timedelta(hours=1)
    again, _, _ = model.claim(first, LEASES["free"], (2, 5), "b", later, TTL, RISK)
    assert again is first, "nothing to write"
    queued = replace(first, status="queued")
    once_more, _, _ = model.claim(queued, LEASES["free"], (2, 5), "c", later, TTL, RISK)
    assert once_more.started_at == NOW


def test_claims_by_the_dead_add_up_their_risks_until_the_step_is_poison() -> None:
    shard, now = LEASES["free"], NOW
    for number in range(MAX_ATTEMPTS):
        _, shard, unclean = model.claim(job("running"), shard, (2, 5), f"w{number}", now, TTL, RISK)
        assert unclean == (number > 0)
        now += timedelta(seconds=TTL)
    assert (shard.risks, shard.fence) == ([RISK] * (MAX_ATTEMPTS - 1), MAX_ATTEMPTS)
    with pytest.raises(Refused, match="stuck"):
        model.claim(job("running"), shard, (2, 5), "w", now, TTL, RISK)


@pytest.mark.parametrize(
    ("shard", "fence", "fenced"),
    [
        (LEASES["live"], 7, False),
        (LEASES["expired"], 7, False),  # late, but nobody else has claimed it: its work is good
        (LEASES["live"], 6, True),
        (LEASES["live"], 8, True),
        (replace(LEASES["live"], owner=""), 7, True),
        (LEASES["free"], 0, True),
    ],
)
def test_only_the_fencing_token_of_the_present_holder_writes(shard: Shard, fence: int, fenced: bool) -> None:
    if not fenced:
        assert model.held(shard, fence) is shard
        return
    with pytest.raises(Refused) as refused:
        model.held(shard, fence)
    assert (refused.value.code, refused.value.answer) == ("fenced", 409)


@pytest.mark.parametrize("lease", ["live", "expired"])
def test_renewing_moves_the_expiry_and_nothing_else(lease: str) -> None:
    before = LEASES[lease]
    after = model.renewed(before, NOW, TTL)
    assert changed(before, after) == {"expires_at", "updated_at"}
    assert after.expires_at == NOW + timedelta(seconds=TTL)


WORN = replace(
    LEASES["live"], nudges=3, attempts=4, risks=[5], cursor=11, made=2, tally={"made": 2}, silent_links=1
)


@pytest.mark.parametrize("delay", [0.0, 12.5])
def test_handing_over_advances_the_step_and_forgets_the_lease(delay: float) -> None:
    after = model.released(WORN, NOW, advance=True, delay=delay)
    assert after == replace(
        WORN,
        owner="",
        expires_at=None,
        at_risk=0,
        attempts=0,
        step=6,
        nudges=0,
        due_at=NOW + timedelta(seconds=delay),
        updated_at=NOW,
    )
    with pytest.raises(Refused, match="fenced"):
        model.held(after, WORN.fence)


def test_releasing_without_advance_keeps_the_step_its_name_and_its_attempts() -> None:
    after = model.released(WORN, NOW, advance=False)
    assert (after.owner, after.step, after.nudges, after.attempts) == ("", 5, 3, 4)
    assert task_name("j", 0, after) == task_name("j", 0, WORN)


@pytest.mark.parametrize("delay", [0.0, 600.0])
def test_after_a_clean_end_the_next_claim_is_clean(delay: float) -> None:
    after = model.released(WORN, NOW, advance=True, delay=delay)
    _, taken, unclean = model.claim(job("running"), after, (2, 6), "next", NOW, TTL, RISK)
    assert (unclean, taken.risks, taken.unshown) == (False, [5], False)


@pytest.mark.parametrize(
    ("others", "closing"),
    [
        ({}, True),
        ({1: Shard(closed=True), 2: Shard(closed=True)}, True),
        ({1: Shard(closed=True), 2: Shard()}, False),
        ({1: LEASES["live"], 2: Shard(closed=True)}, False),
        ({1: LEASES["live"], 2: LEASES["expired"]}, False),
    ],
)
def test_the_last_open_shard_checks_and_the_others_close(others: dict[int, Shard], closing: bool) -> None:
    mine = replace(WORN, dirty=True, settled={"made": 2})
    after, checks = model.finish({0: mine, **others}, 0, mine.fence, NOW)
    assert checks is closing
    if closing:
        expected = replace(
            mine, closing=True, dirty=False, cursor=0, settled={}, first_tally={"made": 2}, updated_at=NOW
        )
        assert after == expected, "it keeps its lease: it goes on at once"
    else:
        assert after == model.released(replace(mine, closed=True), NOW, advance=True)


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 0, 1), (1, 2, 0)])
def test_in_whatever_order_shards_finish_exactly_one_checks(order: tuple[int, ...]) -> None:
    shards = {number: replace(LEASES["live"], fence=number) for number in range(3)}
    checking = []
    for number in order:
        shards[number], closing = model.finish(shards, number, number, NOW)
        checking += [number] if closing else []
    assert checking == [order[-1]]
    assert [shards[number].closed for number in order] == [True, True, False]


def test_a_late_holder_does_not_finish_a_shard() -> None:
    with pytest.raises(Refused, match="fenced"):
        model.finish({0: WORN}, 0, WORN.fence - 1, NOW)


@pytest.mark.parametrize(("status", "reason"), [*product(STATUSES, sorted(PAUSE_REASONS))])
def test_pausing_in_every_status_for_every_reason(status: Status, reason: str) -> None:
    before = job(status)
    after = model.paused(before, reason, NOW)
    if status in {"queued", "running"}:
        assert after == replace(before, status="paused", reason=reason, updated_at=NOW)
    else:
        assert after is before, "the first reason stays, and what is over stays over"


@pytest.mark.parametrize("reason", ["", "silence", "stuck "])
@pytest.mark.parametrize("status", STATUSES)
def test_pausing_for_no_known_reason_is_a_mistake(status: Status, reason: str) -> None:
    with pytest.raises(ValueError, match="not a pause reason"):
        model.paused(job(status), reason, NOW)


@pytest.mark.parametrize("lease", LEASES)
def test_resuming_keeps_the_work_and_the_lease_and_counts_tries_anew(lease: str) -> None:
    before = replace(LEASES[lease], cursor=4, tally={"made": 1}, nudges=2, silent_links=7, risks=[3], made=1)
    after = model.reopened(before, 3, NOW, from_start=False)
    expected = replace(before, epoch=3, step=6, nudges=0, attempts=0, silent_links=0, due_at=NOW)
    assert after == expected


@pytest.mark.parametrize("lease", LEASES)
def test_retrying_begins_at_the_top_takes_the_lease_and_forgets_no_count(lease: str) -> None:
    before = replace(
        LEASES[lease], cursor=4, tally={"made": 1}, settled={"made": 1}, first_tally={"made": 1}, risks=[3]
    )
    before = replace(before, closing=True, made=5, called=6, repeated=2, timeouts=1, part=1)
    after = model.reopened(before, 3, NOW, from_start=True)
    assert (after.closed, after.closing, after.cursor) == (False, False, 0)
    assert (after.settled, after.tally, after.first_tally) == ({}, {}, {})
    assert (after.made, after.called, after.repeated, after.timeouts, after.part) == (5, 6, 2, 1, 1)
    assert after.risks == [3]
    with pytest.raises(Refused, match="fenced"):
        model.held(after, before.fence)
    _, taken, unclean = model.claim(job("running"), after, (3, 6), "me", NOW, TTL, RISK)
    assert unclean == bool(before.owner)
    assert taken.risks == ([3, 9] if before.owner else [3])
    assert taken.fence > after.fence > before.fence


@pytest.mark.parametrize("from_start", [True, False])
def test_a_task_of_an_earlier_epoch_is_behind_and_its_name_is_never_used_again(from_start: bool) -> None:
    before = model.nudged(LEASES["free"], NOW)
    after = model.reopened(before, 3, NOW, from_start=from_start)
    names = [task_name("j", 0, shard) for shard in (LEASES["free"], before, after, model.nudged(after, NOW))]
    assert len(set(names)) == len(names)
    with pytest.raises(Refused, match="behind"):
        model.claim(job("running"), after, (before.epoch, before.step), "me", NOW, TTL, RISK)


@pytest.mark.parametrize(("status", "prepared"), [*product(STATUSES, [True, False])])
@pytest.mark.parametrize(
    ("due", "late"),
    [
        (None, True),
        (NOW - OVERDUE, True),
        (NOW - OVERDUE + SECOND, False),
        (NOW, False),
        (NOW + 2 * OVERDUE, False),
    ],
)
def test_what_is_overdue_in_every_state(
    status: Status, prepared: bool, due: datetime | None, late: bool
) -> None:
    for lease, shard in LEASES.items():
        waits_for_nobody = lease not in {"live", "closed"}
        expected = status in {"queued", "running"} and prepared and waits_for_nobody and late
        late_shard = replace(shard, due_at=due)
        assert model.overdue(job(status, prepared=prepared), late_shard, NOW) is expected, lease


def test_a_nudge_makes_the_task_name_fresh_and_is_not_due_again_at_once() -> None:
    for lease, shard in LEASES.items():
        fresh = model.nudged(shard, NOW)
        assert changed(shard, fresh) <= {"nudges", "due_at", "waiting_since"}, lease
        assert fresh.nudges == shard.nudges + 1
        assert not model.overdue(job("running"), fresh, NOW)
        assert fresh.closed or model.overdue(job("running"), fresh, NOW + OVERDUE)


def test_a_link_waits_since_it_was_due_first_however_often_it_was_nudged() -> None:
    shard = Shard(due_at=NOW)
    later = NOW
    for _ in range(5):
        later += timedelta(seconds=60)
        shard = model.nudged(shard, later)
        assert model.waiting(job("running"), shard, later) == (later - NOW).total_seconds()
    _, taken, _ = model.claim(job("running"), shard, (1, 0), "me", later, TTL, RISK)
    assert model.waiting(job("running"), taken, later) == 0.0, "somebody is at work"
    dead = later + timedelta(seconds=TTL + 7)
    assert model.waiting(job("running"), taken, dead) == 7.0, (
        "a dead worker's link waits since its lease ended"
    )


def test_nobody_waits_for_what_is_not_due_or_not_to_be_worked_on() -> None:
    due = Shard(due_at=NOW)
    assert model.waiting(job("running"), Shard(due_at=NOW + timedelta(seconds=9)), NOW) == 0.0
    for status in ("paused", "done", "cancelled"):
        assert model.waiting(job(status), due, NOW + OVERDUE) == 0.0
    assert model.waiting(job("running"), replace(due, closed=True), NOW + OVERDUE) == 0.0


def test_a_nudged_step_can_be_claimed_by_either_name() -> None:
    fresh = model.nudged(LEASES["expired"], NOW)
    _, taken, _ = model.claim(job("running"), fresh, (2, 5), "me", NOW, TTL, RISK)
    assert taken.nudges == 1
    with pytest.raises(Refused, match="held"):
        model.claim(job("running"), taken, (2, 5), "other", NOW, TTL, RISK)


@pytest.mark.parametrize(
    ("shards", "spare"),
    [
        ({0: Shard(), 1: Shard(), 2: Shard()}, ["a0", "a1", "a2", "b0", "c0", "c1"]),
        ({0: Shard(made=1), 1: Shard(), 2: Shard(made=9, part=1)}, ["a1", "a2", "b0"]),
        ({0: Shard(part=1), 1: Shard(made=1), 2: Shard(part=1)}, ["a2"]),  # part 1 was begun: part 0 is full
        ({0: Shard(made=9, part=2), 1: Shard(made=1), 2: Shard(made=1, part=1)}, []),
        ({2: Shard(), 0: Shard(made=9, part=2), 1: Shard(made=1)}, ["c0", "c1"]),
    ],
)
def test_a_part_is_spare_only_if_no_result_can_be_in_it(shards: dict[int, Shard], spare: list[str]) -> None:
    assert model.spare_parts(JOB, shards) == spare
