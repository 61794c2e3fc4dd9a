"""One call of the model with a text of our own, to see whether it works."""

import time
from dataclasses import dataclass

from addon.llm.base import Fatal, LanguageModel, Prompt, Rejected, Text, Transient, Usage

INSTRUCTIONS = "Summarise in one sentence."
SAMPLE = (("Text", "The parcel arrived late and the box was torn. Please refund the postage."),)


@dataclass(frozen=True, slots=True)
class Trial:
    """What came of it.

    Parameters
    ----------
    outcome
        ``text`` for a summary, else what there was instead: ``fatal``, ``transient`` and so on.
    reason
        The outcome's own reason, where it has one.
    seconds
        How long the call took.
    usage
        Tokens it consumed, as far as the provider told.
    """

    outcome: str
    reason: str
    seconds: float
    usage: Usage


def try_model(model: LanguageModel, timeout: float) -> Trial:
    """Call the model once, within ``timeout`` seconds."""
    start = time.monotonic()
    outcome = model.summarise(Prompt(INSTRUCTIONS, SAMPLE), timeout)
    seconds = time.monotonic() - start
    reason = outcome.reason if isinstance(outcome, Fatal | Transient | Rejected) else ""
    usage = outcome.usage if isinstance(outcome, Text) else Usage()
    return Trial(type(outcome).__name__.lower(), reason, seconds, usage)
