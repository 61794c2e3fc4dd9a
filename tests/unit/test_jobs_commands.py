"""What people do to a job: every command in every status, twice, and while others do something else."""

from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from threading import Barrier
from typing import Any

import pytest
from samples import JOB as SAMPLE
from samples import NOW, STATUSES

from addon.google.errors import TryAgain
from addon.jobs import model
from addon.jobs.access import Access
from addon.jobs.chain import Chain, read_job, read_shards
from addon.jobs.commands import CommandRefused, cancel, pause, release, resume, retry
from addon.jobs.records import (
    Failure,
    Job,
    Shard,
    Status,
    failure_path,
    job_path,
    shard_path,
    spreadsheet_path,
    task_name,
)
from addon.jobs.sweep import sweep
from addon.settings import Settings
from addon.store.sqlite import SqliteDocuments

JOB = replace(SAMPLE, epoch=4)
SHARDS = {
    0: Shard(epoch=4, step=6, closed=True, tally={"made": 2}),
    1: Shard(
        epoch=4,
        step=2,
        owner="w",
        fence=3,
        at_risk=24,
        attempts=model.MAX_ATTEMPTS,
        expires_at=NOW + timedelta(seconds=50),
        cursor=5,
    ),
    2: Shard(epoch=4, step=1, due_at=NOW, nudges=1, silent_links=3),
}


class Queue:
    """Records what is enqueued; names are taken once, as in Cloud Tasks."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self.bodies: list[dict[str, str | int]] = []
        self.due: list[datetime | None] = []
        self.broken = False

    def enqueue(
        self, name: str, path: str, body: Mapping[str, str | int], *, not_before: datetime | None = None
    ) -> bool:
        assert path == "/tasks/link"
        if self.broken:
            raise TryAgain("no queue", service="Tasks")
        new = name not in self.names
        self.names.append(name)
        self.bodies.append(dict(body))
        self.due.append(not_before)
        return new


class World:
    """One spreadsheet with one job."""

    def __init__(self, documents: SqliteDocuments) -> None:
        self.documents = documents
        self.queue: Any = Queue()

    def put(self, status: Status, **changes: Any) -> None:
        reason = "protected" if status == "paused" else None
        over = status in model.OVER
        job = replace(JOB, status=status, reason=reason, finished_at=NOW if over else None, **changes)
        shards = {
            n: replace(shard, closed=True, owner="") if status == "done" else shard
            for n, shard in SHARDS.items()
        }
        active = {"active_job": None if over else "j", "last_job": "j", "schedule": "kept"}

        def work(tx: Any) -> None:
            tx.set(job_path("j"), job.to_data())
            for number, shard in shards.items():
                tx.set(shard_path("j", number), shard.to_data())
            tx.set(spreadsheet_path("s"), active)

        self.documents.transact(work)

    def fail(self, key: str, error_class: str = "blocked") -> None:
        data = Failure(error_class, 3, 1, 4).to_data()
        self.documents.transact(lambda tx: tx.set(failure_path("j", key), data))

    @property
    def job(self) -> Job:
        return read_job(self.documents, "j")

    @property
    def shards(self) -> dict[int, Shard]:
        return read_shards(self.documents, "j", self.job)

    @property
    def spreadsheet(self) -> dict[str, Any]:
        snapshot = self.documents.get(spreadsheet_path("s"))
        assert snapshot is not None
        return snapshot.data

    @property
    def everything(self) -> Any:
        return self.job, self.shards, self.spreadsheet

    def pause(self) -> None:
        pause(self.documents, "j")

    def cancel(self) -> None:
        cancel(self.documents, "j")

    def resume(self) -> None:
        resume(self.documents, self.queue, "j")

    def retry(self, error_class: str | None = None) -> None:
        retry(self.documents, self.queue, "j", error_class)

    def release(self) -> None:
        release(self.documents, self.queue, "j")

    def refused(self, command: Callable[[], None]) -> str:
        """The refusal's code; nothing may have changed by it."""
        before = self.everything
        with pytest.raises(CommandRefused) as refusal:
            command()
        assert self.everything == before
        assert self.queue.names == []
        return refusal.value.code

    def assert_enqueued(self, *numbers: int) -> None:
        """The present step of these shards, and no other, is in the queue and due."""
        shards = self.shards
        assert self.queue.names == [task_name("j", number, shards[number]) for number in numbers]
        expected = [
            {"job": "j", "shard": n, "epoch": shards[n].epoch, "step": shards[n].step} for n in numbers
        ]
        assert self.queue.bodies == expected
        assert self.queue.due == [NOW] * len(numbers)


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    documents = SqliteDocuments(tmp_path / "store.sqlite", clock=lambda: NOW)
    yield World(documents)
    documents.close()


