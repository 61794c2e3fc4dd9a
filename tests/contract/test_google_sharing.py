"""The clients under the simulator's rules: what lets a worker in, and what stands in its way."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from addon.google.drive import Drive
from addon.google.errors import FileMissing, JobBlocked
from addon.google.session import Session, bearer
from addon.google.sheets import Sheets
from addon.simulator.server import Simulator

OTHER = "colleague@example.com"


@dataclass(frozen=True)
class Desk:
    """A running Google, a workbook of the user's, and both callers' clients."""

    google: Simulator
    spreadsheet: str
    worker_email: str
    user_sheets: Sheets
    user_drive: Drive
    worker_sheets: Sheets
    worker_drive: Drive

    def borrowed(self, *, writers_can_share: bool) -> str:
        """A colleague's workbook that the user may write to."""
        files = self.google.files
        sid = self.google.workbooks.create("Theirs", [["id"]], owner=OTHER)
        files.share(files.known(sid), self.google.identity.user.email, "writer")
        files.change(replace(files.known(sid), writers_can_share=writers_can_share))
        return sid


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    with Simulator(tmp_path / "state") as google:
        assert google.schema_checked
        user, worker = google.identity.user, google.identity.worker
        users, workers = Session(bearer(user.token)), Session(bearer(worker.token))
        yield Desk(
            google,
            google.workbooks.create("Inquiries", [["id"], ["1"]]),
            worker.email,
            Sheets(users, google.url, "user"),
            Drive(users, google.url, "user"),
            Sheets(workers, google.url, "worker"),
            Drive(workers, google.url, "worker"),
        )
        for client in (users, workers):
            client.close()


def test_an_organisation_that_forbids_sharing_is_told_apart_from_an_owner_who_does(desk: Desk) -> None:
    kept = desk.borrowed(writers_can_share=False)
    assert not desk.user_drive.info(kept).can_share
    with pytest.raises(JobBlocked) as raised:
        desk.user_drive.share(kept, desk.worker_email)
    assert raised.value.code == "resharing_refused"
    with pytest.raises(JobBlocked) as raised:
        desk.user_drive.shared_with(kept, desk.worker_email)
    assert raised.value.code == "resharing_refused"
    desk.google.files.rules.external_sharing = False
    assert desk.user_drive.info(desk.spreadsheet).can_share  # Drive does not know whom it is for
    with pytest.raises(JobBlocked) as raised:
        desk.user_drive.share(desk.spreadsheet, desk.worker_email)
    assert raised.value.code == "sharing_refused"


def test_a_writer_shares_what_its_owner_lets_writers_share(desk: Desk) -> None:
    sid = desk.borrowed(writers_can_share=True)
    assert not desk.user_drive.shared_with(sid, desk.worker_email)
    desk.user_drive.share(sid, desk.worker_email)
    assert desk.user_drive.shared_with(sid, desk.worker_email)
    assert desk.worker_sheets.info(sid).title == "Theirs"


@pytest.mark.parametrize("role", ["reader", "writer"])
def test_the_worker_gives_up_its_access_whatever_it_is_and_as_often_as_it_likes(
    desk: Desk, role: str
) -> None:
    desk.user_drive.share(desk.spreadsheet, desk.worker_email, role)
    files = desk.google.files
    files.change(replace(files.known(desk.spreadsheet), writers_can_share=False))  # so that it cannot list
    for _ in range(2):
        desk.worker_drive.leave(desk.spreadsheet, desk.worker_email)
        assert not desk.user_drive.shared_with(desk.spreadsheet, desk.worker_email)
    files.remove(files.known(desk.spreadsheet))
    desk.worker_drive.leave(desk.spreadsheet, desk.worker_email)


def test_leaving_a_file_keeps_the_access_that_its_folder_gives(desk: Desk) -> None:
    folder, file = desk.user_drive.generate_ids(2)
    desk.user_drive.create_folder(folder, "Summaries", {})
    desk.user_drive.create_file(file, "part.csv", folder, b"")
    desk.user_drive.share(folder, desk.worker_email)
    desk.worker_drive.leave(file, desk.worker_email)
    assert desk.worker_drive.update(file, b"on", 20).size == 2
    desk.worker_drive.leave(folder, desk.worker_email)
    with pytest.raises(FileMissing):
        desk.worker_drive.info(file)


def test_whoever_acts_for_the_user_does_not_take_the_users_access_away(desk: Desk) -> None:
    sid = desk.borrowed(writers_can_share=True)
    with pytest.raises(ValueError, match="somebody else"):
        desk.user_drive.leave(sid, desk.worker_email)
    assert desk.user_sheets.info(sid).title == "Theirs"


def test_new_access_that_takes_a_while_comes_by_asking_again(desk: Desk) -> None:
    desk.google.files.rules.grant_lag = 2
    desk.user_drive.share(desk.spreadsheet, desk.worker_email)
    with pytest.raises(JobBlocked) as raised:
        desk.worker_sheets.info(desk.spreadsheet)
    assert raised.value.code == "access_removed"
    with pytest.raises(FileMissing):
        desk.worker_drive.info(desk.spreadsheet)
    assert desk.worker_sheets.info(desk.spreadsheet).title == "Inquiries"


