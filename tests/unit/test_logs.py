"""Lines of the log: one line whatever they hold, no content, and what they belong to."""

import json
import logging
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from recording import json_lines, logging_restored

from addon import logs
from addon.jobs import events
from addon.loglines import JsonFormatter, TextFormatter, configure
from addon.logs import bound, carried, code, event, place_of, trace_of, word
from addon.serve import Log

LOG = logging.getLogger("addon.tests")
ID, SPAN = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"


@pytest.fixture
def lenient() -> Iterator[None]:
    """Fields are checked as in production."""
    logs._strict.clear()
    yield
    logs._strict.set()


def made(message: object, *args: object, error: BaseException | None = None, level: int = 20) -> Any:
    """A record as a library makes one."""
    exc_info = (type(error), error, error.__traceback__) if error else None
    return logging.LogRecord("some.library", level, "x.py", 1, message, args, exc_info)  # type: ignore[arg-type]


def parsed(record: logging.LogRecord) -> dict[str, Any]:
    """The record's line, which must be one."""
    line = JsonFormatter("p").format(record)
    assert len(line.splitlines()) == 1
    result: dict[str, Any] = json.loads(line)
    return result


@given(st.text())
def test_every_text_becomes_one_line_of_valid_json_and_comes_back(text: str) -> None:
    assert parsed(made("%s", text))["message"] == text


@given(st.text())
def test_every_text_becomes_one_line_for_a_terminal(text: str) -> None:
    line = TextFormatter().format(made("%s", text))
    assert "\n" not in line and "\r" not in line


@pytest.mark.parametrize(
    "text", ['"', "\\", "\n", "\r\n", "\u2028", "\x00", "日本語", "😀", "\ud800", "{}", "%s"]
)
def test_quotes_breaks_and_any_script_are_safe(text: str) -> None:
    assert parsed(made(text))["message"] == text
    assert JsonFormatter("p").format(made(text)).isascii()


def test_a_line_has_what_cloud_logging_reads() -> None:
    with json_lines("a-project") as stream, bound(trace=ID, span=SPAN, job="abc", shard=3):
        event(LOG, "something", severity=logging.WARNING, rows=7, share=0.12345, fine=True, reason="a.b:c-d")
    line = json.loads(stream.getvalue())
    assert line.pop("time").endswith("+00:00")
    assert line == {
        "severity": "WARNING",
        "message": "something rows=7 share=0.123 fine=True reason=a.b:c-d",
        "logger": "addon.tests",
        "event": "something",
        "job": "abc",
        "shard": 3,
        "rows": 7,
        "share": 0.123,
        "fine": True,
        "reason": "a.b:c-d",
        "logging.googleapis.com/labels": {"job": "abc"},
        "logging.googleapis.com/trace": f"projects/a-project/traces/{ID}",
        "logging.googleapis.com/spanId": SPAN,
    }


def test_severities_are_those_cloud_logging_knows() -> None:
    for level in ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"):
        assert parsed(made("x", level=getattr(logging, level)))["severity"] == level
    assert parsed(made("x", level=5))["severity"] == "DEFAULT"


def raised(text: str) -> Exception:
    """An exception that has been raised."""
    try:
        raise ValueError(text)
    except ValueError as error:
        return error


@pytest.mark.parametrize("message", ["Failed: %s", raised("secret")])
def test_of_an_exception_only_class_and_place_are_written(message: object) -> None:
    args = ("secret",) if isinstance(message, str) else ()
    record = made(message, *args, error=raised("secret"))
    line = parsed(record)
    assert (line["error"], line["place"].split(":")[0]) == ("ValueError", "test_logs.py")
    for text in (json.dumps(line), TextFormatter().format(record)):
        assert "secret" not in text
        assert "ValueError" in text


def test_arguments_that_do_not_fit_their_template_break_no_line() -> None:
    assert parsed(made("%d and %d", "secret"))["message"] == "%d and %d"


def test_what_nobody_foresaw_is_named_by_its_place() -> None:
    assert place_of(raised("a cell's text")).startswith("test_logs.py:")
    assert place_of(ValueError("a cell's text")) == ""


NO_WORDS = [
    "two words",
    "line\nbreak",
    "x" * 121,
    "日本",
    "a=b",
    '"',
    None,
    ["a"],
    float("nan"),
    float("inf"),
    b"x",
]


