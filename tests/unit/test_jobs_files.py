"""The run file, and which files of earlier jobs are used again."""

import json
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from stand_ins import FakeDrive

from addon.jobs.files import Found, brief_hash, decode_brief, encode_brief, make
from addon.jobs.parts import empty_part
from addon.jobs.records import Job
from addon.rows.table import Brief

BRIEF = Brief(("title", "本文"), "要約", 'Say "hi"\nin 3 bullets')
NOW = datetime(2026, 1, 1, tzinfo=UTC)
text = st.text(st.characters(codec="utf-8"), max_size=30)
briefs = st.builds(Brief, st.lists(text, min_size=1, max_size=4).map(tuple), text, text)


@given(briefs)
def test_what_to_write_is_read_back_from_the_run_file(brief: Brief) -> None:
    assert decode_brief(encode_brief(brief)) == brief


@given(briefs, briefs)
def test_only_the_same_choices_have_the_same_hash(one: Brief, other: Brief) -> None:
    assert (brief_hash(one) == brief_hash(other)) == (one == other)


def test_people_can_read_the_run_file() -> None:
    content = encode_brief(BRIEF).decode()
    assert "本文" in content
    assert len(content.splitlines()) > 3


def test_a_run_file_saved_by_a_program_that_adds_a_mark_is_read() -> None:
    assert decode_brief(b"\xef\xbb\xbf" + encode_brief(BRIEF)) == BRIEF


GOOD = {"source_columns": ["title"], "output_column": "Summary", "instructions": "shorten"}


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\xff\xfe\xfd",
        b"{}",
        b"[]",
        b'"x"',
        b"3",
        b"null",
        encode_brief(BRIEF)[:-9],
        b"<html>Sign in</html>",
        json.dumps({**GOOD, "source_columns": 3}).encode(),
        json.dumps({**GOOD, "source_columns": "title"}).encode(),
        json.dumps({**GOOD, "source_columns": []}).encode(),
        json.dumps({**GOOD, "source_columns": ["title", None]}).encode(),
        json.dumps({**GOOD, "output_column": None}).encode(),
        json.dumps({**GOOD, "instructions": ["shorten"]}).encode(),
        json.dumps({"source_columns": ["title"], "output_column": "Summary"}).encode(),
        b"[" * 100_000,
    ],
    ids=lambda content: content[:40].decode(errors="replace"),
)
def test_a_spoilt_run_file_is_noticed(content: bytes) -> None:
    with pytest.raises(ValueError, match=r".*"):
        decode_brief(content)


def test_what_is_missing_is_made_and_what_was_found_is_used_as_it_is() -> None:
    drive = FakeDrive({"p1": b"spare"})
    job = Job(
        "s", 0, "all", "m", "o", NOW, 1, 1, 1, 0, "folder", "run", {"0": ["p1", "p2"]}, 9, "folder link"
    )
    found = Found(None, None, (drive.info("p1"),))
    assert make(drive, job, BRIEF, found) == "folder link", "several parts are shown by their folder"
    assert sorted(drive.created) == ["p2", "run"]
    assert drive.files["p1"] == b"spare"
    assert drive.files["p2"] == empty_part()
    assert decode_brief(drive.files["run"]) == BRIEF
    drive.created.clear()
    assert make(drive, job, BRIEF, found) == "folder link"
    assert drive.created == [], "making them again makes nothing"


@pytest.mark.parametrize("spare", [True, False])
def test_a_single_part_is_shown_itself(spare: bool) -> None:
    drive = FakeDrive({"p1": empty_part()} if spare else {})
    job = Job("s", 0, "all", "m", "o", NOW, 1, 1, 1, 0, "folder", "run", {"0": ["p1"]}, 9, "folder link")
    found = Found(None, None, (drive.info("p1"),) if spare else ())
    assert make(drive, job, BRIEF, found) == "https://drive.example/p1"
