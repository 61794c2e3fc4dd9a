"""Settings: every variable, its good and bad values, one sentence each."""

import os
from dataclasses import fields
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from addon.environment import examine_environment, from_environment
from addon.setting_values import is_loopback
from addon.settings import NEEDED_TO_SERVE, Settings, SettingsError, missing_to_serve

KEY = "A" * 43 + "="
GOOD: dict[str, list[tuple[str, object]]] = {
    "ADDON_STORE": [("sqlite", "sqlite"), ("firestore", "firestore")],
    "ADDON_STATE": [("/tmp/x", Path("/tmp/x")), ("~/x", Path.home() / "x"), ("rel", Path("rel"))],
    "ADDON_PROJECT": [("p", "p")],
    "ADDON_QUEUE": [("projects/p/locations/l/queues/q",) * 2],
    "ADDON_BASE_URL": [
        ("https://a.example.com/", "https://a.example.com"),
        ("https://a.example.com:8443/base/", "https://a.example.com:8443/base"),
        ("http://[::1]:8080", "http://[::1]:8080"),
    ],
    "ADDON_SHEETS_ENDPOINT": [("http://127.0.0.1:1", "http://127.0.0.1:1"), ("https://s.example.com",) * 2],
    "ADDON_DRIVE_ENDPOINT": [("http://localhost:2", "http://localhost:2")],
    "ADDON_TASKS_ENDPOINT": [("https://tasks.example.com",) * 2],
    "ADDON_CERTS_URL": [("https://certs.example.com/x", "https://certs.example.com/x")],
    "ADDON_ISSUERS": [("a, https://b.example.com", ("a", "https://b.example.com"))],
    "ADDON_SYSTEM_ACCOUNT": [("service-1@gcp-sa-gsuiteaddons.iam.gserviceaccount.com",) * 2],
    "ADDON_CLIENT_ID": [("123-abc.apps.googleusercontent.com",) * 2],
    "ADDON_WORKER_ACCOUNT": [("worker@p.iam.gserviceaccount.com",) * 2],
    "ADDON_TASKS_ACCOUNT": [("tasks@p.iam.gserviceaccount.com",) * 2],
    "ADDON_SCHEDULER_ACCOUNT": [("scheduler@p.iam.gserviceaccount.com",) * 2],
    "ADDON_CREDENTIALS": [("/run/key.json", Path("/run/key.json"))],
    "ADDON_WORKER_ACCESS": [("share", "share"), ("delegation", "delegation")],
    "ADDON_SHARED_DRIVE": [("0AAbc-_d", "0AAbc-_d")],
    "ADDON_ADMINS": [("You@Example.com, b@c.example", ("you@example.com", "b@c.example"))],
    "ADDON_MODEL": [
        *(
            (name, name)
            for name in ("my.module:make", "builtin", "gemini:gemini-2.5-flash", "openai:llama3:8b")
        ),
        ("vertex:gemini-3-flash", "vertex:gemini-3-flash"),
    ],
    "ADDON_MODEL_KEY": [("secret key", "secret key")],
    "ADDON_MODEL_ENDPOINT": [("http://127.0.0.1:11434/v1/", "http://127.0.0.1:11434/v1")],
    "ADDON_MODEL_LOCATION": [("europe-west1", "europe-west1")],
    "ADDON_MODEL_TEMPERATURE": [("0", 0.0), ("2", 2.0)],
    "ADDON_MODEL_THINKING": [("least", "least"), ("128", "128")],
    "ADDON_MODEL_OUTPUT": [("16", 16), ("65536", 65_536)],
    "ADDON_MODEL_PRICE": [("0.10,0.40", "0.10,0.40"), ("1,2", "1,2")],
    "ADDON_REQUESTS_PER_MINUTE": [("0", 0), ("1000", 1000)],
    "ADDON_MODEL_TIMEOUT": [("2.5", 2.5), ("0.1", 0.1), ("600", 600.0)],
    "ADDON_CONCURRENCY": [("1", 1), ("256", 256)],
    "ADDON_LINK_BUDGET": [("10", 10.0), ("0.1", 0.1), ("1500", 1500.0)],
    "ADDON_LEASE_TTL": [("1", 1.0), ("600", 600.0)],
    "ADDON_COMMIT_ROWS": [("1", 1), ("400", 400)],
    "ADDON_COMMIT_SECONDS": [("0.01", 0.01), ("30", 30.0)],
    "ADDON_DISPLAY_SECONDS": [("0.05", 0.05), ("300", 300.0)],
    "ADDON_ROWS_PER_SHARD": [("1", 1), ("1000000", 1_000_000)],
    "ADDON_RETENTION_DAYS": [("1", 1), ("3650", 3650)],
    "ADDON_LOG_FORMAT": [("text", "text"), ("json", "json")],
    "ADDON_CHANNELS": [("/run/channels.json", Path("/run/channels.json"))],
    "ADDON_SOURCES": [("/run/sources.json", Path("/run/sources.json"))],
    "ADDON_CONTENT_KEYS": [
        (KEY, (bytes(32),)),
        (f"{KEY}, {KEY}", (bytes(32), bytes(32))),
    ],
}
URLS = [
    "ftp://x",
    "x",
    "//x",
    "http://",
    "https://x?y=1",
    "https://x#y",
    "http://[::1",
    "http://localhost:port",
]
FLOATS = ["soon", "nan", "inf", "-1", "0", "1e9", "1,5"]
WHOLE = ["many", "0", "-1", "1.5", "1e9", "10000000", "9" * 5000]
ACCOUNTS = ["you", "a@b", "a b@c.example"]
BAD: dict[str, list[str]] = {
    "ADDON_STORE": ["mysql", "SQLITE", "sqlite,firestore"],
    "ADDON_STATE": ["~nobody-has-this-name/x"],
    "ADDON_QUEUE": [
        "summaries",
        "projects/p/locations/l/queues/",
        "projects/p/queues/q",
        "/projects/p/locations/l/q",
    ],
    "ADDON_BASE_URL": [*URLS, "http://a.example.com"],
    "ADDON_SHEETS_ENDPOINT": [*URLS, "http://sheets.example.com"],
    "ADDON_DRIVE_ENDPOINT": [*URLS, "http://127.0.0.1.example.com"],
    "ADDON_TASKS_ENDPOINT": [*URLS, "http://localhost@example.com"],
    "ADDON_PROJECT": ["a b", "p/q"],
    "ADDON_CERTS_URL": [*URLS, "http://certs.example.com"],
    "ADDON_ISSUERS": ["a,", "a b"],
    **{f"ADDON_{name}_ACCOUNT": ACCOUNTS for name in ("SYSTEM", "WORKER", "TASKS", "SCHEDULER")},
    "ADDON_CLIENT_ID": ["a b", "a/b"],
    "ADDON_CREDENTIALS": ["~nobody-has-this-name/x"],
    "ADDON_WORKER_ACCESS": ["Share", "domain"],
    "ADDON_SHARED_DRIVE": ["a b", "https://drive.google.com/x"],
    "ADDON_ADMINS": ["you", "a@b.example,", "a@b.example;c@d.example"],
    "ADDON_MODEL": [
        "YOUR_MODEL_HERE",
        "module",
        "module:",
        ":make",
        "a b:c",
        "gpt-4:latest",
        "gemini:",
        "openai:a b",
        "vertex:-x",
    ],
    "ADDON_MODEL_ENDPOINT": [*URLS, "http://models.example.com"],
    "ADDON_MODEL_LOCATION": ["a b"],
    "ADDON_MODEL_TEMPERATURE": ["hot", "-1", "2.1", "nan"],
    "ADDON_MODEL_THINKING": ["a lot"],
    "ADDON_MODEL_OUTPUT": [*WHOLE, "15"],
    "ADDON_MODEL_PRICE": ["1", "1;2", "-1,2", "a,b"],
    "ADDON_REQUESTS_PER_MINUTE": ["many", "-1", "1.5", "1e9", "10000000"],
    "ADDON_MODEL_TIMEOUT": FLOATS,
    "ADDON_CONCURRENCY": [*WHOLE, "257"],
    "ADDON_LINK_BUDGET": [*FLOATS, "1500.1"],
    "ADDON_LEASE_TTL": [*FLOATS, "0.9"],
    "ADDON_COMMIT_ROWS": [*WHOLE, "401"],
    "ADDON_COMMIT_SECONDS": FLOATS,
    "ADDON_DISPLAY_SECONDS": FLOATS,
    "ADDON_ROWS_PER_SHARD": WHOLE,
    "ADDON_RETENTION_DAYS": [*WHOLE, "3651"],
    "ADDON_LOG_FORMAT": ["JSON", "xml"],
    "ADDON_CHANNELS": ["~nobody-has-this-name/x"],
    "ADDON_SOURCES": ["~nobody-has-this-name/x"],
    "ADDON_CONTENT_KEYS": ["AAAA", f"{KEY},", "%%%%", "é"],
}
ANY_TEXT_IS_GOOD = {"ADDON_MODEL_KEY"}
LOCAL = {f"ADDON_{name}_ENDPOINT": "http://127.0.0.1:1" for name in ("SHEETS", "DRIVE", "TASKS")}
SECRET = {item.metadata["variable"] for item in fields(Settings) if item.metadata["secret"]}
VARIABLES = {item.metadata["variable"]: item.name for item in fields(Settings)}


