"""What one link leaves for the next, and for the people, however it ends."""

from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from link_world import OUTPUT, QUICK, SID, SOURCE, World, summary_of, world

from addon.google.cells import Run
from addon.google.errors import TryAgain
from addon.jobs import display as displays
from addon.jobs import scan as scans
from addon.jobs import start as starting
from addon.jobs.commands import cancel, retry
from addon.jobs.records import Result, results_path
from addon.llm.base import Blocked, Prompt, Text, Transient
from addon.llm.scripted import ScriptedModel
from addon.rows.keys import text_hash
from addon.store.documents import Transaction


class Crash(Exception):
    """A worker dies here."""


def set_shard(it: World, job: str, **fields: Any) -> None:
    """Change what is stored of the first shard."""
    path = f"jobs/{job}/shards/0"

    def work(tx: Transaction) -> None:
        tx.get(path)
        tx.update(path, fields)

    it.documents.transact(work)


def lease_runs_out(it: World, job: str) -> None:
    """The holder is dead and its lease expires; its task comes back."""
    set_shard(it, job, expires_at=it.documents.now() - timedelta(seconds=1))
    shard = it.shard(job)
    it.tasks.queue.append({"job": job, "shard": 0, "epoch": shard.epoch, "step": shard.step})


def results(it: World) -> dict[str, Result]:
    """The index."""
    found = it.documents.query(results_path(SID))
    return {item.path.rsplit("/", 1)[1]: Result.from_data(item.data) for item in found}


def test_promise_1_summaries_given_to_the_display_are_not_forgotten_when_the_checking_link_dies(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scans, "PAGE_ROWS", 100)
    texts = [f"text {number}" for number in range(300)]
    with world(tmp_path, texts, settings=replace(QUICK, display_seconds=60.0)) as it:
        it.run()
        for row in range(1, 101):
            it.sheets.put(row, OUTPUT, "")
        it.sheets.put(250, SOURCE, "#REF!")
        job = it.start()
        set_shard(it, job, closing=True)

        def die_before_anything_is_shown(step: str) -> None:
            if step == "mid-display":
                raise Crash

        it.reach = die_before_anything_is_shown
        with pytest.raises(Crash):
            it.link()
        assert it.shard(job).cursor > 100, "the next link begins below the rows that are not shown yet"
        it.reach = lambda _: None
        lease_runs_out(it, job)
        it.work()
        assert it.status(job).status == "done"
        assert it.sheets.column()[:100] == [summary_of(text) for text in texts[:100]]


def test_a_link_that_ends_by_its_budget_passes_on_how_long_the_provider_wants_to_be_left_alone(
    tmp_path: Path,
) -> None:
    model = ScriptedModel()
    model.enqueue([Transient("rate_limited", wait=50.0, rate_limited=True)])
    settings = replace(QUICK, concurrency=1, link_budget=0.3)
    with world(tmp_path, ["one", "two"], model=model, settings=settings) as it:
        it.start()
        before = it.documents.now()
        assert it.link().outcome == "handed over"
        assert it.tasks.due[-1] >= before + timedelta(seconds=50)


def test_silence_after_a_wait_the_provider_asked_for_still_keeps_the_wait(tmp_path: Path) -> None:
    model = ScriptedModel(default=lambda _: Transient("server_error"))
    model.enqueue([Transient("server_error", wait=55.0)])
    with world(tmp_path, [f"text {number}" for number in range(60)], model=model) as it:
        it.start()
        before = it.documents.now()
        it.settings = replace(QUICK, concurrency=32)
        it.link()
        assert it.tasks.due[-1] >= before + timedelta(seconds=55)


def test_a_cell_that_takes_no_value_does_not_keep_the_job_from_ending(tmp_path: Path) -> None:
    with world(tmp_path, ["one", "two", "three"]) as it:
        it.sheets.deaf.add(2)
        status = it.run()
        assert (status.status, status.done, status.called) == ("done", 3, 3)
        assert it.sheets.column() == [summary_of("one"), "", summary_of("three")]


