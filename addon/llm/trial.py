"""One call with a fixed sample, to see whether a model answers, how fast, and at what price."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from decimal import Decimal

from addon.llm.base import Blocked, Fatal, LanguageModel, Outcome, Prompt, Rejected, Transient, Usage
from addon.llm.prices import Price, cost

SAMPLE = Prompt(
    "Summarise in one sentence.",
    (
        ("Subject", "Order 1043"),
        (
            "Message",
            "My parcel arrived four days late and the box was open. Nothing is missing, but I had to pay "
            "for a second delivery. Please refund the delivery fee.",
        ),
    ),
)
"""About as much as a usual row; nobody's data."""


@dataclass(frozen=True, slots=True)
class Trial:
    """What one call showed. Codes only: whoever shows it has the words, in the reader's language.

    Parameters
    ----------
    outcome
        ``text`` where the model works; otherwise ``blocked``, ``truncated``, ``empty``, ``rejected``,
        ``transient`` or ``fatal``.
    reason
        The provider's or the job's word for it, or an empty string.
    seconds
        How long the call took.
    usage
        Tokens, as far as the provider told.
    cost_per_1000
        Dollars for a thousand such rows; ``None`` without a known price or without counted tokens.
    """

    outcome: str
    reason: str
    seconds: float
    usage: Usage = field(default_factory=Usage)
    cost_per_1000: Decimal | None = None

    @property
    def works(self) -> bool:
        """Whether the model wrote a summary."""
        return self.outcome == "text"


def try_model(
    model: LanguageModel,
    timeout: float,
    *,
    price: Price | None = None,
    clock: Callable[[], float] = time.monotonic,
) -> Trial:
    """Call the model once.

    Parameters
    ----------
    timeout
        Seconds the call may take.
    price
        Replaces the model's list price.
    clock
        Monotonic seconds.
    """
    start = clock()
    outcome = model.summarise(SAMPLE, timeout)
    seconds = clock() - start
    usage = Usage() if isinstance(outcome, (Transient, Fatal)) else outcome.usage
    each = cost(model.name, usage, price) if usage != Usage() else None
    per_1000 = None if each is None else 1000 * each
    return Trial(type(outcome).__name__.lower(), _reason(outcome), seconds, usage, per_1000)


def _reason(outcome: Outcome) -> str:
    return outcome.reason if isinstance(outcome, (Blocked, Rejected, Transient, Fatal)) else ""
