"""Drive v3 over HTTP: files."""

from dataclasses import replace

from flask import Response, g, request

from addon.simulator import uploads
from addon.simulator.drivefiles import Keeper
from addon.simulator.drivequery import query
from addon.simulator.errors import Refusal, invalid, unsupported
from addon.simulator.filemeta import File, permission_id
from addon.simulator.files import Files
from addon.simulator.gate import answer, route
from addon.simulator.identity import Identity
from addon.simulator.reach import knows_drives, reach
from addon.simulator.scopes import app_files_only


class Drive:
    """The methods of Drive that the product uses."""

    def __init__(self, files: Files, identity: Identity, url: str) -> None:
        self._files = files
        self._url = url
        self._sessions = uploads.Sessions()
        self._keeper = Keeper(files, identity, url)

    @route("GET", "/drive/v3/files/generateIds", "drive.read")
    def generate_ids(self) -> Response:
        count = int(request.args.get("count", "10"))
        if not 1 <= count <= 1000:
            raise invalid("Invalid value for count: it must be from 1 to 1000.")
        if request.args.get("space", "drive") != "drive" or request.args.get("type", "files") != "files":
            raise unsupported("ids for other than files in Drive")
        ids = self._files.generate_ids(g.caller.email, count)
        return answer({"kind": "drive#generatedIds", "space": "drive", "ids": ids})

    @route("POST", "/drive/v3/files", "drive.create")
    def create(self) -> Response:
        return self._keeper.answer(self._keeper.create(g.body or {}, None, None))

    @route("POST", "/upload/drive/v3/files", "drive.create")
    def create_upload(self) -> Response:
        return self._upload(None)

    @route("PATCH", "/upload/drive/v3/files/<file_id>", "drive.update")
    def update_upload(self, file_id: str) -> Response:
        return self._upload(file_id)

    def _upload(self, file_id: str | None) -> Response:
        if request.args["uploadType"] == "resumable":
            return self._begin(file_id)
        content, mime_type = uploads.content_of(request)
        return self._keeper.answer(self._keeper.put(file_id, g.body or {}, content, mime_type))

    def _begin(self, file_id: str | None) -> Response:
        if file_id is None:
            self._keeper.check_new(g.body or {})
        else:
            file = reach(self._files, file_id, "writer")
            self._files.check_storage(file.owner)
        mime_type = request.headers.get("X-Upload-Content-Type", "application/octet-stream")
        upload_id = self._sessions.open(uploads.Session(file_id, g.body or {}, mime_type, g.caller.email))
        response = Response(status=200)
        kept = "&supportsAllDrives=true" if knows_drives() else ""
        response.headers["Location"] = (
            f"{self._url}{request.path}?uploadType=resumable{kept}&upload_id={upload_id}"
        )
        return response

    @route("PUT", "/upload/drive/v3/files")
    @route("PUT", "/upload/drive/v3/files/<file_id>", "drive.update")
    def go_on(self, **_: str) -> Response:
        upload_id = request.args.get("upload_id", "")
        session = self._sessions.get(upload_id, g.caller.email)
        if not uploads.receive(session, request):
            response = Response(status=308)
            if session.received:
                response.headers["Range"] = f"bytes=0-{len(session.received) - 1}"
            return response
        saved = self._keeper.put(
            session.file_id, session.metadata, bytes(session.received), session.mime_type
        )
        self._sessions.close(upload_id)
        return self._keeper.answer(saved)

    @route("PATCH", "/drive/v3/files/<file_id>", "drive.update")
    def update(self, file_id: str) -> Response:
        return self._keeper.answer(self._keeper.update(file_id, g.body or {}, None))

    @route("GET", "/drive/v3/files/<file_id>", "drive.read")
    def get(self, file_id: str) -> Response:
        file = reach(self._files, file_id)
        if request.args.get("alt") == "media":
            return Response(self._files.read(file_id), content_type=file.mime_type)
        return self._keeper.answer(file_id)

    @route("DELETE", "/drive/v3/files/<file_id>", "drive.update")
    def delete(self, file_id: str) -> Response:
        self._keeper.delete(file_id)
        return Response(status=204)

    @route("GET", "/drive/v3/files", "drive.read")
    def find(self) -> Response:
        for parameter in ("orderBy", "pageToken", "driveId"):
            if parameter in request.args:
                raise unsupported(f"files.list with {parameter}")
        wanted = query(request.args.get("q", ""))
        shown_before = self._files.now() - self._files.list_lag
        found = [
            self._keeper.shown(file)
            for file in map(self._with_folder_trash, self._files.list())
            if file.created <= shown_before and self._listed(file) and wanted(file)
        ]
        size = int(request.args.get("pageSize", "100"))
        if len(found) > size:
            raise unsupported("files.list with more than one page of results")
        return answer({"kind": "drive#fileList", "incompleteSearch": False, "files": found})

    def _listed(self, file: File) -> bool:
        if file.drive is not None and (
            file.id == file.drive
            or not knows_drives()
            or request.args.get("includeItemsFromAllDrives") != "true"
        ):
            return False
        if self._files.role(file, g.caller.email) is None:
            return False
        return not app_files_only(g.caller, request) or self._files.granted(file.id, g.caller.email)

    def _with_folder_trash(self, file: File) -> File:
        return replace(file, trashed=self._files.is_trashed(file))

    @route("GET", "/drive/v3/about", "drive.read")
    def about(self) -> Response:
        if g.mask is None:
            words = "The 'fields' parameter is required for this method."
            raise Refusal(400, words, reason="required", location="fields")
        user = {
            "kind": "drive#user",
            "me": True,
            "permissionId": permission_id(g.caller.email),
            "emailAddress": g.caller.email,
        }
        return answer({"kind": "drive#about", "user": user})
