"""One job, one fault that strikes it at one step, and what must hold afterwards."""

import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path
from typing import Any, Literal, get_args
from unittest.mock import patch

import pytest
from mortal import AtStep, Killed, Lives, MovableClock
from stack import QUICK, Stack, assert_all_beside_their_text, running, wait_until

from addon.google.errors import GoogleError
from addon.jobs import chain as chains
from addon.jobs import endings, pool
from addon.jobs import model as decisions
from addon.jobs.chain import LinkMessage
from addon.jobs.link import LinkAnswer, run_link
from addon.jobs.records import Shard, results_path
from addon.jobs.start import Started, start
from addon.jobs.steps import Step
from addon.llm.base import Outcome, Prompt, Transient
from addon.llm.scripted import ScriptedModel
from addon.logs import belonging
from addon.rows.keys import idempotency_key
from addon.store.documents import Documents, StoreError

Fault = Literal["crash", "stall past the lease", "lost answer", "duplicate delivery"]
FAULTS: tuple[Fault, ...] = get_args(Fault)
STEPS: tuple[Step, ...] = get_args(Step)
CLICK: tuple[Step, ...] = ("after create", "after prepare", "before first enqueue")

ROWS = 24
TTL = 30.0
SETTINGS = replace(
    QUICK,
    lease_ttl=TTL,
    concurrency=4,
    commit_rows=6,
    commit_seconds=0.02,
    display_seconds=0.05,
    link_budget=0.2,
)
"""So that the first link has to hand over: its calls alone take longer than its budget."""
LATENCY = 0.05
JUMP = timedelta(seconds=2 * TTL)

NTH: dict[Step, int] = {"before call": 6, "after call": 6, "before part upload": 2, "after commit": 2}
"""The how-manieth time a step is struck, where not the first: something is committed by then."""

LOST: dict[Step, str] = {
    "after create": "drive",
    "after prepare": "documents",
    "before first enqueue": "tasks",
    "after claim": "documents",
    "before call": "model",
    "after call": "documents",
    "before part upload": "drive",
    "after part upload": "documents",
    "before commit": "documents",
    "after commit": "documents",
    "before display": "sheets",
    "mid-display": "sheets",
    "after display": "documents",
    "on renew": "documents",
    "before release": "documents",
    "before enqueue": "tasks",
}
"""Whose answer gets lost: that of the next call that changes something."""

NOT_POSSIBLE: dict[tuple[Step, Fault], str] = {
    ("after enqueue", "lost answer"): "only the answer to the queue is left to be lost: a duplicate delivery",
    ("after release", "lost answer"): "only the answer to the queue is left to be lost: a duplicate delivery",
}


@dataclass
class Scene:
    """One job and the one fault that is to strike it."""

    stack: Stack
    lives: Lives
    sid: str = ""
    model: ScriptedModel = field(default_factory=ScriptedModel)
    paid_again: list[str] = field(default_factory=list)
    doubles: list[LinkAnswer | Started] = field(default_factory=list)

    def click(self, request_id: str) -> Started:
        """Press Run summaries, in a life of its own."""
        with self.lives.one(), self.stack.user() as user:
            request = self.stack.request(self.sid, request_id=request_id)
            return start(self.stack.services.desk, self.lives.wrap_user(user), request)

    def click_until_started(self, request_id: str) -> str:
        """Press until there is a job; its id. A card that comes after an error asks anew."""
        for number in range(20):
            try:
                return self.click(f"{request_id}{number or ''}").job_id
            except (Killed, GoogleError, StoreError):
                continue
        pytest.fail("pressed in vain")

    def double(self) -> None:
        """Deliver this link's task, or this click, once more while it is at work."""
        said = belonging()
        if "step" not in said:
            again: Callable[[], Any] = lambda: self.click("the-click")  # noqa: E731  # beside its twin
        else:
            message = LinkMessage(str(said["job"]), int(said["shard"]), int(said["epoch"]), int(said["step"]))
            again = lambda: self.deliver(message)  # noqa: E731
        with ThreadPoolExecutor(1) as executor:  # a thread of no life
            self.doubles.append(executor.submit(again).result())

    def deliver(self, message: LinkMessage) -> LinkAnswer:
        """Deliver a link's task by hand."""
        return run_link(self.stack.services.tools, self.stack.services.tasks, message)

    def shard(self, job: str) -> Shard:
        """The job's only shard."""
        snapshot = self.stack.documents.get(f"jobs/{job}/shards/0")
        assert snapshot is not None
        return Shard.from_data(snapshot.data)


