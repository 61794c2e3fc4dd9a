"""What is no request of HTTP at all, or hides another one."""

from collections.abc import Callable

import pytest
from hostile import check_refusal, named, sent
from stage import Stage

Sent = Callable[[Stage], bytes]


def raw(stage: Stage, *lines: str, body: bytes = b"") -> bytes:
    return "\r\n".join([*lines, "", ""]).encode("latin-1") + body


def smuggled(stage: Stage) -> bytes:
    """A second request, hidden in the body of the first."""
    return stage.request("/schedule/sweep", b"{}", token=stage.automaton("schedule"))


HOST, JSON = "Host: x", "Content-Type: application/json"
POST = "POST /sidebar/home HTTP/1.1"
BEARER = "Authorization: Bearer eyJhbGciOiJSUzI1NiJ9.eyJzZWNyZXQiOjF9.c2VjcmV0"
UNREADABLE = named(
    # bytes                                                                                  status
    ("length and chunks", lambda s: raw(s, POST, HOST, JSON, "Content-Length: 4",
     "Transfer-Encoding: chunked", body=b"0\r\n\r\n" + smuggled(s)), 400),
    ("two lengths", lambda s: raw(s, POST, HOST, JSON, "Content-Length: 0", "Content-Length: 40",
     body=smuggled(s)), 400),
    ("a list of lengths", lambda s: raw(s, POST, HOST, "Content-Length: 0, 40", body=smuggled(s)), 400),
    ("a negative length", lambda s: raw(s, POST, HOST, "Content-Length: -1"), 400),
    ("a length with a sign", lambda s: raw(s, POST, HOST, "Content-Length: +2", body=b"{}"), 400),
    ("an unknown coding", lambda s: raw(s, POST, HOST, "Transfer-Encoding: xchunked", body=b"{}"), 501),
    ("chunks in disguise",
     lambda s: raw(s, POST, HOST, "Transfer-Encoding : chunked", body=smuggled(s)), 400),
    ("a folded header", lambda s: raw(s, POST, HOST, BEARER, " folded"), 400),
    ("a header with a NUL", lambda s: raw(s, POST, HOST, f"{BEARER}\0"), 400),
    ("a header without a name", lambda s: raw(s, POST, HOST, f": {BEARER}"), 400),
    ("a header without a colon", lambda s: raw(s, POST, HOST, "Authorization"), 400),
    ("200 headers", lambda s: raw(s, POST, HOST, *[f"X-{n}: {BEARER}" for n in range(200)]), 431),
    ("a header of 10 KB", lambda s: raw(s, POST, HOST, f"{BEARER}{'x' * 10_000}"), 431),
    ("a path of 10 KB", lambda s: raw(s, f"POST /{'a' * 10_000} HTTP/1.1", HOST), 414),
    ("a NUL in the path", lambda s: raw(s, "POST /sidebar/home\0 HTTP/1.1", HOST), 400),
    ("a space in the path", lambda s: raw(s, "POST /sidebar/ home HTTP/1.1", HOST), 400),
    ("a fragment of HTTP", lambda s: raw(s, "POST", HOST), 400),
    ("HTTP/9", lambda s: raw(s, "POST /sidebar/home HTTP/9.9", HOST), 400),
    ("another protocol", lambda s: b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", 400),
    ("an expectation", lambda s: raw(s, POST, HOST, "Expect: everything"), 417),
    ("two hosts", lambda s: raw(s, POST, HOST, "Host: y"), 400),
)  # fmt: skip


@pytest.mark.parametrize(("made", "status"), UNREADABLE)
def test_what_is_no_request_is_refused_without_a_quotation_and_hides_no_other(
    stage: Stage, made: Sent, status: int
) -> None:
    sent(stage, made(stage), status, "request_unreadable")


def test_a_body_that_breaks_off_is_nobodys_request(stage: Stage) -> None:
    before = stage.state()
    for request in (
        raw(stage, POST, HOST, JSON, "Transfer-Encoding: chunked", body=b"zz\r\n{}\r\n"),
        raw(stage, POST, HOST, JSON, "Transfer-Encoding: chunked", body=b"2\r\n{}XX0\r\n\r\n"),
    ):
        answer = stage.send(request)
        assert answer.status == 400
        check_refusal(answer)
    assert stage.state() == before


@pytest.mark.parametrize("host", ["", "evil.test:99999", "a b", "[::1", "<script>", "evil.test/x", "\xff"])
def test_no_host_makes_the_service_stumble(stage: Stage, host: str) -> None:
    sent(stage, stage.request("/sidebar/home", b"{}", headers={"Host": host}), 401, "no_system_token")
