"""What a token's scopes let it do: the methods, and under ``drive.file`` the files."""

import json
import re
from collections.abc import Iterator
from importlib.resources import files
from typing import Any

import pytest
import requests
from simulated import Api, write

from addon.simulator import scopes
from addon.simulator.drive import Drive
from addon.simulator.server import Simulator
from addon.simulator.sharing import Sharing
from addon.simulator.sheets import Sheets

FOLDER = "application/vnd.google-apps.folder"
ELSEWHERE = {"drive.appdata", "drive.meet.readonly", "drive.photos.readonly", "drive.scripts"}


class Google:
    """The simulator, to callers whose tokens have certain scopes: the user, unless somebody else is named."""

    def __init__(self, simulator: Simulator, session: requests.Session) -> None:
        self.identity = simulator.identity
        self.files = simulator.files
        self.workbooks = simulator.workbooks
        self.scopes: list[str] = []
        self._url = simulator.url
        self._session = session

    def may(self, *names: str) -> None:
        self.scopes = [scopes.PREFIX + name for name in names]

    def __call__(self, verb: str, path: str, body: Any = None, email: str = "") -> requests.Response:
        token = self.identity.issue(email or self.identity.user.email, self.scopes)
        headers = {"Authorization": f"Bearer {token}"}
        return self._session.request(verb, self._url + path, json=body, headers=headers, timeout=30)


@pytest.fixture
def google(simulator: Simulator) -> Iterator[Google]:
    with requests.Session() as session:
        yield Google(simulator, session)


def _documented() -> list[tuple[str, str, set[str]]]:
    found = []

    def walk(prefix: str, resource: dict[str, Any]) -> None:
        for method in resource.get("methods", {}).values():
            names = {scope.removeprefix(scopes.PREFIX) for scope in method["scopes"]}
            path = re.sub(r"\{[^}]*\}", "x", method.get("flatPath", method["path"]))
            found.append((method["httpMethod"], prefix + path, names))
            if "mediaUpload" in method:
                upload = method["mediaUpload"]["protocols"]["simple"]["path"]
                found.append((method["httpMethod"], re.sub(r"\{[^}]*\}", "x", upload), names))
        for inner in resource.get("resources", {}).values():
            walk(prefix, inner)

    for name in ("sheets.v4", "drive.v3"):
        folder = files("googleapiclient.discovery_cache") / "documents"
        document = json.loads((folder / f"{name}.json").read_text())
        walk("/" + document["servicePath"], document)
    return found


def test_the_scopes_of_each_method_are_those_that_google_documents() -> None:
    checked = 0
    for verb, path, names in _documented():
        known = scopes.accepted(verb, path)
        if known is not None:
            checked += 1
            assert {name.removeprefix(scopes.PREFIX) for name in known} == names - ELSEWHERE, (verb, path)
    assert checked == 16  # 14 methods, two of which are uploads as well


@pytest.mark.parametrize("views", [Drive, Sheets, Sharing])
def test_every_imitated_method_has_its_scopes(views: type) -> None:
    prefix = {Drive: "", Sheets: "/v4/spreadsheets", Sharing: "/drive/v3/files/x/permissions"}[views]
    for attribute in vars(views).values():
        for verb, rule in getattr(attribute, "routes", ()):
            path = prefix + re.sub(r"<[^>]*>", "x", rule)
            assert scopes.accepted(verb, path) is not None, (verb, path)


def test_other_apis_are_not_its_business() -> None:
    assert scopes.accepted("POST", "/v2/projects/p/locations/l/queues/q/tasks") is None
    assert scopes.allows("POST", "/v2/projects/p/locations/l/queues/q/tasks", ())


def test_a_missing_scope_is_refused_in_each_apis_words(google: Google) -> None:
    sid = google.workbooks.create("Inquiries", [["id"]])
    google.may("userinfo.email")
    sheets, drive = google("GET", f"/v4/spreadsheets/{sid}"), google("GET", f"/drive/v3/files/{sid}")
    for response in (sheets, drive):
        assert response.status_code == 403
        found = response.json()["error"]
        assert (found["status"], found["message"]) == (
            "PERMISSION_DENIED",
            "Request had insufficient authentication scopes.",
        )
        assert [detail["reason"] for detail in found["details"]] == ["ACCESS_TOKEN_SCOPE_INSUFFICIENT"]
    assert drive.json()["error"]["errors"][0]["reason"] == "insufficientPermissions"
    assert "errors" not in sheets.json()["error"]


