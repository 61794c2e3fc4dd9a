"""`addon doctor` and `addon serve`, for somebody who has set nothing up, and for somebody who has."""

import json
from dataclasses import fields
from pathlib import Path

import pytest
from terminal import Terminal

from addon.google.credentials import SCOPES
from addon.settings import NEEDED_TO_SERVE, Settings
from addon.simulator.keys import make_key
from addon.simulator.server import Simulator

STORE_CLOCK = "answers; its clock says"


def _doctor(terminal: Terminal) -> tuple[int, list[str], list[str]]:
    """Exit status, settings lines, check lines."""
    done = terminal.addon("doctor")
    assert done.stderr == ""
    settings, checks = done.stdout.split("\n\n")
    return done.returncode, settings.splitlines(), checks.splitlines()


def _newcomer(folder: Path, **settings: str) -> Terminal:
    return Terminal(folder, **{"ADDON_MODEL": "builtin"} | settings)


def test_with_nothing_configured_all_is_well_and_nothing_is_left_behind(tmp_path: Path) -> None:
    status, settings, checks = _doctor(_newcomer(tmp_path))
    assert status == 0
    assert [line.split(" = ")[0] for line in settings] == [
        item.metadata["variable"] for item in fields(Settings)
    ]
    assert [line.split()[0] for line in checks] == ["ok", "ok", "note"]
    assert "will be made by the first run" in checks[0]
    assert "`addon run` and `addon demo` need none" in checks[2]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("ADDON_STATE", "elsewhere"),
        ("ADDON_PROJECT", "my-project"),
        ("ADDON_MODEL_TIMEOUT", "2.5"),
        ("ADDON_CONCURRENCY", "3"),
        ("ADDON_LINK_BUDGET", "100"),
        ("ADDON_LEASE_TTL", "30"),
        ("ADDON_COMMIT_ROWS", "50"),
        ("ADDON_COMMIT_SECONDS", "0.5"),
        ("ADDON_DISPLAY_SECONDS", "2"),
        ("ADDON_ROWS_PER_SHARD", "500"),
        ("ADDON_RETENTION_DAYS", "30"),
    ],
)
def test_a_setting_is_shown_as_it_was_set(tmp_path: Path, variable: str, value: str) -> None:
    status, settings, _ = _doctor(_newcomer(tmp_path, **{variable: value}))
    assert status == 0
    (line,) = [line for line in settings if line.startswith(f"{variable} ")]
    assert line.startswith(f"{variable} = {value}: ")


def test_a_state_folder_that_cannot_be_is_wrong(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    status, _, checks = _doctor(_newcomer(tmp_path, ADDON_STATE="file/below"))
    assert status == 1
    assert checks[0].startswith(f"WRONG  {tmp_path / 'file'} is a file")


def test_the_store_in_the_cloud_is_tried(tmp_path: Path, firestore_emulator: str) -> None:
    settings = {"ADDON_STORE": "firestore", "FIRESTORE_EMULATOR_HOST": firestore_emulator}
    status, _, checks = _doctor(_newcomer(tmp_path, **settings))
    assert status == 0
    assert checks[0].startswith(f"ok     The store (firestore) {STORE_CLOCK}")


def test_a_service_half_configured_is_told_what_is_missing(tmp_path: Path) -> None:
    terminal = _newcomer(tmp_path, ADDON_BASE_URL="https://summaries.example.com")
    status, _, checks = _doctor(terminal)
    assert status == 1
    missing = [line.split()[1] for line in checks if "is not set" in line]
    assert missing == [f"ADDON_{name.upper()}" for name in NEEDED_TO_SERVE]


def _service(folder: Path, simulator: Simulator, **more: str) -> Terminal:
    return _newcomer(folder, **simulator.service_environment | more)


def test_a_configured_service_is_tried_in_every_part(tmp_path: Path, store_kind: str) -> None:
    with Simulator(tmp_path / "google") as simulator:
        status, _, checks = _doctor(_service(tmp_path, simulator, ADDON_STORE=store_kind))
        assert (status, len(checks)) == (0, 7), checks
        assert all(line.startswith("ok ") for line in checks)
        assert f"The store ({store_kind}) {STORE_CLOCK}" in checks[0]


def test_a_wrong_token_and_a_closed_port_are_sentences(tmp_path: Path) -> None:
    with Simulator(tmp_path / "google") as simulator:
        data = json.loads(simulator.worker_file.read_text())
        data["private_key"] = make_key("somebody else").private
        (tmp_path / "key.json").write_text(json.dumps(data))
        terminal = _service(
            tmp_path,
            simulator,
            ADDON_CREDENTIALS=str(tmp_path / "key.json"),
            ADDON_TASKS_ENDPOINT="http://127.0.0.1:9",
        )
        status, _, checks = _doctor(terminal)
    assert status == 1
    wrong = [line for line in checks if line.startswith("WRONG")]
    assert len(wrong) == 2
    assert "Cloud Tasks cannot be reached at http://127.0.0.1:9" in wrong[0]
    assert "The worker is not let in" in wrong[1]


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"ADDON_COMMIT_ROWS": "0"}, "ADDON_COMMIT_ROWS is '0', but must be a whole number from 1 to 400."),
        ({"ADDON_LEASE_TTL": "0"}, "ADDON_LEASE_TTL is '0', but must be a number from 1 to 600."),
    ],
)
def test_serving_without_configuration_is_refused_in_one_sentence(
    tmp_path: Path, settings: dict[str, str], sentence: str
) -> None:
    done = _newcomer(tmp_path, **settings).addon("serve")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(sentence)
    assert len(done.stderr.splitlines()) == 1


