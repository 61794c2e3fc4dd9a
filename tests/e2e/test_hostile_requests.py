"""What anybody on the internet may send: headers, bodies, methods, paths; and that nothing comes of it.

Each table is one kind of request; a row is what comes in and the status it gets.
"""

import json
from collections.abc import Callable
from typing import Any

import pytest
from hostile import World, logged, named, sent
from stage import OWNER, Stage

from addon.simulator.identity import SYSTEM_ACCOUNT

# -------------------------------------------------------------------- headers that claim things

CLAIMS = named(
    # headers without a token: they prove nothing
    ("Cloud Tasks", "/tasks/link", {"X-CloudTasks-QueueName": "summaries", "X-CloudTasks-TaskName": "t"}),
    ("App Engine's queue", "/tasks/link", {"X-AppEngine-QueueName": "q", "X-AppEngine-TaskName": "t"}),
    ("App Engine's cron", "/schedule/sweep", {"X-AppEngine-Cron": "true"}),
    ("Cloud Scheduler", "/schedule/sweep",
     {"X-CloudScheduler": "true", "User-Agent": "Google-Cloud-Scheduler"}),
    ("an identity-aware proxy", "/sidebar/home",
     {"X-Goog-Authenticated-User-Email": f"accounts.google.com:{OWNER}"}),
    ("a client certificate", "/sidebar/home", {"X-Forwarded-Client-Cert": f"By={SYSTEM_ACCOUNT}"}),
    ("serverless authorization", "/tasks/link", {"X-Serverless-Authorization": "Bearer x"}),
    ("a local address", "/tasks/link", {"X-Forwarded-For": "127.0.0.1", "Forwarded": "for=127.0.0.1"}),
    ("another method", "/sidebar/home", {"X-HTTP-Method-Override": "GET"}),
    ("a cookie", "/sidebar/home", {"Cookie": "session=admin"}),
    ("a path", "/healthz", {"PATH_INFO": "/schedule/sweep"}),
    ("basic credentials", "/sidebar/home", {"Authorization": "Basic YWRtaW46YWRtaW4="}),
    ("a scheme without token", "/sidebar/home", {"Authorization": "Bearer"}),
)  # fmt: skip


@pytest.mark.parametrize(("path", "headers"), CLAIMS)
def test_headers_alone_prove_nothing(stage: Stage, path: str, headers: dict[str, str]) -> None:
    expected = {"/healthz": (405, "")}.get(path, (401, "caller_refused"))
    body = json.dumps({"commonEventObject": {}}).encode()
    sent(stage, stage.request(path, body, headers=headers), *expected)


ELSEWHERE = named(
    # headers that say the service is somewhere else, with a token made for there
    ("Host", {"Host": "evil.test"}, "http://evil.test/sidebar/home"),
    ("X-Forwarded-Host", {"X-Forwarded-Host": "evil.test"}, "http://evil.test/sidebar/home"),
    ("X-Forwarded-Proto", {"X-Forwarded-Proto": "https"}, "https://127.0.0.1:{port}/sidebar/home"),
    (
        "two schemes",
        {"X-Forwarded-Proto": "https", "X-Forwarded-Ssl": "off"},
        "https://127.0.0.1:{port}/sidebar/home",
    ),
    ("Forwarded", {"Forwarded": "host=evil.test;proto=https"}, "https://evil.test/sidebar/home"),
    ("X-Original-URL", {"X-Original-URL": "/sidebar/run"}, "{url}/sidebar/run"),
    ("X-Forwarded-Prefix", {"X-Forwarded-Prefix": "/x"}, "{url}/x/sidebar/home"),
    ("SCRIPT_NAME", {"SCRIPT_NAME": "/sidebar"}, "{url}/home"),
)


@pytest.mark.parametrize(("headers", "audience"), ELSEWHERE)
def test_the_service_knows_its_address_and_is_told_no_other(
    stage: Stage, headers: dict[str, str], audience: str
) -> None:
    token = stage.system(aud=audience.format(port=stage.port, url=stage.url))
    event = stage.event(proof={"systemIdToken": token})
    sent(stage, stage.request("/sidebar/home", event, headers=headers), 401, "wrong_audience")
    right = stage.send(stage.request("/sidebar/home", stage.event(), headers=headers))
    assert right.status == 200, "with the right token the headers do no harm"
    assert b"evil" not in right.body


# ------------------------------------------------------------------------------------- bodies


def deep(levels: int) -> bytes:
    return b'{"a":' * (levels - 1) + b"{}" + b"}" * (levels - 1)


