"""Sheets, Drive and the queue in memory, and a job worked link by link in the test's own thread.

They behave like Google where the core depends on it, and nowhere else; the simulator is the faithful one.
"""

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from addon.google.access import UserAccess, WorkerAccess
from addon.google.areas import Area
from addon.google.cells import Run
from addon.google.drive import FileInfo
from addon.google.errors import FileMissing, OutOfGrid
from addon.google.sheets import SheetInfo, SpreadsheetInfo
from addon.jobs.access import Access
from addon.jobs.chain import LinkMessage
from addon.jobs.link import LinkAnswer, run_link
from addon.jobs.parts import PartRow, decode
from addon.jobs.plan import StartRequest
from addon.jobs.records import Failure, Job, Shard, failures_path, job_path, shard_path
from addon.jobs.start import Desk, start
from addon.jobs.status import JobStatus, job_status
from addon.jobs.tools import Tools
from addon.llm.base import LanguageModel
from addon.llm.scripted import ScriptedModel
from addon.settings import Settings
from addon.store.sqlite import SqliteDocuments

SID = "the-sheet"
SOURCE, OUTPUT = 1, 2
"""Columns of the source text and of the summary."""

QUICK = Settings(
    concurrency=4,
    commit_rows=10,
    commit_seconds=0.02,
    display_seconds=0.05,
    lease_ttl=20.0,
    model_timeout=5.0,
    worker_account="worker@example.com",
)


class Sheets:
    """One sheet of ragged rows.

    Attributes
    ----------
    deaf
        Rows whose output cell takes no value, as a cell inside a merged one.
    before_write
        Called with the runs before they are written.
    """

    def __init__(self, rows: list[list[str]], height: int | None = None) -> None:
        self.rows = rows
        self.height = height or max(1000, len(rows))
        self.reads = 0
        self.writes: list[Sequence[Run]] = []
        self.deaf: set[int] = set()
        self.before_write: Callable[[Sequence[Run]], object] = lambda _: None

    def info(self, spreadsheet_id: str, *, deadline: float | None = None) -> SpreadsheetInfo:
        sheet = SheetInfo(0, "Sheet", 0, self.height, 26, False, "GRID")
        return SpreadsheetInfo("Book", "en_US", "UTC", (sheet,))

    def read(
        self, spreadsheet_id: str, sheet_id: int, areas: Sequence[Area], *, deadline: float | None = None
    ) -> list[list[list[str]]]:
        self.reads += 1
        return [self._block(area) for area in areas]

    def _block(self, area: Area) -> list[list[str]]:
        if area.first_row >= self.height:
            raise OutOfGrid("outside", service="Sheets", status=400)
        block = [row[area.first_column : area.end_column] for row in self.rows[area.first_row : area.end_row]]
        for row in block:
            while row and row[-1] == "":
                row.pop()
        while block and not block[-1]:
            block.pop()
        return block

    def write(
        self,
        spreadsheet_id: str,
        sheet_id: int,
        runs: Sequence[Run],
        *,
        grid: tuple[int, int] | None = None,
        deadline: float | None = None,
    ) -> dict[int, str]:
        self.before_write(runs)
        if any(run.row + len(run.texts) > self.height for run in runs):
            raise OutOfGrid("outside", service="Sheets", status=400)
        self.writes.append(runs)
        for run in runs:
            for row, text in enumerate(run.texts, run.row):
                if row not in self.deaf:
                    self.put(row, run.column, text)
        return {}

    def put(self, row: int, column: int, text: str) -> None:
        """Type into a cell."""
        while len(self.rows) <= row:
            self.rows.append([])
        cells = self.rows[row]
        cells += [""] * (column + 1 - len(cells))
        cells[column] = text

    def column(self, column: int = OUTPUT) -> list[str]:
        """A column's cells below the header."""
        return [row[column] if column < len(row) else "" for row in self.rows[1:]]


