"""A pass over the sheet, where the summaries are there already."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from itertools import count
from pathlib import Path

import pytest
from stand_ins import FakeDrive, FakeModel, FakeSheets

from addon.google.errors import GoogleError, TryAgain
from addon.jobs.decide import Policy
from addon.jobs.feed import Feed
from addon.jobs.parts import PartReader, PartRow, empty_part, encode
from addon.jobs.records import Job, Result, results_path
from addon.jobs.scan import REFUSED, Scan
from addon.rows.keys import text_hash
from addon.rows.table import Brief, Table
from addon.store.sqlite import SqliteDocuments

BRIEF = Brief(("text",), "Summary", "shorten")
THEN, LATER = datetime(2026, 1, 1, tzinfo=UTC), datetime(9999, 1, 1, tzinfo=UTC)
JOB = Job("s", 0, "new_or_changed", "m", "o", THEN, 1, 1, 1, 0, "f", "r", {"0": ["p"]}, 1000)


class Shown:
    """A display that only notes what it is given."""

    def __init__(self) -> None:
        self.shown: set[str] = set()
        self.missed: set[str] = set()
        self.given: dict[int, str] = {}

    def await_room(self) -> None:
        pass

    def add(self, key: str, text: str, rows: set[int], *, replace: bool) -> None:
        self.given |= dict.fromkeys(rows, text)


def store(documents: SqliteDocuments, path: str, result: Result) -> None:
    documents.transact(lambda transaction: transaction.set(path, result.to_data()))


def table_of(sheets: FakeSheets) -> Table:
    return Table(sheets, "s", 0, BRIEF, FakeModel())  # type: ignore[arg-type]


def scan_of(documents: SqliteDocuments, table: Table, feed: Feed, display: Shown, drive: FakeDrive) -> Scan:
    reader, policy = PartReader(drive), Policy("j", JOB, THEN)  # type: ignore[arg-type]
    return Scan(documents, table, feed, display, reader, policy, None, 1, set())  # type: ignore[arg-type]


def test_summaries_spread_over_many_parts_come_back_with_one_request_a_part_and_no_call(
    tmp_path: Path,
) -> None:
    count, parts = 60, PartReader.KEPT * 3
    sheets = FakeSheets([["text", "Summary"], *([f"text {number}"] for number in range(count))])
    table = table_of(sheets)
    _, (rows,) = table.read([(1, count + 1)])
    written: dict[str, list[PartRow]] = {f"p{number}": [] for number in range(parts)}
    drive, display, feed = FakeDrive(), Shown(), Feed(4, 10, 1.0, lambda: 0.0)
    documents = SqliteDocuments(tmp_path / "store.db")
    for row in rows:
        part, key, summary = f"p{row.index % parts}", row.key or "", f"summary {row.index}"
        written[part].append(PartRow(key, row.index, summary, "m", 1, 1, "t"))
        result = Result(part, 0, text_hash(summary), 9, "another job", "m", 1, 1, THEN, LATER)
        store(documents, f"{results_path('s')}/{key}", result)
    for name, lines in written.items():
        drive.files[name] = empty_part() + encode(lines).encode()

    scan = scan_of(documents, table, feed, display, drive)
    scan.run()

    assert display.given == {row.index: f"summary {row.index}" for row in rows}
    assert scan.lost == 0
    assert feed.idle, "nobody is to be called"
    assert drive.downloads == parts
    documents.close()


@pytest.fixture
def scan(tmp_path: Path) -> Iterator[Callable[[FakeSheets, Feed], Scan]]:
    documents = SqliteDocuments(tmp_path / "store.db")
    yield lambda sheets, feed: scan_of(documents, table_of(sheets), feed, Shown(), FakeDrive())
    documents.close()


def too_many(wait: float = 0.0) -> TryAgain:
    return TryAgain("too many", service="Sheets", status=429, wait=wait)


def refusing(sheets: FakeSheets, reads: set[int], error: Callable[[], GoogleError]) -> FakeSheets:
    """Refuse the reads with these numbers."""
    numbers = count(1)

    def before(name: str) -> None:
        if name == "read" and next(numbers) in reads:
            raise error()

    sheets.before = before
    return sheets


def test_a_scan_that_meets_the_quota_goes_on_where_it_was(
    monkeypatch: pytest.MonkeyPatch, scan: Callable[[FakeSheets, Feed], Scan]
) -> None:
    monkeypatch.setattr("addon.jobs.scan.PAGE_ROWS", 10)
    sheets = FakeSheets([["text", "Summary"], *([f"text {number}"] for number in range(40))], height=41)
    feed = Feed(100, 200, 1.0, lambda: 0.0)
    one = scan(refusing(sheets, {3, 4, 5, 7}, too_many), feed)
    one.run()
    ends = [page.end for page in one.pages]
    assert ends == sorted(set(ends)), "no page twice"
    assert ends[-1] >= 41
    met = set()
    for _ in range(40):
        item = feed.take()
        assert item is not None
        met |= {row for _, row in item.rows}
    assert met == set(range(1, 41)), "no row is left out"


def test_a_scan_that_is_refused_for_minutes_gives_up(scan: Callable[[FakeSheets, Feed], Scan]) -> None:
    sheets = refusing(FakeSheets([["text", "Summary"], ["a"]]), set(range(1, 100)), too_many)
    with pytest.raises(TryAgain):
        scan(sheets, Feed(4, 10, 1.0, lambda: 0.0)).run()
    assert sheets.requests.count("read") == REFUSED


def test_a_scan_whose_link_ends_does_not_wait_for_the_quota(scan: Callable[[FakeSheets, Feed], Scan]) -> None:
    feed = Feed(4, 10, 1.0, lambda: 0.0)
    sheets = refusing(FakeSheets([["text", "Summary"], ["a"]]), {1}, lambda: too_many(3600.0))
    feed.close()
    scan(sheets, feed).run()
    assert sheets.requests == ["info", "read"]
