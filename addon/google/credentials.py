"""What the worker proves itself with: a service account's own credentials, or leave to act as a person."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import google.auth
from google.auth import impersonated_credentials
from google.auth.exceptions import DefaultCredentialsError, GoogleAuthError
from google.oauth2 import service_account

SCOPES = (
    "https://www.googleapis.com/auth/spreadsheets",
    "https://www.googleapis.com/auth/drive",
)
"""What the worker asks for. A service account reaches only what is shared with it; an administrator who lets
it act as people grants exactly these two."""

CLOUD = "https://www.googleapis.com/auth/cloud-platform"
"""For Cloud Tasks, Vertex AI, and for asking for a token to act as a person."""


class NoCredentials(Exception):
    """There are none, or the file does not hold any; the message is a sentence for the operator."""


def service_account_file(path: Path, scopes: tuple[str, ...], acts_as: str = "") -> Any:
    """Credentials from a service account's key file.

    Raises
    ------
    NoCredentials
        The file is missing or is no such file.
    """
    try:
        return service_account.Credentials.from_service_account_file(  # type: ignore[no-untyped-call]
            str(path), scopes=scopes, subject=acts_as or None
        )
    except FileNotFoundError:
        raise NoCredentials(f"{path} does not exist.") from None
    except (OSError, ValueError, GoogleAuthError) as error:
        raise NoCredentials(f"{path} holds no key of a service account ({type(error).__name__}).") from None


def environment(scopes: tuple[str, ...]) -> Any:
    """The credentials the environment offers: on Cloud Run those of the service's own account.

    Raises
    ------
    NoCredentials
        It offers none.
    """
    try:
        credentials, _ = google.auth.default(scopes=scopes)
    except DefaultCredentialsError:
        raise NoCredentials(
            "The environment offers no Google credentials: run on Cloud Run, "
            "or `gcloud auth application-default login`, or set ADDON_CREDENTIALS."
        ) from None
    return credentials


def worker(path: Path | None, account: str, acts_as: str = "") -> Any:
    """Credentials for Sheets and Drive.

    Parameters
    ----------
    path
        A key file; ``None`` for what the environment offers.
    account
        The worker's e-mail.
    acts_as
        E-mail of the person to act as, by domain-wide delegation; empty for the worker itself. Without a key
        file the account signs for itself (IAM Credentials API), for tokens of the metadata server are the
        account's own whatever person is asked for.
    """
    if path is not None:
        return service_account_file(path, SCOPES, acts_as)
    if not acts_as:
        return environment(SCOPES)
    return impersonated_credentials.Credentials(  # type: ignore[no-untyped-call]
        source_credentials=environment((CLOUD,)),
        target_principal=account,
        target_scopes=list(SCOPES),
        subject=acts_as,
    )


def cloud(path: Path | None) -> Callable[[], Any]:
    """A maker of credentials for Google Cloud's own APIs."""
    return lambda: environment((CLOUD,)) if path is None else service_account_file(path, (CLOUD,))
