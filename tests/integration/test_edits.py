"""Promise 3 whatever people do to the sheet meanwhile: random edits at random steps of a job.

After every write of ours each cell just written stands beside the text it was made from; in the end every row
has its summary, or what a person has typed instead. ``make edits`` draws 2,000 examples, others each time.
"""

import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import hypothesis
import pytest
from hypothesis import given
from hypothesis import strategies as st
from stack import QUICK, Stack, running, summary_of

from addon.jobs import people, scan, work
from addon.jobs.display import Display, Pending, Written
from addon.jobs.steps import Step
from addon.rows.table import Row
from addon.simulator.workbook import Workbook

Kind = Literal[
    "sort",
    "sort back",
    "insert row",
    "insert blank rows",
    "delete row",
    "duplicate row",
    "move row",
    "edit text",
    "blank text",
    "swap texts",
    "clear cell",
    "type into cell",
    "insert column left",
    "insert column between",
    "delete other column",
    "rename sheet",
    "add sheet",
]
KINDS: tuple[Kind, ...] = Kind.__args__  # type: ignore[attr-defined]

STEPS: tuple[Step, ...] = (
    "after claim",
    "before part upload",
    "after part upload",
    "before commit",
    "after commit",
    "before display",
    "after display",
)
"""After each of these the job looks at the sheet once more. Not so after a beat that looks again for rows
it has not found (they may be deleted) and has nothing to write: that may be the last thing a job does, so
nobody edits before such a beat. ``mid-display`` is the moment between look and write, for which nobody can
promise anything but repair: see `test_repairs`."""


@dataclass(frozen=True)
class Edit:
    """What a person does the ``nth`` time a step is reached; ``row`` and ``text`` say to what."""

    step: Step
    nth: int
    kind: Kind
    row: int
    text: int


EDITS = st.lists(
    st.builds(
        Edit,
        st.sampled_from(STEPS),
        st.integers(1, 3),
        st.sampled_from(KINDS),
        st.integers(0, 30),
        st.integers(0, 8),
    ),
    max_size=6,
)
TEXTS = st.lists(st.integers(0, 8), min_size=1, max_size=14)
"""Numbers of texts: few different ones, so that rows are often equal; 0 is blank."""


def text_of(number: int) -> str:
    """A text of the sheet."""
    return f"inquiry {number} about something" if number else ""


@dataclass
class People:
    """Those who edit one sheet, and who look at what is written into it."""

    workbook: Workbook
    edits: Sequence[Edit]
    reached: Counter[str] = field(default_factory=Counter)
    typed: int = 0
    wrong: list[tuple[str, str]] = field(default_factory=list)
    before: list[list[str]] = field(default_factory=list)
    moment: threading.RLock = field(default_factory=threading.RLock)
    """Held from a look at the sheet to the write it leads to, and for an edit."""
    searching: bool = False
    """The beat going on only looks for what was not found before."""

    def reach(self, step: Step) -> None:
        """Edit what is to be edited here; compare what is shown before and after a write."""
        with self.moment:
            if step == "mid-display":
                self.before = self.workbook.cells(0)
            elif step == "after display":
                self.look()
            if step in STEPS and not (step == "before display" and self.searching):
                self.reached[step] += 1
                for edit in self.edits:
                    if (edit.step, edit.nth) == (step, self.reached[step]):
                        self.do(edit)

    def look(self) -> None:
        """Whatever has changed in the output column is beside its text."""
        now, before = self.workbook.cells(0), self.before
        source, output = now[0].index("text"), now[0].index("Summary")
        for number, row in enumerate(now[1:], 1):
            shown = row[output] if output < len(row) else ""
            then = before[number] if number < len(before) else []
            if shown and shown != (then[output] if output < len(then) else ""):
                text = row[source] if source < len(row) else ""
                if shown != summary_of(text):
                    self.wrong.append((text, shown))

    def do(self, edit: Edit) -> None:
        """Do one thing, as far as the sheet is such that it can be done."""
        book, cells = self.workbook, self.workbook.cells(0)
        last = len(cells) - 1
        source = cells[0].index("text")
        row = 1 + edit.row % last if last else 1
        text = text_of(edit.text)
        match edit.kind:
            case "sort":
                book.sort(0, source)
            case "sort back":
                book.sort(0, source, descending=True)
            case "insert row":
                book.insert_rows(0, row, rows=[(*["new"] * source, text)])
            case "insert blank rows":
                book.insert_rows(0, row, 2)
            case "delete row" if last > 1:
                book.delete_rows(0, row)
            case "duplicate row":
                book.insert_rows(0, row, rows=[tuple(cells[min(row, last)])])
            case "move row" if last > 1:
                moved = tuple(cells[row])
                book.delete_rows(0, row)
                book.insert_rows(0, 1 + (edit.text % (last - 1)), rows=[moved])
            case "edit text":
                book.set_cell(0, row, source, text)
            case "blank text":
                book.set_cell(0, row, source, "")
            case "swap texts" if last > 1:
                other = 1 + (row % last)
                pair = [cells[n][source] if source < len(cells[n]) else "" for n in (row, other)]
                book.set_cell(0, row, source, pair[1])
                book.set_cell(0, other, source, pair[0])
            case _:
                self.do_to_columns(edit, cells, row)

    def do_to_columns(self, edit: Edit, cells: list[list[str]], row: int) -> None:
        """The same for what concerns the output column and the columns as such."""
        book, output = self.workbook, cells[0].index("Summary") if "Summary" in cells[0] else None
        match edit.kind:
            case "clear cell" if output is not None:
                book.set_cell(0, row, output, "")
            case "type into cell" if output is not None:
                self.typed += 1
                book.set_cell(0, row, output, f"typed {self.typed}")
            case "insert column left":
                book.insert_columns(0, 0)
            case "insert column between" if output is not None:
                book.insert_columns(0, output)
            case "delete other column" if cells[0][0] not in {"text", "Summary"}:
                book.delete_columns(0, 0)
            case "rename sheet":
                book.rename_sheet(0, f"Sheet {edit.text} {edit.row}")
            case "add sheet":
                book.add_sheet()
            case _:
                return


