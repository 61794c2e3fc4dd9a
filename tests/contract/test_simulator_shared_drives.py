"""Shared drives: who reaches what by which role, and what needs nobody's storage."""

from collections.abc import Iterator

import pytest
from simulated import Api, caller, error, reason, write

from addon.simulator.server import Simulator

FOLDER = "application/vnd.google-apps.folder"
KNOWN = {"supportsAllDrives": "true"}
ROLES = ("reader", "commenter", "writer", "fileOrganizer", "organizer")


@pytest.fixture
def worker(simulator: Simulator) -> Iterator[Api]:
    with caller(simulator, simulator.identity.worker) as other:
        yield other


@pytest.fixture
def email(simulator: Simulator) -> str:
    return simulator.identity.worker.email


@pytest.fixture
def drive(simulator: Simulator, email: str) -> str:
    """A shared drive in which the worker manages content and the user writes."""
    members = {email: "fileOrganizer", simulator.identity.user.email: "writer"}
    return simulator.files.create_drive("Team", members)


def new_id(api: Api) -> str:
    (found,) = api.ok("GET", "/drive/v3/files/generateIds", params={"count": "1"})["ids"]
    return found


def folder_in(api: Api, parent: str) -> str:
    body = {"name": "f", "mimeType": FOLDER, "parents": [parent]}
    return api.ok("POST", "/drive/v3/files", body, params=KNOWN)["id"]


def share(api: Api, file_id: str, email: str, role: str = "writer"):
    body = {"type": "user", "role": role, "emailAddress": email}
    return api("POST", f"/drive/v3/files/{file_id}/permissions", body, params=KNOWN)


def test_a_service_account_creates_in_a_shared_drive_what_nobody_owns(
    api: Api, worker: Api, drive: str
) -> None:
    folder = new_id(worker)
    body = {"id": folder, "name": "Summaries", "mimeType": FOLDER, "parents": [drive]}
    assert worker("POST", "/drive/v3/files", body, params=KNOWN).ok
    metadata = {"id": new_id(worker), "name": "a.csv", "parents": [folder]}
    file_id = worker.upload(metadata, b"a", **KNOWN).json()["id"]
    assert file_id == metadata["id"]
    fields = "driveId,parents,ownedByMe,owners,permissions,capabilities"
    shown = api.ok("GET", f"/drive/v3/files/{file_id}", params={"fields": fields, **KNOWN})
    assert shown == {
        "parents": [folder],
        "ownedByMe": False,
        "capabilities": {"canEdit": True, "canShare": True, "canTrash": False, "canDelete": False},
        "driveId": drive,
    }


def test_the_drive_itself_is_a_folder_to_its_members_only(
    api: Api, worker: Api, simulator: Simulator, drive: str
) -> None:
    found = api.ok("GET", f"/drive/v3/files/{drive}", params={"fields": "id,mimeType,driveId", **KNOWN})
    assert found == {"id": drive, "mimeType": FOLDER, "driveId": drive}
    other = simulator.files.create_drive("Others", {"a@example.com": "organizer"})
    assert api("GET", f"/drive/v3/files/{other}", params=KNOWN).status_code == 404
    refused = worker("POST", "/drive/v3/files", {"name": "x", "parents": [other]}, params=KNOWN)
    assert error(refused, 404) == f"File not found: {other}."


def test_without_saying_that_it_knows_shared_drives_a_request_finds_nothing_there(
    api: Api, worker: Api, drive: str, email: str
) -> None:
    file_id = api.upload({"name": "a", "parents": [drive]}, b"a", **KNOWN).json()["id"]
    path = f"/drive/v3/files/{file_id}"
    permission = {"type": "user", "role": "reader", "emailAddress": email}
    for response in (
        api("GET", path),
        api("PATCH", path, {"name": "b"}),
        api("DELETE", path),
        api.upload({}, b"b", file_id),
        api.upload({"name": "b", "parents": [drive]}, b"b"),
        api("POST", "/drive/v3/files", {"name": "b", "parents": [drive]}),
        api("GET", f"{path}/permissions"),
        api("POST", f"{path}/permissions", permission),
        api("GET", path, params={"supportsAllDrives": "false"}),
    ):
        assert reason(response, 404) == "notFound"
    for params in ({}, KNOWN, {"includeItemsFromAllDrives": "true"}):
        assert api.ok("GET", "/drive/v3/files", params=params)["files"] == []
    params = {"includeItemsFromAllDrives": "true", **KNOWN}
    listed = api.ok("GET", "/drive/v3/files", params=params)["files"]
    assert [file["id"] for file in listed] == [file_id]


def test_a_resumable_upload_into_a_shared_drive_needs_to_say_so_only_once(
    worker: Api, simulator: Simulator, drive: str
) -> None:
    params = {"uploadType": "resumable", **KNOWN}
    start = worker("POST", "/upload/drive/v3/files", {"name": "a", "parents": [drive]}, params=params)
    made = worker.ok("PUT", start.headers["Location"].removeprefix(simulator.url), data=b"long")
    assert simulator.files.read(made["id"]) == b"long"


