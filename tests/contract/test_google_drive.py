"""The Drive client against Google's wire: no second file, no lost byte, no mail, each answer understood."""

import hashlib
import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from discovery import problems
from scripted import Clock, Received, Reply, Scripted, google_error

from addon.google.drive import Drive, FileInfo
from addon.google.errors import FileMissing, GoogleError, GrantMissing, JobBlocked, TryAgain
from addon.google.session import Session

FILE = "1file-" + "y" * 27
FOLDER = "1folder-" + "z" * 25
CSV = "key,summary\r\nabc,要約\r\n".encode()
LARGE = b"x" * (5 * 1024 * 1024 + 1)
WORKER = "worker@project.iam.gserviceaccount.com"
LOST = Reply(lost=True)


@pytest.fixture
def google() -> Iterator[Scripted]:
    """Google; at the end everything that was sent to it must be something the Drive API knows."""
    with Scripted().running() as scripted:
        yield scripted
    api_calls = [request for request in scripted.requests if "upload_id" not in request.query]
    assert [found for request in api_calls if (found := problems("drive.v3", request))] == []
    shared_drives = [
        request for request in api_calls if not request.path.endswith(("/generateIds", "/about"))
    ]
    assert all(request.query["supportsAllDrives"] == ["true"] for request in shared_drives)


@pytest.fixture
def drive(google: Scripted, session: Session) -> Drive:
    return Drive(session, google.url, "worker")


@pytest.fixture
def user_drive(google: Scripted, session: Session) -> Drive:
    return Drive(session, google.url, "user")


def stored(content: bytes | None = CSV, **changes: Any) -> Reply:
    file = {
        "id": FILE,
        "name": "part 1.csv",
        "webViewLink": f"https://drive.google.com/file/d/{FILE}/view",
        "trashed": False,
        "appProperties": {"job": "j1", "part": "0"},
        "capabilities": {"canShare": True},
    }
    if content is not None:
        file |= {"size": str(len(content)), "sha256Checksum": hashlib.sha256(content).hexdigest()}
    return Reply(json={**file, **changes})


INFO = FileInfo(
    id=FILE,
    name="part 1.csv",
    link=f"https://drive.google.com/file/d/{FILE}/view",
    size=len(CSV),
    sha256=hashlib.sha256(CSV).hexdigest(),
    trashed=False,
    properties={"job": "j1", "part": "0"},
    can_share=True,
)
TAKEN = google_error(409, reason="fileIdInUse", message="A file already exists with the provided ID.")


def parts_of(request: Received) -> tuple[dict[str, Any], bytes]:
    """Metadata and content of a multipart/related body."""
    kind, _, boundary = request.headers["Content-Type"].partition("; boundary=")
    assert kind == "multipart/related"
    nothing, metadata, content, end = request.body.split(b"--" + boundary.encode())
    assert (nothing, end.strip()) == (b"", b"--")
    json_head, _, json_body = metadata.partition(b"\r\n\r\n")
    content_head, _, data = content.partition(b"\r\n\r\n")
    assert b"application/json; charset=UTF-8" in json_head
    assert b"Content-Type: text/csv" in content_head
    return json.loads(json_body), data.removesuffix(b"\r\n")


# Creating


def test_ids_are_made_beforehand(google: Scripted, user_drive: Drive) -> None:
    google.enqueue(Reply(json={"ids": ["a", "b", "c"], "space": "drive"}))
    assert user_drive.generate_ids(3) == ["a", "b", "c"]
    assert google.requests[0].query == {"count": ["3"], "space": ["drive"], "type": ["files"]}


@pytest.mark.parametrize("n", [0, 1001])
def test_a_number_of_ids_that_drive_does_not_make_is_refused_here(drive: Drive, n: int) -> None:
    with pytest.raises(ValueError, match="1 to 1000"):
        drive.generate_ids(n)


