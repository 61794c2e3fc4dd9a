"""Content that waits in the store can be read with the key, in its own document, and not otherwise."""

import base64

import pytest

from addon.sealing import Sealer, Unsealable

OLD, NEW = bytes(range(32)), bytes(range(1, 33))
TEXT = "注文 000123 – Jürgen".encode()


def test_what_was_sealed_is_opened_again() -> None:
    sealer = Sealer([OLD])
    sealed = sealer.seal(TEXT, "spreadsheets/a/inbox/1")
    assert sealer.open(sealed, "spreadsheets/a/inbox/1") == TEXT
    assert TEXT not in base64.b64decode(sealed)


def test_the_same_content_is_never_sealed_to_the_same_text() -> None:
    sealer = Sealer([OLD])
    assert sealer.seal(TEXT, "a") != sealer.seal(TEXT, "a")


def test_promise_5_content_moved_into_another_document_cannot_be_opened() -> None:
    sealer = Sealer([OLD])
    with pytest.raises(Unsealable):
        sealer.open(sealer.seal(TEXT, "a"), "b")


def test_after_a_change_of_keys_the_new_one_seals_and_the_old_one_still_opens() -> None:
    waiting = Sealer([OLD]).seal(TEXT, "a")
    both = Sealer([NEW, OLD])
    assert both.open(waiting, "a") == TEXT
    assert Sealer([NEW]).open(both.seal(TEXT, "a"), "a") == TEXT
    with pytest.raises(Unsealable):
        Sealer([NEW]).open(waiting, "a")


@pytest.mark.parametrize("spoilt", ["", "é", "AAAA", "%%%", base64.b64encode(bytes(40)).decode()])
def test_what_is_no_sealed_content_is_refused(spoilt: str) -> None:
    with pytest.raises(Unsealable):
        Sealer([OLD]).open(spoilt, "a")


def test_one_changed_byte_is_noticed() -> None:
    raw = bytearray(base64.b64decode(Sealer([OLD]).seal(TEXT, "a")))
    raw[-1] ^= 1
    with pytest.raises(Unsealable):
        Sealer([OLD]).open(base64.b64encode(raw).decode(), "a")


def test_nothing_is_kept_unsealed_for_want_of_a_key() -> None:
    with pytest.raises(ValueError, match="ADDON_CONTENT_KEYS"):
        Sealer([]).seal(TEXT, "a")