@pytest.mark.parametrize("value", NO_WORDS)
def test_a_field_that_is_no_word_number_or_truth_value_fails_a_test(value: Any) -> None:
    with pytest.raises(ValueError, match="in told, other") as failure:
        event(LOG, "something", severity=logging.DEBUG, told=value, fine=1, other=value)
    assert str(value) not in str(failure.value) or value is None


@pytest.mark.usefixtures("lenient")
@pytest.mark.parametrize("value", NO_WORDS)
def test_in_production_such_a_field_is_withheld_and_flagged(value: Any) -> None:
    with json_lines() as stream:
        event(LOG, "something", told=value, fine=1)
    line = json.loads(stream.getvalue())
    assert (line["told"], line["fine"], line["flagged"]) == ("withheld", 1, ["told"])
    assert line["message"] == "something told=withheld fine=1 flagged=['told']"


def test_what_lines_belong_to_holds_no_content_either() -> None:
    with json_lines() as stream, bound(job="two words"):
        event(LOG, "something")
    assert json.loads(stream.getvalue())["job"] == "withheld"


@pytest.mark.parametrize(
    ("reason", "logged"), [("SAFETY", "SAFETY"), ("the text is bad", ""), ("", ""), ("a\n", "")]
)
def test_somebody_elses_reason_is_one_word_or_nothing(reason: str, logged: str) -> None:
    assert word(reason) == logged


def test_a_sentence_of_ours_is_a_code_in_the_log() -> None:
    assert code("the event's token isn't there, or (429)") == "the_event_s_token_isn_t_there_or_429_"
    assert len(code("x" * 500)) == 120


# what lines belong to


def test_lines_belong_to_the_innermost_blocks_and_to_none_after() -> None:
    with json_lines() as stream:
        with bound(job="a", shard=1):
            with bound(shard=2, step=5):
                event(LOG, "inner")
            logging.getLogger("a.library").warning("outer")
        event(LOG, "none")
    inner, outer, none = map(json.loads, stream.getvalue().splitlines())
    assert (inner["job"], inner["shard"], inner["step"]) == ("a", 2, 5)
    assert (outer["job"], outer["shard"], "step" in outer, outer["logger"]) == ("a", 1, False, "a.library")
    assert "job" not in none and "logging.googleapis.com/labels" not in none


def test_lines_of_other_threads_belong_where_their_work_was_handed_over() -> None:
    with json_lines() as stream, ThreadPoolExecutor(2) as executor:
        with bound(job="a"):
            first = carried(lambda: event(LOG, "first"))
        with bound(job="b"):
            executor.submit(first).result()
            executor.submit(lambda: event(LOG, "second")).result()
            executor.submit(carried(lambda: event(LOG, "third"))).result()
        executor.submit(lambda: event(LOG, "fourth")).result()
    lines = {line["event"]: line.get("job") for line in map(json.loads, stream.getvalue().splitlines())}
    assert lines == {"first": "a", "second": None, "third": "b", "fourth": None}


def test_who_acts_is_the_system_unless_a_person_is_bound() -> None:
    with json_lines() as stream:
        events.job_resumed("j")
        with bound(who="0123abcd"):
            events.job_resumed("j")
    assert [json.loads(line)["who"] for line in stream.getvalue().splitlines()] == ["system", "0123abcd"]


# traces


