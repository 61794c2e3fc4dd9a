"""The sidebar's routes over HTTP, with the job functions and Google replaced by fakes."""

import json
import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient

from addon.google.access import UserAccess
from addon.google.errors import FileMissing, GrantMissing, JobBlocked, TryAgain
from addon.google.id_tokens import Unauthorised
from addon.google.identity import Caller
from addon.google.sheets import SheetInfo, SpreadsheetInfo
from addon.jobs.commands import CommandRefused
from addon.jobs.plan import StartRefused, StartRequest
from addon.jobs.start import Started
from addon.jobs.status import FailureGroup, JobLine, JobStatus
from addon.settings import Settings
from addon.sidebar import actions, admin, commands
from addon.sidebar.routes import FILE_SCOPE, MAX_BODY_BYTES, blueprint
from addon.sidebar.text import Words
from addon.sidebar.widgets import ACTIONS, ROUTES, TRIGGERS
from addon.store.documents import Contention

BASE = "https://addon.example.com"
SID = "S" * 44
OTHER = "T" * 44
NOW = datetime(2026, 12, 1, 3, 5, tzinfo=UTC)
CLICKS = [action for action in ACTIONS if action not in TRIGGERS]
NO_FILE = {"help", "admin", "test-model"}
"""Clicks that are not about the open spreadsheet."""
WORDS = Words("en")
SECRET = "the text of a cell"


def a_status(job_id: str = "job-1", **changes: Any) -> JobStatus:
    status = JobStatus(
        job_id=job_id,
        spreadsheet_id=SID,
        sheet_id=0,
        status="running",
        reason=None,
        mode="new_or_changed",
        model="builtin-1",
        owner="u-1",
        rows=10,
        done=4,
        failed=1,
        blank=0,
        called=4,
        reused=0,
        repeated=0,
        input_tokens=0,
        output_tokens=0,
        rate=None,
        seconds_left=None,
        created_at=NOW,
        updated_at=NOW,
        finished_at=None,
        now=NOW,
        results_link=None,
        failures=(FailureGroup("blocked", 1, (3,)),),
        notes=(),
    )
    return replace(status, **changes)


class FakeSheets:
    """Opens what a token may open; ``broken`` is raised instead."""

    def __init__(self, world: "World", token: str) -> None:
        self._world = world
        self._token = token

    def info(self, spreadsheet_id: str, *, deadline: float | None = None) -> SpreadsheetInfo:
        self._world.tokens.append((self._token, spreadsheet_id))
        if self._world.broken is not None:
            raise self._world.broken
        if spreadsheet_id not in self._world.books:
            raise GrantMissing("no grant", service="Sheets", status=403)
        return self._world.books[spreadsheet_id]

    def read(
        self, spreadsheet_id: str, sheet_id: int, areas: Any, *, deadline: float | None = None
    ) -> list[list[list[str]]]:
        return [[self._world.headers[sheet_id]]]


