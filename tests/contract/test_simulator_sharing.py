"""Who may share a file, who may not, and what the trash does: as Drive has it."""

import sqlite3
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import requests
from simulated import Api, caller, error, reason, write

from addon.simulator.server import Simulator

FOLDER = "application/vnd.google-apps.folder"
OTHER = "colleague@example.com"


@pytest.fixture
def worker(simulator: Simulator) -> Iterator[Api]:
    with caller(simulator, simulator.identity.worker) as other:
        yield other


@pytest.fixture
def email(simulator: Simulator) -> str:
    return simulator.identity.worker.email


@pytest.fixture
def operator(simulator: Simulator) -> Iterator[Api]:
    """Whoever runs the simulator, from another process."""
    made = Api(simulator.url, simulator.identity.operator_token)
    with made.session:
        yield made


@pytest.fixture
def borrowed(simulator: Simulator) -> str:
    """A colleague's workbook that the user may write to."""
    sid = simulator.workbooks.create("Theirs", [["id"]], owner=OTHER)
    simulator.files.share(simulator.files.known(sid), simulator.identity.user.email, "writer")
    return sid


def share(api: Api, file_id: str, email: str, role: str = "writer") -> requests.Response:
    body = {"type": "user", "role": role, "emailAddress": email}
    return api("POST", f"/drive/v3/files/{file_id}/permissions?sendNotificationEmail=false", body)


def shown(api: Api, file_id: str, fields: str) -> dict:
    return api.ok("GET", f"/drive/v3/files/{file_id}", params={"fields": fields})


def test_an_organisation_may_forbid_to_share_with_other_domains(
    api: Api, simulator: Simulator, email: str
) -> None:
    sid = simulator.workbooks.create("Inquiries", [["id"]])
    simulator.files.rules.external_sharing = False
    assert reason(share(api, sid, email), 400) == "shareOutNotPermitted"
    assert share(api, sid, OTHER).ok  # the same domain
    simulator.files.rules.external_sharing = True
    assert share(api, sid, email).ok


def test_an_owner_may_keep_writers_from_sharing(api: Api, simulator: Simulator, borrowed: str) -> None:
    assert shown(api, borrowed, "capabilities(canEdit,canShare),ownedByMe,writersCanShare") == {
        "capabilities": {"canEdit": True, "canShare": True},
        "ownedByMe": False,
        "writersCanShare": True,
    }
    simulator.files.change(replace(simulator.files.known(borrowed), writers_can_share=False))
    assert shown(api, borrowed, "capabilities(canEdit,canShare)") == {
        "capabilities": {"canEdit": True, "canShare": False}
    }
    assert reason(share(api, borrowed, "x@example.com"), 403) == "insufficientFilePermissions"
    assert api.change(borrowed, write(0, 0, "changed")).ok


def test_only_the_owner_says_whether_writers_may_share(api: Api, worker: Api, email: str) -> None:
    file_id = api.upload({"name": "a"}, b"a").json()["id"]
    share(api, file_id, email)
    path = f"/drive/v3/files/{file_id}"
    assert share(worker, file_id, OTHER).ok
    assert reason(worker("PATCH", path, {"writersCanShare": False}), 403) == "insufficientFilePermissions"
    assert api("PATCH", path, {"writersCanShare": False}).ok
    assert reason(share(worker, file_id, "x@example.com"), 403) == "insufficientFilePermissions"
    assert share(api, file_id, "x@example.com").ok


def test_permissions_are_listed_for_whoever_may_share(
    api: Api, worker: Api, simulator: Simulator, email: str
) -> None:
    file_id = api.upload({"name": "a"}, b"a").json()["id"]
    path = f"/drive/v3/files/{file_id}/permissions"
    share(api, file_id, email, "reader")
    assert reason(worker("GET", path), 403) == "insufficientFilePermissions"
    assert "permissions" not in shown(worker, file_id, "id,permissions")
    share(api, file_id, email, "writer")
    assert len(worker.ok("GET", path)["permissions"]) == 2
    simulator.files.change(replace(simulator.files.known(file_id), writers_can_share=False))
    assert reason(worker("GET", path), 403) == "insufficientFilePermissions"


def test_anybody_may_give_up_their_own_access_and_finds_its_id_without_listing(
    api: Api, worker: Api, email: str
) -> None:
    file_id = api.upload({"name": "a"}, b"a").json()["id"]
    given = share(api, file_id, email, "reader").json()["id"]
    user = worker.ok("GET", "/drive/v3/about", params={"fields": "user(permissionId,emailAddress)"})["user"]
    assert user == {"permissionId": given, "emailAddress": email}
    path = f"/drive/v3/files/{file_id}/permissions"
    owner = api.ok("GET", path)["permissions"][0]["id"]
    assert reason(worker("DELETE", f"{path}/{owner}"), 403) == "insufficientFilePermissions"
    assert worker("DELETE", f"{path}/{given}").status_code == 204
    assert worker("DELETE", f"{path}/{given}").status_code == 404


