"""`addon run` from its first line to its exit status: done, failed, paused, stopped, and its progress."""

import os
import pty
import re
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from stack import wait_until
from terminal import Terminal, digest_of

from addon.jobs.chain import read_shard
from addon.jobs.status import list_jobs
from addon.local import state_lock
from addon.store.sqlite import SqliteDocuments

AGAIN = "run the same command again"


def _terminal(folder: Path, rows: int = 3, *, latency: float = 0.0, **settings: str) -> Terminal:
    terminal = Terminal(folder, latency=latency, **settings)
    terminal.write([["id", "text"], *([str(number), f"inquiry {number}"] for number in range(rows))])
    return terminal


@contextmanager
def _running(terminal: Terminal, *more: str) -> Iterator["subprocess.Popen[str]"]:
    with subprocess.Popen(
        [*terminal.run_words(), *more],
        env=terminal.environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            yield process
        finally:
            if process.poll() is None:
                process.kill()


def test_all_done_is_0_and_says_how_many_calls_were_made(tmp_path: Path) -> None:
    terminal = _terminal(tmp_path)
    done = terminal.run()
    assert done.returncode == 0
    assert done.stdout == (
        f"3 of 3 rows have a summary in column “Summary” of {terminal.file}. This run made 3 model calls.\n"
    )
    with terminal.file.open("a") as file:
        file.write("8,\n9,inquiry 9\n")
    assert terminal.run().stdout == (
        f"4 of 4 rows have a summary in column “Summary” of {terminal.file}. "
        "This run made 1 model call, and skipped 1 blank row.\n"
    )


def test_failed_rows_are_3_and_the_next_run_asks_for_them_alone(tmp_path: Path) -> None:
    switch = tmp_path / "switch"
    switch.touch()
    terminal = Terminal(tmp_path, ADDON_MODEL="terminal_models:refusing", MODEL_SWITCH=str(switch))
    terminal.write([["id", "text"], ["1", "good"], ["2", "bad"], ["3", "bad too"]])
    done = terminal.run()
    assert done.returncode == 3
    assert done.stderr.splitlines()[-1] == (
        "2 failed (rows 3, 4): the model refused the text; change it, or write this summary by hand."
    )
    assert terminal.column("Summary") == ["summary of good", "", ""]
    switch.unlink()
    done = terminal.run()
    assert (done.returncode, terminal.started().total()) == (0, 5)
    assert terminal.column("Summary") == ["summary of good", "summary of bad", "summary of bad too"]


def test_a_pause_is_4_says_what_to_do_and_the_same_command_goes_on(tmp_path: Path) -> None:
    switch = tmp_path / "switch"
    switch.touch()
    terminal = _terminal(
        tmp_path,
        30,
        ADDON_MODEL="terminal_models:key_rejected",
        MODEL_SWITCH=str(switch),
        ADDON_CONCURRENCY="2",
    )
    done = terminal.run()
    assert done.returncode == 4
    assert done.stderr.splitlines()[-1] == (
        f"Paused. The model provider rejects the access key. Replace the key, then {AGAIN}."
    )
    assert terminal.started().total() <= 4
    switch.unlink()
    done = terminal.run()
    assert done.returncode == 0
    assert "Going on where the last run ended." in done.stderr
    assert "This run made 30 model calls." in done.stdout
    assert terminal.column("Summary") == [f"summary of inquiry {number}" for number in range(30)]


def test_ctrl_c_hands_over_saves_what_is_done_and_the_next_run_makes_the_rest_only(tmp_path: Path) -> None:
    terminal = _terminal(tmp_path, 200, latency=0.05, ADDON_CONCURRENCY="4", ADDON_COMMIT_SECONDS="0.2")
    with _running(terminal) as process:
        wait_until(lambda: terminal.started().total() > 50, "50 calls")
        process.send_signal(signal.SIGINT)
        said, told = process.communicate(timeout=60)
    assert process.returncode == 130, told
    assert told.splitlines()[-1] == f"Stopped. Nothing that was finished is lost: {AGAIN} to go on."
    documents = SqliteDocuments(terminal.state / "store.sqlite")
    try:
        (job,) = list_jobs(documents)
        shard = read_shard(documents, job.job_id, 0)
    finally:
        documents.close()
    assert (shard.owner, shard.step, shard.risks) == ("", 1, []), "it did not hand over, once and cleanly"
    summaries = terminal.column("Summary")
    made = sum(map(bool, summaries))
    assert made >= 40, "what was done was not written into the file"
    assert terminal.started().total() == made, "a call was begun whose answer was not kept"
    assert f"{made} of 200 rows have a summary" in said

    done = terminal.run()
    assert done.returncode == 0, done.stderr
    assert f"This run made {200 - made} model calls." in done.stdout
    assert terminal.column("Summary") == [f"summary of inquiry {number}" for number in range(200)]
    assert set(terminal.started().values()) == {1}, "a row was paid twice"


def test_ctrl_c_twice_does_not_wait_for_a_model_that_hangs(tmp_path: Path) -> None:
    terminal = _terminal(tmp_path, ADDON_MODEL="terminal_models:hanging")
    with _running(terminal) as process:
        wait_until(lambda: terminal.started().total() == 3, "three calls")
        process.send_signal(signal.SIGINT)
        process.send_signal(signal.SIGTERM)
        _, told = process.communicate(timeout=15)  # a call may take 60 s
    assert process.returncode == 130
    assert "Traceback" not in told
    terminal.environment["ADDON_MODEL"] = "logged_model:logged"
    assert terminal.run().returncode == 0
    assert terminal.started()[digest_of("text", "inquiry 0")] == 2


def test_a_bug_in_a_model_adapter_is_named_without_the_text_it_was_asked(tmp_path: Path) -> None:
    terminal = Terminal(tmp_path, ADDON_MODEL="terminal_models:broken", ADDON_LEASE_TTL="1")
    terminal.write([["id", "text"], ["1", "a secret"]])
    done = terminal.run()
    assert re.search(r"^The model adapter raised LookupError at terminal_models.py:\d+\.$", done.stderr, re.M)
    assert "Paused. " in done.stderr
    assert done.returncode == 4
    assert "secret" not in done.stdout + done.stderr
    assert "Traceback" not in done.stderr


def test_two_runs_on_one_state_folder_are_refused_in_a_sentence(tmp_path: Path) -> None:
    terminal = _terminal(tmp_path)
    with state_lock(terminal.state):
        done = terminal.run()
    assert done.returncode == 2
    assert done.stderr == (f"Another process is working with {terminal.state}; wait for it or stop it.\n")
    assert terminal.run().returncode == 0


def test_a_file_changed_while_the_run_works_is_left_alone_and_done_by_the_next_run(tmp_path: Path) -> None:
    terminal = _terminal(tmp_path, 40, latency=0.05, ADDON_CONCURRENCY="2", ADDON_COMMIT_SECONDS="0.1")
    with _running(terminal) as process:
        wait_until(lambda: terminal.started().total() > 10, "ten calls")
        terminal.write([["id", "text"], ["1", "inquiry 1"], ["2", "written meanwhile"]])
        _, told = process.communicate(timeout=60)
    assert process.returncode == 2
    assert "was changed by another program" in told
    assert f"The summaries are kept: once that is mended, {AGAIN} to write them." in told
    assert terminal.column("text") == ["inquiry 1", "written meanwhile"]
    assert terminal.run().returncode == 0
    assert terminal.column("Summary") == ["summary of inquiry 1", "summary of written meanwhile"]
    assert terminal.started().total() == 41


def test_progress_in_a_pipe_is_a_line_now_and_then_and_never_0_s_left(tmp_path: Path) -> None:
    terminal = _terminal(tmp_path, 100, latency=0.02, ADDON_CONCURRENCY="4", ADDON_COMMIT_SECONDS="0.1")
    lines = terminal.run().stderr.splitlines()
    assert lines[-1] == "100%  100 of 100 rows"
    assert len(lines) <= 11
    assert all(
        re.match(r" *\d+%  \d+ of 100 rows(  \d+/(s|min))?(  (\d+ min )?\d+ s left)?$", line)
        for line in lines
    )
    assert not any(" 0 s left" in line for line in lines)


def test_quiet_shows_the_result_only(tmp_path: Path) -> None:
    terminal = _terminal(tmp_path)
    done = terminal.addon(*terminal.run_words()[3:], "--quiet")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("3 of 3 rows have a summary")


def test_a_terminal_gets_a_bar(tmp_path: Path) -> None:
    terminal = _terminal(tmp_path)
    ours, theirs = pty.openpty()
    try:
        with subprocess.Popen(
            terminal.run_words(), env=terminal.environment, stdout=subprocess.DEVNULL, stderr=theirs
        ) as process:
            assert process.wait(60) == 0
        shown = os.read(ours, 65536).decode()
    finally:
        os.close(ours)
        os.close(theirs)
    assert f"\r{'░' * 24}   0%  0 of 3 rows" in shown
    assert f"\r{'█' * 24} 100%  3 of 3 rows" in shown
    assert shown.endswith("\r\n")
