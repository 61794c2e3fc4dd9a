"""The files around a run: whether its summaries can be written, and its results copied out of Drive."""

import os
import tempfile
from collections.abc import Iterable
from pathlib import Path

from addon.jobs.parts import empty_part
from addon.run_watch import AGAIN, RunStopped


def check_places(file: Path, results: Path | None) -> None:
    """Find out before the first model call whether its summary could be written.

    Raises
    ------
    RunStopped
        The file's folder may not be written to, or ``results`` cannot be a folder to write to.
    """
    _check_writable(file.resolve().parent, f"The folder of {file} may not be written to")
    if results is None:
        return
    if results.exists() and not results.is_dir():
        raise RunStopped(f"{results} is a file; name a folder with --results.")
    try:
        results.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise RunStopped(
            f"The folder {results} cannot be made ({error.strerror}); name another with --results."
        ) from None
    _check_writable(results, f"The folder {results} may not be written to")


def _check_writable(folder: Path, problem: str) -> None:
    try:
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise RunStopped(
            f"{problem} ({error.strerror}). No model was called. Mend that, then {AGAIN}."
        ) from None


def copy_results(parts: Iterable[tuple[str, bytes]], folder: Path) -> None:
    """Write parts (name, content) into a folder; an empty part says nothing and is left out."""
    for name, content in parts:
        if content != empty_part():
            _write(folder / name, content)


def _write(path: Path, content: bytes) -> None:
    beside = path.with_name(f".{path.name}.new")
    with beside.open("wb") as handle:
        handle.write(content)
        handle.flush()
        os.fsync(handle.fileno())
    beside.replace(path)
