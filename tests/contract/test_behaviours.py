"""The list of stories names tests that exist."""

import re
from pathlib import Path

TESTS = Path(__file__).resolve().parent.parent


def test_every_test_named_in_the_list_of_behaviours_exists() -> None:
    named = set(re.findall(r"`(test_\w+)`", (TESTS / "BEHAVIOURS.md").read_text(encoding="utf-8")))
    defined = {
        name
        for path in TESTS.rglob("test_*.py")
        for name in re.findall(r"def (test_\w+)", path.read_text("utf-8"))
    }
    assert len(named) > 30
    assert named - defined == set()
