"""A pass over the sheet ends, whatever its rows have become since it began."""

import threading
from pathlib import Path

import pytest
from link_world import OUTPUT, QUICK, SOURCE, World, summary_of, world

from addon.jobs import scan as scans
from addon.jobs.commands import retry
from addon.llm.base import Blocked, Prompt, Text
from addon.llm.scripted import ScriptedModel


@pytest.fixture(autouse=True)
def small_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages of a few rows, so that equal rows stand in different ones."""
    monkeypatch.setattr(scans, "PAGE_ROWS", 100)


def assert_ends(it: World, job: str, patience: float = 20.0) -> None:
    """Work through the job in a thread that must end by itself: a pass that spins would not."""
    it.settings = QUICK
    thread = threading.Thread(target=it.work, daemon=True)
    thread.start()
    thread.join(patience)
    spinning = thread.is_alive()
    it.stopping = True
    thread.join(patience)
    assert not spinning, "a pass did not end"


def test_a_row_equal_to_one_that_failed_on_an_earlier_page_is_failed_too(tmp_path: Path) -> None:
    texts = ["#REF!", *(f"text {number}" for number in range(400)), "#REF!"]
    with world(tmp_path, texts) as it:
        job = it.start()
        assert_ends(it, job)
        status = it.status(job)
        assert (status.status, status.done, status.failed) == ("done", 400, 2)
        assert len(it.model.calls) == 400


def test_a_row_the_provider_refused_is_not_asked_about_again_on_a_later_page(tmp_path: Path) -> None:
    def refuse(prompt: Prompt) -> Blocked | None:
        return Blocked("SAFETY") if prompt.fields[0][1] == "bad" else None

    texts = ["bad", *(f"text {number}" for number in range(400)), "bad"]
    with world(tmp_path, texts, model=ScriptedModel(default=refuse)) as it:
        job = it.start()
        assert_ends(it, job)
        assert (it.status(job).done, it.status(job).failed) == (400, 2)
        assert len(it.model.calls) == 401


def test_an_old_summary_does_not_stay_beside_the_second_of_two_equal_rows(tmp_path: Path) -> None:
    texts = [f"text {number}" for number in range(400)]
    with world(tmp_path, texts) as it:
        it.run()
        for row in (1, 400):
            it.sheets.put(row, SOURCE, "edited the same way")
        it.run()
        column = it.sheets.column()
        assert column[0] == column[399] == summary_of("edited the same way")


def test_lost_results_are_made_again_and_the_job_still_says_so_when_it_is_over(tmp_path: Path) -> None:
    with world(tmp_path, ["one", "two", "three"]) as it:
        first = it.run()
        (part,) = it.job(first.job_id).parts["0"]
        del it.drive.files[part]
        for row in (1, 2, 3):
            it.sheets.put(row, OUTPUT, "")
        status = it.run()
        assert (status.status, status.done, status.called) == ("done", 3, 3)
        assert status.notes == ("results_lost",)
        assert it.sheets.column() == [summary_of(text) for text in ("one", "two", "three")]


def test_a_retried_row_whose_cell_is_accepted_now_is_not_listed_as_failed(tmp_path: Path) -> None:
    with world(tmp_path, ["one", "two"]) as it:
        write, refusing = it.sheets.write, [True]

        def refuse(*args: object, **options: object) -> dict[int, str]:
            runs = args[2]
            if refusing and any(run.row == 1 for run in runs):  # type: ignore[attr-defined]
                return {1: "cell_too_long"}
            return write(*args, **options)

        it.sheets.write = refuse
        job = it.start()
        it.work()
        assert [failure.error_class for failure in it.failures(job)] == ["cell_refused"]
        refusing.clear()
        retry(it.documents, it.tasks, job)
        it.work()
        assert it.sheets.column() == [summary_of("one"), summary_of("two")]
        assert (it.status(job).failed, it.failures(job)) == (0, [])


def test_a_row_that_fails_while_the_sheet_is_checked_stays_listed(tmp_path: Path) -> None:
    def refuse(prompt: Prompt) -> Blocked | Text | None:
        return Blocked("SAFETY") if prompt.fields[0][1].startswith("bad") else None

    with world(tmp_path, ["one", "bad one"], model=ScriptedModel(default=refuse)) as it:
        job = it.start()
        added: list[int] = []

        def add_a_row(step: str) -> None:
            if step == "after display" and not added:
                added.append(it.sheets.put(3, SOURCE, "bad too"))  # type: ignore[func-returns-value]

        it.reach = add_a_row
        it.work()
        assert sorted(failure.row for failure in it.failures(job)) == [3, 4]
        assert it.status(job).failed == 2