@pytest.mark.parametrize(
    ("headers", "trace"),
    [
        ({}, {}),
        ({"traceparent": f"00-{ID}-{SPAN}-01"}, {"trace": ID, "span": SPAN}),
        ({"traceparent": f"01-{ID}-{SPAN}-01-more"}, {"trace": ID, "span": SPAN}),
        ({"traceparent": f"00-{ID}-{SPAN}-01-more"}, {}),
        ({"traceparent": f"ff-{ID}-{SPAN}-01"}, {}),
        ({"traceparent": f"00-{'0' * 32}-{SPAN}-01"}, {}),
        ({"traceparent": f"00-{ID}-{'0' * 16}-01"}, {}),
        ({"traceparent": f"00-{ID.upper()}-{SPAN}-01"}, {}),
        ({"traceparent": f"00-{ID}-{SPAN}"}, {}),
        ({"traceparent": f"00-{ID}-{SPAN}-01\n"}, {}),
        ({"traceparent": "anything"}, {}),
        ({"X-Cloud-Trace-Context": ID}, {"trace": ID}),
        ({"X-Cloud-Trace-Context": f"{ID}/1"}, {"trace": ID, "span": "0000000000000001"}),
        ({"X-Cloud-Trace-Context": f"{ID.upper()}/17;o=1"}, {"trace": ID, "span": "0000000000000011"}),
        ({"X-Cloud-Trace-Context": f"{ID}/{2**64 - 1}"}, {"trace": ID, "span": "f" * 16}),
        ({"X-Cloud-Trace-Context": f"{ID}/{2**64}"}, {"trace": ID}),
        ({"X-Cloud-Trace-Context": f"{ID}/0"}, {"trace": ID}),
        ({"X-Cloud-Trace-Context": f"{ID}/x"}, {}),
        ({"X-Cloud-Trace-Context": ID[:31]}, {}),
        ({"X-Cloud-Trace-Context": f"{'0' * 32}/1"}, {}),
        ({"X-Cloud-Trace-Context": f"{ID}/1;o=1;{'x' * 999}"}, {}),
        (
            {"traceparent": "broken", "X-Cloud-Trace-Context": f"{ID}/1"},
            {"trace": ID, "span": "0" * 15 + "1"},
        ),
        ({"traceparent": f"00-{ID}-{SPAN}-01", "X-Cloud-Trace-Context": "x"}, {"trace": ID, "span": SPAN}),
    ],
)
def test_the_trace_of_a_request(headers: dict[str, str], trace: dict[str, str]) -> None:
    assert trace_of(headers) == trace


@given(st.text(), st.text())
def test_no_header_breaks_the_reading_of_the_trace(one: str, other: str) -> None:
    assert trace_of({"traceparent": one, "X-Cloud-Trace-Context": other}).keys() <= {"trace", "span"}


# configuration


def test_a_terminal_shows_warnings_of_ours_and_json_every_event(capsys: pytest.CaptureFixture[str]) -> None:
    for style, expected in (
        ("text", ["WARNING loud x=1"]),
        ("json", ['"event": "quiet"', '"event": "loud"']),
    ):
        with logging_restored():
            configure(style, "p")
            event(LOG, "quiet")
            event(LOG, "loud", severity=logging.WARNING, x=1)
            logging.getLogger("a.library").info("chatter")
        lines = capsys.readouterr().err.splitlines()
        assert len(lines) == len(expected)
        assert all(text in line for text, line in zip(expected, lines, strict=True))


def test_a_line_that_cannot_be_written_shows_nothing_of_itself(capsys: pytest.CaptureFixture[str]) -> None:
    with json_lines() as stream:
        stream.close()
        event(LOG, "something")
    assert capsys.readouterr().err == ""


def test_what_ends_a_thread_or_the_process_is_one_line_without_its_message() -> None:
    def dies() -> None:
        raise ValueError("secret")

    with json_lines() as stream:
        thread = threading.Thread(target=dies)
        thread.start()
        thread.join()
        sys.excepthook(ValueError, raised("secret"), None)
        sys.excepthook(KeyboardInterrupt, KeyboardInterrupt(), None)
    lines = [json.loads(line) for line in stream.getvalue().splitlines()]
    assert [(line["event"], line["error"], line["severity"]) for line in lines] == [
        ("unexpected", "ValueError", "ERROR")
    ] * 2
    assert "secret" not in stream.getvalue()


def test_gunicorns_lines_go_through_the_same_formatter_and_there_is_no_access_log() -> None:
    from gunicorn.config import Config  # noqa: PLC0415

    with json_lines() as stream:
        log = Log(Config())
        log.error_log.setLevel(logging.WARNING)
        log.warning("Worker (pid:%s) was sent %s!", 7, "SIGKILL")
        log.exception("Error handling request %s", "/path?with=secret", exc_info=raised("secret"))
        handlers = [*log.error_log.handlers, *log.access_log.handlers]
    first, second = map(json.loads, stream.getvalue().splitlines())
    assert (first["logger"], first["message"]) == ("gunicorn.error", "Worker (pid:7) was sent SIGKILL!")
    assert (second["message"], second["error"]) == ("Error handling request %s", "ValueError")
    assert handlers == []
    assert "secret" not in stream.getvalue()
