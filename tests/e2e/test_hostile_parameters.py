"""Parameters that name what the caller may not see: all of them are card state, and none is proof."""

import json
from typing import Any

import pytest
from hostile import World
from stage import COLLEAGUE, FORM, OWNER, STRANGER, Answer, Stage, State

from addon.sidebar.text import Words
from addon.sidebar.widgets import ACTIONS, TRIGGERS

SHOWN = {"help": "help", "admin": "error", "test-model": "error"}
"""Cards of the clicks that are about no spreadsheet; all others lead back to Google's own dialog."""


def unseen(world: World, answer: Answer, before: State) -> Any:
    """The answer's card, once it is sure that it tells nothing and did nothing."""
    assert answer.status == 200
    text = answer.body.decode()
    assert "of the boss" not in text and world.their_job not in text
    after = world.stage.state()
    assert (after.store, after.queue) == (before.store, before.queue)
    assert set(after.google - before.google) <= {"sheets.read"}, "nothing but the look that proved no access"
    assert (after.google - before.google).total() <= 1
    (wrapped,) = answer.json.values()
    navigations = wrapped.get("action", wrapped).get("navigations", [{}])
    return next(iter(navigations[0].values()), None)


@pytest.mark.parametrize("caller", [OWNER, STRANGER])
@pytest.mark.parametrize("action", ACTIONS)
def test_a_spreadsheet_the_callers_own_token_does_not_open_stays_closed(
    world: World, stage: Stage, action: str, caller: str
) -> None:
    before = stage.state()
    given = {"jobId": world.their_job, "requestId": "r", "sheetId": "0", "fromAdmin": "1", "filled": FORM}
    card = unseen(world, stage.click(action, caller, spreadsheet=stage.theirs, **given), before)
    if action == "connect":
        assert card is None, "Google's own dialog decides"
    elif action in TRIGGERS or action not in SHOWN:
        assert card["name"] == "connect"
    else:
        assert card["name"] == SHOWN[action]


@pytest.mark.parametrize("from_admin", [{}, {"fromAdmin": "1"}])
@pytest.mark.parametrize("action", ["pause", "resume", "cancel", "retry"])
def test_a_job_of_another_spreadsheet_is_none(
    world: World, stage: Stage, action: str, from_admin: dict[str, str]
) -> None:
    before = stage.state()
    card = unseen(world, stage.click(action, OWNER, jobId=world.their_job, **from_admin), before)
    assert card["name"] == "status"
    assert world.my_job in json.dumps(card)
    assert Words("en").coded("command", "no_such_job") in json.dumps(card)


IDS = ["../x", "a/b", "jobs/x", ".", "__x__/y", "", "x" * 200, "é", "\0", "' OR 1=1 --", "%2e", "\ud800"]


@pytest.mark.parametrize("name", ["jobId", "errorClass", "requestId", "sheetId", "form"])
@pytest.mark.parametrize("value", IDS)
def test_parameters_that_are_no_ids_do_nothing(world: World, stage: Stage, name: str, value: str) -> None:
    before = stage.state()
    for action in ("pause", "retry", "run"):
        given: Any = {"jobId": "0" * 24, name: value}
        answer = stage.click(action, COLLEAGUE, spreadsheet=stage.mine, **given)
        assert answer.status == 200
        assert b"reference" not in answer.body, "foreseen"
    assert stage.state()[:2] == before[:2]


@pytest.mark.parametrize("value", [item for item in IDS if item])
def test_a_spreadsheet_id_that_is_none_is_not_asked_for(world: World, stage: Stage, value: str) -> None:
    before = stage.state()
    event = stage.event("/sidebar/refresh", STRANGER, spreadsheet=value)
    answer = stage.send(stage.request("/sidebar/refresh", event))
    assert unseen(world, answer, before)["name"] == "connect"
    assert stage.state() == before