class World:
    """The fakes behind the routes."""

    def __init__(self) -> None:
        tabs = [SheetInfo(n, f"Tab {n}", n, 100, 3, n == 9, "GRID") for n in (0, 7, 9)]
        self.books = {SID: SpreadsheetInfo("Book & Co", "en", "UTC", tuple(tabs))}
        self.headers = {0: ["Id", "Body"], 7: ["Question", "Summary"], 9: ["hidden"]}
        self.broken: Exception | None = None
        self.refused: Exception | None = None
        self.tokens: list[tuple[str, str]] = []
        self.jobs: dict[str, JobStatus] = {}
        self.requests: list[StartRequest] = []
        self.commands: list[tuple[str, str, str | None]] = []
        self.settings = Settings(base_url=BASE)
        self.caller = Caller("u-1", "you@example.com", "ya29.user", admin=False)
        self.access = SimpleNamespace(give=lambda user, spreadsheet_id: self.given.append(spreadsheet_id))
        self.given: list[str] = []
        self.model = SimpleNamespace(name="builtin-1")
        self.identity = self.documents = self.tasks = self.desk = self

    def sidebar_caller(self, target: str, headers: Mapping[str, str], event: Mapping[str, Any]) -> Caller:
        if headers.get("Authorization") != "Bearer system":
            raise Unauthorised("no token")
        return self.caller

    @contextmanager
    def user_access(self, token: str, user_id: str, email: str) -> Iterator[UserAccess]:
        yield UserAccess(user_id, email, FakeSheets(self, token), None)  # type: ignore[arg-type]

    def start(self, desk: Any, user: UserAccess, request: StartRequest) -> Started:
        if self.refused is not None:
            raise self.refused
        self.requests.append(request)
        created = not self.jobs
        self.jobs.setdefault("job-1", a_status())
        return Started("job-1", created)

    def job_status(self, documents: Any, job_id: str) -> JobStatus | None:
        return self.jobs.get(job_id)

    def latest_status(self, documents: Any, spreadsheet_id: str) -> JobStatus | None:
        return next((job for job in self.jobs.values() if job.spreadsheet_id == spreadsheet_id), None)

    def overview(self, documents: Any) -> list[JobLine]:
        return [
            JobLine(job.job_id, job.spreadsheet_id, job.status, job.reason, NOW, job.rows, job.failed)
            for job in self.jobs.values()
        ]

    def now(self) -> datetime:
        return NOW

    def command(self, name: str) -> Any:
        def run(*given: Any) -> None:
            if self.refused is not None:
                raise self.refused
            job_id, error_class = [*(text for text in given if isinstance(text, str)), None][:2]
            self.commands.append((name, job_id, error_class))
            after = {"pause": "paused", "resume": "running", "cancel": "cancelled", "retry": "queued"}[name]
            self.jobs[job_id] = replace(self.jobs[job_id], status=after, reason=None)

        return run


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> World:
    made = World()
    for name in ("start", "job_status", "latest_status"):
        monkeypatch.setattr(actions, name, getattr(made, name))
    monkeypatch.setattr(commands, "job_status", made.job_status)
    monkeypatch.setattr(admin, "overview", made.overview)
    for name in ("pause", "resume", "cancel", "retry"):
        monkeypatch.setattr(commands, name, made.command(name))
    return made


@pytest.fixture
def client(world: World) -> Iterator[FlaskClient]:
    app = Flask("test")
    app.register_blueprint(blueprint(world))  # type: ignore[arg-type]
    with app.test_client() as made:
        yield made


def an_event(
    spreadsheet_id: str = SID,
    form: Mapping[str, list[str]] | None = None,
    sheets: Mapping[str, Any] | None = None,
    locale: str = "en",
    **parameters: str,
) -> dict[str, Any]:
    carried = parameters | ({"spreadsheetId": spreadsheet_id} if spreadsheet_id else {})
    return {
        "commonEventObject": {
            "hostApp": "SHEETS",
            "userLocale": locale,
            "parameters": carried,
            "formInputs": {name: {"stringInputs": {"value": value}} for name, value in (form or {}).items()},
        },
        "authorizationEventObject": {"userOAuthToken": "ya29.user"},
        "sheets": dict(sheets or {}),
    }


def post(client: FlaskClient, action: str, event: Any) -> Any:
    answer = client.post(f"/sidebar/{action}", json=event, headers={"Authorization": "Bearer system"})
    assert answer.status_code == 200
    assert answer.mimetype == "application/json"
    return answer.json


def shown(answer: Any) -> Any:
    """The card of an answer to a trigger."""
    assert set(answer) == {"action"}
    ((kind, card),) = answer["action"]["navigations"][0].items()
    assert kind == "pushCard"
    return card


def updated(answer: Any) -> Any:
    """The card of an answer to a click."""
    assert set(answer) == {"renderActions"}
    (navigation,) = answer["renderActions"]["action"]["navigations"]
    assert set(navigation) == {"updateCard"}
    return navigation["updateCard"]


def said(answer: Any) -> Any:
    return answer["renderActions"]["action"].get("notification", {}).get("text")


def actions_in(card: Any) -> list[dict[str, Any]]:
    """Every action in a card, with its parameters as a map."""
    found: list[dict[str, Any]] = []

    def walk(value: Any) -> None:
        if isinstance(value, dict):
            if "function" in value:
                given = {item["key"]: item["value"] for item in value["parameters"]}
                found.append({"to": value["function"].removeprefix(f"{BASE}/sidebar/"), **given})
            for inner in value.values():
                walk(inner)
        elif isinstance(value, list):
            for inner in value:
                walk(inner)

    walk(card)
    return found


def the(card: Any, to: str) -> dict[str, Any]:
    (found,) = [action for action in actions_in(card) if action["to"] == to]
    return found


FORM = {
    "sheet": ["0"],
    "sources_0": ["Body"],
    "output_0": ["new"],
    "new_title": ["Summary"],
    "instructions": ["Be short"],
    "mode": ["all"],
}


