"""One link at work: scan, calls, commits, display and heartbeat, until something ends it."""

import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from typing import Any

from addon.google.access import WorkerAccess
from addon.google.errors import GoogleError, TryAgain
from addon.jobs import events
from addon.jobs.chain import Chain
from addon.jobs.commit import Committer
from addon.jobs.decide import Policy
from addon.jobs.display import SHOWN_AGAIN, Display, until_settled
from addon.jobs.endings import NO_DISPLAY, Ending, ending_of, of_drive
from addon.jobs.feed import Feed
from addon.jobs.items import Item
from addon.jobs.parts import PartReader, PartWriter
from addon.jobs.people import People
from addon.jobs.pool import Pool
from addon.jobs.records import Failure, Shard, failure_path
from addon.jobs.recovery import recover
from addon.jobs.scan import Scan
from addon.jobs.tools import Tools
from addon.logs import carried, word
from addon.rows.table import Brief, ColumnsGone, SheetGone, Table
from addon.store.documents import Transaction

TICK = 0.25
"""Seconds the main loop sleeps at most: how soon it notices a pause, a stop or the end of its budget."""

GRACE = 15.0
"""Seconds calls under way get when a link's budget is used up."""

GRACE_STOPPING = 6.0
"""The same when the process is told to end: Cloud Run kills it 10 s after SIGTERM, and the rest is for
committing, showing and handing over what came."""

UPLOAD_TRIES = 3
"""Uploads of one batch before the link ends and leaves the rest to the next one."""


