"""Full disks and folders that may not be written to: a sentence, the file as it was, and it goes on."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from stack import wait_until
from terminal import Terminal

ROWS = 300
CONCURRENCY, COMMIT_ROWS = 4, 20


class SmallDisk:
    """A file system of its own in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._filler = folder / "filler"

    def fill(self) -> None:
        """Leave no byte free."""
        with self._filler.open("ab", buffering=0) as handle:
            for size in (65536, 512, 1):
                try:
                    while True:
                        handle.write(b"x" * size)
                except OSError:
                    continue

    def free(self) -> None:
        """Make room again."""
        self._filler.unlink()

    @contextmanager
    def read_only(self) -> Iterator[None]:
        """Refuse every write until the block ends."""
        _mount("-o", "remount,ro", str(self.folder))
        try:
            yield
        finally:
            _mount("-o", "remount,rw", str(self.folder))


def _mount(*words: str) -> None:
    subprocess.run(["mount", *words], check=True, capture_output=True)


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[SmallDisk]:
    """A disk of 8 MB; skips where this user may not mount one."""
    folder = tmp_path / "disk"
    folder.mkdir()
    try:
        _mount("-t", "tmpfs", "-o", "size=8m", "tmpfs", str(folder))
    except (OSError, subprocess.CalledProcessError) as error:
        pytest.skip(
            f"File systems cannot be mounted here ({error}): full and read-only disks were NOT tested."
        )
    try:
        yield SmallDisk(folder)
    finally:
        subprocess.run(["umount", str(folder)], check=True)


def _terminal(folder: Path, latency: float = 0.0, **settings: str) -> Terminal:
    terminal = Terminal(
        folder,
        latency=latency,
        ADDON_CONCURRENCY=str(CONCURRENCY),
        ADDON_COMMIT_ROWS=str(COMMIT_ROWS),
        ADDON_COMMIT_SECONDS="0.2",
        **settings,
    )
    terminal.write([["id", "text"], *([str(number), f"inquiry {number}"] for number in range(ROWS))])
    return terminal


def _summaries() -> list[str]:
    return [f"summary of inquiry {number}" for number in range(ROWS)]


def _refused(done: "subprocess.CompletedProcess[str]") -> str:
    assert done.returncode == 2, done.stderr
    assert "Traceback" not in done.stderr
    return done.stderr.splitlines()[-1]


def test_a_disk_that_gets_full_ends_the_run_and_the_next_one_goes_on(disk: SmallDisk, tmp_path: Path) -> None:
    terminal = _terminal(disk.folder, latency=0.05)
    terminal.calls = tmp_path / "calls.log"  # the count of calls must not depend on the full disk
    terminal.environment["LOGGED_CALLS"] = str(terminal.calls)
    before = terminal.file.read_bytes()
    with subprocess.Popen(
        terminal.run_words(), env=terminal.environment, stdout=-1, stderr=-1, text=True
    ) as process:
        try:
            wait_until(lambda: terminal.started().total() > ROWS // 3, "a third of the calls")
            disk.fill()
            _, said = process.communicate(timeout=60)
        finally:
            process.kill()  # leaving the block waits for it; a process that has ended takes no harm
    assert process.returncode == 2, said
    assert (
        f"The disk with {terminal.state} is full. Free some space, then run the same" in said.splitlines()[-1]
    )
    assert "Traceback" not in said
    assert terminal.file.read_bytes() == before

    disk.free()
    done = terminal.run()
    assert done.returncode == 0, done.stderr
    assert terminal.column("Summary") == _summaries()
    assert terminal.started().total() <= ROWS + CONCURRENCY + COMMIT_ROWS


def test_a_disk_full_from_the_start_is_a_sentence(disk: SmallDisk) -> None:
    terminal = _terminal(disk.folder)
    before = terminal.file.read_bytes()
    disk.fill()
    assert f"The disk with {terminal.state} is full." in _refused(terminal.run())
    assert terminal.file.read_bytes() == before
    disk.free()
    assert terminal.run().returncode == 0


def test_a_full_disk_below_the_file_alone_loses_no_summary(disk: SmallDisk, tmp_path: Path) -> None:
    terminal = _terminal(disk.folder)
    terminal.state, terminal.results = tmp_path / "state", tmp_path / "results"
    terminal.calls = tmp_path / "calls.log"
    terminal.environment["LOGGED_CALLS"] = str(terminal.calls)
    before = terminal.file.read_bytes()
    disk.fill()
    said = _refused(terminal.run())
    assert "The disk is full" in said
    assert "The summaries are kept: once that is mended, run the same command again" in said
    assert terminal.file.read_bytes() == before
    disk.free()
    done = terminal.run()
    assert done.returncode == 0
    assert "This run made 0 model calls." in done.stdout
    assert terminal.column("Summary") == _summaries()
    assert terminal.started().total() == ROWS


def test_a_folder_that_may_not_be_written_to_is_found_before_the_first_call(
    disk: SmallDisk, tmp_path: Path
) -> None:
    terminal = _terminal(disk.folder)
    before = terminal.file.read_bytes()
    inside, outside = disk.folder / "state", tmp_path / "state"
    terminal.calls = tmp_path / "calls.log"
    terminal.environment["LOGGED_CALLS"] = str(terminal.calls)
    with disk.read_only():
        terminal.state, terminal.results = outside, tmp_path / "results"
        said = _refused(terminal.run())
        assert said.startswith(
            f"The folder of {terminal.file} may not be written to (Read-only file system)."
        )
        terminal.state = inside
        assert _refused(terminal.run()).startswith(f"{inside} may not be written to.")
        terminal.state, terminal.results = outside, disk.folder / "results"
        assert "may not be written to" in _refused(terminal.run())
    assert terminal.started().total() == 0
    assert terminal.file.read_bytes() == before
    terminal.state = outside
    assert terminal.run().returncode == 0
    assert terminal.column("Summary") == _summaries()


def test_results_that_cannot_be_copied_do_not_keep_the_summaries_from_the_file(
    disk: SmallDisk, tmp_path: Path
) -> None:
    terminal = _terminal(tmp_path)
    terminal.results = disk.folder / "results"
    terminal.results.mkdir()
    disk.fill()
    said = _refused(terminal.run())
    assert said.startswith(f"The summaries are in {terminal.file}, but the results files could not be copied")
    assert terminal.column("Summary") == _summaries()