@pytest.mark.parametrize("role", ROLES)
def test_each_role_may_do_its_own(worker: Api, api: Api, simulator: Simulator, email: str, role: str) -> None:
    user = simulator.identity.user.email
    drive = simulator.files.create_drive("Team", {email: role, user: "organizer"})
    folder = folder_in(api, drive)
    file_id = api.upload({"name": "a", "parents": [folder]}, b"a", **KNOWN).json()["id"]
    path = f"/drive/v3/files/{file_id}"
    rank = ROLES.index(role)
    assert worker("GET", path, params=KNOWN).ok
    assert worker.upload({}, b"b", file_id, **KNOWN).ok == (rank >= 2)
    assert worker.upload({"name": "b", "parents": [folder]}, b"b", **KNOWN).ok == (rank >= 2)
    assert share(worker, file_id, "x@example.com").ok == (rank >= 2)
    assert share(worker, folder, "x@example.com").ok == (rank >= 3)
    assert share(worker, drive, "x@example.com", "reader").ok == (rank >= 4)
    assert worker("PATCH", path, {"trashed": True}, params=KNOWN).ok == (rank >= 3)
    assert worker("DELETE", path, params=KNOWN).ok == (rank >= 4)


def test_an_item_of_a_shared_drive_has_exactly_one_parent(api: Api, worker: Api, drive: str) -> None:
    first, second = folder_in(worker, drive), folder_in(worker, drive)
    file_id = worker.upload({"name": "a", "parents": [first]}, b"a", **KNOWN).json()["id"]
    path = f"/drive/v3/files/{file_id}"
    body = {"name": "b", "parents": [first, second]}
    assert reason(worker("POST", "/drive/v3/files", body, params=KNOWN), 403) == "multipleParentsNotAllowed"
    for change in ({"addParents": second}, {"removeParents": first}):
        assert reason(worker("PATCH", path, {}, params={**change, **KNOWN}), 403) == "teamDrivesParentLimit"
    move = {"addParents": second, "removeParents": first, "fields": "parents", **KNOWN}
    assert worker.ok("PATCH", path, {}, params=move) == {"parents": [second]}


def test_access_to_one_file_may_be_given_to_who_is_no_member(
    api: Api, worker: Api, simulator: Simulator, email: str
) -> None:
    drive = simulator.files.create_drive("Team", {simulator.identity.user.email: "writer"})
    file_id, other = (
        api.upload({"name": name, "parents": [drive]}, b"a", **KNOWN).json()["id"] for name in "ab"
    )
    assert share(api, file_id, email).ok
    assert worker.upload({}, b"b", file_id, **KNOWN).ok
    assert worker("GET", f"/drive/v3/files/{other}", params=KNOWN).status_code == 404


@pytest.mark.parametrize(
    ("restriction", "status", "word"),
    [
        ("domainUsersOnly", 403, "teamDriveDomainUsersOnlyRestriction"),
        ("driveMembersOnly", 403, "teamDriveTeamMembersOnlyRestriction"),
    ],
)
def test_a_restricted_drive_keeps_its_items_to_itself(
    api: Api, worker: Api, simulator: Simulator, email: str, restriction: str, status: int, word: str
) -> None:
    members = {simulator.identity.user.email: "organizer"}
    drive = simulator.files.create_drive("Team", members, restrictions=[restriction])
    file_id = api.upload({"name": "a", "parents": [drive]}, b"a", **KNOWN).json()["id"]
    assert reason(share(api, file_id, email), status) == word
    simulator.files.share(simulator.files.known(file_id), email, "writer")  # before it was restricted
    assert worker("GET", f"/drive/v3/files/{file_id}", params=KNOWN).status_code == 404
    member = share(api, drive, email, "fileOrganizer")
    if restriction == "driveMembersOnly":
        assert member.ok
        assert worker.upload({}, b"b", file_id, **KNOWN).ok
    else:
        assert reason(member, status) == word


def test_nobodys_storage_is_used(api: Api, simulator: Simulator, drive: str) -> None:
    simulator.files.rules.full = [simulator.identity.user.email]
    file_id = api.upload({"name": "a", "parents": [drive]}, b"a", **KNOWN).json()["id"]
    assert api.upload({}, b"b", file_id, **KNOWN).ok


def test_a_members_access_to_one_file_cannot_be_withdrawn(
    api: Api, drive: str, worker: Api, email: str
) -> None:
    file_id = api.upload({"name": "a", "parents": [drive]}, b"a", **KNOWN).json()["id"]
    path = f"/drive/v3/files/{file_id}/permissions"
    fields = {"fields": "permissions(id,emailAddress,role)", **KNOWN}
    listed = api.ok("GET", path, params=fields)["permissions"]
    (member,) = [item for item in listed if item["emailAddress"] == email]
    assert member["role"] == "fileOrganizer"
    assert reason(api("DELETE", f"{path}/{member['id']}", params=KNOWN), 403) == "cannotDeletePermission"


def test_spreadsheets_of_a_shared_drive_are_read_and_written(
    api: Api, worker: Api, simulator: Simulator, drive: str
) -> None:
    sid = simulator.workbooks.create("Inquiries", [["id"]], parent=drive)
    assert worker.change(sid, write(0, 0, "changed")).ok
    assert api.values(sid) == [["changed"]]
    assert api("DELETE", f"/drive/v3/files/{drive}", params=KNOWN).status_code == 501


def test_a_drive_with_a_role_or_restriction_that_is_none_is_not_made(simulator: Simulator) -> None:
    with pytest.raises(ValueError, match="boss"):
        simulator.files.create_drive("Team", {"a@example.com": "boss"})
    with pytest.raises(ValueError, match="noGuests"):
        simulator.files.create_drive("Team", {}, restrictions=["noGuests"])  # type: ignore[list-item]
    assert simulator.files.list() == []