class LinkWork:
    """The work of one link under its lease.

    Parameters
    ----------
    worker
        Clients for the job's sheet and files.
    chain, shard
        The claimed shard, and what it was when claimed.
    chains
        How many chains of the job are open: they share the worker's quota of requests to Sheets.
    """

    def __init__(
        self,
        tools: Tools,
        worker: WorkerAccess,
        chain: Chain,
        policy: Policy,
        shard: Shard,
        brief: Brief,
        chains: int,
    ) -> None:
        settings, job = tools.settings, policy.job
        self._tools = tools
        self._chain = chain
        self._policy = policy
        self._shard = shard
        self._start = self._renewed = time.monotonic()
        self._people = People(chain, worker.drive, job)
        self._table = Table(worker.sheets, job.spreadsheet_id, job.sheet_id, brief, tools.model)
        self._feed = Feed(settings.concurrency, settings.commit_rows, settings.commit_seconds, time.monotonic)
        beat = settings.display_seconds * max(1, chains)
        self._display = Display(worker.sheets, self._table, job, beat, tools.reach)
        self._writer = PartWriter(worker.drive, job.parts[str(chain.number)], job.part_rows, shard.part)
        self._reader = PartReader(worker.drive)
        self._committer = Committer(
            tools, chain, self._writer, self._feed, policy, self._committed, self._progress
        )
        threads, seconds = settings.concurrency, settings.model_timeout
        self._pool = Pool(
            self._feed, tools.model, brief.instructions, threads, seconds, tools.pace, tools.reach
        )
        self._scanner = ThreadPoolExecutor(1, thread_name_prefix="scan")
        self._scan: Scan | None = None
        self._void: set[str] = set()
        self._lost = 0
        self._told_repeats = 0
        self._written = self._commits = 0
        self._closing, self._dirty = shard.closing, shard.dirty
        self._cursor, self._settled = shard.cursor, Counter(shard.settled)

    def run(self) -> Ending:
        """Work until the link must end; the caller ends it in the store by what this returns."""
        try:
            try:
                self._recover()
                return self._passes()
            except (GoogleError, ColumnsGone, SheetGone) as error:
                return self._wind_down(ending_of(error), commit=not of_drive(error))
        finally:
            self._pool.stop()
            self._scanner.shutdown(wait=False)
            self._display.stop(self._chain.ttl / 6)

    def leave(self, ending: Ending) -> Callable[[Shard], Shard]:
        """What this link has to tell its successor, applied in the transaction that ends it."""
        progress = self._progress()
        in_vain, behind = self._feed.uncommitted, self._display.behind

        def change(shard: Shard) -> Shard:
            return replace(
                shard,
                **progress,
                unshown=shard.unshown or behind,
                risks=[*shard.risks, in_vain] if in_vain else shard.risks,
                silent_links=shard.silent_links + 1 if ending.silent else 0,
            )

        return change

    def tell(self, end: events.LinkEnd) -> None:
        """Say for the log what was done."""
        last = self._committer.last or self._shard
        end.calls, end.repeated = last.called - self._shard.called, last.repeated - self._shard.repeated
        end.rows, end.failed = self._committer.rows["made"], self._committer.rows["failed"]
        end.commits, end.in_vain = self._committer.commits, self._feed.uncommitted

    def tally(self) -> dict[str, int]:
        """What became of the rows: over the whole sheet, once a check has ended."""
        pages = self._scan.pages if self._scan else []
        return dict(self._settled + self._feed.tally(pages))

    def stale_failures(self) -> list[str]:
        """Keys of failures whose rows are no longer in the sheet, where one check saw all of it."""
        if self._scan is None or self._cursor:
            return []
        return sorted(self._scan.failures.keys() - self._scan.failures_met)

    def _recover(self) -> None:
        """Take over from the worker before."""
        self._lost = recover(
            self._tools.documents,
            self._committer,
            self._writer,
            self._policy.job.spreadsheet_id,
            self._void,
            self._chain.deadline,
        )
        if self._shard.silent_links:  # no calls before it is sure that their answers can be kept
            self._chain.write(lambda shard, _: shard)
            self._writer.upload([], self._chain.upload)

    def _passes(self) -> Ending:
        fruitless = 0
        while True:
            ending = self._pass()
            only_shown = self._display.writes > self._written and self._committer.commits == self._commits
            fruitless = fruitless + 1 if only_shown else 0
            if ending is not None:
                return ending
            if not self._closing:
                if not self._chain.finish_pass(self.leave(Ending("closed"))):
                    return Ending("closed")
                self._closing = True
            elif not self._dirty or fruitless >= SHOWN_AGAIN:
                return Ending("finished")
            self._dirty = False
            self._cursor, self._settled = 0, Counter()
            self._feed.forget()

    def _pass(self) -> Ending | None:
        number = None if self._closing else self._chain.number
        self._lost += self._scan.lost if self._scan else 0
        self._written, self._commits = self._display.writes, self._committer.commits
        self._scan = Scan(
            self._tools.documents,
            self._table,
            self._feed,
            self._display,
            self._reader,
            self._policy,
            number,
            max(self._cursor, 1),
            self._void,
        )
        future = self._scanner.submit(carried(self._scan.run))
        future.add_done_callback(lambda _: self._feed.poke())
        while True:
            self._commit(self._feed.batch(TICK))
            self._beat()
            ending = self._why_end(future)
            if ending is not None:
                return self._wind_down(ending)
            if future.done() and self._feed.idle:
                self._flush(self._chain.ttl)
                self._dirty = self._unchecked()
                return None

    def _unchecked(self) -> bool:
        """Whether another pass must follow: a write after the scan has read its row was not checked."""
        seen = self._scan is None or self._scan.unchecked == 0
        worked = self._display.writes > self._written or self._committer.commits > self._commits
        return self._dirty or not seen or worked

    def _why_end(self, scanning: Future[None]) -> Ending | None:
        self._pool.check()
        self._display.check()
        if scanning.done():
            scanning.result()
        if self._pool.fatal is not None:
            return Ending("paused", self._pool.fatal)
        if self._pool.suspended is not None:
            silent = "model_silent" if self._pool.silent else None
            return Ending("handed over", delay=self._pool.suspended, silent=silent)
        elapsed = time.monotonic() - self._start
        if self._tools.stopping() or elapsed >= self._tools.settings.link_budget:
            return Ending("handed over")
        if self._writer.trashed:  # Drive writes into it all the same, so what was committed is there
            return Ending("paused", "results_trashed")
        return self._people.stop()

    def _wind_down(self, ending: Ending, *, commit: bool = True) -> Ending:
        """Let calls under way end, commit what they bring, show what is committed."""
        self._feed.close()
        end = time.monotonic() + (GRACE_STOPPING if self._tools.stopping() else GRACE)
        while commit and time.monotonic() < end and self._feed.uncommitted:
            self._commit(self._feed.batch(TICK))
            self._beat()
        if commit and ending.reason not in NO_DISPLAY:
            self._flush(max(1.0, end - time.monotonic()))
        return replace(ending, delay=max(ending.delay, self._pool.told))

    def _commit(self, batch: list[Item]) -> None:
        tries = 0
        while batch:
            try:
                self._committer.commit(batch)
            except TryAgain as error:
                tries += 1
                if tries == UPLOAD_TRIES or self._tools.stopping():
                    raise
                self._pause(error.wait or 2.0**tries)

    def _pause(self, seconds: float) -> None:
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            self._beat()
            time.sleep(min(left, TICK))

    def _beat(self) -> None:
        """Renew the lease in time, and record refused cells."""
        refused = self._display.take_refused()
        now, told = time.monotonic(), self._pool.repeats == self._told_repeats
        if not refused and told and now - self._renewed < self._chain.ttl / 4:
            return
        self._tools.reach("on renew")
        self._told_repeats = self._pool.repeats
        progress, job_id, epoch = self._progress(), self._policy.job_id, self._policy.job.epoch

        def record(tx: Transaction) -> None:
            for key, (row, reason) in refused.items():
                failure = Failure("cell_refused", row + 1, 1, epoch, word(reason))
                tx.set(failure_path(job_id, key), failure.to_data())

        self._chain.write(lambda shard, _: replace(shard, **progress), record)
        events.rows_failed((key, "cell_refused", reason) for key, (_, reason) in refused.items())
        self._renewed = now
        self._dirty = self._dirty or bool(refused)

    def _flush(self, patience: float) -> None:
        until_settled(self._display, self._beat, patience)
        self._beat()

    def _committed(self, item: Item, summary: str) -> None:
        self._void.discard(item.key)
        rows = {row for _, row in item.rows}
        self._display.add(item.key, summary, rows, replace=self._policy.job.mode != "empty_only")

    def _shown_tally(self, more: Counter[str]) -> dict[str, int]:
        """The tally with ``more`` rows; what the worker before had counted, until this one has caught up."""
        now = Counter(self.tally()) + more
        before = Counter(self._shard.tally) if self._closing == self._shard.closing else Counter()
        return dict(now if now.total() >= before.total() else before)

    def _progress(self, more: Counter[str] | None = None) -> dict[str, Any]:
        pages = self._feed.settled(self._scan.pages) if self._scan else []
        lost = self._lost + (self._scan.lost if self._scan else 0)
        return {
            "cursor": pages[-1].end if pages else self._cursor,
            "settled": dict(self._settled + self._feed.tally(pages)),
            "tally": self._shown_tally(more or Counter()),
            "dirty": self._unchecked(),
            "lost": self._shard.lost + lost,
            "timeouts": self._shard.timeouts + self._pool.repeats,
        }
