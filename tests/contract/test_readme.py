"""README.md says what the program says: help texts and settings in it are made from the code."""

from dataclasses import fields

import pytest
from readme import README, cli_help, renewed, settings_table

from addon.settings import Settings

SKELETON = (
    "# Title\n\n<!-- cli-help -->\n<!-- /cli-help -->\n\n<!-- settings -->\nold\n<!-- /settings -->\nend\n"
)


def test_the_readme_is_as_the_code_says() -> None:
    text = README.read_text(encoding="utf-8")
    assert text == renewed(text), "run `make readme`"


def test_renewing_puts_each_block_between_its_markers_and_leaves_the_rest() -> None:
    text = renewed(SKELETON)
    assert text.startswith("# Title\n\n<!-- cli-help -->\n### `addon --help`")
    assert text.endswith(f"<!-- settings -->\n{settings_table()}\n<!-- /settings -->\nend\n")
    assert renewed(text) == text


@pytest.mark.parametrize("text", ["", SKELETON + SKELETON, SKELETON.replace("<!-- /settings -->", "")])
def test_a_readme_without_its_markers_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="must hold"):
        renewed(text)


def test_every_command_and_option_is_explained() -> None:
    text = cli_help()
    for command in ("demo", "run", "serve", "doctor", "jobs list", "jobs show", "jobs retry", "jobs cancel"):
        assert f"### `addon {command} --help`" in text
    assert "exit-with-stdin" not in text, "a hidden option is shown"


def test_every_setting_is_explained() -> None:
    table = settings_table()
    for item in fields(Settings):
        (line,) = [
            line for line in table.splitlines() if line.startswith(f"| `{item.metadata['variable']}` |")
        ]
        assert len(line.split(" | ")[2]) > 20, line
