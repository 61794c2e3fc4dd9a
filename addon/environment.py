"""Settings from environment variables: every problem at once, one sentence each."""

import os
from collections.abc import Iterator, Mapping
from dataclasses import fields, replace
from typing import Any

from addon.setting_values import is_loopback
from addon.settings import Settings, SettingsError


def from_environment(environment: Mapping[str, str] | None = None) -> Settings:
    """Read settings from environment variables.

    Raises
    ------
    SettingsError
        With every problem there is; see `examine_environment`.
    """
    settings, problems = examine_environment(environment)
    if problems:
        raise SettingsError(*problems)
    return settings


def examine_environment(environment: Mapping[str, str] | None = None) -> tuple[Settings, list[str]]:
    """Read what can be read: settings, with defaults in place of bad values, and one sentence per problem.

    A problem is a variable that cannot be used, that contradicts another, or that is unknown (most often a
    misspelling).
    """
    source = os.environ if environment is None else environment
    chosen: dict[str, Any] = {}
    known = {item.metadata["variable"] for item in fields(Settings)}
    problems = [
        f"{name} is not a setting of this program; `addon doctor` lists them all."
        for name in sorted(source)
        if name.startswith("ADDON_") and name not in known
    ]
    for item in fields(Settings):
        variable, secret = item.metadata["variable"], item.metadata["secret"]
        raw = source.get(variable, "").strip()
        if not raw:
            continue
        try:
            chosen[item.name] = item.metadata["parse"](raw)
        except ValueError as error:
            problems.append(f"{variable} is {'unusable' if secret else repr(raw)}, but {error}.")
    settings = Settings(**chosen)
    return settings, [*problems, *_contradictions(settings)]


def with_environment(settings: Settings, environment: Mapping[str, str]) -> Settings:
    """The settings with some of them replaced, by variable. The values must be good ones."""
    by_variable = {item.metadata["variable"]: item for item in fields(Settings)}
    chosen = {variable: by_variable[variable] for variable in environment}
    return replace(
        settings, **{item.name: item.metadata["parse"](environment[name]) for name, item in chosen.items()}
    )


def _contradictions(settings: Settings) -> Iterator[str]:
    parts = settings.queue.split("/")
    if len(parts) != 6 or parts[0::2] != ["projects", "locations", "queues"] or not all(parts):
        yield f"ADDON_QUEUE is {settings.queue!r}, but must look like projects/P/locations/L/queues/Q."
    google = (settings.sheets_endpoint, settings.drive_endpoint, settings.tasks_endpoint)
    if is_loopback(settings.certs_url) and not all(map(is_loopback, google)):
        yield (
            "ADDON_CERTS_URL points at this machine, but a Google endpoint points away from it: "
            "callers would be believed by other certificates than Google's."
        )
    if settings.worker_access == "shared_drive" and not settings.shared_drive:
        yield "ADDON_WORKER_ACCESS is 'shared_drive', but ADDON_SHARED_DRIVE does not say which drive."