def test_a_worker_keeps_its_results_in_a_shared_drive_and_owns_nothing(desk: Desk) -> None:
    user = desk.google.identity.user.email
    drive = desk.google.files.create_drive("Team", {desk.worker_email: "fileOrganizer", user: "reader"})
    folder, file, spare = desk.worker_drive.generate_ids(3)
    first = desk.worker_drive.create_folder(folder, "Summaries", {"job": "j"}, parent=drive)
    assert desk.worker_drive.create_folder(folder, "Summaries", {"job": "j"}, parent=drive) == first
    made = desk.worker_drive.create_file(file, "part.csv", folder, b"", properties={"job": "j"})
    assert desk.worker_drive.create_file(file, "part.csv", folder, b"", properties={"job": "j"}) == made
    for content in (b"small", b"x" * (6 * 1024 * 1024)):
        assert desk.worker_drive.update(file, content, 60).size == len(content)
        assert desk.user_drive.download(file) == content  # a member reads it
    with pytest.raises(JobBlocked) as raised:
        desk.worker_drive.create_folder(spare, "Summaries", {})
    assert raised.value.code == "storage_full"


def test_a_shared_drive_that_the_worker_is_no_member_of_is_missing(desk: Desk) -> None:
    drive = desk.google.files.create_drive("Team", {OTHER: "organizer"})
    with pytest.raises(FileMissing, match=drive):
        desk.worker_drive.create_folder(*desk.worker_drive.generate_ids(1), "Summaries", {}, parent=drive)


def test_a_shared_drive_in_which_the_worker_only_reads_refuses_it(desk: Desk) -> None:
    drive = desk.google.files.create_drive("Team", {desk.worker_email: "reader"})
    with pytest.raises(JobBlocked) as raised:
        desk.worker_drive.create_folder(*desk.worker_drive.generate_ids(1), "Summaries", {}, parent=drive)
    assert raised.value.code == "access_removed"


@pytest.mark.parametrize("restriction", ["domainUsersOnly", "driveMembersOnly"])
def test_a_spreadsheet_of_a_restricted_drive_cannot_be_shared_with_the_worker(
    desk: Desk, restriction: str
) -> None:
    members = {desk.google.identity.user.email: "organizer"}
    drive = desk.google.files.create_drive("Team", members, restrictions=[restriction])
    sid = desk.google.workbooks.create("Theirs", [["id"]], parent=drive)
    with pytest.raises(JobBlocked) as raised:
        desk.user_drive.share(sid, desk.worker_email)
    assert raised.value.code == "sharing_refused"


def test_results_in_the_trash_are_noticed_by_whoever_writes_them(desk: Desk) -> None:
    folder, file = desk.user_drive.generate_ids(2)
    desk.user_drive.create_folder(folder, "Summaries", {})
    desk.user_drive.create_file(file, "part.csv", folder, b"")
    desk.user_drive.share(folder, desk.worker_email)
    desk.worker_drive.update(file, b"a", 20).check_not_trashed("results_trashed")
    files = desk.google.files
    files.trash(files.known(folder))
    info = desk.worker_drive.update(file, b"ab", 20)
    assert (info.trashed, info.size) == (True, 2)
    with pytest.raises(JobBlocked) as raised:
        info.check_not_trashed("results_trashed")
    assert raised.value.code == "results_trashed"
    files.trash(files.known(folder), trashed=False)
    assert not desk.worker_drive.info(file).trashed


def test_a_spreadsheet_in_the_trash_says_so_and_goes_on_being_written(desk: Desk) -> None:
    desk.user_drive.share(desk.spreadsheet, desk.worker_email)
    files = desk.google.files
    files.trash(files.known(desk.spreadsheet))
    assert desk.worker_sheets.info(desk.spreadsheet).title == "Inquiries"
    with pytest.raises(JobBlocked) as raised:
        desk.worker_drive.info(desk.spreadsheet).check_not_trashed("spreadsheet_trashed")
    assert raised.value.code == "spreadsheet_trashed"


def test_a_users_full_drive_stops_new_files_and_the_workers_writing_alike(desk: Desk) -> None:
    file, new = desk.user_drive.generate_ids(2)
    folder = desk.user_drive.create_folder(*desk.user_drive.generate_ids(1), "Summaries", {}).id
    desk.user_drive.create_file(file, "part.csv", folder, b"")
    desk.user_drive.share(folder, desk.worker_email)
    desk.google.files.rules.full = [desk.google.identity.user.email]
    for call in (
        lambda: desk.user_drive.create_file(new, "part.csv", folder, b""),
        lambda: desk.worker_drive.update(file, b"a", 20),
        lambda: desk.worker_drive.update(file, b"x" * (6 * 1024 * 1024), 20),
    ):
        with pytest.raises(JobBlocked) as raised:
            call()
        assert raised.value.code == "storage_full"
    assert desk.worker_drive.download(file) == b""