def test_every_route_a_button_may_name_exists_and_takes_only_post(client: FlaskClient) -> None:
    rules = {rule.rule: rule.methods for rule in client.application.url_map.iter_rules()}

    assert {route for route in rules if route.startswith("/sidebar/")} == set(ROUTES)
    assert all("POST" in rules[route] and "GET" not in rules[route] for route in ROUTES)


def test_home_without_a_file_asks_for_it(client: FlaskClient, world: World) -> None:
    card = shown(post(client, "home", an_event("")))

    assert card["name"] == "connect" and actions_in(card) == [{"to": "connect"}]
    assert world.tokens == []


def test_home_shows_the_form_where_nothing_ran_yet(client: FlaskClient) -> None:
    card = shown(post(client, "home", an_event("", sheets={"id": SID, "title": "Book"})))

    assert card["name"] == "run"
    assert "Book &amp; Co" in json.dumps(card)
    assert all(action["spreadsheetId"] == SID for action in actions_in(card))
    assert "Tab 9" not in json.dumps(card)  # hidden tabs are not offered


def test_home_shows_the_run_that_is_going_on(client: FlaskClient, world: World) -> None:
    world.jobs["job-1"] = a_status()

    assert shown(post(client, "home", an_event("", sheets={"id": SID})))["name"] == "status"


def test_the_language_follows_the_person(client: FlaskClient) -> None:
    card = shown(post(client, "home", an_event("", locale="ja-JP")))

    assert card["header"]["title"] == "シート要約"


def test_a_grant_that_came_without_an_id_goes_back_to_the_homepage(client: FlaskClient) -> None:
    assert post(client, "file-granted", an_event("")) == {"action": {"navigations": [{"popToRoot": True}]}}
    assert shown(post(client, "file-granted", an_event("", sheets={"id": SID})))["name"] == "run"


@pytest.mark.parametrize("spreadsheet_id", ["", OTHER])
def test_connect_asks_google_for_the_open_file(client: FlaskClient, spreadsheet_id: str) -> None:
    assert post(client, "connect", an_event(spreadsheet_id)) == {
        "renderActions": {"hostAppAction": {"editorAction": {"requestFileScopeForActiveDocument": {}}}}
    }


def test_connect_shows_a_file_that_is_granted_already(client: FlaskClient) -> None:
    assert updated(post(client, "connect", an_event()))["name"] == "run"


def test_each_card_has_its_own_request_id(client: FlaskClient) -> None:
    ids = {the(updated(post(client, "new", an_event())), "run")["requestId"] for _ in range(3)}

    assert len(ids) == 3 and all(len(request_id) >= 20 for request_id in ids)


def test_run_starts_what_was_chosen_as_the_person_who_clicked(client: FlaskClient, world: World) -> None:
    answer = post(client, "run", an_event(form=FORM, sheetId="0", requestId="r-1"))

    assert updated(answer)["name"] == "status" and said(answer) == WORDS("said.started")
    assert world.requests == [StartRequest(SID, 0, ("Body",), "Summary", "Be short", "all", "r-1")]
    assert {token for token, _ in world.tokens} == {"ya29.user"}


def test_a_replayed_run_is_the_same_request_and_shows_the_same_job(client: FlaskClient, world: World) -> None:
    event = an_event(form=FORM, sheetId="0", requestId="r-1")
    answers = [post(client, "run", event) for _ in range(3)]

    assert {request.request_id for request in world.requests} == {"r-1"}
    assert {the(updated(answer), "pause")["jobId"] for answer in answers} == {"job-1"}
    assert [said(answer) for answer in answers] == [WORDS("said.started"), *[WORDS("said.already")] * 2]


def test_the_run_button_of_the_shown_card_carries_its_request_id_into_start(
    client: FlaskClient, world: World
) -> None:
    button = the(shown(post(client, "home", an_event())), "run")
    event = an_event(form=FORM)
    event["commonEventObject"]["parameters"] = button
    post(client, "run", event)

    assert [request.request_id for request in world.requests] == [button["requestId"]]


def test_run_on_a_tab_whose_columns_were_not_shown_yet_starts_nothing(
    client: FlaskClient, world: World
) -> None:
    card = updated(post(client, "run", an_event(form=FORM | {"sheet": ["7"]}, sheetId="0", requestId="r-1")))

    assert world.requests == [] and WORDS("run.tab_changed") in json.dumps(card)
    assert the(card, "run")["sheetId"] == "7"


