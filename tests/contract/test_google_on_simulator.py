"""The clients against the simulator, which refuses what Google refuses, from sharing to unsharing."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from addon.google.drive import Drive
from addon.google.errors import FileMissing, JobBlocked, OutOfGrid
from addon.google.session import Session, bearer
from addon.google.sheets import Area, Run, Sheets
from addon.google.tasks import Tasks
from addon.simulator.server import Simulator


@dataclass(frozen=True)
class Desk:
    """A workbook of the user's, and both callers' clients."""

    spreadsheet: str
    worker_email: str
    user_sheets: Sheets
    user_drive: Drive
    worker_sheets: Sheets
    worker_drive: Drive
    tasks: Tasks


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    csv = tmp_path / "reviews.csv"
    csv.write_text("id,Text\n001,hello\n,\n003,world\n")
    with Simulator(tmp_path / "state") as google:
        user, worker = google.identity.user, google.identity.worker
        users, workers = Session(bearer(user.token)), Session(bearer(worker.token))
        tasks = Tasks(
            "projects/local/locations/local/queues/summaries",
            google.url,
            "http://127.0.0.1:9",
            account=worker.email,
            credentials=lambda: bearer(worker.token),
        )
        yield Desk(
            google.workbooks.open_csv(csv),
            worker.email,
            Sheets(users, google.url, "user"),
            Drive(users, google.url, "user"),
            Sheets(workers, google.url, "worker"),
            Drive(workers, google.url, "worker"),
            tasks,
        )
        for client in (users, workers, tasks):
            client.close()


def test_areas_come_back_as_the_sheet_shows_them(desk: Desk) -> None:
    (sheet,) = desk.user_sheets.info(desk.spreadsheet).sheets
    assert desk.user_sheets.read(
        desk.spreadsheet,
        sheet.sheet_id,
        [Area(0, 1, 0, None), Area(1, None, 1, 2), Area(1, None, 0, 1), Area(1, 3, 0, 1), Area(5, 9, 0, 2)],
    ) == [[["id", "Text"]], [["hello"], [], ["world"]], [["001"], [], ["003"]], [["001"]], []]


def test_only_a_shared_workbook_is_open_to_the_worker_and_only_while_it_is_shared(desk: Desk) -> None:
    def code_of_reading() -> str:
        with pytest.raises(JobBlocked) as raised:
            desk.worker_sheets.info(desk.spreadsheet)
        return raised.value.code

    assert code_of_reading() == "access_removed"
    for _ in range(2):
        desk.user_drive.share(desk.spreadsheet, desk.worker_email)
    assert desk.worker_sheets.info(desk.spreadsheet).title == "reviews"
    for _ in range(2):
        desk.worker_drive.unshare(desk.spreadsheet, desk.worker_email)
    assert code_of_reading() == "access_removed"


def test_texts_are_written_beyond_the_grid_and_bad_ones_left_out(desk: Desk) -> None:
    (sheet,) = desk.user_sheets.info(desk.spreadsheet).sheets
    new = sheet.columns
    runs = [Run(1, new, ["=1+1", "", "x" * 60_000, "\ud83d", "00123"])]
    with pytest.raises(OutOfGrid):
        desk.user_sheets.write(desk.spreadsheet, sheet.sheet_id, runs)
    refused = desk.user_sheets.write(desk.spreadsheet, sheet.sheet_id, runs, grid=(sheet.rows, sheet.columns))
    assert refused.keys() == {3, 4}
    shown = desk.user_sheets.read(desk.spreadsheet, sheet.sheet_id, [Area(0, None, new, None)])
    assert shown == [[[], ["=1+1"], [], [], [], ["00123"]]]


def test_a_sheet_that_is_gone_and_rows_that_are_gone_are_told_apart(desk: Desk) -> None:
    with pytest.raises(JobBlocked) as raised:
        desk.user_sheets.read(desk.spreadsheet, 999, [Area(0, 1, 0, 1)])
    assert raised.value.code == "sheet_gone"
    with pytest.raises(OutOfGrid):
        desk.user_sheets.read(desk.spreadsheet, 0, [Area(5000, None, 0, 1)])


def test_files_are_the_users_and_the_worker_fills_them(desk: Desk) -> None:
    folder, file = desk.user_drive.generate_ids(2)
    with pytest.raises(JobBlocked) as raised:
        desk.worker_drive.create_folder(*desk.worker_drive.generate_ids(1), "Summaries", {})
    assert raised.value.code == "storage_full"
    first = desk.user_drive.create_folder(folder, "Summaries", {"job": "j"})
    assert desk.user_drive.create_folder(folder, "Summaries", {"job": "j"}) == first
    made = desk.user_drive.create_file(file, "part.csv", folder, b"", properties={"job": "j"})
    assert desk.user_drive.create_file(file, "part.csv", folder, b"", properties={"job": "j"}) == made
    with pytest.raises(FileMissing):
        desk.worker_drive.download(file)
    desk.user_drive.share(folder, desk.worker_email)
    for content in ("要約\r\n".encode(), b"x" * (6 * 1024 * 1024), b""):
        assert desk.worker_drive.update(file, content, 60).size == len(content)
        assert desk.worker_drive.download(file) == content


def test_a_task_named_twice_is_one_task(desk: Desk) -> None:
    assert desk.tasks.enqueue("a", "/tasks/link", {"job": "j"}) is True
    assert desk.tasks.enqueue("a", "/tasks/link", {"job": "j"}) is False
