"""The table of protections names tests that exist, and every twin is in it."""

import re

from infra_files import ROOT

TABLE = (ROOT / "tests" / "PROTECTIONS.md").read_text()
SOURCES = {path.name: path.read_text() for path in (ROOT / "tests" / "integration").glob("test_*.py")}


def test_every_twin_is_in_the_table_and_every_name_in_the_table_exists() -> None:
    defined = {name for text in SOURCES.values() for name in re.findall(r"^def (test_\w+)", text, re.M)}
    twins = set(re.findall(r"^def (test_\w+)", SOURCES["test_fault_twins.py"], re.M))
    named = set(re.findall(r"`(test_\w+)`", TABLE))
    assert twins <= named
    assert named <= defined


def test_every_place_in_the_table_exists() -> None:
    for path, names in re.findall(r"\| `(addon/[\w/]+\.py)` ?((?:`[\w.]+`(?:, )?)*)", TABLE):
        text = (ROOT / path).read_text()
        for name in re.findall(r"`(?:\w+\.)?(\w+)`", names):
            assert re.search(rf"\b{name}\b", text), (path, name)
