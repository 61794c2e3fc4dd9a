"""What a job logs in production, from the click to its end: every line, with its fields."""

import json
import threading
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
import requests
from recording import json_lines
from stack import QUICK, Stack, running, wait_until

from addon.jobs.commands import cancel, pause, resume
from addon.jobs.records import Job, job_path, shard_path
from addon.jobs.sweep import sweep
from addon.llm.base import Blocked, Fatal, Prompt, Transient
from addon.llm.scripted import ScriptedModel
from addon.logs import bound
from addon.simulator.identity import TASKS_ACCOUNT
from addon.store.documents import Documents, Transaction

BESIDE = {"request", "display_beat", "sweep"}
"""Events whose number and place among the others depend on time."""


@pytest.fixture
def stream() -> Iterator[StringIO]:
    """What is logged."""
    with json_lines() as stream:
        yield stream


def events(stream: StringIO, *names: str) -> list[dict[str, Any]]:
    """All events but those beside the course of things; or those of these names."""
    lines = [json.loads(line) for line in stream.getvalue().splitlines()]
    assert all({"severity", "time", "message", "logger"} <= line.keys() for line in lines)
    assert not [line for line in lines if "flagged" in line]
    found = [line for line in lines if "event" in line]
    return [line for line in found if (line["event"] in names if names else line["event"] not in BESIDE)]


def fields(line: dict[str, Any], *without: str) -> dict[str, Any]:
    """An event's own fields, but for times."""
    beside = {"severity", "time", "message", "logger", "event", "logging.googleapis.com/labels", *without}
    return {name: value for name, value in line.items() if name not in beside}


def answers(broken: set[str]) -> ScriptedModel:
    """A model that blocks some texts."""
    return ScriptedModel(
        default=lambda prompt: Blocked("SAFETY") if prompt.fields[0][1] in broken else None,
    )


def clicked(stack: Stack, sid: str, **changes: Any) -> str:
    """Click, and deliver the first link only once the click is over."""
    stack.simulator.queue.pause()
    job: str = stack.start(sid, **changes).job_id
    stack.simulator.queue.resume()
    return job


def ended(stack: Stack, stream: StringIO, count: int = 1) -> None:
    """Wait until so many links have ended and their answers were logged."""

    def links() -> bool:
        answered = [line for line in events(stream, "request") if line["route"] == "/tasks/link"]
        return len(answered) >= count and len(events(stream, "link_ended")) >= count

    wait_until(links, f"{count} links to have ended")


def test_a_job_logs_its_click_its_links_its_commits_and_its_end(
    tmp_path: Path, documents: Documents, stream: StringIO
) -> None:
    broken = {"text 3"}
    settings = replace(QUICK, commit_rows=100, commit_seconds=5.0)
    with running(
        tmp_path, documents=documents, model=answers(broken), settings=settings, sweep=None
    ) as stack:
        sid = stack.sheet(["", *(f"text {number}" for number in range(6))])
        job = clicked(stack, sid)
        stack.wait(job)
        ended(stack, stream)
        part_files = _part_files(stack, job)
    started, claimed, commit, failed, done, withdrawn, end = events(stream)
    (part,) = part_files
    link = {"job": job, "shard": 0, "epoch": 1, "step": 0}
    assert (started["event"], fields(started, "milliseconds")) == (
        "job_started",
        {
            "job": job,
            "spreadsheet": sid,
            "who": "tester",
            "mode": "new_or_changed",
            "model": "scripted",
            "shards": 1,
            "rows": 6,
            "distinct": 6,
            "todo": 6,
            "blank": 1,
            "parts": 1,
        },
    )
    assert (claimed["event"], fields(claimed)) == (
        "link_claimed",
        {**link, "attempt": 1, "unclean": False, "fence": 1},
    )
    assert (commit["event"], fields(commit, "upload_milliseconds", "transaction_milliseconds")) == (
        "commit",
        {**link, "rows": 5, "failed": 1, "calls": 6, "file": part},
    )
    assert commit["upload_milliseconds"] > 0 and commit["transaction_milliseconds"] > 0
    assert (failed["event"], len(failed["key"]), fields(failed, "key")) == (
        "row_failed",
        8,
        {**link, "error_class": "blocked", "detail": "SAFETY"},
    )
    assert (done["event"], fields(done, "seconds")) == (
        "job_ended",
        {**link, "who": "system", "outcome": "done", "rows_done": 5, "rows_failed": 1},
    )
    assert (withdrawn["event"], withdrawn["spreadsheet"]) == ("access_withdrawn", sid)
    assert (end["event"], fields(end, "seconds")) == (
        "link_ended",
        {
            **link,
            "outcome": "finished",
            "reason": "",
            "attempt": 1,
            "calls": 6,
            "rows": 5,
            "failed": 1,
            "repeated": 0,
            "commits": 1,
            "in_vain": 0,
            "delay_seconds": 0.0,
        },
    )
    assert {line["logging.googleapis.com/labels"]["job"] for line in events(stream)} == {job}
    beats = events(stream, "display_beat")
    assert sum(beat["cells"] for beat in beats) == 5
    assert fields(beats[-1], "cells", "milliseconds") == {**link, "moved": 0, "left": 0, "refused": 0}
    (request,) = events(stream, "request")
    assert fields(request, "milliseconds", "httpRequest") == {
        "route": "/tasks/link",
        "method": "POST",
        "status": 200,
    }


