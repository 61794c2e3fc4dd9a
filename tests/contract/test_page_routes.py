"""The demo page's server: it acts for the local user, and for nobody else in the same browser."""

import json
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import requests
from fake_addon import FakeAddOn, card, shown, text
from google.auth import jwt

from addon.simulator.identity import CLIENT_ID, SYSTEM_ACCOUNT
from addon.simulator.page_events import SCOPES
from addon.simulator.server import Simulator

Json = dict[str, Any]
HOME = shown(card(text("Hello")))


class Page:
    """The page as its server sees it: a browser's requests, and what they change."""

    def __init__(self, simulator: Simulator, session: requests.Session) -> None:
        self.google = simulator
        self.session = session
        self.spreadsheet = simulator.workbooks.create(
            "Inquiries", [["id", "text"], ["1", "pear"], ["2", "apple"], ["3", "fig"]], grid=(6, 4)
        )
        self.workbook = simulator.workbooks.get(self.spreadsheet)

    def get(self, path: str, **parameters: str) -> requests.Response:
        return self.session.get(f"{self.google.url}/page/{path}", params=parameters, timeout=10)

    def post(
        self, route: str, body: object, headers: Json | None = None, **parameters: Any
    ) -> requests.Response:
        headers = {"Origin": self.google.url, "Sec-Fetch-Site": "same-origin"} if headers is None else headers
        if isinstance(body, dict):
            parameters["json"] = {"spreadsheet": self.spreadsheet, **body}
        else:
            parameters["data"] = body
        url = f"{self.google.url}/page/api/{route}"
        return self.session.post(url, headers=headers, timeout=10, **parameters)

    def event(self, kind: str, **fields: Any) -> Json:
        answer = self.post("event", {"kind": kind, **fields})
        assert answer.status_code == 200, answer.text
        outcome: Json = answer.json()
        return outcome

    def news(self, since: str = "") -> Json:
        answer = self.get("api/sheet", spreadsheet=self.spreadsheet, since=since)
        assert answer.status_code == 200
        news: Json = answer.json()
        return news

    def row_id(self, row: int) -> int:
        return int(self.workbook.sheets[0].ids[row])

    @property
    def texts(self) -> list[str]:
        return [row[1] for row in self.workbook.cells(0)[1:]]


@pytest.fixture
def addon() -> Iterator[FakeAddOn]:
    with FakeAddOn() as addon:
        addon.answers = {"home": HOME, "file-granted": HOME, "run": {"renderActions": {}}}
        yield addon


@pytest.fixture
def page(tmp_path: Path, addon: FakeAddOn) -> Iterator[Page]:
    with Simulator(tmp_path, service=addon.url) as simulator, requests.Session() as session:
        session.trust_env = False
        yield Page(simulator, session)


# The page and its files


def test_the_page_may_load_nothing_from_elsewhere_and_run_no_inline_script(page: Page) -> None:
    answer = page.get("")
    policy = answer.headers["Content-Security-Policy"]
    assert answer.headers["Content-Type"].startswith("text/html")
    assert (
        "default-src 'none'" in policy and "script-src 'self';" in policy and "connect-src 'self';" in policy
    )
    assert "unsafe" not in policy and "frame-ancestors 'none'" in policy
    assert "://" not in answer.text


def test_every_file_of_the_page_is_served_with_a_type_the_browser_accepts(page: Page) -> None:
    types = {".js": "javascript", ".css": "text/css", ".svg": "image/svg+xml", ".html": "text/html"}
    folder = Path("addon/simulator/page")
    for file in folder.iterdir():
        answer = page.get(f"static/{file.name}")
        assert answer.status_code == 200 and types[file.suffix] in answer.headers["Content-Type"]


def test_tokens_never_reach_the_browser(page: Page, addon: FakeAddOn) -> None:
    outcome = page.event("homepage")
    seen = json.dumps(outcome) + json.dumps(page.news()) + page.get("").text
    identity = page.google.identity
    for secret in (
        identity.user.token,
        identity.worker.token,
        identity.operator_token,
        identity.google.private,
        identity.worker_key.private,
        *addon.proofs[0].split()[1:],
        addon.last("home")["authorizationEventObject"]["userOAuthToken"],
    ):
        assert secret not in seen


# Other sites in the same browser


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1:1"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Sec-Fetch-Site": "none"},
    ],
)
@pytest.mark.parametrize("route", ["event", "edit", "sort", "rows"])
def test_requests_of_other_sites_change_nothing(
    page: Page, addon: FakeAddOn, route: str, headers: Json
) -> None:
    body = {"kind": "homepage", "sheet": 0, "row": 1, "column": 1, "text": "x", "action": "delete"}
    answer = page.post(route, {**body, "id": page.row_id(1)}, headers)
    assert answer.status_code == 403
    assert page.texts == ["pear", "apple", "fig"]
    assert addon.events == []