@contextmanager
def scene(folder: Path, documents: Documents, step: Step, act: Callable[["Scene"], None]) -> Iterator[Scene]:
    """A product in which ``act`` happens at a step."""
    clock = MovableClock(documents)
    lives = Lives(clock, JUMP)
    found: list[Scene] = []
    reach = AtStep(lives, step, NTH.get(step, 1), lambda: act(found[0]))
    model = ScriptedModel(latency=LATENCY, default=lambda prompt: look(found[0], prompt))
    if step == "on renew":
        model.enqueue([Transient("timeout")])  # told at once, in a renewal before its time
    passed = lambda: time.monotonic() + clock.ahead.total_seconds()  # noqa: E731  # a worker's own clock
    with (
        patch.object(chains, "monotonic", passed),
        running(
            folder,
            documents=documents,
            settings=SETTINGS,
            model=model,
            reach=reach,
            sweep=0.2,
            wrap=lives.wrap,
        ) as stack,
    ):
        found.append(Scene(stack, lives, model=model))
        found[0].sid = stack.sheet([f"inquiry {number}" for number in range(ROWS)])
        yield found[0]
        lives.thaw()


def look(it: Scene, prompt: Prompt) -> Outcome | None:
    """Note a call for something that is committed, or in a part, already. A frozen life cannot know."""
    key = idempotency_key("scripted", {}, "Summarise.", prompt.fields)
    life, files = it.lives.mine(), it.stack.simulator.files
    in_index = it.stack.documents.get(f"{results_path(it.sid)}/{key}") is not None
    parts = [file.id for file in files.list() if "part" in file.name]
    known = in_index or any(key.encode() in files.read(part) for part in parts)
    if known and (life is None or life.thawed is None):  # it may have been frozen while this looked
        it.paid_again.append(key)
    return None


@pytest.fixture
def nobody_waits_long(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody waits for long."""
    monkeypatch.setattr(decisions, "OVERDUE", timedelta(0))
    monkeypatch.setattr(endings, "RETRY_DELAY", 0.1)
    monkeypatch.setattr(pool, "FIRST_PAUSE", 0.01)


def strike(fault: Fault, step: Step) -> Callable[[Scene], None]:
    """What is to happen at the step."""

    def act(it: Scene) -> None:
        match fault:
            case "crash":
                it.lives.die()
            case "stall past the lease":
                it.lives.freeze()
            case "lost answer":
                it.lives.lose_next(LOST[step])
            case "duplicate delivery":
                it.lives.struck.set()
                it.double()

    return act


def freeze_before_the_upload(it: Scene) -> None:
    """Stop the worker once its lease is renewed, right before it uploads."""
    it.lives.freeze_before("drive", "update")


def play(it: Scene, step: Step, fault: Fault) -> str:
    """Click, let the fault strike, and go on as people, queue and sweep do; the job's id in the end."""
    if step in CLICK and fault == "stall past the lease":
        with ThreadPoolExecutor(1) as executor:
            late = executor.submit(it.click, "the-click")
            assert it.lives.struck.wait(30)
            job = it.click_until_started("another-click")
            it.stack.wait(job)
            it.lives.thaw()
            late.exception()
        return job
    job = it.click_until_started("the-click")
    assert it.lives.struck.wait(30), "the step was not reached"
    it.stack.wait(job)
    it.lives.thaw()
    wait_until(lambda: not it.stack.simulator.queue.pending(), "the queue to be empty")
    return job


def assert_promises(it: Scene, job: str) -> None:
    """Nothing lost, nothing paid again once it was committed, nothing beside another's text, one job."""
    status = it.stack.status(job)
    assert (status.status, status.done, status.failed) == ("done", ROWS, 0), "promise 1"
    assert it.paid_again == [], "promise 2: called again although committed"
    extra = len(it.model.calls) - ROWS
    assert extra <= status.repeated, "promise 2: the job says how many may have been repeated"
    timed_out = sum(isinstance(call.outcome, Transient) for call in it.model.calls)
    assert extra - timed_out <= SETTINGS.concurrency + SETTINGS.commit_rows, "promise 2: so few"
    assert_all_beside_their_text(it.stack, it.sid)
    spreadsheet = it.stack.documents.get(f"spreadsheets/{it.sid}")
    assert spreadsheet is not None
    assert spreadsheet.data["active_job"] is None, "promise 4: free for the next one"
    keys = [row.key for row in it.stack.parts(job)]
    assert len(set(keys)) == ROWS, "every result is in the file"
    shard = it.shard(job)
    assert (shard.owner, shard.closed) == ("", True), "no lease is left"
    for double in it.doubles:
        if isinstance(double, Started):
            assert (double.job_id, double.created) == (job, False), "promise 4: the same job"
        else:
            assert double.outcome in {"held", "behind", "over"}, double
