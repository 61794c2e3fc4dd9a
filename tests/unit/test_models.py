"""From settings to a language model: each provider, and one sentence for what is missing."""

import subprocess
import sys
from decimal import Decimal
from pathlib import Path

import pytest

from addon.llm.builtin import Builtin
from addon.models import open_model, set_price
from addon.settings import Settings, SettingsError
from addon.simulator.identity import Identity, Principal, write_worker_file
from addon.simulator.keys import make_key


@pytest.fixture
def key_file(tmp_path: Path) -> Path:
    """Credentials of a service account."""
    key = make_key("worker")
    identity = Identity(Principal("u@example.com", "t"), Principal("w@example.com", "t"), "o", key, key)
    path = tmp_path / "key.json"
    write_worker_file(path, identity, "http://127.0.0.1:9/token")
    return path


def test_without_a_choice_it_is_the_offline_summariser() -> None:
    assert isinstance(open_model(Settings()), Builtin)


@pytest.mark.parametrize(
    ("name", "key", "public"),
    [
        ("gemini:gemini-2.5-flash", "k", "gemini:gemini-2.5-flash"),
        ("openai:gpt-5-mini", "k", "openai:gpt-5-mini"),
        ("openai:llama3:8b", "", "openai:llama3:8b"),
    ],
)
def test_hosted_models_have_their_public_name(name: str, key: str, public: str) -> None:
    model = open_model(Settings(model=name, model_key=key))
    assert model.name == public
    assert model.settings["max_output_tokens"] == Settings().model_output


def test_vertex_takes_the_services_credentials_and_shares_the_name_with_the_key(key_file: Path) -> None:
    model = open_model(Settings(model="vertex:gemini-2.5-flash", credentials=key_file))
    assert model.name == "gemini:gemini-2.5-flash"


def test_what_decides_answers_is_part_of_the_key() -> None:
    plain = open_model(Settings(model="gemini:gemini-2.5-flash", model_key="k"))
    for changes in ({"model_output": 99}, {"model_temperature": 0.5}, {"model_thinking": "default"}):
        other = open_model(Settings(model="gemini:gemini-2.5-flash", model_key="k", **changes))
        assert dict(other.settings) != dict(plain.settings)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        (Settings(model="gemini:gemini-2.5-flash"), "ADDON_MODEL_KEY is not set"),
        (Settings(model="gemini:gemini-2.5-flash", model_key="a b"), "the API key"),
        (Settings(model="gemini:gemini-2.5-flash", model_key="k", model_thinking="low"), "thinking must be"),
        (Settings(model="vertex:gemini-2.5-flash", credentials=Path("/nowhere.json")), "does not exist"),
        (Settings(model="no_such_module:make"), "cannot be imported"),
        (Settings(model="addon.llm.builtin:no_such"), "cannot be imported"),
        (Settings(model="addon.llm.prices:price_of"), "nothing to be called without arguments"),
        (Settings(model="collections:Counter"), "no language model"),
    ],
)
def test_what_cannot_be_is_a_sentence_without_the_key(settings: Settings, words: str) -> None:
    with pytest.raises(SettingsError) as error:
        open_model(settings)
    assert words in str(error.value)
    assert str(error.value).startswith("ADDON_MODEL is ")
    assert "a b" not in str(error.value).replace("a blank", "")


def test_a_price_may_be_set() -> None:
    assert set_price(Settings()) is None
    price = set_price(Settings(model_price="0.10,0.40"))
    assert price is not None and (price.input, price.output) == (Decimal("0.10"), Decimal("0.40"))


@pytest.mark.parametrize("name", ["addon.llm.gemini", "addon.llm.openai", "addon.llm.vertex", "grpc"])
def test_a_card_does_not_wait_for_what_it_does_not_need(name: str) -> None:
    code = f"import sys, addon.serve; sys.exit({name!r} in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
