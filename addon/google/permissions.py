"""Who may use a file in Google Drive: giving access, taking it away, giving it up."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from addon.google.answers import Answer
from addon.google.errors import ActingFor, GoogleError, Refused, sort_refusal, sort_share_refusal
from addon.google.session import Budget, Session

FILES = "/drive/v3/files"
ALL_DRIVES = {"supportsAllDrives": "true"}
"""Without it Drive answers 404 for whatever is in a shared drive."""

_MAY_WRITE = frozenset({"writer", "fileOrganizer", "organizer", "owner"})
_INHERITED = frozenset({"cannotDeletePermission", "cannotModifyInheritedPermission"})
"""Reasons seen in public reports where a folder or a shared drive gives the access, not the file."""


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody who uses Drive, and the id that their permission has on every file."""

    email: str
    permission_id: str


class Permissions:
    """The permissions of files, for one credential. Safe to share between threads.

    Every call raises `TryAgain` when its retries or its deadline are used up, `FileMissing` where Drive shows
    no such file to this caller, `GrantMissing` where the user's token may not be used on it, and `JobBlocked`
    where a person must act. A ``deadline`` is in seconds, for all that a call does.

    Parameters
    ----------
    session
        Whoever the calls act for.
    endpoint
        Root URL of the API.
    acting_for
        Whose credential it is: decides what a refused access means.
    """

    def __init__(self, session: Session, endpoint: str, acting_for: ActingFor) -> None:
        self._session = session
        self._endpoint = endpoint
        self._acting_for = acting_for

    def share(self, file_id: str, email: str, role: str = "writer", *, deadline: float | None = None) -> None:
        """Let ``email`` use a file, without a notification mail. Repeating it changes nothing.

        It may take some seconds until the new access works everywhere.

        Raises
        ------
        GrantMissing
            The user has not granted this file, or sharing it, to the add-on.
        JobBlocked
            ``resharing_refused``: the caller may use the file but not share it, be it as a reader or because
            its owner lets nobody else share it; ``sharing_refused``: the organisation or the shared drive
            does not allow it.
        """
        permission = {"type": "user", "role": role, "emailAddress": email}
        params = {"sendNotificationEmail": "false", "fields": "id", **ALL_DRIVES}
        with self._sorting(f"file {file_id}", sort_share_refusal):
            self._request("POST", f"{path(file_id)}/permissions", params, json=permission, deadline=deadline)

    def shared_with(self, file_id: str, email: str, *, deadline: float | None = None) -> bool:
        """Whether ``email`` itself may write to a file, by whatever folder; groups are not looked into.

        Raises
        ------
        JobBlocked
            ``resharing_refused``: Drive tells only who may share a file. Let ``email`` look at the file.
        """
        budget = self._session.budget(deadline)
        with self._sorting(f"file {file_id}", sort_share_refusal):
            found = self._permissions_of(file_id, email, budget)
        return any(item.get("role") in _MAY_WRITE for item in found)

    def unshare(self, file_id: str, email: str, *, deadline: float | None = None) -> None:
        """Take away the permission of ``email`` on a file; where there is none (any more), all is well."""
        budget = self._session.budget(deadline)
        with self._sorting(f"file {file_id}", sort_share_refusal):
            for permission in self._permissions_of(file_id, email, budget):
                self._delete(file_id, permission["id"], budget)

    def whoami(self, *, deadline: float | None = None) -> Person:
        """Whom the calls act for, as Drive sees it."""
        params = {"fields": "user(permissionId,emailAddress)"}
        with self._sorting("the caller's own account"):
            user = self._request("GET", "/drive/v3/about", params, deadline=deadline).data.get("user", {})
        return Person(str(user.get("emailAddress", "")), str(user.get("permissionId", "")))

    def leave(self, file_id: str, email: str, *, deadline: float | None = None) -> None:
        """Give up the caller's own permission on a file; where there is none (any more), all is well.

        Drive lets everybody do that, but lists permissions only to those who may share the file. So the
        permission's id comes from ``about.get``: it is the same on every file. Access by a folder or a shared
        drive stays as it is.

        Parameters
        ----------
        email
            Who is to give up access. A credential that acts for somebody else must not do it for them.

        Raises
        ------
        ValueError
            The caller is not ``email``.
        """
        budget = self._session.budget(deadline)
        me = self.whoami(deadline=budget.left())
        if me.email.casefold() != email.casefold():
            raise ValueError(f"file {file_id} would be left by somebody else than who was meant")
        with self._sorting(f"file {file_id}"):
            try:
                self._delete(file_id, me.permission_id, budget)
            except Refused as refusal:
                if refusal.reason not in _INHERITED:
                    raise

    def _delete(self, file_id: str, permission: str, budget: Budget) -> None:
        where = f"{path(file_id)}/permissions/{quote(permission, safe='')}"
        try:
            self._request("DELETE", where, ALL_DRIVES, wants_json=False, deadline=budget.left())
        except Refused as refusal:
            if refusal.status != 404:  # otherwise somebody else was faster
                raise

    def _permissions_of(self, file_id: str, email: str, budget: Budget) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        fields = "nextPageToken,permissions(id,emailAddress,role)"
        params = {"fields": fields, "pageSize": "100", **ALL_DRIVES}
        while True:
            try:
                where = f"{path(file_id)}/permissions"
                page = self._request("GET", where, params, deadline=budget.left()).data
            except Refused as refusal:
                if refusal.status == 404 and self._acting_for == "worker":
                    return []  # a file the worker may not use any more is not shown to it either
                raise
            found += [
                item
                for item in page.get("permissions", ())
                if item.get("emailAddress", "").casefold() == email.casefold()
            ]
            if "nextPageToken" not in page:
                return found
            params["pageToken"] = page["nextPageToken"]

    def _request(
        self,
        method: str,
        path: str,
        params: Mapping[str, str],
        *,
        json: Any = None,
        wants_json: bool = True,
        deadline: float | None = None,
    ) -> Answer:
        return self._session.request(
            method,
            f"{self._endpoint}{path}",
            service="Drive",
            idempotent=True,  # ids made beforehand, absolute content, one permission a person
            params=params,
            json=json,
            wants_json=wants_json,
            deadline=deadline,
        )

    @contextmanager
    def _sorting(
        self, target: str, sort: Callable[[Refused, ActingFor, str], GoogleError] = sort_refusal
    ) -> Iterator[None]:
        try:
            yield
        except Refused as refusal:
            raise sort(refusal, self._acting_for, target) from None


def path(file_id: str) -> str:
    """Where a file is in the API."""
    return f"{FILES}/{quote(file_id, safe='')}"
