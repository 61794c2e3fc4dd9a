"""From settings to a language model. Only what is asked for is imported: a card waits for nothing else."""

import importlib
import inspect
from collections.abc import Callable

from addon.google import credentials
from addon.google.credentials import NoCredentials
from addon.llm.base import LanguageModel
from addon.llm.prices import Price, parse_price
from addon.setting_values import PROVIDERS
from addon.settings import Settings, SettingsError


def open_model(settings: Settings) -> LanguageModel:
    """Make the language model.

    Raises
    ------
    SettingsError
        ``ADDON_MODEL`` names nothing that makes one, or what it needs is not set.
    """
    provider, _, model = settings.model.partition(":")
    if provider in PROVIDERS:
        try:
            return _hosted(settings, provider, model)
        except NoCredentials as error:
            raise SettingsError(f"ADDON_MODEL is {settings.model!r}, but {error}") from None
        except ValueError as error:
            raise SettingsError(f"ADDON_MODEL is {settings.model!r}, but {error}.") from None
    if settings.model == "builtin":
        from addon.llm.builtin import Builtin  # noqa: PLC0415  # see above

        return Builtin()
    return _own(settings.model)


def _hosted(settings: Settings, provider: str, model: str) -> LanguageModel:
    if provider == "openai":
        from addon.llm.openai import BASE_URL, OpenAI  # noqa: PLC0415  # see above

        # What a server calls as little thinking as it can differs, so it is left to the model.
        thinking = "default" if settings.model_thinking == "least" else settings.model_thinking
        return OpenAI(
            model,
            settings.model_key,
            settings.model_endpoint or BASE_URL,
            temperature=settings.model_temperature,
            max_output_tokens=settings.model_output,
            thinking=thinking,
        )
    from addon.llm.gemini import ENDPOINT, Access, ApiKey, Gemini  # noqa: PLC0415  # see above

    if provider == "gemini":
        if not settings.model_key:
            raise ValueError("ADDON_MODEL_KEY is not set; the Gemini API asks for a key")
        access: Access = ApiKey(settings.model_key, settings.model_endpoint or ENDPOINT)
    else:
        from addon.llm.vertex import Vertex  # noqa: PLC0415  # see above

        account = credentials.cloud(settings.credentials)()
        access = Vertex(account, settings.project, settings.model_location, settings.model_endpoint or None)
    return Gemini(
        model,
        access,
        temperature=settings.model_temperature,
        max_output_tokens=settings.model_output,
        thinking=settings.model_thinking,
    )


def _own(name: str) -> LanguageModel:
    """Make a model by somebody's own ``package.module:function``."""
    module_name, _, function = name.partition(":")
    try:
        factory: Callable[[], LanguageModel] = getattr(importlib.import_module(module_name), function)
        inspect.signature(factory).bind()
    except (ImportError, AttributeError) as error:
        raise SettingsError(
            f"ADDON_MODEL is {name!r}, but that cannot be imported ({type(error).__name__})."
        ) from None
    except (TypeError, ValueError):
        raise SettingsError(
            f"ADDON_MODEL is {name!r}, but that is nothing to be called without arguments."
        ) from None
    model = factory()
    if not (isinstance(getattr(model, "name", None), str) and callable(getattr(model, "summarise", None))):
        raise SettingsError(f"ADDON_MODEL is {name!r}, but what it makes is no language model.")
    return model


def set_price(settings: Settings) -> Price | None:
    """The price the operator has set; ``None`` for the model's list price."""
    return parse_price(settings.model_price) if settings.model_price else None
