"""A job as people see it, while it runs and when it is over."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from addon.jobs.records import Failure, Job, Shard, failure_path, job_path, shard_path, spreadsheet_path
from addon.jobs.status import FRESH, ROWS_NAMED, JobStatus, job_status, latest_status, list_jobs
from addon.store.sqlite import SqliteDocuments

NOW = datetime(2026, 3, 4, 5, 6, tzinfo=UTC)
JOB = Job(
    spreadsheet_id="s",
    sheet_id=0,
    mode="new_or_changed",
    model="m",
    owner="u",
    created_at=NOW - timedelta(hours=1),
    shards=2,
    rows=100,
    distinct=90,
    blank=4,
    folder="f",
    run_file="r",
    parts={"0": ["a"], "1": ["b"]},
    part_rows=1000,
    status="running",
    prepared=True,
)


def ago(seconds: float) -> datetime:
    return NOW - timedelta(seconds=seconds)


@pytest.fixture
def documents(tmp_path: Path) -> Iterator[SqliteDocuments]:
    store = SqliteDocuments(tmp_path / "store.sqlite", clock=lambda: NOW)
    yield store
    store.close()


def put(documents: SqliteDocuments, path: str, data: dict[str, Any]) -> None:
    documents.transact(lambda tx: tx.set(path, data))


def status(documents: SqliteDocuments, job: Job, *shards: Shard, job_id: str = "j") -> JobStatus:
    put(documents, job_path(job_id), replace(job, shards=len(shards)).to_data())
    for number, shard in enumerate(shards):
        put(documents, shard_path(job_id, number), shard.to_data())
    found = job_status(documents, job_id)
    assert found is not None
    return found


def test_a_job_that_is_not_there_has_no_status(documents: SqliteDocuments) -> None:
    assert job_status(documents, "nobody") is None
    assert latest_status(documents, "s") is None
    put(documents, spreadsheet_path("s"), {"active_job": None, "last_job": "deleted"})
    assert latest_status(documents, "s") is None
    assert list_jobs(documents) == []


def test_a_job_that_has_just_begun(documents: SqliteDocuments) -> None:
    found = status(documents, replace(JOB, status="queued"), Shard(), Shard())
    assert (found.rows, found.done, found.failed, found.blank, found.called) == (100, 0, 0, 4, 0)
    assert (found.rate, found.seconds_left, found.repeated, found.notes) == (None, None, 0, ())
    assert found.updated_at == JOB.created_at
    assert found.now == NOW
    assert found.results_link is None


def test_while_it_runs_the_shards_own_rows_add_up(documents: SqliteDocuments) -> None:
    found = status(
        documents,
        JOB,
        Shard(tally={"made": 10, "done": 5, "blank": 1}, called=8, input_tokens=3, output_tokens=1),
        Shard(
            tally={"made": 20, "kept": 2, "failed": 3, "left": 1}, called=21, input_tokens=4, output_tokens=2
        ),
    )
    assert (found.done, found.failed, found.blank, found.reused) == (37, 3, 1, 7)
    assert (found.called, found.input_tokens, found.output_tokens) == (29, 7, 3)


@pytest.mark.parametrize(
    ("first", "check", "done"),
    [
        ({"made": 60}, {}, 100),  # the check has just begun: what was counted before does not vanish
        ({"made": 60}, {"made": 99}, 100),
        ({"made": 60}, {"made": 100}, 100),
        ({"made": 60}, {"made": 60, "done": 45}, 105),  # the check has found more: rows came in meanwhile
    ],
)
def test_the_check_of_the_whole_sheet_never_makes_the_count_fall(
    documents: SqliteDocuments, first: dict[str, int], check: dict[str, int], done: int
) -> None:
    closed = Shard(closed=True, tally={"made": 40})
    found = status(documents, JOB, closed, Shard(closing=True, first_tally=first, tally=check))
    assert found.done == done


def test_rows_of_a_closed_shard_are_not_counted_twice_once_the_check_has_seen_them(
    documents: SqliteDocuments,
) -> None:
    checking = Shard(closing=True, first_tally={"made": 60}, tally={"made": 104, "failed": 1})
    found = status(documents, JOB, Shard(closed=True, tally={"made": 40}), checking)
    assert (found.done, found.failed, found.rows) == (104, 1, 105)


def test_more_rows_done_than_there_were_at_the_start_leave_no_negative_rest(
    documents: SqliteDocuments,
) -> None:
    found = status(documents, JOB, Shard(tally={"made": 130}, rate=2.0, updated_at=NOW))
    assert (found.rows, found.seconds_left) == (130, 0.0)


def test_the_final_count_is_the_jobs_own(documents: SqliteDocuments) -> None:
    over = replace(
        JOB,
        status="done",
        tally={"made": 7, "done": 2, "kept": 1, "failed": 3, "left": 4, "blank": 6},
        finished_at=ago(5),
    )
    found = status(documents, over, Shard(closed=True, tally={"made": 99}, rate=3.0, updated_at=NOW))
    assert (found.done, found.failed, found.blank, found.reused, found.rows) == (10, 3, 6, 3, 17)
    assert (found.rate, found.seconds_left, found.finished_at) == (None, None, ago(5))


# how fast


def test_rate_and_time_left_while_it_runs(documents: SqliteDocuments) -> None:
    found = status(
        documents,
        JOB,
        Shard(tally={"made": 20}, rate=1.5, updated_at=ago(1)),
        Shard(tally={"made": 30}, rate=2.5, updated_at=ago(FRESH - 1)),
    )
    assert (found.rate, found.seconds_left) == (4.0, 50 / 4.0)


@pytest.mark.parametrize(
    "shard",
    [
        Shard(rate=2.0, updated_at=ago(FRESH)),
        Shard(rate=2.0, updated_at=ago(9999)),
        Shard(rate=2.0, updated_at=None),
        Shard(rate=0.0, updated_at=NOW),
        Shard(rate=2.0, updated_at=NOW, closed=True),
    ],
)
def test_a_rate_that_is_not_the_present_one_is_not_shown(documents: SqliteDocuments, shard: Shard) -> None:
    found = status(documents, JOB, shard)
    assert (found.rate, found.seconds_left) == (None, None)


@pytest.mark.parametrize("over", ["queued", "paused", "done", "cancelled"])
def test_only_a_running_job_has_a_rate(documents: SqliteDocuments, over: Any) -> None:
    found = status(documents, replace(JOB, status=over), Shard(rate=2.0, updated_at=NOW))
    assert (found.rate, found.seconds_left) == (None, None)


# what may have been paid twice

RISKY = (
    Shard(repeated=2, timeouts=1, risks=[5, 4], owner="w", at_risk=24),
    Shard(repeated=1, timeouts=0, risks=[3], owner="", at_risk=24),
)


@pytest.mark.parametrize(
    ("state", "repeated"),
    [
        ("queued", 4 + 12),
        ("running", 4 + 12),
        ("paused", 4 + 12),
        ("cancelled", 4 + 12 + 24),  # nobody will commit what the present worker has called
        ("done", 4),  # all is committed: what was not counted was not repeated
    ],
)
def test_repeats_are_the_most_there_may_be(documents: SqliteDocuments, state: Any, repeated: int) -> None:
    assert status(documents, replace(JOB, status=state), *RISKY).repeated == repeated


# failures and notes


def test_failures_are_grouped_counted_by_row_and_name_their_first_rows(documents: SqliteDocuments) -> None:
    rows = [7, 300, 12, 45, 2, 99, 1000, 8, 51, 77, 64, 23]
    for number, row in enumerate(rows):
        put(documents, failure_path("j", f"b{number}"), Failure("blocked", row, 1, 1).to_data())
    put(documents, failure_path("j", "e"), Failure("empty", 5, 40, 1).to_data())
    put(documents, failure_path("other", "x"), Failure("rejected", 6, 1, 1).to_data())
    groups = status(documents, JOB, Shard()).failures
    assert [(group.error_class, group.count) for group in groups] == [("blocked", 12), ("empty", 40)]
    assert groups[0].rows == tuple(sorted(rows)[:ROWS_NAMED])
    assert groups[1].rows == (5,)


def test_lost_results_are_mentioned(documents: SqliteDocuments) -> None:
    assert status(documents, JOB, Shard(), Shard(lost=1)).notes == ("results_lost",)


@pytest.mark.parametrize("newest", ["job", "shard"])
def test_it_was_updated_when_anything_of_it_was(documents: SqliteDocuments, newest: str) -> None:
    job = replace(JOB, updated_at=ago(5 if newest == "job" else 500))
    found = status(documents, job, Shard(updated_at=ago(50)), Shard())
    assert found.updated_at == ago(5 if newest == "job" else 50)


# which job


def test_the_active_job_comes_before_the_last_one(documents: SqliteDocuments) -> None:
    status(documents, JOB, Shard(), job_id="old")
    status(documents, JOB, Shard(), job_id="new")
    for active, last, expected in [("new", "old", "new"), (None, "old", "old"), ("new", None, "new")]:
        put(documents, spreadsheet_path("s"), {"active_job": active, "last_job": last})
        found = latest_status(documents, "s")
        assert found is not None
        assert found.job_id == expected
    put(documents, spreadsheet_path("s"), {"schedule": None})
    assert latest_status(documents, "s") is None


def test_jobs_are_listed_newest_first_and_no_more_than_asked_for(documents: SqliteDocuments) -> None:
    for number in range(5):
        status(documents, replace(JOB, created_at=ago(number * 60)), Shard(), job_id=f"j{number}")
    assert [found.job_id for found in list_jobs(documents, limit=3)] == ["j0", "j1", "j2"]


def test_reading_a_status_changes_nothing(documents: SqliteDocuments) -> None:
    status(documents, JOB, Shard(owner="w", at_risk=1))
    before = {path: documents.get(path) for path in (job_path("j"), shard_path("j", 0))}
    job_status(documents, "j")
    assert {path: documents.get(path) for path in before} == before
