"""Every reason that can reach the terminal has a sentence of its own there, and none speaks of a sidebar."""

import ast
import string
from collections.abc import Iterator
from pathlib import Path

import pytest

from addon import cli_text, jobs
from addon.jobs.model import FAILURE_CLASSES, PAUSE_REASONS

FAMILIES = {
    "START": cli_text.START,
    "COMMAND": cli_text.COMMAND,
    "PAUSED": cli_text.PAUSED,
    "FAILED": cli_text.FAILED,
}


def _codes(exception: str) -> Iterator[str]:
    """Every code that the jobs package raises an exception with."""
    for path in Path(jobs.__file__).parent.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == exception:
                first = node.args[0]
                yield from (
                    item.value
                    for item in ((first.body, first.orelse) if isinstance(first, ast.IfExp) else (first,))
                    if isinstance(item, ast.Constant)
                )


@pytest.mark.parametrize(
    ("codes", "sentences"),
    [
        (set(_codes("StartRefused")), cli_text.START),
        (set(_codes("CommandRefused")), cli_text.COMMAND),
        (PAUSE_REASONS, cli_text.PAUSED),
        (FAILURE_CLASSES, cli_text.FAILED),
    ],
)
def test_every_code_has_a_sentence_and_every_sentence_a_code(
    codes: set[str], sentences: dict[str, str]
) -> None:
    assert len(codes) >= 5
    assert sentences.keys() == codes | {"other"}
    assert len(set(sentences.values())) == len(sentences)


@pytest.mark.parametrize("family", FAMILIES)
def test_no_sentence_speaks_of_what_a_terminal_has_not(family: str) -> None:
    for code, sentence in FAMILIES[family].items():
        words = {word.strip(string.punctuation).lower() for word in sentence.split()}
        assert not words & {"tab", "button", "press", "panel", "card", "click"}, code


@pytest.mark.parametrize("reason", [*sorted(PAUSE_REASONS), None, "from_a_newer_version"])
def test_every_pause_says_how_to_go_on(reason: str | None) -> None:
    assert "run the same command again" in cli_text.paused(reason, "run the same command again")


@pytest.mark.parametrize("code", [*cli_text.START, "from_a_newer_version"])
def test_every_refusal_to_start_names_the_file_or_the_option(code: str) -> None:
    sentence = cli_text.start_refused(code, "a.csv", names=["x"], columns=["id", "text"], sources=["text"])
    assert "a.csv" in sentence or "--" in sentence
    assert "{" not in sentence


def test_a_wide_file_does_not_fill_the_screen() -> None:
    columns = [f"column {number} {'x' * 200}" for number in range(500)]
    sentence = cli_text.start_refused("no_such_column", "a.csv", names=["x"], columns=columns, sources=["x"])
    assert "and 470 more" in sentence
    assert len(sentence) < 3000


def test_a_file_without_any_column_says_so() -> None:
    sentence = cli_text.start_refused("no_such_column", "a.csv", names=["x"], columns=[], sources=["x"])
    assert "It has no columns." in sentence


def test_failed_rows_are_named_and_more_is_shown_as_more() -> None:
    assert cli_text.failed("empty", 1, [4]).startswith("1 failed (row 4): the model answered with nothing")
    assert cli_text.failed("empty", 1200, [4, 9]).startswith("1,200 failed (rows 4, 9, …): ")
    assert cli_text.failed("from_a_newer_version", 2, []).startswith("2 failed: ")
