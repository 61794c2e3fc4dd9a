"""One file through its life, on both stores: made once, only edits made again, all text back."""

import uuid
from pathlib import Path

from terminal import Terminal

ROWS = 500


def test_a_file_is_summarised_once_and_only_edits_are_called_again(tmp_path: Path, store_kind: str) -> None:
    project = f"t-{uuid.uuid4().hex[:20]}"  # a project of its own isolates a test in a shared emulator
    terminal = Terminal(tmp_path, ADDON_STORE=store_kind, ADDON_PROJECT=project)
    texts = [f"inquiry {number} about an order" for number in range(ROWS)]
    terminal.write([["id", "text"], *([str(number), text] for number, text in enumerate(texts))])

    def run(made: int) -> None:
        before = terminal.started().total()
        done = terminal.run()
        assert done.returncode == 0, done.stderr
        assert terminal.started().total() - before == made
        assert f"This run made {made} model calls." in done.stdout
        assert terminal.column("text") == texts
        assert terminal.column("Summary") == [f"summary of {text[:40].rstrip()}" for text in texts]

    run(ROWS)
    run(0)

    header, *rows = terminal.read()
    for number in (0, 7, 123, 250, ROWS - 1):
        texts[number] = rows[number][1] = f"changed {number} by a person"
    terminal.write([header, *rows])
    run(5)

    header, *rows = terminal.read()
    terminal.write([header, *([*row[:2], ""] for row in rows)])
    before = terminal.started().total()
    done = terminal.run()
    assert done.returncode == 0, done.stderr
    assert terminal.started().total() == before
    assert "This run made 0 model calls." in done.stdout
    assert terminal.column("Summary") == [f"summary of {text[:40].rstrip()}" for text in texts]

    listed = terminal.addon("jobs", "--state", str(terminal.state), "list")
    assert [line.split("  ")[2].strip() for line in listed.stdout.splitlines()] == ["done"] * 4