def test_rows_deleted_between_check_and_write_pause_nothing(tmp_path: Path) -> None:
    with world(tmp_path, ["one", "two", "three"]) as it:
        it.sheets.height = 4
        shrunk: list[int] = []

        def delete_the_last_row(_: object) -> None:
            if not shrunk and it.sheets.height == 4:
                shrunk.append(1)
                it.sheets.rows.pop()
                it.sheets.height = 3

        it.sheets.before_write = delete_the_last_row
        # Making the column writes too, before the job begins.
        job = it.start_with_column()
        it.work()
        assert shrunk
        assert it.status(job).status == "done"
        assert it.sheets.column() == [summary_of("one"), summary_of("two")]


def test_results_of_another_job_are_never_overwritten_in_a_part_that_was_spare_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(starting, "PART_ROWS", 20)
    broken = {f"text {number}" for number in range(10, 40)}
    model = ScriptedModel(default=lambda prompt: Blocked("SAFETY") if prompt.fields[0][1] in broken else None)
    with world(tmp_path, [f"text {number}" for number in range(40)], model=model) as it:
        first = it.start()
        it.work()
        for row in (1, 2, 3):
            it.sheets.put(row, SOURCE, f"edited {row}")
        second = it.start()
        it.work()
        shared = set(it.job(first).parts["0"]) & set(it.job(second).parts["0"])
        assert shared, "the second job took a part that the first did not need"
        broken.clear()
        retry(it.documents, it.tasks, first)
        it.work()
        assert it.status(first).failed == 0
        for key, result in results(it).items():
            assert key in {row.key for row in it.part(result.part)}
        kept = {row.key for row in it.part(it.job(second).parts["0"][0])}
        assert len(kept & {key for key, result in results(it).items() if result.job == second}) == 3