def test_a_file_is_created_under_its_id_with_its_content(google: Scripted, user_drive: Drive) -> None:
    google.enqueue(stored())
    assert (
        user_drive.create_file(FILE, "part 1.csv", FOLDER, CSV, properties={"job": "j1", "part": "0"}) == INFO
    )
    (request,) = google.requests
    assert (request.path, request.query["uploadType"]) == ("/upload/drive/v3/files", ["multipart"])
    assert parts_of(request) == (
        {
            "id": FILE,
            "name": "part 1.csv",
            "parents": [FOLDER],
            "mimeType": "text/csv",
            "appProperties": {"job": "j1", "part": "0"},
        },
        CSV,
    )


def test_a_create_whose_answer_was_lost_makes_no_second_file(google: Scripted, user_drive: Drive) -> None:
    google.enqueue(LOST, TAKEN, stored())
    assert user_drive.create_file(FILE, "part 1.csv", FOLDER, CSV, properties={"job": "j1"}) == INFO
    first, second, look = google.requests
    assert parts_of(first)[0]["id"] == parts_of(second)[0]["id"] == FILE
    assert (look.method, look.path) == ("GET", f"/drive/v3/files/{FILE}")


def test_a_folder_whose_answer_was_lost_is_found_by_id_and_not_by_name(
    google: Scripted, user_drive: Drive
) -> None:
    folder = stored(None, id=FOLDER, name="Summaries")
    google.enqueue(google_error(500, reason="internalError"), TAKEN, folder)
    info = user_drive.create_folder(FOLDER, "Summaries", {"job": "j1"})
    assert (info.id, info.size, info.sha256) == (FOLDER, None, None)
    assert google.requests[0].json == {
        "id": FOLDER,
        "name": "Summaries",
        "mimeType": "application/vnd.google-apps.folder",
        "appProperties": {"job": "j1"},
    }
    assert not any("q" in request.query for request in google.requests)


def test_a_folder_is_created_in_a_shared_drive_or_another_folder(google: Scripted, drive: Drive) -> None:
    google.enqueue(stored(None, id=FOLDER), google_error(404, reason="notFound"))
    drive.create_folder(FOLDER, "Summaries", {}, parent="0Adrive")
    assert google.requests[0].json["parents"] == ["0Adrive"]
    with pytest.raises(FileMissing, match="0Adrive"):
        drive.create_folder(FOLDER, "Summaries", {}, parent="0Adrive")


def test_an_id_that_something_else_has_is_not_taken_for_ours(google: Scripted, user_drive: Drive) -> None:
    google.enqueue(TAKEN, stored())
    with pytest.raises(JobBlocked) as raised:
        user_drive.create_file(FILE, "part 1.csv", FOLDER, CSV, properties={"job": "another"})
    assert (raised.value.code, raised.value.reason) == ("api_refused", "fileIdInUse")


@pytest.mark.parametrize("reason", ["storageQuotaExceeded", "teamDriveFileLimitExceeded"])
def test_a_service_account_without_storage_is_told_so_at_once_and_never_tried_again(
    google: Scripted, drive: Drive, clock: Clock, reason: str
) -> None:
    google.answer = lambda _: google_error(
        403, reason=reason, message="Service Accounts do not have storage quota."
    )
    with pytest.raises(JobBlocked) as raised:
        drive.create_file(FILE, "part 1.csv", FOLDER, CSV)
    assert (raised.value.code, raised.value.reason) == ("storage_full", reason)
    assert (len(google.requests), clock.sleeps) == (1, [])


def test_a_parent_that_is_gone_is_missing(google: Scripted, user_drive: Drive) -> None:
    google.enqueue(google_error(404, reason="notFound", message=f"File not found: {FOLDER}."))
    with pytest.raises(FileMissing, match=FOLDER):
        user_drive.create_file(FILE, "part 1.csv", FOLDER, CSV)


# Writing and reading content