COMMANDS: dict[str, Callable[[World], None]] = {
    "pause": World.pause,
    "cancel": World.cancel,
    "resume": World.resume,
    "retry": World.retry,
    "release": World.release,
}


@pytest.mark.parametrize("command", COMMANDS)
def test_a_job_that_does_not_exist_is_a_refusal(world: World, command: str) -> None:
    with pytest.raises(CommandRefused, match="no_such_job"):
        COMMANDS[command](world)


AFTER: dict[tuple[str, str], str] = {
    ("pause", "queued"): "paused",
    ("pause", "running"): "paused",
    ("pause", "paused"): "paused",
    ("pause", "done"): "refused already_over",
    ("pause", "cancelled"): "refused already_over",
    ("cancel", "queued"): "cancelled",
    ("cancel", "running"): "cancelled",
    ("cancel", "paused"): "cancelled",
    ("cancel", "done"): "refused already_over",
    ("cancel", "cancelled"): "cancelled",
    ("resume", "queued"): "queued",
    ("resume", "running"): "running",
    ("resume", "paused"): "running",
    ("resume", "done"): "refused already_over",
    ("resume", "cancelled"): "refused already_over",
    ("retry", "queued"): "refused still_running",
    ("retry", "running"): "refused still_running",
    ("retry", "paused"): "refused still_running",
    ("retry", "done"): "running",
    ("retry", "cancelled"): "running",
    ("release", "queued"): "queued",
    ("release", "running"): "running",
    ("release", "paused"): "paused",
    ("release", "done"): "done",
    ("release", "cancelled"): "cancelled",
}


@pytest.mark.parametrize("status", STATUSES)
@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_in_every_status(world: World, command: str, status: Status) -> None:
    world.put(status)
    world.fail("k")
    after = AFTER[command, status]
    if after.startswith("refused "):
        assert world.refused(lambda: COMMANDS[command](world)) == after.removeprefix("refused ")
        return
    COMMANDS[command](world)
    assert world.job.status == after
    over = after in model.OVER
    assert world.spreadsheet == {"active_job": None if over else "j", "last_job": "j", "schedule": "kept"}
    assert (world.job.finished_at is not None) is over
    assert (world.job.reason is not None) is (after == "paused")


@pytest.mark.parametrize("status", STATUSES)
@pytest.mark.parametrize("command", sorted(set(COMMANDS) - {"release"}))
def test_the_same_command_again_changes_nothing_and_enqueues_nothing(
    world: World, command: str, status: Status
) -> None:
    if AFTER[command, status].startswith("refused"):
        return
    world.put(status)
    world.fail("k")
    COMMANDS[command](world)
    before, names = world.everything, list(world.queue.names)
    COMMANDS[command](world)
    assert world.everything == before
    assert world.queue.names == names


def test_pausing_keeps_the_first_reason(world: World) -> None:
    world.put("paused")
    world.pause()
    assert world.job.reason == "protected"
    world.put("running")
    world.pause()
    assert world.job.reason == "by_person"