def twice(stage: Stage, name: str) -> bytes:
    """A whole event that names a field twice, somewhere inside."""
    text = json.dumps(stage.event())
    at = text.index(f'"{name}"')
    return (text[:at] + f'"{name}": {{}}, ' + text[at:]).encode()


BODIES = named(
    # body                                                                      status
    ("empty", b"", 400),
    ("no JSON", b"a=b", 400),
    ("half", b'{"commonEventObject":', 400),
    ("two", b"{}{}", 400),
    ("a list", b"[]", 400),
    ("a number", b"1", 400),
    ("null", b"null", 400),
    ("NaN", b'{"commonEventObject": {"timeZone": {"offset": NaN}}}', 400),
    ("Infinity", b'{"commonEventObject": {"timeZone": {"offset": -Infinity}}}', 400),
    ("not UTF-8", b'{"a": "\xff\xfe"}', 400),
    ("UTF-16", '{"a": 1}'.encode("utf-16"), 400),
    ("UTF-8 with a mark", b"\xef\xbb\xbf{}", 400),
    ("5,000 digits", b'{"a": ' + b"9" * 5_000 + b"}", 400),
    ("33 levels", deep(33), 400),
    ("10,000 levels", deep(10_000), 400),
    ("10,000 lists", b"[" * 10_000, 400),
    ("twice at the top", lambda s: twice(s, "commonEventObject"), 400),
    ("twice: userIdToken", lambda s: twice(s, "userIdToken"), 400),
    ("twice: spreadsheetId", lambda s: twice(s, "spreadsheetId"), 400),
    ("300 kB", b'{"a": "' + b"x" * 300_000 + b'"}', 413),
    ("2 MB", b'{"a": "' + b"x" * 2_000_000 + b'"}', 413),
    ("32 levels, no token", deep(32), 401),
    ("no objects inside", b'{"commonEventObject": [], "authorizationEventObject": 7, "sheets": "x"}', 401),
)


@pytest.mark.parametrize(("body", "status"), BODIES)
@pytest.mark.parametrize("action", ["home", "run"])
def test_what_is_no_event_is_refused(
    stage: Stage, body: bytes | Callable[[Stage], bytes], status: int, action: str
) -> None:
    path = f"/sidebar/{action}"
    content = body(stage) if callable(body) else body
    sent(stage, stage.request(path, content, token=stage.system(path)), status, f'"status": {status}')


TYPES = [None, "text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x",
         "text/json", "application/json-patch+json", "application/jsonp", "*/*"]  # fmt: skip


@pytest.mark.parametrize("content_type", TYPES)
@pytest.mark.parametrize("path", ["/sidebar/home", "/tasks/link"])
def test_only_json_is_read(stage: Stage, content_type: str | None, path: str) -> None:
    token = stage.automaton("tasks") if path == "/tasks/link" else stage.system(path)
    headers: Any = {"Content-Type": content_type}
    sent(stage, stage.request(path, b"{}", token=token, headers=headers), 415, '"status": 415')


def test_a_chunked_body_is_measured_as_it_comes(stage: Stage) -> None:
    headers: Any = {"Content-Length": None, "Transfer-Encoding": "chunked"}
    chunk = b"10000\r\n" + b"x" * 0x10000 + b"\r\n"
    for body, status in ((chunk * 5 + b"0\r\n\r\n", 413), (b"2\r\n{}\r\n0\r\n\r\n", 401)):
        sent(stage, stage.request("/sidebar/home", body, headers=headers), status, f'"status": {status}')


# -------------------------------------------------------------------------- methods and paths

PATHS = ["/sidebar/home", "/tasks/link", "/schedule/sweep"]


@pytest.mark.parametrize("method", ["GET", "HEAD", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "BREW"])
@pytest.mark.parametrize("path", PATHS)
def test_only_post_is_taken(stage: Stage, method: str, path: str) -> None:
    token = {"/tasks/link": stage.automaton("tasks"), "/schedule/sweep": stage.automaton("schedule")}
    request = stage.request(path, b"{}", method=method, token=token.get(path, stage.system(path)))
    sent(stage, request, 405, '"status": 405', method=method)


