"""The simulated Drive API: ids, ownership, sharing, uploads."""

import hashlib
import socket
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from simulated import Api, caller, error, reason

from addon.simulator.server import Simulator

FOLDER = "application/vnd.google-apps.folder"


@pytest.fixture
def worker(simulator: Simulator) -> Iterator[Api]:
    with caller(simulator, simulator.identity.worker) as other:
        yield other


def new_id(api: Api) -> str:
    (found,) = api.ok("GET", "/drive/v3/files/generateIds", params={"count": "1"})["ids"]
    return found


def share(api: Api, file_id: str, email: str, role: str = "writer") -> dict:
    body = {"type": "user", "role": role, "emailAddress": email}
    return api.ok("POST", f"/drive/v3/files/{file_id}/permissions?sendNotificationEmail=false", body)


def test_a_create_repeated_with_its_generated_id_is_a_conflict_and_makes_no_second_file(
    api: Api, simulator: Simulator
) -> None:
    file_id = new_id(api)
    made = api.ok("POST", "/drive/v3/files", {"id": file_id, "name": "part.csv", "mimeType": "text/csv"})
    assert made == {"kind": "drive#file", "id": file_id, "name": "part.csv", "mimeType": "text/csv"}
    assert reason(api("POST", "/drive/v3/files", {"id": file_id, "name": "part.csv"}), 409) == "fileIdInUse"
    assert [file.id for file in simulator.files.list()] == [file_id]


def test_ids_nobody_generated_or_another_caller_did_are_refused(api: Api, worker: Api) -> None:
    for file_id in ("1" * 33, new_id(worker)):
        assert "not usable" in error(api("POST", "/drive/v3/files", {"id": file_id}), 400)


def test_google_formats_take_no_generated_id_but_folders_do(api: Api) -> None:
    body = {"id": new_id(api), "mimeType": "application/vnd.google-apps.document"}
    assert reason(api("POST", "/drive/v3/files", body), 400) == "generatedIdNotSupported"
    assert api("POST", "/drive/v3/files", {"id": new_id(api), "mimeType": FOLDER}).ok


def test_a_service_account_can_own_nothing_not_even_in_a_shared_folder(
    api: Api, worker: Api, simulator: Simulator
) -> None:
    folder = api.ok("POST", "/drive/v3/files", {"name": "f", "mimeType": FOLDER})["id"]
    share(api, folder, simulator.identity.worker.email)
    for body in ({"name": "x"}, {"name": "x", "parents": [folder]}):
        response = worker("POST", "/drive/v3/files", body)
        assert reason(response, 403) == "storageQuotaExceeded"
        assert "Service Accounts do not have storage quota" in error(response, 403)
    assert reason(worker.upload({"name": "x"}, b"x"), 403) == "storageQuotaExceeded"


def test_a_file_is_seen_and_written_by_whom_it_or_its_folder_is_shared_with(
    api: Api, worker: Api, simulator: Simulator
) -> None:
    email = simulator.identity.worker.email
    folder = api.ok("POST", "/drive/v3/files", {"name": "f", "mimeType": FOLDER})["id"]
    inside = api.upload({"name": "a.csv", "parents": [folder]}, b"a").json()["id"]
    beside = api.upload({"name": "b.csv"}, b"b").json()["id"]
    assert error(worker("GET", f"/drive/v3/files/{inside}"), 404) == f"File not found: {inside}."
    share(api, folder, email)
    assert worker("GET", f"/drive/v3/files/{inside}").ok
    assert worker.upload({}, b"changed", inside).ok
    assert simulator.files.read(inside) == b"changed"
    assert error(worker.upload({}, b"no", beside), 404)
    share(api, beside, email, "reader")
    assert reason(worker.upload({}, b"no", beside), 403) == "insufficientFilePermissions"
    assert simulator.files.read(beside) == b"b"


def test_permissions_are_one_per_person_listed_and_withdrawn(
    api: Api, worker: Api, simulator: Simulator
) -> None:
    email = simulator.identity.worker.email
    file_id = api.upload({"name": "a.csv"}, b"a").json()["id"]
    first, second = share(api, file_id, email, "reader"), share(api, file_id, email.upper())
    assert first["id"] == second["id"]
    path = f"/drive/v3/files/{file_id}/permissions"
    listed = api.ok("GET", path, params={"fields": "permissions(emailAddress,role)"})["permissions"]
    assert listed == [
        {"emailAddress": "you@example.com", "role": "owner"},
        {"emailAddress": email, "role": "writer"},
    ]
    assert api("DELETE", f"{path}/{first['id']}").status_code == 204
    assert error(api("DELETE", f"{path}/{first['id']}"), 404) == f"Permission not found: {first['id']}."
    assert worker("GET", f"/drive/v3/files/{file_id}").status_code == 404
    owner = api.ok("GET", path)["permissions"][0]["id"]
    error(api("DELETE", f"{path}/{owner}"), 403)


