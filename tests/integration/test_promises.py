"""The five promises under crashes, double deliveries, lost answers and people's edits, on both stores.

`Crash` plays a killed worker: it leaves the link without a word to the store, as a kill would.
"""

import logging
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from recording import Recording
from stack import QUICK, Stack, assert_all_beside_their_text, running, summary_of, wait_until

from addon.google.errors import GoogleError
from addon.jobs import endings
from addon.jobs import model as decisions
from addon.jobs import start as starting
from addon.jobs.records import Job, job_path
from addon.llm.base import Fatal, Prompt, Rejected, Text, Transient
from addon.llm.scripted import ScriptedModel
from addon.store.documents import Documents, Transaction

SHORT_LEASE = replace(QUICK, lease_ttl=2.0)

STEPS = ["after claim", "before part upload", "after part upload", "after commit", "before release"]


class Crash(Exception):
    """A worker dies here."""


class Once:
    """Raises `Crash` the ``nth`` time a step is reached, and once only."""

    def __init__(self, step: str, nth: int = 1) -> None:
        self.step, self.left = step, nth
        self.lock = threading.Lock()

    def __call__(self, step: str) -> None:
        """A step is reached."""
        with self.lock:
            if step == self.step:
                self.left -= 1
                if self.left == 0:
                    raise Crash(step)


def texts(count: int) -> list[str]:
    """Different texts."""
    return [f"inquiry {number} about something" for number in range(count)]


@pytest.mark.parametrize("step", STEPS)
def test_promises_1_and_2_a_worker_dies_at_any_step(tmp_path: Path, documents: Documents, step: str) -> None:
    nth = 1 if step in {"after claim", "before release"} else 2
    with running(tmp_path, documents=documents, settings=SHORT_LEASE, reach=Once(step, nth)) as stack:
        sid = stack.sheet(texts(60))
        status = stack.run(sid)
        assert (status.status, status.done, status.failed) == ("done", 60, 0)
        assert_all_beside_their_text(stack, sid)
        repeats = len(stack.model.calls) - 60
        assert repeats <= QUICK.concurrency + QUICK.commit_rows
        assert status.repeated >= repeats
        assert sorted(row.summary for row in stack.parts(status.job_id)) == sorted(map(summary_of, texts(60)))


