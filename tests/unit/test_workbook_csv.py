"""CSV files become workbooks and files again without loss."""

import csv
import errno
import io
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from addon.simulator.csvfile import Style, WorkbookError, parse, render
from addon.simulator.filemeta import SPREADSHEET
from addon.simulator.files import Files
from addon.simulator.samples import SAMPLE
from addon.simulator.state import State
from addon.simulator.workbooks import Workbooks

PATH = Path("table.csv")


@pytest.fixture
def books(tmp_path: Path) -> Iterator[Workbooks]:
    state = State(tmp_path / "state")
    yield Workbooks(state, Files(state), "you@example.com")
    state.close()


cells = st.text(
    st.one_of(st.sampled_from(list(",;\t\"\r\n'= \ufeff\x00あ😀")), st.characters(codec="utf-8")), max_size=6
)
tables = st.lists(st.lists(cells, min_size=0, max_size=4).map(tuple), min_size=1, max_size=6)
styles = st.builds(
    Style, st.sampled_from([",", ";", "\t"]), st.sampled_from(["\n", "\r\n", "\r"]), st.booleans()
)


@given(tables, styles)
@example([("\ufeffa", "b")], Style())
@example([("a\rb",)], Style())
@example([("",), ()], Style())
def test_whatever_is_written_is_read_back(rows: list[tuple[str, ...]], style: Style) -> None:
    # The header tells the delimiter, so let it have some of it, and some text.
    rows = [("first", "second", "third"), *rows]
    found, read_style = parse(render(rows, style), PATH)
    assert found == rows
    assert (read_style.delimiter, read_style.bom) == (style.delimiter, style.bom)
    assert read_style.newline == style.newline


def test_a_first_cell_that_begins_like_a_byte_order_mark_is_kept() -> None:
    rows = [("\ufeffid", "text"), ("1", "x")]
    for style in (Style(), Style(bom=True)):
        assert parse(render(rows, style), PATH) == (rows, style)


@given(tables)
def test_other_programs_read_the_same(rows: list[tuple[str, ...]]) -> None:
    text = render(rows, Style(newline="\r\n")).decode()
    assert [tuple(row) for row in csv.reader(io.StringIO(text, newline=""))] == rows or rows[0][:1] == ()


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=30, deadline=None)
@given(rows=tables)
def test_a_workbook_that_nobody_changed_is_saved_with_the_same_cells(
    books: Workbooks, tmp_path: Path, rows: list[tuple[str, ...]]
) -> None:
    path = tmp_path / "table.csv"
    path.write_bytes(render([("a", "b"), *rows], Style()))
    books.save_csv(books.open_csv(path), path)
    before = [("a", "b"), *rows]
    width = max(map(len, before))
    level = len({len(row) for row in before if row}) == 1
    assert parse(path.read_bytes(), path)[0] == [
        row + ("",) * (width - len(row)) if row and level else row for row in before
    ]


@pytest.mark.parametrize(
    "content",
    [
        b'id,text\n1,one\n2,"two\nlines"\n',
        b'\xef\xbb\xbfid;text\r\n1;"a;b"\r\n',
        "番号\t本文\n１\tあ\n".encode(),
        b"id,text\n1\n2,a,b\n\n3,x\n",
        b'text\n""\nx\n',
        b"a,b\r1,2\r",
    ],
)
def test_delimiter_line_ends_mark_and_ragged_rows_are_kept(
    books: Workbooks, tmp_path: Path, content: bytes
) -> None:
    path = tmp_path / "table.csv"
    path.write_bytes(content)
    books.save_csv(books.open_csv(path), path)
    assert path.read_bytes() == content


