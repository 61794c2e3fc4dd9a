"""Display: committed summaries appear in the sheet, on their own slower beat.

The sheet is never the truth. Before each write the source cells of the target rows are read again, and a
summary goes only beside the text it was made from, wherever that row is by now.
"""

import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass
from itertools import islice

from addon.google.errors import GoogleError, OutOfGrid, TryAgain
from addon.google.sheets import Sheets
from addon.jobs import events
from addon.jobs.records import Job
from addon.jobs.steps import Reach
from addon.logs import carried
from addon.rows.keys import is_blank
from addon.rows.locate import runs, targets, windows
from addon.rows.table import ColumnsGone, Row, SheetGone, Table

LARGEST_BEAT = 2_000
"""Summaries one beat takes: with texts of 1,000 characters about Google's recommended 2 MB a request."""

MOST_PENDING = 2 * LARGEST_BEAT
"""So many summaries may wait before the scan, which can be faster than the sheet, waits for it."""

MISSES = 2
"""Beats a summary is looked for near where its row was; after that the next pass over the sheet finds it."""

FIRST_PAUSE, LONGEST_BEAT = 1.0, 120.0
"""Seconds between two writes, at least and at most, once Sheets says that there were too many requests. Its
quota is 60 reads and 60 writes a minute (Sheets API limits), for all jobs of one worker account together."""

SHOWN_AGAIN = 5
"""Passes in a row that only wrote what did not stay (a merged cell takes no value), until the job ends."""


@dataclass(frozen=True, slots=True)
class Written:
    """What one beat wrote: ``found`` counts the rows of each key that are still there, ``cells`` those given
    to Sheets, ``refused`` those it did not take."""

    found: Counter[str]
    cells: int = 0
    refused: int = 0


@dataclass(slots=True)
class Pending:
    """A summary to be shown: its text, the rows (zero-based) it was last seen in, and whether it replaces
    what another text left in the cell."""

    text: str
    rows: set[int]
    replace: bool
    misses: int = 0


