"""Promise 2, the second half: a job never reports fewer possibly repeated calls than there were.

Histories of links are made up: each calls keys that are not committed yet, commits some of them in batches,
and ends in one of the ways a link can end. What commits is counted as the committer counts it.
"""

import sys
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from addon.jobs.model import account

BOUND = 5
"""Most calls a link may have begun and not committed: what a claim puts ``at_risk``."""

KEYS = 14


@dataclass
class Shard:
    """A shard's truth and its bookkeeping, side by side."""

    calls: "Counter[int]" = field(default_factory=Counter)
    committed: set[int] = field(default_factory=set)
    uploaded: list[int] = field(default_factory=list)
    risks: list[int] = field(default_factory=list)
    reported: int = 0
    ends: int = 0

    def commit(self, keys: list[int]) -> None:
        """As `Committer._write` does: one transaction for a batch."""
        self.risks, repeated = account(self.risks, len(keys))
        self.reported += repeated
        self.committed |= set(keys)

    @property
    def repeated(self) -> int:
        """Calls beyond the first of the keys that ended committed."""
        return sum(self.calls[key] - 1 for key in self.committed)


@dataclass(frozen=True)
class Link:
    """What one link does: the keys it calls, by choice among those left; when it commits; how it ends.

    ``steps`` are pairs of how many keys are called next and how many of the ready ones are committed then.
    ``end`` is ``clean`` (it tells what it called in vain), ``dead``, or ``dead after upload`` (the last
    answers are in the part and will be adopted).
    """

    steps: tuple[tuple[int, int], ...]
    order: tuple[int, ...]
    end: str


links = st.builds(
    Link,
    steps=st.lists(st.tuples(st.integers(0, BOUND), st.integers(0, 8)), max_size=5).map(tuple),
    order=st.permutations(range(KEYS)).map(tuple),
    end=st.sampled_from(["clean", "dead", "dead after upload"]),
)


