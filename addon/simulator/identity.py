"""Who is who: people, service accounts, and the keys and secrets kept in ``identity.json``."""

import hmac
import json
import secrets
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path

from addon.simulator.keys import Key, id_claims, make_key, subject_of
from addon.simulator.state import replace_file

SYSTEM_ACCOUNT = "service-1@gcp-sa-gsuiteaddons.iam.gserviceaccount.com"
WORKER = "worker@local.iam.gserviceaccount.com"
TASKS_ACCOUNT = "tasks@local.iam.gserviceaccount.com"
SCHEDULER_ACCOUNT = "scheduler@local.iam.gserviceaccount.com"
CLIENT_ID = "local.apps.googleusercontent.com"
"""Names of a Google project that exists on this machine only."""

HOUR = 3600.0


@dataclass(frozen=True, slots=True)
class Principal:
    """Somebody who may call Sheets and Drive.

    Parameters
    ----------
    token
        The access token that proves it.
    scopes
        What the token may be used for; ``None`` for everything.
    """

    email: str
    token: str
    scopes: frozenset[str] | None = None


@dataclass(frozen=True)
class Identity:
    """The local callers.

    Parameters
    ----------
    user
        Owns the workbooks and the files. The token here never expires, and may do everything.
    worker
        Plays the service account: sees only what is shared with it, and can own nothing.
    operator_token
        Proves that a call to the simulator's own routes comes from its operator.
    google
        Key of the ID tokens that the simulator issues.
    worker_key
        Key with which the worker asks for its access tokens.
    """

    user: Principal
    worker: Principal
    operator_token: str
    google: Key
    worker_key: Key
    _issued: dict[str, tuple[Principal, float]] = field(default_factory=dict, compare=False, repr=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, compare=False, repr=False)
    clock: Callable[[], float] = field(default=time.time, compare=False, repr=False)

    def caller(self, token: str) -> Principal | None:
        """Whose access ``token`` this is, as long as it is valid."""
        for principal in (self.user, self.worker):
            if same(token, principal.token):
                return principal
        with self._lock:
            issued = self._issued.get(token)
        return issued[0] if issued is not None and self.clock() < issued[1] else None

    def issue(self, email: str, scopes: Iterable[str], seconds: float = HOUR) -> str:
        """An access token for ``email`` that may be used for ``scopes``."""
        token = f"ya29.{secrets.token_urlsafe(32)}"
        now = self.clock()
        with self._lock:
            for old in [old for old, (_, until) in self._issued.items() if until <= now]:
                del self._issued[old]
            self._issued[token] = Principal(email, token, frozenset(scopes)), now + seconds
        return token

    def expire_issued(self) -> None:
        """Let every access token issued so far be of no use any more."""
        with self._lock:
            self._issued.clear()

    def id_token(self, audience: str, email: str) -> str:
        """An ID token that proves to ``audience`` that the caller is ``email``."""
        return self.google.sign(id_claims(audience, subject_of(email), email))


def same(given: str, expected: str) -> bool:
    """Compare secrets in a time that does not tell how much of them agrees."""
    return hmac.compare_digest(given.encode("utf-8", "replace"), expected.encode())


def load_identity(path: Path) -> Identity:
    """Read the identities in ``path``; make them on the first start."""
    if not path.exists():
        made = {
            "user": {"email": "you@example.com", "token": f"ya29.local-user-{secrets.token_urlsafe(24)}"},
            "worker": {"email": WORKER, "token": f"ya29.local-worker-{secrets.token_urlsafe(24)}"},
            "operator_token": secrets.token_urlsafe(32),
            "google": asdict(make_key("accounts.google.com on this machine")),
            "worker_key": asdict(make_key(WORKER)),
        }
        replace_file(path, json.dumps(made, indent=2).encode(), mode=0o600)
    data = json.loads(path.read_bytes())
    path.chmod(0o600)
    return Identity(
        user=Principal(**data["user"]),
        worker=Principal(**data["worker"]),
        operator_token=data["operator_token"],
        google=Key(**data["google"]),
        worker_key=Key(**data["worker_key"]),
    )


def write_worker_file(path: Path, identity: Identity, token_url: str) -> None:
    """Write the worker's credentials in the form in which Google hands out keys of service accounts."""
    content = {
        "type": "service_account",
        "project_id": "local",
        "private_key_id": identity.worker_key.id,
        "private_key": identity.worker_key.private,
        "client_email": identity.worker.email,
        "client_id": subject_of(identity.worker.email),
        "token_uri": token_url,
    }
    replace_file(path, json.dumps(content, indent=2).encode(), mode=0o600)
