"""Every setting: its environment variable, default and meaning. Every bad value is one sentence."""

from collections.abc import Callable
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from addon import setting_values as values


class SettingsError(Exception):
    """Settings are missing or cannot be used.

    Parameters
    ----------
    problems
        One sentence for the operator per setting.
    """

    def __init__(self, *problems: str) -> None:
        super().__init__("\n".join(problems))
        self.problems = problems


def _setting(
    variable: str, default: Any, meaning: str, parse: Callable[[str], Any], *, secret: bool = False
) -> Any:
    metadata = {"variable": variable, "meaning": meaning, "parse": parse, "secret": secret}
    return field(default=default, metadata=metadata, repr=not secret)


@dataclass(frozen=True)
class Settings:
    """The service's configuration; build it with `environment.from_environment`."""

    store: str = _setting(
        "ADDON_STORE",
        "sqlite",
        "where leases, jobs and the idempotency index live: `sqlite` (one file) or `firestore`",
        values.choice("sqlite", "firestore"),
    )
    state: Path = _setting(
        "ADDON_STATE",
        Path(".state"),
        "folder for the SQLite file and for everything local mode keeps",
        values.path,
    )
    project: str = _setting(
        "ADDON_PROJECT", "local", "Google Cloud project of Firestore, Cloud Tasks and Vertex AI", values.word
    )
    queue: str = _setting(
        "ADDON_QUEUE",
        "projects/local/locations/local/queues/summaries",
        "full name of the Cloud Tasks queue",
        values.text,
    )
    base_url: str = _setting(
        "ADDON_BASE_URL",
        "http://127.0.0.1:8080",
        "public URL of this service; buttons and tasks call it, and every caller's token must name it",
        values.url,
    )
    sheets_endpoint: str = _setting(
        "ADDON_SHEETS_ENDPOINT", "https://sheets.googleapis.com", "where the Sheets API is", values.url
    )
    drive_endpoint: str = _setting(
        "ADDON_DRIVE_ENDPOINT", "https://www.googleapis.com", "where the Drive API is", values.url
    )
    tasks_endpoint: str = _setting(
        "ADDON_TASKS_ENDPOINT",
        "https://cloudtasks.googleapis.com",
        "where the Cloud Tasks API is",
        values.url,
    )
    certs_url: str = _setting(
        "ADDON_CERTS_URL",
        "https://www.googleapis.com/oauth2/v1/certs",
        "where the certificates are that sign ID tokens",
        values.url,
    )
    issuers: tuple[str, ...] = _setting(
        "ADDON_ISSUERS",
        ("https://accounts.google.com", "accounts.google.com"),
        "who may have issued an ID token",
        values.issuers,
    )
    system_account: str = _setting(
        "ADDON_SYSTEM_ACCOUNT",
        "",
        "e-mail of the add-on's own service account: `serviceAccountEmail` of "
        "`gcloud workspace-add-ons get-authorization`",
        values.email,
    )
    client_id: str = _setting(
        "ADDON_CLIENT_ID", "", "OAuth client of the add-on: `oauthClientId` of the same command", values.word
    )
    worker_account: str = _setting(
        "ADDON_WORKER_ACCOUNT",
        "",
        "e-mail of the service account this service runs as; spreadsheets are shared with it",
        values.email,
    )
    tasks_account: str = _setting(
        "ADDON_TASKS_ACCOUNT", "", "e-mail of the service account that task calls prove to be", values.email
    )
    scheduler_account: str = _setting(
        "ADDON_SCHEDULER_ACCOUNT",
        "",
        "e-mail of the service account that scheduler calls prove to be",
        values.email,
    )
    credentials: Path | None = _setting(
        "ADDON_CREDENTIALS",
        None,
        "file with the worker's credentials; without it, the credentials the environment offers",
        values.path,
    )
    worker_access: str = _setting(
        "ADDON_WORKER_ACCESS",
        "share",
        "how the worker reaches sheets and files: `share`, `delegation` or `shared_drive`",
        values.choice("share", "delegation", "shared_drive"),
    )
    shared_drive: str = _setting(
        "ADDON_SHARED_DRIVE", "", "id of the shared drive for results, for `shared_drive`", values.word
    )
    admins: tuple[str, ...] = _setting(
        "ADDON_ADMINS", (), "e-mail addresses of people who may see and retry every job", values.emails
    )
    model: str = _setting(
        "ADDON_MODEL",
        "builtin",
        "the language model: `builtin` (offline, extractive), `gemini:MODEL` (API key), `vertex:MODEL`, "
        "`openai:MODEL` (any compatible server), or `package.module:function` of your own",
        values.model,
    )
    model_key: str = _setting("ADDON_MODEL_KEY", "", "the provider's API key", values.text, secret=True)
    model_endpoint: str = _setting(
        "ADDON_MODEL_ENDPOINT",
        "",
        "root URL of the provider's API, where it is not the usual one",
        values.url,
    )
    model_location: str = _setting(
        "ADDON_MODEL_LOCATION", "global", "location of a `vertex` model", values.word
    )
    model_thinking: str = _setting(
        "ADDON_MODEL_THINKING",
        "least",
        "how much the model thinks first: `least` (as little as it can), `default`, a level such as `low`, "
        "or a number of tokens",
        values.word,
    )
    model_temperature: float | None = _setting(
        "ADDON_MODEL_TEMPERATURE",
        None,
        "how freely the model writes; without it, as the provider has set it",
        values.number(float, 0, 2),
    )
    model_output: int = _setting(
        "ADDON_MODEL_OUTPUT",
        4096,
        "most tokens of one answer, thinking included",
        values.number(int, 16, 65_536),
    )
    model_price: str = _setting(
        "ADDON_MODEL_PRICE",
        "",
        "US dollars per million input and output tokens, such as `0.10,0.40`, for a model not known here",
        values.price,
    )
    model_timeout: float = _setting(
        "ADDON_MODEL_TIMEOUT", 60.0, "seconds one model call may take", values.number(float, 0.1, 600)
    )
    requests_per_minute: int = _setting(
        "ADDON_REQUESTS_PER_MINUTE",
        0,
        "model calls this process begins in any 60 seconds at most; 0 for no limit",
        values.number(int, 0, 1_000_000),
    )
    concurrency: int = _setting(
        "ADDON_CONCURRENCY", 16, "model calls in flight per chain", values.number(int, 1, 256)
    )
    link_budget: float = _setting(
        "ADDON_LINK_BUDGET",
        280.0,
        "seconds one link of a chain works before it hands over",
        values.number(float, 0.1, 1500),
    )
    lease_ttl: float = _setting(
        "ADDON_LEASE_TTL", 60.0, "seconds a silent worker keeps its lease", values.number(float, 1, 600)
    )
    commit_rows: int = _setting(
        "ADDON_COMMIT_ROWS", 100, "most answers in one commit", values.number(int, 1, 400)
    )
    commit_seconds: float = _setting(
        "ADDON_COMMIT_SECONDS", 1.0, "longest an answer waits for its commit", values.number(float, 0.01, 30)
    )
    display_seconds: float = _setting(
        "ADDON_DISPLAY_SECONDS",
        5.0,
        "seconds between a job's writes to the sheet",
        values.number(float, 0.05, 300),
    )
    rows_per_shard: int = _setting(
        "ADDON_ROWS_PER_SHARD", 20_000, "rows one chain works through", values.number(int, 1, 1_000_000)
    )
    retention_days: int = _setting(
        "ADDON_RETENTION_DAYS",
        180,
        "days the index remembers a summary; its file stays",
        values.number(int, 1, 3650),
    )
    sources: Path | None = _setting(
        "ADDON_SOURCES",
        None,
        "JSON file of the webhooks whose deliveries become rows: their secrets and how they sign",
        values.path,
    )
    channels: Path | None = _setting(
        "ADDON_CHANNELS",
        None,
        "JSON file of where messages go: Slack, webhooks, e-mail, with their secrets",
        values.path,
    )
    content_keys: tuple[bytes, ...] = _setting(
        "ADDON_CONTENT_KEYS",
        (),
        "keys of 32 bytes in base64, with commas between them, that seal what comes in until it is a row; "
        "the first seals, all open",
        values.keys,
        secret=True,
    )
    log_format: str = _setting(
        "ADDON_LOG_FORMAT",
        "text",
        "how `addon serve` logs: `text` for a terminal, `json` for Cloud Logging, every event",
        values.choice("text", "json"),
    )


NEEDED_TO_SERVE = ("system_account", "client_id", "worker_account", "tasks_account", "scheduler_account")
"""Settings without which no caller can be told from another."""


def missing_to_serve(settings: Settings) -> list[str]:
    """One sentence for each setting that a service needs and that is not set."""
    needed = [item for item in fields(Settings) if item.name in NEEDED_TO_SERVE]
    return [
        f"{item.metadata['variable']} is not set; it is the {item.metadata['meaning']}."
        for item in needed
        if not getattr(settings, item.name)
    ]
