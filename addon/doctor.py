"""`addon doctor`: every setting in one line, then one sentence per thing that was tried."""

import os
from collections.abc import Iterator
from dataclasses import fields

import requests

from addon.google import credentials
from addon.google.certificates import Certificates, CertificatesUnavailable
from addon.google.credentials import NoCredentials
from addon.google.drive import Drive
from addon.google.errors import GoogleError
from addon.google.session import Session
from addon.llm.base import LanguageModel
from addon.llm.prices import Price
from addon.llm.trial import try_model
from addon.models import open_model, set_price
from addon.services import open_documents
from addon.settings import NEEDED_TO_SERVE, Settings, SettingsError, missing_to_serve
from addon.store.documents import StoreError

OK, NOTE, WRONG = "ok", "note", "WRONG"
"""What a check says; only the last one makes the exit status 1."""

WORKER_SECONDS = 30.0
"""The longest a check of the worker takes."""

SERVICE_SETTINGS = (
    *NEEDED_TO_SERVE,
    "queue",
    "base_url",
    "sheets_endpoint",
    "drive_endpoint",
    "tasks_endpoint",
    "certs_url",
    "credentials",
)
"""Settings that only a service needs: whoever sets one means to serve."""


def settings_lines(settings: Settings) -> Iterator[str]:
    """One line per setting: variable, value, whether that is the default, meaning."""
    for item in fields(Settings):
        value = getattr(settings, item.name)
        default = " (default)" if value not in {None, ""} and value == item.default else ""
        said = "(set)" if item.metadata["secret"] and value else shown(value)
        yield f"{item.metadata['variable']} = {said}{default}: {item.metadata['meaning']}."


def shown(value: object) -> str:
    """A setting's value as one would write it."""
    if value is None or value in ("", ()):
        return "(not set)"
    if isinstance(value, tuple):
        return ",".join(value)
    return f"{value:g}" if isinstance(value, float) else str(value)


def examine(settings: Settings) -> Iterator[tuple[str, str]]:
    """Try everything that the settings ask for: a verdict and a sentence each. Nothing ends it early."""
    if not _means_to_serve(settings):
        yield from _without_service(settings)
        return
    yield from ((WRONG, sentence) for sentence in missing_to_serve(settings))
    yield _opened_store(settings)
    for name, url in (
        ("Sheets", settings.sheets_endpoint),
        ("Drive", settings.drive_endpoint),
        ("Cloud Tasks", settings.tasks_endpoint),
    ):
        yield _endpoint(name, url)
    yield _certificates(settings)
    yield from _worker(settings)
    yield _opened_model(settings)


def _means_to_serve(settings: Settings) -> bool:
    defaults = Settings()
    return any(getattr(settings, name) != getattr(defaults, name) for name in SERVICE_SETTINGS)


def _without_service(settings: Settings) -> Iterator[tuple[str, str]]:
    """What `addon run` and `addon demo` stand on, without leaving a trace on disk."""
    yield _folder(settings) if settings.store == "sqlite" else _opened_store(settings)
    yield _opened_model(settings)
    yield (
        NOTE,
        "No service is configured here, so nothing of Google's was tried. `addon run` and `addon demo` need "
        "none; `addon serve` does: infra/README.md says which.",
    )


def _folder(settings: Settings) -> tuple[str, str]:
    """Whether the SQLite file could be made or written, found out without making it."""
    state = settings.state.absolute()
    existing = next(path for path in (state, *state.parents) if path.exists())
    if not existing.is_dir():
        return WRONG, f"{existing} is a file, so the state folder {state} cannot be there: set ADDON_STATE."
    if not os.access(existing, os.W_OK | os.X_OK):
        return WRONG, f"{existing} may not be written to, so nothing can be kept there: set ADDON_STATE."
    made = "is there" if state == existing else "will be made by the first run"
    return OK, f"The state folder {state} {made}; the store (sqlite) is a file in it."


def _opened_store(settings: Settings) -> tuple[str, str]:
    try:
        documents = open_documents(settings)
    except SettingsError as error:
        return WRONG, str(error)
    try:
        now = documents.now()
    except StoreError as error:
        return WRONG, f"The store ({settings.store}) does not work: {error}"
    finally:
        documents.close()
    return OK, f"The store ({settings.store}) answers; its clock says {now:%Y-%m-%d %H:%M:%S} UTC."


