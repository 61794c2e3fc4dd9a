"""Parts: CSV files in Drive that hold the summaries."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from addon.google.drive import FileInfo
from addon.google.errors import FileMissing, TryAgain
from addon.jobs.files import brief_hash, decode_brief, encode_brief
from addon.jobs.parts import PartReader, PartRow, PartWriter, decode, empty_part, encode
from addon.rows.keys import clean, text_hash
from addon.rows.table import Brief


class Drive:
    """Files in memory."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.trash: set[str] = set()
        self.broken = False
        self.downloads = 0

    def download(self, file_id: str, *, deadline: float | None = None) -> bytes:
        self.downloads += 1
        if file_id not in self.files:
            raise FileMissing("gone", service="Drive", status=404)
        return self.files[file_id]

    def info(self, file_id: str, *, deadline: float | None = None) -> FileInfo:
        return FileInfo(file_id, file_id, "", None, None, file_id in self.trash, {})

    def update(self, file_id: str, content: bytes, deadline: float | None = None) -> FileInfo:
        if self.broken:
            raise TryAgain("busy", service="Drive")
        self.files[file_id] = content
        return self.info(file_id)


def row(key: str, summary: str = "s") -> PartRow:
    return PartRow(key, 2, summary, "m", 1, 2, "2026-01-01T00:00:00+00:00")


def writer(drive: Drive, capacity: int = 3, number: int = 0) -> PartWriter:
    drive.files = {"p0": empty_part(), "p1": empty_part()} | drive.files
    made = PartWriter(drive, ["p0", "p1"], capacity, number)  # type: ignore[arg-type]
    made.load(5.0)
    return made


texts = st.text(st.characters(codec="utf-8"), max_size=60).map(lambda text: clean(text).strip())


@given(st.lists(texts, max_size=8))
def test_every_summary_is_read_back_as_it_was(summaries: list[str]) -> None:
    rows = [row(f"k{number}", summary) for number, summary in enumerate(summaries)]
    assert decode(empty_part() + encode(rows).encode()) == rows


@pytest.mark.parametrize(
    "summary", ["=1+1", "'x", 'say "hi", ok', "two\nlines", "日本語、です。", "-5", "00123"]
)
def test_texts_that_spreadsheets_like_to_change_stay(summary: str) -> None:
    assert decode(empty_part() + encode([row("k", summary)]).encode())[0].summary == summary


def test_a_line_that_is_no_result_any_more_keeps_its_place() -> None:
    content = empty_part() + encode([row("a")]).encode() + b"hello,world\r\n" + encode([row("b")]).encode()
    assert [one.key for one in decode(content)] == ["a", "", "b"]


@pytest.mark.parametrize("content", [b"", b"\xff\xfe", b"some,other,table\r\n1,2,3\r\n", b'"' * 9])
def test_a_file_that_is_no_part_has_no_rows(content: bytes) -> None:
    assert decode(content) == []


def test_results_fill_one_part_after_the_other_and_the_last_takes_the_rest() -> None:
    drive = Drive()
    one = writer(drive)
    assert (one.upload([row("a"), row("b")], 5), one.room()) == (0, 1)
    assert (one.upload([row("c")], 5), one.room()) == (2, 0)
    one.turn(5.0)
    assert (one.file_id, one.room()) == ("p1", 3)
    for number in range(5):
        one.turn(5.0)
        assert one.upload([row(f"d{number}")], 5) == number
    assert [len(decode(drive.files[name])) for name in ("p0", "p1")] == [3, 5]


def test_a_failed_upload_leaves_nothing_behind_in_the_writer() -> None:
    drive = Drive()
    one = writer(drive)
    one.upload([row("a")], 5)
    drive.broken = True
    with pytest.raises(TryAgain):
        one.upload([row("b")], 5)
    drive.broken = False
    assert one.upload([row("c")], 5) == 1
    assert [part.key for part in decode(drive.files["p0"])] == ["a", "c"]


def test_the_next_worker_goes_on_where_the_last_one_stopped() -> None:
    drive = Drive()
    writer(drive).upload([row("a")], 5)
    assert writer(drive).upload([row("b")], 5) == 1
    assert [part.key for part in decode(drive.files["p0"])] == ["a", "b"]


def test_a_stale_or_wrong_cache_is_looked_up_in_the_file() -> None:
    drive = Drive()
    one = writer(drive)
    reader = PartReader(drive)  # type: ignore[arg-type]
    one.upload([row("a", "first")], 5)
    assert reader.text("p0", "a", text_hash("first")) == "first"
    one.upload([row("b", "second")], 5)
    reader.begin()
    assert reader.text("p0", "b", text_hash("second")) == "second"
    drive.files["p0"] = empty_part() + encode([row("a", "changed")]).encode()
    reader.begin()
    assert reader.text("p0", "a", text_hash("changed")) == "changed"
    assert reader.text("p0", "a", text_hash("something else")) is None


def test_a_part_that_is_gone_has_no_texts_and_is_asked_for_once_a_page() -> None:
    drive = Drive()
    reader = PartReader(drive)  # type: ignore[arg-type]
    for number in range(50):
        assert reader.text("gone", f"k{number}", "x") is None
    assert drive.downloads == 1


def test_what_to_write_is_read_back_from_the_run_file() -> None:
    brief = Brief(("title", "本文"), "要約", 'Say "hi"\nin 3 bullets')
    assert decode_brief(encode_brief(brief)) == brief
    assert brief_hash(brief) != brief_hash(Brief(("title",), "要約", "x"))


@pytest.mark.parametrize("content", [b"", b"{}", b"[]", b'"x"', json.dumps({"source_columns": 3}).encode()])
def test_a_spoilt_run_file_is_noticed(content: bytes) -> None:
    with pytest.raises(ValueError, match=r".*"):
        decode_brief(content)
