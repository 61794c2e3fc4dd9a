"""The simple cards: asking for the file, saying what went wrong, explaining how it works."""

from collections.abc import Mapping

from addon.sidebar.text import Words
from addon.sidebar.widgets import Action, Json, Links, buttons, card, paragraph, section


def connect_card(words: Words, links: Links) -> Json:
    """Build the card that explains the file grant and asks for it."""
    texts = [paragraph(words(key)) for key in ("connect.why", "connect.scope", "connect.no_answer")]
    return card(
        "connect",
        words("product"),
        [section([paragraph(words("connect.title"), strong=True), *texts])],
        footer=links.button(words("connect.button"), "connect"),
    )


def error_card(
    words: Words, links: Links, sentence: str, again: Action, parameters: Mapping[str, str]
) -> Json:
    """Build the card for a call that failed.

    ``again`` and ``parameters`` repeat the call as it was, which is harmless: every call may come twice.
    """
    choices = [links.button(words("error.again"), again, parameters)]
    if again != "refresh":
        choices.append(links.button(words("error.show"), "refresh"))
    return card("error", words("error.title"), [section([paragraph(sentence), buttons(choices)])])


def help_card(words: Words) -> Json:
    """Build the card that explains the product."""
    keys = ("what", "close", "twice", "results", "stop", "failed")
    return card("help", words("help.title"), [section([paragraph(words(f"help.{key}")) for key in keys])])
