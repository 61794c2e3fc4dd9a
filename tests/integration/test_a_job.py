"""A job from the click to the last cell, on both stores."""

import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from stack import QUICK, Stack, assert_all_beside_their_text, running, summary_of, wait_until

from addon.jobs.commands import cancel, pause, resume
from addon.jobs.records import shard_path
from addon.llm.base import Blocked, Empty, Fatal, Prompt, Rejected, Text, Transient, Truncated
from addon.llm.scripted import ScriptedModel
from addon.store.documents import Documents


def test_every_row_gets_its_summary_beside_its_text_and_in_the_part(stack: Stack) -> None:
    texts = [f"inquiry number {number}" for number in range(60)]
    sid = stack.sheet(texts)
    status = stack.run(sid)
    assert (status.status, status.rows, status.done, status.failed) == ("done", 60, 60, 0)
    assert stack.column(sid) == [summary_of(text) for text in texts]
    assert sorted(row.summary for row in stack.parts(status.job_id)) == sorted(map(summary_of, texts))
    assert (len(stack.model.calls), status.called, status.repeated) == (60, 60, 0)


def test_a_second_run_makes_no_call(stack: Stack) -> None:
    sid = stack.sheet([f"text {number}" for number in range(25)])
    stack.run(sid)
    status = stack.run(sid)
    assert (status.done, status.reused, status.called) == (25, 25, 0)
    assert len(stack.model.calls) == 25


def test_running_again_multiplies_no_files_and_keeps_each_result_where_it_is(stack: Stack) -> None:
    sid = stack.sheet([f"text {number}" for number in range(25)])
    stack.run(sid)
    collection = f"spreadsheets/{sid}/results"
    results = {item.path: item.data for item in stack.documents.query(collection)}
    stack.run(sid)
    files = {file.id for file in stack.simulator.files.list()}
    for _ in range(3):
        stack.run(sid)
    assert {file.id for file in stack.simulator.files.list()} == files
    assert {item.path: item.data for item in stack.documents.query(collection)} == results


def test_edited_rows_are_called_again_and_nothing_else(stack: Stack) -> None:
    sid = stack.sheet([f"text {number}" for number in range(25)])
    stack.run(sid)
    workbook = stack.simulator.workbooks.get(sid)
    for row in (3, 9, 17):
        workbook.set_cell(0, row, 1, f"edited {row}")
    status = stack.run(sid)
    assert (status.called, status.done, status.reused) == (3, 25, 22)
    assert_all_beside_their_text(stack, sid)


def test_a_cleared_output_column_comes_back_from_the_parts_without_a_call(stack: Stack) -> None:
    texts = [f"text {number}" for number in range(25)]
    sid = stack.sheet(texts)
    stack.run(sid)
    workbook = stack.simulator.workbooks.get(sid)
    for row in range(1, 26):
        workbook.set_cell(0, row, 2, "")
    status = stack.run(sid)
    assert (status.called, status.done) == (0, 25)
    assert stack.column(sid) == [summary_of(text) for text in texts]


def test_identical_rows_share_one_call_and_all_get_the_summary(stack: Stack) -> None:
    sid = stack.sheet(["same"] * 30 + ["other"])
    status = stack.run(sid)
    assert len(stack.model.calls) == 2
    assert (status.rows, status.done) == (31, 31)
    assert_all_beside_their_text(stack, sid)


def test_blank_rows_cost_nothing_and_do_not_block(stack: Stack) -> None:
    sid = stack.sheet(["one", "", "   ", "two", "\u200b", "three"])
    status = stack.run(sid)
    assert (status.rows, status.done, status.blank) == (3, 3, 3)
    assert len(stack.model.calls) == 3
    assert stack.column(sid) == [summary_of("one"), "", "", summary_of("two"), "", summary_of("three")]


def test_a_row_changed_while_its_call_was_in_flight_is_worked_again(
    tmp_path: Path, documents: Documents
) -> None:
    gate = threading.Event()
    with running(tmp_path, documents=documents, model=ScriptedModel(gate=gate)) as stack:
        sid = stack.sheet(["before", "other"])
        job = stack.start(sid).job_id
        assert stack.model.wait_until_in_flight(2)
        stack.simulator.workbooks.get(sid).set_cell(0, 1, 1, "after")
        gate.set()
        status = stack.wait(job)
        assert stack.pairs(sid) == [("after", summary_of("after")), ("other", summary_of("other"))]
        assert (status.done, status.called) == (2, 3)


