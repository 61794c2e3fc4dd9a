"""Each protection taken out in turn: the scenes of the fault table must then show a broken promise."""

import itertools
from dataclasses import replace
from pathlib import Path
from typing import Any

import fault_scene
import pytest
import stack as product
from fault_scene import Fault, Scene, assert_promises, freeze_before_the_upload, play, scene, strike

from addon.jobs import chain as chains
from addon.jobs import model as decisions
from addon.jobs import start as starting
from addon.jobs import work as working
from addon.jobs.chain import Chain
from addon.jobs.commit import Committer
from addon.jobs.endings import Ending
from addon.jobs.records import Shard
from addon.jobs.start import start
from addon.jobs.steps import Step
from addon.store.sqlite import SqliteDocuments

pytestmark = [pytest.mark.twin, pytest.mark.usefixtures("nobody_waits_long")]


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """What never comes is not waited for."""
    monkeypatch.setattr(product.Stack.wait, "__kwdefaults__", {"until": product.OVER})
    monkeypatch.setattr(product, "PATIENCE", 6.0)
    monkeypatch.setattr(product.wait_until, "__defaults__", (6.0,))


def run(folder: Path, step: Step, fault: Fault) -> None:
    """One case of the fault table."""
    documents = SqliteDocuments(folder / "store.db")
    with scene(folder, documents, step, strike(fault, step)) as it:
        assert_promises(it, play(it, step, fault))


def test_without_the_fencing_check(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decisions, "held", lambda shard, fence: shard)
    run(tmp_path, "before part upload", "stall past the lease")


def test_without_the_lease(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    claim = decisions.claim

    def at_any_time(job: Any, shard: Shard, turn: Any, owner: str, now: Any, *rest: Any) -> Any:
        return claim(job, replace(shard, expires_at=now), turn, owner, now, *rest)

    monkeypatch.setattr(decisions, "claim", at_any_time)
    run(tmp_path, "after commit", "duplicate delivery")


def test_without_the_renewal_before_an_upload_and_its_time_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = Chain.write

    def unless_nothing_else(self: Chain, change: Any, more: Any = None) -> Any:
        if more is None and change.__name__ == "<lambda>":
            return None
        return write(self, change, more)

    monkeypatch.setattr(Chain, "write", unless_nothing_else)
    monkeypatch.setattr(chains, "Budget", lambda seconds, _: seconds)
    run(tmp_path, "before part upload", "stall past the lease")


def test_without_the_time_limit_that_begins_before_the_renewal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    documents = SqliteDocuments(tmp_path / "store.db")
    monkeypatch.setattr(chains, "Budget", lambda seconds, _: seconds)
    with scene(tmp_path, documents, "before part upload", freeze_before_the_upload) as it:
        assert_promises(it, play(it, "before part upload", "stall past the lease"))


def test_without_the_adoption_of_what_the_part_holds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Committer, "adopt", lambda *_: None)
    run(tmp_path, "after part upload", "crash")


def test_without_the_account_of_what_a_dead_worker_risked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    claim = decisions.claim
    monkeypatch.setattr(decisions, "claim", lambda *given: claim(*given[:-1], 0))
    run(tmp_path, "after call", "crash")


def test_without_the_sweep(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decisions, "overdue", lambda *_: False)
    run(tmp_path, "before first enqueue", "crash")


def test_without_healing_by_redelivery_nor_sweep(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decisions, "overdue", lambda *_: False)
    monkeypatch.setattr(Chain, "_heal", lambda *_: None)
    run(tmp_path, "before enqueue", "crash")


def test_without_one_job_per_spreadsheet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def click_anew(it: Scene) -> None:
        it.lives.struck.set()
        with it.stack.user() as user:
            start(it.stack.services.desk, user, it.stack.request(it.sid, request_id="another-click"))

    monkeypatch.setattr(starting, "_known", lambda *_: None)
    monkeypatch.setattr(starting, "_abandoned", lambda *_: True)
    with scene(tmp_path, SqliteDocuments(tmp_path / "store.db"), "after commit", click_anew) as it:
        assert_promises(it, play(it, "after commit", "duplicate delivery"))


def test_without_the_name_of_the_click(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    numbers = itertools.count()
    monkeypatch.setattr(starting, "job_id", lambda *_: f"job{next(numbers)}")
    with scene(
        tmp_path, SqliteDocuments(tmp_path / "store.db"), "after claim", lambda it: it.lives.struck.set()
    ) as it:
        play(it, "after claim", "duplicate delivery")
        assert it.click("the-click").created is False, "promise 4: a replay is no new job"


def test_without_the_check_of_the_whole_sheet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def add_a_row(it: Scene) -> None:
        it.lives.struck.set()
        workbook = it.stack.simulator.workbooks.get(it.sid)
        for column, text in enumerate(["new", "a row that came late"]):
            workbook.set_cell(0, 1 + fault_scene.ROWS, column, text)

    def once(self: working.LinkWork) -> Ending:
        return self._pass() or Ending("finished")

    monkeypatch.setattr(working.LinkWork, "_passes", once)
    monkeypatch.setattr(fault_scene, "SETTINGS", replace(fault_scene.SETTINGS, link_budget=60.0))
    with scene(tmp_path, SqliteDocuments(tmp_path / "store.db"), "after commit", add_a_row) as it:
        play(it, "after commit", "duplicate delivery")
        product.assert_all_beside_their_text(it.stack, it.sid)


def test_without_knowing_which_step_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    claim = decisions.claim

    def whatever_it_says(job: Any, shard: Shard, turn: Any, *rest: Any) -> Any:
        return claim(job, shard, (shard.epoch, shard.step), *rest)

    monkeypatch.setattr(decisions, "claim", whatever_it_says)
    run(tmp_path, "after enqueue", "duplicate delivery")
