"""Sealing content that must wait in the store: AES-256-GCM, bound to the document it lies in."""

import base64
import binascii
import secrets
from collections.abc import Sequence

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

NONCE_BYTES = 12
"""NIST SP 800-38D, section 8.2: with random nonces of 96 bits a key is good for 2**32 messages."""


class Unsealable(Exception):
    """None of the keys opens it: the key was dropped, or the content is another document's."""


class Sealer:
    """Seals and opens content. Safe to share between threads.

    Parameters
    ----------
    keys
        Keys of 32 bytes: the first seals, all open, so that a key can be replaced without losing what waits.
    """

    def __init__(self, keys: Sequence[bytes]) -> None:
        self._ciphers = [AESGCM(key) for key in keys]

    def seal(self, content: bytes, about: str) -> str:
        """Seal content as text; ``about`` is the path of the document it lies in.

        Raises
        ------
        ValueError
            There is no key.
        """
        if not self._ciphers:
            raise ValueError("content cannot be sealed without a key (ADDON_CONTENT_KEYS)")
        nonce = secrets.token_bytes(NONCE_BYTES)
        return base64.b64encode(nonce + self._ciphers[0].encrypt(nonce, content, about.encode())).decode()

    def open(self, sealed: str, about: str) -> bytes:
        """Give back what `seal` has sealed for the same document.

        Raises
        ------
        Unsealable
            No key opens it.
        """
        try:
            raw = base64.b64decode(sealed, validate=True)
        except (binascii.Error, ValueError):
            raise Unsealable("it is not sealed content") from None
        for cipher in self._ciphers:
            try:
                return cipher.decrypt(raw[:NONCE_BYTES], raw[NONCE_BYTES:], about.encode())
            except (InvalidTag, ValueError):  # too short for a nonce
                continue
        raise Unsealable("no key opens it")