def test_an_update_replaces_the_whole_content_and_checks_it(google: Scripted, drive: Drive) -> None:
    google.enqueue(stored())
    assert drive.update(FILE, CSV, 20) == INFO
    (request,) = google.requests
    assert (request.method, request.path) == ("PATCH", f"/upload/drive/v3/files/{FILE}")
    assert request.query["uploadType"] == ["media"]
    assert (request.headers["Content-Type"], request.body) == ("text/csv", CSV)


def test_a_checksum_that_the_answer_left_out_is_looked_up(google: Scripted, drive: Drive) -> None:
    google.enqueue(Reply(json={"id": FILE}), stored())
    assert drive.update(FILE, CSV, 20) == INFO


@pytest.mark.parametrize("answer", [stored(CSV[:-1]), stored(None)])
def test_an_update_that_left_other_content_behind_is_no_success(
    google: Scripted, drive: Drive, answer: Reply
) -> None:
    google.enqueue(answer, answer)
    with pytest.raises(TryAgain) as raised:
        drive.update(FILE, CSV, 20)
    assert (raised.value.reason, raised.value.outcome_unknown) == ("checksum_differs", True)


def test_an_update_survives_a_lost_answer(google: Scripted, drive: Drive) -> None:
    google.enqueue(LOST, google_error(502), stored())
    assert drive.update(FILE, CSV, 60) == INFO
    assert {request.body for request in google.requests} == {CSV}


def test_an_update_ends_with_its_deadline(google: Scripted, drive: Drive, clock: Clock) -> None:
    google.answer = lambda _: google_error(503)
    began = clock.now
    with pytest.raises(TryAgain) as raised:
        drive.update(FILE, CSV, 6)
    assert clock.now - began <= 6
    assert raised.value.outcome_unknown


@pytest.mark.parametrize("content", [CSV, b"", b"\x00\xff" * 200_000])
def test_a_download_is_the_bytes_that_are_there(google: Scripted, drive: Drive, content: bytes) -> None:
    google.enqueue(Reply(body=content, headers={"Content-Type": "text/csv"}))
    assert drive.download(FILE) == content
    assert google.requests[0].query["alt"] == ["media"]


def test_a_download_cut_short_or_answered_by_a_web_page_is_read_again(
    google: Scripted, drive: Drive, clock: Clock
) -> None:
    short = Reply(body=CSV[:5], headers={"Content-Length": str(len(CSV)), "Connection": "close"})
    page = Reply(body=b"<html></html>", headers={"Content-Type": "text/html"})
    google.enqueue(short, page, Reply(body=CSV, headers={"Content-Type": "text/csv"}))
    assert drive.download(FILE) == CSV
    assert clock.sleeps == [1.0, 2.0]


def test_a_file_that_drive_does_not_show_is_missing(
    google: Scripted, drive: Drive, user_drive: Drive
) -> None:
    google.answer = lambda _: google_error(404, reason="notFound")
    calls: list[Callable[[], object]] = [
        lambda: drive.info(FILE),
        lambda: drive.download(FILE),
        lambda: drive.update(FILE, CSV, 20),
        lambda: user_drive.info(FILE),
    ]
    for call in calls:
        with pytest.raises(FileMissing, match=FILE):
            call()
    assert len(google.requests) == 4


def test_a_trashed_file_says_so(google: Scripted, drive: Drive) -> None:
    google.enqueue(stored(trashed=True), stored(trashed=True))
    assert drive.info(FILE).trashed
    info = drive.update(FILE, CSV, 20)
    with pytest.raises(JobBlocked, match=f"{FILE} in the trash") as raised:
        info.check_not_trashed("results_trashed")
    assert (raised.value.code, raised.value.reason) == ("results_trashed", "trashed")
    INFO.check_not_trashed("results_trashed")