def test_about_needs_fields(api: Api) -> None:
    assert reason(api("GET", "/drive/v3/about"), 400) == "required"


def test_a_person_has_one_permission_although_two_folders_give_it(api: Api, email: str) -> None:
    folder = api.ok("POST", "/drive/v3/files", {"name": "f", "mimeType": FOLDER})["id"]
    file_id = api.upload({"name": "a", "parents": [folder]}, b"a").json()["id"]
    share(api, folder, email, "writer")
    share(api, file_id, email, "reader")
    found = api.ok(
        "GET", f"/drive/v3/files/{file_id}/permissions", params={"fields": "permissions(emailAddress,role)"}
    )
    assert found["permissions"][1:] == [{"emailAddress": email, "role": "writer"}]


def test_new_access_may_take_a_number_of_requests_to_arrive(
    api: Api, worker: Api, simulator: Simulator, email: str
) -> None:
    sid = simulator.workbooks.create("Inquiries", [["id"]])
    simulator.files.rules.grant_lag = 2
    assert share(api, sid, email).ok
    assert shown(api, sid, "permissions(role)")["permissions"][1] == {"role": "writer"}
    assert worker("GET", f"/drive/v3/files/{sid}").status_code == 404
    assert share(api, sid, email).ok  # does not begin anew
    assert worker("GET", f"/v4/spreadsheets/{sid}").status_code == 403
    assert worker("GET", f"/v4/spreadsheets/{sid}").ok
    assert share(api, sid, email, "reader").ok
    assert worker("GET", f"/drive/v3/files/{sid}").ok  # a change of role is no new access


def test_new_access_by_a_folder_arrives_late_as_well(
    api: Api, worker: Api, simulator: Simulator, email: str
) -> None:
    folder = api.ok("POST", "/drive/v3/files", {"name": "f", "mimeType": FOLDER})["id"]
    file_id = api.upload({"name": "a", "parents": [folder]}, b"a").json()["id"]
    simulator.files.rules.grant_lag = 1
    share(api, folder, email)
    assert worker("GET", f"/drive/v3/files/{file_id}").status_code == 404
    assert worker("GET", f"/drive/v3/files/{file_id}").ok


def test_what_is_in_the_trash_says_so_and_works_on(
    api: Api, worker: Api, simulator: Simulator, email: str
) -> None:
    sid = simulator.workbooks.create("Inquiries", [["id"]])
    folder = api.ok("POST", "/drive/v3/files", {"name": "f", "mimeType": FOLDER})["id"]
    file_id = api.upload({"name": "a", "parents": [folder]}, b"a").json()["id"]
    for one in (sid, folder):
        share(api, one, email)
        assert api("PATCH", f"/drive/v3/files/{one}", {"trashed": True}).ok
    assert worker.change(sid, write(0, 0, "changed")).ok
    assert worker.values(sid) == [["changed"]]
    assert worker.upload({}, b"changed", file_id, fields="trashed").json() == {"trashed": True}
    late = api.upload({"name": "late", "parents": [folder]}, b"b", fields="id,trashed").json()
    assert late["trashed"]
    assert shown(worker, sid, "trashed,capabilities(canTrash)") == {
        "trashed": True,
        "capabilities": {"canTrash": False},
    }
    assert api.ok("GET", "/drive/v3/files", params={"q": "trashed = false"})["files"] == []
    simulator.files.trash(simulator.files.known(folder), trashed=False)
    assert shown(worker, file_id, "trashed") == {"trashed": False}


def test_a_deleted_folder_takes_along_what_is_in_it(api: Api, simulator: Simulator) -> None:
    folder = api.ok("POST", "/drive/v3/files", {"name": "f", "mimeType": FOLDER})["id"]
    file_id = api.upload({"name": "a", "parents": [folder]}, b"a").json()["id"]
    sid = simulator.workbooks.create("Inquiries", [["id"]], parent=folder)
    assert api("DELETE", f"/drive/v3/files/{folder}").status_code == 204
    assert api("GET", f"/drive/v3/files/{file_id}").status_code == 404
    assert error(api("GET", f"/v4/spreadsheets/{sid}"), 404) == "Requested entity was not found."


def test_a_full_drive_takes_nothing_new_and_no_new_content(
    api: Api, worker: Api, simulator: Simulator, email: str
) -> None:
    file_id = api.upload({"name": "a"}, b"a").json()["id"]
    share(api, file_id, email)
    simulator.files.rules.full = {simulator.identity.user.email}
    for response in (
        api("POST", "/drive/v3/files", {"name": "x"}),
        api.upload({"name": "x"}, b"x"),
        api.upload({}, b"x", file_id),
        worker.upload({}, b"x", file_id),  # the owner's storage counts
        api("PATCH", f"/upload/drive/v3/files/{file_id}", {}, params={"uploadType": "resumable"}),
    ):
        assert reason(response, 403) == "storageQuotaExceeded"
    assert api("PATCH", f"/drive/v3/files/{file_id}", {"name": "b"}).ok
    assert simulator.files.read(file_id) == b"a"


