"""The container image: what its recipe says, for no container can be built where the tests run."""

import re
import tomllib
from fnmatch import fnmatch

import pytest
from infra_files import ROOT, Instruction, cmd, dockerfile

from addon.cli import main
from addon.manifest import TEMPLATE

RECIPE = dockerfile()
LAST = RECIPE[-1].stage
SECRET = re.compile(r"key|token|secret|password|credential", re.IGNORECASE)


def of(word: str, stage: int | None = None) -> list[Instruction]:
    return [item for item in RECIPE if item.word == word and stage in {None, item.stage}]


def sources(item: Instruction) -> list[str]:
    words = item.argument.split()
    return [] if any(word.startswith("--from") for word in words) else words[:-1]


def test_two_stages_of_one_pinned_small_base_of_a_python_the_project_supports() -> None:
    bases = {item.argument.split()[0] for item in of("FROM")}

    assert (len(of("FROM")), len(bases)) == (2, 1)
    pinned = re.fullmatch(r"python:(3\.\d+)\.\d+-slim-\w+", bases.pop())
    assert pinned
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["requires-python"] == f">={pinned[1]}"


def test_it_runs_as_nobody_in_particular() -> None:
    (user,) = of("USER", LAST)

    assert re.fullmatch(r"[1-9]\d*:[1-9]\d*", user.argument)
    assert RECIPE.index(user) < RECIPE.index(of("CMD", LAST)[0])


def test_it_starts_the_service_without_a_shell_in_between() -> None:
    assert [item.word for item in RECIPE if item.word in {"CMD", "ENTRYPOINT"}] == ["CMD"]
    assert cmd()[:3] == ["python", "-m", "addon"]
    assert main.commands[cmd()[3]].name == "serve" and len(cmd()) == 4


def test_what_it_copies_is_there_and_is_let_through_to_the_builder() -> None:
    rules = [
        line
        for line in (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
        if line and not line.startswith("#")
    ]
    copied = {source for item in of("COPY") for source in sources(item)}

    assert rules[0] == "*"
    assert copied == {rule.removeprefix("!") for rule in rules if rule.startswith("!")}
    assert all((ROOT / source).exists() for source in copied)
    assert any(fnmatch("addon/__pycache__", rule) for rule in rules[1:])


def test_the_template_lies_in_the_image_where_the_program_looks_for_it() -> None:
    beside = {item.argument.split()[-1] for item in of("COPY", 0)}

    assert {"addon", "manifests"} <= beside
    assert TEMPLATE.relative_to(ROOT).parts[0] == "manifests"


def test_dependencies_come_from_the_lock_with_their_hashes_and_run_nothing_at_install() -> None:
    (install,) = [item.argument for item in of("RUN") if "install" in item.argument]

    assert "--require-hashes" in install and "-r requirements.lock" in install
    assert "--only-binary :all:" in install


def test_it_holds_bytecode_of_the_program_and_its_dependencies() -> None:
    (compiled,) = [item.argument for item in of("RUN") if "compileall" in item.argument]

    assert compiled.endswith(" .venv/lib addon")
    last_copy = max(index for index, item in enumerate(RECIPE) if item.word == "COPY" and item.stage == 0)
    assert [item.argument for item in RECIPE].index(compiled) > last_copy
    assert not any("PYTHONDONTWRITEBYTECODE" in item.argument for item in RECIPE)


def test_no_secret_and_no_setting_is_baked_in() -> None:
    assert not [item for item in RECIPE if item.word in {"ARG", "ADD"}]
    for item in of("ENV"):
        assert "ADDON_" not in item.argument and not SECRET.search(item.argument)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("FROM a\n# note\nRUN b \\\n    && c\n", [("FROM", "a", 0), ("RUN", "b && c", 0)]),
        ("from a AS x\n\nFROM b\nuser 1\n", [("FROM", "a AS x", 0), ("FROM", "b", 1), ("USER", "1", 1)]),
    ],
)
def test_the_recipe_is_read_as_docker_reads_it(text: str, expected: list[tuple[str, str, int]]) -> None:
    assert [(item.word, item.argument, item.stage) for item in dockerfile(text)] == expected