def test_a_form_of_another_site_cannot_pass_for_json(page: Page, addon: FakeAddOn) -> None:
    headers = {"Origin": page.google.url, "Content-Type": "text/plain"}
    assert page.post("event", json.dumps({"kind": "homepage"}), headers).status_code == 415
    assert addon.events == []


def test_a_name_that_was_made_to_point_here_gets_no_answer(page: Page) -> None:
    port = int(page.google.url.rpartition(":")[2])
    for request_line in ("GET /page/", "GET /page/api/sheet"):
        with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
            request = f"{request_line} HTTP/1.1\r\nHost: evil.example:{port}\r\nConnection: close\r\n\r\n"
            connection.sendall(request.encode())
            with connection.makefile("rb") as answer:
                assert b" 403 " in answer.readline()


# The sheet


def test_a_page_gets_everything_first_and_then_only_what_changed(page: Page) -> None:
    first = page.news()
    sheet = first["sheets"][0]
    assert first["title"] == "Inquiries" and first["since"] == ""
    assert (sheet["rowCount"], sheet["columnCount"], sheet["filled"]) == (6, 4, 4)
    assert [row[2] for row in sheet["rows"]] == [["id", "text"], ["1", "pear"], ["2", "apple"], ["3", "fig"]]
    page.workbook.set_cell(0, 2, 2, "A summary")
    second = page.news(first["version"])
    assert second["since"] == first["version"]
    assert second["sheets"][0]["rows"] == [[2, page.row_id(2), ["2", "apple", "A summary"]]]


def test_nothing_new_is_answered_without_content(page: Page) -> None:
    version = page.news()["version"]
    answer = page.get("api/sheet", spreadsheet=page.spreadsheet, since=version)
    assert (answer.status_code, answer.content) == (204, b"")


def test_following_the_news_gives_the_sheet_whatever_was_done_to_it(page: Page) -> None:
    news = page.news()
    rows = [cells for _, _, cells in news["sheets"][0]["rows"]]
    steps = [
        lambda: page.workbook.sort(0, 1),
        lambda: page.workbook.sort(0, 0),
        lambda: page.workbook.delete_rows(0, 2),
        lambda: page.workbook.insert_rows(0, 1, rows=[("9", "kiwi"), ("8", "plum")]),
        lambda: page.workbook.delete_rows(0, 3, 2),
        lambda: page.workbook.sort(0, 1, True),
    ]
    for step in steps:
        step()
        news = page.news(news["version"])
        sheet = news["sheets"][0]
        rows = rows[: sheet["filled"]] + [[]] * (sheet["filled"] - len(rows))
        for position, _, cells in sheet["rows"]:
            rows[position] = cells
        assert rows == page.workbook.cells(0)


def test_a_version_of_another_run_or_spreadsheet_gets_everything(page: Page) -> None:
    other = page.google.workbooks.create("Other", [["a"]])
    version = page.news()["version"]
    for since in ("0000-1", version):
        news = page.get("api/sheet", spreadsheet=other, since=since).json()
        assert news["since"] == "" and news["sheets"][0]["rows"][0][2] == ["a"]


def test_a_page_left_open_gets_everything_after_a_restart(tmp_path: Path) -> None:
    versions, texts = [""], []
    for text_now in ("before", "after"):
        with Simulator(tmp_path) as simulator, requests.Session() as session:
            session.trust_env = False
            ids = simulator.workbooks.ids()
            spreadsheet = ids[0] if ids else simulator.workbooks.create("Kept", [["a"]])
            simulator.workbooks.get(spreadsheet).set_cell(0, 0, 0, text_now)
            parameters = {"spreadsheet": spreadsheet, "since": versions[-1]}
            answer = session.get(f"{simulator.url}/page/api/sheet", params=parameters, timeout=10)
            assert answer.status_code == 200 and answer.json()["since"] == ""
            versions.append(answer.json()["version"])
            texts.append(answer.json()["sheets"][0]["rows"][0][2])
    assert texts == [["before"], ["after"]]


def test_without_an_id_the_oldest_spreadsheet_is_shown(page: Page) -> None:
    page.google.workbooks.create("Other")
    assert page.get("api/sheet").json()["spreadsheet"] == page.spreadsheet


def test_an_unknown_spreadsheet_is_not_found(page: Page) -> None:
    answer = page.get("api/sheet", spreadsheet="nowhere")
    assert answer.status_code == 404 and "nowhere" in answer.json()["error"]["message"]


# Changes


