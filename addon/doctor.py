"""`addon doctor`: every setting in one line, then one sentence per thing that was tried."""

import os
from collections.abc import Iterator
from dataclasses import fields

import requests

from addon.google.errors import GoogleError
from addon.llm.base import Fatal, LanguageModel, Prompt, Text, Transient
from addon.services import Services, build, open_documents, open_model
from addon.settings import Settings, SettingsError
from addon.store.documents import Documents, StoreError

OK, NOTE, WRONG = "ok", "note", "WRONG"
"""What a check says; only the last one makes the exit status 1."""

SERVICE_SETTINGS = ("queue", "base_url", "sheets_endpoint", "drive_endpoint", "tasks_endpoint")
"""Settings that only a service needs: whoever sets one means to serve."""


def settings_lines(settings: Settings) -> Iterator[str]:
    """One line per setting: variable, value, whether that is the default, meaning."""
    for item in fields(Settings):
        value = getattr(settings, item.name)
        default = " (default)" if value is not None and value == item.default else ""
        yield f"{item.metadata['variable']} = {shown(value)}{default}: {item.metadata['meaning']}."


def shown(value: object) -> str:
    """A setting's value as one would write it."""
    if value is None:
        return "(not set)"
    return f"{value:g}" if isinstance(value, float) else str(value)


def examine(settings: Settings) -> Iterator[tuple[str, str]]:
    """Try everything that the settings ask for: a verdict and a sentence each."""
    if settings.local_identity is None and not _means_to_serve(settings):
        yield from _without_service(settings)
        return
    try:
        services = build(settings)
    except SettingsError as error:
        yield WRONG, str(error)
        return
    try:
        yield _store(settings, services.documents)
        for name, url in (
            ("Sheets", settings.sheets_endpoint),
            ("Drive", settings.drive_endpoint),
            ("Cloud Tasks", settings.tasks_endpoint),
        ):
            yield _endpoint(name, url)
        yield _drive(services)
        yield _model(services.model, settings.model_timeout)
    finally:
        services.tasks.close()
        services.documents.close()


def _means_to_serve(settings: Settings) -> bool:
    defaults = Settings()
    return any(getattr(settings, name) != getattr(defaults, name) for name in SERVICE_SETTINGS)


def _without_service(settings: Settings) -> Iterator[tuple[str, str]]:
    """What `addon run` and `addon demo` stand on, without leaving a trace on disk."""
    if settings.store == "sqlite":
        yield _folder(settings)
    else:
        documents = open_documents(settings)
        try:
            yield _store(settings, documents)
        finally:
            documents.close()
    try:
        yield _model(open_model(settings), settings.model_timeout)
    except SettingsError as error:
        yield WRONG, str(error)
    yield (
        NOTE,
        "No service is configured here, so nothing of Google's was tried. `addon run` and `addon demo` need "
        "none; `addon serve` does, and ADDON_LOCAL_IDENTITY first of all.",
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


def _store(settings: Settings, documents: Documents) -> tuple[str, str]:
    try:
        now = documents.now()
    except StoreError as error:
        return WRONG, f"The store ({settings.store}) does not work: {error}"
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


def _drive(services: Services) -> tuple[str, str]:
    try:
        services.worker_drive.generate_ids(1)
    except GoogleError as error:
        return WRONG, f"The worker is not let in: {error}"
    return OK, "The worker's token is accepted."


def _model(model: LanguageModel, timeout: float) -> tuple[str, str]:
    prompt = Prompt("Summarise in one sentence.", (("Text", "The parcel arrived late. Please refund it."),))
    outcome = model.summarise(prompt, timeout)
    if isinstance(outcome, Text):
        return OK, f"The model ({model.name}) answers."
    reason = f": {outcome.reason}" if isinstance(outcome, Fatal | Transient) else ""
    return WRONG, f"The model ({model.name}) gave no summary ({type(outcome).__name__.lower()}{reason})."
