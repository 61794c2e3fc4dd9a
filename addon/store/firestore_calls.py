"""Calls to Firestore: one client per process, explicit timeouts, and errors in the port's words."""

import os
import threading
from collections.abc import Callable, Sequence
from typing import Any

import grpc
from google.api_core import exceptions
from google.auth.exceptions import GoogleAuthError
from google.cloud.firestore_v1.services.firestore import FirestoreClient
from google.cloud.firestore_v1.services.firestore.transports import FirestoreGrpcTransport
from google.cloud.firestore_v1.types import (
    BatchGetDocumentsRequest,
    BatchGetDocumentsResponse,
    CommitRequest,
    RunQueryRequest,
    RunQueryResponse,
)

from addon.store.documents import StoreError, Unavailable
from addon.store.transaction import Deadline

TRANSIENT = (
    exceptions.Aborted,
    exceptions.Cancelled,
    exceptions.DeadlineExceeded,
    exceptions.InternalServerError,
    exceptions.ResourceExhausted,
    exceptions.RetryError,
    exceptions.ServiceUnavailable,
    exceptions.Unknown,
)
"""Errors after which the same call may succeed."""

LONGEST_CALL = 5.0
"""Seconds one try may take, so that a lost connection leaves time for another one."""

_CHANNEL_OPTIONS = [
    ("grpc.keepalive_time_ms", 30_000),
    ("grpc.max_send_message_length", -1),
    ("grpc.max_receive_message_length", -1),
]

Connect = Callable[[], FirestoreClient]


def connect() -> FirestoreClient:
    """A client of the emulator at ``FIRESTORE_EMULATOR_HOST``, else of Firestore, as the default account."""
    emulator = os.environ.get("FIRESTORE_EMULATOR_HOST")
    if emulator:
        channel = grpc.insecure_channel(emulator, options=_CHANNEL_OPTIONS)
        return FirestoreClient(transport=FirestoreGrpcTransport(host=emulator, channel=channel))
    channel = FirestoreGrpcTransport.create_channel(
        FirestoreClient.DEFAULT_ENDPOINT, options=_CHANNEL_OPTIONS
    )
    return FirestoreClient(
        transport=FirestoreGrpcTransport(host=FirestoreClient.DEFAULT_ENDPOINT, channel=channel)
    )


class Calls:
    """The three calls the store makes, on plain protobuf messages.

    Parameters
    ----------
    database
        Its full resource name.
    connect
        Makes the client when it is first needed: a gRPC client made before a fork hangs in the child.
    """

    def __init__(self, database: str, connect: Connect) -> None:
        self._connect = connect
        self._lock = threading.Lock()
        self._client: Any = None
        self._metadata = [("google-cloud-resource-prefix", database)]
        if os.environ.get("FIRESTORE_EMULATOR_HOST"):
            self._metadata.append(
                ("authorization", "Bearer owner")
            )  # what the emulator takes for an administrator

    def batch_get(self, request: Any, deadline: Deadline) -> list[Any]:
        """Answers of a BatchGetDocuments, tried again until the deadline."""
        wrapped = BatchGetDocumentsRequest.wrap(request)
        answers = self._read(lambda client: client.batch_get_documents, wrapped, deadline)
        return [BatchGetDocumentsResponse.pb(answer) for answer in answers]

    def run_query(self, request: Any, deadline: Deadline) -> list[Any]:
        """Answers of a RunQuery, tried again until the deadline."""
        answers = self._read(lambda client: client.run_query, RunQueryRequest.wrap(request), deadline)
        return [RunQueryResponse.pb(answer) for answer in answers]

    def commit(self, request: Any, deadline: Deadline) -> None:
        """Send a Commit once, without any hidden repetition.

        Raises
        ------
        google.api_core.exceptions.GoogleAPIError
            As it came; the caller finds out whether the commit was applied.
        """
        self._ready().commit(
            request=CommitRequest.wrap(request),
            retry=None,
            timeout=_timeout(deadline),
            metadata=self._metadata,
        )

    def close(self) -> None:
        """Close the connection; a later call opens a new one."""
        with self._lock:
            client, self._client = self._client, None
        if client is not None:
            client.transport.close()

    def _ready(self) -> Any:
        with self._lock:
            if self._client is None:
                try:
                    self._client = self._connect()
                except GoogleAuthError as error:
                    raise StoreError(f"Firestore cannot be used: {error}") from error
            return self._client

    def _read(self, method: Callable[[Any], Any], request: Any, deadline: Deadline) -> Sequence[Any]:
        attempt = 0
        while True:
            try:
                stream = method(self._ready())(
                    request=request, retry=None, timeout=_timeout(deadline), metadata=self._metadata
                )
                return list(stream)
            except TRANSIENT as error:
                if not deadline.pause(attempt):
                    raise Unavailable(
                        f"Firestore did not answer a read before the deadline ({type(error).__name__})."
                    ) from error
                attempt += 1
            except exceptions.GoogleAPIError as error:
                raise refusal(error) from error


def refusal(error: exceptions.GoogleAPIError) -> StoreError:
    """An error that no repetition can heal, for people: missing permission, no such database …"""
    return StoreError(
        f"Firestore refused a call ({type(error).__name__}): {getattr(error, 'message', error)}"
    )


def _timeout(deadline: Deadline) -> float:
    # A call that follows the deadline, to learn what became of a commit, gets half a second.
    return max(0.5, min(LONGEST_CALL, deadline.remaining))