def _part_files(stack: Stack, job: str) -> set[str]:
    snapshot = stack.documents.get(job_path(job))
    assert snapshot is not None
    return {file_id for ids in Job.from_data(snapshot.data).parts.values() for file_id in ids}


def test_a_pause_a_resume_a_retry_and_a_cancel_say_who_and_why(
    tmp_path: Path, documents: Documents, stream: StringIO
) -> None:
    mood: list[object] = [Fatal("insufficient_quota")]
    model = ScriptedModel(default=lambda _: mood[0])  # type: ignore[arg-type, return-value]
    with running(tmp_path, documents=documents, model=model, sweep=None) as stack:
        sid = stack.sheet(["one", "two"])
        job = clicked(stack, sid)
        stack.wait(job)
        ended(stack, stream)
        mood[0] = Blocked("SAFETY")
        with bound(who="0123abcd"):
            resume(stack.documents, stack.services.tasks, job)
            resume(stack.documents, stack.services.tasks, job)
        stack.wait(job, until=frozenset({"done"}))
        ended(stack, stream, 2)
        with bound(who="0123abcd"):
            stack.retry(sid, job, "blocked")
        stack.wait(job, until=frozenset({"done"}))
        ended(stack, stream, 3)
        stack.simulator.queue.pause()
        other = stack.start(sid, mode="all").job_id
        with bound(who="0123abcd"):
            for command in (pause, pause, cancel, cancel):
                command(stack.documents, other)
    (refused,) = events(stream, "model_refused")
    assert (refused["reason"], refused["severity"], refused["job"]) == ("insufficient_quota", "ERROR", job)
    told = [
        (line["event"], line["who"], line.get("reason") or line.get("error_class"), line["severity"])
        for line in events(stream, "job_paused", "job_resumed", "job_retried", "job_cancelled", "job_ended")
    ]
    assert told == [
        ("job_paused", "system", "insufficient_quota", "WARNING"),
        ("job_resumed", "0123abcd", None, "INFO"),
        ("job_ended", "system", None, "INFO"),
        ("job_retried", "0123abcd", "blocked", "INFO"),
        ("job_ended", "system", None, "INFO"),
        ("job_paused", "0123abcd", "by_person", "INFO"),
        ("job_cancelled", "0123abcd", "by_person", "INFO"),
    ]
    assert [line["outcome"] for line in events(stream, "link_ended")] == ["paused", "finished", "finished"]


def test_a_provider_that_wants_to_be_left_alone_is_said_once(
    tmp_path: Path, documents: Documents, stream: StringIO
) -> None:
    gate = threading.Event()
    model = ScriptedModel(gate=gate)
    model.enqueue([Transient("rate_limited", wait=1.0, rate_limited=True)] * 2)
    with running(tmp_path, documents=documents, model=model, sweep=None) as stack:
        job = clicked(stack, stack.sheet(["one", "two"]))
        assert model.wait_until_in_flight(2)
        gate.set()
        stack.wait(job)
        model.enqueue([Transient("overloaded", wait=100.0)])
        second = clicked(stack, stack.sheet(["three"]))
        ended(stack, stream, 2)
    (slowed,) = events(stream, "model_slowed")
    assert (slowed["job"], slowed["reason"], slowed["wait_seconds"] >= 1.0) == (job, "rate_limited", True)
    (suspended,) = events(stream, "model_suspended")
    assert fields(suspended) == {
        "job": second,
        "shard": 0,
        "epoch": 1,
        "step": 0,
        "wait_seconds": 100.0,
        "silent": False,
        "reason": "overloaded",
    }
    end = events(stream, "link_ended")[-1]
    assert (end["outcome"], end["delay_seconds"] >= 90) == ("handed_over", True)


