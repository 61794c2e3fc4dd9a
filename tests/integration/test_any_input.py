"""Whatever comes in: no answer is a failure of ours, and every answer is JSON.

The application is the real one, with the real proof of identity; behind it is the simulator, which answers as
Google does, and whose queue is paused.
"""

import functools
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from addon.app import create_app
from addon.local import local_stack
from addon.settings import Settings
from addon.sidebar.widgets import ACTIONS
from addon.simulator.identity import CLIENT_ID, SYSTEM_ACCOUNT, TASKS_ACCOUNT
from addon.simulator.page_events import SCOPES
from addon.simulator.server import Simulator

ROWS = [["id", "text"], ["1", "The lift is stuck again."]]
FUZZ = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])


class Edge:
    """The application, a workbook of the user's, and tokens that hold: made once, for they take longest."""

    def __init__(self, google: Simulator, client: FlaskClient, base: str) -> None:
        self.google = google
        self.client = client
        self.base = base
        self.book = google.workbooks.create("Inquiries", ROWS)
        google.files.grant(self.book, google.identity.user.email)

    @functools.cached_property
    def person(self) -> dict[str, Any]:
        """The user's tokens."""
        email = self.google.identity.user.email
        return {
            "userOAuthToken": self.google.identity.issue(email, SCOPES),
            "userIdToken": self.google.identity.id_token(CLIENT_ID, email),
        }

    @functools.cache  # noqa: B019  # lives as long as the module's tests
    def token(self, path: str, account: str) -> str:
        """An ID token for a path of this service."""
        return self.google.identity.id_token(f"{self.base}{path}", account)

    def post(self, path: str, body: bytes, token: str, content_type: str = "application/json") -> Any:
        """Post, and check what every answer must be; the status and what it says."""
        answer = self.client.post(
            path, data=body, content_type=content_type, headers={"Authorization": f"Bearer {token}"}
        )
        assert answer.status_code < 500, (path, body, answer.data)
        assert answer.mimetype == "application/json"
        said = answer.get_json()
        assert isinstance(said, dict)
        if answer.status_code != 200:
            assert set(said) == {"error"} and set(said["error"]) == {"code", "message"}
        assert "reference" not in answer.text, "nothing that nobody foresaw"
        return answer.status_code, said


@pytest.fixture(scope="module")
def edge(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Edge]:
    state: Path = tmp_path_factory.mktemp("edge")
    with local_stack(Settings(state=state, log_format="json"), sweep=None) as (google, services):
        google.queue.pause()
        with create_app(services=services).test_client() as client:
            yield Edge(google, client, services.settings.base_url)


SURROGATES = st.characters(categories=["Cs", "Cc", "L", "N", "P", "S", "Zs"])
TELLING = [
    "",
    "0",
    "-1",
    "9999999999",
    "new",
    "column:",
    "column:x",
    "all",
    "[[[",
    '{"a":["b"]}',
    "../x",
    "\0",
]
TEXT = st.text(SURROGATES, max_size=30) | st.sampled_from(TELLING)
ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=10,
)
PARAMETERS = ["spreadsheetId", "jobId", "requestId", "sheetId", "errorClass", "fromAdmin", "form"]
INPUTS = ["sheet", "sources_0", "output_0", "new_title", "instructions", "mode"]
NAMES = st.sampled_from(PARAMETERS + INPUTS)
WIDGET = st.fixed_dictionaries({"stringInputs": st.fixed_dictionaries({"value": st.lists(TEXT, max_size=3)})})
COMMON = st.fixed_dictionaries(
    {},
    optional={
        "userLocale": TEXT | st.sampled_from(["ja", "en-GB", "zz"]) | ANY_JSON,
        "timeZone": st.fixed_dictionaries({}, optional={"id": TEXT, "offset": ANY_JSON}) | ANY_JSON,
        "parameters": st.dictionaries(NAMES | TEXT, TEXT | ANY_JSON, max_size=8) | ANY_JSON,
        "formInputs": st.dictionaries(NAMES | TEXT, WIDGET | ANY_JSON, max_size=8) | ANY_JSON,
    },
)
EVENT = st.fixed_dictionaries(
    {},
    optional={
        "commonEventObject": COMMON | ANY_JSON,
        "sheets": st.fixed_dictionaries({}, optional={"id": TEXT | ANY_JSON, "title": ANY_JSON}) | ANY_JSON,
        "drive": ANY_JSON,
    },
)
SCOPE_LISTS = st.lists(TEXT | ANY_JSON, max_size=3) | ANY_JSON | st.just(list(SCOPES))


