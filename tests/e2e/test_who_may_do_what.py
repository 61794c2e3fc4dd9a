"""Who may do what, over HTTP: one table, each cell asked of the running service.

The rows are callers, the columns what they ask for about a run that the owner has started:

``card``
    They see the run.
``does``
    It is done, and the store shows it. (``run`` comes after the owner's run was cancelled; ``retry`` is let
    through to the run's state, which says no: nothing has failed.)
``hers``
    They see the run, and that somebody else started it; nothing is done.
``reads``
    They are told that they may only read the spreadsheet: no worker writes to it for them, although the
    owner's run has given it the access.
``file?``
    They are asked to open the spreadsheet with the add-on: their own token does not reach it.
``admin?``
    They are told that this is for administrators.
``401``
    They have not proved to be anybody who may call here.
"""

import json
from collections.abc import Callable
from typing import Any

import pytest
from hostile import World
from stage import ADMIN, COLLEAGUE, FORM, OWNER, STRANGER, Answer, Stage

from addon.sidebar.text import Words

WORDS = Words("en")
SIDEBAR = ("home", "run", "refresh", "pause", "resume", "cancel", "retry", "admin", "test-model")

TABLE = """
                            home   run    refresh pause  resume cancel retry  admin  test-model link   sweep
owner                       card   does   card    does   does   does   does   admin? admin?     401    401
colleague who may edit      card   does   card    hers   hers   hers   hers   admin? admin?     401    401
colleague who may read      card   reads  card    hers   hers   hers   hers   admin? admin?     401    401
colleague without access    file?  file?  file?   file?  file?  file?  file?  admin? admin?     401    401
  ... with fromAdmin        file?  file?  file?   file?  file?  file?  file?  admin? admin?     401    401
admin who may edit          card   does   card    does   does   does   does   does   does       401    401
admin without access        file?  file?  file?   file?  file?  file?  file?  does   does       401    401
  ... from the admin card   file?  file?  file?   does   does   does   does   does   does       401    401
the queue                   401    401    401     401    401    401    401    401    401        does   401
the scheduler               401    401    401     401    401    401    401    401    401        401    does
nobody                      401    401    401     401    401    401    401    401    401        401    401
"""

PEOPLE: dict[str, tuple[str, str, dict[str, str]]] = {
    # row: who, with what access, with which parameters
    "owner": (OWNER, "", {}),
    "colleague who may edit": (COLLEAGUE, "writer", {}),
    "colleague who may read": (COLLEAGUE, "reader", {}),
    "colleague without access": (STRANGER, "", {}),
    "  ... with fromAdmin": (STRANGER, "", {"fromAdmin": "1"}),
    "admin who may edit": (ADMIN, "writer", {}),
    "admin without access": (ADMIN, "", {}),
    "  ... from the admin card": (ADMIN, "", {"fromAdmin": "1"}),
}
CHOICE: dict[str, Any] = {"requestId": "r" * 20, "sheetId": "0", "filled": FORM}
WIDTH = 28


def cells() -> list[Any]:
    """Caller, column and what is expected, of each cell."""
    head, *lines = TABLE.strip("\n").splitlines()
    columns = head.split()
    found = []
    for line in lines:
        caller, expected = line[:WIDTH].rstrip(), line[WIDTH:].split()
        assert len(expected) == len(columns), line
        for column, outcome in zip(columns, expected, strict=True):
            found.append(pytest.param(caller, column, outcome, id=f"{caller.strip()} - {column} - {outcome}"))
    return found


@pytest.mark.parametrize(("caller", "column", "expected"), cells())
def test_who_may_do_what(stage: Stage, caller: str, column: str, expected: str) -> None:
    spreadsheet = stage.book(OWNER, "Inquiries")
    job = stage.run(OWNER, spreadsheet)
    prepare(stage, spreadsheet, job, column)
    before, job_before = stage.state(), stage.job(job)
    answer = ask(stage, caller, column, spreadsheet, job)
    assert outcome(answer, column, job) == expected, answer.body
    after = stage.state()
    if expected != "does":
        assert after[:2] == before[:2], "who may not do it has not done it"
    elif column == "run":
        assert len(after.queue) == len(before.queue) + 1
    elif column in COMMANDED:
        assert stage.job(job) != job_before
        assert stage.job(job)["status"] == COMMANDED[column]
    elif column == "sweep":
        assert answer.json == {"enqueued": 0}


COMMANDED = {"pause": "paused", "resume": "running", "cancel": "cancelled"}
"""Commands that change the run, and what it is then."""


def prepare(stage: Stage, spreadsheet: str, job: str, column: str) -> None:
    """Bring the run into the state in which the command is of use."""
    before = {"resume": "pause", "retry": "cancel", "run": "cancel"}.get(column)
    if before:
        assert stage.click(before, OWNER, spreadsheet=spreadsheet, jobId=job).status == 200


def ask(stage: Stage, caller: str, column: str, spreadsheet: str, job: str) -> Answer:
    """Have a caller of the table ask for what the column says."""
    path = {"link": "/tasks/link", "sweep": "/schedule/sweep"}.get(column, f"/sidebar/{column}")
    # A job that there is not: whoever is let in is told so, and nothing runs.
    body = {"job": "f" * 24, "shard": 0, "epoch": 0, "step": 0}
    if caller not in PEOPLE:
        tokens: dict[str, Callable[[], str]] = {
            "the queue": lambda: stage.automaton("tasks"),
            "the scheduler": lambda: stage.automaton("schedule"),
            "nobody": lambda: "",
        }
        token = tokens[caller]()
        proof = {"systemIdToken": token or None}
        content = body if column in {"link", "sweep"} else stage.event(path, proof=proof)
        return stage.send(stage.request(path, content, token=token))
    email, role, parameters = PEOPLE[caller]
    if role:
        stage.let(spreadsheet, email, role)
    event = stage.event(path, email, spreadsheet=spreadsheet, jobId=job, **CHOICE, **parameters)
    return stage.send(stage.request(path, event | (body if column in {"link", "sweep"} else {})))


def outcome(answer: Answer, column: str, job: str) -> str:
    """The word of the table for an answer."""
    if answer.status != 200:
        return str(answer.status)
    if column in {"link", "sweep"}:
        return "does"
    text = answer.body.decode()
    (wrapped,) = answer.json.values()
    action = wrapped.get("action", wrapped)
    (card,) = action["navigations"][0].values()
    said = action.get("notification", {}).get("text", "")
    if said == WORDS.coded("command", "not_yours"):
        assert job in text, "the run is shown"
        return "hers"
    if card["name"] == "error" and column in {"admin", "test-model"}:
        assert WORDS("error.admins_only") in text, text
        assert job not in text
        return "admin?"
    if card["name"] == "error":
        assert WORDS.coded("blocked", "read_only") in text, text
        return "reads"
    if card["name"] == "connect":
        assert job not in text and "Inquiries" not in text
        return "file?"
    if column == "run":
        assert said == WORDS("said.started") and job not in text
        return "does"
    if column in {"admin", "test-model", "retry", *COMMANDED}:
        assert column != "retry" or said == WORDS.coded("command", "nothing_failed")
        return "does"
    assert job in text
    return "card"


def test_the_table_is_about_everything_that_can_be_asked(world: World) -> None:
    columns = TABLE.strip("\n").splitlines()[0].split()
    assert columns == [*SIDEBAR, "link", "sweep"]
    assert json.loads(world.stage.click("help").body)