def test_a_new_column_keeps_a_rectangular_file_rectangular(books: Workbooks, tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text("id,text\n1,one\n2,two\n")
    sid = books.open_csv(path)
    books.get(sid).set_cell(0, 0, 2, "Summary")
    books.get(sid).set_cell(0, 2, 2, "a, b")
    books.save_csv(sid, path)
    assert path.read_text() == 'id,text,Summary\n1,one,\n2,two,"a, b"\n'


def test_a_ragged_file_is_padded_only_where_a_cell_needs_it(books: Workbooks, tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text("id,text\n1\n2,two,extra\n")
    sid = books.open_csv(path)
    books.get(sid).set_cell(0, 1, 2, "x")
    books.save_csv(sid, path)
    assert path.read_text() == "id,text\n1,,x\n2,two,extra\n"


def test_the_same_file_keeps_its_id_and_what_was_not_saved_yet(books: Workbooks, tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text("id\n1\n")
    sid = books.open_csv(path)
    books.get(sid).set_cell(0, 1, 1, "not saved yet")
    assert books.open_csv(str(path)) == sid
    assert books.get(sid).cells(0)[1] == ["1", "not saved yet"]
    books.save_csv(sid, path)
    assert books.open_csv(path) == sid
    assert books.get(sid).cells(0)[1] == ["1", "not saved yet"]
    assert books.ids() == [sid]


def test_a_file_changed_by_another_program_is_read_again_into_the_same_sheet(
    books: Workbooks, tmp_path: Path
) -> None:
    path = tmp_path / "table.csv"
    path.write_text("id\n1\n2\n")
    sid = books.open_csv(path)
    path.write_text("id\n7\n")
    assert books.open_csv(path) == sid
    assert books.get(sid).cells(0) == [["id"], ["7"]]
    assert books.get(sid).sheets[0].sheet_id == 0


def test_saving_never_overwrites_what_another_program_wrote(books: Workbooks, tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text("id\n1\n")
    sid = books.open_csv(path)
    path.write_text("id\nedited\n")
    with pytest.raises(WorkbookError, match="was changed by another program"):
        books.save_csv(sid, path)
    assert path.read_text() == "id\nedited\n"
    books.save_csv(sid, tmp_path / "copy.csv")
    assert (tmp_path / "copy.csv").read_text() == "id\n1\n"


def test_cells_longer_than_sheets_or_python_allow_are_kept(books: Workbooks, tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text("id,text\n1," + "x" * 300_000 + "\n")
    sid = books.open_csv(path)
    assert len(books.get(sid).cells(0)[1][1]) == 300_000


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "is empty"),
        (b"\xef\xbb\xbf \n", "is empty"),
        ("id\n問い合わせ\n".encode("shift_jis"), r"is not UTF-8 text \(byte 3\).*iconv -f SHIFT_JIS"),
        ("id\n1\n".encode("utf-16"), r"is not UTF-8 text \(byte 0\)"),
        (b'id,text\n1,"never closed\n', "begins in line 2"),
        (b'id,text\n1,"closed" twice"\n', "begins in line 2"),
    ],
)
def test_a_file_that_is_no_csv_is_one_sentence(
    books: Workbooks, tmp_path: Path, content: bytes, sentence: str
) -> None:
    path = tmp_path / "table.csv"
    path.write_bytes(content)
    with pytest.raises(WorkbookError, match=sentence) as caught:
        books.open_csv(path)
    assert str(path) in str(caught.value)
    assert "never closed" not in str(caught.value)
    assert books.ids() == []


def test_paths_that_cannot_be_read_are_one_sentence(books: Workbooks, tmp_path: Path) -> None:
    with pytest.raises(WorkbookError, match="There is no file"):
        books.open_csv(tmp_path / "missing.csv")
    with pytest.raises(WorkbookError, match="is a folder"):
        books.open_csv(tmp_path)


@pytest.mark.parametrize(
    ("number", "sentence"),
    [
        (errno.ENOSPC, "The disk is full"),
        (errno.EACCES, "may not be written to"),
        (errno.EROFS, "may not be written to"),
        (errno.EIO, "could not be written"),
    ],
)
def test_a_failed_save_leaves_the_file_and_nothing_beside_it(
    books: Workbooks, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, sentence: str
) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    path = folder / "table.csv"
    path.write_text("id\n1\n")
    sid = books.open_csv(path)
    books.get(sid).set_cell(0, 1, 0, "changed")

    def fail(descriptor: int) -> None:
        raise OSError(number, os.strerror(number))

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", fail)
        with pytest.raises(WorkbookError, match=sentence):
            books.save_csv(sid, path)
    assert path.read_text() == "id\n1\n"
    assert list(folder.iterdir()) == [path]
    with path.open() as old:
        books.save_csv(sid, path)
        assert old.read() == "id\n1\n"  # replaced as a whole: whoever reads the old file is not disturbed
    assert path.read_text() == "id\nchanged\n"
    assert list(folder.iterdir()) == [path]


def test_a_save_keeps_permissions_and_follows_links(books: Workbooks, tmp_path: Path) -> None:
    path, link = tmp_path / "table.csv", tmp_path / "link.csv"
    path.write_text("id\n1\n")
    path.chmod(0o640)
    link.symlink_to(path)
    sid = books.open_csv(link)
    assert books.open_csv(path) == sid
    books.get(sid).set_cell(0, 1, 0, "2")
    books.save_csv(sid, link)
    assert link.is_symlink()
    assert path.read_text() == "id\n2\n"
    assert path.stat().st_mode & 0o777 == 0o640


def test_the_sample_is_forty_inquiries_in_two_languages(books: Workbooks, tmp_path: Path) -> None:
    rows, style = parse(SAMPLE.read_bytes(), SAMPLE)
    assert rows[0] == ("id", "received", "customer", "inquiry")
    assert style.rectangular
    texts = [row[3] for row in rows[1:] if any(row)]
    assert len(texts) == 40
    assert len(rows) == 42  # header, inquiries, one blank row
    assert len(set(texts)) == 39  # one pair is the same
    assert sum("の" in text for text in texts) >= 15
    assert any(text.startswith("=") for text in texts)
    assert any("\n" in text for text in texts)


def test_a_workbook_is_a_file_of_the_owner(books: Workbooks) -> None:
    sid = books.create("Title", [["x"]])
    file = books._files.find(sid)
    assert file is not None
    assert (file.owner, file.name, file.mime_type) == ("you@example.com", "Title", SPREADSHEET)
