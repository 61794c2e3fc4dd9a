"""README.md holds text made from the code: this makes it, and puts it between its markers.

``make readme`` rewrites the blocks in place; a test compares them.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields
from pathlib import Path

import click

from addon.cli import main
from addon.doctor import shown
from addon.settings import Settings

README = Path(__file__).resolve().parent.parent / "README.md"
WIDTH = 100


def commands(command: click.Command, parent: click.Context | None = None) -> Iterator[click.Context]:
    """A command and all below it, outermost first, each with a context of the width of the README."""
    name = "addon" if parent is None else command.name
    context = click.Context(command, parent, info_name=name, terminal_width=WIDTH)
    context.help_option_names = ["-h", "--help"]
    yield context
    if isinstance(command, click.Group):
        for child in sorted(command.commands.values(), key=lambda item: item.name or ""):
            if not child.hidden:
                yield from commands(child, context)


def cli_help() -> str:
    """What every command says to ``--help``, as Markdown."""
    blocks = [
        f"### `{context.command_path} --help`\n\n```text\n{context.command.get_help(context)}\n```"
        for context in commands(main)
    ]
    return "\n\n".join(blocks)


def settings_table() -> str:
    """Every setting: variable, default, meaning."""
    lines = ["| variable | default | meaning |", "|---|---|---|"]
    for item in fields(Settings):
        default = "" if item.default is None else f"`{shown(item.default)}`"
        meaning = item.metadata["meaning"].replace("|", "\\|")
        lines.append(f"| `{item.metadata['variable']}` | {default} | {meaning} |")
    return "\n".join(lines)


BLOCKS: Mapping[str, Callable[[], str]] = {"cli-help": cli_help, "settings": settings_table}


def renewed(text: str) -> str:
    """A README's text with every block as the code says it now.

    Raises
    ------
    ValueError
        A block's markers are missing or there twice.
    """
    for name, make in BLOCKS.items():
        before, first, rest = text.partition(f"<!-- {name} -->\n")
        _, last, after = rest.partition(f"<!-- /{name} -->")
        if not last or first in rest:
            raise ValueError(f"README.md must hold <!-- {name} --> and <!-- /{name} --> once, in this order")
        text = f"{before}{first}{make()}\n{last}{after}"
    return text


if __name__ == "__main__":
    README.write_text(renewed(README.read_text(encoding="utf-8")), encoding="utf-8")