def test_reading_scopes_do_not_write_and_sheets_scopes_do_not_share(google: Google) -> None:
    sid = google.workbooks.create("Inquiries", [["id"]])
    change = {"requests": [write(0, 0, "changed")]}
    google.may("spreadsheets.readonly", "drive.readonly")
    assert google("GET", f"/v4/spreadsheets/{sid}").status_code == 200
    assert google("GET", f"/drive/v3/files/{sid}").status_code == 200
    filtered = {"dataFilters": [{"gridRange": {"sheetId": 0}}]}
    assert google("POST", f"/v4/spreadsheets/{sid}/values:batchGetByDataFilter", filtered).status_code == 403
    assert google("POST", f"/v4/spreadsheets/{sid}:batchUpdate", change).status_code == 403
    assert google("PATCH", f"/drive/v3/files/{sid}", {"name": "x"}).status_code == 403
    google.may("spreadsheets")
    assert google("POST", f"/v4/spreadsheets/{sid}:batchUpdate", change).status_code == 200
    share = {"type": "user", "role": "reader", "emailAddress": "a@example.com"}
    assert google("POST", f"/drive/v3/files/{sid}/permissions", share).status_code == 403


def test_drive_file_reaches_a_file_once_its_user_granted_it(google: Google) -> None:
    sid = google.workbooks.create("Inquiries", [["id"]])
    google.may("drive.file")
    refused = google("GET", f"/v4/spreadsheets/{sid}")
    assert (refused.status_code, refused.json()["error"]["message"]) == (
        403,
        "The caller does not have permission",
    )
    missing = google("GET", f"/drive/v3/files/{sid}")
    assert (missing.status_code, missing.json()["error"]["errors"][0]["reason"]) == (404, "notFound")
    google.files.grant(sid, "somebody.else@example.com")
    assert google("GET", f"/v4/spreadsheets/{sid}").status_code == 403
    google.files.grant(sid, google.identity.user.email.upper())
    assert google("GET", f"/v4/spreadsheets/{sid}").status_code == 200
    assert google("GET", f"/drive/v3/files/{sid}").status_code == 200
    share = {"type": "user", "role": "writer", "emailAddress": google.identity.worker.email}
    assert google("POST", f"/drive/v3/files/{sid}/permissions", share).status_code == 200
    assert google("GET", "/drive/v3/about?fields=user").status_code == 200
    google.files.revoke(sid, google.identity.user.email)
    assert google("GET", f"/v4/spreadsheets/{sid}").status_code == 403
    google.may("drive.file", "spreadsheets")  # a wider scope needs no grant
    assert google("GET", f"/v4/spreadsheets/{sid}").status_code == 200
    assert google("GET", f"/drive/v3/files/{sid}").status_code == 404


def test_drive_file_reaches_what_was_created_with_it_and_nothing_beside(google: Google) -> None:
    user = google.identity.user.email
    foreign = google.files.add(user, "not ours", FOLDER)
    google.may("drive.file")
    made = google("POST", "/drive/v3/files", {"name": "ours", "mimeType": FOLDER}).json()["id"]
    inside = google("POST", "/drive/v3/files", {"name": "a", "parents": [made]}).json()["id"]
    assert google("GET", f"/drive/v3/files/{inside}").status_code == 200
    assert google("POST", "/drive/v3/files", {"name": "at the top", "parents": ["root"]}).status_code == 200
    assert google("POST", "/drive/v3/files", {"name": "b", "parents": [foreign]}).status_code == 404
    move = f"/drive/v3/files/{inside}?addParents={foreign}&removeParents={made}"
    assert google("PATCH", move, {}).status_code == 404
    listed = google("GET", "/drive/v3/files").json()["files"]
    assert foreign not in {file["id"] for file in listed}
    assert len(listed) == 3
    google.may("drive")
    assert len(google("GET", "/drive/v3/files").json()["files"]) == 4


def test_what_one_created_the_other_needs_a_grant_for(google: Google) -> None:
    """``drive.file`` is per person, also where both may write to the file."""
    google.may("drive.file")
    made = google("POST", "/drive/v3/files", {"name": "a"}).json()["id"]
    google.files.share(google.files.known(made), google.identity.worker.email, "writer")
    worker = google.identity.worker.email
    assert google("GET", f"/drive/v3/files/{made}", email=worker).status_code == 404
    google.may("drive")
    assert google("GET", f"/drive/v3/files/{made}", email=worker).status_code == 200


def test_a_token_without_a_list_of_scopes_has_them_all(google: Google, api: Api) -> None:
    sid = google.workbooks.create("Inquiries", [["id"]])
    assert api("GET", f"/v4/spreadsheets/{sid}").ok
    assert api("GET", f"/drive/v3/files/{sid}").ok
