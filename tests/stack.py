"""The whole product in one process, for tests: simulator, service over HTTP, and a scripted model."""

import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from addon.google.access import UserAccess
from addon.jobs.commands import retry
from addon.jobs.parts import PartRow, decode
from addon.jobs.plan import StartRequest
from addon.jobs.records import Job, job_path
from addon.jobs.start import Started, start
from addon.jobs.status import JobStatus, job_status
from addon.jobs.steps import Reach
from addon.llm.base import LanguageModel
from addon.llm.scripted import ScriptedModel
from addon.local import local_stack
from addon.services import Services
from addon.settings import Settings
from addon.simulator.page_events import SCOPES
from addon.simulator.server import Simulator
from addon.store.documents import Documents

PATIENCE = 60.0
"""Seconds a test waits for something that takes far less: a failure, not a timing."""

OVER = frozenset({"done", "cancelled", "paused"})


def wait_until(condition: Callable[[], Any], what: str, patience: float = PATIENCE) -> Any:
    """Wait for a condition to be truthy and return its value; fail after ``patience`` seconds."""
    end = time.monotonic() + patience
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > end:
            pytest.fail(f"waited {patience:g} s in vain: {what}")
        time.sleep(0.01)


class Stack:
    """One running product and the words tests use about it."""

    def __init__(self, simulator: Simulator, services: Services) -> None:
        self.simulator = simulator
        self.services = services
        self.documents = services.documents

    def sheet(self, texts: Sequence[str], *, title: str = "Inquiries") -> str:
        """Make a workbook of ids and texts that the user opens to the add-on; its id."""
        rows = [["id", "text"], *([str(number), text] for number, text in enumerate(texts, 1))]
        return self.workbook(title, rows)

    def workbook(self, title: str, rows: Sequence[Sequence[str]], **more: Any) -> str:
        """Make a workbook of any rows that the user opens to the add-on; its id."""
        spreadsheet_id = self.simulator.workbooks.create(title, rows, **more)
        self.simulator.files.grant(spreadsheet_id, self.simulator.identity.user.email)
        return spreadsheet_id

    def user(self) -> AbstractContextManager[UserAccess]:
        """The user inside a click: a token as Workspace issues it, good for granted files only."""
        email = self.simulator.identity.user.email
        return self.services.user_access(self.simulator.identity.issue(email, SCOPES), "tester", email)

    def request(self, spreadsheet_id: str, **changes: Any) -> StartRequest:
        """A click with the usual choices."""
        request = StartRequest(
            spreadsheet_id=spreadsheet_id,
            sheet_id=0,
            source_columns=("text",),
            output_column="Summary",
            instructions="Summarise.",
            mode="new_or_changed",
            request_id=uuid.uuid4().hex,
        )
        return replace(request, **changes)

    def start(self, spreadsheet_id: str, **changes: Any) -> Started:
        """Click Run summaries."""
        with self.user() as user:
            return start(self.services.desk, user, self.request(spreadsheet_id, **changes))

    def run(self, spreadsheet_id: str, **changes: Any) -> JobStatus:
        """Click, and wait until the job is over or paused."""
        return self.wait(self.start(spreadsheet_id, **changes).job_id)

    def retry(self, spreadsheet_id: str, job_id: str, error_class: str | None = None) -> None:
        """Click Retry."""
        with self.user() as user:
            self.services.access.give(user, spreadsheet_id)
            retry(self.documents, self.services.tasks, job_id, error_class)

    def status(self, job_id: str) -> JobStatus:
        """The job as people see it."""
        status = job_status(self.documents, job_id)
        assert status is not None
        return status

    def wait(self, job_id: str, *, until: frozenset[str] = OVER) -> JobStatus:
        """Wait until the job has one of the statuses."""

        def reached() -> JobStatus | None:
            status = self.status(job_id)
            return status if status.status in until else None

        result: JobStatus = wait_until(reached, f"job {job_id} to be one of {sorted(until)}")
        return result

    def cells(self, spreadsheet_id: str, sheet_id: int = 0) -> list[list[str]]:
        """What the sheet shows."""
        return self.simulator.workbooks.get(spreadsheet_id).cells(sheet_id)

    def column(self, spreadsheet_id: str, title: str = "Summary") -> list[str]:
        """The texts below a title, padded to the sheet's height."""
        header, *rows = self.cells(spreadsheet_id)
        index = header.index(title)
        return [row[index] if index < len(row) else "" for row in rows]

    def pairs(self, spreadsheet_id: str) -> list[tuple[str, str]]:
        """Text and summary of every row."""
        return list(
            zip(self.column(spreadsheet_id, "text"), self.column(spreadsheet_id, "Summary"), strict=True)
        )

    def parts(self, job_id: str) -> list[PartRow]:
        """All results in the job's parts."""
        snapshot = self.documents.get(job_path(job_id))
        assert snapshot is not None
        files = [file_id for ids in Job.from_data(snapshot.data).parts.values() for file_id in ids]
        return [row for file_id in files for row in decode(self.simulator.files.read(file_id))]

    @property
    def model(self) -> ScriptedModel:
        """The scripted model."""
        assert isinstance(self.services.model, ScriptedModel)
        return self.services.model


def summary_of(text: str) -> str:
    """What the scripted model answers by default."""
    return f"summary of {' '.join(text.split())[:40].rstrip()}"


def assert_all_beside_their_text(stack: Stack, spreadsheet_id: str) -> None:
    """Promise 3: every row's summary is the one made from its text."""
    wrong = [(text, got) for text, got in stack.pairs(spreadsheet_id) if text and got != summary_of(text)]
    assert wrong == []


QUICK = Settings(
    display_seconds=0.2, commit_seconds=0.1, lease_ttl=10.0, concurrency=8, commit_rows=20, model_timeout=30.0
)
"""Settings under which a job of some dozen rows takes a fraction of a second."""


@contextmanager
def running(
    state: Path,
    *,
    documents: Documents | None = None,
    model: LanguageModel | None = None,
    settings: Settings = QUICK,
    reach: Reach | None = None,
    sweep: float | None = 0.5,
    wrap: Callable[[Services], Services] = lambda services: services,
    arrange: Callable[[Simulator], Mapping[str, Any]] = lambda _: {},
) -> Iterator[Stack]:
    """Run the product on a state folder, with a store, model and fault points of the test's.

    ``wrap`` may put something around the services; ``arrange`` prepares the simulator and returns settings
    that depend on it.
    """
    arranged: dict[str, Any] = {}

    def prepare(simulator: Simulator) -> None:
        arranged.update(arrange(simulator))

    def adapt(services: Services) -> Services:
        services = replace(services, settings=replace(services.settings, **arranged))
        if documents is not None:
            services.documents.close()
            services = replace(services, documents=documents)
        if reach is not None:
            services = replace(services, reach=reach)
        return wrap(replace(services, model=model or ScriptedModel()))

    with local_stack(replace(settings, state=state), sweep=sweep, prepare=prepare, adapt=adapt) as (
        simulator,
        services,
    ):
        yield Stack(simulator, services)
