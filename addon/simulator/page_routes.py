"""The demo page: a sheet beside the add-on's sidebar, played over this simulator's workbooks.

Its routes act for the local user without asking for a token, so they answer to this page only: every request
that changes something must say that it comes from the page itself, and the simulator answers to loopback
names only (`gate`), so no other site in the same browser can read or write here.
"""

from typing import Any, TypeVar
from urllib.parse import urlsplit

from flask import Blueprint, Response, jsonify, request

from addon.simulator.csvfile import WorkbookError
from addon.simulator.errors import Refusal, invalid
from addon.simulator.grid import Sheet
from addon.simulator.page_events import Google, Workspace
from addon.simulator.page_feed import Feed
from addon.simulator.workbook import Draft, Workbook

CELL_CHARACTERS = 50_000
"""Most characters of one cell (https://support.google.com/drive/answer/37603)."""

Value = TypeVar("Value")


def blueprint(simulator: Google) -> Blueprint:
    """Build the routes under ``/page``."""
    routes = Blueprint("page", __name__, url_prefix="/page", static_folder="page", static_url_path="/static")
    workspace, feed = Workspace(simulator), Feed()

    def opened(spreadsheet_id: object) -> Workbook:
        if not spreadsheet_id:
            ids = simulator.workbooks.ids()
            if not ids:
                raise Refusal(404, "No spreadsheet is open here; start the simulator with --open FILE.csv.")
            spreadsheet_id = ids[0]
        try:
            return simulator.workbooks.get(str(spreadsheet_id))
        except WorkbookError as error:
            raise Refusal(404, str(error)) from None

    @routes.before_request
    def come_from_the_page() -> None:
        if request.method == "POST":
            _check_origin()

    @routes.after_request
    def guard(response: Response) -> Response:
        response.headers["Content-Security-Policy"] = _policy(simulator.service)
        response.headers["X-Content-Type-Options"] = "nosniff"
        response.headers["Referrer-Policy"] = "no-referrer"
        response.headers["Cross-Origin-Resource-Policy"] = "same-origin"
        return response

    @routes.get("/")
    def page() -> Response:
        return routes.send_static_file("index.html")

    @routes.get("/api/sheet")
    def sheet() -> Response:
        news = feed.news(opened(request.args.get("spreadsheet")), request.args.get("since", ""))
        return Response(status=204) if news is None else jsonify(news)

    @routes.post("/api/event")
    def event() -> Response:
        body = _body()
        return jsonify(workspace.send(opened(body.get("spreadsheet")), body))

    @routes.post("/api/edit")
    def edit() -> Response:
        body = _body()
        text = _field(body, "text", str)
        _check_text(text)
        column = _field(body, "column", int)
        with opened(body.get("spreadsheet")).edit() as draft:
            target = _sheet(draft, body)
            if not 0 <= column < target.column_count:
                raise invalid("The sheet has no such column.")
            target.write(_row(target, body), column, [text])
        return jsonify({})

    @routes.post("/api/sort")
    def sort() -> Response:
        body = _body()
        workbook = opened(body.get("spreadsheet"))
        column, descending = _field(body, "column", int), body.get("descending") is True
        if column < 0:
            raise invalid("The sheet has no such column.")
        try:
            workbook.sort(_field(body, "sheet", int), column, descending)
        except WorkbookError as error:
            raise Refusal(404, str(error)) from None
        return jsonify({})

    @routes.post("/api/rows")
    def rows() -> Response:
        body = _body()
        action = body.get("action")
        if action not in {"above", "below", "delete"}:
            raise invalid("action must be above, below or delete.")
        with opened(body.get("spreadsheet")).edit() as draft:
            target = _sheet(draft, body)
            row = _row(target, body)
            if action != "delete":
                target.insert_rows(row + (action == "below"), 1)
            elif target.row_count == 1:
                raise invalid("A sheet keeps at least one row.")
            else:
                target.delete_rows(row, row + 1)
        return jsonify({})

    return routes


def _policy(service: str | None) -> str:
    """Nothing but this page's own files; pictures of cards may also come from the add-on's service."""
    return (
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
        f"img-src 'self' {service or ''}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
        "require-trusted-types-for 'script'; trusted-types 'none'"
    )


def _check_origin() -> None:
    """Refuse what another site's page sends: a browser says where a request comes from, in either header."""
    origin, site = request.headers.get("Origin"), request.headers.get("Sec-Fetch-Site")
    if origin is not None and urlsplit(origin)[:2] != (request.scheme, request.host):
        raise Refusal(403, "This comes from another site.")
    if site not in {None, "same-origin"} or (origin is None and site is None):
        raise Refusal(403, "Only the demo page may do this (its Origin is missing).")
    if request.mimetype != "application/json":
        raise Refusal(415, "The body must be JSON (Content-Type: application/json).")


def _body() -> dict[str, Any]:
    body = request.get_json(silent=True)
    if not isinstance(body, dict):
        raise invalid("The body must be one JSON object.")
    return body


def _field(body: dict[str, Any], name: str, kind: type[Value]) -> Value:
    value = body.get(name)
    if not isinstance(value, kind) or isinstance(value, bool):
        raise invalid(f"{name} is missing, or is of another type than {kind.__name__}.")
    return value


def _check_text(text: str) -> None:
    if len(text) > CELL_CHARACTERS:
        raise invalid(f"A cell holds at most {CELL_CHARACTERS:,} characters.")
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise invalid("The text holds half of a surrogate pair.") from None


def _sheet(draft: Draft, body: dict[str, Any]) -> Sheet:
    try:
        return draft.sheet(_field(body, "sheet", int))
    except KeyError:
        raise Refusal(404, "This sheet was deleted.") from None


def _row(sheet: Sheet, body: dict[str, Any]) -> int:
    """Where the row is now that the page means; rows may have moved since the page saw them."""
    row, identity = _field(body, "row", int), body.get("id")
    if isinstance(identity, int):
        try:
            return sheet.ids.index(identity)
        except ValueError:
            raise Refusal(409, "This row was deleted meanwhile.") from None
    if not len(sheet.rows) <= row < sheet.row_count:
        raise Refusal(409, "This row was filled or deleted meanwhile.")
    return row
