"""What must hold when Google or people act in the worst moment."""

import threading
from dataclasses import replace
from pathlib import Path

import pytest
from stack import QUICK, Stack, assert_all_beside_their_text, running, summary_of

from addon.jobs import endings, link
from addon.jobs import start as starting
from addon.jobs.commands import resume
from addon.jobs.plan import StartRefused
from addon.llm.base import Prompt, Rejected
from addon.llm.scripted import ScriptedModel
from addon.store.documents import Documents


class Crash(Exception):
    """A worker dies here."""


def texts(count: int) -> list[str]:
    """Different texts."""
    return [f"inquiry {number} about something" for number in range(count)]


def test_promise_3_a_sort_between_check_and_write_is_put_right(tmp_path: Path, documents: Documents) -> None:
    gate = threading.Semaphore(0)
    stack_box: list[tuple[Stack, str]] = []
    beats = [0]

    def sort_before_the_second_write(step: str) -> None:
        if step == "mid-display":
            beats[0] += 1
            if beats[0] == 2:
                stack, sid = stack_box[0]
                stack.simulator.workbooks.get(sid).sort(0, 1, descending=True)

    model = ScriptedModel(gate=gate)
    settings = replace(QUICK, concurrency=1)
    with running(
        tmp_path, documents=documents, settings=settings, model=model, reach=sort_before_the_second_write
    ) as stack:
        sid = stack.sheet(["aaa", "bbb"])
        stack_box.append((stack, sid))
        job = stack.start(sid).job_id
        gate.release(1)
        while not any(stack.column(sid)):
            threading.Event().wait(0.01)
        gate.release(10)
        assert stack.wait(job).done == 2
        assert beats[0] >= 3, "the wrong write was made and then mended"
        assert_all_beside_their_text(stack, sid)


def test_a_new_column_covers_nothing_however_ragged_the_rows_are(stack: Stack) -> None:
    rows = [["id", "text"], *([str(number), f"text {number}"] for number in range(100))]
    rows[80] = ["79", "text 79", "precious note"]
    sid = stack.workbook("Ragged", rows)
    assert stack.run(sid).done == 100
    cells = stack.cells(sid)
    assert cells[80][:3] == ["79", "text 79", "precious note"]
    assert cells[0][3] == "Summary"
    assert cells[80][3] == summary_of("text 79")