def _wrong(checks: list[str]) -> list[str]:
    return [line for line in checks if line.startswith("WRONG")]


def test_a_wrong_environment_is_told_every_problem_at_once(tmp_path: Path) -> None:
    """Values nobody can read, parts that are not there, and parts that do not answer, in one go."""
    (tmp_path / "no key").write_text("{}")
    terminal = _newcomer(
        tmp_path,
        ADDON_COMMIT_ROWS="0",
        ADDON_LEASE_TTL="soon",
        ADDON_BASE_URL="http://summaries.example.com/x/",
        ADDON_ADMINS="nobody",
        ADDON_STATE=str(tmp_path / "no key" / "state"),
        ADDON_WORKER_ACCESS="shared_drive",
        ADDON_SHEETS_ENDPOINT="http://127.0.0.1:9",
        ADDON_DRIVE_ENDPOINT="http://127.0.0.1:9",
        ADDON_TASKS_ENDPOINT="http://127.0.0.1:9",
        ADDON_CERTS_URL="http://127.0.0.1:9/certs",
        ADDON_CREDENTIALS=str(tmp_path / "no key"),
        ADDON_MODEL="no.such:model",
    )
    status, _, checks = _doctor(terminal)
    assert status == 1
    wrong = "\n".join(_wrong(checks))
    for problem in (
        "ADDON_COMMIT_ROWS is '0'",
        "ADDON_LEASE_TTL is 'soon'",
        "ADDON_BASE_URL is ",
        "ADDON_ADMINS is ",
        "ADDON_SHARED_DRIVE does not say which drive",
        "ADDON_SYSTEM_ACCOUNT is not set",
        "ADDON_CLIENT_ID is not set",
        "ADDON_WORKER_ACCOUNT is not set",
        "ADDON_STATE is ",
        "Sheets cannot be reached",
        "Drive cannot be reached",
        "Cloud Tasks cannot be reached",
        "No certificates at",
        "holds no key of a service account",
        "no.such",
    ):
        assert problem in wrong, (problem, checks)


def test_the_account_that_people_share_with_must_be_the_workers_own(tmp_path: Path) -> None:
    with Simulator(tmp_path / "google") as simulator:
        account = "somebody-else@example.com"
        status, _, checks = _doctor(_service(tmp_path, simulator, ADDON_WORKER_ACCOUNT=account))
        assert status == 1
        assert _wrong(checks) == [
            f"WRONG  The worker is {simulator.identity.worker.email}, but people would share with {account}: "
            f"set ADDON_WORKER_ACCOUNT to {simulator.identity.worker.email}, or use the credentials of the "
            "other account."
        ]


@pytest.mark.parametrize(
    ("role", "sentence"),
    [
        ("organizer", "ok     The worker may keep results in shared drive"),
        ("reader", "WRONG  The worker may not create or share in shared drive"),
        (
            None,
            "WRONG  The shared drive for results cannot be used; make the worker a manager of it: Drive does",
        ),
    ],
)
def test_the_shared_drive_for_results_is_tried(tmp_path: Path, role: str | None, sentence: str) -> None:
    with Simulator(tmp_path / "google") as simulator:
        members = {"boss@example.com": "organizer"}
        if role is not None:
            members[simulator.identity.worker.email] = role
        drive = simulator.files.create_drive("Results", members)
        terminal = _service(tmp_path, simulator, ADDON_WORKER_ACCESS="shared_drive", ADDON_SHARED_DRIVE=drive)
        status, _, checks = _doctor(terminal)
        assert status == (role != "organizer")
        assert any(line.startswith(sentence) for line in checks), checks


@pytest.mark.parametrize(
    ("admins", "authorised", "sentence"),
    [
        ("boss@example.com", True, "ok     The worker may act as boss@example.com"),
        ("boss@example.com", False, "WRONG  The worker cannot act as boss@example.com"),
        ("", True, "note   Acting as people was not tried"),
    ],
)
def test_acting_as_people_is_tried_with_an_administrator(
    tmp_path: Path, admins: str, authorised: bool, sentence: str
) -> None:
    with Simulator(tmp_path / "google") as simulator:
        simulator.oauth.delegated = frozenset(SCOPES if authorised else ())
        terminal = _service(tmp_path, simulator, ADDON_WORKER_ACCESS="delegation", ADDON_ADMINS=admins)
        status, _, checks = _doctor(terminal)
        assert status == (not authorised)
        assert any(line.startswith(sentence) for line in checks), checks