TARGETS = named(
    # request target                            status
    ("two slashes within", "/sidebar//home", 404),
    ("a slash behind", "/sidebar/home/", 404),
    ("up and down", "/sidebar/../tasks/link", 404),
    ("up, encoded", "/sidebar/%2e%2e/tasks/link", 404),
    ("an encoded slash, twice", "/sidebar%252Fhome", 404),
    ("a backslash", "/sidebar\\home", 404),
    ("a parameter", "/sidebar/home;x=1", 404),
    ("capitals", "/SIDEBAR/HOME", 404),
    ("a suffix", "/sidebar/home.json", 404),
    ("a NUL, encoded", "/sidebar/home%00", 404),
    ("a newline, encoded", "/sidebar/home%0d%0aX-Evil:%201", 404),
    ("not UTF-8", "/sidebar/%ff%fe", 404),
    ("an unknown action", "/sidebar/delete", 404),
    ("the root", "/", 404),
    ("a file", "/.env", 404),
    ("static files", "/static/app.py", 404),
    ("the simulator's page", "/page/", 404),
    ("8 KB of path", "/" + "a" * 4_000, 404),
    ("a query the token does not name", "/sidebar/home?admin=1", 401),
    ("a query that is not ASCII", "/sidebar/home?\xe9", 400),
)  # fmt: skip


@pytest.mark.parametrize(("target", "status"), TARGETS)
def test_no_spelling_of_a_path_leads_anywhere_else(stage: Stage, target: str, status: int) -> None:
    sent(stage, stage.request(target, stage.event()), status, f'"status": {status}')


SPELLINGS = ["//sidebar/home", "/sidebar%2Fhome", "/sidebar/%68ome", "/sidebar/home?", "/sidebar/home#x"]


@pytest.mark.parametrize("target", SPELLINGS)
def test_another_spelling_of_a_route_wants_the_token_of_the_route(stage: Stage, target: str) -> None:
    for audience in (target, "/tasks", "/sidebar/run"):
        event = stage.event(proof={"systemIdToken": stage.system(audience)})
        sent(stage, stage.request(target, event), 401, "wrong_audience")
    answer = stage.send(stage.request(target, stage.event()))
    assert (answer.status, "Location" in answer.headers) == (200, False)


@pytest.mark.parametrize("target", ["http://evil.test/sidebar/home", "https://evil.test:1/sidebar/home"])
def test_an_absolute_target_is_the_path_in_it_and_nothing_more(stage: Stage, target: str) -> None:
    token = stage.system(aud=target)
    event = stage.event(proof={"systemIdToken": token})
    sent(stage, stage.request(target, event), 401, "wrong_audience")
    answer = stage.send(stage.request(target, stage.event()))
    assert answer.status == 200
    assert b"evil" not in answer.body


# ------------------------------------------------------------------------------- task bodies


TASKS = named(
    # body of the queue's own call                                        reason in the log
    ("a list", [], "the_body_is_not_a_JSON_object"),
    ("nothing in it", {}, "the_field_job_is_not_an_id"),
    ("a job with slashes", {"job": "../x"}, "the_field_job_is_not_an_id"),
    ("a job in another script", {"job": "٣"}, "the_field_job_is_not_an_id"),
    ("a job of 10 KB", {"job": "x" * 10_000}, "the_field_job_is_not_an_id"),
    ("a job that is a number", {"job": 7}, "the_field_job_is_not_an_id"),
    ("a negative step", {"step": -1}, "the_field_step_is_not_a_count"),
    ("a huge step", {"step": 10**4_000}, "the_field_step_is_not_a_count"),
    ("a step beyond 32 bits", {"step": 2**31}, "the_field_step_is_not_a_count"),
    ("a step that is true", {"step": True}, "the_field_step_is_not_a_count"),
    ("a step with a point", {"step": 1.0}, "the_field_step_is_not_a_count"),
    ("a shard in words", {"shard": "0"}, "the_field_shard_is_not_a_count"),
    ("no epoch", {"epoch": None}, "the_field_epoch_is_not_a_count"),
    ("an unknown job", {"job": "f" * 24}, "no_such_job"),
    ("an unknown shard", {"shard": 999}, "no_such_job"),
)  # fmt: skip


@pytest.mark.parametrize(("changes", "reason"), TASKS)
def test_a_task_that_no_retry_can_mend_ends_and_does_nothing(
    world: World, stage: Stage, changes: Any, reason: str
) -> None:
    message = {"job": world.my_job, "shard": 0, "epoch": 0, "step": 0}
    body = json.dumps(message | changes if changes else changes).encode()
    before, position = stage.state(), len(stage.log.read_text())
    answer = stage.send(stage.request("/tasks/link", body, token=stage.automaton("tasks")))
    assert (answer.status, set(answer.json)) == (200, {"outcome"})
    assert stage.state() == before
    logged(stage, position, reason)


@pytest.mark.parametrize(("body", "status"), [(b"", 400), (b"{", 400), (b'{"a": ' + b"1" * 20_000, 413)])
def test_a_task_that_is_no_json_is_refused(stage: Stage, body: bytes, status: int) -> None:
    request = stage.request("/tasks/link", body, token=stage.automaton("tasks"))
    sent(stage, request, status, f'"status": {status}')
