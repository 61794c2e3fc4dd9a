"""`addon jobs` on the state folder of `addon run`, with no service running."""

from pathlib import Path

import pytest
from terminal import Terminal

from addon.simulator.server import Simulator

LATER = (
    "The job is to go on. It does so within a minute where the service or `addon demo` runs on this state "
    "folder, or else with the next `addon run` of its file.\n"
)


@pytest.fixture
def terminal(tmp_path: Path) -> Terminal:
    """A file with two rows that the model refuses while ``switch`` exists."""
    terminal = Terminal(
        tmp_path, ADDON_MODEL="terminal_models:refusing", MODEL_SWITCH=str(tmp_path / "switch")
    )
    (tmp_path / "switch").touch()
    terminal.write([["id", "text"], ["1", "good"], ["2", "bad"], ["3", "bad too"]])
    return terminal


def _jobs(terminal: Terminal, *words: str) -> str:
    done = terminal.addon("jobs", "--state", str(terminal.state), *words)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def _refused(terminal: Terminal, *words: str) -> str:
    done = terminal.addon("jobs", "--state", str(terminal.state), *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert len(done.stderr.splitlines()) == 1, done.stderr
    return done.stderr


def _ids(terminal: Terminal) -> list[str]:
    return [line.split()[0] for line in _jobs(terminal, "list").splitlines()]


def test_jobs_are_listed_newest_first_and_shown_with_what_failed(terminal: Terminal) -> None:
    terminal.run()
    terminal.run()
    ids = _ids(terminal)
    assert len(ids) == 2
    assert _jobs(terminal, "list", "--limit", "1").split()[0] == ids[0]
    shown = _jobs(terminal, "show", ids[1])
    assert "rows         1 of 3 done, 2 failed, 0 blank\n" in shown
    assert "failed       2 failed (rows 3, 4): the model refused the text;" in shown


def test_a_retry_is_done_by_the_next_run_with_new_rows_and_all(terminal: Terminal) -> None:
    terminal.run()
    (job,) = _ids(terminal)
    assert _jobs(terminal, "retry", job) == LATER
    assert " running " in _jobs(terminal, "list")
    Path(terminal.environment["MODEL_SWITCH"]).unlink()
    with terminal.file.open("a") as file:
        file.write("4,new,\n")
    done = terminal.run()
    assert done.returncode == 0, done.stderr
    assert "4 of 4 rows have a summary" in done.stdout
    assert "This run made 3 model calls." in done.stdout
    assert terminal.column("Summary") == [f"summary of {text}" for text in ("good", "bad", "bad too", "new")]
    assert set(terminal.started().values()) == {1, 2}
    assert terminal.started().total() == 3 + 3


def test_a_paused_job_says_how_to_resume_it_and_does_so_with_the_next_run(terminal: Terminal) -> None:
    terminal.environment["ADDON_MODEL"] = "terminal_models:key_rejected"
    assert terminal.run().returncode == 4
    (job,) = _ids(terminal)
    assert f"Replace the key, then run `addon jobs resume {job}`." in _jobs(terminal, "show", job)
    assert _jobs(terminal, "resume", job) == LATER
    Path(terminal.environment["MODEL_SWITCH"]).unlink()
    done = terminal.run()
    assert (done.returncode, terminal.column("Summary").count("")) == (0, 0)
    assert _ids(terminal) == [job], "the run began a job of its own"


def test_a_cancelled_job_stays_cancelled_and_the_next_run_is_a_new_one(terminal: Terminal) -> None:
    terminal.environment["ADDON_MODEL"] = "terminal_models:key_rejected"
    terminal.run()
    (job,) = _ids(terminal)
    assert _jobs(terminal, "cancel", job) == "Cancelled. Finished rows stay.\n"
    Path(terminal.environment["MODEL_SWITCH"]).unlink()
    assert terminal.run().returncode == 0
    assert len(_ids(terminal)) == 2
    assert " cancelled " in _jobs(terminal, "list").splitlines()[1]


def test_a_paused_job_whose_run_file_is_lost_does_not_bar_the_way(terminal: Terminal) -> None:
    terminal.environment["ADDON_MODEL"] = "terminal_models:key_rejected"
    terminal.run()
    with Simulator(terminal.state / "google") as simulator:
        (run_file,) = [file for file in simulator.files.list() if file.mime_type == "application/json"]
        simulator.files.remove(run_file)
    Path(terminal.environment["MODEL_SWITCH"]).unlink()
    done = terminal.run()
    assert (done.returncode, terminal.column("Summary").count("")) == (0, 0), done.stderr


def test_what_does_not_fit_a_job_is_one_sentence(terminal: Terminal, tmp_path: Path) -> None:
    assert "There is no store in" in _refused(terminal, "list")
    Path(terminal.environment["MODEL_SWITCH"]).unlink()
    terminal.run()
    (job,) = _ids(terminal)
    for command in ("show", "retry", "resume", "cancel"):
        assert "There is no job with this id here." in _refused(terminal, command, "nonsense")
    assert "The job has no failed rows" in _refused(terminal, "retry", job)
    assert "The job is over already" in _refused(terminal, "resume", job)
    assert "The job is over already" in _refused(terminal, "cancel", job)