def test_a_row_changed_again_and_again_while_its_call_was_in_flight_ends_with_its_last_text(
    tmp_path: Path, documents: Documents
) -> None:
    gate = threading.Semaphore(0)
    with running(tmp_path, documents=documents, model=ScriptedModel(gate=gate)) as stack:
        sid = stack.sheet(["text 1"])
        job = stack.start(sid).job_id
        for number in (2, 3, 4):
            assert stack.model.wait_until_started(number - 1)
            stack.simulator.workbooks.get(sid).set_cell(0, 1, 1, f"text {number}")
            gate.release(1)
        gate.release(100)
        assert stack.wait(job).done == 1
        assert stack.pairs(sid) == [("text 4", summary_of("text 4"))]


def test_rows_sorted_while_their_calls_were_in_flight_keep_their_summaries(
    tmp_path: Path, documents: Documents
) -> None:
    gate = threading.Event()
    with running(tmp_path, documents=documents, model=ScriptedModel(gate=gate)) as stack:
        sid = stack.sheet([f"text {number:02}" for number in range(40)])
        job = stack.start(sid).job_id
        assert stack.model.wait_until_in_flight(8)
        workbook = stack.simulator.workbooks.get(sid)
        workbook.sort(0, 1, descending=True)
        workbook.insert_rows(0, 5, 3)
        workbook.insert_columns(0, 1, 2)
        gate.set()
        status = stack.wait(job)
        assert status.done == 40
        assert len(stack.model.calls) == 40
        assert_all_beside_their_text(stack, sid)


def test_an_old_summary_does_not_stay_beside_a_text_changed_back(stack: Stack) -> None:
    sid = stack.sheet(["first", "other"])
    stack.run(sid)
    workbook = stack.simulator.workbooks.get(sid)
    workbook.set_cell(0, 1, 1, "second")
    stack.run(sid)
    workbook.set_cell(0, 1, 1, "first")
    status = stack.run(sid)
    assert status.called == 0
    assert_all_beside_their_text(stack, sid)


def test_what_a_person_wrote_over_a_summary_stays(stack: Stack) -> None:
    sid = stack.sheet(["first", "other"])
    stack.run(sid)
    stack.simulator.workbooks.get(sid).set_cell(0, 1, 2, "my own words")
    status = stack.run(sid)
    assert stack.column(sid) == ["my own words", summary_of("other")]
    assert status.called == 0


def test_empty_only_leaves_filled_cells_alone(stack: Stack) -> None:
    sid = stack.sheet(["a", "b", "c"])
    workbook = stack.simulator.workbooks.get(sid)
    workbook.set_cell(0, 0, 2, "Summary")
    workbook.set_cell(0, 2, 2, "mine")
    status = stack.run(sid, mode="empty_only")
    assert stack.column(sid) == [summary_of("a"), "mine", summary_of("c")]
    assert (status.called, status.done) == (2, 3)


def test_all_makes_every_row_again_once(stack: Stack) -> None:
    sid = stack.sheet(["a", "b", "c"])
    stack.run(sid)
    status = stack.run(sid, mode="all")
    assert (status.called, status.done) == (3, 3)
    assert len(stack.model.calls) == 6


def _outcomes(prompt: Prompt) -> object:
    return {
        "blocked": Blocked("SAFETY"),
        "truncated": Truncated(),
        "empty": Empty(),
        "rejected": Rejected("INVALID_ARGUMENT"),
    }.get(prompt.fields[0][1])


def test_refused_rows_are_listed_and_the_job_goes_on(tmp_path: Path, documents: Documents) -> None:
    model = ScriptedModel(default=_outcomes)  # type: ignore[arg-type]
    with running(tmp_path, documents=documents, model=model) as stack:
        sid = stack.sheet(
            ["fine", "blocked", "truncated", "empty", "rejected", "#REF!", "x" * 50_001, "good"]
        )
        status = stack.run(sid)
        assert (status.status, status.done, status.failed) == ("done", 2, 6)
        assert {(group.error_class, group.rows) for group in status.failures} == {
            ("blocked", (3,)),
            ("truncated", (4,)),
            ("empty", (5,)),
            ("rejected", (6,)),
            ("source_error", (7,)),
            ("source_too_long", (8,)),
        }


