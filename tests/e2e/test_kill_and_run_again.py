"""`kill -9` of `addon run` at any moment: nothing is lost, nothing committed is called again."""

import random
import subprocess
from pathlib import Path

from terminal import Terminal, digest_of

from addon.jobs.records import Result
from addon.jobs.status import JobStatus, list_jobs
from addon.rows.keys import idempotency_key
from addon.store.sqlite import SqliteDocuments

ROWS = 400
KILLS = 10
CONCURRENCY, COMMIT_ROWS = 8, 20
INSTRUCTIONS = "Summarise this in one or two short sentences."


def _committed(terminal: Terminal, texts: list[str]) -> set[str]:
    """Digests of rows whose result is in the index, read as the next process would read it."""
    file = terminal.state / "store.sqlite"
    if not file.exists():
        return set()
    keys = {
        idempotency_key("scripted", {}, INSTRUCTIONS, [("text", text)]): digest_of("text", text)
        for text in texts
    }
    documents = SqliteDocuments(file)
    try:
        jobs = list_jobs(documents)
        if not jobs:
            return set()
        collection = f"spreadsheets/{jobs[0].spreadsheet_id}/results"
        found = documents.get_many(f"{collection}/{key}" for key in keys)
        for snapshot in found.values():
            Result.from_data(snapshot.data)
        return {keys[path.rsplit("/", 1)[1]] for path in found}
    finally:
        documents.close()


def _jobs(terminal: Terminal) -> list[JobStatus]:
    documents = SqliteDocuments(terminal.state / "store.sqlite")
    try:
        return list_jobs(documents)
    finally:
        documents.close()


def test_ten_kills_lose_nothing_and_repeat_nothing_committed(tmp_path: Path) -> None:
    seed = random.randrange(2**32)
    print(f"seed {seed}")  # shown when the test fails
    moments = random.Random(seed)
    terminal = Terminal(
        tmp_path,
        latency=0.05,
        ADDON_CONCURRENCY=str(CONCURRENCY),
        ADDON_COMMIT_ROWS=str(COMMIT_ROWS),
        ADDON_COMMIT_SECONDS="0.2",
        ADDON_DISPLAY_SECONDS="0.5",
    )
    texts = [f"inquiry {number} about an order" for number in range(ROWS)]
    terminal.write([["id", "text"], *([str(number), text] for number, text in enumerate(texts))])

    for _ in range(KILLS):
        committed, before = _committed(terminal, texts), terminal.started()
        process = terminal.popen(terminal.run_words())
        try:
            process.wait(moments.uniform(0.3, 2.5))
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        after = terminal.started()
        again = [digest for digest in committed if after[digest] > before[digest]]
        assert again == [], "a committed row was called again"
        uncommitted = (after - before).total() - len(_committed(terminal, texts) - committed)
        assert uncommitted <= CONCURRENCY + COMMIT_ROWS

    done = terminal.run()
    assert done.returncode == 0, done.stderr
    assert terminal.column("text") == texts
    assert terminal.column("Summary") == [f"summary of {text[:40].rstrip()}" for text in texts]
    started = terminal.started()
    repeats = started.total() - len(started)
    assert len(started) == ROWS
    assert repeats <= KILLS * (CONCURRENCY + COMMIT_ROWS)
    reported = sum(job.repeated for job in _jobs(terminal))
    assert reported >= repeats, "the jobs report fewer repeated calls than were made"


def test_a_killed_run_leaves_the_file_as_it_was_or_complete(tmp_path: Path) -> None:
    terminal = Terminal(tmp_path)
    rows = [["id", "text"], *([str(number), f"text {number}"] for number in range(200))]
    terminal.write(rows)
    for moment in (0.4, 0.8, 1.0, 1.2, 1.4):
        process = terminal.popen(terminal.run_words())
        try:
            process.wait(moment)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        read = terminal.read()
        assert [row[:2] for row in read] == rows
        assert list(tmp_path.glob("*.csv")) == [terminal.file], "a half-written file was left beside it"
