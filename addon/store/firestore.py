"""Documents in Firestore: optimistic transactions of plain reads and one conditional commit."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from google.api_core import exceptions
from google.cloud.firestore_v1.types import BatchGetDocumentsRequest

from addon.store.documents import AlreadyExists, Contention, Data, Order, Snapshot, Unavailable, Where
from addon.store.firestore_calls import TRANSIENT, Calls, Connect, connect, refusal
from addon.store.firestore_commit import Outcome, commit_request, judge
from addon.store.firestore_query import page_request, range_fields
from addon.store.optimistic import OptimisticDocuments
from addon.store.proto_values import EPOCH, DocumentMessage, decode_fields, encode_fields, to_datetime
from addon.store.transaction import Deadline, Pending, Reading, Stored
from addon.store.values import TRAIL_FIELD, check_collection

_BatchGet: Any = BatchGetDocumentsRequest.pb()

_CHUNK = 1000
"""Documents per BatchGetDocuments: about 100 ms on the emulator, and a request of some 100 KB."""

_PAGE = 500
"""Documents per RunQuery: a page is read to its end before any is given out, so no stream stays open."""

_CLEAN = (
    exceptions.Aborted,
    exceptions.AlreadyExists,
    exceptions.FailedPrecondition,
    exceptions.Forbidden,
    exceptions.InvalidArgument,
    exceptions.NotFound,
    exceptions.ResourceExhausted,
    exceptions.Unauthenticated,
)
"""Answers that say that this very request was not applied; after any other it may have been."""

_CONFLICTS = (exceptions.AlreadyExists, exceptions.FailedPrecondition, exceptions.NotFound)


class FirestoreDocuments(OptimisticDocuments):
    """`addon.store.documents.Documents` in a Firestore database, or its emulator.

    A deletion leaves nothing that could carry a nonce. So a transaction that only deletes, whose answer was
    lost, counts as done once its documents are missing: claim something by updating it, not by deleting it.
    A document written without being read is read at the commit, because every write is conditional.

    Parameters
    ----------
    project
        Google Cloud project of the database.
    database
        Its id.
    timeout
        Seconds a plain read or a page of a query may take.
    strict
        See `OptimisticDocuments`.
    connect
        Makes the client, when it is first needed.
    """

    def __init__(
        self,
        project: str,
        *,
        database: str = "(default)",
        timeout: float = 10.0,
        strict: bool = False,
        connect: Connect = connect,
    ) -> None:
        super().__init__(timeout=timeout, first_pause=0.02, strict=strict)
        self._database = f"projects/{project}/databases/{database}"
        self._root = f"{self._database}/documents"
        self._calls = Calls(self._database, connect)

    def now(self) -> datetime:
        """The server's clock, at the cost of one read."""
        return self.fetch(["clock/now"], self.deadline(self.timeout)).read_time

    def close(self) -> None:
        """Close the connection; a later call opens a new one."""
        self._calls.close()

    def query(
        self,
        collection: str,
        where: Sequence[Where] = (),
        order_by: Sequence[Order] = (),
        limit: int | None = None,
    ) -> Iterator[Snapshot]:
        """Documents directly in ``collection``, page by page.

        Equalities and ``in`` without an order, or one range with an order by its field, need no composite
        index. A range without an order reads all that it matches, to sort it by id.
        """
        check_collection(collection)
        ranges = range_fields(where)
        if not ranges or order_by:
            page_request(self._root, collection, where, order_by, limit=1)  # refuses a bad question now
            return self._pages(collection, where, order_by, limit)
        matching = self._pages(collection, where, [(name, "asc") for name in ranges], None)
        return iter(sorted(matching, key=lambda snapshot: snapshot.path)[:limit])

    def _pages(
        self, collection: str, where: Sequence[Where], order_by: Sequence[Order], limit: int | None
    ) -> Iterator[Snapshot]:
        after = None
        while limit is None or limit > 0:
            size = _PAGE if limit is None else min(_PAGE, limit)
            request = page_request(self._root, collection, where, order_by, limit=size, after=after)
            answers = self._calls.run_query(request, self.deadline(self.timeout))
            found = [answer for answer in answers if answer.HasField("document")]
            for answer in found:
                document = answer.document
                yield self.snapshot(self._path(document), _stored(document), to_datetime(answer.read_time))
            if len(found) < size:
                return
            after = found[-1].document
            limit = None if limit is None else limit - size

    def fetch(self, paths: Sequence[str], deadline: Deadline) -> Reading:
        """Read documents plainly, in chunks; the clock is that of the earliest answer."""
        return self._fetch(paths, deadline, fields=())

    def _fetch(self, paths: Sequence[str], deadline: Deadline, *, fields: Sequence[str]) -> Reading:
        found, times = {}, []
        for start in range(0, len(paths), _CHUNK):
            request = _BatchGet(database=self._database)
            request.documents.extend(f"{self._root}/{path}" for path in paths[start : start + _CHUNK])
            if fields:
                request.mask.field_paths.extend(fields)
            for answer in self._calls.batch_get(request, deadline):
                times.append(answer.read_time.ToNanoseconds())
                if answer.HasField("found"):
                    found[self._path(answer.found)] = _stored(answer.found)
        return Reading(found, EPOCH + timedelta(microseconds=min(times) // 1000))

    def commit(self, pending: Pending, deadline: Deadline) -> bool:
        """Send one conditional commit, again and again if need be, until its outcome is known."""
        unread = [
            path
            for path, write in pending.writes.items()
            if write.kind != "create" and path not in pending.reads
        ]
        if unread:
            found = self.fetch(unread, deadline).found
            pending.reads.update({path: found.get(path) for path in unread})
        request = commit_request(self._database, self._root, pending)
        ambiguous = False
        attempt = 0
        while (error := self._send(request, deadline)) is not None:
            ambiguous = ambiguous or not isinstance(error, _CLEAN)
            done = self._outcome(pending, error, deadline, ambiguous=ambiguous)
            if done is not None:
                return done
            # Nothing has changed, so the same request is still right; and it cannot be applied twice.
            if not deadline.pause(attempt):
                raise _given_up(error, ambiguous=ambiguous) from error
            attempt += 1
        return True

    def _send(self, request: Any, deadline: Deadline) -> exceptions.GoogleAPIError | None:
        try:
            self._calls.commit(request, deadline)
        except exceptions.GoogleAPIError as error:
            return error
        return None

    def _outcome(
        self, pending: Pending, error: exceptions.GoogleAPIError, deadline: Deadline, *, ambiguous: bool
    ) -> bool | None:
        """Whether the commit was applied; ``None`` if it was not and may be sent again."""
        paths = list(pending.reads | pending.writes)
        found = self._fetch(paths, deadline, fields=[TRAIL_FIELD]).found
        outcome = judge(pending, found, ambiguous=ambiguous)
        if outcome is Outcome.TAKEN:
            taken = min(path for path in pending.writes if path in found and path not in pending.reads)
            raise AlreadyExists(f"{taken} exists already; nothing was written.") from error
        if outcome is Outcome.UNKNOWN:
            raise _given_up(error, ambiguous=True) from error
        if outcome is Outcome.UNCHANGED:
            if not isinstance(error, (*TRANSIENT, *_CONFLICTS)):
                raise refusal(error) from error
            return None
        return outcome is Outcome.APPLIED

    def encode(self, data: Mapping[str, Any]) -> Any:
        """A ``Document`` message without a name."""
        message = DocumentMessage()
        encode_fields(data, message.fields)
        return message

    def decode(self, stored: Stored) -> Data:
        """The fields of a ``Document`` message, without the store's own."""
        data = decode_fields(stored.raw.fields)
        data.pop(TRAIL_FIELD, None)
        return data

    def _path(self, document: Any) -> str:
        name: str = document.name
        return name[len(self._root) + 1 :]


def _stored(document: Any) -> Stored:
    trail = document.fields[TRAIL_FIELD].string_value if TRAIL_FIELD in document.fields else ""
    return Stored(document.update_time.ToNanoseconds(), document, trail)


def _given_up(error: exceptions.GoogleAPIError, *, ambiguous: bool) -> Contention | Unavailable:
    cause = type(error).__name__
    if ambiguous:
        return Unavailable(
            f"Firestore's answer to a commit got lost ({cause}); whether it was applied is unknown."
        )
    return Contention(f"Firestore took no commit before the deadline ({cause}); nothing was written.")
