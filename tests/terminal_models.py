"""Models for `ADDON_MODEL=terminal_models:…`: they misbehave as long as a file is there."""

import os
from pathlib import Path

from addon.llm.base import Blocked, Fatal, Outcome, Prompt
from addon.llm.scripted import ScriptedModel


def _switched_on() -> bool:
    return Path(os.environ["MODEL_SWITCH"]).exists()


def _logged(default: "object") -> ScriptedModel:
    latency = float(os.environ.get("LOGGED_LATENCY", "0"))
    return ScriptedModel(default=default, log=Path(os.environ["LOGGED_CALLS"]), latency=latency)  # type: ignore[arg-type]


def key_rejected() -> ScriptedModel:
    """The provider rejects the key while the switch file exists."""
    return _logged(lambda prompt: Fatal("key_rejected") if _switched_on() else None)


def refusing() -> ScriptedModel:
    """The provider refuses texts with the word "bad" while the switch file exists."""

    def decide(prompt: Prompt) -> Outcome | None:
        return Blocked("SAFETY") if _switched_on() and "bad" in prompt.fields[0][1] else None

    return _logged(decide)


def broken() -> ScriptedModel:
    """An adapter with a bug: it raises, and the message holds what it was asked."""

    def decide(prompt: Prompt) -> Outcome | None:
        raise LookupError(prompt.fields[0][1])

    return _logged(decide)


def hanging() -> ScriptedModel:
    """The provider does not answer within the time a call may take."""
    return ScriptedModel(log=Path(os.environ["LOGGED_CALLS"]), latency=600.0)
