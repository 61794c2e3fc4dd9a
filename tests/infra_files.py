"""What infra/ and manifests/ say, read as data: the Dockerfile and the Terraform files."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import hcl2

ROOT = Path(__file__).resolve().parent.parent
INFRA = ROOT / "infra"


@dataclass(frozen=True)
class Instruction:
    """One line of a Dockerfile, continuations joined: ``word`` in capitals, and the number of its stage."""

    word: str
    argument: str
    stage: int


def dockerfile(text: str | None = None) -> list[Instruction]:
    """The instructions of ``infra/Dockerfile``, or of a text."""
    if text is None:
        text = (INFRA / "Dockerfile").read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    joined = re.sub(r"\\\n\s*", "", "\n".join(lines))
    found: list[Instruction] = []
    stage = -1
    for line in joined.splitlines():
        word, _, argument = line.strip().partition(" ")
        stage += word.upper() == "FROM"
        found.append(Instruction(word.upper(), argument.strip(), stage))
    return found


def cmd() -> list[str]:
    """What the image runs, word by word.

    For a test that starts the service the same way: put ``sys.executable`` in the place of the first word,
    and set ``PORT``.
    """
    *_, last = [item for item in dockerfile() if item.word == "CMD"]
    words = json.loads(last.argument)
    assert isinstance(words, list) and all(isinstance(word, str) for word in words)
    return words


def terraform_files() -> list[Path]:
    """Every Terraform file."""
    return sorted(INFRA.glob("*.tf"))


def _plain(value: Any) -> Any:
    """Parsed HCL without the parser's quotation marks and notes. Expressions stay, as ``${…}``."""
    if isinstance(value, str):
        quoted = len(value) > 1 and value[0] == value[-1] == '"'
        return json.loads(value) if quoted and "${" not in value else value.strip('"')
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {_plain(key): _plain(item) for key, item in value.items() if not key.startswith("__")}
    return value


@cache
def terraform() -> dict[str, list[Any]]:
    """All files together, by kind of block: ``resource``, ``variable``, ``locals``, ``output`` …"""
    together: dict[str, list[Any]] = {}
    for path in terraform_files():
        for kind, blocks in _plain(hcl2.loads(path.read_text(encoding="utf-8"))).items():
            together.setdefault(kind, []).extend(blocks)
    return together


def resources(kind: str = "") -> dict[str, Any]:
    """Resources by ``type.name``, all or those of one type."""
    found = {
        f"{type_}.{name}": body
        for block in terraform()["resource"]
        for type_, named in block.items()
        for name, body in named.items()
    }
    return {address: body for address, body in found.items() if not kind or address.startswith(f"{kind}.")}


def local_values() -> dict[str, Any]:
    """All locals by name."""
    return {name: value for block in terraform()["locals"] for name, value in block.items()}


def variables() -> dict[str, Any]:
    """All variables by name."""
    return {name: body for block in terraform()["variable"] for name, body in block.items()}


def strings(value: Any) -> Iterator[str]:
    """Every string at any depth, keys not among them."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from strings(item)
    elif isinstance(value, list):
        for item in value:
            yield from strings(item)
