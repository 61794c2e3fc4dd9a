"""What a model costs, what a job is likely to, and what one trial call tells."""

import re
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from addon.llm.base import (
    Blocked,
    Empty,
    Fatal,
    Outcome,
    Prompt,
    Rejected,
    Text,
    Transient,
    Truncated,
    Usage,
)
from addon.llm.builtin import Builtin
from addon.llm.prices import (
    PRICES,
    Estimate,
    Price,
    cost,
    estimate,
    estimate_tokens,
    parse_price,
    price_of,
)
from addon.llm.prompt import render
from addon.llm.scripted import ScriptedModel
from addon.llm.trial import SAMPLE, Trial, try_model


@pytest.mark.parametrize("model", PRICES)
def test_every_price_says_when_and_where_it_was_read(model: str) -> None:
    price = PRICES[model]
    assert re.fullmatch(r"2026-\d{2}(-\d{2})?", price.read)
    assert price.source.startswith("https://")
    assert 0 < price.input < price.output


@pytest.mark.parametrize(
    ("name", "model"),
    [
        ("gemini:gemini-2.5-flash", "gemini-2.5-flash"),
        ("gemini:gemini-2.5-flash-001", "gemini-2.5-flash"),
        ("gemini:gemini-2.5-flash-lite", "gemini-2.5-flash-lite"),
        ("openai:gpt-4o-mini-2024-07-18", "gpt-4o-mini"),
        ("openai:gpt-5.4-mini", "gpt-5.4-mini"),
        ("openai:gpt-4o-mini-audio", None),
        ("openai:llama3.1:8b", None),
        ("gemini:", None),
        ("gemini-2.5-flash", None),
        ("scripted", None),
    ],
)
def test_a_price_is_found_by_the_public_name_and_never_guessed(name: str, model: str | None) -> None:
    assert price_of(name) == (None if model is None else PRICES[model])


def test_what_runs_here_is_free() -> None:
    assert cost(Builtin().name, Usage(1000, 1000)) == 0


def test_cost_counts_both_sides_at_their_prices() -> None:
    assert cost("gemini:gemini-2.5-flash", Usage(1_000_000, 2_000_000)) == Decimal("5.30")
    assert cost("gemini:gemini-99", Usage(1, 1)) is None
    assert cost("gemini:gemini-99", Usage(1_000_000, 0), parse_price("0.10,0.40")) == Decimal("0.10")


@pytest.mark.parametrize(
    ("text", "price"), [("0.10,0.40", ("0.10", "0.40")), (" 1 , 2.5 ", ("1", "2.5")), ("0,0", ("0", "0"))]
)
def test_a_price_can_be_set(text: str, price: tuple[str, str]) -> None:
    assert parse_price(text) == Price(Decimal(price[0]), Decimal(price[1]))


@pytest.mark.parametrize("text", ["", "1", "1,2,3", "a,b", "-1,2", "1,-2", "nan,1", "1,inf", "1;2"])
def test_what_is_no_price_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="two prices"):
        parse_price(text)


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", 0),
        ("a", 1),
        ("abcd" * 10, 10),
        ("naïve café", 3),
        ("Привет, мир", 5),
        ("荷物が届いた", 6),
        ("한국어", 3),
    ],
)
def test_tokens_are_estimated_by_script(text: str, tokens: int) -> None:
    assert estimate_tokens(text) == tokens


@given(st.text(), st.text())
def test_an_estimate_grows_with_its_text(one: str, other: str) -> None:
    assert (
        estimate_tokens(one) <= estimate_tokens(one + other) <= estimate_tokens(one) + estimate_tokens(other)
    )


def prompt(text: str) -> Prompt:
    return Prompt("Summarise.", (("Text", text),))


def test_an_estimate_adds_up_its_prompts_and_scales_a_sample() -> None:
    prompts = [prompt("a" * 400), prompt("b" * 800)]
    sizes = [estimate_tokens(render(one).system) + estimate_tokens(render(one).user) for one in prompts]
    whole = estimate("gemini:gemini-2.5-flash", prompts, output_tokens=100)
    assert (whole.input_tokens, whole.output_tokens) == (sum(sizes), 200)
    assert whole.cost == cost("gemini:gemini-2.5-flash", Usage(sum(sizes), 200))
    tenfold = estimate("gemini:gemini-2.5-flash", iter(prompts), calls=20, output_tokens=100)
    assert (tenfold.input_tokens, tenfold.output_tokens) == (10 * sum(sizes), 2000)
    assert estimate("unknown", prompts).cost is None
    assert estimate("gemini:gemini-2.5-flash", []) == Estimate(0, 0, Decimal(0))


# one trial call


@pytest.mark.parametrize(
    ("outcome", "word", "reason"),
    [
        (Text("Fine.", Usage(100, 20)), "text", ""),
        (Blocked("SAFETY", Usage(100, 0)), "blocked", "SAFETY"),
        (Truncated(Usage(100, 20)), "truncated", ""),
        (Empty(Usage(100, 20)), "empty", ""),
        (Rejected("INVALID_ARGUMENT"), "rejected", "INVALID_ARGUMENT"),
        (Transient("timeout"), "transient", "timeout"),
        (Fatal("key_rejected"), "fatal", "key_rejected"),
    ],
)
def test_a_trial_tells_in_codes_what_one_call_showed(outcome: Outcome, word: str, reason: str) -> None:
    model = ScriptedModel("gemini:gemini-2.5-flash")
    model.enqueue([outcome])
    moments = iter([10.0, 11.5])
    trial = try_model(model, 7.0, clock=lambda: next(moments))
    usage = getattr(outcome, "usage", Usage())
    expected = cost(model.name, usage)
    per_1000 = expected * 1000 if expected else None
    assert trial == Trial(word, reason, 1.5, usage, per_1000)
    assert trial.works == (word == "text")
    assert [(call.prompt, call.timeout) for call in model.calls] == [(SAMPLE, 7.0)]


def test_a_trial_of_a_model_without_a_price_takes_the_one_that_is_set() -> None:
    model = ScriptedModel("openai:mine")
    model.enqueue([Text("Fine.", Usage(100, 20))] * 2)
    assert try_model(model, 7.0).cost_per_1000 is None
    assert try_model(model, 7.0, price=parse_price("1,2")).cost_per_1000 == Decimal("0.14")