@pytest.mark.parametrize(
    "body", [{}, {"type": "user", "role": "writer"}, {"role": "writer", "emailAddress": "a@example.com"}]
)
def test_an_incomplete_permission_is_refused(api: Api, body: dict) -> None:
    file_id = api.upload({"name": "a.csv"}, b"a").json()["id"]
    error(api("POST", f"/drive/v3/files/{file_id}/permissions", body), 400)


def test_every_kind_of_upload_stores_the_same_bytes(api: Api, simulator: Simulator) -> None:
    content = 'id,text\r\n1,"こんにちは"\r\n--sep\r\n'.encode()
    fields = {"fields": "id,size,md5Checksum,sha256Checksum,version,webViewLink,appProperties"}
    metadata = {"name": "a.csv", "appProperties": {"job": "j1"}}
    content = content.replace(b"--sep\r\n", b"")
    made = api.upload(metadata, content, **fields).json()
    assert made["sha256Checksum"] == hashlib.sha256(content).hexdigest()
    assert made["md5Checksum"] == hashlib.md5(content).hexdigest()
    assert (made["size"], made["appProperties"]) == (str(len(content)), {"job": "j1"})
    assert made["webViewLink"] == f"{simulator.url}/file/d/{made['id']}/view"
    path = f"/upload/drive/v3/files/{made['id']}"
    longer = content * 20_000
    sent = api.ok(
        "PATCH",
        path,
        data=longer,
        params={"uploadType": "media", **fields},
        headers={"Content-Type": "text/csv"},
    )
    assert int(sent["version"]) > int(made["version"])
    assert api("GET", f"/drive/v3/files/{made['id']}", params={"alt": "media"}).content == longer
    start = api("PATCH", path, {}, params={"uploadType": "resumable"})
    where = start.headers["Location"].removeprefix(simulator.url)
    size, total = 262_144, len(longer)
    first = api("PUT", where, data=longer[:size], headers={"Content-Range": f"bytes 0-{size - 1}/{total}"})
    assert (first.status_code, first.headers["Range"]) == (308, f"bytes=0-{size - 1}")
    asked = api("PUT", where, headers={"Content-Range": f"bytes */{total}"})
    assert asked.status_code == 308
    rest = {"Content-Range": f"bytes {size}-{total - 1}/{total}"}
    assert api("PUT", where, data=longer[size:], headers=rest).status_code == 200
    assert simulator.files.read(made["id"]) == longer
    assert api("PUT", where, data=b"x").status_code == 404  # the session is over


def test_a_part_that_does_not_go_on_where_the_last_one_ended_is_refused(
    api: Api, simulator: Simulator
) -> None:
    start = api("POST", "/upload/drive/v3/files", {"name": "a"}, params={"uploadType": "resumable"})
    where = start.headers["Location"].removeprefix(simulator.url)
    error(api("PUT", where, data=b"abc", headers={"Content-Range": "bytes 5-7/8"}), 400)
    error(api("PUT", where, data=b"abc", headers={"Content-Range": "bytes 0-2/8"}), 400)
    assert simulator.files.list() == []


def test_an_upload_whose_sender_dies_half_way_changes_nothing(api: Api, simulator: Simulator) -> None:
    file_id = api.upload({"name": "part"}, b"all of it").json()["id"]
    address = urlsplit(simulator.url)
    with socket.create_connection((str(address.hostname), int(address.port or 0)), timeout=10) as sender:
        sender.sendall(
            f"PATCH /upload/drive/v3/files/{file_id}?uploadType=media HTTP/1.1\r\nHost: 127.0.0.1\r\n"
            f"Authorization: {api.session.headers['Authorization']}\r\nContent-Type: text/csv\r\n"
            "Content-Length: 100\r\n\r\nhalf of".encode()
        )
        sender.shutdown(socket.SHUT_WR)
        assert sender.recv(100) == b""
    assert api("GET", f"/drive/v3/files/{file_id}?alt=media").content == b"all of it"


def test_simple_uploads_above_5_mb_are_refused(api: Api) -> None:
    assert api.upload({"name": "a"}, b"x" * (5 * 1024 * 1024 + 1)).status_code == 413