class Display:
    """Writes pending summaries every ``seconds``, one read and one write request a beat.

    While Sheets gets too many requests the beats come less often; that ends nothing.

    Attributes
    ----------
    shown
        Keys this worker has written or found written.
    missed
        Keys with a row that was not where it had been: what stands in its cell was not replaced yet.
    writes
        Write requests made.
    error
        What ended the display, where it was more than a passing fault.
    """

    def __init__(
        self,
        sheets: Sheets,
        table: Table,
        job: Job,
        seconds: float,
        reach: Reach,
    ) -> None:
        self.shown: set[str] = set()
        self.missed: set[str] = set()
        self.error: Exception | None = None
        self.writes = 0
        self._sheets = sheets
        self._table = table
        self._job = job
        self._seconds = self._pause = seconds
        self._throttled = False
        self._reach = reach
        self._pending: dict[str, Pending] = {}
        self._lock = threading.Lock()
        self._wake = threading.Condition(self._lock)
        self._flushing = False
        self._stopped = False
        self._faults = 0
        self._refused: dict[str, tuple[int, str]] = {}
        self._executor = ThreadPoolExecutor(1, thread_name_prefix="display")
        self._running = self._executor.submit(carried(self._run))

    def add(self, key: str, text: str, rows: set[int], *, replace: bool) -> None:
        """Have a summary shown at the next beat."""
        with self._lock:
            known = self._pending.get(key)
            if known is not None:
                rows = rows | known.rows
                replace = replace or known.replace
            self._pending[key] = Pending(text, rows, replace)

    def await_room(self) -> None:
        """Wait while as many summaries are pending as the memory and one request should hold."""
        with self._wake:
            while len(self._pending) >= MOST_PENDING and not (self._stopped or self.ended):
                self._flushing = True
                self._wake.notify_all()
                self._wake.wait(self._seconds)

    def flush(self) -> None:
        """Ask for a beat now; `settled` tells when it is over."""
        with self._wake:
            self._flushing = True
            self._wake.notify_all()

    def take_refused(self) -> dict[str, tuple[int, str]]:
        """Key to row and reason of summaries whose cell Sheets has refused since the last call."""
        with self._lock:
            refused, self._refused = self._refused, {}
        return refused

    @property
    def settled(self) -> bool:
        """Whether no flush is under way."""
        with self._lock:
            return not self._flushing

    @property
    def behind(self) -> bool:
        """Whether there are summaries that are committed and not in the sheet yet."""
        with self._lock:
            return bool(self._pending or self.missed)

    def stop(self, patience: float) -> None:
        """End the thread, waiting at most ``patience`` seconds for a request under way."""
        with self._wake:
            self._stopped = True
            self._wake.notify_all()
        wait([self._running], patience)
        self._executor.shutdown(wait=False)

    @property
    def ended(self) -> bool:
        """Whether nothing will be shown any more; `check` says why."""
        return self.error is not None or self._running.done()

    def check(self) -> None:
        """Raise what ended the display for good, if anything did."""
        if self.error is not None:
            raise self.error
        if self._running.done():
            self._running.result()

    def _run(self) -> None:
        while True:
            with self._wake:
                if self._throttled:  # whoever wants to see something at once has to wait as well
                    self._wake.wait_for(lambda: self._stopped, self._pause)
                elif not (self._flushing or self._stopped):
                    self._wake.wait(self._pause)
                if self._stopped:
                    return
                flushing = self._flushing
            more = self._beat_safely()
            with self._wake:
                if flushing and not more:
                    self._flushing = False
                self._wake.notify_all()

    def _beat_safely(self) -> bool:
        """One beat, and whether it left some; what Google says is kept for the link's main loop, which
        decides what it means."""
        try:
            more = self._beat()
            self._faults, self._throttled = 0, False
            self._pause = max(self._seconds, self._pause / 2)
            return more
        except TryAgain as error:
            if error.throttled:
                self._throttled = True
                self._pause = min(max(2 * self._pause, FIRST_PAUSE), LONGEST_BEAT)
                return True
            self._faults += 1
            if self._faults >= 3:
                self.error = error
        except (GoogleError, ColumnsGone, SheetGone) as error:
            self.error = error
        return False

    def _beat(self) -> bool:
        with self._lock:
            pending = dict(islice(self._pending.items(), LARGEST_BEAT))
        if not pending:
            return False
        began = time.monotonic()
        try:
            written = self._write(pending)
        except OutOfGrid:  # rows were deleted below: the next pass finds where the summaries belong
            written = Written(Counter())
            self._forget(set(pending))
        else:
            self._tick_off(pending, written.found)
        self._tell(pending, written, time.monotonic() - began)
        return len(pending) == LARGEST_BEAT

    def _tell(self, pending: dict[str, Pending], written: Written, seconds: float) -> None:
        moved = sum(written.found[key] < len(item.rows) for key, item in pending.items())
        with self._lock:
            left = len(self._pending)
        events.display_beat(written.cells, moved, left, written.refused, seconds)

    def _write(self, pending: dict[str, Pending]) -> Written:
        """Write the summaries whose rows are still there."""
        self._reach("before display")
        where = windows(index for item in pending.values() for index in item.rows)
        layout, pages = self._table.read(where)
        rows = [row for page in pages for row in page]
        cells = targets(self._writable(rows, pending), {key: item.text for key, item in pending.items()})
        self._reach("mid-display")
        keys = {row.index: row.key for row in rows if row.key is not None}
        refused: Mapping[int, str] = {}
        if cells:
            refused = self._sheets.write(
                self._job.spreadsheet_id, self._job.sheet_id, runs(layout.output, cells)
            )
            self.writes += 1
            self._reach("after display")
            with self._lock:
                self._refused.update({keys[index]: (index, reason) for index, reason in refused.items()})
        return Written(Counter(keys.values()), len(cells), len(refused))

    def _writable(self, rows: list[Row], pending: dict[str, Pending]) -> list[Row]:
        return [
            row for row in rows if row.key in pending and (is_blank(row.output) or pending[row.key].replace)
        ]

    def _tick_off(self, written: dict[str, Pending], found: Counter[str]) -> None:
        with self._lock:
            for key, item in written.items():
                if found[key] < len(item.rows):
                    self.missed.add(key)
                else:
                    self.missed.discard(key)
                if self._pending.get(key) is not item:
                    continue  # more of its rows were met meanwhile
                item.misses += 1
                if key in found:
                    self.shown.add(key)
                if key in found or item.misses >= MISSES:
                    del self._pending[key]

    def _forget(self, keys: set[str]) -> None:
        with self._lock:
            self.missed |= keys
            for key in keys:
                self._pending.pop(key, None)


def until_settled(display: Display, beat: Callable[[], None], patience: float) -> bool:
    """Flush and wait, calling ``beat`` (lease renewal) meanwhile; whether it ended within ``patience``."""
    display.flush()
    end = time.monotonic() + patience
    while not (display.settled or display.ended):
        if time.monotonic() > end:
            return False
        beat()
        time.sleep(0.005)
    return True
