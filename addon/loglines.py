"""Lines of the log: for a terminal, or as Cloud Logging reads them. One line a record, whatever it holds."""

import json
import logging
import sys
import threading
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, TextIO

from addon.logs import Value, belonging, event, listed, place_of

LONGEST_MESSAGE = 2_000
"""Characters of a library's line; Cloud Logging cuts an entry at 256 KB."""

LEVELS = {"text": logging.WARNING, "json": logging.INFO}
"""From which severity on our own events are written, by format: a terminal shows only what matters."""

_SEVERITIES = frozenset({"DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"})


class TextFormatter(logging.Formatter):
    """Lines for a terminal."""

    def format(self, record: logging.LogRecord) -> str:
        """One line; logging calls this."""
        when = datetime.fromtimestamp(record.created).astimezone()
        fields = {**_belonging(), **_raised(record)}
        said = listed(_message(record), fields).replace("\r", " ").replace("\n", " ")
        return f"{when:%Y-%m-%d %H:%M:%S} {record.levelname} {said}"


class JsonFormatter(logging.Formatter):
    """Lines that Cloud Logging reads as structured entries.

    Parameters
    ----------
    project
        The Google Cloud project that traces are in.
    """

    def __init__(self, project: str) -> None:
        super().__init__()
        self._project = project

    def format(self, record: logging.LogRecord) -> str:
        """One line of JSON; logging calls this."""
        fields: dict[str, Any] = {**_belonging(), **getattr(record, "fields", {}), **_raised(record)}
        name = getattr(record, "event", None)
        line: dict[str, Any] = {
            **fields,
            **({"event": name} if name else {}),
            "severity": record.levelname if record.levelname in _SEVERITIES else "DEFAULT",
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="microseconds"),
            "message": _message(record),
            "logger": record.name,
        }
        if name == "request":
            line["httpRequest"] = _http_request(fields)
        if "job" in fields:
            line["logging.googleapis.com/labels"] = {"job": str(fields["job"])}
        trace = belonging()
        if "trace" in trace:
            line["logging.googleapis.com/trace"] = f"projects/{self._project}/traces/{trace['trace']}"
        if "span" in trace:
            line["logging.googleapis.com/spanId"] = trace["span"]
        return json.dumps(line)


def _belonging() -> dict[str, Value]:
    return {field: value for field, value in belonging().items() if field not in {"trace", "span"}}


def _http_request(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "requestMethod": fields["method"],
        "requestUrl": fields["route"],
        "status": fields["status"],
        "latency": f"{fields['milliseconds'] / 1000:.3f}s",
    }


def _raised(record: logging.LogRecord) -> dict[str, str]:
    error = record.exc_info[1] if record.exc_info else None
    if error is None:
        return {}
    return {"error": type(error).__name__, "place": place_of(error)}


def _message(record: logging.LogRecord) -> str:
    """What a record says; with an exception only its template, for what is filled in may quote it."""
    try:
        message = record.getMessage() if not record.exc_info else record.msg
    except (TypeError, ValueError, KeyError):  # a library's arguments do not fit its template
        message = record.msg
    return message[:LONGEST_MESSAGE] if isinstance(message, str) else type(message).__name__


class _Handler(logging.StreamHandler[TextIO]):
    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 - logging calls it
        """Drop a line that cannot be written: logging would print its arguments."""


def configure(style: str, project: str, stream: TextIO | None = None) -> None:
    """Send all lines of this process through one formatter.

    Parameters
    ----------
    style
        ``text`` for people at a terminal, ``json`` for Cloud Logging.
    project
        The Google Cloud project that traces are in.
    stream
        Where lines go; standard error unless given.
    """
    handler = _Handler(stream or sys.stderr)
    handler.setFormatter(JsonFormatter(project) if style == "json" else TextFormatter())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(logging.WARNING)
    logging.getLogger("addon").setLevel(LEVELS[style])
    logging.captureWarnings(style == "json")
    if style == "json":
        threading.excepthook = _thread_ended
        sys.excepthook = _process_ended


def _thread_ended(arguments: threading.ExceptHookArgs) -> None:
    _unforeseen(arguments.exc_value)


def _process_ended(kind: type[BaseException], error: BaseException, _: object) -> None:
    if issubclass(kind, KeyboardInterrupt):
        return
    _unforeseen(error)


def _unforeseen(error: BaseException | None) -> None:
    if error is not None and not isinstance(error, SystemExit):
        fields = {"error": type(error).__name__, "place": place_of(error)}
        event(logging.getLogger(__name__), "unexpected", severity=logging.ERROR, **fields, route="")