def test_parts_that_a_retry_has_used_are_not_offered_to_the_next_job(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(starting, "PART_ROWS", 20)
    broken = {f"text {number}" for number in range(10, 40)}
    model = ScriptedModel(default=lambda prompt: Blocked("SAFETY") if prompt.fields[0][1] in broken else None)
    with world(tmp_path, [f"text {number}" for number in range(40)], model=model) as it:
        first = it.start()
        it.work()
        broken.clear()
        retry(it.documents, it.tasks, first)
        it.work()
        used = {result.part for result in results(it).values()}
        assert len(used) == 2
        it.sheets.put(1, SOURCE, "edited")
        second = it.start()
        assert used.isdisjoint(it.job(second).parts["0"])


def test_a_retry_is_not_worked_by_the_link_that_a_cancel_has_not_reached_yet(tmp_path: Path) -> None:
    def answer(prompt: Prompt) -> Blocked | None:
        return Blocked("SAFETY") if prompt.fields[0][1] == "bad" else None

    with world(tmp_path, ["bad", "good"], model=ScriptedModel(default=answer)) as it:
        job = it.start()
        pressed: list[int] = []

        def cancel_then_retry(step: str) -> None:
            if step == "after commit" and it.failures(job) and not pressed:
                pressed.append(1)
                cancel(it.documents, job)
                retry(it.documents, it.tasks, job)

        it.reach = cancel_then_retry
        it.work()
        assert pressed
        calls = [call.prompt.fields[0][1] for call in it.model.calls]
        assert it.status(job).status == "done"
        assert calls.count("bad") == 2, "the failed row was tried again"
        assert it.status(job).repeated >= len(calls) - 3


@pytest.mark.parametrize("mode", ["new_or_changed", "all"])
def test_a_summary_another_worker_committed_meanwhile_is_shown_and_not_paid_again(
    tmp_path: Path, mode: str
) -> None:
    with world(tmp_path, ["one", "two"]) as it:
        old = it.start()
        it.work()
        for row in (1, 2):
            it.sheets.put(row, SOURCE, f"new {row}")
        job = it.start(mode=mode)
        copied: list[int] = []

        def commit_first(step: str) -> None:
            if step == "after part upload" and not copied:
                copied.append(1)
                part = it.job(job).parts["0"][0]
                theirs = it.job(old).parts["0"][0]
                rows = it.part(part)
                it.drive.files[theirs] = it.drive.files[part]
                some = next(iter(results(it).values()))

                def work(tx: Transaction) -> None:
                    for number, row in enumerate(rows):
                        result = replace(
                            some, part=theirs, row=number, sha256=text_hash(row.summary), job=old
                        )
                        tx.create(f"{results_path(SID)}/{row.key}", result.to_data())

                it.documents.transact(work)

        it.reach = commit_first
        it.work()
        assert copied
        assert it.status(job).status == "done"
        assert len(it.model.calls) == 4
        assert it.sheets.column() == [summary_of("new 1"), summary_of("new 2")]


def test_the_scan_waits_while_the_sheet_is_slower(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(displays, "MOST_PENDING", 50)
    monkeypatch.setattr(displays, "LARGEST_BEAT", 25)
    with world(tmp_path, [f"text {number}" for number in range(400)]) as it:
        it.run()
        for row in range(1, 401):
            it.sheets.put(row, OUTPUT, "")
        most, add = [0], displays.Display.add

        def measure(display: displays.Display, *args: Any, **options: Any) -> None:
            add(display, *args, **options)
            most[0] = max(most[0], len(display._pending))

        monkeypatch.setattr(displays.Display, "add", measure)
        it.settings = replace(QUICK, display_seconds=60.0)
        assert it.run().done == 400
        assert all(it.sheets.column())
        assert most[0] <= 50


def test_a_sheet_full_of_cleared_summaries_is_written_in_requests_of_bounded_size(tmp_path: Path) -> None:
    count = 6_000
    with world(
        tmp_path, [f"text {number}" for number in range(count)], settings=replace(QUICK, commit_rows=400)
    ) as it:
        it.run()
        for row in range(1, count + 1):
            it.sheets.put(row, OUTPUT, "")
        it.sheets.writes.clear()
        it.settings = replace(it.settings, display_seconds=60.0)
        status = it.run()
        assert (status.done, status.called) == (count, 0)
        assert it.sheets.column() == [summary_of(f"text {number}") for number in range(count)]
        assert max(_cells(runs) for runs in it.sheets.writes) <= 2_000


def _cells(runs: "list[Run]") -> int:
    return sum(len(run.texts) for run in runs)


@pytest.mark.parametrize("mode", ["all", "new_or_changed"])
def test_new_summaries_reach_rows_that_moved_out_of_sight_before_they_were_shown(
    tmp_path: Path, mode: str
) -> None:
    version = ["first"]
    model = ScriptedModel(default=lambda prompt: Text(f"{version[0]} of {prompt.fields[0][1]}"))
    texts = [f"text {number}" for number in range(20)]
    with world(tmp_path, texts, model=model) as it:
        it.run()
        version[0] = "second"
        if mode == "new_or_changed":
            texts = [f"{text} edited" for text in texts]
            for row, text in enumerate(texts, 1):
                it.sheets.put(row, SOURCE, text)
        it.settings = replace(QUICK, display_seconds=60.0)
        moved: list[int] = []

        def insert_rows_above(step: str) -> None:
            if step == "after commit" and not moved:
                moved.append(1)
                it.sheets.rows[1:1] = [["", "", ""] for _ in range(100)]

        it.reach = insert_rows_above
        status = it.run(mode=mode)
        assert (status.done, status.called) == (20, 20)
        assert it.sheets.column()[100:] == [f"second of {text}" for text in texts]


def test_an_upload_that_fails_for_good_hands_over_and_loses_no_row(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with world(tmp_path, ["one", "two"]) as it:
        job = it.start()
        faults = [3]

        def fail(*_: object) -> None:
            if faults[0]:
                faults[0] -= 1
                raise TryAgain("busy", service="Drive", wait=0.01)

        it.drive.before_update = fail
        assert it.link().outcome == "handed over"
        it.work()
        assert it.status(job).done == 2
        assert it.status(job).repeated >= len(it.model.calls) - 2