@pytest.mark.parametrize(
    "code",
    ["no_such_sheet", "no_source_column", "no_such_column", "duplicate_column", "too_large", "brand_new"],
)
def test_a_refused_run_says_why_and_keeps_the_form(client: FlaskClient, world: World, code: str) -> None:
    world.refused = StartRefused(code, "A<b>")
    answer = post(client, "run", an_event(form=FORM, sheetId="0", requestId="r-1"))

    assert said(answer) == WORDS.coded("start", code, names="“A<b>”")
    assert updated(answer)["name"] == "run"
    body = json.dumps(updated(answer))
    assert "Be short" in body and "A<b>" not in body
    assert the(updated(answer), "run")["requestId"] != "r-1"


def test_choosing_another_tab_shows_its_columns_and_keeps_the_wishes(client: FlaskClient) -> None:
    card = updated(post(client, "choose", an_event(form=FORM | {"sheet": ["7"]}, sheetId="0")))

    inputs = {
        w["selectionInput"]["name"]: w
        for s in card["sections"]
        for w in s["widgets"]
        if "selectionInput" in w
    }
    assert set(inputs) == {"sheet", "sources_7", "output_7", "mode"}
    assert "Be short" in json.dumps(card)


def test_a_chosen_tab_that_was_deleted_gives_way_to_the_first(client: FlaskClient) -> None:
    card = updated(post(client, "choose", an_event(form=FORM | {"sheet": ["123"]}, sheetId="123")))

    assert the(card, "run")["sheetId"] == "0"


@pytest.mark.parametrize(
    ("action", "message"),
    [
        ("pause", "said.paused"),
        ("resume", "said.resumed"),
        ("cancel", "said.cancelled"),
        ("retry", "said.retrying"),
    ],
)
def test_commands_reach_the_job_and_show_how_it_stands(
    client: FlaskClient, world: World, action: str, message: str
) -> None:
    world.jobs["job-1"] = a_status()
    answer = post(client, action, an_event(jobId="job-1"))

    assert world.commands == [(action, "job-1", None)]
    assert updated(answer)["name"] == "status" and said(answer) == WORDS(message)


def test_retry_can_name_one_kind_of_failure(client: FlaskClient, world: World) -> None:
    world.jobs["job-1"] = a_status(status="done")
    post(client, "retry", an_event(jobId="job-1", errorClass="blocked"))

    assert world.commands == [("retry", "job-1", "blocked")]


@pytest.mark.parametrize("action", ["pause", "resume", "cancel", "retry"])
@pytest.mark.parametrize("job_id", ["", "job-2", "job-9", "../job-1"])
def test_a_job_of_another_spreadsheet_is_not_found(
    client: FlaskClient, world: World, action: str, job_id: str
) -> None:
    world.jobs |= {"job-1": a_status(), "job-2": a_status("job-2", spreadsheet_id=OTHER)}
    card = updated(post(client, action, an_event(jobId=job_id)))

    assert world.commands == []
    assert WORDS("command.no_such_job") in json.dumps(card, ensure_ascii=False)
    assert the(card, "pause")["jobId"] == "job-1"


OWNER = Caller("u-1", "you@example.com", "ya29.user", admin=False)
COLLEAGUE = Caller("u-2", "her@example.com", "ya29.user", admin=False)
ADMIN = Caller("u-3", "admin@example.com", "ya29.user", admin=True)
COMMANDS = ["pause", "resume", "cancel", "retry"]


@pytest.mark.parametrize("action", COMMANDS)
@pytest.mark.parametrize(
    ("caller", "opens", "from_admin", "done"),
    [
        (OWNER, True, False, True),
        (OWNER, False, False, False),
        (OWNER, False, True, False),
        (COLLEAGUE, True, False, False),
        (COLLEAGUE, True, True, False),
        (COLLEAGUE, False, True, False),
        (ADMIN, True, False, True),
        (ADMIN, True, True, True),
        (ADMIN, False, True, True),
        (ADMIN, False, False, False),
    ],
    ids=lambda value: value.email.split("@")[0] if isinstance(value, Caller) else str(value),
)
def test_who_may_command_a_job(
    client: FlaskClient,
    world: World,
    action: str,
    caller: Caller,
    opens: bool,
    from_admin: bool,
    done: bool,
) -> None:
    """Owners their own job, with proof that they open its spreadsheet; administrators any."""
    world.jobs["job-1"] = a_status()
    world.caller = caller
    if not opens:
        del world.books[SID]
    marked = {"fromAdmin": "1"} if from_admin else {}
    answer = post(client, action, an_event(jobId="job-1", **marked))

    assert [command[:2] for command in world.commands] == ([(action, "job-1")] if done else [])
    if not opens and not done:
        assert updated(answer)["name"] == "connect"
    elif not done:
        assert said(answer) == WORDS("command.not_yours")
    expected = [SID] if done and action in {"resume", "retry"} and not from_admin else []
    assert world.given == expected, "access is given anew with the caller's own token, or not at all"


