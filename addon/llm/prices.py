"""What hosted models cost, and what a job is likely to. Pure.

The figures are list prices of the standard tier for text, taken from dated public transcriptions of the
providers' pages, not from an agreement: they are there to estimate, and a setting may replace them. Where a
price depends on the length of the prompt, it is that of short prompts; where a model is cheaper for a while,
it is the price after.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from types import MappingProxyType

from addon.llm.base import Prompt, Usage
from addon.llm.prompt import render

_MILLION = Decimal(1_000_000)

OUTPUT_TOKENS = 150
"""Tokens of a summary where nothing is known of them yet: about a hundred words, or some thinking."""

_GEMINI = "https://ai.google.dev/gemini-api/docs/pricing"
_OPENAI = "https://developers.openai.com/api/docs/pricing"


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars per million tokens.

    Parameters
    ----------
    input, output
        Thinking is charged as output.
    read
        When the source said so: a date, or a month where the day is not known.
    source
        Where.
    """

    input: Decimal
    output: Decimal
    read: str = ""
    source: str = ""


def _price(read: str, source: str, given: str, taken: str) -> Price:
    return Price(Decimal(given), Decimal(taken), read, source)


PRICES = MappingProxyType(
    {
        "gemini-2.5-pro": _price("2026-03", _GEMINI, "1.25", "10.00"),
        "gemini-2.5-flash": _price("2026-03", _GEMINI, "0.30", "2.50"),
        "gemini-2.5-flash-lite": _price("2026-03", _GEMINI, "0.10", "0.40"),
        "gemini-3-flash-preview": _price("2026-07-04", _GEMINI, "0.50", "3.00"),
        "gemini-3.1-flash-lite": _price(
            "2026-05", "https://vercel.com/ai-gateway/models/gemini-3.1-flash-lite.md", "0.25", "1.50"
        ),
        "gemini-3.1-pro-preview": _price("2026-10-07", _GEMINI, "2.00", "12.00"),
        "gemini-3.5-flash": _price("2026-10-07", _GEMINI, "1.50", "9.00"),
        "gemini-3.5-flash-lite": _price("2026-10-07", _GEMINI, "0.30", "2.50"),
        "gemini-3.6-flash": _price(
            "2026-07-21", "https://ai.google.dev/gemini-api/docs/whats-new-gemini-3.6", "1.50", "7.50"
        ),
        "gemini-3.8-flash": _price("2026-10-07", _GEMINI, "1.50", "7.50"),  # half of it until 2026-12-31
        "gpt-4.1-mini": _price("2026-03", _OPENAI, "0.40", "1.60"),
        "gpt-4.1-nano": _price("2026-03", _OPENAI, "0.10", "0.40"),
        "gpt-4o-mini": _price("2026-03", _OPENAI, "0.15", "0.60"),
        "gpt-5-mini": _price("2026-03", _OPENAI, "0.25", "2.00"),
        "gpt-5-nano": _price("2026-03", _OPENAI, "0.05", "0.40"),
        "gpt-5.4": _price("2026-05-04", _OPENAI, "2.50", "15.00"),
        "gpt-5.4-mini": _price("2026-05-04", _OPENAI, "0.75", "4.50"),
        "gpt-5.4-nano": _price("2026-05-04", _OPENAI, "0.20", "1.25"),
        "gpt-5.6-luna": _price("2026-07-30", _OPENAI, "0.20", "1.20"),
        "gpt-5.6-terra": _price("2026-07-30", _OPENAI, "2.00", "12.00"),
    }
)
"""By the model's name at its provider."""

FREE = Price(Decimal(0), Decimal(0))
"""The offline summariser runs here."""

_VERSION = re.compile(r"-(\d{3}|\d{4}-\d{2}-\d{2})")
"""A fixed version of a model costs what the model costs: ``-001``, ``-2024-07-18``."""


def price_of(model_name: str) -> Price | None:
    """The price of a model by its public name, e.g. ``gemini:gemini-2.5-flash``; ``None`` if unknown."""
    if model_name.startswith("builtin-"):
        return FREE
    provider, _, model = model_name.partition(":")
    if provider not in {"gemini", "openai"}:
        return None
    exact = PRICES.get(model)
    if exact is not None:
        return exact
    return next((PRICES[one] for one in PRICES if _VERSION.fullmatch(model.removeprefix(one))), None)


def parse_price(text: str) -> Price:
    """A price somebody has set: dollars per million input and output tokens, e.g. ``0.10,0.40``.

    Raises
    ------
    ValueError
        It is none; the message completes "..., but it".
    """
    try:
        given, taken = (Decimal(part.strip()) for part in text.split(","))
    except (ValueError, InvalidOperation):
        given = taken = Decimal("NaN")
    if not (given.is_finite() and taken.is_finite() and given >= 0 and taken >= 0):
        raise ValueError("must be two prices in dollars per million tokens, input and output: 0.10,0.40")
    return Price(given, taken)


def cost(model_name: str, usage: Usage, price: Price | None = None) -> Decimal | None:
    """Dollars for tokens used; ``None`` where neither the model's price is known nor one is given."""
    each = price or price_of(model_name)
    if each is None:
        return None
    return (usage.input_tokens * each.input + usage.output_tokens * each.output) / _MILLION


def estimate_tokens(text: str) -> int:
    """About how many tokens a text is. No tokenizer is asked, so it may be off by a third.

    A token is about four letters in Latin script, two in other alphabets, and at most one and a half
    characters in Chinese, Japanese and Korean, where this counts one each to err on the dear side.
    """
    quarters = sum(1 if character < "\u0250" else 2 if character < "\u1100" else 4 for character in text)
    return -(-quarters // 4)


@dataclass(frozen=True, slots=True)
class Estimate:
    """What calls would consume; ``cost`` in dollars, ``None`` where no price is known."""

    input_tokens: int
    output_tokens: int
    cost: Decimal | None


def estimate(
    model_name: str,
    prompts: Iterable[Prompt],
    *,
    calls: int | None = None,
    output_tokens: int = OUTPUT_TOKENS,
    price: Price | None = None,
) -> Estimate:
    """Estimate what a job would cost.

    Parameters
    ----------
    prompts
        What would be asked, or a sample of it.
    calls
        How many calls there will be, if ``prompts`` is a sample; by default each prompt is one.
    output_tokens
        Expected for each answer.
    price
        Replaces the model's list price.
    """
    sizes = [_size(prompt) for prompt in prompts]
    number = len(sizes) if calls is None else calls
    read = -(-sum(sizes) * number // len(sizes)) if sizes else 0
    usage = Usage(read, output_tokens * number)
    return Estimate(usage.input_tokens, usage.output_tokens, cost(model_name, usage, price))


def _size(prompt: Prompt) -> int:
    rendered = render(prompt)
    return estimate_tokens(rendered.system) + estimate_tokens(rendered.user)
