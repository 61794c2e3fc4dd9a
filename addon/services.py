"""The composition root: the one place where settings become adapters."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from addon.google import credentials
from addon.google.access import UserAccess, Workers
from addon.google.certificates import Certificates
from addon.google.drive import Drive
from addon.google.id_tokens import Verifier
from addon.google.identity import Identity
from addon.google.session import Session, bearer
from addon.google.sheets import Sheets
from addon.google.tasks import Tasks
from addon.jobs.access import Access
from addon.jobs.start import Desk
from addon.jobs.steps import Reach, nothing
from addon.jobs.tools import Tools
from addon.llm.base import LanguageModel
from addon.llm.pace import Pace
from addon.models import open_model
from addon.settings import Settings, SettingsError, missing_to_serve
from addon.store.documents import Documents

AFTER_BUDGET = 50.0
"""Seconds the queue waits for a link beyond its budget: calls under way, a last commit, display."""

CLICK_TIMEOUT = (5.0, 12.0)
CLICK_ATTEMPTS = 2
"""Seconds to connect and to read, and tries, inside a click: Google gives it about 30 s in all."""


@dataclass(frozen=True)
class Services:
    """Everything the edges work with.

    ``pace`` keeps all links of the process together to the model calls it may make in a minute. ``stopping``
    is set when the process has been told to end: links then hand over.
    """

    settings: Settings
    documents: Documents
    tasks: Tasks
    model: LanguageModel
    identity: Identity
    workers: Workers
    pace: Pace
    stopping: threading.Event = field(default_factory=threading.Event)
    reach: Reach = nothing

    @contextmanager
    def user_access(self, token: str, user_id: str, email: str = "") -> Iterator[UserAccess]:
        """Clients that act with a user's token, until the block ends."""
        session = Session(bearer(token), timeout=CLICK_TIMEOUT, max_attempts=CLICK_ATTEMPTS)
        try:
            yield UserAccess(
                user_id,
                email,
                Sheets(session, self.settings.sheets_endpoint, "user"),
                Drive(session, self.settings.drive_endpoint, "user"),
            )
        finally:
            session.close()

    @property
    def access(self) -> Access:
        """What gives the worker its access, and takes it back."""
        return Access(self.documents, self.workers, self.settings)

    @property
    def desk(self) -> Desk:
        """What starting a job needs."""
        return Desk(self.documents, self.tasks, self.model, self.settings, self.access, self.reach)

    @property
    def tools(self) -> Tools:
        """What a link needs."""
        return Tools(
            self.documents,
            self.workers,
            self.model,
            self.settings,
            self.access,
            self.stopping.is_set,
            self.reach,
            self.pace,
        )


def check(settings: Settings) -> None:
    """Find out whether services can be built, without opening anything: what gRPC opens survives no fork.

    Raises
    ------
    SettingsError
        They cannot.
    """
    problems = missing_to_serve(settings)
    if problems:
        raise SettingsError(
            *problems,
            "A service needs all of these to tell its callers apart; infra/README.md says where they come "
            "from. To try the product on this machine, `addon demo` needs none of them.",
        )
    open_model(settings)
    if settings.store == "sqlite":
        _make_folder(settings)


def build(settings: Settings, *, reach: Reach = nothing) -> Services:
    """Make the adapters that the settings ask for.

    Raises
    ------
    SettingsError
        They cannot be made; the message says which setting to change.
    """
    check(settings)
    return Services(
        settings=settings,
        documents=open_documents(settings),
        tasks=Tasks(
            settings.queue,
            settings.tasks_endpoint,
            settings.base_url,
            account=settings.tasks_account,
            credentials=credentials.cloud(settings.credentials),
            dispatch_deadline=settings.link_budget + AFTER_BUDGET,
        ),
        model=open_model(settings),
        identity=identity_of(settings),
        workers=Workers(
            lambda email: credentials.worker(settings.credentials, settings.worker_account, email),
            settings.sheets_endpoint,
            settings.drive_endpoint,
        ),
        pace=Pace(settings.requests_per_minute),
        reach=reach,
    )


def identity_of(settings: Settings) -> Identity:
    """What tells this service's callers apart."""
    return Identity(
        Verifier(Certificates(settings.certs_url), settings.issuers),
        settings.base_url,
        settings.system_account,
        settings.client_id,
        {"tasks": settings.tasks_account, "schedule": settings.scheduler_account},
        frozenset(settings.admins),
    )


def open_documents(settings: Settings) -> Documents:
    """Open the store; only the adapter asked for is imported."""
    if settings.store == "firestore":
        from addon.store.firestore import FirestoreDocuments  # noqa: PLC0415  # gRPC costs start-up time

        return FirestoreDocuments(settings.project)
    from addon.store.sqlite import SqliteDocuments  # noqa: PLC0415  # see above

    _make_folder(settings)
    return SqliteDocuments(settings.state / "store.sqlite")


def _make_folder(settings: Settings) -> None:
    try:
        settings.state.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SettingsError(
            f"ADDON_STATE is {settings.state}, but that folder cannot be made ({error.strerror})."
        ) from None