@pytest.mark.parametrize(
    ("caller", "buttons"),
    [
        (OWNER, {"refresh", "pause", "cancel"}),
        (COLLEAGUE, {"refresh"}),
        (ADMIN, {"refresh", "pause", "cancel", "admin"}),
    ],
)
def test_the_card_offers_what_its_reader_may_do(
    client: FlaskClient, world: World, caller: Caller, buttons: set[str]
) -> None:
    world.jobs["job-1"], world.caller = a_status(), caller
    card = shown(post(client, "home", an_event()))

    assert {action["to"] for action in actions_in(card)} == buttons
    assert (WORDS("status.not_yours") in json.dumps(card)) is (caller is COLLEAGUE)


@pytest.mark.parametrize("action", ["admin", "test-model"])
@pytest.mark.parametrize("caller", [OWNER, COLLEAGUE])
def test_only_administrators_see_all_jobs(
    client: FlaskClient, world: World, caller: Caller, action: str
) -> None:
    world.jobs["job-2"], world.caller = a_status("job-2", spreadsheet_id=OTHER), caller
    card = updated(post(client, action, an_event()))

    assert card["name"] == "error" and WORDS("error.admins_only") in json.dumps(card)
    assert "job-2" not in json.dumps(card)


def test_administrators_see_every_job_and_need_not_open_its_spreadsheet(
    client: FlaskClient, world: World
) -> None:
    world.jobs["job-2"] = a_status("job-2", spreadsheet_id=OTHER, status="paused", reason="stuck")
    world.caller, world.books = ADMIN, {}
    card = updated(post(client, "admin", an_event("")))

    assert WORDS("reason.stuck") in json.dumps(card)
    assert the(card, "resume") == {"to": "resume", "jobId": "job-2", "fromAdmin": "1"}
    assert f"https://docs.google.com/spreadsheets/d/{OTHER}" in json.dumps(card)


@pytest.mark.parametrize("code", ["already_over", "another_job_active", "brand_new"])
def test_a_refused_command_says_why(client: FlaskClient, world: World, code: str) -> None:
    world.jobs["job-1"] = a_status()
    world.refused = CommandRefused(code)

    assert said(post(client, "resume", an_event(jobId="job-1"))) == WORDS.coded("command", code)


def test_new_shows_the_form_after_a_finished_run(client: FlaskClient, world: World) -> None:
    world.jobs["job-1"] = a_status(status="done")

    assert updated(post(client, "refresh", an_event()))["name"] == "status"
    assert updated(post(client, "new", an_event()))["name"] == "run"


def test_help_lies_on_top_so_that_people_can_go_back(client: FlaskClient) -> None:
    (navigation,) = post(client, "help", an_event(""))["renderActions"]["action"]["navigations"]

    assert navigation["pushCard"]["name"] == "help"


@pytest.mark.parametrize("action", [action for action in ACTIONS if action not in {"connect", *NO_FILE}])
def test_nobody_sees_or_changes_a_spreadsheet_their_own_token_cannot_open(
    client: FlaskClient, world: World, action: str
) -> None:
    world.jobs["job-2"] = a_status("job-2", spreadsheet_id=OTHER)
    event = an_event(OTHER, form=FORM, jobId="job-2", sheetId="0", requestId="r-1")
    answer = post(client, action, event)

    card = shown(answer) if action in TRIGGERS else updated(answer)
    assert card["name"] == "connect"
    assert (world.commands, world.requests) == ([], [])
    assert world.tokens == [("ya29.user", OTHER)]


@pytest.mark.parametrize("action", [action for action in CLICKS if action not in {"connect", *NO_FILE}])
def test_a_click_without_any_spreadsheet_leads_back_to_the_grant(client: FlaskClient, action: str) -> None:
    assert updated(post(client, action, an_event("")))["name"] == "connect"