@FUZZ
@given(action=st.sampled_from(ACTIONS), event=EVENT, scopes=SCOPE_LISTS, here=st.booleans())
def test_any_event_of_googles_gets_a_card(
    edge: Edge, action: str, event: dict[str, Any], scopes: Any, here: bool
) -> None:
    """With proofs that hold: the parser, the form, the handlers and Google get whatever is in it."""
    common = event.get("commonEventObject")
    if here and isinstance(common, dict) and isinstance(common.get("parameters"), dict):
        common["parameters"]["spreadsheetId"] = edge.book
    token = edge.token(f"/sidebar/{action}", SYSTEM_ACCOUNT)
    proof = {**edge.person, "systemIdToken": token, "authorizedScopes": scopes}
    body = json.dumps(event | {"authorizationEventObject": proof}).encode()
    status, answer = edge.post(f"/sidebar/{action}", body, token)
    assert status == 200, answer
    assert set(answer) <= {"action", "renderActions", "requesting_google_scopes"}


@FUZZ
@given(
    action=st.sampled_from(ACTIONS),
    body=st.binary(max_size=200) | ANY_JSON.map(lambda value: json.dumps(value).encode()),
    content_type=st.just("application/json") | st.text(st.characters(max_codepoint=126, min_codepoint=32)),
)
def test_any_body_gets_an_answer(edge: Edge, action: str, body: bytes, content_type: str) -> None:
    status, _ = edge.post(f"/sidebar/{action}", body, edge.token("", SYSTEM_ACCOUNT), content_type)
    assert status in {400, 401, 415}


TOKEN = st.text(st.characters(min_codepoint=32, max_codepoint=255), max_size=60)


@FUZZ
@given(
    header=TOKEN,
    said=st.dictionaries(
        st.sampled_from(["systemIdToken", "userIdToken", "userOAuthToken", "authorizedScopes"]),
        TEXT | ANY_JSON,
        max_size=4,
    )
    | ANY_JSON,
)
def test_any_token_gets_an_answer(edge: Edge, header: str, said: Any) -> None:
    body = json.dumps({"authorizationEventObject": said}).encode()
    assert edge.post("/sidebar/home", body, header)[0] == 401
    assert edge.post("/tasks/link", b"{}", header)[0] == 401
    assert edge.post("/schedule/sweep", b"{}", header)[0] == 401


COUNT = st.integers() | st.integers(0, 3) | ANY_JSON
MESSAGE = st.fixed_dictionaries(
    {}, optional={"job": TEXT | ANY_JSON, "shard": COUNT, "epoch": COUNT, "step": COUNT, "more": ANY_JSON}
)


@FUZZ
@given(body=(MESSAGE | ANY_JSON).map(lambda value: json.dumps(value).encode()) | st.binary(max_size=100))
def test_any_task_ends_or_is_refused(edge: Edge, body: bytes) -> None:
    before = edge.google.queue.pending()
    status, answer = edge.post("/tasks/link", body, edge.token("/tasks", TASKS_ACCOUNT))
    assert status in {200, 400}
    assert status == 400 or answer["outcome"].startswith(("dropped: ", "no such job"))
    assert edge.google.queue.pending() == before