def test_a_crash_and_the_links_after_it_are_told_apart(
    tmp_path: Path, documents: Documents, stream: StringIO
) -> None:
    crashes = [True]

    def reach(step: str) -> None:
        if step == "after part upload" and crashes:
            crashes.clear()
            raise RuntimeError("with a text nobody may see")

    settings = replace(QUICK, lease_ttl=3.0)
    with running(tmp_path, documents=documents, settings=settings, reach=reach, sweep=None) as stack:
        job = clicked(stack, stack.sheet(["one", "two"]))
        stack.wait(job)
        ended(stack, stream, 2)
    crashed, finished = events(stream, "link_ended")
    assert (crashed["outcome"], crashed["reason"], crashed["severity"]) == (
        "crashed",
        "RuntimeError",
        "ERROR",
    )
    assert finished["outcome"] == "finished"
    (unforeseen,) = events(stream, "unexpected")
    assert (unforeseen["error"], unforeseen["place"].split(":")[0]) == (
        "RuntimeError",
        "test_logs_of_a_job.py",
    )
    first, second = events(stream, "link_claimed")
    assert [(line["unclean"], line["attempt"], line["severity"]) for line in (first, second)] == [
        (False, 1, "INFO"),
        (True, 2, "WARNING"),
    ]
    held = events(stream, "link_refused")
    assert {(line["reason"], line["status"]) for line in held} <= {("held", 409)}
    assert "nobody may see" not in stream.getvalue()


def test_a_sweep_says_what_alerts_need(tmp_path: Path, documents: Documents, stream: StringIO) -> None:
    model = ScriptedModel(default=_stuck)
    with running(tmp_path, documents=documents, model=model, sweep=None) as stack:
        stack.run(stack.sheet(["breaks"]))
        paused = stack.sheet(["two"])
        stack.simulator.queue.pause()
        pause(stack.documents, stack.start(paused).job_id)
        lost = stack.start(stack.sheet(["three"])).job_id
        _due(documents, lost, 100.0)
        assert sweep(stack.documents, stack.services.tasks, stack.services.access) == 1
        assert sweep(stack.documents, stack.services.tasks, stack.services.access) == 0
    first, second = events(stream, "sweep")
    assert fields(first, "milliseconds", "oldest_waiting_seconds") == {
        "active": 1,
        "running": 0,
        "queued": 1,
        "paused": 2,
        "stuck": 1,
        "enqueued": 1,
        "cancelled": 0,
        "skipped": 0,
        "pruned": 0,
    }
    assert first["severity"] == "INFO"
    assert 100 <= first["oldest_waiting_seconds"] <= second["oldest_waiting_seconds"] < 200, (
        "it still waits, although it was enqueued again"
    )


def _stuck(prompt: Prompt) -> None:
    raise RuntimeError(prompt.fields[0][1])


def _due(documents: Documents, job: str, ago: float) -> None:
    """Make a job's link as late as that, in seconds."""

    def work(tx: Transaction) -> None:
        snapshot = tx.get(shard_path(job, 0))
        assert snapshot is not None
        tx.update(snapshot.path, {"due_at": snapshot.data["due_at"] - timedelta(seconds=ago)})

    documents.transact(work)


def test_what_the_store_and_google_fail_at_is_told_by_class(
    tmp_path: Path, documents: Documents, stream: StringIO
) -> None:
    with running(tmp_path, documents=documents, sweep=None) as stack:
        sid = stack.sheet(["one"])
        stack.simulator.faults.add(
            "tasks.create", "status", times=None, status=403, reason="PERMISSION_DENIED"
        )
        job = stack.start(sid).job_id
        _due(documents, job, 100.0)
        sweep(stack.documents, stack.services.tasks, stack.services.access)
    (enqueue,) = events(stream, "enqueue_failed")
    assert fields(enqueue, "reason", "error") == {"job": job, "shard": 0}
    (heal,) = events(stream, "heal_failed")
    assert (heal["job"], heal["error"]) == (job, enqueue["error"])
    (swept,) = events(stream, "sweep")
    assert (swept["skipped"], swept["severity"]) == (1, "WARNING")


def test_strangers_are_told_by_where_and_why(tmp_path: Path, documents: Documents, stream: StringIO) -> None:
    with running(tmp_path, documents=documents, sweep=None) as stack:
        url = stack.services.settings.base_url
        assert requests.post(f"{url}/tasks/link", timeout=30).status_code == 401
        forged = {"Authorization": "Bearer forged-by-somebody"}
        assert requests.post(f"{url}/sidebar/home", json=EVENT, headers=forged, timeout=30).status_code == 401
        queue = stack.simulator.identity.id_token(f"{url}/tasks", TASKS_ACCOUNT)
        token = {"Authorization": f"Bearer {queue}"}
        dropped = requests.post(f"{url}/tasks/link", json={"job": "not an id"}, headers=token, timeout=30)
        assert dropped.status_code == 200
    refused = events(stream, "caller_refused")
    assert [(line["surface"], line["severity"]) for line in refused] == [
        ("tasks", "WARNING"),
        ("sidebar", "WARNING"),
    ]
    assert all(line["reason"] for line in refused)
    (line,) = events(stream, "task_dropped")
    assert line["severity"] == "ERROR"
    assert "forged" not in stream.getvalue() and "not an id" not in stream.getvalue()


EVENT = {"commonEventObject": {"hostApp": "SHEETS", "platform": "WEB", "userLocale": "en-US"}}
