"""Creating and changing Drive files for a caller, and showing them as Drive does."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from flask import Response, g, request

from addon.simulator.errors import Refusal, unsupported
from addon.simulator.filemeta import FOLDER, GOOGLE_TYPES, File, Permission, merged_properties, not_found
from addon.simulator.files import Files
from addon.simulator.gate import answer
from addon.simulator.identity import Identity

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
        file = self._files.find(file_id)
        if file is None:
            raise not_found(file_id)
        shown = self.shown(file)
        if g.mask is None:
            shown = {name: shown[name] for name in ("kind", "id", "name", "mimeType")}
        return answer(shown)

    def shown(self, file: File) -> dict[str, Any]:
        """All that Drive tells about a file, as far as it is imitated."""
        role = self._files.role(file, g.caller.email)
        shown: dict[str, Any] = {
            "kind": "drive#file",
            "id": file.id,
            "name": file.name,
            "mimeType": file.mime_type,
            "description": file.description,
            "trashed": file.trashed,
            "parents": list(file.parents),
            "appProperties": dict(file.app_properties),
            "version": str(file.version),
            "createdTime": _time(file.created),
            "modifiedTime": _time(file.modified),
            "webViewLink": f"{self._url}/file/d/{file.id}/view",
            "ownedByMe": file.owner == g.caller.email,
            "owners": [{"kind": "drive#user", "emailAddress": file.owner}],
            "capabilities": {
                "canEdit": role in {"writer", "owner"},
                "canShare": role in {"writer", "owner"},
                "canTrash": role == "owner",
                "canDelete": role == "owner",
            },
            "permissions": [show_permission(item) for item in self._files.permissions(file)],
        }
        if file.blob is not None:
            shown |= {"size": str(file.size), "md5Checksum": file.md5, "sha256Checksum": file.sha256}
        return shown

    def check_new(self, metadata: dict[str, Any]) -> None:
        """Refuse what could not be created.

        Raises
        ------
        Refusal
            The caller can own nothing, or the id or a parent cannot be used.
        """
        if g.caller == self._identity.worker:
            raise Refusal(
                403,
                "Service Accounts do not have storage quota. Leverage shared drives "
                "(https://developers.google.com/workspace/drive/api/guides/about-shareddrives), or use OAuth "
                "delegation instead.",
                reason="storageQuotaExceeded",
            )
        self._known(metadata)
        if "id" in metadata:
            mime_type = metadata.get("mimeType", "application/octet-stream")
            self._files.usable_id(metadata["id"], g.caller.email, mime_type)
        self._parents(metadata.get("parents", []))

    def create(self, metadata: dict[str, Any], content: bytes | None, mime_type: str | None) -> str:
        """Create a file."""
        self.check_new(metadata)
        kind = metadata.get("mimeType") or mime_type or "application/octet-stream"
        if kind.startswith(GOOGLE_TYPES) and (kind != FOLDER or content is not None):
            raise unsupported(f"creating {kind} in Drive")
        return self._files.add(
            g.caller.email,
            metadata.get("name", "Untitled"),
            kind,
            file_id=metadata.get("id"),
            parents=self._parents(metadata.get("parents", [])),
            app_properties=metadata.get("appProperties"),
            description=metadata.get("description", ""),
            content=content,
        )

    def put(self, file_id: str | None, metadata: dict[str, Any], content: bytes, mime_type: str) -> str:
        """Create a file with content, or give one new content."""
        if file_id is None:
            return self.create(metadata, content, mime_type)
        return self.update(file_id, metadata, content)

    def update(self, file_id: str, metadata: dict[str, Any], content: bytes | None) -> str:
        """Change a file's metadata, parents or content."""
        file = self._files.get(file_id, g.caller.email, "writer")
        self._known(metadata)
        if "id" in metadata or "parents" in metadata:
            raise Refusal(
                403,
                "The resource body includes fields which are not directly writable.",
                reason="fieldNotWritable",
            )
        if content is not None and file.blob is None:
            raise unsupported("uploads to a file in one of Google's own formats")
        if "trashed" in metadata and g.caller.email != file.owner:
            raise Refusal(403, "The user does not have sufficient permissions for this file.")
        added = self._parents([request.args["addParents"]]) if "addParents" in request.args else []
        removed = request.args.get("removeParents", "").split(",")
        parents = [parent for parent in file.parents if parent not in removed]
        self._files.change(
            replace(
                file,
                name=metadata.get("name", file.name),
                description=metadata.get("description", file.description),
                mime_type=metadata.get("mimeType", file.mime_type),
                trashed=metadata.get("trashed", file.trashed),
                parents=tuple(added or parents),
                app_properties=merged_properties(file.app_properties, metadata.get("appProperties") or {}),
            ),
            content=content,
        )
        return file_id

    def _known(self, metadata: dict[str, Any]) -> None:
        known = {"id", "name", "mimeType", "description", "parents", "appProperties", "trashed"}
        unknown = sorted(set(metadata) - known)
        if unknown:
            raise unsupported(f"setting the file's {', '.join(unknown)}")

    def _parents(self, parents: list[str]) -> list[str]:
        if len(parents) > 1:
            raise Refusal(403, "A file cannot have more than one parent.", reason="multipleParentsNotAllowed")
        for parent in parents:
            if parent == ROOT:
                return []
            if self._files.get(parent, g.caller.email, "writer").mime_type != FOLDER:
                raise Refusal(403, "The specified parent is not a folder.", reason="parentNotAFolder")
        return parents


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