def test_promise_2_what_reached_the_part_is_adopted_and_not_paid_again(
    tmp_path: Path, documents: Documents
) -> None:
    with running(
        tmp_path, documents=documents, settings=SHORT_LEASE, reach=Once("after part upload")
    ) as stack:
        sid = stack.sheet(texts(QUICK.commit_rows // 2))
        status = stack.run(sid)
        assert status.done == QUICK.commit_rows // 2
        uploaded = {row.key for row in stack.parts(status.job_id)}
        calls = Counter(call.prompt.fields for call in stack.model.calls)
        assert len(uploaded) == len(calls)
        assert len(stack.model.calls) - len(calls) <= QUICK.concurrency


def test_a_late_holder_is_fenced_off_and_changes_nothing(
    tmp_path: Path, documents: Documents, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "addon.jobs")
    monkeypatch.setattr(decisions, "OVERDUE", timedelta(seconds=0))
    stalled, go_on = threading.Event(), threading.Event()

    def stall_first(step: str) -> None:
        if step == "before part upload" and not stalled.is_set():
            stalled.set()
            go_on.wait(30)

    with running(tmp_path, documents=documents, settings=SHORT_LEASE, reach=stall_first) as stack:
        sid = stack.sheet(texts(30))
        job = stack.start(sid).job_id
        assert stalled.wait(10)
        status = stack.wait(job)
        before = stack.parts(job)
        assert "fenced" not in caplog.text
        go_on.set()
        wait_until(lambda: "fenced" in caplog.text, "the late holder to be refused")
        assert (status.status, status.done) == ("done", 30)
        assert status.repeated >= len(stack.model.calls) - 30
        assert stack.parts(job) == before
        assert_all_beside_their_text(stack, sid)


def test_promise_4_clicks_at_once_make_one_job(stack: Stack) -> None:
    sid = stack.sheet(texts(30))
    barrier = threading.Barrier(6)

    def click(_: int) -> tuple[str, bool]:
        barrier.wait()
        started = stack.start(sid)
        return started.job_id, started.created

    with ThreadPoolExecutor(6) as executor:
        answers = list(executor.map(click, range(6)))
    assert len({job for job, _ in answers}) == 1
    assert sum(created for _, created in answers) == 1
    assert stack.wait(answers[0][0]).done == 30
    assert len(stack.model.calls) == 30


def test_promise_4_a_replayed_click_returns_its_job_even_when_that_is_over(stack: Stack) -> None:
    sid = stack.sheet(texts(10))
    first = stack.start(sid, request_id="the-click")
    again = stack.start(sid, request_id="the-click")
    stack.wait(first.job_id)
    later = stack.start(sid, request_id="the-click")
    assert (first.created, again.created, later.created) == (True, False, False)
    assert first.job_id == again.job_id == later.job_id
    assert len(stack.model.calls) == 10


def test_promise_4_every_task_delivered_twice_calls_each_row_once(stack: Stack) -> None:
    stack.simulator.faults.add("tasks.dispatch", "duplicate", times=None)
    sid = stack.sheet(texts(60))
    status = stack.run(sid)
    assert (status.done, len(stack.model.calls)) == (60, 60)
    assert_all_beside_their_text(stack, sid)


def test_links_hand_over_before_any_limit_and_leave_no_task_behind(
    tmp_path: Path, documents: Documents
) -> None:
    settings = replace(QUICK, link_budget=0.4, concurrency=4)
    model = ScriptedModel(latency=0.05)
    with running(tmp_path, documents=documents, settings=settings, model=model) as stack:
        sid = stack.sheet(texts(60))
        status = stack.run(sid)
        assert (status.done, len(model.calls), status.repeated) == (60, 60, 0)
        assert model.max_concurrent <= 4
        assert stack.simulator.counts["tasks.create"] > 1
        wait_until(lambda: not stack.simulator.queue.pending(), "the queue to be empty")


@pytest.mark.parametrize("fault", ["never delivered", "never enqueued"])
def test_a_lost_link_heals_by_the_sweep(
    tmp_path: Path, documents: Documents, monkeypatch: pytest.MonkeyPatch, fault: str
) -> None:
    monkeypatch.setattr(decisions, "OVERDUE", timedelta(seconds=0.5))
    with running(tmp_path, documents=documents) as stack:
        if fault == "never delivered":
            stack.simulator.faults.add("tasks.dispatch", "never")
        else:
            stack.simulator.faults.add("tasks.create", "status", times=3, status=503)
        sid = stack.sheet(texts(10))
        assert stack.run(sid).done == 10


def test_a_link_that_could_not_enqueue_the_next_one_heals_by_its_redelivery(
    tmp_path: Path, documents: Documents
) -> None:
    settings = replace(QUICK, link_budget=0.3, concurrency=2)
    model = ScriptedModel(latency=0.05)
    with running(tmp_path, documents=documents, settings=settings, model=model, sweep=None) as stack:
        faults = stack.simulator.faults
        second = lambda _, body: b"-0-1-1" in body  # noqa: E731  # reads best where it is used
        fault = faults.add("tasks.create", "status", times=3, match=second, status=503)
        status = stack.run(stack.sheet(texts(30)))
        assert fault.hits == 3
        assert (status.done, len(model.calls)) == (30, 30)


def test_only_one_link_is_live_however_many_tasks_are_delivered(tmp_path: Path, documents: Documents) -> None:
    live, most, lock = [0], [0], threading.Lock()

    def watch(step: str) -> None:
        with lock:
            if step == "after claim":
                live[0] += 1
                most[0] = max(most[0], live[0])
            if step == "before release":
                live[0] -= 1

    settings = replace(QUICK, link_budget=0.3)
    model = ScriptedModel(latency=0.02)
    with running(tmp_path, documents=documents, settings=settings, model=model, reach=watch) as stack:
        stack.simulator.faults.add("tasks.dispatch", "duplicate", times=None)
        sid = stack.sheet(texts(80))
        assert stack.run(sid).done == 80
        assert most[0] == 1


def test_lost_and_refused_answers_of_google_lose_nothing_and_make_nothing_twice(
    stack: Stack, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(decisions, "OVERDUE", timedelta(seconds=0.5))
    faults = stack.simulator.faults
    for kind in ("drive.create", "drive.update", "sheets.write", "sheets.read", "tasks.create"):
        faults.add(kind, "lost_answer")  # type: ignore[arg-type]
        faults.add(kind, "status", status=503, with_effect=True)  # type: ignore[arg-type]
        faults.add(kind, "status", status=429)  # type: ignore[arg-type]
    sid = stack.sheet(texts(30))
    for _ in range(10):  # a click has a short patience: pressing again is what a person does
        try:
            job = stack.start(sid).job_id
        except GoogleError as error:
            assert "inquiry" not in str(error)
        else:
            break
    else:
        pytest.fail("ten clicks in vain")
    status = stack.wait(job)
    assert (status.status, status.reason) == ("done", None)
    names = Counter(file.name for file in stack.simulator.files.list() if "part" in file.name)
    assert max(names.values()) == 1
    assert len(stack.model.calls) == 30
    assert_all_beside_their_text(stack, sid)


def test_somebody_clearing_and_typing_into_cells_changes_nothing_but_what_is_shown(
    tmp_path: Path, documents: Documents
) -> None:
    gate = threading.Semaphore(0)
    with running(tmp_path, documents=documents, model=ScriptedModel(gate=gate)) as stack:
        sid = stack.sheet(texts(40))
        job = stack.start(sid).job_id
        gate.release(20)
        workbook = stack.simulator.workbooks.get(sid)
        wait_until(lambda: sum(map(bool, stack.column(sid))) >= 10, "ten summaries to be shown")
        for row in range(1, 8):
            workbook.set_cell(0, row, 2, "")
        gate.release(1000)
        assert stack.wait(job).done == 40
        assert len(stack.model.calls) == 40
        assert_all_beside_their_text(stack, sid)


def test_waits_at_least_as_long_as_the_provider_asks(tmp_path: Path, documents: Documents) -> None:
    moments: list[float] = []

    def note(prompt: Prompt) -> None:
        moments.append(time.monotonic())

    model = ScriptedModel(default=note)  # type: ignore[arg-type]
    model.enqueue([Transient("rate_limited", wait=1.0, rate_limited=True)])
    with running(tmp_path, documents=documents, settings=replace(QUICK, concurrency=1), model=model) as stack:
        sid = stack.sheet(texts(5))
        began = time.monotonic()
        assert stack.run(sid).done == 5
        assert min(moments) - began >= 1.0


def test_a_long_wait_is_spent_between_links_not_inside_one(tmp_path: Path, documents: Documents) -> None:
    model = ScriptedModel()
    model.enqueue([Transient("rate_limited", wait=90.0, rate_limited=True)])
    with running(tmp_path, documents=documents, settings=replace(QUICK, concurrency=1), model=model) as stack:
        sid = stack.sheet(texts(5))
        job = stack.start(sid).job_id
        (task,) = wait_until(
            lambda: [task for task in stack.simulator.queue.pending() if "-1-1" in str(task)],
            "the next link to be enqueued",
        )
        assert stack.status(job).status == "running"
        assert len(model.calls) <= 2, task


def test_a_protected_or_deleted_sheet_pauses_with_its_reason(stack: Stack) -> None:
    sid = stack.sheet(["keep"])
    workbook = stack.simulator.workbooks.get(sid)
    other = workbook.add_sheet("Second")
    for row, cells in enumerate([["id", "text"], ["1", "hello"], ["2", "world"]]):
        for column, text in enumerate(cells):
            workbook.set_cell(other, row, column, text)
    gate = threading.Event()
    stack.services.model._gate = gate  # type: ignore[attr-defined]
    job = stack.start(sid, sheet_id=other).job_id
    assert stack.model.wait_until_in_flight(2)
    workbook.delete_sheet(other)
    gate.set()
    status = stack.wait(job)
    assert (status.status, status.reason) == ("paused", "sheet_gone")


def test_a_deleted_output_column_pauses_and_comes_back_with_it(stack: Stack) -> None:
    gate = threading.Event()
    stack.services.model._gate = gate  # type: ignore[attr-defined]
    sid = stack.sheet(texts(5))
    job = stack.start(sid).job_id
    assert stack.model.wait_until_in_flight(5)
    stack.simulator.workbooks.get(sid).set_cell(0, 0, 2, "Renamed")
    gate.set()
    status = stack.wait(job)
    assert (status.status, status.reason) == ("paused", "column_gone")
    assert len(stack.model.calls) == 5


def test_a_result_past_its_retention_counts_as_gone_and_is_pruned(stack: Stack) -> None:
    sid = stack.sheet(texts(5))
    stack.run(sid)
    collection = f"spreadsheets/{sid}/results"

    def expire(tx: Transaction) -> None:
        for snapshot in expired:
            tx.update(snapshot.path, {"until": stack.documents.now() - timedelta(seconds=1)})

    expired = list(stack.documents.query(collection))
    stack.documents.transact(lambda tx: [tx.get(item.path) for item in expired] and expire(tx))
    status = stack.run(sid)
    assert status.called == 5
    assert status.done == 5


def test_the_sweep_prunes_results_past_their_retention_and_leaves_the_files(stack: Stack) -> None:
    sid = stack.sheet(texts(5))
    job = stack.run(sid).job_id
    past = stack.documents.now() - timedelta(days=1)

    def expire(tx: Transaction) -> None:
        due = [item.path for item in stack.documents.query(f"spreadsheets/{sid}/results", limit=3)]
        found = tx.get_many([*due, f"spreadsheets/{sid}"])
        for path in found:
            tx.update(path, {"until": past} if path in due else {"prune_at": past})

    stack.documents.transact(expire)
    wait_until(
        lambda: len(list(stack.documents.query(f"spreadsheets/{sid}/results"))) == 2, "three to be pruned"
    )
    assert len(stack.parts(job)) == 5


def test_a_refused_click_does_not_block_the_spreadsheet(stack: Stack) -> None:
    sid = stack.sheet(texts(5))
    fault = stack.simulator.faults.add("drive.create", "status", times=None, status=503)
    with pytest.raises(GoogleError):
        stack.start(sid)
    fault.times = 0
    assert stack.run(sid).done == 5


def test_a_click_that_died_while_it_created_files_does_not_block_the_spreadsheet(
    stack: Stack, monkeypatch: pytest.MonkeyPatch
) -> None:
    sid = stack.sheet(texts(5))

    def die(*_: object) -> None:
        raise Crash

    with monkeypatch.context() as patch:
        patch.setattr(starting, "_prepare", die)
        patch.setattr(starting, "PREPARING", timedelta(seconds=0.5))
        with pytest.raises(Crash):
            stack.start(sid)
    first = stack.start(sid)
    assert not first.created, "another click may still be at it"
    started = wait_until(
        lambda: (click := stack.start(sid)).created and click, "the old click to count as dead"
    )
    assert stack.wait(started.job_id).done == 5
    assert stack.status(first.job_id).status == "cancelled"


def test_a_click_that_google_refused_can_be_pressed_again(stack: Stack) -> None:
    sid = stack.sheet(texts(5))
    fault = stack.simulator.faults.add("drive.create", "status", times=None, status=503)
    with pytest.raises(GoogleError):
        stack.start(sid, request_id="the-click")
    fault.times = 0
    started = stack.start(sid, request_id="the-click")
    assert started.created
    assert stack.wait(started.job_id).done == 5


def test_promise_4_the_same_click_twice_at_once_makes_one_set_of_files(stack: Stack) -> None:
    sid = stack.sheet(texts(5))
    barrier = threading.Barrier(4)

    def click(_: int) -> str:
        barrier.wait()
        return stack.start(sid, request_id="the-click").job_id

    with ThreadPoolExecutor(4) as executor:
        (job,) = set(executor.map(click, range(4)))
    assert stack.wait(job).done == 5
    files = [file for file in stack.simulator.files.list() if file.id != sid]
    assert len(files) == 3, "a folder, a run file and a part"


def test_promise_5_content_stays_out_of_store_tasks_and_logs(
    tmp_path: Path, documents: Documents, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    secret, wish, title = "PLANTEDINQUIRY", "PLANTEDWISH", "PLANTEDTITLE"

    def answer(prompt: Prompt) -> object:
        if "refused" in prompt.fields[0][1]:
            return Rejected(f"the text {prompt.fields[0][1]} is bad")
        return Text(f"PLANTEDSUMMARY {prompt.fields[0][1]}")

    payloads: list[bytes] = []

    def read(path: str, body: bytes) -> bool:
        payloads.append(body)
        return False

    model = ScriptedModel(default=answer)  # type: ignore[arg-type]
    recording = Recording(documents)
    with running(tmp_path, documents=recording, model=model) as stack:  # type: ignore[arg-type]
        stack.simulator.faults.add("tasks.create", "status", times=None, match=read)
        rows = [[title], *([f"{secret} {number}"] for number in range(5)), [f"{secret} refused"]]
        sid = stack.workbook("Book", rows)
        status = stack.run(sid, source_columns=(title,), instructions=wish)
        assert (status.done, status.failed) == (5, 1)
        tokens = [stack.simulator.identity.worker.token, stack.simulator.identity.user.token]
    everything = "\n".join([*recording.written, *(body.decode() for body in payloads), caplog.text])
    assert len(recording.written) >= 15
    assert payloads
    for word in (secret, wish, title, "PLANTEDSUMMARY", *tokens):
        assert word not in everything


def test_a_fatal_outcome_stops_after_the_calls_in_flight(tmp_path: Path, documents: Documents) -> None:
    model = ScriptedModel(default=lambda _: Fatal("insufficient_quota"))
    with running(tmp_path, documents=documents, model=model) as stack:
        status = stack.run(stack.sheet(texts(200)))
        assert (status.status, status.reason, status.failed) == ("paused", "insufficient_quota", 0)
        assert len(model.calls) <= QUICK.concurrency


def test_a_share_that_is_not_seen_everywhere_yet_is_waited_for(
    stack: Stack, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(endings, "SHARE_DELAY", 0.2)
    fault = stack.simulator.faults.add(
        "drive.read",
        "status",
        2,
        lambda path, _: "alt=media" in path,
        status=404,
        reason="notFound",
        message="File not found: x.",
    )
    status = stack.run(stack.sheet(texts(5)))
    assert fault.hits == 2
    assert (status.status, status.done) == ("done", 5)


def test_a_model_adapter_that_raises_pauses_the_job_and_shows_no_content(
    tmp_path: Path, documents: Documents, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(prompt: Prompt) -> None:
        raise RuntimeError(f"cannot handle {prompt.fields}")

    with running(tmp_path, documents=documents, model=ScriptedModel(default=broken)) as stack:
        status = stack.run(stack.sheet(["PLANTEDTEXT"]))
        assert (status.status, status.reason) == ("paused", "stuck")
    assert "RuntimeError" in caplog.text
    assert "PLANTEDTEXT" not in caplog.text


def test_the_run_file_deleted_mid_job_pauses_with_its_reason(
    stack: Stack, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(endings, "SHARE_SECONDS", 0.0)
    gate = threading.Event()
    stack.services.model._gate = gate  # type: ignore[attr-defined]
    sid = stack.sheet(texts(5))
    stack.simulator.queue.pause()
    job = stack.start(sid).job_id
    snapshot = stack.documents.get(job_path(job))
    assert snapshot is not None
    file = stack.simulator.files.find(Job.from_data(snapshot.data).run_file)
    assert file is not None
    stack.simulator.files.remove(file)
    stack.simulator.queue.resume()
    status = stack.wait(job)
    assert (status.status, status.reason) == ("paused", "run_file_gone")