class Drive:
    """Files by id. ``before_update`` is called with id and content before they are written."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.made = 0
        self.updates = 0
        self.downloads = 0
        self.trash: set[str] = set()
        self.shared: dict[str, set[str]] = {}
        self.before_update: Callable[[str, bytes], object] = lambda *_: None

    def generate_ids(self, n: int, *, deadline: float | None = None) -> list[str]:
        self.made += n
        return [f"file{self.made - number}" for number in range(n)]

    def create_folder(
        self, file_id: str, name: str, properties: Mapping[str, str], *, parent: str | None = None
    ) -> FileInfo:
        self.files[file_id] = b""
        return self.info(file_id)

    def create_file(
        self,
        file_id: str,
        name: str,
        parent: str,
        content: bytes,
        *,
        mime_type: str,
        properties: object = None,
    ) -> FileInfo:
        self.files.setdefault(file_id, content)
        return self.info(file_id)

    def update(self, file_id: str, content: bytes, deadline: float | None = None) -> FileInfo:
        self.before_update(file_id, content)
        if file_id not in self.files:
            raise FileMissing("gone", service="Drive", status=404)
        self.updates += 1
        self.files[file_id] = content
        return self.info(file_id)

    def download(self, file_id: str, *, deadline: float | None = None) -> bytes:
        self.downloads += 1
        if file_id not in self.files:
            raise FileMissing("gone", service="Drive", status=404)
        return self.files[file_id]

    def info(self, file_id: str, *, deadline: float | None = None) -> FileInfo:
        if file_id not in self.files:
            raise FileMissing("gone", service="Drive", status=404)
        content = self.files[file_id]
        sha256 = hashlib.sha256(content).hexdigest()
        link, trashed = f"https://drive/{file_id}", file_id in self.trash
        return FileInfo(file_id, file_id, link, len(content), sha256, trashed, {}, can_edit=True)

    def shared_with(self, file_id: str, email: str, *, deadline: float | None = None) -> bool:
        return email in self.shared.get(file_id, set())

    def share(self, file_id: str, email: str, role: str = "writer", *, deadline: float | None = None) -> None:
        self.shared.setdefault(file_id, set()).add(email)

    def leave(self, file_id: str, email: str, *, deadline: float | None = None) -> None:
        self.shared[file_id].discard(email)


class Tasks:
    """The queue: what was enqueued and not taken yet, each name once."""

    def __init__(self) -> None:
        self.queue: list[dict[str, Any]] = []
        self.names: list[str] = []
        self.due: list[Any] = []

    def enqueue(
        self, name: str, path: str, body: Mapping[str, str | int], *, not_before: object = None
    ) -> bool:
        if name in self.names:
            return False
        self.names.append(name)
        self.due.append(not_before)
        self.queue.append(dict(body))
        return True


class World:
    """A user, a sheet, and the service that works for them."""

    def __init__(
        self,
        folder: Path,
        texts: Iterable[str],
        *,
        model: LanguageModel | None = None,
        settings: Settings = QUICK,
        reach: Callable[[str], None] = lambda _: None,
    ) -> None:
        rows = [["id", "text"], *([str(number), text] for number, text in enumerate(texts, 1))]
        self.sheets, self.drive, self.tasks = Sheets(rows), Drive(), Tasks()
        self.documents = SqliteDocuments(folder / "store.db")
        self.model = model or ScriptedModel()
        self.settings = settings
        access = WorkerAccess(self.sheets, self.drive)  # type: ignore[arg-type]
        self.workers: Any = SimpleNamespace(acting_as=lambda email="": access)
        self.drive.files[SID] = b""
        self.stopping = False
        self.reach = reach
        self.clicks = 0
        self.answers: list[LinkAnswer] = []

    def start(self, **changes: Any) -> str:
        """Click Run summaries; the job's id."""
        self.clicks += 1
        request = StartRequest(
            SID, 0, ("text",), "Summary", "Summarise.", "new_or_changed", f"click{self.clicks}"
        )
        desk = Desk(self.documents, self.tasks, self.model, self.settings, self.access)  # type: ignore[arg-type]
        user = UserAccess("user", "user@example.com", self.sheets, self.drive)  # type: ignore[arg-type]
        return start(desk, user, replace(request, **changes)).job_id

    @property
    def access(self) -> Access:
        return Access(self.documents, self.workers, self.settings)

    def start_with_column(self) -> str:
        """Click on a sheet that has its output column already."""
        self.sheets.rows[0].append("Summary")
        return self.start()

    def link(self) -> LinkAnswer:
        """Deliver the oldest task."""
        tools = Tools(
            self.documents,
            self.workers,
            self.model,
            self.settings,
            self.access,
            lambda: self.stopping,
            self.reach,
        )
        task = self.tasks.queue.pop(0)
        answer = run_link(tools, self.tasks, LinkMessage(**task))  # type: ignore[arg-type]
        if answer.status >= 300:
            self.tasks.queue.append(task)
        self.answers.append(answer)
        return answer

    def work(self, most: int = 20) -> None:
        """Deliver tasks until none is left, at most ``most``."""
        while self.tasks.queue and most:
            self.link()
            most -= 1
        assert most, "the chain does not end"

    def run(self, **changes: Any) -> JobStatus:
        """Click, and work until nothing is left to do."""
        job = self.start(**changes)
        self.work()
        return self.status(job)

    def status(self, job: str) -> JobStatus:
        status = job_status(self.documents, job)
        assert status is not None
        return status

    def job(self, job: str) -> Job:
        snapshot = self.documents.get(job_path(job))
        assert snapshot is not None
        return Job.from_data(snapshot.data)

    def shard(self, job: str, number: int = 0) -> Shard:
        snapshot = self.documents.get(shard_path(job, number))
        assert snapshot is not None
        return Shard.from_data(snapshot.data)

    def failures(self, job: str) -> list[Failure]:
        return [Failure.from_data(item.data) for item in self.documents.query(failures_path(job))]

    def part(self, file_id: str) -> list[PartRow]:
        return decode(self.drive.files[file_id])


@contextmanager
def world(folder: Path, texts: Iterable[str], **options: Any) -> Any:
    """A `World` whose store is closed in the end."""
    made = World(folder, texts, **options)
    try:
        yield made
    finally:
        made.documents.close()


def summary_of(text: str) -> str:
    """What the scripted model answers by default."""
    return f"summary of {' '.join(text.split())[:40].rstrip()}"
