"""Envelopes around cards. Triggers want ``RenderActions``, clicks the same inside ``renderActions``.

Google drops a mixed or doubly wrapped object without a word, so only these functions build one.
"""

from addon.sidebar.widgets import Json

ASK_FOR_FILE: Json = {
    "renderActions": {"hostAppAction": {"editorAction": {"requestFileScopeForActiveDocument": {}}}}
}
"""Answer to a click that opens Google's "allow this file" dialog."""


def shown(card: Json) -> Json:
    """Answer a trigger with a card."""
    return {"action": {"navigations": [{"pushCard": card}]}}


def to_root() -> Json:
    """Answer a trigger by going back to the first card, which makes Google ask for the homepage again."""
    return {"action": {"navigations": [{"popToRoot": True}]}}


def updated(card: Json, notification: str = "") -> Json:
    """Answer a click by replacing the card it came from."""
    return _clicked({"updateCard": card}, notification)


def pushed(card: Json) -> Json:
    """Answer a click with a card on top of the one it came from, to which people can go back."""
    return _clicked({"pushCard": card}, "")


def ask_for_scopes(*scopes: str) -> Json:
    """Answer anything by asking the person for scopes; Google then repeats the same call."""
    return {"requesting_google_scopes": {"scopes": list(scopes)}}


def _clicked(navigation: Json, notification: str) -> Json:
    action: Json = {"navigations": [navigation]}
    if notification:
        action["notification"] = {"text": notification}
    return {"renderActions": {"action": action}}