def pairs(table: dict[str, list]) -> list[tuple]:  # type: ignore[type-arg]
    return [(variable, value) for variable, values in table.items() for value in values]


def test_the_defaults_are_what_an_empty_environment_gives() -> None:
    assert from_environment({}) == Settings()


def test_every_variable_is_tried_here_and_explained_there() -> None:
    assert {*GOOD} == {*BAD} | ANY_TEXT_IS_GOOD == {*VARIABLES}
    assert all(item.metadata["meaning"] for item in fields(Settings))


@pytest.mark.parametrize(("variable", "value"), pairs(GOOD))
def test_a_good_value_is_taken(variable: str, value: tuple[str, object]) -> None:
    raw, taken = value
    settings = from_environment({variable: f" {raw} "})
    assert getattr(settings, VARIABLES[variable]) == taken
    assert type(getattr(settings, VARIABLES[variable])) is type(taken)


@pytest.mark.parametrize(("variable", "value"), pairs(BAD), ids=lambda text: text[:40])
def test_a_bad_value_is_one_sentence(variable: str, value: str) -> None:
    with pytest.raises(SettingsError) as error:
        from_environment({variable: value})
    sentence = str(error.value)
    shown = "unusable" if variable in SECRET else repr(value)
    assert sentence.startswith(f"{variable} is {shown}, but must ")
    assert sentence.endswith(".")
    assert "\n" not in sentence
    assert error.value.__cause__ is None
    assert error.value.__suppress_context__ or error.value.__context__ is None