def test_a_missing_file_scope_is_asked_for(client: FlaskClient) -> None:
    event = an_event()
    event["authorizationEventObject"]["authorizedScopes"] = ["openid"]

    assert post(client, "run", event) == {"requesting_google_scopes": {"scopes": [FILE_SCOPE]}}


def test_a_granted_file_scope_is_not_asked_for_again(client: FlaskClient) -> None:
    event = an_event()
    event["authorizationEventObject"]["authorizedScopes"] = ["openid", FILE_SCOPE]

    assert updated(post(client, "refresh", event))["name"] == "run"


FAILURES = [
    (TryAgain("x", service="Sheets"), "error.google_busy"),
    (FileMissing("x", service="Drive"), "error.file_gone"),
    (JobBlocked("x", code="protected", service="Sheets"), "blocked.protected"),
    (Contention("x"), "error.store_busy"),
]


@pytest.mark.parametrize("action", [action for action in ACTIONS if action not in NO_FILE])
@pytest.mark.parametrize(("error", "key"), FAILURES)
def test_a_failed_call_is_a_sentence_and_a_way_on(
    client: FlaskClient, world: World, action: str, error: Exception, key: str
) -> None:
    world.broken = error
    answer = post(client, action, an_event(jobId="job-1", form=FORM, sheetId="0", requestId="r-1"))

    card = shown(answer) if action in TRIGGERS else updated(answer)
    assert card["name"] == "error" and WORDS(key) in json.dumps(card, ensure_ascii=False)
    again = actions_in(card)[0]
    assert again["to"] == ("refresh" if action in TRIGGERS else action)
    assert again["spreadsheetId"] == SID


def test_try_again_makes_the_very_same_run(client: FlaskClient, world: World) -> None:
    world.broken = TryAgain("x", service="Sheets")
    card = updated(post(client, "run", an_event(form=FORM, sheetId="0", requestId="r-1")))
    world.broken = None
    again = the(card, "run")
    event = an_event()
    event["commonEventObject"] |= {"parameters": again, "formInputs": {}}
    post(client, "run", event)

    assert world.requests == [StartRequest(SID, 0, ("Body",), "Summary", "Be short", "all", "r-1")]


@pytest.mark.parametrize("action", [action for action in ACTIONS if action not in NO_FILE])
def test_an_unknown_failure_shows_a_reference_and_logs_no_content(
    client: FlaskClient, world: World, action: str, caplog: pytest.LogCaptureFixture
) -> None:
    world.broken = ValueError(SECRET)
    with caplog.at_level(logging.DEBUG):
        answer = post(client, action, an_event(form=FORM, sheetId="0", requestId="r-1"))

    body = json.dumps(answer)
    (record,) = [record for record in caplog.records if record.levelno == logging.ERROR]
    reference = record.getMessage().rsplit(" ", 1)[1]
    assert reference in body and "ValueError" in record.getMessage()
    for secret in (SECRET, "ya29", "Be short"):
        assert secret not in caplog.text
    assert SECRET not in body and "Traceback" not in body


def test_without_proof_of_identity_there_is_no_card(client: FlaskClient, world: World) -> None:
    for route in ROUTES:
        answer = client.post(route, json=an_event())
        assert answer.status_code == 401
        assert answer.json is not None and set(answer.json) == {"error"}
        assert answer.json["error"]["code"] == "unauthorised"
    assert world.tokens == []


@pytest.mark.parametrize(
    ("body", "content_type", "status", "code"),
    [
        (b"{}", "text/plain", 415, "unsupported_media_type"),
        (b"{}", None, 415, "unsupported_media_type"),
        (b"", "application/json", 400, "bad_request"),
        (b"{", "application/json", 400, "bad_request"),
        (b"\xff\xfe", "application/json", 400, "bad_request"),
        (b"[" * 100_000, "application/json", 400, "bad_request"),
        (b"9" * 5_000, "application/json", 400, "bad_request"),
        (b"[]", "application/json", 400, "bad_event"),
        (b'"' + b"x" * MAX_BODY_BYTES + b'"', "application/json", 413, "request_entity_too_large"),
    ],
)
def test_what_is_no_event_gets_one_json_error(
    client: FlaskClient, body: bytes, content_type: str | None, status: int, code: str
) -> None:
    answer = client.post("/sidebar/home", data=body, content_type=content_type)

    assert answer.status_code == status
    assert answer.json is not None and set(answer.json["error"]) == {"code", "message"}
    assert answer.json["error"]["code"] == code
