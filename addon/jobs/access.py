"""The worker's access to one spreadsheet and to the results: given inside a click, taken back in the end.

How it reaches them is the operator's choice (``ADDON_WORKER_ACCESS``): ``share``, the user shares the
spreadsheet and the results folder with the worker; ``delegation``, the worker acts as the user; or
``shared_drive``, the spreadsheet is shared, and the results are in a shared drive of the worker's.
"""

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta

from addon.google.access import UserAccess, Workers
from addon.google.drive import Drive, FileInfo
from addon.google.errors import FileMissing, GoogleError, JobBlocked, TryAgain, not_granted, unusable_drive
from addon.jobs import events
from addon.jobs.chain import read_job, read_shards
from addon.jobs.records import spreadsheet_path
from addon.settings import Settings
from addon.store.documents import Documents, Transaction

KEPT = timedelta(minutes=5)
"""How long access given for a command stays at least, if no job comes of it."""

WITHDRAWING = timedelta(seconds=12)
"""How long somebody who gives access waits for somebody who is taking it away."""

WITHDRAW_SECONDS = 6.0
"""Time-out of taking it away: well below `WITHDRAWING`."""

POLL_SECONDS = 0.5

_DRIVE_REFUSES = frozenset({"access_removed", "sharing_refused", "resharing_refused"})


