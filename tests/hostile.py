"""How a test sends what is to be refused, and looks at everything it may have left behind."""

import time
from dataclasses import dataclass
from typing import Any

import pytest
from stage import Answer, Stage

from addon.hooks import HEADERS


@dataclass(frozen=True)
class World:
    """The stage, with a run of the owner and one of the boss that wait for the paused queue."""

    stage: Stage
    my_job: str
    their_job: str


def sent(stage: Stage, request: bytes, status: int, reason: str, *, method: str = "POST") -> Answer:
    """Send a request that must be refused with this status, for the reason that the log must tell."""
    before, position = stage.state(), len(stage.log.read_text())
    answer = stage.send(request, method=method)
    assert answer.status == status, answer.body
    check_refusal(answer)
    assert stage.state() == before, "a refused request has no effect, and makes no call to Google"
    log = logged(stage, position, reason)
    check_secrets(request, log)
    return answer


def check_refusal(answer: Answer) -> None:
    """One JSON shape or nothing, from a service that tells nothing about itself, and no redirect."""
    if answer.body:
        assert answer.headers["Content-Type"] == "application/json"
        assert set(answer.json) == {"error"} and set(answer.json["error"]) == {"code", "message"}
        assert all(isinstance(value, str) and value for value in answer.json["error"].values())
    assert HEADERS.items() <= answer.headers.items()
    assert "Location" not in answer.headers
    everything = (repr(answer.headers) + answer.body.decode()).lower()
    for tell in ("traceback", "<html", ".py", "/work", "python", "gunicorn", "werkzeug", "flask", "error:"):
        assert tell not in everything


def logged(stage: Stage, position: int, reason: str) -> str:
    """The lines about the request, once they tell the reason."""
    end = time.monotonic() + 10
    while reason not in (log := stage.logged(position)):
        assert time.monotonic() < end, log
        time.sleep(0.01)
    return log


def check_secrets(request: bytes, log: str) -> None:
    """No part of what was sent as a token is in the log."""
    for line in request.decode("latin-1").split("\r\n"):
        if line.lower().startswith("authorization:"):
            token = line.split()[-1]
            assert not any(token[at : at + 12] in log for at in range(max(0, len(token) - 12)))
    assert "ya29." not in log and "eyJ" not in log


def named(*rows: tuple[Any, ...]) -> list[Any]:
    """Rows whose first column is what a reader sees in the list of tests."""
    return [pytest.param(*row[1:], id=row[0]) for row in rows]
