"""The command line as a person uses it: real processes, with a model whose calls are counted."""

import csv
import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

from addon.llm.base import Prompt
from addon.llm.scripted import fields_digest, read_call_log

ROOT = Path(__file__).resolve().parent.parent


class Terminal:
    """A working folder with a CSV file in it.

    Parameters
    ----------
    latency
        Seconds each model call takes.
    """

    def __init__(self, folder: Path, *, latency: float = 0.0, **settings: str) -> None:
        self.folder = folder
        self.file = folder / "inquiries.csv"
        self.state = folder / "state"
        self.results = folder / "results"
        self.calls = folder / "calls.log"
        self.environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith("ADDON_")},
            "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'tests'}",
            "ADDON_MODEL": "logged_model:logged",
            "LOGGED_CALLS": str(self.calls),
            "LOGGED_LATENCY": str(latency),
            **settings,
        }

    def write(self, rows: list[list[str]]) -> None:
        """Write the CSV file."""
        with self.file.open("w", newline="", encoding="utf-8") as handle:
            csv.writer(handle).writerows(rows)

    def read(self) -> list[list[str]]:
        """Read the CSV file."""
        with self.file.open(newline="", encoding="utf-8-sig") as handle:
            return list(csv.reader(handle))

    def column(self, title: str) -> list[str]:
        """The texts below a title."""
        header, *rows = self.read()
        index = header.index(title)
        return [row[index] if index < len(row) else "" for row in rows]

    def command(self, *words: str) -> list[str]:
        """Words to start `addon` with."""
        return [sys.executable, "-m", "addon", *words]

    def run_words(self, source: str = "text", output: str = "Summary") -> list[str]:
        """Words of `addon run` on the file."""
        return self.command(
            "run",
            str(self.file),
            *("--source", source, "--output", output),
            *("--state", str(self.state), "--results", str(self.results)),
        )

    def addon(self, *words: str, timeout: float = 120) -> "subprocess.CompletedProcess[str]":
        """Run a command to its end."""
        return subprocess.run(
            self.command(*words),
            env=self.environment,
            cwd=self.folder,
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
        )

    def run(self, source: str = "text", output: str = "Summary") -> "subprocess.CompletedProcess[str]":
        """Run `addon run` to its end."""
        return self.addon(*self.run_words(source, output)[3:])

    def popen(self, words: list[str]) -> "subprocess.Popen[bytes]":
        """Start a command to be killed."""
        return subprocess.Popen(
            words,
            env=self.environment,
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def started(self) -> Counter[str]:
        """Calls begun so far, by the digest of what was asked."""
        return read_call_log(self.calls).started

    def part_rows(self) -> list[dict[str, str]]:
        """All rows of the copied results files."""
        rows: list[dict[str, str]] = []
        for path in sorted(self.results.glob("*.csv")):
            with path.open(newline="", encoding="utf-8-sig") as handle:
                rows += csv.DictReader(handle)
        return rows


def digest_of(title: str, text: str) -> str:
    """The digest the call log has for a row with one source column."""
    return fields_digest(Prompt("", ((title, text),)))


def error_shape(text: str) -> dict[str, str]:
    """The one JSON shape of errors."""
    error: dict[str, str] = json.loads(text)["error"]
    return error