def test_an_edit_reaches_its_row_though_the_row_was_moved_since_the_page_saw_it(page: Page) -> None:
    seen = page.row_id(1)
    page.workbook.sort(0, 1)
    assert page.texts == ["apple", "fig", "pear"]
    answer = page.post("edit", {"sheet": 0, "row": 1, "id": seen, "column": 1, "text": "quince"})
    assert answer.status_code == 200
    assert page.texts == ["apple", "fig", "quince"]


def test_an_edit_below_the_filled_rows_fills_a_new_one(page: Page) -> None:
    page.post("edit", {"sheet": 0, "row": 5, "id": None, "column": 1, "text": "new"})
    assert page.texts == ["pear", "apple", "fig", "", "new"]


@pytest.mark.parametrize("action", ["edit", "delete", "above"])
def test_a_row_that_is_gone_is_never_mistaken_for_another(page: Page, action: str) -> None:
    seen = page.row_id(2)
    page.workbook.delete_rows(0, 2)
    body = {"sheet": 0, "row": 2, "id": seen, "column": 1, "text": "x", "action": action}
    answer = page.post("edit" if action == "edit" else "rows", body)
    assert answer.status_code == 409
    assert page.texts == ["pear", "fig"]


def test_a_blank_row_that_was_filled_meanwhile_is_not_overwritten(page: Page) -> None:
    page.workbook.set_cell(0, 4, 1, "theirs")
    answer = page.post("edit", {"sheet": 0, "row": 4, "id": None, "column": 1, "text": "mine"})
    assert answer.status_code == 409 and page.texts[-1] == "theirs"


def test_sorting_inserting_and_deleting(page: Page) -> None:
    page.post("sort", {"sheet": 0, "column": 1, "descending": True})
    assert page.texts == ["pear", "fig", "apple"]
    page.post("rows", {"sheet": 0, "action": "above", "row": 2, "id": page.row_id(2)})
    assert page.workbook.cells(0)[2] == ["", ""]
    page.post("rows", {"sheet": 0, "action": "below", "row": 3, "id": page.row_id(3)})
    assert [row[1] for row in page.workbook.cells(0)] == ["text", "pear", "", "fig", "", "apple"]
    page.post("rows", {"sheet": 0, "action": "delete", "row": 1, "id": page.row_id(1)})
    assert [row[1] for row in page.workbook.cells(0)] == ["text", "", "fig", "", "apple"]


@pytest.mark.parametrize(
    ("route", "body", "status"),
    [
        ("edit", {"sheet": 0, "row": 1, "column": 1, "text": "x" * 50_001}, 400),
        ("edit", {"sheet": 0, "row": 1, "column": 1, "text": "\ud800"}, 400),
        ("edit", {"sheet": 0, "row": 1, "column": 4, "text": "x"}, 400),
        ("edit", {"sheet": 0, "row": 1, "column": -1, "text": "x"}, 400),
        ("edit", {"sheet": 0, "row": 6, "column": 1, "text": "x", "id": None}, 409),
        ("edit", {"sheet": 7, "row": 1, "column": 1, "text": "x"}, 404),
        ("edit", {"sheet": True, "row": 1, "column": 1, "text": "x"}, 400),
        ("edit", {"sheet": 0, "row": 1, "column": 1}, 400),
        ("sort", {"sheet": 0, "column": 9}, 400),
        ("sort", {"sheet": 7, "column": 0}, 404),
        ("rows", {"sheet": 0, "action": "burn", "row": 1}, 400),
        ("edit", b"[]", 400),
        ("edit", b"{", 400),
    ],
)
def test_what_google_would_not_do_is_refused_with_a_sentence(
    page: Page, route: str, body: Json | bytes, status: int
) -> None:
    if isinstance(body, dict):
        answer = page.post(route, {"id": page.row_id(1), **body})
    else:
        headers = {"Origin": page.google.url, "Content-Type": "application/json"}
        answer = page.post(route, body, headers)
    assert answer.status_code == status and answer.json()["error"]["message"]
    assert page.texts == ["pear", "apple", "fig"]


# Events


def test_a_homepage_event_names_no_file_before_it_is_granted(page: Page, addon: FakeAddOn) -> None:
    zone = {"id": "Asia/Tokyo", "offset": 32_400_000}
    assert page.event("homepage", locale="ja", timeZone=zone) == {"answer": HOME, "granted": False}
    event = addon.last("home")
    said = event.pop("authorizationEventObject")
    assert event == {
        "commonEventObject": {"hostApp": "SHEETS", "platform": "WEB", "userLocale": "ja", "timeZone": zone},
        "sheets": {"addonHasFileScopePermission": False},
    }
    assert said["authorizedScopes"] == list(SCOPES)
    assert addon.proofs == [f"Bearer {said['systemIdToken']}"]
    user = page.google.identity.caller(said["userOAuthToken"])
    assert user is not None and user.scopes == frozenset(SCOPES)


