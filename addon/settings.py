"""Every setting: its environment variable, default and meaning. A bad value is one sentence at start."""

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit


class SettingsError(Exception):
    """A setting is missing or cannot be used; the message is the sentence for the operator."""


def _setting(variable: str, default: Any, meaning: str, parse: Callable[[str], Any]) -> Any:
    return field(default=default, metadata={"variable": variable, "meaning": meaning, "parse": parse})


def _text(value: str) -> str:
    return value.strip()


def _choice(*allowed: str) -> Callable[[str], str]:
    def parse(value: str) -> str:
        if value not in allowed:
            raise ValueError(f"must be one of {', '.join(allowed)}")
        return value

    return parse


def _model(value: str) -> str:
    if value != "builtin" and not re.fullmatch(r"[A-Za-z_][\w.]*:[A-Za-z_]\w*", value):
        raise ValueError("must be builtin, or package.module:function that makes a LanguageModel")
    return value


def _number(kind: type[int] | type[float], low: float, high: float) -> Callable[[str], int | float]:
    def parse(value: str) -> int | float:
        word = "a whole number" if kind is int else "a number"
        try:
            number = kind(value)
        except ValueError:
            raise ValueError(f"must be {word} from {low:g} to {high:g}") from None
        if not low <= number <= high:
            raise ValueError(f"must be {word} from {low:g} to {high:g}")
        return number

    return parse


def _path(value: str) -> Path:
    try:
        return Path(value).expanduser()
    except RuntimeError:
        raise ValueError("must not begin with ~ and a name that has no home folder here") from None


def _url(value: str) -> str:
    try:
        parts = urlsplit(value)
        complete = parts.scheme in {"http", "https"} and parts.hostname and parts.port != 0
    except ValueError:  # brackets that do not match, or a port that is no number
        complete = False
    if not complete or parts.query or parts.fragment:
        raise ValueError("must be a URL such as https://summaries.example.com")
    if parts.scheme == "http" and not is_loopback(value):
        raise ValueError("must use https, unless it points at this machine (127.0.0.1 or localhost)")
    return value.rstrip("/")


def is_loopback(url: str) -> bool:
    """Whether ``url`` points at this machine."""
    return urlsplit(url).hostname in {"127.0.0.1", "localhost", "::1"}


@dataclass(frozen=True)
class Settings:
    """The service's configuration; build it with `from_environment`."""

    store: str = _setting(
        "ADDON_STORE",
        "sqlite",
        "where leases, jobs and the idempotency index live: `sqlite` (one file) or `firestore`",
        _choice("sqlite", "firestore"),
    )
    state: Path = _setting(
        "ADDON_STATE",
        Path(".state"),
        "folder for the SQLite file and for everything local mode keeps",
        _path,
    )
    project: str = _setting(
        "ADDON_PROJECT", "local", "Google Cloud project of Firestore and Cloud Tasks", _text
    )
    queue: str = _setting(
        "ADDON_QUEUE",
        "projects/local/locations/local/queues/summaries",
        "full name of the Cloud Tasks queue",
        _text,
    )
    base_url: str = _setting(
        "ADDON_BASE_URL",
        "http://127.0.0.1:8080",
        "public URL of this service; buttons and tasks call it",
        _url,
    )
    sheets_endpoint: str = _setting(
        "ADDON_SHEETS_ENDPOINT", "https://sheets.googleapis.com", "where the Sheets API is", _url
    )
    drive_endpoint: str = _setting(
        "ADDON_DRIVE_ENDPOINT", "https://www.googleapis.com", "where the Drive API is", _url
    )
    tasks_endpoint: str = _setting(
        "ADDON_TASKS_ENDPOINT", "https://cloudtasks.googleapis.com", "where the Cloud Tasks API is", _url
    )
    local_identity: Path | None = _setting(
        "ADDON_LOCAL_IDENTITY",
        None,
        "file with the local callers' tokens that the simulator wrote; only for endpoints on this machine",
        _path,
    )
    model: str = _setting(
        "ADDON_MODEL",
        "builtin",
        "the language model: `builtin` (offline, extractive), or `package.module:function` of your own",
        _model,
    )
    model_timeout: float = _setting(
        "ADDON_MODEL_TIMEOUT", 60.0, "seconds one model call may take", _number(float, 0.1, 600)
    )
    concurrency: int = _setting(
        "ADDON_CONCURRENCY", 16, "model calls in flight per chain", _number(int, 1, 256)
    )
    link_budget: float = _setting(
        "ADDON_LINK_BUDGET",
        280.0,
        "seconds one link of a chain works before it hands over",
        _number(float, 0.1, 1500),
    )
    lease_ttl: float = _setting(
        "ADDON_LEASE_TTL", 60.0, "seconds a silent worker keeps its lease", _number(float, 1, 600)
    )
    commit_rows: int = _setting("ADDON_COMMIT_ROWS", 100, "most answers in one commit", _number(int, 1, 400))
    commit_seconds: float = _setting(
        "ADDON_COMMIT_SECONDS", 1.0, "longest an answer waits for its commit", _number(float, 0.01, 30)
    )
    display_seconds: float = _setting(
        "ADDON_DISPLAY_SECONDS", 5.0, "seconds between writes to the sheet", _number(float, 0.05, 300)
    )
    rows_per_shard: int = _setting(
        "ADDON_ROWS_PER_SHARD", 20_000, "rows one chain works through", _number(int, 1, 1_000_000)
    )
    retention_days: int = _setting(
        "ADDON_RETENTION_DAYS",
        180,
        "days the index remembers a summary; its file stays",
        _number(int, 1, 3650),
    )
    log_format: str = _setting(
        "ADDON_LOG_FORMAT",
        "text",
        "how `addon serve` logs: `text` for a terminal, `json` for Cloud Logging, every event",
        _choice("text", "json"),
    )

    @property
    def local(self) -> bool:
        """Whether every Google endpoint is on this machine, i.e. the simulator."""
        return all(map(is_loopback, (self.sheets_endpoint, self.drive_endpoint, self.tasks_endpoint)))


def from_environment(environment: Mapping[str, str] | None = None) -> Settings:
    """Read settings from environment variables.

    Raises
    ------
    SettingsError
        A variable cannot be used, or an unknown ``ADDON_`` variable is set (most often a misspelling).
    """
    source = os.environ if environment is None else environment
    values: dict[str, Any] = {}
    known = {item.metadata["variable"] for item in fields(Settings)}
    for name in sorted(source):
        if name.startswith("ADDON_") and name not in known:
            raise SettingsError(f"{name} is not a setting of this program; `addon doctor` lists them all.")
    for item in fields(Settings):
        variable = item.metadata["variable"]
        raw = source.get(variable, "").strip()
        if not raw:
            continue
        try:
            values[item.name] = item.metadata["parse"](raw)
        except ValueError as error:
            raise SettingsError(f"{variable} is {raw!r}, but {error}.") from None
    settings = Settings(**values)
    _check_together(settings)
    return settings


def _check_together(settings: Settings) -> None:
    if settings.local_identity is not None and not settings.local:
        raise SettingsError(
            "ADDON_LOCAL_IDENTITY is for the simulator only, "
            "but a Google endpoint points away from this machine; unset one of them."
        )
    parts = settings.queue.split("/")
    if len(parts) != 6 or parts[0::2] != ["projects", "locations", "queues"] or not all(parts):
        raise SettingsError(
            f"ADDON_QUEUE is {settings.queue!r}, but must look like projects/P/locations/L/queues/Q."
        )
