"""A pass over the sheet: read pages ahead of need, look every key up, hand on what must be done."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from addon.google.errors import TryAgain
from addon.jobs.decide import Policy, Verdict, decide
from addon.jobs.display import Display
from addon.jobs.feed import Feed
from addon.jobs.items import Item, Page
from addon.jobs.parts import PartReader
from addon.jobs.records import Failure, Result, failure_path, failures_path, results_path
from addon.rows.keys import shard_of, text_hash
from addon.rows.table import PAGE_ROWS, Row, Table
from addon.store.documents import MAX_IN_VALUES, Documents

WIDER = 2
"""Several chains each read the whole sheet; wider pages keep their requests few, at the cost of memory."""

LOOKS = 2
"""Times a row is looked up in one pass: again if its key was committed after its page was looked up."""

REFUSED = 10
"""Times in a row Sheets may say that there are too many requests: each took the session half a minute."""


class Closed(Exception):
    """The feed was closed while a page was being offered: the link is ending."""


class Scan:
    """One pass, in its own thread.

    Parameters
    ----------
    number
        The shard whose keys to work on; ``None`` for the check of the whole sheet.
    first
        Zero-based row to begin at.
    void
        Keys whose result counts for nothing: its part does not hold it.

    Attributes
    ----------
    pages
        Pages met so far, in order.
    unchecked
        Rows that another pass must look at: their summaries were given to the display, or they would have
        to be called although their key has been committed in this pass.
    lost
        Results whose summary is no longer in their part; their rows are made again.
    failures
        The job's failures by key, as they were when the pass began.
    failures_met
        Those of their keys that a row without a summary still has.
    """

    def __init__(
        self,
        documents: Documents,
        table: Table,
        feed: Feed,
        display: Display,
        reader: PartReader,
        policy: Policy,
        number: int | None,
        first: int,
        void: set[str],
    ) -> None:
        self.pages: list[Page] = []
        self.unchecked = 0
        self.lost = 0
        self.failures_met: set[str] = set()
        self.failures: dict[str, Failure] = {}
        self._documents = documents
        self._table = table
        self._feed = feed
        self._display = display
        self._reader = reader
        self._policy = policy
        self._number = number
        self._first = first
        self._void = void
        self._results = results_path(policy.job.spreadsheet_id)

    def run(self) -> None:
        """Work through the sheet, to its end or until the feed is closed."""
        self.failures = failures_of(self._documents, self._policy.job_id)
        try:
            for end, rows in self._pages():
                page = Page(end)
                self.pages.append(page)
                self._page(page, [row for row in rows if self._mine(row)])
                self._feed.seal(page)
        except Closed:
            return

    def _pages(self) -> Iterator[tuple[int, list[Row]]]:
        """The sheet's pages; where Sheets had too many requests, they go on after the last one it gave."""
        size = PAGE_ROWS * min(self._policy.job.shards, WIDER)
        first, refused = self._first, 0
        while True:
            try:
                for end, rows in self._table.pages(first, page_rows=size):
                    first, refused = end, 0
                    yield end, rows
                return
            except TryAgain as error:
                refused += 1
                if not error.throttled or refused == REFUSED:
                    raise
                if self._feed.wait_closed(error.wait):
                    raise Closed from error

    def _mine(self, row: Row) -> bool:
        if self._number is None:
            return True
        if row.key is None:
            return self._number == 0
        return shard_of(row.key, self._policy.job.shards) == self._number

    def _page(self, page: Page, rows: list[Row]) -> None:
        for _ in range(LOOKS):
            self._reader.begin()
            results = self._look_up(rows)
            ours = self._ours(rows, results)
            tally: Counter[str] = Counter()
            again: list[Row] = []
            for row in _part_by_part(rows, results):
                if not self._row(page, row, results, ours, tally):
                    again.append(row)
            for kind, count in tally.items():
                self._feed.settle(page, kind, count)
            if not again:
                return
            rows = again
            self._learn_failures(rows)
        self.unchecked += len(rows)

    def _learn_failures(self, rows: list[Row]) -> None:
        """Notice failures that were committed since the pass began."""
        found = self._documents.get_many(failure_path(self._policy.job_id, row.key or "") for row in rows)
        self.failures |= {item.id: Failure.from_data(item.data) for item in found.values()}

    def _row(
        self,
        page: Page,
        row: Row,
        results: dict[str, Result],
        ours: set[str],
        tally: Counter[str],
    ) -> bool:
        """Do what one row needs; ``False`` where it must be looked up anew."""
        key = row.key or ""
        result = None if key in self._void else results.get(key)
        verdict = self._verdict(row, result)
        if verdict is Verdict.ASK:
            verdict = Verdict.SHOW if text_hash(row.output) in ours else Verdict.DONE
        if verdict is Verdict.FAILED and text_hash(row.output) in ours:
            self._display.add(key, "", {row.index}, replace=True)  # it was made from an earlier text
            self.unchecked += 1
        if verdict is Verdict.SHOW and result is not None:
            text = self._reader.text(result.part, key, result.sha256)
            if text is not None:
                self._display.await_room()
                self._display.add(key, text, {row.index}, replace=bool(row.output))
                self.unchecked += 1
                verdict = Verdict.DONE
            else:
                self.lost += 1
                verdict = Verdict.CALL
        if key in self.failures and verdict not in {Verdict.DONE, Verdict.KEPT}:
            self.failures_met.add(key)
        if verdict is Verdict.CALL:
            return self._call(page, row, key in results)
        made = verdict is Verdict.DONE and result is not None and result.job == self._policy.job_id
        tally["made" if made else verdict.value] += 1
        return True

    def _call(self, page: Page, row: Row, replaces: bool) -> bool:
        item = Item(
            key=row.key or "",
            fields=row.fields,
            rows=[(page, row.index)],
            replaces=replaces,
            failed_before=row.key in self.failures,
            answer=row.problem,
        )
        accepted = self._feed.offer(item)
        if accepted is False:
            raise Closed
        return accepted is True

    def _verdict(self, row: Row, result: Result | None) -> Verdict:
        failure, key = self.failures.get(row.key or ""), row.key
        policy = replace(self._policy, crashed=True) if key in self._display.missed else self._policy
        shown = key in self._display.shown and key not in self._display.missed
        return decide(policy, row, result, failure, shown=shown)

    def _look_up(self, rows: list[Row]) -> dict[str, Result]:
        keys = {row.key for row in rows if row.key is not None}
        found = self._documents.get_many(f"{self._results}/{key}" for key in keys)
        return {item.id: Result.from_data(item.data) for item in found.values()}

    def _ours(self, rows: list[Row], results: dict[str, Result]) -> set[str]:
        """Hashes of those output cells that hold a summary of ours, made from another text.

        A cell beside a summarised row may hold what a person wrote, which stays, or what an earlier text of
        the row got, which must not stay.
        """
        doubtful = {
            text_hash(row.output)
            for row in rows
            if row.key is not None
            and row.output
            and self._verdict(row, results.get(row.key)) in {Verdict.ASK, Verdict.FAILED}
        }
        ours: set[str] = set()
        asked: list[Any] = sorted(doubtful)
        for first in range(0, len(asked), MAX_IN_VALUES):
            some = asked[first : first + MAX_IN_VALUES]
            for item in self._documents.query(self._results, where=[("sha256", "in", some)]):
                ours.add(item.data["sha256"])
        return ours


def failures_of(documents: Documents, job_id: str) -> dict[str, Failure]:
    """All failures of a job by key."""
    found = documents.query(failures_path(job_id))
    return {item.id: Failure.from_data(item.data) for item in found}


def _part_by_part(rows: list[Row], results: dict[str, Result]) -> list[Row]:
    """Rows without a result first, then those of each part together: so each part is read once a page."""
    return sorted(rows, key=lambda row: results[row.key].part if row.key in results else "")
