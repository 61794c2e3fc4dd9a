"""Settings: every variable, its good and bad values, one sentence each."""

from dataclasses import fields
from pathlib import Path

import pytest

from addon.settings import Settings, SettingsError, from_environment

GOOD = {
    "ADDON_STORE": ("firestore", "firestore"),
    "ADDON_STATE": ("/tmp/x", Path("/tmp/x")),
    "ADDON_PROJECT": ("p", "p"),
    "ADDON_QUEUE": ("projects/p/locations/l/queues/q",) * 2,
    "ADDON_BASE_URL": ("https://a.example.com/", "https://a.example.com"),
    "ADDON_SHEETS_ENDPOINT": ("http://127.0.0.1:1", "http://127.0.0.1:1"),
    "ADDON_DRIVE_ENDPOINT": ("http://localhost:2", "http://localhost:2"),
    "ADDON_TASKS_ENDPOINT": ("https://tasks.example.com",) * 2,
    "ADDON_MODEL": ("my.module:make", "my.module:make"),
    "ADDON_MODEL_TIMEOUT": ("2.5", 2.5),
    "ADDON_CONCURRENCY": ("64", 64),
    "ADDON_LINK_BUDGET": ("10", 10.0),
    "ADDON_LEASE_TTL": ("30", 30.0),
    "ADDON_COMMIT_ROWS": ("50", 50),
    "ADDON_COMMIT_SECONDS": ("0.5", 0.5),
    "ADDON_DISPLAY_SECONDS": ("2", 2.0),
    "ADDON_ROWS_PER_SHARD": ("500", 500),
    "ADDON_RETENTION_DAYS": ("7", 7),
    "ADDON_LOG_FORMAT": ("json", "json"),
}
BAD = {
    "ADDON_STORE": "mysql",
    "ADDON_QUEUE": "summaries",
    "ADDON_BASE_URL": "ftp://x",
    "ADDON_SHEETS_ENDPOINT": "http://sheets.example.com",
    "ADDON_DRIVE_ENDPOINT": "drive",
    "ADDON_TASKS_ENDPOINT": "https://x?y=1",
    "ADDON_MODEL": "YOUR_MODEL_HERE",
    "ADDON_MODEL_TIMEOUT": "soon",
    "ADDON_CONCURRENCY": "0",
    "ADDON_LINK_BUDGET": "-1",
    "ADDON_LEASE_TTL": "0.1",
    "ADDON_COMMIT_ROWS": "1.5",
    "ADDON_COMMIT_SECONDS": "nan",
    "ADDON_DISPLAY_SECONDS": "",
    "ADDON_ROWS_PER_SHARD": "many",
    "ADDON_RETENTION_DAYS": "100000",
    "ADDON_LOG_FORMAT": "xml",
}


def test_the_defaults_are_what_an_empty_environment_gives() -> None:
    assert from_environment({}) == Settings()


def test_every_variable_is_tried_here() -> None:
    variables = {item.metadata["variable"] for item in fields(Settings)}
    assert variables - set(GOOD) == {"ADDON_LOCAL_IDENTITY"}
    assert all(item.metadata["meaning"] for item in fields(Settings))


@pytest.mark.parametrize("variable", GOOD)
def test_a_good_value_is_taken(variable: str) -> None:
    raw, expected = GOOD[variable]
    name = next(item.name for item in fields(Settings) if item.metadata["variable"] == variable)
    assert getattr(from_environment({variable: raw}), name) == expected


@pytest.mark.parametrize("variable", [name for name, value in BAD.items() if value])
def test_a_bad_value_is_one_sentence(variable: str) -> None:
    with pytest.raises(SettingsError) as error:
        from_environment({variable: BAD[variable]})
    sentence = str(error.value)
    assert variable in sentence
    assert sentence.endswith(".")
    assert "\n" not in sentence


def test_an_empty_value_is_the_default() -> None:
    assert from_environment({"ADDON_DISPLAY_SECONDS": " "}) == Settings()


def test_a_misspelt_variable_is_not_passed_over() -> None:
    with pytest.raises(SettingsError, match="ADDON_CONCURENCY"):
        from_environment({"ADDON_CONCURENCY": "4"})


def test_the_simulators_identity_is_for_the_simulator_only(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="ADDON_LOCAL_IDENTITY"):
        from_environment({"ADDON_LOCAL_IDENTITY": str(tmp_path / "identity.json")})
    local = {f"ADDON_{name}_ENDPOINT": "http://127.0.0.1:1" for name in ("SHEETS", "DRIVE", "TASKS")}
    assert from_environment({**local, "ADDON_LOCAL_IDENTITY": "/x"}).local
