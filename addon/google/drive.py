"""Google Drive, as far as a job needs it: a folder, its result files, and who may use a file.

Files are known by ids made beforehand, never by name, so that a create whose answer was lost is found
again instead of repeated: Drive answers 409 for an id that exists.
"""

import hashlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from addon.google.answers import Answer
from addon.google.errors import (
    ActingFor,
    GoogleError,
    Refused,
    TryAgain,
    blocked,
    sort_refusal,
    sort_share_refusal,
)
from addon.google.session import Budget, Session
from addon.google.uploads import Content, upload

FOLDER = "application/vnd.google-apps.folder"

_FILES = "/drive/v3/files"
_ALL_DRIVES = {"supportsAllDrives": "true"}
"""Without it Drive answers 404 for whatever is in a shared drive."""
_FIELDS = "id,name,webViewLink,size,sha256Checksum,trashed,appProperties"


@dataclass(frozen=True, slots=True)
class FileInfo:
    """A file or folder in Drive.

    Parameters
    ----------
    link
        Where a person opens it.
    size, sha256
        Of its content, in bytes and hexadecimal; ``None`` for a folder.
    properties
        The ``appProperties`` that only this add-on sees.
    """

    id: str
    name: str
    link: str
    size: int | None
    sha256: str | None
    trashed: bool
    properties: Mapping[str, str]