def test_app_properties_are_limited_merged_and_cleared(api: Api) -> None:
    file_id = api.upload({"name": "a", "appProperties": {"a": "1", "b": "2"}}, b"").json()["id"]
    path = f"/drive/v3/files/{file_id}"
    changed = api.ok(
        "PATCH", path, {"appProperties": {"a": None, "c": "3"}}, params={"fields": "appProperties"}
    )
    assert changed == {"appProperties": {"b": "2", "c": "3"}}
    assert api("PATCH", path, {"appProperties": {"k": "v" * 123}}).ok
    assert "124 bytes" in error(api("PATCH", path, {"appProperties": {"k": "あ" * 42}}), 400)
    error(api("PATCH", path, {"appProperties": {"k": 5}}), 400)
    error(api("PATCH", path, {"appProperties": {str(number): "" for number in range(30)}}), 403)


def test_trash_and_deletion_are_for_the_owner(api: Api, worker: Api, simulator: Simulator) -> None:
    file_id = api.upload({"name": "a"}, b"x").json()["id"]
    share(api, file_id, simulator.identity.worker.email)
    path = f"/drive/v3/files/{file_id}"
    error(worker("PATCH", path, {"trashed": True}), 403)
    error(worker("DELETE", path), 403)
    assert api.ok("PATCH", path, {"trashed": True}, params={"fields": "trashed"}) == {"trashed": True}
    assert len(api.ok("GET", "/drive/v3/files")["files"]) == 1  # trashed files are listed unless asked not to
    assert api.ok("GET", "/drive/v3/files", params={"q": "trashed = false"})["files"] == []
    assert api("DELETE", path).status_code == 204
    error(api("GET", path), 404)


def test_list_knows_names_parents_and_app_properties_and_may_lag(api: Api, tmp_path: Path) -> None:
    folder = api.ok("POST", "/drive/v3/files", {"name": "f", "mimeType": FOLDER})["id"]
    made = api.upload({"name": "it's", "parents": [folder], "appProperties": {"job": "j1"}}, b"x").json()
    for q in (
        "name = 'it\\'s' and trashed = false",
        f"'{folder}' in parents",
        "appProperties has { key='job' and value='j1' }",
    ):
        found = api.ok("GET", "/drive/v3/files", params={"q": q, "fields": "files(id)"})
        assert found == {"files": [{"id": made["id"]}]}
    assert error(api("GET", "/drive/v3/files", params={"q": "fullText contains 'x'"}), 501)
    now = [1000.0]
    with Simulator(tmp_path / "other", clock=lambda: now[0]) as lagging, caller(lagging) as other:
        lagging.files.list_lag = 30
        file_id = other.upload({"name": "a"}, b"x").json()["id"]
        assert other.ok("GET", "/drive/v3/files")["files"] == []
        assert other("GET", f"/drive/v3/files/{file_id}").ok  # by its id it is there at once
        now[0] += 31
        assert len(other.ok("GET", "/drive/v3/files")["files"]) == 1


def test_a_spreadsheet_is_a_file_that_cannot_be_downloaded(api: Api, simulator: Simulator) -> None:
    sid = simulator.workbooks.create("Inquiries")
    found = api.ok(
        "GET", f"/drive/v3/files/{sid}", params={"fields": "name,mimeType,ownedByMe,sha256Checksum"}
    )
    assert found == {
        "name": "Inquiries",
        "mimeType": "application/vnd.google-apps.spreadsheet",
        "ownedByMe": True,
    }
    assert reason(api("GET", f"/drive/v3/files/{sid}", params={"alt": "media"}), 403) == "fileNotDownloadable"
    assert api("PATCH", f"/drive/v3/files/{sid}", {"name": "Renamed"}).ok
    assert simulator.workbooks.get(sid).title == "Renamed"


def test_the_page_of_a_file_escapes_every_cell(api: Api, simulator: Simulator) -> None:
    content = b'id,text\n1,"<script>alert(1)</script>\n& more"\n'
    made = api.upload(
        {"name": "<b>name</b>.csv", "mimeType": "text/csv"}, content, fields="webViewLink"
    ).json()
    page = api("GET", made["webViewLink"].removeprefix(simulator.url), headers={"Authorization": ""})
    assert page.status_code == 200
    assert "<td>&lt;script&gt;alert(1)&lt;/script&gt;\n&amp; more</td>" in page.text
    assert "<script" not in page.text
    assert "<b>" not in page.text
    assert "default-src 'none'" in page.headers["Content-Security-Policy"]
    sid = simulator.workbooks.create("Inquiries", [["<i>"], ["two"]])
    assert "<th>&lt;i&gt;</th>" in api("GET", f"/file/d/{sid}/view").text
    assert api("GET", "/file/d/nothing/view").status_code == 404
