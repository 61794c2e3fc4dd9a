"""Tokens as no honest library makes them."""

import base64
import functools
import hashlib
import hmac
import json
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature

from addon.simulator.keys import Key


def segment(part: Any) -> str:
    """One segment of a token: bytes as they are, all else as JSON."""
    raw = part if isinstance(part, bytes) else json.dumps(part).encode()
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


def unsigned(header: Any, claims: Any, signature: str = "") -> str:
    """A token whose signature proves nothing."""
    return f"{segment(header)}.{segment(claims)}.{signature}"


@functools.cache
def _private(pem: str) -> rsa.RSAPrivateKey:
    """Read a key once: that takes longer than anything done with it."""
    private = serialization.load_pem_private_key(pem.encode(), None)
    assert isinstance(private, rsa.RSAPrivateKey)
    return private


def rsa_signed(key: Key, header: Any, claims: Any, algorithm: str = "RS256") -> str:
    """A token signed with an RSA key, whatever its header says."""
    message = f"{segment(header)}.{segment(claims)}"
    hashed = {"256": hashes.SHA256(), "384": hashes.SHA384(), "512": hashes.SHA512()}[algorithm[2:]]
    padded: Any = padding.PKCS1v15()
    if algorithm.startswith("PS"):
        padded = padding.PSS(padding.MGF1(hashed), hashed.digest_size)
    return f"{message}.{segment(_private(key.private).sign(message.encode(), padded, hashed))}"


def hs256(secret: str, header: Any, claims: Any) -> str:
    """A token whose signature is a digest with a secret that everybody knows."""
    message = f"{segment(header)}.{segment(claims)}"
    return f"{message}.{segment(hmac.digest(secret.encode(), message.encode(), hashlib.sha256))}"


def public_key(key: Key) -> str:
    """The key pair's public key, as PEM."""
    public = x509.load_pem_x509_certificate(key.certificate.encode()).public_key()
    return public.public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    ).decode()


class EllipticKey:
    """A key pair of another kind."""

    def __init__(self) -> None:
        self._private = ec.generate_private_key(ec.SECP256R1())
        who = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "elliptic")])
        now = datetime.now(UTC)
        built = (
            x509.CertificateBuilder()
            .subject_name(who)
            .issuer_name(who)
            .public_key(self._private.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - timedelta(days=1))
            .not_valid_after(now + timedelta(days=1))
            .sign(self._private, hashes.SHA256())
        )
        self.certificate = built.public_bytes(serialization.Encoding.PEM).decode()

    def sign(self, header: Mapping[str, Any], claims: Any) -> str:
        """An ES256 token."""
        message = f"{segment(header)}.{segment(claims)}"
        r, s = decode_dss_signature(self._private.sign(message.encode(), ec.ECDSA(hashes.SHA256())))
        return f"{message}.{segment(r.to_bytes(32) + s.to_bytes(32))}"