@pytest.mark.parametrize("status", ["queued", "running", "paused"])
def test_cancelling_leaves_the_leases_and_another_jobs_claim_on_the_spreadsheet(
    world: World, status: Status
) -> None:
    world.put(status)
    world.documents.transact(lambda tx: tx.update(spreadsheet_path("s"), {"active_job": "another"}))
    world.cancel()
    assert world.shards == SHARDS
    assert world.spreadsheet["active_job"] == "another"


def test_resuming_enqueues_every_open_shard_in_a_new_epoch(world: World) -> None:
    world.put("paused")
    world.resume()
    assert world.job.epoch == 5
    shards = world.shards
    assert shards[0] == SHARDS[0], "what is closed stays closed"
    for number in (1, 2):
        assert shards[number] == model.reopened(SHARDS[number], 5, NOW, from_start=False)
    assert shards[1].cursor == 5, "it goes on where it was"
    world.assert_enqueued(1, 2)


@pytest.mark.parametrize("status", ["done", "cancelled"])
@pytest.mark.parametrize("error_class", [None, "blocked"])
def test_retrying_enqueues_every_shard_from_the_start(
    world: World, status: Status, error_class: str | None
) -> None:
    world.put(status, tally={"made": 9})
    world.fail("k")
    before = world.shards
    world.retry(error_class)
    job = world.job
    assert (job.epoch, job.retry_epoch, job.retry_class, job.tally) == (5, 5, error_class, {})
    assert world.shards == {n: model.reopened(before[n], 5, NOW, from_start=True) for n in before}
    assert world.spreadsheet["active_job"] == "j"
    world.assert_enqueued(0, 1, 2)


@pytest.mark.parametrize("status", ["done", "cancelled"])
@pytest.mark.parametrize("error_class", [None, "empty"])
def test_retrying_nothing_is_refused(world: World, status: Status, error_class: str | None) -> None:
    world.put(status)
    if error_class:
        world.fail("k", "blocked")
    assert world.refused(lambda: world.retry(error_class)) == "nothing_failed"


@pytest.mark.parametrize("status", ["done", "cancelled"])
def test_retrying_while_another_job_works_on_the_spreadsheet_is_refused(world: World, status: Status) -> None:
    world.put(status)
    world.fail("k")
    world.documents.transact(lambda tx: tx.update(spreadsheet_path("s"), {"active_job": "another"}))
    assert world.refused(world.retry) == "another_job_active"


def test_a_retry_that_was_paused_is_resumed_and_not_begun_again(world: World) -> None:
    world.put("done")
    world.fail("k")
    world.retry()
    world.pause()
    world.queue.names.clear()
    epoch = world.job.epoch
    world.retry()
    assert (world.job.status, world.job.epoch, world.queue.names) == ("paused", epoch, [])
    world.resume()
    assert (world.job.status, world.job.retry_epoch) == ("running", epoch)


def test_the_holder_from_before_a_retry_writes_nothing_more(world: World) -> None:
    world.put("cancelled")
    world.fail("k")
    chain = Chain(world.documents, world.queue, "j", 1, 60.0)
    chain.fence = SHARDS[1].fence
    chain.write(lambda shard, now: shard)
    world.retry()
    for write in (
        lambda: chain.write(lambda shard, now: shard),
        lambda: chain.hand_over(lambda shard: shard),
        lambda: chain.let_go(lambda shard: shard),
        lambda: chain.finish_job(lambda shard: shard, {}, []),
    ):
        with pytest.raises(model.Refused, match="fenced"):
            write()
    assert world.job.status == "running"


@pytest.mark.parametrize("status", ["queued", "running"])
def test_releasing_takes_the_lease_at_once_and_gives_the_step_its_tries_back(
    world: World, status: Status
) -> None:
    world.put(status)
    world.release()
    shards = world.shards
    assert shards[0] == SHARDS[0]
    world.assert_enqueued(1, 2)
    _, taken, unclean = model.claim(world.job, shards[1], (4, 2), "next", NOW, 60.0, 24)
    assert unclean
    assert taken.risks == [24], "what the dead worker may have called still counts"
    with pytest.raises(model.Refused, match="fenced"):
        model.held(taken, SHARDS[1].fence)