def test_another_process_does_what_people_and_administrators_do(
    api: Api, worker: Api, simulator: Simulator, email: str, operator: Api
) -> None:
    sid = simulator.workbooks.create("Inquiries", [["id"]])
    path = f"/simulator/files/{sid}"
    you = simulator.identity.user.email
    assert operator.ok("PATCH", "/simulator/rules", {"external_sharing": False})["external_sharing"] is False
    assert share(api, sid, email).status_code == 400
    operator.ok("PATCH", "/simulator/rules", {"external_sharing": True, "full": [you]})
    assert api.upload({"name": "x"}, b"x").status_code == 403
    operator.ok("PUT", f"{path}/access/{email}", {"role": "reader"})
    assert worker("GET", f"/v4/spreadsheets/{sid}").ok
    operator.ok("DELETE", f"{path}/access/{email}")
    assert worker("GET", f"/v4/spreadsheets/{sid}").status_code == 403
    operator.ok("PATCH", path, {"owner": OTHER, "writersCanShare": False, "trashed": True})
    assert operator.ok("GET", path) == {
        "id": sid,
        "owner": OTHER,
        "trashed": True,
        "access": [{"email": OTHER, "role": "owner"}, {"email": you, "role": "writer"}],
    }
    assert reason(share(api, sid, email), 403) == "insufficientFilePermissions"
    operator.ok("PATCH", path, {"trashed": False})
    assert shown(api, sid, "trashed") == {"trashed": False}
    operator.ok("DELETE", path)
    assert api("GET", f"/v4/spreadsheets/{sid}").status_code == 404
    members = {email: "organizer"}
    body = {"name": "Team", "members": members, "restrictions": ["driveMembersOnly"]}
    drive = operator.ok("POST", "/simulator/drives", body)["id"]
    assert operator.ok("GET", f"/simulator/files/{drive}")["access"] == [
        {"email": email, "role": "organizer"}
    ]
    operator.ok("PUT", f"/simulator/files/{drive}/grants/{you}")
    assert simulator.files.granted(drive, you)
    operator.ok("DELETE", f"/simulator/files/{drive}/grants/{you}")
    assert not simulator.files.granted(drive, you)


def test_another_process_is_told_what_is_wrong_with_its_request(
    api: Api, simulator: Simulator, email: str, operator: Api
) -> None:
    path = f"/simulator/files/{simulator.workbooks.create('Inquiries', [['id']])}"
    assert operator("POST", "/simulator/drives", {"members": {email: "boss"}}).status_code == 400
    assert operator("GET", "/simulator/files/nothing").status_code == 404
    assert operator("PATCH", "/simulator/rules", {"sharing": "no"}).status_code == 400
    assert operator("PUT", f"{path}/access/{email}", {"role": "boss"}).status_code == 400
    assert api("GET", "/simulator/rules").status_code == 401


def test_rules_of_a_file_and_grants_outlast_a_restart(tmp_path: Path) -> None:
    with Simulator(tmp_path / "state") as first:
        drive = first.files.create_drive(
            "Team", {"a@example.com": "writer"}, restrictions=["driveMembersOnly"]
        )
        file_id = first.files.add("you@example.com", "a", "text/csv")
        first.files.change(replace(first.files.known(file_id), writers_can_share=False))
        first.files.grant(file_id, "You@example.com")
    with Simulator(tmp_path / "state") as second:
        file = second.files.known(file_id)
        assert (file.writers_can_share, file.drive) == (False, None)
        assert second.files.granted(file_id, "you@example.com")
        assert second.files.role(second.files.known(drive), "a@example.com") == "writer"
        second.files.revoke(file_id, "you@example.com")
        assert not second.files.granted(file_id, "you@example.com")


def test_a_folder_of_an_earlier_version_is_opened(tmp_path: Path) -> None:
    with Simulator(tmp_path / "state") as first:
        file_id = first.files.add("you@example.com", "a", "text/csv", content=b"kept")
    connection = sqlite3.connect(tmp_path / "state" / "simulator.sqlite3")
    for column in ("drive", "writers_can_share"):
        connection.execute(f"ALTER TABLE files DROP COLUMN {column}")
    connection.commit()
    connection.close()
    with Simulator(tmp_path / "state") as second:
        file = second.files.known(file_id)
        assert (file.drive, file.writers_can_share, second.files.read(file_id)) == (None, True, b"kept")
