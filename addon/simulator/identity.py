"""Who calls: the local user and the local worker, known by the tokens in ``identity.json``."""

import hmac
import json
import secrets
from dataclasses import asdict, dataclass
from pathlib import Path

from addon.simulator.state import replace_file


@dataclass(frozen=True, slots=True)
class Principal:
    """Somebody who may call Sheets and Drive: an e-mail address and the bearer token that proves it."""

    email: str
    token: str


@dataclass(frozen=True, slots=True)
class Identity:
    """The local callers.

    Parameters
    ----------
    user
        Owns the workbooks and the files.
    worker
        Plays the service account: sees only what is shared with it, and can own nothing.
    system_token
        Proves that a call comes from the simulated Workspace, or from its operator.
    task_token
        Proves that a call comes from the simulated Cloud Tasks or Cloud Scheduler.
    """

    user: Principal
    worker: Principal
    system_token: str
    task_token: str

    def caller(self, token: str) -> Principal | None:
        """Whose ``token`` this is, if it is the user's or the worker's."""
        for principal in (self.user, self.worker):
            if same(token, principal.token):
                return principal
        return None


def same(given: str, expected: str) -> bool:
    """Compare secrets in a time that does not tell how much of them agrees."""
    return hmac.compare_digest(given.encode("utf-8", "replace"), expected.encode())


def load_identity(path: Path) -> Identity:
    """Read the identities in ``path``; make them on the first start."""
    if not path.exists():
        made = Identity(
            Principal("you@example.com", f"ya29.local-user-{secrets.token_urlsafe(24)}"),
            Principal(
                "worker@local.iam.gserviceaccount.com", f"ya29.local-worker-{secrets.token_urlsafe(24)}"
            ),
            secrets.token_urlsafe(32),
            secrets.token_urlsafe(32),
        )
        replace_file(path, json.dumps(asdict(made), indent=2).encode(), mode=0o600)
    data = json.loads(path.read_bytes())
    path.chmod(0o600)
    return Identity(
        Principal(**data["user"]), Principal(**data["worker"]), data["system_token"], data["task_token"]
    )