class Drive:
    """The Drive API for one credential. Safe to share between threads.

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

    def generate_ids(self, n: int, *, deadline: float | None = None) -> list[str]:
        """Make ``n`` ids (1 to 1000) for files that the same caller will create."""
        if not 1 <= n <= 1000:
            raise ValueError(f"Drive makes 1 to 1000 ids at a time, not {n}")
        params = {"count": str(n), "space": "drive", "type": "files"}
        with self._sorting("new file ids"):
            answer = self._request("GET", f"{_FILES}/generateIds", params, deadline=deadline)
        return [str(file_id) for file_id in answer.data.get("ids", ())]

    def create_folder(
        self, file_id: str, name: str, properties: Mapping[str, str], *, deadline: float | None = None
    ) -> FileInfo:
        """Create a folder in the caller's My Drive, or find it created by an earlier try.

        Raises
        ------
        JobBlocked
            ``storage_full``: the caller cannot own files, as a service account cannot; ``api_refused``: the
            id belongs to something else.
        """
        metadata = {"id": file_id, "name": name, "mimeType": FOLDER, "appProperties": dict(properties)}
        params = {"fields": _FIELDS, **_ALL_DRIVES}
        budget = self._session.budget(deadline)
        with self._sorting(f"folder {file_id}"):
            try:
                answer = self._request("POST", _FILES, params, json=metadata, deadline=deadline)
                return _file_info(answer.data)
            except Refused as refusal:
                return self._existing(refusal, file_id, properties, budget.left())

    def create_file(
        self,
        file_id: str,
        name: str,
        parent: str,
        content: bytes,
        mime_type: str = "text/csv",
        properties: Mapping[str, str] | None = None,
        *,
        deadline: float | None = None,
    ) -> FileInfo:
        """Create a file with its content in the folder ``parent``, or find it created by an earlier try.

        A file that exists is left as it is, with whatever content it has by now.

        Raises
        ------
        FileMissing
            The folder is gone or not visible to this caller.
        JobBlocked
            As for `create_folder`.
        """
        metadata = {
            "id": file_id,
            "name": name,
            "parents": [parent],
            "mimeType": mime_type,
            "appProperties": dict(properties or {}),
        }
        with self._sorting(f"file {file_id} in folder {parent}"):
            budget = self._session.budget(deadline)
            try:
                return self._upload("POST", _FILES, file_id, metadata, Content(content, mime_type), budget)
            except Refused as refusal:
                return self._existing(refusal, file_id, properties or {}, budget.left())

    def update(
        self, file_id: str, content: bytes, deadline: float | None = None, *, mime_type: str = "text/csv"
    ) -> FileInfo:
        """Replace a file's whole content within ``deadline`` seconds, and check that this is what is there.

        Raises
        ------
        TryAgain
            Also where Drive's checksum afterwards is not that of ``content``: bytes were lost, or somebody
            else wrote in between. What the file holds is unknown then.
        """
        with self._sorting(f"file {file_id}"):
            budget = self._session.budget(deadline)
            info = self._upload("PATCH", _path(file_id), file_id, {}, Content(content, mime_type), budget)
        if info.sha256 != hashlib.sha256(content).hexdigest():
            raise TryAgain(
                f"Drive holds other content in file {file_id} than was written; write it again.",
                service="Drive",
                reason="checksum_differs",
                outcome_unknown=True,
            )
        return info

    def download(self, file_id: str, *, deadline: float | None = None) -> bytes:
        """Read a file's whole content."""
        params = {"alt": "media", **_ALL_DRIVES}
        with self._sorting(f"file {file_id}"):
            return self._request("GET", _path(file_id), params, wants_json=False, deadline=deadline).body

    def info(self, file_id: str, *, deadline: float | None = None) -> FileInfo:
        """Read what Drive knows about a file; a trashed file is still there, and says so."""
        params = {"fields": _FIELDS, **_ALL_DRIVES}
        with self._sorting(f"file {file_id}"):
            return _file_info(self._request("GET", _path(file_id), params, deadline=deadline).data)

    def share(self, file_id: str, email: str, role: str = "writer", *, deadline: float | None = None) -> None:
        """Let ``email`` use a file, without a notification mail. Repeating it changes nothing.

        Raises
        ------
        GrantMissing
            The user has not granted this file, or sharing it, to the add-on.
        JobBlocked
            ``sharing_refused``: the file's owner or the organisation does not allow it.
        """
        permission = {"type": "user", "role": role, "emailAddress": email}
        params = {"sendNotificationEmail": "false", "fields": "id", **_ALL_DRIVES}
        with self._sorting(f"file {file_id}", sort_share_refusal):
            self._request("POST", f"{_path(file_id)}/permissions", params, json=permission, deadline=deadline)

    def unshare(self, file_id: str, email: str, *, deadline: float | None = None) -> None:
        """Take away the permission of ``email`` on a file; where there is none (any more), all is well."""
        budget = self._session.budget(deadline)
        with self._sorting(f"file {file_id}", sort_share_refusal):
            for permission in self._permissions_of(file_id, email, budget):
                path = f"{_path(file_id)}/permissions/{quote(permission, safe='')}"
                try:
                    self._request("DELETE", path, _ALL_DRIVES, wants_json=False, deadline=budget.left())
                except Refused as refusal:
                    if refusal.status != 404:  # otherwise somebody else was faster
                        raise

    def _permissions_of(self, file_id: str, email: str, budget: Budget) -> list[str]:
        found: list[str] = []
        path = f"{_path(file_id)}/permissions"
        params = {"fields": "nextPageToken,permissions(id,emailAddress)", "pageSize": "100", **_ALL_DRIVES}
        while True:
            try:
                page = self._request("GET", path, params, deadline=budget.left()).data
            except Refused as refusal:
                if refusal.status == 404 and self._acting_for == "worker":
                    return []  # a file the worker may not use any more is not shown to it either
                raise
            found += [
                item["id"]
                for item in page.get("permissions", ())
                if item.get("emailAddress", "").casefold() == email.casefold()
            ]
            if "nextPageToken" not in page:
                return found
            params["pageToken"] = page["nextPageToken"]

    def _existing(
        self, refusal: Refused, file_id: str, properties: Mapping[str, str], deadline: float | None
    ) -> FileInfo:
        """The file that an earlier try created, if that is why Drive refused."""
        if refusal.status != 409:
            raise refusal
        info = self.info(file_id, deadline=deadline)
        if any(info.properties.get(name) != value for name, value in properties.items()):
            raise blocked("api_refused", f"file id {file_id}, which something else has", refusal)
        return info

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

    def _upload(
        self,
        method: str,
        path: str,
        file_id: str,
        metadata: Mapping[str, Any],
        content: Content,
        budget: Budget,
    ) -> FileInfo:
        url, params = f"{self._endpoint}/upload{path}", {"fields": _FIELDS, **_ALL_DRIVES}
        data = upload(self._session, method, url, params, metadata, content, budget).data
        if "sha256Checksum" not in data:  # the end of an upload session need not heed ``fields``
            return self.info(file_id, deadline=budget.left())
        return _file_info(data)

    @contextmanager
    def _sorting(
        self, target: str, sort: Callable[[Refused, ActingFor, str], GoogleError] = sort_refusal
    ) -> Iterator[None]:
        try:
            yield
        except Refused as refusal:
            raise sort(refusal, self._acting_for, target) from None


def _path(file_id: str) -> str:
    return f"{_FILES}/{quote(file_id, safe='')}"


def _file_info(data: Mapping[str, Any]) -> FileInfo:
    size = data.get("size")  # an int64, which Google's JSON spells as a string
    return FileInfo(
        id=data.get("id", ""),
        name=data.get("name", ""),
        link=data.get("webViewLink", ""),
        size=None if size is None else int(size),
        sha256=data.get("sha256Checksum"),
        trashed=data.get("trashed", False),
        properties=data.get("appProperties", {}),
    )
