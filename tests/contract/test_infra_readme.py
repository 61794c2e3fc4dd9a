"""infra/README.md names what is there: commands, files, variables, outputs, events; and its sums add up."""

import re
import shlex
from collections.abc import Iterator
from dataclasses import fields
from math import prod

import click
import pytest
from infra_files import INFRA, ROOT, local_values, resources, terraform, variables

from addon.cli import main
from addon.settings import Settings

README = (INFRA / "README.md").read_text(encoding="utf-8")
BLOCKS = [
    re.sub(r"\\\n\s*", "", block) for block in re.findall(r"^ *```sh\n(.*?)^ *```$", README, re.S | re.M)
]
LINES = [line.strip() for block in BLOCKS for line in block.splitlines() if line.strip()]
QUOTED = re.findall(r"`([^`\n]+)`", re.sub(r"(?s)^ *```.*?^ *```$", "", README, flags=re.M))
PATHS = re.compile(r"(?:addon|infra|manifests|tests)/[\w./-]*[\w/]|\.?\w+\.(?:md|tf|json|lock)")
MADE = {"infra/terraform.tfvars", "infra/terraform.tfstate"}
"""Files that the operator's own steps make."""


def steps() -> list[int]:
    text = README.split("## From nothing to the first summary")[1].split("\n## ")[0]
    return [int(number) for number in re.findall(r"^(\d+)\. ", text, re.M)]


def addon_calls() -> Iterator[list[str]]:
    """Every call of the program, as words."""
    for line in [*LINES, *QUOTED]:
        for call in re.findall(r"(?:^|python -m )addon ([a-z][^>|;`]*)", line):
            yield shlex.split(call)


def test_it_takes_fifteen_steps_at_most_and_says_so_in_both_languages() -> None:
    assert steps() == list(range(1, 16))
    assert "in 15 steps" in README and "15 の手順" in README


def test_every_call_of_the_program_is_one_it_takes() -> None:
    calls = list(addon_calls())
    assert ["manifest", "--base-url", "$URL"] in calls and ["doctor"] in calls

    for name, *arguments in calls:
        command = main.commands[name]
        options = {
            option for item in command.params for option in item.opts if isinstance(item, click.Option)
        }
        assert {word for word in arguments if word.startswith("--")} <= options


@pytest.mark.parametrize("path", sorted({path for text in QUOTED for path in PATHS.findall(text)} - MADE))
def test_every_file_it_names_is_there(path: str) -> None:
    assert (ROOT / path).exists() or (INFRA / path).exists()


def test_functions_and_constants_named_beside_a_file_are_in_that_file() -> None:
    named = re.findall(r"`(addon/[\w/]+\.py)` \(((?:`\w+`(?:, )?)+)\)", README)

    assert len(named) > 5
    for path, names in named:
        source = (ROOT / path).read_text(encoding="utf-8")
        assert not [name for name in re.findall(r"\w+", names) if not re.search(rf"\b{name}\b", source)], path


def test_every_variable_output_and_target_it_names_is_there() -> None:
    text = "\n".join([*LINES, *QUOTED])
    outputs = {name for block in terraform()["output"] for name in block}
    assigned = re.findall(r"^([a-z]\w+) = ", "\n".join(QUOTED), re.M)

    assert set(re.findall(r"output -raw (\w+)", text)) <= outputs
    assert set(re.findall(r"-target=(\S+)", text)) <= set(resources())
    assert {name for name in assigned if name != "cpu_idle"} <= set(variables())
    assert {"system_account", "client_id", "invoker_check_disabled", "worker_access"} <= set(variables())


def test_every_setting_it_names_is_one() -> None:
    known = {item.metadata["variable"] for item in fields(Settings)}

    assert set(re.findall(r"\bADDON_[A-Z_]+", README)) <= known


def test_it_lists_every_right_of_the_worker_and_counts_the_alerts() -> None:
    table = README.split("## Who may do what, and why")[1].split("\n### ")[0]
    of_worker = re.findall(r"^\| (?:`summaries-worker` )?\| ", table, re.M)
    granted = [body for body in resources().values() if "worker" in str(body.get("member", ""))]

    assert len(of_worker) == len(granted) + 1, "one more: what people share with it"
    assert len(resources("google_monitoring_alert_policy")) == 2 and len(local_values()["signals"]) == 8
    assert "nine conditions" in README


COSTS = [
    line.split("|")
    for line in README.split("| for 1,000 rows |")[1].split("| **together**")[0].splitlines()
    if "×" in line or "÷" in line
]


@pytest.mark.parametrize("row", COSTS, ids=lambda row: row[1].strip())
def test_a_line_of_the_costs_is_computed_right(row: list[str]) -> None:
    up, _, down = row[2].replace(",", "").partition("÷")
    value = prod(float(number) for number in re.findall(r"\d[\d.]*", up)) / float(down or 1)

    assert float(row[3]) == pytest.approx(value, abs=5e-6)


def test_the_costs_are_added_up_right() -> None:
    (total,) = re.findall(r"\*\*together\*\* \| \| \*\*([\d.]+)\*\*", README)

    assert len(COSTS) == 7
    assert float(total) == pytest.approx(sum(float(row[3]) for row in COSTS), abs=5e-5)


def test_the_checklist_covers_every_open_question_of_a_first_day() -> None:
    rows = [int(number) for number in re.findall(r"^\| (\d+) \| ", README, re.M)]

    assert rows == list(range(1, len(rows) + 1)) and len(rows) >= 16
    for line in re.findall(r"^\| \d+ \| [^\n]*", README, re.M):
        assert len([cell for cell in line.strip("| ").split(" | ") if cell]) == 5, line
