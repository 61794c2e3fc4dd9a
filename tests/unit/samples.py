"""A job's record, for tests that decide about one."""

from datetime import UTC, datetime
from typing import get_args

from addon.jobs.records import Job, Status

NOW = datetime(2026, 3, 4, 5, 6, tzinfo=UTC)
STATUSES: tuple[Status, ...] = get_args(Status)
JOB = Job(
    spreadsheet_id="s",
    sheet_id=0,
    mode="new_or_changed",
    model="m",
    owner="u",
    created_at=NOW,
    shards=3,
    rows=9,
    distinct=9,
    blank=0,
    folder="f",
    run_file="r",
    parts={"0": ["a0", "a1", "a2"], "1": ["b0"], "2": ["c0", "c1"]},
    part_rows=1000,
    prepared=True,
)