def _endpoint(name: str, url: str) -> tuple[str, str]:
    try:
        requests.get(url, timeout=5)
    except requests.RequestException as error:
        return (
            WRONG,
            f"{name} cannot be reached at {url} ({type(error).__name__}): check its endpoint setting.",
        )
    return OK, f"{name} can be reached at {url}."


def _certificates(settings: Settings) -> tuple[str, str]:
    try:
        Certificates(settings.certs_url).find("")
    except CertificatesUnavailable:
        return (
            WRONG,
            f"No certificates at {settings.certs_url}: nobody could be let in; check ADDON_CERTS_URL.",
        )
    return OK, f"The certificates of ID tokens can be fetched from {settings.certs_url}."


def _worker(settings: Settings) -> Iterator[tuple[str, str]]:
    """Whether the worker is let in, is who people share with, and has what its way of access needs."""
    drive, verdict = _let_in(settings)
    yield verdict
    if drive is not None and settings.worker_access == "shared_drive" and settings.shared_drive:
        yield _shared_drive(drive, settings.shared_drive)
    if settings.worker_access == "delegation":
        yield _delegation(settings)


def _drive(settings: Settings, acts_as: str = "") -> Drive:
    session = Session(
        credentials.worker(settings.credentials, settings.worker_account, acts_as), max_attempts=2
    )
    return Drive(session, settings.drive_endpoint, "worker")


def _let_in(settings: Settings) -> tuple[Drive | None, tuple[str, str]]:
    try:
        drive = _drive(settings)
        email = drive.whoami(deadline=WORKER_SECONDS).email
    except NoCredentials as error:
        return None, (WRONG, f"The worker cannot prove who it is: {error}")
    except GoogleError as error:
        return None, (WRONG, f"The worker is not let in: {error}")
    if email.casefold() != settings.worker_account.casefold():
        return drive, (
            WRONG,
            f"The worker is {email}, but people would share with {settings.worker_account or 'nobody'}: "
            f"set ADDON_WORKER_ACCOUNT to {email}, or use the credentials of the other account.",
        )
    return drive, (OK, f"The worker's token is accepted; it is {email}.")


def _shared_drive(drive: Drive, drive_id: str) -> tuple[str, str]:
    try:
        top = drive.info(drive_id, deadline=WORKER_SECONDS)
    except GoogleError as error:
        return WRONG, f"The shared drive for results cannot be used; make the worker a manager of it: {error}"
    if not (top.can_edit and top.can_share):
        return WRONG, f"The worker may not create or share in shared drive {drive_id}: make it a manager."
    return OK, f"The worker may keep results in shared drive {drive_id}."


def _delegation(settings: Settings) -> tuple[str, str]:
    """Tried with the first administrator of the add-on: somebody who exists and would not mind."""
    person = next((admin for admin in settings.admins if "@" in admin), None)
    if person is None:
        return NOTE, "Acting as people was not tried: ADDON_ADMINS names nobody to try it with."
    try:
        _drive(settings, person).whoami(deadline=WORKER_SECONDS)
    except NoCredentials as error:
        return WRONG, f"The worker cannot act as people: {error}"
    except GoogleError as error:
        return WRONG, f"The worker cannot act as {person}: {error}"
    return OK, f"The worker may act as {person}, as its administrator has allowed."


def _opened_model(settings: Settings) -> tuple[str, str]:
    try:
        return _model(open_model(settings), settings.model_timeout, set_price(settings))
    except SettingsError as error:
        return WRONG, str(error)


def _model(model: LanguageModel, timeout: float, price: Price | None) -> tuple[str, str]:
    trial = try_model(model, timeout, price=price)
    if not trial.works:
        reason = f": {trial.reason}" if trial.reason else ""
        return WRONG, f"The model ({model.name}) gave no summary ({trial.outcome}{reason})."
    cost = "" if trial.cost_per_1000 is None else f"; 1,000 such rows cost about ${trial.cost_per_1000:.2f}"
    return OK, f"The model ({model.name}) answers, in {trial.seconds:.1f} s{cost}."