def test_retry_works_on_failed_rows_only(tmp_path: Path, documents: Documents) -> None:
    broken = {"b", "d"}
    model = ScriptedModel(default=lambda prompt: Blocked("SAFETY") if prompt.fields[0][1] in broken else None)
    with running(tmp_path, documents=documents, model=model) as stack:
        sid = stack.sheet(["a", "b", "c", "d"])
        job = stack.run(sid).job_id
        assert stack.status(job).failed == 2
        broken.clear()
        stack.retry(sid, job)
        status = stack.wait(job)
        assert (status.done, status.failed, status.failures) == (4, 0, ())
        assert len(model.calls) == 6
        assert_all_beside_their_text(stack, sid)


def test_a_rejected_key_pauses_at_once_and_resume_goes_on(tmp_path: Path, documents: Documents) -> None:
    rejected = [True]
    model = ScriptedModel(default=lambda _: Fatal("key_rejected") if rejected else None)
    with running(tmp_path, documents=documents, model=model) as stack:
        sid = stack.sheet([f"text {number}" for number in range(40)])
        status = stack.run(sid)
        assert (status.status, status.reason, status.failed) == ("paused", "key_rejected", 0)
        assert len(model.calls) <= QUICK.concurrency
        rejected.clear()
        resume(stack.documents, stack.services.tasks, status.job_id)
        status = stack.wait(status.job_id, until=frozenset({"done"}))
        assert status.done == 40
        assert_all_beside_their_text(stack, sid)


def _released(stack: Stack, job: str) -> bool:
    shard = stack.documents.get(shard_path(job, 0))
    return shard is not None and not shard.data["owner"]


def _let_calls_end_until_the_link_has(stack: Stack, job: str, gate: threading.Semaphore) -> None:
    def step() -> bool:
        gate.release(1)
        return _released(stack, job)

    wait_until(step, "the link to end")
    gate.release(1000)


@pytest.mark.parametrize("command", [pause, cancel])
def test_pause_and_cancel_stop_the_calls_and_keep_what_was_called(
    tmp_path: Path, documents: Documents, command: Callable[[Documents, str], None]
) -> None:
    gate = threading.Semaphore(0)
    with running(tmp_path, documents=documents, model=ScriptedModel(gate=gate)) as stack:
        sid = stack.sheet([f"text {number}" for number in range(2000)])
        job = stack.start(sid).job_id
        gate.release(10)
        assert stack.model.wait_until_ended(10)
        command(stack.documents, job)
        _let_calls_end_until_the_link_has(stack, job, gate)
        called = len(stack.model.calls)
        assert called < 2000
        if command is pause:
            assert stack.status(job).reason == "by_person"
            resume(stack.documents, stack.services.tasks, job)
        else:
            job = stack.start(sid).job_id
        gate.release(4000)
        assert stack.wait(job, until=frozenset({"done"})).done == 2000
        assert len(stack.model.calls) == 2000
        assert_all_beside_their_text(stack, sid)


def test_transient_outcomes_are_tried_again(tmp_path: Path, documents: Documents) -> None:
    model = ScriptedModel()
    model.enqueue([Transient("server_error", wait=0.01), Text("hello")])
    with running(tmp_path, documents=documents, model=model) as stack:
        sid = stack.sheet(["only"])
        status = stack.run(sid)
        assert (status.done, len(model.calls)) == (1, 2)
        assert stack.column(sid) == ["hello"]


def test_a_job_in_several_shards_makes_each_row_once(tmp_path: Path, documents: Documents) -> None:
    with running(tmp_path, documents=documents, settings=replace(QUICK, rows_per_shard=20)) as stack:
        sid = stack.sheet([f"text {number % 90}" for number in range(100)])
        status = stack.run(sid)
        assert (status.status, status.done) == ("done", 100)
        assert len(stack.model.calls) == 90
        assert_all_beside_their_text(stack, sid)