def test_whether_the_caller_may_share_is_told_and_not_guessed(google: Scripted, drive: Drive) -> None:
    google.enqueue(stored(), stored(capabilities={"canShare": False}), stored(capabilities={}))
    assert [drive.info(FILE).can_share for _ in range(3)] == [True, False, False]


def test_access_that_was_removed_blocks_the_worker_and_sends_the_user_to_grant_it(
    google: Scripted, drive: Drive, user_drive: Drive
) -> None:
    google.answer = lambda _: google_error(403, reason="insufficientFilePermissions")
    with pytest.raises(JobBlocked) as raised:
        drive.update(FILE, CSV, 20)
    assert raised.value.code == "access_removed"
    with pytest.raises(GrantMissing):
        user_drive.info(FILE)


# Large content


class Resumable:
    """Opens upload sessions and answers their content with ``outcomes`` in turn."""

    def __init__(self, url: str, *outcomes: Reply) -> None:
        self.url = url
        self.outcomes = list(outcomes)
        self.opened = 0
        self.taken: list[bytes] = []

    def answer(self, request: Received) -> Reply:
        if request.query.get("uploadType") == ["resumable"] and "upload_id" not in request.query:
            self.opened += 1
            place = f"{self.url}{request.path}?upload_id={self.opened}"
            return Reply(headers={"Location": place, "Content-Type": "text/html; charset=UTF-8"})
        assert (request.method, request.query["upload_id"]) == ("PUT", [str(self.opened)])
        self.taken.append(request.body)
        return self.outcomes.pop(0)


def test_large_content_is_sent_in_an_upload_session(google: Scripted, drive: Drive) -> None:
    resumable = Resumable(google.url, stored(LARGE))
    google.answer = resumable.answer
    assert drive.update(FILE, LARGE, 60).size == len(LARGE)
    assert resumable.taken == [LARGE]
    opening = google.requests[0]
    assert (opening.method, opening.path) == ("PATCH", f"/upload/drive/v3/files/{FILE}")
    assert opening.headers["X-Upload-Content-Length"] == str(len(LARGE))
    assert opening.headers["X-Upload-Content-Type"] == "text/csv"


@pytest.mark.parametrize("failure", [LOST, google_error(503), Reply(308)])
def test_a_large_upload_that_breaks_off_is_begun_anew(google: Scripted, drive: Drive, failure: Reply) -> None:
    resumable = Resumable(google.url, failure, stored(LARGE))
    google.answer = resumable.answer
    assert drive.update(FILE, LARGE, 60).size == len(LARGE)
    assert (resumable.opened, resumable.taken) == (2, [LARGE, LARGE])


def test_a_large_upload_gives_up_after_a_few_rounds(google: Scripted, drive: Drive) -> None:
    resumable = Resumable(google.url, *[Reply(308)] * 9)
    google.answer = resumable.answer
    with pytest.raises(TryAgain):
        drive.update(FILE, LARGE)
    assert resumable.opened == 3


def test_a_large_create_whose_answer_was_lost_makes_no_second_file(
    google: Scripted, user_drive: Drive
) -> None:
    resumable = Resumable(google.url, LOST)

    def answer(request: Received) -> Reply:
        if request.method == "GET":
            return stored(LARGE)
        return TAKEN if resumable.taken else resumable.answer(request)

    google.answer = answer
    assert user_drive.create_file(FILE, "part 1.csv", FOLDER, LARGE, properties={"job": "j1"}).id == FILE
    assert len(resumable.taken) == 1


@pytest.mark.parametrize("headers", [{}, {"Location": "http://elsewhere.example/upload?upload_id=1"}])
def test_the_token_goes_to_no_other_server(google: Scripted, drive: Drive, headers: dict[str, str]) -> None:
    google.answer = lambda _: Reply(headers=headers)
    with pytest.raises(TryAgain) as raised:
        drive.update(FILE, LARGE, 60)
    assert raised.value.reason == "no_upload_address"
    assert all("uploadType" in request.query for request in google.requests)


