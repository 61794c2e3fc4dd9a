"""A model for `ADDON_MODEL=logged_model:logged`: it answers after a pause and logs every call in a file."""

import os
from pathlib import Path

from addon.llm.scripted import ScriptedModel


def logged() -> ScriptedModel:
    """Make the model; file and pause come from ``LOGGED_CALLS`` and ``LOGGED_LATENCY``."""
    return ScriptedModel(
        log=Path(os.environ["LOGGED_CALLS"]), latency=float(os.environ.get("LOGGED_LATENCY", "0"))
    )
