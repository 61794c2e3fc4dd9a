"""A pass over the sheet, where the summaries are there already."""

from datetime import UTC, datetime
from pathlib import Path

from stand_ins import FakeDrive, FakeModel, FakeSheets

from addon.jobs.decide import Policy
from addon.jobs.feed import Feed
from addon.jobs.parts import PartReader, PartRow, empty_part, encode
from addon.jobs.records import Job, Result, results_path
from addon.jobs.scan import Scan
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


def test_summaries_spread_over_many_parts_come_back_with_one_request_a_part_and_no_call(
    tmp_path: Path,
) -> None:
    count, parts = 60, PartReader.KEPT * 3
    sheets = FakeSheets([["text", "Summary"], *([f"text {number}"] for number in range(count))])
    table = Table(sheets, "s", 0, BRIEF, FakeModel())  # type: ignore[arg-type]
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

    scan = Scan(
        documents,
        table,
        feed,
        display,  # type: ignore[arg-type]
        PartReader(drive),  # type: ignore[arg-type]
        Policy("j", JOB, THEN),
        None,
        1,
        set(),
    )
    scan.run()

    assert display.given == {row.index: f"summary {row.index}" for row in rows}
    assert scan.lost == 0
    assert feed.idle, "nobody is to be called"
    assert drive.downloads == parts
    documents.close()
