"""`addon doctor`: every setting in one line, then one sentence per thing that was tried."""

from collections.abc import Iterator
from dataclasses import fields

import requests

from addon.google.errors import GoogleError
from addon.llm.base import Fatal, Prompt, Text, Transient
from addon.services import Services, build
from addon.settings import Settings, SettingsError
from addon.store.documents import StoreError


def settings_lines(settings: Settings) -> Iterator[str]:
    """One line per setting: variable, value, meaning."""
    for item in fields(Settings):
        value = getattr(settings, item.name)
        shown = "(not set)" if value is None else value
        yield f"{item.metadata['variable']} = {shown}: {item.metadata['meaning']}."


def examine(settings: Settings) -> Iterator[tuple[bool, str]]:
    """Try everything the service stands on: whether it works, and a sentence."""
    try:
        services = build(settings)
    except SettingsError as error:
        yield False, str(error)
        return
    try:
        yield _store(services)
        for name, url in (
            ("Sheets", settings.sheets_endpoint),
            ("Drive", settings.drive_endpoint),
            ("Cloud Tasks", settings.tasks_endpoint),
        ):
            yield _endpoint(name, url)
        yield _drive(services)
        yield _model(services)
    finally:
        services.documents.close()


def _store(services: Services) -> tuple[bool, str]:
    try:
        now = services.documents.now()
    except StoreError as error:
        return False, f"The store ({services.settings.store}) does not work: {error}"
    return True, f"The store ({services.settings.store}) answers; its clock says {now:%Y-%m-%d %H:%M:%S} UTC."


def _endpoint(name: str, url: str) -> tuple[bool, str]:
    try:
        requests.get(url, timeout=5)
    except requests.RequestException as error:
        return (
            False,
            f"{name} cannot be reached at {url} ({type(error).__name__}): check its endpoint setting.",
        )
    return True, f"{name} can be reached at {url}."


def _drive(services: Services) -> tuple[bool, str]:
    try:
        services.worker_drive.generate_ids(1)
    except GoogleError as error:
        return False, f"The worker is not let in: {error}"
    return True, "The worker's token is accepted."


def _model(services: Services) -> tuple[bool, str]:
    prompt = Prompt("Summarise in one sentence.", (("Text", "The parcel arrived late. Please refund it."),))
    outcome = services.model.summarise(prompt, services.settings.model_timeout)
    name = services.model.name
    if isinstance(outcome, Text):
        return True, f"The model ({name}) answers."
    reason = f": {outcome.reason}" if isinstance(outcome, Fatal | Transient) else ""
    return False, f"The model ({name}) gave no summary ({type(outcome).__name__.lower()}{reason})."
