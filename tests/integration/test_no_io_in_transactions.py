"""No I/O inside a transaction: whoever waits for its documents would wait for Google."""

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import requests
from stack import running

from addon.jobs.commands import pause, resume
from addon.llm.base import Outcome, Prompt
from addon.llm.scripted import ScriptedModel
from addon.store.documents import Documents, Transaction

inside = threading.local()


class Watched:
    """A store that knows which thread is in the body of a transaction."""

    def __init__(self, documents: Documents) -> None:
        self._documents = documents
        self.bodies = 0

    def transact(self, work: Callable[[Transaction], Any], **options: Any) -> Any:
        """Run the body with the thread marked."""

        def marked(tx: Transaction) -> Any:
            self.bodies += 1
            inside.transaction = True
            try:
                return work(tx)
            finally:
                inside.transaction = False

        return self._documents.transact(marked, **options)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._documents, name)


def _refuse_inside(what: str) -> None:
    if getattr(inside, "transaction", False):
        raise AssertionError(f"{what} inside a transaction")


class WatchedModel(ScriptedModel):
    """A model that must not be called inside a transaction."""

    def summarise(self, prompt: Prompt, timeout: float) -> Outcome:
        """Check, then answer."""
        _refuse_inside("a model call")
        return super().summarise(prompt, timeout)


@pytest.fixture
def no_requests_inside(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fail on any HTTP request that a transaction's body makes."""
    send = requests.Session.send

    def watched(self: requests.Session, request: Any, **options: Any) -> requests.Response:
        _refuse_inside(f"{request.method} {request.url}")
        return send(self, request, **options)

    monkeypatch.setattr(requests.Session, "send", watched)


def test_a_whole_job_makes_no_request_inside_a_transaction(
    tmp_path: Path, documents: Documents, no_requests_inside: None
) -> None:
    watched = Watched(documents)
    with running(tmp_path, documents=watched, model=WatchedModel()) as stack:  # type: ignore[arg-type]
        sid = stack.sheet([f"text {number}" for number in range(60)])
        job = stack.start(sid).job_id
        pause(watched, job)  # type: ignore[arg-type]
        resume(watched, stack.services.tasks, job)  # type: ignore[arg-type]
        assert stack.wait(job, until=frozenset({"done"})).done == 60
    assert watched.bodies > 5


def test_the_watch_notices_a_request(tmp_path: Path, documents: Documents, no_requests_inside: None) -> None:
    watched = Watched(documents)

    def work(tx: Transaction) -> None:
        requests.get("http://127.0.0.1:9/", timeout=1)

    with pytest.raises(AssertionError, match="inside a transaction"):
        watched.transact(work)
