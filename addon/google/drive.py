"""Google Drive, as far as a job needs it: a folder, its result files, and who may use a file.

Files are known by ids made beforehand, never by name, so that a create whose answer was lost is found
again instead of repeated: Drive answers 409 for an id that exists.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from addon.google.errors import Refused, TryAgain, blocked, in_trash, read_only
from addon.google.permissions import ALL_DRIVES, FILES, Permissions, path
from addon.google.session import Budget
from addon.google.uploads import Content, upload

FOLDER = "application/vnd.google-apps.folder"

_FIELDS = "id,name,webViewLink,size,sha256Checksum,trashed,appProperties,capabilities(canShare,canEdit)"


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
    trashed
        It, or a folder it is in, is in the trash. It is read and written all the same, until Drive deletes it
        after 30 days.
    can_share
        Whether the caller may give others access to it.
    can_edit
        Whether the caller may change it.
    """

    id: str
    name: str
    link: str
    size: int | None
    sha256: str | None
    trashed: bool
    properties: Mapping[str, str]
    can_share: bool = False
    can_edit: bool = False

    def check_not_trashed(self, code: Literal["spreadsheet_trashed", "results_trashed"]) -> None:
        """Raise `JobBlocked` with this code where the file is in the trash."""
        if self.trashed:
            raise in_trash(code, f"file {self.id}")

    def check_editable(self) -> None:
        """Raise `JobBlocked` (``read_only``) where the caller may not change the file."""
        if not self.can_edit:
            raise read_only(f"file {self.id}")


class Drive(Permissions):
    """The Drive API for one credential. Safe to share between threads.

    What every call raises is said at `Permissions`.
    """

    def generate_ids(self, n: int, *, deadline: float | None = None) -> list[str]:
        """Make ``n`` ids (1 to 1000) for files that the same caller will create."""
        if not 1 <= n <= 1000:
            raise ValueError(f"Drive makes 1 to 1000 ids at a time, not {n}")
        params = {"count": str(n), "space": "drive", "type": "files"}
        with self._sorting("new file ids"):
            answer = self._request("GET", f"{FILES}/generateIds", params, deadline=deadline)
        return [str(file_id) for file_id in answer.data.get("ids", ())]

    def create_folder(
        self,
        file_id: str,
        name: str,
        properties: Mapping[str, str],
        *,
        parent: str | None = None,
        deadline: float | None = None,
    ) -> FileInfo:
        """Create a folder, or find it created by an earlier try.

        Parameters
        ----------
        parent
            A folder or a shared drive, by id; without one the folder comes into the caller's My Drive.

        Raises
        ------
        FileMissing
            The parent is gone or not visible to this caller.
        JobBlocked
            ``storage_full``: the caller cannot own files, as a service account cannot outside shared drives;
            ``api_refused``: the id belongs to something else.
        """
        metadata: dict[str, Any] = {
            "id": file_id,
            "name": name,
            "mimeType": FOLDER,
            "appProperties": dict(properties),
        }
        if parent is not None:
            metadata["parents"] = [parent]
        params = {"fields": _FIELDS, **ALL_DRIVES}
        budget = self._session.budget(deadline)
        with self._sorting(f"folder {file_id} in {parent or 'My Drive'}"):
            try:
                answer = self._request("POST", FILES, params, json=metadata, deadline=deadline)
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
                return self._upload("POST", FILES, file_id, metadata, Content(content, mime_type), budget)
            except Refused as refusal:
                return self._existing(refusal, file_id, properties or {}, budget.left())

    def update(
        self,
        file_id: str,
        content: bytes,
        deadline: float | Budget | None = None,
        *,
        mime_type: str = "text/csv",
    ) -> FileInfo:
        """Replace a file's whole content within ``deadline``, and check that this is what is there.

        Raises
        ------
        TryAgain
            Also where Drive's checksum afterwards is not that of ``content``: bytes were lost, or somebody
            else wrote in between. What the file holds is unknown then.
        """
        with self._sorting(f"file {file_id}"):
            budget = self._session.budget(deadline)
            info = self._upload("PATCH", path(file_id), file_id, {}, Content(content, mime_type), budget)
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
        params = {"alt": "media", **ALL_DRIVES}
        with self._sorting(f"file {file_id}"):
            return self._request("GET", path(file_id), params, wants_json=False, deadline=deadline).body

    def info(self, file_id: str, *, deadline: float | None = None) -> FileInfo:
        """Read what Drive knows about a file; a trashed file is still there, and says so."""
        params = {"fields": _FIELDS, **ALL_DRIVES}
        with self._sorting(f"file {file_id}"):
            return _file_info(self._request("GET", path(file_id), params, deadline=deadline).data)

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

    def _upload(
        self,
        method: str,
        path: str,
        file_id: str,
        metadata: Mapping[str, Any],
        content: Content,
        budget: Budget,
    ) -> FileInfo:
        url, params = f"{self._endpoint}/upload{path}", {"fields": _FIELDS, **ALL_DRIVES}
        data = upload(self._session, method, url, params, metadata, content, budget).data
        if "sha256Checksum" not in data:  # the end of an upload session need not heed ``fields``
            return self.info(file_id, deadline=budget.left())
        return _file_info(data)


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
        can_share=data.get("capabilities", {}).get("canShare", False),
        can_edit=data.get("capabilities", {}).get("canEdit", False),
    )
