"""The promises, whatever dies, edits or presses when: seeded chaos around whole jobs in memory."""

import random
import threading
from collections import Counter
from datetime import timedelta
from pathlib import Path

import pytest
from link_world import OUTPUT, SOURCE, World, summary_of

from addon.jobs import display, model, people, pool, scan, work
from addon.jobs import start as starting
from addon.jobs.commands import CommandRefused, cancel, pause, resume, retry
from addon.jobs.records import failures_path
from addon.jobs.sweep import sweep
from addon.llm.base import Blocked, Outcome, Prompt, Transient
from addon.llm.scripted import ScriptedModel
from addon.rows.keys import clean, idempotency_key
from addon.settings import Settings
from addon.store.documents import Transaction

STEPS_BEFORE_ANOTHER_PASS = {
    "after claim",
    "before part upload",
    "after part upload",
    "after commit",
    "after display",
}
"""Where a person may edit so that the job must still notice: a pass over the sheet follows."""

TROUBLES = 150
"""Steps at which something may happen; after them the job is left alone, so that it can end."""


class Crash(Exception):
    """A worker dies here."""


@pytest.fixture(autouse=True)
def small_and_quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Many pages, parts and beats in a sheet of some dozen rows."""
    monkeypatch.setattr(scan, "PAGE_ROWS", 20)
    monkeypatch.setattr(starting, "PART_ROWS", 15)
    monkeypatch.setattr(display, "LARGEST_BEAT", 25)
    monkeypatch.setattr(display, "MOST_PENDING", 50)
    monkeypatch.setattr(pool, "FIRST_PAUSE", 0.001)
    monkeypatch.setattr(people, "STATUS_SECONDS", 0.01)
    monkeypatch.setattr(work, "TICK", 0.02)
    monkeypatch.setattr(model, "OVERDUE", timedelta(0))


class Chaos:
    """What happens to one job, decided by a seed."""

    def __init__(self, seed: int, folder: Path, *, commands: bool) -> None:
        self.random = random.Random(seed)
        self.lock = threading.Lock()
        self.words = [f"text {number}" for number in range(self.random.randrange(1, 120))]
        self.words += ["", "  ", "#REF!", "bad 1", "bad 2"]
        self.flaky = self.random.random() < 0.5
        self.crashes = self.random.choice([0, 0.01, 0.05])
        self.edits = self.random.choice([0, 0.02, 0.1])
        self.commands = 0.03 if commands else 0
        self.left = TROUBLES
        self.job = ""
        self.it = World(
            folder,
            self.random.choices(self.words, k=self.random.randrange(1, 90)),
            model=ScriptedModel(default=self.answer, latency=self.random.choice([0, 0, 0.002])),
            settings=Settings(
                concurrency=self.random.randrange(1, 6),
                commit_rows=self.random.randrange(1, 12),
                commit_seconds=0.01,
                display_seconds=self.random.choice([0.01, 0.05, 60.0]),
                lease_ttl=20.0,
                model_timeout=5.0,
                link_budget=self.random.choice([0.1, 0.3, 280.0, 280.0]),
                rows_per_shard=self.random.choice([10, 30, 1000, 1000]),
            ),
            reach=self.reach,
        )

    def answer(self, prompt: Prompt) -> Outcome | None:
        with self.lock:
            if self.flaky and self.random.random() < 0.1:
                return Transient("rate_limited", wait=0.002, rate_limited=True)
        return Blocked("SAFETY") if prompt.fields[0][1].startswith("bad") else None

    def reach(self, step: str) -> None:
        """Something may happen here; a model adapter never raises, so not around its calls."""
        if step in {"before call", "after call"}:
            return
        with self.lock:
            if not self.job or self.left <= 0:
                return
            self.left -= 1
            if step in STEPS_BEFORE_ANOTHER_PASS and self.random.random() < self.edits:
                self.edit()
            if self.random.random() < self.commands:
                self.press()
            if self.random.random() < self.crashes:
                raise Crash(step)

    def edit(self) -> None:
        """A person sorts, inserts, deletes, types, clears."""
        rows, word = self.it.sheets.rows, self.random.choice(self.words)
        row = self.random.randrange(1, len(rows)) if len(rows) > 1 else 1
        match self.random.randrange(6):
            case 0:
                rows[1:] = self.random.sample(rows[1:], len(rows) - 1)
            case 1:
                rows.insert(row, ["new", word])
            case 2:
                del rows[row : row + 1]
            case 3:
                self.it.sheets.put(row, SOURCE, word + self.random.choice(["", " edited"]))
            case 4:
                self.it.sheets.put(row, OUTPUT, "")
            case 5:
                rows[1:1] = [["", ""] for _ in range(3)]

    def press(self) -> None:
        """A person presses a button."""
        documents, tasks, job = self.it.documents, self.it.tasks, self.job
        try:
            match self.random.randrange(4):
                case 0:
                    pause(documents, job)
                case 1:
                    resume(documents, tasks, job)
                case 2:
                    cancel(documents, job)
                case 3:
                    retry(documents, tasks, job)
        except CommandRefused:
            pass  # the button was not there at that moment

    def work(self, mode: str) -> None:
        """Start, and deliver tasks, expire leases, sweep and resume until the job is over."""
        self.job = self.it.start(mode=mode)
        for _ in range(400):
            if self.it.tasks.queue:
                try:
                    self.it.link()
                except Crash:
                    self.leases_run_out()
                continue
            status = self.it.status(self.job).status
            if status in {"done", "cancelled"}:
                return
            if status == "paused":
                resume(self.it.documents, self.it.tasks, self.job)
            else:
                self.leases_run_out()
                sweep(self.it.documents, self.it.tasks, self.it.access)  # type: ignore[arg-type]
        pytest.fail("the job does not end")

    def leases_run_out(self) -> None:
        """Whoever held a lease is dead."""
        for number in range(self.it.job(self.job).shards):
            path = f"jobs/{self.job}/shards/{number}"

            def expire(tx: Transaction, path: str = path) -> None:
                snapshot = tx.get(path)
                if snapshot is not None and snapshot.data["owner"]:
                    tx.update(path, {"expires_at": tx.now - timedelta(seconds=1)})

            self.it.documents.transact(expire)

    def check(self) -> None:
        """Promises 1 to 3, as far as the sheet and the job's status show them."""
        found = self.it.documents.query(failures_path(self.job))
        failed = {item.path.rsplit("/", 1)[1] for item in found}
        unsaid = 0
        for row in self.it.sheets.rows[1:]:
            _, text, shown = [*row, "", "", ""][:3]
            key = idempotency_key("scripted", {}, "Summarise.", [("text", clean(text))])
            if text.strip():
                assert shown in {summary_of(text), ""}, "promise 3: beside its text"
                assert shown or key in failed, "promise 1: summarised or listed"
                unsaid += not shown
        assert self.it.status(self.job).failed == unsaid
        answers = Counter(
            call.prompt.fields for call in self.it.model.calls if not isinstance(call.outcome, Transient)
        )
        repeats = sum(count - 1 for count in answers.values())
        assert self.it.status(self.job).repeated >= repeats, "promise 2: the job says what was repeated"


@pytest.mark.parametrize("mode", ["new_or_changed", "all"])
@pytest.mark.parametrize("seed", range(25))
def test_promises_1_to_3_under_crashes_and_edits(tmp_path: Path, seed: int, mode: str) -> None:
    chaos = Chaos(seed, tmp_path, commands=False)
    try:
        chaos.work(mode)
        assert chaos.it.status(chaos.job).status == "done"
        chaos.check()
    finally:
        chaos.it.documents.close()


@pytest.mark.parametrize("seed", range(100, 125))
def test_promise_3_whatever_buttons_are_pressed_too(tmp_path: Path, seed: int) -> None:
    chaos = Chaos(seed, tmp_path, commands=True)
    try:
        chaos.work("new_or_changed")
        chaos.left = 0
        chaos.work("new_or_changed")
        chaos_job = chaos.it.status(chaos.job)
        assert chaos_job.status == "done"
        for row in chaos.it.sheets.rows[1:]:
            _, text, shown = [*row, "", "", ""][:3]
            if text.strip():
                assert shown in {summary_of(text), ""}
    finally:
        chaos.it.documents.close()