@pytest.fixture(scope="module")
def product(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Stack, list[People]]]:
    """One running product for all examples; the people of the present one are in the list."""
    present: list[People] = []

    def reach(step: Step) -> None:
        for somebody in present:
            somebody.reach(step)

    def write(display: Display, pending: dict[str, Pending]) -> Written:
        with ExitStack() as moments:
            for somebody in present:
                moments.enter_context(somebody.moment)
                somebody.searching = all(item.misses for item in pending.values())
            return original(display, pending)

    original = Display._write
    settings = replace(
        QUICK, concurrency=2, commit_rows=3, commit_seconds=0.01, display_seconds=0.01, rows_per_shard=8
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Display, "_write", write)
        patch.setattr(scan, "PAGE_ROWS", 5)
        patch.setattr(work, "TICK", 0.01)
        patch.setattr(people, "STATUS_SECONDS", 0.05)
        with running(tmp_path_factory.mktemp("edits"), settings=settings, reach=reach, sweep=0.2) as stack:
            yield stack, present


def state_of(stack: Stack, sid: str) -> list[tuple[str, str]]:
    """Text and summary of every row, however ragged."""
    header, *rows = stack.cells(sid)
    source, output = header.index("text"), header.index("Summary")
    return [tuple(row[n] if n < len(row) else "" for n in (source, output)) for row in rows]  # type: ignore[misc]


def play(product: tuple[Stack, list[People]], texts: list[int], edits: Sequence[Edit]) -> None:
    """Run a job over a sheet of texts while people edit it, and see whether the promises were kept."""
    stack, present = product
    rows: list[list[Any]] = [["id", "text"], *([str(n), text_of(text)] for n, text in enumerate(texts))]
    rows.append(["last", text_of(1)])
    sid = stack.workbook("Inquiries", rows)
    editors = People(stack.simulator.workbooks.get(sid), edits)
    present[:] = [editors]
    try:
        status = stack.run(sid)
    finally:
        present.clear()
    assert status.status == "done", status.reason
    assert editors.wrong == [], "promise 3: beside a text it was not made from"
    for text, shown in state_of(stack, sid):
        if text and not shown.startswith("typed"):
            assert shown == summary_of(text), "promise 1 and 3: every row has its summary"
        assert text or not shown or shown.startswith(("typed", "summary of")), "nothing else was written"


@hypothesis.settings(suppress_health_check=list(hypothesis.HealthCheck))
@given(texts=TEXTS, edits=EDITS)
def test_promises_1_and_3_under_random_edits(
    product: tuple[Stack, list[People]], texts: list[int], edits: list[Edit]
) -> None:
    play(product, texts, edits)


SORT = (Edit("before display", 1, "sort back", 0, 0),)


def test_rows_sorted_right_before_a_write_keep_their_summaries(product: tuple[Stack, list[People]]) -> None:
    play(product, list(range(1, 9)), SORT)


@pytest.mark.twin
def test_without_the_look_at_the_text_right_before_a_write(
    product: tuple[Stack, list[People]], monkeypatch: pytest.MonkeyPatch
) -> None:
    def where_they_were(_: Display, rows: list[Row], pending: dict[str, Pending]) -> list[Row]:
        return [
            replace(row, key=key) for key, one in pending.items() for row in rows if row.index in one.rows
        ]

    monkeypatch.setattr(Display, "_writable", where_they_were)
    play(product, list(range(1, 9)), SORT)
