"""Drive v3 permissions over HTTP."""

from typing import Any

from flask import Response, g, request

from addon.simulator.drivefiles import show_permission
from addon.simulator.errors import Refusal, unsupported
from addon.simulator.filemeta import ROLES, File, insufficient, permission_id
from addon.simulator.files import Files
from addon.simulator.gate import answer, route
from addon.simulator.reach import reach

_FILE_ROLES = ("reader", "commenter", "writer")
"""What a file's permission may be; that organizers of a single folder exist is left out."""


class Sharing:
    """Sharing a file with a person, by e-mail address."""

    def __init__(self, files: Files) -> None:
        self._files = files

    @route("POST", "", "drive.share")
    def create(self, file_id: str) -> Response:
        file = self._shareable(file_id)
        body: dict[str, Any] = g.body or {}
        role, email = body.get("role"), body.get("emailAddress")
        if body.get("type") is None or role is None:
            raise Refusal(400, "The permission type and role fields are required.", reason="required")
        if body["type"] != "user":
            raise unsupported("permissions for others than one user")
        if not email:
            raise Refusal(
                400, "The permission type field requires an emailAddress.", reason="invalidSharingRequest"
            )
        if role not in (ROLES[:-1] if file.id == file.drive else _FILE_ROLES):
            raise Refusal(403, "The specified role cannot be given here.", reason="invalidSharingRequest")
        if email.lower() == file.owner.lower():
            raise Refusal(403, "The owner of a file cannot be removed.", reason="cannotRemoveOwner")
        self._files.check_sharing(file, g.caller.email, email)
        return _shown(show_permission(self._files.share(file, email, role)))

    @route("GET", "", "drive.read")
    def find(self, file_id: str) -> Response:
        """For those who may share the file; in a shared drive for whoever sees it.

        So it was measured on folders of a My Drive, where ``capabilities.canShare`` told every answer
        beforehand. That a shared drive is open to its readers comes from one report only.
        """
        file = reach(self._files, file_id)
        if file.drive is None and not self._files.may_share(file, g.caller.email):
            raise insufficient()
        if "pageToken" in request.args:
            raise unsupported("permissions.list with pageToken")
        found = [show_permission(item) for item in self._files.permissions(file)]
        if g.mask is None:
            found = [_default(item) for item in found]
        return answer({"kind": "drive#permissionList", "permissions": found})

    @route("DELETE", "/<identifier>", "drive.share")
    def delete(self, file_id: str, identifier: str) -> Response:
        own = identifier == permission_id(g.caller.email)  # anybody may give up their own access
        file = reach(self._files, file_id) if own else self._shareable(file_id)
        if identifier == permission_id(file.owner):
            raise Refusal(403, "The owner of a file cannot be removed.", reason="cannotRemoveOwner")
        if self._files.unshare(file, identifier):
            return Response(status=204)
        if any(item.id == identifier for item in self._files.permissions(file)):
            raise Refusal(
                403, "Cannot delete a permission that a folder gives.", reason="cannotDeletePermission"
            )
        raise Refusal(404, f"Permission not found: {identifier}.", location="permissionId")

    def _shareable(self, file_id: str) -> File:
        file = reach(self._files, file_id)
        if not self._files.may_share(file, g.caller.email):
            raise insufficient()
        return file


def _shown(permission: dict[str, Any]) -> Response:
    return answer(permission if g.mask is not None else _default(permission))


def _default(permission: dict[str, Any]) -> dict[str, Any]:
    """Without ``fields`` Drive does not tell the e-mail address."""
    return {name: permission[name] for name in ("kind", "id", "type", "role")}
