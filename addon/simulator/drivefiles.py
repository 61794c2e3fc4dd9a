"""Creating and changing Drive files for a caller, and showing them as Drive does."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from flask import Response, g, request

from addon.simulator.errors import Refusal, unsupported
from addon.simulator.filemeta import (
    FOLDER,
    GOOGLE_TYPES,
    File,
    Permission,
    at_least,
    insufficient,
    merged_properties,
)
from addon.simulator.files import Files
from addon.simulator.gate import answer
from addon.simulator.identity import Identity
from addon.simulator.reach import reach

ROOT = "root"
"""Alias of the caller's own top folder."""


class Keeper:
    """Creates and changes files for the caller of the request, and shows them."""

    def __init__(self, files: Files, identity: Identity, url: str) -> None:
        self._files = files
        self._identity = identity
        self._url = url

    def answer(self, file_id: str) -> Response:
        """The file as Drive shows it; without ``fields`` only its kind, id, name and type."""
        shown = self.shown(self._files.known(file_id))
        if g.mask is None:
            shown = {name: shown[name] for name in ("kind", "id", "name", "mimeType")}
        return answer(shown)

    def shown(self, file: File) -> dict[str, Any]:
        """All that Drive tells about a file, as far as it is imitated."""
        shown: dict[str, Any] = {
            "kind": "drive#file",
            "id": file.id,
            "name": file.name,
            "mimeType": file.mime_type,
            "description": file.description,
            "trashed": self._files.is_trashed(file),
            "parents": list(file.parents),
            "appProperties": dict(file.app_properties),
            "version": str(file.version),
            "createdTime": _time(file.created),
            "modifiedTime": _time(file.modified),
            "webViewLink": f"{self._url}/file/d/{file.id}/view",
            "ownedByMe": file.owner == g.caller.email,
            "capabilities": self._capabilities(file),
        }
        if file.drive is not None:
            shown["driveId"] = file.drive
        else:
            shown["owners"] = [{"kind": "drive#user", "emailAddress": file.owner}]
            shown["writersCanShare"] = file.writers_can_share
            if self._files.may_share(file, g.caller.email):
                shown["permissions"] = [show_permission(item) for item in self._files.permissions(file)]
        if file.blob is not None:
            shown |= {"size": str(file.size), "md5Checksum": file.md5, "sha256Checksum": file.sha256}
        return shown

    def _capabilities(self, file: File) -> dict[str, bool]:
        role = self._files.role(file, g.caller.email)
        return {
            "canEdit": at_least(role, "writer"),
            "canShare": self._files.may_share(file, g.caller.email),
            "canTrash": at_least(role, _trasher(file)),
            "canDelete": at_least(role, _deleter(file)),
        }

    def check_new(self, metadata: dict[str, Any]) -> None:
        """Refuse what could not be created.

        Raises
        ------
        Refusal
            The caller can own nothing, or has no storage, or the id or the parent cannot be used.
        """
        self._known(metadata)
        parents = self._parents(metadata.get("parents", []))
        in_drive = self._drive_of(parents) is not None
        if g.caller.email == self._identity.worker.email and not in_drive:
            raise Refusal(
                403,
                "Service Accounts do not have storage quota. Leverage shared drives "
                "(https://developers.google.com/workspace/drive/api/guides/about-shareddrives), or use OAuth "
                "delegation instead.",
                reason="storageQuotaExceeded",
            )
        self._files.check_storage("" if in_drive else g.caller.email)
        if "id" in metadata:
            mime_type = metadata.get("mimeType", "application/octet-stream")
            self._files.usable_id(metadata["id"], g.caller.email, mime_type)

    def create(self, metadata: dict[str, Any], content: bytes | None, mime_type: str | None) -> str:
        """Create a file."""
        self.check_new(metadata)
        kind = metadata.get("mimeType") or mime_type or "application/octet-stream"
        if kind.startswith(GOOGLE_TYPES) and (kind != FOLDER or content is not None):
            raise unsupported(f"creating {kind} in Drive")
        parents = self._parents(metadata.get("parents", []))
        file_id = self._files.add(
            g.caller.email,
            metadata.get("name", "Untitled"),
            kind,
            file_id=metadata.get("id"),
            parents=parents,
            drive=self._drive_of(parents),
            app_properties=metadata.get("appProperties"),
            description=metadata.get("description", ""),
            content=content,
        )
        self._files.grant(file_id, g.caller.email)  # what the add-on creates for somebody it may see
        return file_id

    def put(self, file_id: str | None, metadata: dict[str, Any], content: bytes, mime_type: str) -> str:
        """Create a file with content, or give one new content."""
        if file_id is None:
            return self.create(metadata, content, mime_type)
        return self.update(file_id, metadata, content)

    def update(self, file_id: str, metadata: dict[str, Any], content: bytes | None) -> str:
        """Change a file's metadata, parents or content."""
        file = reach(self._files, file_id, "writer")
        if file.id == file.drive:
            raise unsupported("changing a shared drive by files.update")
        self._known(metadata)
        self._check_change(file, metadata)
        if content is not None:
            if file.blob is None:
                raise unsupported("uploads to a file in one of Google's own formats")
            self._files.check_storage(file.owner)
        self._files.change(
            replace(
                file,
                name=metadata.get("name", file.name),
                description=metadata.get("description", file.description),
                mime_type=metadata.get("mimeType", file.mime_type),
                trashed=metadata.get("trashed", file.trashed),
                writers_can_share=metadata.get("writersCanShare", file.writers_can_share),
                parents=tuple(self._new_parents(file)),
                app_properties=merged_properties(file.app_properties, metadata.get("appProperties") or {}),
            ),
            content=content,
        )
        return file_id

    def delete(self, file_id: str) -> None:
        """Delete a file for good, and with a folder all that is in it."""
        file = reach(self._files, file_id)
        if file.id == file.drive:
            raise unsupported("deleting a shared drive by files.delete")
        if not at_least(self._files.role(file, g.caller.email), _deleter(file)):
            raise insufficient()
        self._files.remove(file)

    def _check_change(self, file: File, metadata: dict[str, Any]) -> None:
        if set(metadata) & {"id", "parents"} or (file.drive is not None and "writersCanShare" in metadata):
            raise Refusal(
                403,
                "The resource body includes fields which are not directly writable.",
                reason="fieldNotWritable",
            )
        role = self._files.role(file, g.caller.email)
        if ("trashed" in metadata and not at_least(role, _trasher(file))) or (
            "writersCanShare" in metadata and role != "owner"
        ):
            raise insufficient()

    def _new_parents(self, file: File) -> list[str]:
        """The parents after a change; what is in a shared drive keeps exactly one, in the same drive."""
        added = self._parents([request.args["addParents"]]) if "addParents" in request.args else []
        removed = request.args.get("removeParents", "").split(",")
        kept = [parent for parent in file.parents if parent not in removed]
        if added and self._drive_of(added) != file.drive:
            raise unsupported("moving files between drives")
        if file.drive is not None and file.id != file.drive and bool(added) == bool(kept):
            words = "A shared drive item must have exactly one parent."
            raise Refusal(403, words, reason="teamDrivesParentLimit")
        return added or kept

    def _known(self, metadata: dict[str, Any]) -> None:
        known = {"id", "name", "mimeType", "description", "parents", "appProperties", "trashed"}
        known.add("writersCanShare")
        unknown = sorted(set(metadata) - known)
        if unknown:
            raise unsupported(f"setting the file's {', '.join(unknown)}")

    def _parents(self, parents: list[str]) -> list[str]:
        if len(parents) > 1:
            raise Refusal(403, "A file cannot have more than one parent.", reason="multipleParentsNotAllowed")
        for parent in parents:
            if parent == ROOT:
                return []
            if reach(self._files, parent, "writer").mime_type != FOLDER:
                raise Refusal(403, "The specified parent is not a folder.", reason="parentNotAFolder")
        return parents

    def _drive_of(self, parents: list[str]) -> str | None:
        return self._files.known(parents[0]).drive if parents else None


def _trasher(file: File) -> str:
    """The weakest role that may move the file to the trash (Drive's table of roles)."""
    return "owner" if file.drive is None else "fileOrganizer"


def _deleter(file: File) -> str:
    """The weakest role that may delete the file for good (reference of ``files.delete``)."""
    return "owner" if file.drive is None else "organizer"


def show_permission(permission: Permission) -> dict[str, Any]:
    """A permission as Drive shows it."""
    return {
        "kind": "drive#permission",
        "id": permission.id,
        "type": "user",
        "role": permission.role,
        "emailAddress": permission.email,
    }


def _time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