# Sharing


def test_sharing_sends_no_mail(google: Scripted, user_drive: Drive) -> None:
    google.enqueue(Reply(json={"id": "perm1"}))
    user_drive.share(FILE, WORKER)
    (request,) = google.requests
    assert (request.method, request.path) == ("POST", f"/drive/v3/files/{FILE}/permissions")
    assert request.query["sendNotificationEmail"] == ["false"]
    assert request.json == {"type": "user", "role": "writer", "emailAddress": WORKER}


def test_sharing_may_be_repeated(google: Scripted, user_drive: Drive) -> None:
    google.enqueue(LOST, Reply(json={"id": "perm1"}))
    user_drive.share(FILE, WORKER)
    assert len(google.requests) == 2


@pytest.mark.parametrize(
    ("status", "reason"),
    [
        (400, "invalidSharingRequest"),
        (403, "domainPolicy"),
        (400, "shareOutNotPermitted"),
        (403, "cannotShareTeamDriveWithNonGoogleAccounts"),
        (403, "teamDriveDomainUsersOnlyRestriction"),
        (400, "teamDriveTeamMembersOnlyRestriction"),
        (403, "sharingRateLimitExceeded"),
    ],
)
def test_a_rule_against_sharing_is_told_as_one_and_not_tried_again(
    google: Scripted, user_drive: Drive, status: int, reason: str
) -> None:
    google.answer = lambda _: google_error(status, reason=reason)
    with pytest.raises(JobBlocked) as raised:
        user_drive.share(FILE, WORKER)
    assert (raised.value.code, raised.value.reason, len(google.requests)) == ("sharing_refused", reason, 1)


def test_a_file_that_only_its_owner_may_share_is_another_matter(google: Scripted, user_drive: Drive) -> None:
    google.answer = lambda _: google_error(403, reason="insufficientFilePermissions")
    for call in (user_drive.share, user_drive.shared_with, user_drive.unshare):
        with pytest.raises(JobBlocked, match="ask its owner") as raised:
            call(FILE, WORKER)
        assert raised.value.code == "resharing_refused"
    assert len(google.requests) == 3


@pytest.mark.parametrize(
    ("status", "reason"),
    [
        (404, "notFound"),
        (403, "appNotAuthorizedToFile"),
        (403, "insufficientPermissions"),
        (401, "authError"),
    ],
)
def test_a_file_the_user_did_not_grant_is_asked_for(
    google: Scripted, user_drive: Drive, status: int, reason: str
) -> None:
    google.answer = lambda _: google_error(status, reason=reason)
    with pytest.raises(GrantMissing):
        user_drive.share(FILE, WORKER)


def test_an_api_that_is_switched_off_is_the_operators_business(google: Scripted, user_drive: Drive) -> None:
    google.answer = lambda _: google_error(403, reason="accessNotConfigured")
    with pytest.raises(JobBlocked) as raised:
        user_drive.share(FILE, WORKER)
    assert raised.value.code == "api_refused"


def test_unsharing_finds_the_permission_by_mail_on_any_page_and_takes_only_that(
    google: Scripted, drive: Drive
) -> None:
    others = [{"id": "p1", "emailAddress": "you@example.com"}, {"id": "anyone"}]
    google.enqueue(
        Reply(json={"permissions": others, "nextPageToken": "next"}),
        Reply(json={"permissions": [{"id": "p9", "emailAddress": WORKER.upper()}]}),
        Reply(204),
    )
    drive.unshare(FILE, WORKER)
    first, second, delete = google.requests
    assert "pageToken" not in first.query
    assert second.query["pageToken"] == ["next"]
    assert (delete.method, delete.path) == ("DELETE", f"/drive/v3/files/{FILE}/permissions/p9")