def test_releasing_again_and_again_enqueues_fresh_names_of_one_step(world: World) -> None:
    world.put("running")
    for _ in range(3):
        world.release()
    assert len(set(world.queue.names)) == 6
    assert {(body["shard"], body["step"]) for body in world.queue.bodies} == {(1, 2), (2, 1)}
    shard = world.shards[1]
    _, taken, _ = model.claim(world.job, shard, (4, 2), "a", NOW, 60.0, 24)
    with pytest.raises(model.Refused, match="held"):
        model.claim(world.job, taken, (4, 2), "b", NOW, 60.0, 24)


@pytest.mark.parametrize("status", ["queued", "running"])
@pytest.mark.parametrize("command", ["pause", "cancel", "release"])
def test_a_job_whose_files_are_still_being_made_gets_no_link(
    world: World, command: str, status: Status
) -> None:
    world.put(status, prepared=False)
    COMMANDS[command](world)
    assert world.queue.names == []


@pytest.mark.parametrize("command", ["resume", "retry", "release"])
def test_links_that_could_not_be_enqueued_are_enqueued_by_the_sweep(tmp_path: Path, command: str) -> None:
    now = [NOW]
    documents = SqliteDocuments(tmp_path / "store.sqlite", clock=lambda: now[0])
    try:
        world = World(documents)
        world.put({"resume": "paused", "retry": "done", "release": "running"}[command])  # type: ignore[arg-type]
        world.fail("k")
        world.queue.broken = True
        with pytest.raises(TryAgain):
            COMMANDS[command](world)
        assert world.job.status == "running"
        world.queue.broken = False
        now[0] += timedelta(minutes=2)
        idle = Access(documents, None, Settings())  # type: ignore[arg-type]  # there is nothing to withdraw
        assert (
            sweep(documents, world.queue, idle) == len(world.queue.names) == (3 if command == "retry" else 2)
        )
    finally:
        documents.close()


# several at once


@pytest.mark.parametrize(
    ("command", "status"), [("resume", "paused"), ("retry", "done"), ("retry", "cancelled")]
)
def test_a_command_pressed_by_many_at_once_is_carried_out_once(
    world: World, command: str, status: Status
) -> None:
    world.put(status)
    world.fail("k")
    barrier = Barrier(8)

    def press() -> None:
        barrier.wait(20)
        COMMANDS[command](world)

    with ThreadPoolExecutor(8) as executor:
        for pressed in [executor.submit(press) for _ in range(8)]:
            pressed.result(30)
    assert world.job.epoch == 5
    world.assert_enqueued(*((0, 1, 2) if command == "retry" else (1, 2)))


@pytest.mark.parametrize("seed", range(6))
def test_whoever_wins_the_job_is_in_one_state_and_the_spreadsheet_agrees(world: World, seed: int) -> None:
    """Pause, resume, cancel and retry at once, in whatever order they come through."""
    world.put("paused" if seed % 2 else "running")
    world.fail("k")
    barrier = Barrier(5)

    def press(command: str) -> str:
        barrier.wait(20)
        try:
            COMMANDS[command](world)
        except CommandRefused as refusal:
            return refusal.code
        return ""

    with ThreadPoolExecutor(5) as executor:
        pressed = {command: executor.submit(press, command) for command in COMMANDS}
        answers = {command: future.result(30) for command, future in pressed.items()}
    job, shards, spreadsheet = world.everything
    assert answers["cancel"] == answers["release"] == ""
    retried = job.retry_epoch > 0
    assert job.status in ({"running", "paused"} if retried else {"cancelled"})
    assert spreadsheet["active_job"] == ("j" if retried else None)
    assert all(shard.epoch <= job.epoch for shard in shards.values())
