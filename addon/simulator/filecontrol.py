"""The simulator's own routes about files: what people and administrators do in Google's pages."""

from dataclasses import asdict, fields, replace
from typing import Any

from flask import Response, jsonify, request

from addon.simulator.errors import invalid
from addon.simulator.filemeta import ROLES, permission_id
from addon.simulator.files import Files, Rules
from addon.simulator.gate import route


class FileControl:
    """Sharing rules, shared drives, and everybody's files; to be mounted behind the operator's token."""

    def __init__(self, files: Files) -> None:
        self._files = files

    @route("GET", "/rules")
    def show_rules(self) -> Response:
        return jsonify(asdict(self._files.rules))

    @route("PATCH", "/rules")
    def change_rules(self) -> Response:
        self._files.rules = replace(self._files.rules, **_body({item.name for item in fields(Rules)}))
        return self.show_rules()

    @route("POST", "/drives")
    def create_drive(self) -> Response:
        body = _body({"name", "members", "domain", "restrictions"})
        try:
            drive_id = self._files.create_drive(body.pop("name", "Drive"), body.pop("members", {}), **body)
        except ValueError as error:
            raise invalid(str(error)) from None
        return jsonify({"id": drive_id})

    @route("GET", "/files/<file_id>")
    def show(self, file_id: str) -> Response:
        file = self._files.known(file_id)
        access = [{"email": item.email, "role": item.role} for item in self._files.permissions(file)]
        return jsonify({"id": file.id, "owner": file.owner, "trashed": file.trashed, "access": access})

    @route("PATCH", "/files/<file_id>")
    def change(self, file_id: str) -> Response:
        body = _body({"owner", "trashed", "writersCanShare"})
        if "owner" in body:
            self._files.give_away(self._files.known(file_id), body["owner"])
        file = self._files.known(file_id)
        writers = body.get("writersCanShare", file.writers_can_share)
        self._files.change(
            replace(file, trashed=body.get("trashed", file.trashed), writers_can_share=writers)
        )
        return self.show(file_id)

    @route("DELETE", "/files/<file_id>")
    def remove(self, file_id: str) -> Response:
        self._files.remove(self._files.known(file_id))
        return jsonify({})

    @route("PUT", "/files/<file_id>/access/<email>")
    def share(self, file_id: str, email: str) -> Response:
        role = _body({"role"}).get("role", "writer")
        if role not in ROLES[:-1]:
            raise invalid(f"role must be one of {', '.join(ROLES[:-1])}.")
        self._files.share(self._files.known(file_id), email, role)
        return self.show(file_id)

    @route("DELETE", "/files/<file_id>/access/<email>")
    def unshare(self, file_id: str, email: str) -> Response:
        self._files.unshare(self._files.known(file_id), permission_id(email))
        return self.show(file_id)

    @route("PUT", "/files/<file_id>/grants/<email>")
    def grant(self, file_id: str, email: str) -> Response:
        self._files.grant(self._files.known(file_id).id, email)
        return jsonify({})

    @route("DELETE", "/files/<file_id>/grants/<email>")
    def revoke(self, file_id: str, email: str) -> Response:
        self._files.revoke(file_id, email)
        return jsonify({})


def _body(known: set[str]) -> dict[str, Any]:
    """The request's JSON object.

    Raises
    ------
    Refusal
        400 for a field that is not known.
    """
    body = request.get_json(silent=True) or {}
    unknown = sorted(set(body) - known)
    if unknown:
        raise invalid(f"Unknown: {', '.join(unknown)}.")
    return dict(body)
