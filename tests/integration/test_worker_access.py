"""The worker reaches what a person let it reach, for as long as a job needs it, in each of three ways."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from stack import QUICK, Stack, assert_all_beside_their_text, running, summary_of, wait_until

from addon.google.credentials import SCOPES
from addon.google.errors import GoogleError, GrantMissing, JobBlocked
from addon.jobs.commands import cancel, resume
from addon.jobs.records import Job, job_path, spreadsheet_path
from addon.llm.base import Blocked
from addon.llm.scripted import ScriptedModel
from addon.simulator.filemeta import permission_id
from addon.simulator.server import Simulator
from addon.store.documents import Documents, Transaction

TEXTS = [f"text {number}" for number in range(40)]
OWNER = "owner@example.com"
BARRED = ("sharing_refused", "resharing_refused")


def reached_by(stack: Stack, file_id: str) -> set[str]:
    """Who has been given access to a file, its owner not counted."""
    file = stack.simulator.files.known(file_id)
    return {item.email for item in stack.simulator.files.permissions(file)} - {file.owner}


def worker(stack: Stack) -> str:
    return stack.simulator.identity.worker.email


def share(stack: Stack, spreadsheet_id: str, email: str, role: str = "writer") -> None:
    """Somebody who may do it shares a file by hand."""
    stack.simulator.files.share(stack.simulator.files.known(spreadsheet_id), email, role)


def job_of(stack: Stack, job_id: str) -> Job:
    snapshot = stack.documents.get(job_path(job_id))
    assert snapshot is not None
    return Job.from_data(snapshot.data)


def known_of(stack: Stack, spreadsheet_id: str) -> dict[str, Any]:
    snapshot = stack.documents.get(spreadsheet_path(spreadsheet_id))
    return snapshot.data if snapshot else {}


def until_withdrawn(stack: Stack, spreadsheet_id: str) -> None:
    wait_until(lambda: not reached_by(stack, spreadsheet_id), "the worker to give its access back")


class Once:
    """A fault point that does something the first time its step is reached."""

    def __init__(self, step: str) -> None:
        self.step = step
        self.action: Callable[[], object] = lambda: None
        self._lock = threading.Lock()
        self._done = False

    def __call__(self, step: str) -> None:
        with self._lock:
            if step != self.step or self._done:
                return
            self._done = True
        self.action()


# share


def test_the_worker_gives_the_spreadsheet_back_when_the_job_is_over(
    tmp_path: Path, documents: Documents
) -> None:
    with running(tmp_path, documents=documents) as stack:
        sid = stack.sheet(TEXTS)
        status = stack.run(sid)
        assert status.status == "done"
        until_withdrawn(stack, sid)
        assert reached_by(stack, job_of(stack, status.job_id).folder) == {worker(stack)}
        wait_until(lambda: known_of(stack, sid).get("shared") is False, "it to be recorded")


def test_access_that_somebody_else_had_given_stays(tmp_path: Path, documents: Documents) -> None:
    with running(tmp_path, documents=documents) as stack:
        sid = stack.sheet(TEXTS)
        share(stack, sid, worker(stack))
        assert stack.run(sid).status == "done"
        assert stack.services.access.withdraw(sid) is False
        assert reached_by(stack, sid) == {worker(stack)}


def test_a_schedule_keeps_the_access(tmp_path: Path, documents: Documents) -> None:
    with running(tmp_path, documents=documents, sweep=None) as stack:
        sid = stack.sheet(TEXTS)
        stack.simulator.queue.pause()
        job = stack.start(sid).job_id

        def plan(tx: Transaction) -> None:
            tx.get(spreadsheet_path(sid))
            tx.update(spreadsheet_path(sid), {"schedule": {"daily": "08:00"}})

        documents.transact(plan)
        stack.simulator.queue.resume()
        stack.wait(job)
        assert stack.services.access.withdraw(sid) is False
        assert reached_by(stack, sid) == {worker(stack)}


def test_a_cancelled_job_gives_back_once_its_link_has_shown_what_it_had(
    tmp_path: Path, documents: Documents
) -> None:
    gate = threading.Semaphore(0)
    with running(tmp_path, documents=documents, model=ScriptedModel(gate=gate), sweep=None) as stack:
        sid = stack.sheet(TEXTS)
        job = stack.start(sid).job_id
        wait_until(lambda: stack.model.in_flight >= QUICK.concurrency, "calls to be in flight")
        cancel(documents, job)
        assert stack.services.access.withdraw(sid) is False, "the link is still at work"
        assert reached_by(stack, sid) == {worker(stack)}
        for _ in TEXTS:
            gate.release()
        until_withdrawn(stack, sid)
        assert sum(bool(text) for text in stack.column(sid)) >= QUICK.concurrency


def test_what_could_not_be_given_back_is_given_back_by_a_later_sweep(
    tmp_path: Path, documents: Documents
) -> None:
    with running(tmp_path, documents=documents, sweep=None) as stack:
        sid = stack.sheet(TEXTS)
        stack.simulator.faults.add(
            "drive.share", "status", None, lambda where, _: permission_id(worker(stack)) in where
        )
        stack.run(sid)
        wait_until(lambda: known_of(stack, sid).get("withdraw_at"), "the access to be due")
        stack.simulator.queue.wait_idle()
        assert reached_by(stack, sid) == {worker(stack)}
        stack.simulator.faults.clear()
        assert stack.services.access.withdraw(sid) is True
        assert reached_by(stack, sid) == set()
        assert stack.services.access.withdraw(sid) is False, "once is enough"


def test_a_click_waits_for_whoever_is_taking_the_access_away(tmp_path: Path, documents: Documents) -> None:
    with running(tmp_path, documents=documents, sweep=None) as stack, ThreadPoolExecutor(1) as executor:
        sid = stack.sheet(TEXTS)
        held = stack.simulator.faults.add(
            "drive.share", "hold", 1, lambda where, _: permission_id(worker(stack)) in where
        )
        stack.run(sid)
        assert held.wait()
        again = executor.submit(stack.run, sid, mode="all")
        wait_until(lambda: known_of(stack, sid).get("active_job"), "the second click to have its job")
        held.release()
        status = again.result()
        assert (status.status, status.done) == ("done", len(TEXTS))


def test_a_worker_that_died_while_giving_back_leaves_a_spreadsheet_that_can_be_worked_on(
    tmp_path: Path, documents: Documents
) -> None:
    with running(tmp_path, documents=documents, sweep=None) as stack:
        sid = stack.sheet(TEXTS)
        stack.run(sid)
        until_withdrawn(stack, sid)
        stack.simulator.queue.wait_idle()

        def died(tx: Transaction) -> None:
            """As if the process had been killed between leaving and recording it."""
            snapshot = tx.get(spreadsheet_path(sid))
            assert snapshot is not None
            tx.update(snapshot.path, {"shared": True, "withdraw_at": tx.now})

        documents.transact(died)
        assert stack.run(sid, mode="all").status == "done"
        until_withdrawn(stack, sid)


def test_a_retry_after_the_end_gives_access_again(tmp_path: Path, documents: Documents) -> None:
    broken = {"text 3"}
    model = ScriptedModel(default=lambda prompt: Blocked("SAFETY") if prompt.fields[0][1] in broken else None)
    with running(tmp_path, documents=documents, model=model) as stack:
        sid = stack.sheet(TEXTS)
        job = stack.run(sid).job_id
        until_withdrawn(stack, sid)
        broken.clear()
        stack.retry(sid, job)
        status = stack.wait(job)
        assert (status.status, status.failed) == ("done", 0)
        until_withdrawn(stack, sid)


def test_an_organisation_that_forbids_sharing_refuses_the_click_and_nothing_is_left_behind(
    tmp_path: Path, documents: Documents
) -> None:
    with running(tmp_path, documents=documents) as stack:
        sid = stack.sheet(TEXTS)
        stack.simulator.files.rules.external_sharing = False
        with pytest.raises(JobBlocked) as refused:
            stack.start(sid)
        assert refused.value.code == "sharing_refused"
        assert known_of(stack, sid).get("active_job") is None
        assert stack.model.calls == []
        share(stack, sid, worker(stack))  # whoever may share beyond the domain does
        stack.simulator.files.rules.external_sharing = True  # the folder is the user's own to share
        assert stack.run(sid).status == "done"


def test_an_owner_who_forbids_resharing_is_the_one_to_ask(tmp_path: Path, documents: Documents) -> None:
    with running(tmp_path, documents=documents) as stack:
        user = stack.simulator.identity.user.email
        rows = [["id", "text"], *([str(number), text] for number, text in enumerate(TEXTS))]
        sid = stack.simulator.workbooks.create("Theirs", rows, owner=OWNER)
        files = stack.simulator.files
        share(stack, sid, user)
        files.change(replace(files.known(sid), writers_can_share=False))
        files.grant(sid, user)
        with pytest.raises(JobBlocked) as refused:
            stack.start(sid)
        assert refused.value.code == "resharing_refused"
        share(stack, sid, worker(stack))
        assert stack.run(sid).status == "done"
        assert reached_by(stack, sid) == {user, worker(stack)}, "what the owner gave stays"


def test_somebody_who_may_only_read_has_nothing_written(tmp_path: Path, documents: Documents) -> None:
    with running(tmp_path, documents=documents) as stack:
        user = stack.simulator.identity.user.email
        sid = stack.simulator.workbooks.create("Theirs", [["id", "text"], ["1", "text 1"]], owner=OWNER)
        share(stack, sid, user, "reader")
        share(stack, sid, worker(stack))
        stack.simulator.files.grant(sid, user)
        with pytest.raises(JobBlocked) as refused:
            stack.start(sid)
        assert refused.value.code == "read_only"
        assert stack.cells(sid) == [["id", "text"], ["1", "text 1"]]
        assert stack.model.calls == []


def test_a_spreadsheet_that_was_not_opened_to_the_add_on_is_asked_for(
    tmp_path: Path, documents: Documents
) -> None:
    with running(tmp_path, documents=documents) as stack:
        sid = stack.simulator.workbooks.create("Mine", [["id", "text"], ["1", "text 1"]])
        with pytest.raises(GrantMissing):
            stack.start(sid)
        assert known_of(stack, sid) == {}


@pytest.mark.parametrize(
    ("happening", "reason"),
    [
        ("unshared", "access_removed"),
        ("spreadsheet trashed", "spreadsheet_trashed"),
        ("results trashed", "results_trashed"),
    ],
)
def test_what_people_do_in_the_middle_pauses_the_job_and_resume_loses_nothing(
    tmp_path: Path, documents: Documents, monkeypatch: pytest.MonkeyPatch, happening: str, reason: str
) -> None:
    monkeypatch.setattr("addon.jobs.people.TRASH_SECONDS", 0.0)
    monkeypatch.setattr("addon.jobs.endings.SHARE_SECONDS", 0.0)  # no share is on its way
    once = Once("after commit")
    with running(tmp_path, documents=documents, reach=once) as stack:
        sid, files = stack.sheet(TEXTS * 3), stack.simulator.files
        stack.simulator.queue.pause()
        job = stack.start(sid).job_id
        (part,) = job_of(stack, job).parts["0"]
        once.action = {
            "unshared": lambda: files.unshare(files.known(sid), permission_id(worker(stack))),
            "spreadsheet trashed": lambda: files.trash(files.known(sid)),
            "results trashed": lambda: files.trash(files.known(part)),
        }[happening]
        stack.simulator.queue.resume()
        status = stack.wait(job)
        assert (status.status, status.reason) == ("paused", reason)
        for trashed in (sid, part):
            files.trash(files.known(trashed), trashed=False)
        with stack.user() as user:
            stack.services.access.give(user, sid)
        resume(documents, stack.services.tasks, job)
        status = stack.wait(job, until=frozenset({"done"}))
        assert_all_beside_their_text(stack, sid)
        assert (status.done, len(stack.model.calls)) == (3 * len(TEXTS), len(TEXTS)), "nothing is paid twice"


def test_a_results_file_deleted_in_the_middle_pauses_the_job(
    tmp_path: Path, documents: Documents, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("addon.jobs.endings.SHARE_SECONDS", 0.0)  # no share is on its way
    once = Once("after commit")
    with running(tmp_path, documents=documents, reach=once, model=ScriptedModel(latency=0.02)) as stack:
        sid, files = stack.sheet([f"text {number}" for number in range(120)]), stack.simulator.files
        stack.simulator.queue.pause()
        job = stack.start(sid).job_id
        (part,) = job_of(stack, job).parts["0"]
        once.action = lambda: files.remove(files.known(part))
        stack.simulator.queue.resume()
        status = stack.wait(job)
        assert (status.status, status.reason) == ("paused", "results_file_gone")


def test_a_token_that_expires_in_the_middle_of_a_click_leaves_nothing_active(
    tmp_path: Path, documents: Documents
) -> None:
    with running(tmp_path, documents=documents) as stack:
        sid, identity = stack.sheet(TEXTS), stack.simulator.identity

        def expire(*_: object) -> bool:
            identity.expire_issued()
            return False

        stack.simulator.faults.add("drive.create", "status", 1, expire)
        with pytest.raises(GrantMissing):
            stack.start(sid)
        stack.simulator.faults.clear()
        assert known_of(stack, sid).get("active_job") is None
        assert stack.model.calls == []
        status = stack.run(sid)
        assert (status.status, status.done) == ("done", len(TEXTS))
        assert len(stack.parts(status.job_id)) == len(TEXTS)


def test_access_that_takes_a_while_to_be_seen_is_waited_for(
    tmp_path: Path, documents: Documents, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("addon.jobs.endings.SHARE_DELAY", 0.1)
    with running(tmp_path, documents=documents) as stack:
        stack.simulator.files.rules.grant_lag = 3
        status = stack.run(stack.sheet(TEXTS))
        assert (status.status, status.done) == ("done", len(TEXTS))


def test_a_full_drive_refuses_the_click(tmp_path: Path, documents: Documents) -> None:
    with running(tmp_path, documents=documents) as stack:
        sid = stack.sheet(TEXTS)
        stack.simulator.files.rules.full = {stack.simulator.identity.user.email}
        with pytest.raises(JobBlocked) as refused:
            stack.start(sid)
        assert refused.value.code == "storage_full"
        assert known_of(stack, sid).get("active_job") is None
        until_withdrawn(stack, sid)


# delegation


def delegated(simulator: Simulator) -> dict[str, Any]:
    """The administrator lets the worker act as people, and the operator chooses it."""
    simulator.oauth.delegated = frozenset(SCOPES)
    return {"worker_access": "delegation"}


def test_by_delegation_the_worker_acts_as_the_person_and_nothing_is_shared(
    tmp_path: Path, documents: Documents
) -> None:
    with running(tmp_path, documents=documents, arrange=delegated) as stack:
        sid = stack.sheet(TEXTS)
        status = stack.run(sid)
        assert (status.status, status.done) == ("done", len(TEXTS))
        job, user = job_of(stack, status.job_id), stack.simulator.identity.user.email
        files = [sid, job.folder, job.run_file, *job.parts["0"]]
        assert [reached_by(stack, file) for file in files] == [set()] * len(files)
        assert {stack.simulator.files.known(file).owner for file in files} == {user}
        assert stack.simulator.counts["drive.share"] == 0


def test_scopes_that_no_administrator_has_authorised_pause_the_job(
    tmp_path: Path, documents: Documents
) -> None:
    with running(tmp_path, documents=documents, arrange=lambda _: {"worker_access": "delegation"}) as stack:
        status = stack.run(stack.sheet(TEXTS))
        assert (status.status, status.reason) == ("paused", "delegation_refused")
        assert stack.model.calls == []
        stack.simulator.oauth.delegated = frozenset(SCOPES)
        resume(documents, stack.services.tasks, status.job_id)
        assert stack.wait(status.job_id, until=frozenset({"done"})).done == len(TEXTS)


# shared drive


def in_a_shared_drive(simulator: Simulator) -> dict[str, Any]:
    """The operator keeps results in a shared drive that the worker manages."""
    drive = simulator.files.create_drive("Results", {simulator.identity.worker.email: "fileOrganizer"})
    return {"worker_access": "shared_drive", "shared_drive": drive}


def test_results_in_a_shared_drive_take_nobodys_storage_and_the_person_may_read_them(
    tmp_path: Path, documents: Documents
) -> None:
    with running(tmp_path, documents=documents, arrange=in_a_shared_drive) as stack:
        sid, user = stack.sheet(TEXTS), stack.simulator.identity.user.email
        stack.simulator.files.rules.full = {user}
        status = stack.run(sid)
        assert (status.status, status.done) == ("done", len(TEXTS))
        job = job_of(stack, status.job_id)
        drive, files = stack.services.settings.shared_drive, stack.simulator.files
        assert list(files.known(job.folder).parents) == [drive]
        assert {files.known(file).owner for file in (job.folder, *job.parts["0"])} == {""}
        assert files.role(files.known(job.parts["0"][0]), user) == "reader"
        until_withdrawn(stack, sid)
        again = job_of(stack, stack.run(sid, mode="all").job_id)
        assert again.folder == job.folder


def test_a_shared_drive_the_worker_cannot_use_is_the_operators_to_mend(
    tmp_path: Path, documents: Documents
) -> None:
    def arrange(simulator: Simulator) -> dict[str, Any]:
        drive = simulator.files.create_drive("Results", {OWNER: "organizer"})
        return {"worker_access": "shared_drive", "shared_drive": drive}

    with running(tmp_path, documents=documents, arrange=arrange) as stack:
        sid = stack.sheet(TEXTS)
        with pytest.raises(GoogleError) as refused:
            stack.start(sid)
        assert isinstance(refused.value, JobBlocked) and refused.value.code == "shared_drive_refused"
        assert known_of(stack, sid).get("active_job") is None
        until_withdrawn(stack, sid)


def test_changing_the_way_of_access_between_runs_loses_nothing(tmp_path: Path, documents: Documents) -> None:
    with running(tmp_path, documents=documents) as stack:
        sid = stack.sheet(TEXTS)
        stack.run(sid)
        drive = in_a_shared_drive(stack.simulator)
        moved = Stack(
            stack.simulator,
            replace(stack.services, settings=replace(stack.services.settings, **drive)),
        )
        column = stack.simulator.workbooks.get(sid)
        column.set_cell(0, 1, 1, "another text")
        for row in range(2, 7):
            column.set_cell(0, row, 2, "")
        status = moved.run(sid)
        assert (status.status, status.done) == ("done", len(TEXTS))
        assert len(stack.model.calls) == len(TEXTS) + 1, "what is in the old part is shown from there"
        assert stack.column(sid)[0] == summary_of("another text")


# the user's token


def test_the_users_token_is_nowhere_once_the_click_is_over(tmp_path: Path, documents: Documents) -> None:
    with running(tmp_path, documents=documents) as stack:
        with stack.user() as user:
            token = user.drive._session._credentials.token
        assert token.startswith("ya29.")
        status = stack.run(stack.sheet(TEXTS))
        assert status.status == "done"
        kept = stack.services.workers._kept
        assert set(kept) == {""}
        worker_token = kept[""].drive._session._credentials.token
        holder = stack.simulator.identity.caller(worker_token)
        assert holder is not None and holder.email == worker(stack)