@dataclass(frozen=True)
class Access:
    """What giving and taking access needs. ``sleep`` is for tests."""

    documents: Documents
    workers: Workers
    settings: Settings
    sleep: Callable[[float], None] = time.sleep

    @property
    def _shares(self) -> bool:
        return self.settings.worker_access != "delegation"

    def acts_as(self, user: UserAccess) -> str:
        """The e-mail the worker acts as in a job of this user; empty where it acts as itself."""
        return user.email if self.settings.worker_access == "delegation" else ""

    @property
    def results_drive(self) -> str:
        """Id of the shared drive that holds the results; empty where they are in the user's own."""
        return self.settings.shared_drive if self.settings.worker_access == "shared_drive" else ""

    def keeper(self, user: UserAccess) -> Drive:
        """Whoever creates the results' files, and so owns them or answers for them."""
        return self.workers.acting_as().drive if self.results_drive else user.drive

    def create_folder(
        self, user: UserAccess, file_id: str, name: str, properties: Mapping[str, str]
    ) -> FileInfo:
        """Create the results folder where results are kept, or find it created by an earlier try.

        Raises
        ------
        JobBlocked
            ``shared_drive_refused``: the worker cannot create anything there.
        """
        parent = self.results_drive or None
        with self._in_shared_drive():
            return self.keeper(user).create_folder(file_id, name, properties, parent=parent)

    def give_folder(self, user: UserAccess, folder: str) -> None:
        """Let worker and user both reach the results folder. Repeating it changes nothing."""
        if self.results_drive:
            with self._in_shared_drive():
                self.keeper(user).share(folder, user.email, "reader")
        elif self._shares:
            user.drive.share(folder, self.settings.worker_account)

    @contextmanager
    def _in_shared_drive(self) -> Iterator[None]:
        """A refusal of the drive's is for the operator to mend, not for the person who clicks."""
        try:
            yield
        except (FileMissing, JobBlocked) as refused:
            about = isinstance(refused, FileMissing) or refused.code in _DRIVE_REFUSES
            if not self.results_drive or not about:
                raise
            raise unusable_drive(self.results_drive, refused) from None

    def check_editor(self, user: UserAccess, spreadsheet_id: str) -> None:
        """Raise `JobBlocked` (``read_only``) for somebody who may not edit the spreadsheet.

        The worker writes what a person asks for. It may have its access from somebody else, so Google would
        not notice that this person has none.

        Raises
        ------
        GrantMissing
            The user's token may not see the spreadsheet at all: they have not opened it to the add-on.
        """
        try:
            info = user.drive.info(spreadsheet_id)
        except FileMissing as missing:
            raise not_granted(missing, f"file {spreadsheet_id}") from None
        info.check_editable()

    def give(self, user: UserAccess, spreadsheet_id: str) -> None:
        """Let the worker work on a spreadsheet that the user may edit; see `share`."""
        self.check_editor(user, spreadsheet_id)
        self.share(user, spreadsheet_id)

    def share(self, user: UserAccess, spreadsheet_id: str) -> None:
        """Let the worker work on a spreadsheet, with the user's own right to do so.

        What the worker was given by somebody else is not taken back in the end, so that is told apart here.

        Raises
        ------
        GoogleError
            ``sharing_refused`` and the like: the sentence says who can change it.
        """
        if not self._shares:
            return
        self._hold(spreadsheet_id)
        try:
            if user.drive.shared_with(spreadsheet_id, self.settings.worker_account):
                return
            user.drive.share(spreadsheet_id, self.settings.worker_account)
        except JobBlocked as refused:
            if refused.code in {"sharing_refused", "resharing_refused"} and self._reached(spreadsheet_id):
                return  # somebody who may share it has done so
            raise
        self.documents.transact(lambda tx: _update(tx, spreadsheet_id, shared=True))

    def _reached(self, spreadsheet_id: str) -> bool:
        try:
            self.workers.acting_as().drive.info(spreadsheet_id, deadline=WITHDRAW_SECONDS)
        except GoogleError:
            return False
        return True

    def _hold(self, spreadsheet_id: str) -> None:
        """Keep others from taking the access back now; wait for one who is at it."""

        def work(tx: Transaction) -> bool:
            snapshot = tx.get(spreadsheet_path(spreadsheet_id))
            data = snapshot.data if snapshot else {}
            until = data.get("withdrawing_until")
            if until is not None and until > tx.now:
                return False
            _update(tx, spreadsheet_id, withdraw_at=tx.now + KEPT if data.get("withdraw_at") else None)
            return True

        for _ in range(int(WITHDRAWING.total_seconds() / POLL_SECONDS) + 1):
            if self.documents.transact(work):
                return
            self.sleep(POLL_SECONDS)
        raise TryAgain(
            "The access of the job before is still being taken back; try again in a moment.",
            service="Drive",
            reason="withdrawing",
        )

    def withdraw(self, spreadsheet_id: str) -> bool:
        """Give up the worker's access where no job needs it any more; whether that was done.

        What cannot be done now is done by a later sweep.
        """
        if not self.documents.transact(lambda tx: _begin_to_withdraw(tx, spreadsheet_id)):
            return False
        drive = self.workers.acting_as().drive
        try:
            drive.leave(spreadsheet_id, self.settings.worker_account, deadline=WITHDRAW_SECONDS)
        except FileMissing:
            pass  # deleted, or taken away by somebody already
        except GoogleError as error:
            events.access_kept(spreadsheet_id, error)
            return False
        self.documents.transact(
            lambda tx: _update(tx, spreadsheet_id, shared=False, withdraw_at=None, withdrawing_until=None)
        )
        events.access_withdrawn(spreadsheet_id)
        return True


def _update(tx: Transaction, spreadsheet_id: str, **changes: object) -> None:
    path = spreadsheet_path(spreadsheet_id)
    snapshot = tx.get(path)
    if snapshot is not None:
        tx.update(path, changes)


def _begin_to_withdraw(tx: Transaction, spreadsheet_id: str) -> bool:
    """Mark that the access is being taken back, if it is due, ours to take, and of no use to anybody."""
    snapshot = tx.get(spreadsheet_path(spreadsheet_id))
    data = snapshot.data if snapshot else {}
    due = data.get("withdraw_at")
    if due is None or due > tx.now:
        return False
    if not data.get("shared") or data.get("active_job") or data.get("schedule"):
        _update(tx, spreadsheet_id, withdraw_at=None)
        return False
    if data.get("last_job") and _at_work(tx, data["last_job"]):
        return False
    _update(tx, spreadsheet_id, withdrawing_until=tx.now + WITHDRAWING)
    return True


def _at_work(tx: Transaction, job_id: str) -> bool:
    """Whether a link of a job that is over still shows what it had called for."""
    shards = read_shards(tx, job_id, read_job(tx, job_id)).values()
    return any(shard.owner and shard.expires_at and shard.expires_at > tx.now for shard in shards)