def work(shard: Shard, link: Link) -> None:
    if shard.uploaded:
        shard.commit(shard.uploaded)  # adopted before anything is called
        shard.uploaded = []
    left = [key for key in link.order if key not in shard.committed]
    pending: list[int] = []
    for begun, batch in link.steps:
        room = BOUND - len(pending)
        called, left = left[: min(begun, room)], left[min(begun, room) :]
        shard.calls.update(called)
        pending += called
        if batch and pending:
            shard.commit(pending[:batch])
            pending = pending[batch:]
    if link.end == "clean":
        shard.risks = [*shard.risks, len(pending)] if pending else shard.risks
        return
    if link.end == "dead after upload":
        shard.uploaded = pending[: len(pending) // 2 + 1]
    shard.risks = [*shard.risks, BOUND]
    shard.ends += 1


def finish(shard: Shard, order: tuple[int, ...], batch: int) -> None:
    """The last link lives and works off everything."""
    if shard.uploaded:
        shard.commit(shard.uploaded)
    left = [key for key in order if key not in shard.committed]
    for first in range(0, len(left), batch):
        some = left[first : first + batch]
        shard.calls.update(some)
        shard.commit(some)


def run(history: list[Link], order: tuple[int, ...], batch: int) -> Shard:
    shard = Shard()
    for link in history:
        work(shard, link)
    finish(shard, order, batch)
    return shard


EVERY_ORDER = st.permutations(range(KEYS)).map(tuple)
ONE_BY_ONE = tuple(range(KEYS))
BACKWARDS = tuple(reversed(ONE_BY_ONE))


HARD: tuple[tuple[list[Link], tuple[int, ...], int], ...] = (
    ([Link(((5, 0),), ONE_BY_ONE, "dead")] * 3, ONE_BY_ONE, 1),
    ([Link(((5, 0),), ONE_BY_ONE, "dead"), Link(((5, 0),), BACKWARDS, "dead")], BACKWARDS, 3),
    ([Link(((5, 2), (2, 0)), ONE_BY_ONE, "dead after upload")] * 2, BACKWARDS, 2),
    ([Link(((5, 1),), ONE_BY_ONE, "clean"), Link(((5, 0),), BACKWARDS, "dead")], ONE_BY_ONE, 14),
)
"""Histories in which every simpler way of counting falls short: see the last test."""


@given(st.lists(links, max_size=6), EVERY_ORDER, st.integers(1, KEYS))
@example(*HARD[0])
@example(*HARD[1])
@example(*HARD[2])
@example(*HARD[3])
def test_the_reported_repeats_are_never_fewer_than_the_truth(
    history: list[Link], order: tuple[int, ...], batch: int
) -> None:
    shard = run(history, order, batch)
    assert shard.committed == set(range(KEYS))
    assert shard.reported >= shard.repeated


@given(st.lists(links, max_size=6), EVERY_ORDER, st.integers(1, KEYS))
def test_at_no_moment_are_report_and_what_may_still_come_fewer_than_the_truth(
    history: list[Link], order: tuple[int, ...], batch: int
) -> None:
    """What the status shows while the job runs: counted repeats and the risks not accounted for yet."""
    shard = Shard()
    for link in history:
        work(shard, link)
        called_again = sum(calls - 1 for calls in shard.calls.values() if calls > 1)
        assert shard.reported + sum(shard.risks) >= called_again
    finish(shard, order, batch)
    assert shard.reported >= shard.repeated


@given(st.lists(links, max_size=6), EVERY_ORDER, st.integers(1, KEYS))
def test_the_report_is_no_more_than_every_unclean_end_could_have_cost(
    history: list[Link], order: tuple[int, ...], batch: int
) -> None:
    shard = run(history, order, batch)
    assert shard.reported <= BOUND * len(history)
    if not shard.ends and not any(link.end == "clean" for link in history):
        assert shard.reported == 0


@given(st.lists(st.integers(0, 9), max_size=6), st.lists(st.integers(0, 5), max_size=20))
def test_how_commits_are_grouped_does_not_matter(risks: list[int], batches: list[int]) -> None:
    left, reported = list(risks), 0
    for calls in batches:
        left, repeated = account(left, calls)
        reported += repeated
    left_at_once, reported_at_once = account(risks, sum(batches))
    assert reported == reported_at_once
    assert [one for one in left if one] == left_at_once


@given(st.lists(st.integers(0, 9), max_size=6), st.integers(0, 30))
def test_what_is_reported_and_what_remains_is_what_was_at_risk(risks: list[int], calls: int) -> None:
    left, repeated = account(risks, calls)
    assert repeated + sum(left) == sum(risks)
    assert all(one > 0 for one in left)


def test_a_job_without_unclean_ends_reports_nothing() -> None:
    assert account([], 100) == ([], 0)


def nothing(risks: Sequence[int], calls: int) -> tuple[list[int], int]:
    return list(risks), 0


def one_end_at_a_time(risks: Sequence[int], calls: int) -> tuple[list[int], int]:
    return list(risks[1:]), min(calls, risks[0]) if risks else 0


def forgets_after_one_commit(risks: Sequence[int], calls: int) -> tuple[list[int], int]:
    return [], sum(min(calls, risk) for risk in risks)


def the_worst_end_only(risks: Sequence[int], calls: int) -> tuple[list[int], int]:
    worst = max(risks, default=0)
    return [worst - calls] if worst > calls else [], min(calls, worst)


@pytest.mark.parametrize("wrong", [nothing, one_end_at_a_time, forgets_after_one_commit, the_worst_end_only])
def test_simpler_ways_of_counting_fall_short(
    monkeypatch: pytest.MonkeyPatch,
    wrong: Callable[[Sequence[int], int], tuple[list[int], int]],
) -> None:
    """The histories are hard enough to tell a wrong way from the right one."""
    monkeypatch.setattr(sys.modules[__name__], "account", wrong)
    shards = [run(*history) for history in HARD]
    assert any(shard.reported < shard.repeated for shard in shards)