@given(st.sampled_from(sorted(VARIABLES)), st.text(st.characters(exclude_characters="\x00")))
def test_whatever_is_set_is_taken_or_refused_in_one_sentence(variable: str, value: str) -> None:
    try:
        from_environment({variable: value})
    except SettingsError as error:
        assert str(error).startswith(variable)
        assert "\n" not in str(error)


@pytest.mark.parametrize("variable", VARIABLES)
@pytest.mark.parametrize("value", ["", "  "])
def test_an_empty_value_is_the_default(variable: str, value: str) -> None:
    assert from_environment({variable: value}) == Settings()


def test_variables_of_other_programs_are_none_of_its_business() -> None:
    assert from_environment({"PATH": "/bin", "MY_ADDON_STORE": "x", "addon_store": "x"}) == Settings()


@pytest.mark.parametrize("variable", ["ADDON_CONCURENCY", "ADDON_", "ADDON_store"])
def test_a_misspelt_variable_is_not_passed_over(variable: str) -> None:
    with pytest.raises(SettingsError, match=f"{variable} is not a setting of this program"):
        from_environment({variable: "4"})


def test_the_process_environment_is_read_where_none_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith("ADDON_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("ADDON_CONCURRENCY", "3")
    assert from_environment().concurrency == 3


@pytest.mark.parametrize("away", LOCAL)
def test_certificates_of_this_machine_are_not_believed_where_google_is_elsewhere(away: str) -> None:
    environment = {**LOCAL, "ADDON_CERTS_URL": "http://127.0.0.1:1/certs"}
    assert from_environment(environment).certs_url == "http://127.0.0.1:1/certs"
    with pytest.raises(SettingsError, match=r"^ADDON_CERTS_URL points at this machine.*\.$"):
        from_environment({**environment, away: "https://away.example.com"})


def test_a_shared_drive_must_be_named() -> None:
    with pytest.raises(SettingsError, match="ADDON_SHARED_DRIVE does not say which drive"):
        from_environment({"ADDON_WORKER_ACCESS": "shared_drive"})


def test_every_problem_is_named_at_once_and_the_rest_is_read() -> None:
    environment = {
        "ADDON_STORE": "mysql",
        "ADDON_CONCURENCY": "4",
        "ADDON_LEASE_TTL": "0",
        "ADDON_QUEUE": "q",
        "ADDON_COMMIT_ROWS": "7",
    }
    settings, problems = examine_environment(environment)
    assert [problem.split()[0] for problem in problems] == [
        "ADDON_CONCURENCY",
        "ADDON_STORE",
        "ADDON_LEASE_TTL",
        "ADDON_QUEUE",
    ]
    assert settings.commit_rows == 7 and settings.store == "sqlite"
    with pytest.raises(SettingsError) as error:
        from_environment(environment)
    assert error.value.problems == tuple(problems)


def test_what_a_service_needs_and_has_not_is_named() -> None:
    assert len(missing_to_serve(Settings())) == 5
    assert missing_to_serve(Settings(**dict.fromkeys(NEEDED_TO_SERVE, "x"))) == []


def test_a_secret_is_neither_shown_nor_quoted() -> None:
    assert "hush" not in repr(Settings(model_key="hush", content_keys=(b"hush",)))


@pytest.mark.parametrize(
    ("url", "here"),
    [
        ("http://127.0.0.1:8080", True),
        ("http://LOCALHOST/x", True),
        ("http://[::1]", True),
        ("http://127.0.0.1.example.com", False),
        ("http://localhost@example.com", False),
        ("http://0.0.0.0", False),
        ("https://sheets.googleapis.com", False),
    ],
)
def test_what_counts_as_this_machine(url: str, here: bool) -> None:
    assert is_loopback(url) is here
