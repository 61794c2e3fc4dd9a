"""Drive v3 over HTTP."""

import re
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from flask import Blueprint, Response, g, request

from addon.simulator import uploads
from addon.simulator.errors import Refusal, invalid, unsupported
from addon.simulator.files import (
    FOLDER,
    GOOGLE_TYPES,
    File,
    Files,
    Permission,
    merged_properties,
    not_found,
)
from addon.simulator.gate import answer, handles
from addon.simulator.identity import Identity

ROOT = "root"
"""Alias of the caller's own top folder."""


def blueprint(files: Files, identity: Identity, url: str) -> Blueprint:
    """The methods of Drive that the product uses."""
    routes = Blueprint("drive", __name__)
    sessions = uploads.Sessions()
    keeper = Keeper(files, identity, url)

    @routes.get("/drive/v3/files/generateIds")
    @handles("drive.read")
    def generate_ids() -> Response:
        count = int(request.args.get("count", "10"))
        if not 1 <= count <= 1000:
            raise invalid("Invalid value for count: it must be from 1 to 1000.")
        if request.args.get("space", "drive") != "drive" or request.args.get("type", "files") != "files":
            raise unsupported("ids for other than files in Drive")
        ids = files.generate_ids(g.caller.email, count)
        return answer({"kind": "drive#generatedIds", "space": "drive", "ids": ids})

    @routes.post("/drive/v3/files")
    @handles("drive.create")
    def create() -> Response:
        return keeper.answer(keeper.create(g.body or {}, None, None))

    @routes.post("/upload/drive/v3/files")
    @handles("drive.create")
    def create_upload() -> Response:
        return upload(None)

    @routes.patch("/upload/drive/v3/files/<file_id>")
    @handles("drive.update")
    def update_upload(file_id: str) -> Response:
        return upload(file_id)

    def upload(file_id: str | None) -> Response:
        if request.args["uploadType"] == "resumable":
            return begin(file_id)
        content, mime_type = uploads.content_of(request)
        return keeper.answer(keeper.put(file_id, g.body or {}, content, mime_type))

    def begin(file_id: str | None) -> Response:
        if file_id is None:
            keeper.check_new(g.body or {})
        else:
            files.get(file_id, g.caller.email, "writer")
        mime_type = request.headers.get("X-Upload-Content-Type", "application/octet-stream")
        upload_id = sessions.open(uploads.Session(file_id, g.body or {}, mime_type, g.caller.email))
        response = Response(status=200)
        response.headers["Location"] = f"{url}{request.path}?uploadType=resumable&upload_id={upload_id}"
        return response

    @routes.put("/upload/drive/v3/files")
    @routes.put("/upload/drive/v3/files/<file_id>")
    @handles("drive.update")
    def go_on(file_id: str | None = None) -> Response:
        upload_id = request.args.get("upload_id", "")
        session = sessions.get(upload_id, g.caller.email)
        if not uploads.receive(session, request):
            response = Response(status=308)
            if session.received:
                response.headers["Range"] = f"bytes=0-{len(session.received) - 1}"
            return response
        saved = keeper.put(session.file_id, session.metadata, bytes(session.received), session.mime_type)
        sessions.close(upload_id)
        return keeper.answer(saved)

    @routes.patch("/drive/v3/files/<file_id>")
    @handles("drive.update")
    def update(file_id: str) -> Response:
        return keeper.answer(keeper.update(file_id, g.body or {}, None))

    @routes.get("/drive/v3/files/<file_id>")
    @handles("drive.read")
    def get(file_id: str) -> Response:
        file = files.get(file_id, g.caller.email)
        if request.args.get("alt") == "media":
            return Response(files.read(file_id), content_type=file.mime_type)
        return keeper.answer(file_id)

    @routes.delete("/drive/v3/files/<file_id>")
    @handles("drive.update")
    def delete(file_id: str) -> Response:
        files.remove(files.get(file_id, g.caller.email, "owner"))
        return Response(status=204)

    @routes.get("/drive/v3/files")
    @handles("drive.read")
    def find() -> Response:
        for parameter in ("orderBy", "pageToken", "driveId"):
            if parameter in request.args:
                raise unsupported(f"files.list with {parameter}")
        wanted = query(request.args.get("q", ""), g.caller.email)
        shown_before = files.now() - files.list_lag
        found = [
            keeper.shown(file)
            for file in files.list()
            if file.created <= shown_before and files.role(file, g.caller.email) and wanted(file)
        ]
        size = int(request.args.get("pageSize", "100"))
        if len(found) > size:
            raise unsupported("files.list with more than one page of results")
        return answer({"kind": "drive#fileList", "incompleteSearch": False, "files": found})

    return routes


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


_TERM = re.compile(
    r"(?:trashed\s*=\s*(?P<trashed>true|false)"
    r"|name\s*=\s*'(?P<name>(?:[^'\\]|\\.)*)'"
    r"|mimeType\s*=\s*'(?P<mime>[^']*)'"
    r"|'(?P<parent>[^']+)'\s+in\s+parents"
    r"|appProperties\s+has\s*\{\s*key\s*=\s*'(?P<key>[^']*)'\s+and\s+value\s*=\s*'(?P<value>[^']*)'\s*\})"
)


def query(text: str, email: str) -> Callable[[File], bool]:
    """Read the ``q`` of ``files.list``: conditions on trash, name, type, parent and app properties, with ``and``.

    Raises
    ------
    Refusal
        501 for anything else.
    """
    terms: list[dict[str, str | None]] = []
    rest = text.strip()
    while rest:
        match = _TERM.match(rest)
        if match is None:
            raise unsupported("files.list with this q")
        terms.append(match.groupdict())
        rest = rest[match.end() :].strip()
        if rest:
            if not rest.startswith("and "):
                raise unsupported("files.list with this q")
            rest = rest[4:].strip()

    def fits(file: File) -> bool:
        return all(_meets(file, term, email) for term in terms)

    return fits


def _meets(file: File, term: dict[str, str | None], email: str) -> bool:
    parent = term["parent"]
    if parent == ROOT:
        return not file.parents and file.owner == email
    return (
        (term["trashed"] is None or file.trashed == (term["trashed"] == "true"))
        and (term["name"] is None or file.name == re.sub(r"\\(.)", r"\1", term["name"]))
        and (term["mime"] is None or file.mime_type == term["mime"])
        and (parent is None or parent in file.parents)
        and (term["key"] is None or file.app_properties.get(term["key"]) == term["value"])
    )