def test_an_event_carries_tokens_for_the_address_called_and_for_the_person(
    page: Page, addon: FakeAddOn
) -> None:
    page.event("homepage")
    said, key = addon.last("home")["authorizationEventObject"], page.google.identity.google
    system = jwt.decode(said["systemIdToken"], key.certificate)
    assert (system["aud"], system["email"]) == (f"{addon.url}/sidebar/home", SYSTEM_ACCOUNT)
    person = jwt.decode(said["userIdToken"], key.certificate)
    assert (person["aud"], person["email"]) == (CLIENT_ID, page.google.identity.user.email)


def test_the_grant_names_the_file_and_is_remembered_for_this_spreadsheet(
    page: Page, addon: FakeAddOn
) -> None:
    granted = {"addonHasFileScopePermission": True, "id": page.spreadsheet, "title": "Inquiries"}
    assert page.event("fileGranted")["granted"] is True
    assert addon.last("file-granted")["sheets"] == granted
    page.event("homepage")
    assert addon.last("home")["sheets"] == granted
    page.event("homepage", spreadsheet=page.google.workbooks.create("Other"))
    assert addon.last("home")["sheets"] == {"addonHasFileScopePermission": False}


def test_a_click_carries_parameters_as_a_map_and_only_filled_inputs(page: Page, addon: FakeAddOn) -> None:
    page.event(
        "click",
        function=addon.function("run"),
        parameters=[{"key": "op", "value": "start"}, {"key": "n", "value": "0"}],
        formInputs={"a": {"stringInputs": {"value": ["x", "y"]}}, "b": {"stringInputs": {"value": []}}},
    )
    common = addon.last("run")["commonEventObject"]
    assert common["parameters"] == {"op": "start", "n": "0"}
    assert common["formInputs"] == {"a": {"stringInputs": {"value": ["x", "y"]}}}


def test_a_click_without_anything_has_neither_map(page: Page, addon: FakeAddOn) -> None:
    page.event("click", function=addon.function("run"), parameters=[], formInputs={})
    assert set(addon.last("run")["commonEventObject"]) == {"hostApp", "platform", "userLocale", "timeZone"}


def test_tokens_are_sent_to_the_service_only(page: Page, addon: FakeAddOn) -> None:
    with FakeAddOn() as other:
        other.answers["run"] = {}
        functions = [
            other.function("run"),
            f"{addon.url}0/sidebar/run",
            f"{addon.url}@{other.url.removeprefix('http://')}/sidebar/run",
            addon.url,
            "/sidebar/run",
            "https://example.com/run",
            None,
            7,
        ]
        for function in functions:
            answer = page.post("event", {"kind": "click", "function": function})
            assert answer.status_code == 403, function
        addon.answers["away"], addon.locations["away"] = 307, other.function("run")
        assert page.event("click", function=addon.function("away"))["problem"] == "status"
        assert other.events == []
    assert [name for name, _ in addon.events] == ["away"]


@pytest.mark.parametrize(
    "parameters", [[{"key": "a", "value": True}], {"a": "b"}, [["a", "b"]], [{"value": "b"}], "a"]
)
def test_parameters_that_google_refuses_are_refused(page: Page, addon: FakeAddOn, parameters: Any) -> None:
    body = {"kind": "click", "function": addon.function("run"), "parameters": parameters}
    answer = page.post("event", body)
    assert answer.status_code == 400 and "parameters" in answer.json()["error"]["message"]
    assert addon.events == []


def test_an_unknown_kind_of_event_is_refused(page: Page) -> None:
    for kind in ("", "start", None, ["homepage"]):
        assert page.post("event", {"kind": kind}).status_code == 400


def test_what_is_no_answer_is_told_to_the_page(page: Page, addon: FakeAddOn) -> None:
    addon.answers["home"] = b"<html>"
    assert page.event("homepage")["problem"] == "not_json"
    addon.answers["home"] = 500
    assert page.event("homepage") == {"problem": "status", "status": 500, "granted": False}
    addon.stop()
    assert page.event("homepage")["problem"] == "no_answer"


def test_without_a_service_the_page_says_so(tmp_path: Path) -> None:
    with Simulator(tmp_path) as simulator, requests.Session() as session:
        session.trust_env = False
        page = Page(simulator, session)
        for event in ({"kind": "homepage"}, {"kind": "click", "function": "https://example.com/"}):
            answer = page.post("event", event)
            assert answer.json() == {"problem": "no_service", "granted": False}
        assert "img-src 'self' ;" in page.get("").headers["Content-Security-Policy"]
