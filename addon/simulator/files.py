"""Drive's files and who may use them: roles, shared drives, sharing rules, trash, what an app may see."""

import json
import threading
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal, get_args

from addon.simulator.errors import Refusal
from addon.simulator.filemeta import (
    FOLDER,
    ROLES,
    File,
    Permission,
    at_least,
    domain_of,
    insufficient,
    new_id,
    not_found,
    permission_id,
)
from addon.simulator.filestore import FileStore
from addon.simulator.state import State

Restriction = Literal["domainUsersOnly", "driveMembersOnly"]


@dataclass(slots=True)
class Rules:
    """What an organisation or Google's own state imposes; may be changed at any moment, gone at a restart.

    Parameters
    ----------
    external_sharing
        Whether people may share with addresses of other domains, which every service account's is.
    full
        Addresses of the people whose storage is used up.
    grant_lag
        How many requests of somebody who was newly given access are refused before it takes effect.
    """

    external_sharing: bool = True
    full: Collection[str] = ()
    grant_lag: int = 0


@dataclass(frozen=True, slots=True)
class SharedDrive:
    """A shared drive: the domain it belongs to and its restrictions."""

    domain: str = ""
    restrictions: frozenset[str] = field(default_factory=frozenset)


class Files(FileStore):
    """The files of one simulator, and everybody's access to them. Safe to share between threads.

    A shared drive is the folder at its top, as in Google: its permissions are the drive's members.
    """

    def __init__(self, state: State, clock: Callable[[], float] = time.time) -> None:
        super().__init__(state, clock)
        self.rules = Rules()
        self._lags: Counter[tuple[str, str]] = Counter()
        self._lag_lock = threading.Lock()

    def get(self, file_id: str, email: str, needed: str = "reader") -> File:
        """A file that ``email`` may use with at least the role ``needed``.

        Raises
        ------
        Refusal
            404 where there is none or it is not shared, 403 where the role is not enough.
        """
        file = self.known(file_id)
        role = self.admit(file, email)
        if role is None:
            raise not_found(file_id)
        if not at_least(role, needed):
            raise insufficient()
        return file

    def admit(self, file: File, email: str) -> str | None:
        """As `role`, for a request: one that comes too early for a new permission brings that nearer."""
        role = self.role(file, email)
        if role is None:
            with self._lag_lock:
                for item in self._given(file, email):
                    self._lags[item.file, item.id] = max(0, self._lags[item.file, item.id] - 1)
        return role

    def role(self, file: File, email: str) -> str | None:
        """The strongest role ``email`` has on the file, by itself or by a folder or drive it is in."""
        if self._barred(file, email):
            return None
        with self._lag_lock:
            roles = [item.role for item in self._given(file, email) if not self._lags[item.file, item.id]]
        return max(roles, key=ROLES.index, default=None)

    def may_share(self, file: File, email: str) -> bool:
        """Whether ``email`` may give others access, as ``capabilities.canShare`` says."""
        role = self.role(file, email)
        if file.drive is None:
            return role == "owner" or (role == "writer" and file.writers_can_share)
        if file.id == file.drive:
            return role == "organizer"
        return at_least(role, "fileOrganizer" if file.mime_type == FOLDER else "writer")

    def permissions(self, file: File) -> list[Permission]:
        """Who may use the file: one permission a person, the owner first."""
        strongest: dict[str, Permission] = {}
        for item in self._all_permissions(file):
            known = strongest.get(item.id)
            if known is None or at_least(item.role, known.role):
                strongest[item.id] = item
        return list(strongest.values())

    def _all_permissions(self, file: File) -> list[Permission]:
        result = [Permission(permission_id(file.owner), file.owner, "owner", file.id)] if file.owner else []
        stored = "SELECT id, email, role, file FROM permissions WHERE file = ? ORDER BY rowid"
        result += [Permission(*row) for row in self._state.rows(stored, [file.id])]
        for parent in self._parents(file):
            result += [item for item in self._all_permissions(parent) if item.role != "owner"]
        return result

    def _given(self, file: File, email: str) -> list[Permission]:
        return [item for item in self._all_permissions(file) if item.id == permission_id(email)]

    def _parents(self, file: File) -> Iterable[File]:
        return (parent for parent in map(self.find, file.parents) if parent is not None)

    def share(self, file: File, email: str, role: str) -> Permission:
        """Give somebody a role; they have one on each file, so this replaces an earlier one.

        No rule is applied: that is done for requests, by `check_sharing`.
        """
        permission = Permission(permission_id(email), email, role, file.id)
        if not self._given(file, email):
            with self._lag_lock:
                self._lags[file.id, permission.id] = self.rules.grant_lag
        with self._state.transaction() as statements:
            statements.execute(
                "INSERT INTO permissions (file, id, email, role) VALUES (?, ?, ?, ?) "
                "ON CONFLICT (file, id) DO UPDATE SET role = excluded.role",
                [file.id, permission.id, email, role],
            )
        return permission

    def unshare(self, file: File, identifier: str) -> bool:
        """Take a permission away, by its id; say whether the file itself had it."""
        with self._state.transaction() as statements:
            gone = statements.execute(
                "DELETE FROM permissions WHERE file = ? AND id = ?", [file.id, identifier]
            )
            return gone.rowcount == 1

    def give_away(self, file: File, email: str) -> None:
        """Make ``email`` the owner; the owner until then may still write."""
        self.unshare(file, permission_id(email))
        self.change(replace(file, owner=email))
        self.share(file, file.owner, "writer")

    def trash(self, file: File, trashed: bool = True) -> None:
        """Move a file to the trash or out of it; it is read and written by its id all the same."""
        self.change(replace(file, trashed=trashed))

    def is_trashed(self, file: File) -> bool:
        """Whether the file, or a folder it is in, is in the trash."""
        return file.trashed or any(map(self.is_trashed, self._parents(file)))

    def grant(self, file_id: str, email: str) -> None:
        """Let the add-on see a file under its user's ``drive.file`` scope."""
        with self._state.transaction() as statements:
            statements.execute("INSERT OR IGNORE INTO app_files VALUES (?, ?)", [file_id, email.lower()])

    def revoke(self, file_id: str, email: str) -> None:
        """Take back what `grant` gave."""
        with self._state.transaction() as statements:
            statements.execute("DELETE FROM app_files WHERE file = ? AND email = ?", [file_id, email.lower()])

    def granted(self, file_id: str, email: str) -> bool:
        """Whether the user opened the file with the add-on, or the add-on created it for them."""
        found = "SELECT 1 FROM app_files WHERE file = ? AND email = ?"
        return bool(self._state.rows(found, [file_id, email.lower()]))

    def check_storage(self, owner: str) -> None:
        """Refuse what would need storage of somebody who has none left; a shared drive has always some."""
        if owner and owner.lower() in {email.lower() for email in self.rules.full}:
            words = "The user's Drive storage quota has been exceeded."
            raise Refusal(403, words, reason="storageQuotaExceeded")

    def check_sharing(self, file: File, giver: str, email: str) -> None:
        """Apply the organisation's and the shared drive's rules to a request of ``giver``.

        Reasons and statuses as seen in public reports; Google documents none of them, and one rule is
        reported with several.

        Raises
        ------
        Refusal
            ``shareOutNotPermitted``, ``teamDriveDomainUsersOnlyRestriction`` or
            ``teamDriveTeamMembersOnlyRestriction``.
        """
        if not self.rules.external_sharing and domain_of(email) != domain_of(file.owner or giver):
            words = f'Bad Request. User message: "You can\'t share this item outside {domain_of(giver)}."'
            raise Refusal(400, words, reason="shareOutNotPermitted")
        if file.drive is None:
            return
        drive = self._drive(file.drive)
        if "domainUsersOnly" in drive.restrictions and domain_of(email) != drive.domain:
            words = "The user cannot share outside the domain of this shared drive."
            raise Refusal(403, words, reason="teamDriveDomainUsersOnlyRestriction")
        if (
            "driveMembersOnly" in drive.restrictions
            and file.id != file.drive
            and not self._is_member(file.drive, email)
        ):
            words = "Items of this shared drive are for its members only."
            raise Refusal(403, words, reason="teamDriveTeamMembersOnlyRestriction")

    def create_drive(
        self,
        name: str,
        members: Mapping[str, str],
        *,
        domain: str = "example.com",
        restrictions: Collection[Restriction] = (),
    ) -> str:
        """Make a shared drive whose ``members`` have the roles given by address; return its id.

        Raises
        ------
        ValueError
            There is no such role or restriction.
        """
        wrong = set(members.values()) - set(ROLES[:-1]) | set(restrictions) - set(get_args(Restriction))
        if wrong:
            raise ValueError(f"Neither a role nor a restriction: {', '.join(sorted(wrong))}.")
        drive_id = f"0A{new_id(17)}"
        with self._state.transaction() as statements:
            statements.execute(
                "INSERT INTO drives VALUES (?, ?, ?)", [drive_id, domain, json.dumps(sorted(restrictions))]
            )
        self.add("", name, FOLDER, file_id=drive_id, drive=drive_id)
        top = self.known(drive_id)
        for email, role in members.items():
            self.share(top, email, role)
        return drive_id

    def _drive(self, drive_id: str) -> SharedDrive:
        found = self._state.rows("SELECT domain, restrictions FROM drives WHERE id = ?", [drive_id])
        return SharedDrive(found[0][0], frozenset(json.loads(found[0][1]))) if found else SharedDrive()

    def _is_member(self, drive_id: str, email: str) -> bool:
        return any(item.id == permission_id(email) for item in self._all_permissions(self.known(drive_id)))

    def _barred(self, file: File, email: str) -> bool:
        """Whether the shared drive's restrictions keep somebody out, whatever they were given."""
        if file.drive is None:
            return False
        drive = self._drive(file.drive)
        return ("domainUsersOnly" in drive.restrictions and domain_of(email) != drive.domain) or (
            "driveMembersOnly" in drive.restrictions and not self._is_member(file.drive, email)
        )