def test_unsharing_what_is_not_shared_is_fine(google: Scripted, drive: Drive) -> None:
    google.enqueue(Reply(json={"permissions": []}))
    drive.unshare(FILE, WORKER)
    google.enqueue(
        Reply(json={"permissions": [{"id": "p9", "emailAddress": WORKER}]}), LOST, google_error(404)
    )
    drive.unshare(FILE, WORKER)
    google.enqueue(google_error(404, reason="notFound"))
    drive.unshare(FILE, WORKER)  # the worker does not see the file any more
    assert len(google.requests) == 5


def test_a_user_who_did_not_grant_the_file_cannot_unshare_it(google: Scripted, user_drive: Drive) -> None:
    google.enqueue(google_error(404, reason="notFound"))
    with pytest.raises(GrantMissing):
        user_drive.unshare(FILE, WORKER)


@pytest.mark.parametrize(
    ("role", "may"),
    [("reader", False), ("commenter", False), ("writer", True), ("fileOrganizer", True), ("owner", True)],
)
def test_a_file_is_shared_with_somebody_who_may_write_to_it(
    google: Scripted, user_drive: Drive, role: str, may: bool
) -> None:
    google.enqueue(
        Reply(json={"permissions": [{"id": "p1", "emailAddress": WORKER.upper(), "role": role}]}),
        Reply(json={"permissions": [{"id": "p2", "emailAddress": "you@example.com", "role": "owner"}]}),
    )
    assert user_drive.shared_with(FILE, WORKER) == may
    assert not user_drive.shared_with(FILE, WORKER)


def me(email: str = WORKER) -> Reply:
    return Reply(json={"user": {"permissionId": "p9", "emailAddress": email}})


def test_access_is_given_up_without_a_list_of_permissions(google: Scripted, drive: Drive) -> None:
    google.enqueue(me(WORKER.upper()), Reply(204))
    drive.leave(FILE, WORKER)
    asked, delete = google.requests
    assert (asked.path, asked.query["fields"]) == ("/drive/v3/about", ["user(permissionId,emailAddress)"])
    assert (delete.method, delete.path) == ("DELETE", f"/drive/v3/files/{FILE}/permissions/p9")


@pytest.mark.parametrize(
    "answer",
    [
        google_error(404, reason="notFound"),
        google_error(403, reason="cannotDeletePermission"),
        google_error(403, reason="cannotModifyInheritedPermission"),
    ],
)
def test_giving_up_what_the_file_does_not_give_is_fine(google: Scripted, drive: Drive, answer: Reply) -> None:
    google.enqueue(me(), answer)
    drive.leave(FILE, WORKER)
    google.enqueue(me(), LOST, google_error(404, reason="notFound"))
    drive.leave(FILE, WORKER)


def test_nobody_gives_up_access_for_somebody_else(google: Scripted, drive: Drive) -> None:
    """A credential that acts for the user would take the user's own access away."""
    google.enqueue(me("you@example.com"), Reply(json={}))
    for _ in range(2):
        with pytest.raises(ValueError, match="somebody else"):
            drive.leave(FILE, WORKER)
    assert [request.path for request in google.requests] == ["/drive/v3/about"] * 2


def test_giving_up_access_that_is_refused_is_not_passed_over(google: Scripted, drive: Drive) -> None:
    google.enqueue(me(), google_error(403, reason="accessNotConfigured"))
    with pytest.raises(JobBlocked) as raised:
        drive.leave(FILE, WORKER)
    assert raised.value.code == "api_refused"


@pytest.mark.parametrize("status", [400, 401, 403, 404, 503])
def test_no_error_quotes_content(google: Scripted, drive: Drive, status: int) -> None:
    google.answer = lambda _: google_error(status, message="Confidential")
    with pytest.raises(GoogleError) as raised:
        drive.update(FILE, b"my secret", 5)
    assert not {"Confidential", "my secret"} & set(f"{raised.value} {raised.value!r}".split())
    assert "Confidential" not in f"{raised.value}{raised.value!r}"
