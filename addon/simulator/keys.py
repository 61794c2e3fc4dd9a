"""RSA keys: made once, kept as PEM, and published as the certificates ID tokens are checked with."""

import hashlib
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from google.auth import crypt, jwt

_YEARS = timedelta(days=3650)


@dataclass(frozen=True, slots=True)
class Key:
    """A key pair: private key and certificate, both PEM."""

    private: str
    certificate: str

    @property
    def id(self) -> str:
        """What tokens name the key by."""
        return hashlib.sha256(self.certificate.encode()).hexdigest()[:40]

    def sign(self, claims: Mapping[str, Any]) -> str:
        """An RS256 token with these claims."""
        signer = crypt.RSASigner.from_string(self.private, self.id)  # type: ignore[no-untyped-call]
        token: bytes = jwt.encode(signer, dict(claims))  # type: ignore[no-untyped-call]
        return token.decode()


def make_key(name: str) -> Key:
    """Make a key pair whose certificate it signs itself."""
    private = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    who = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(who)
        .issuer_name(who)
        .public_key(private.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + _YEARS)
        .sign(private, hashes.SHA256())
    )
    pem = private.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    return Key(pem.decode(), certificate.public_bytes(serialization.Encoding.PEM).decode())


def id_claims(audience: str, subject: str, email: str, *, seconds: float = 3600) -> dict[str, Any]:
    """What Google says in an ID token about the account ``email``."""
    now = int(time.time())
    return {
        "iss": "https://accounts.google.com",
        "aud": audience,
        "sub": subject,
        "email": email,
        "email_verified": True,
        "iat": now,
        "exp": int(now + seconds),
    }


def subject_of(email: str) -> str:
    """The number Google knows an account by."""
    return str(int.from_bytes(hashlib.sha256(email.encode()).digest()[:8]) % 10**21).zfill(21)