def test_uploads_that_keep_failing_cost_no_endless_calls_and_pause_the_job(
    tmp_path: Path, documents: Documents, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(endings, "RETRY_DELAY", 0.05)
    monkeypatch.setattr(link, "FIRST_DELAY", 0.05)
    monkeypatch.setattr(link, "LONGEST_DELAY", 0.05)
    settings = replace(QUICK, lease_ttl=3.0)
    with running(tmp_path, documents=documents, settings=settings) as stack:
        fault = stack.simulator.faults.add("drive.update", "status", times=None, status=503)
        sid = stack.sheet(texts(200))
        status = stack.run(sid)
        assert (status.status, status.reason) == ("paused", "google_silent")
        calls = len(stack.model.calls)
        assert calls <= QUICK.concurrency + QUICK.commit_rows, "only the first link called"
        assert status.repeated >= calls
        fault.times = 0
        resume(stack.documents, stack.services.tasks, status.job_id)
        assert stack.wait(status.job_id, until=frozenset({"done"})).done == 200


def test_an_upload_to_the_next_part_is_adopted_as_well(
    tmp_path: Path, documents: Documents, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(starting, "PART_ROWS", 20)
    uploads = [0]

    def die_after_the_first_upload_to_the_second_part(step: str) -> None:
        if step == "after part upload":
            uploads[0] += 1
            if uploads[0] == 3:
                raise Crash

    settings = replace(QUICK, lease_ttl=1.5, commit_rows=10, concurrency=2, commit_seconds=30.0)
    with running(
        tmp_path,
        documents=documents,
        settings=settings,
        reach=die_after_the_first_upload_to_the_second_part,
    ) as stack:
        sid = stack.sheet(texts(60))
        status = stack.run(sid)
        assert status.done == 60
        assert len(stack.model.calls) - 60 <= settings.concurrency + settings.commit_rows // 2
        keys = [row.key for row in stack.parts(status.job_id)]
        assert len(keys) == len(set(keys)) == 60


@pytest.mark.parametrize("mode", ["new_or_changed", "empty_only", "all"])
def test_a_hand_edit_during_the_run_stays(tmp_path: Path, documents: Documents, mode: str) -> None:
    gate = threading.Semaphore(0)
    with running(tmp_path, documents=documents, model=ScriptedModel(gate=gate)) as stack:
        sid = stack.sheet(texts(20))
        job = stack.start(sid, mode=mode).job_id
        gate.release(5)
        while not stack.column(sid)[0]:
            threading.Event().wait(0.01)
        stack.simulator.workbooks.get(sid).set_cell(0, 1, 2, "my own words")
        gate.release(100)
        assert stack.wait(job).done == 20
        assert stack.column(sid)[0] == "my own words"


def test_equal_rows_that_fail_are_all_listed_and_the_job_ends(tmp_path: Path, documents: Documents) -> None:
    model = ScriptedModel(default=lambda prompt: Rejected("BAD") if prompt.fields[0][1] == "BAD" else None)
    with running(tmp_path, documents=documents, model=model) as stack:
        status = stack.run(stack.sheet(["BAD", *texts(200), "BAD", "BAD"]))
        assert (status.status, status.done, status.failed) == ("done", 200, 3)
        assert len(model.calls) == 201


def test_summaries_that_could_not_be_shown_during_the_check_are_shown_by_a_later_link(
    tmp_path: Path, documents: Documents, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(endings, "RETRY_DELAY", 0.05)
    monkeypatch.setattr(link, "FIRST_DELAY", 0.05)
    with running(tmp_path, documents=documents, settings=replace(QUICK, link_budget=1.0)) as stack:
        stack.simulator.faults.add(
            "sheets.write", "status", times=12, status=503, match=lambda _, body: b"summary of" in body
        )
        sid = stack.sheet(texts(3))
        status = stack.run(sid)
        assert (status.status, status.done) == ("done", 3)
        assert_all_beside_their_text(stack, sid)


def test_an_old_summary_does_not_stay_beside_a_text_that_fails(stack: Stack) -> None:
    sid = stack.sheet(["fine", "other"])
    stack.run(sid)
    stack.simulator.workbooks.get(sid).set_cell(0, 1, 1, "#REF!")
    status = stack.run(sid)
    assert (status.done, status.failed) == (1, 1)
    assert stack.column(sid) == ["", summary_of("other")]


def test_hand_edits_stay_across_links_and_shards(tmp_path: Path, documents: Documents) -> None:
    gate = threading.Semaphore(0)
    settings = replace(QUICK, link_budget=0.6, rows_per_shard=20)
    with running(tmp_path, documents=documents, settings=settings, model=ScriptedModel(gate=gate)) as stack:
        sid = stack.sheet(texts(60))
        job = stack.start(sid).job_id
        gate.release(30)
        while sum(map(bool, stack.column(sid))) < 10:
            threading.Event().wait(0.01)
        edited = [index for index, text in enumerate(stack.column(sid)) if text][:5]
        for index in edited:
            stack.simulator.workbooks.get(sid).set_cell(0, index + 1, 2, "by hand")
        gate.release(1000)
        assert stack.wait(job).done == 60
        assert [stack.column(sid)[index] for index in edited] == ["by hand"] * 5


def test_columns_without_a_title_are_not_taken_for_they_have_no_name_that_stays(stack: Stack) -> None:
    sid = stack.workbook("Book", [["id", ""], ["1", "text"]])
    for choice in ({"source_columns": ("Column B",)}, {"source_columns": ("",)}):
        with pytest.raises(StartRefused) as refused:
            stack.start(sid, **choice)
        assert refused.value.code == "no_such_column"


def test_a_spare_part_keeps_the_results_of_the_job_that_took_it(
    tmp_path: Path, documents: Documents, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(starting, "PART_ROWS", 20)
    broken = [True]

    def answer(prompt: Prompt) -> Rejected | None:
        return Rejected("BAD") if broken and "bad" in prompt.fields[0][1] else None

    with running(tmp_path, documents=documents, model=ScriptedModel(default=answer)) as stack:
        first = stack.sheet([*texts(18), *(f"bad {number}" for number in range(12))])
        job = stack.run(first).job_id
        workbook = stack.simulator.workbooks.get(first)
        workbook.insert_rows(0, 31, 3, [["x", f"later {number}"] for number in range(3)])
        second = stack.run(first).job_id
        assert second != job
        broken.clear()
        stack.retry(first, job)
        stack.wait(job, until=frozenset({"done"}))
        for column in range(1, 34):
            workbook.set_cell(0, column, 2, "")
        status = stack.run(first)
        assert (status.done, status.notes) == (33, ()), "every summary is still in a file"
