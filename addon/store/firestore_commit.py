"""One conditional commit as a protocol message, and the evidence of whether it was applied.

Every document that was read carries a precondition, also those that are not written. Every document that is
written carries a fresh nonce in front of the nonces of the writes before it (its *trail*), so that whoever
lost the answer to a commit can still see that it was applied, even after others wrote the same documents.
"""

from collections.abc import Mapping
from enum import Enum, auto
from typing import Any

from google.cloud.firestore_v1.types import CommitRequest

from addon.store.documents import (
    MAX_DOCUMENT_BYTES,
    MAX_REQUEST_BYTES,
    AlreadyExists,
    DocumentTooLarge,
    NotFound,
)
from addon.store.firestore_query import quoted
from addon.store.proto_values import DocumentMessage
from addon.store.transaction import NONCE_LENGTH, Pending, Stored, Write
from addon.store.values import TRAIL_FIELD

TRAIL_LENGTH = 8 * NONCE_LENGTH
"""Characters of nonces a document keeps: a lost answer can be looked up until others wrote it eight times."""

_CommitRequest: Any = CommitRequest.pb()


class Outcome(Enum):
    """What the documents say about a commit whose answer was an error, or got lost."""

    APPLIED = auto()
    """A document carries its nonce; or it only deletes, its answer got lost, and what it deletes is gone."""
    REFUSED = auto()
    """Something that it depends on changed, and it was not applied."""
    TAKEN = auto()
    """A document to be created exists, all that was read is unchanged, and it was not applied."""
    UNKNOWN = auto()
    """Its answer got lost, and too much has happened since to say whether it was applied."""
    UNCHANGED = auto()
    """It was not applied, and still could be."""


def commit_request(database: str, root: str, pending: Pending) -> Any:
    """The Commit message of an attempt. Updated, set and deleted documents must be among its reads.

    Raises
    ------
    AlreadyExists, NotFound
        A document to be created was read, or one to be updated was read as missing.
    DocumentTooLarge
        An updated document or the whole request would be too large.
    """
    request = _CommitRequest(database=database)
    for path, read in pending.reads.items():
        if path not in pending.writes:
            _verify(request.writes.add(), f"{root}/{path}", read)
    for path, write in pending.writes.items():
        _write(request.writes.add(), root, path, write, pending)
    size = request.ByteSize()
    if size > MAX_REQUEST_BYTES:
        raise DocumentTooLarge(
            f"One transaction would send {size:,} bytes; the limit is {MAX_REQUEST_BYTES:,}. Split it."
        )
    return request


def _verify(message: Any, name: str, read: Stored | None) -> None:
    """A write that changes nothing, and fails if the document is not as it was read."""
    if read is None:
        # An empty update would create the document; the deletion of a missing one does nothing.
        message.delete = name
        message.current_document.exists = False
    else:
        message.update.name = name
        message.update_mask.SetInParent()  # present and empty: no field is touched
        message.current_document.update_time.FromNanoseconds(read.version)


def _write(message: Any, root: str, path: str, write: Write, pending: Pending) -> None:
    name, read = f"{root}/{path}", pending.reads.get(path)
    if write.kind == "delete":
        if read is None:
            _verify(message, name, read)
            return
        message.delete = name
    else:
        if write.kind == "create" and read is not None:
            raise AlreadyExists(f"{path} exists already; nothing was written.")
        message.update.CopyFrom(write.encoded)
        message.update.name = name
        if write.kind == "update":
            _narrow(message, path, read)
        trail = pending.nonce + (read.trail if read else "")
        message.update.fields[TRAIL_FIELD].string_value = trail[:TRAIL_LENGTH]
    if read is None:
        message.current_document.exists = False
    else:
        message.current_document.update_time.FromNanoseconds(read.version)


def _narrow(message: Any, path: str, read: Stored | None) -> None:
    """Let an update touch only the fields it names."""
    if read is None:
        raise NotFound(f"{path} is missing and cannot be updated; nothing was written.")
    changes = message.update
    if read.raw.ByteSize() + changes.ByteSize() > MAX_DOCUMENT_BYTES:
        whole = DocumentMessage()
        whole.CopyFrom(read.raw)
        for field in changes.fields:
            whole.fields[field].CopyFrom(changes.fields[field])
        if whole.ByteSize() > MAX_DOCUMENT_BYTES:
            raise DocumentTooLarge(
                f"The document {path} would take {whole.ByteSize():,} bytes; the limit is "
                f"{MAX_DOCUMENT_BYTES:,}. Keep long texts in a file and only its id here."
            )
    message.update_mask.field_paths.extend(quoted(field) for field in [*changes.fields, TRAIL_FIELD])


def judge(pending: Pending, found: Mapping[str, Stored], *, ambiguous: bool) -> Outcome:
    """What became of an attempt.

    Parameters
    ----------
    pending
        What it read and wrote.
    found
        All its documents as they are now.
    ambiguous
        Whether an answer got lost; if none was, the server's refusal is certain.
    """
    writes = pending.writes
    if any(pending.nonce in stored.trail for path in writes if (stored := found.get(path))):
        return Outcome.APPLIED
    deleted = [path for path, write in writes.items() if write.kind == "delete" and pending.reads.get(path)]
    if ambiguous and deleted and len(deleted) == len(writes) and not any(path in found for path in deleted):
        return Outcome.APPLIED
    moved = any(_version(found.get(path)) != _version(read) for path, read in pending.reads.items())
    taken = any(path in found for path in writes if path not in pending.reads)
    if not moved and not taken:
        return Outcome.UNCHANGED
    if (
        ambiguous
        and writes
        and not any(_refutes(pending.reads.get(path), found.get(path)) for path in writes)
    ):
        return Outcome.UNKNOWN
    return Outcome.REFUSED if moved else Outcome.TAKEN


def _version(stored: Stored | None) -> int | None:
    return None if stored is None else stored.version


def _refutes(before: Stored | None, now: Stored | None) -> bool:
    """Whether one written document, not carrying the nonce now, proves that the commit was not applied."""
    if before is None:
        return now is None or len(now.trail) < TRAIL_LENGTH
    if now is None:
        return False
    newest = before.trail[:NONCE_LENGTH]
    return now.version == before.version or (newest != "" and newest in now.trail)
