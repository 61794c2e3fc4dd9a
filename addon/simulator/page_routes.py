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
from addon.simulator.grid import Area, Sheet, SortBy
from addon.simulator.page_events import Google, Workspace
from addon.simulator.page_feed import Feed
from addon.simulator.workbook import Draft, Workbook

CELL_CHARACTERS = 50_000
"""Most characters of one cell (https://support.google.com/drive/answer/37603)."""

Value = TypeVar("Value")


def blueprint(simulator: Google) -> Blueprint:
    """Build the routes under ``/page``."""
    page = _Page(simulator)
    routes = Blueprint("page", __name__, url_prefix="/page", static_folder="page", static_url_path="/static")
    routes.before_request(_check_origin)
    routes.after_request(page.guard)
    routes.add_url_rule("/", "index", lambda: routes.send_static_file("index.html"))
    routes.add_url_rule("/api/sheet", "sheet", page.sheet)
    for action in (page.event, page.edit, page.sort, page.rows):
        routes.add_url_rule(f"/api/{action.__name__}", action.__name__, action, methods=["POST"])
    return routes


class _Page:
    """What the page asks for and does."""

    def __init__(self, google: Google) -> None:
        self._google = google
        self._workspace = Workspace(google)
        self._feed = Feed()

    def guard(self, response: Response) -> Response:
        """Let the browser load nothing but this page's files; pictures also from the add-on's service."""
        response.headers["Content-Security-Policy"] = (
            "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
            f"img-src 'self' {self._google.service or ''}; base-uri 'none'; form-action 'none'; "
            "frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
        )
        response.headers["X-Content-Type-Options"] = "nosniff"
        response.headers["Referrer-Policy"] = "no-referrer"
        response.headers["Cross-Origin-Resource-Policy"] = "same-origin"
        return response

    def sheet(self) -> Response:
        """What is new in a spreadsheet since the version the page has; 204 for nothing."""
        workbook = self._opened(request.args.get("spreadsheet"))
        news = self._feed.news(workbook, request.args.get("since", ""))
        return Response(status=204) if news is None else jsonify(news)

    def event(self) -> Response:
        """Send an event to the add-on."""
        body = _body()
        return jsonify(self._workspace.send(self._opened(body.get("spreadsheet")), body))

    def edit(self) -> Response:
        """Put a text into a cell."""
        body = _body()
        text, column = _field(body, "text", str), _field(body, "column", int)
        _check_text(text)
        with self._opened(body.get("spreadsheet")).edit() as draft:
            sheet = _sheet(draft, body)
            _check_column(sheet, column)
            sheet.write(_row(sheet, body), column, [text])
        return jsonify({})

    def sort(self) -> Response:
        """Sort the rows below the header."""
        body = _body()
        column = _field(body, "column", int)
        with self._opened(body.get("spreadsheet")).edit() as draft:
            sheet = _sheet(draft, body)
            _check_column(sheet, column)
            below = Area(1, sheet.row_count, 0, sheet.column_count)
            sheet.sort(below, [SortBy(column, body.get("descending") is True)])
        return jsonify({})

    def rows(self) -> Response:
        """Insert a blank row above or below a row, or delete the row."""
        body = _body()
        action = body.get("action")
        if action not in {"above", "below", "delete"}:
            raise invalid("action must be above, below or delete.")
        with self._opened(body.get("spreadsheet")).edit() as draft:
            sheet = _sheet(draft, body)
            row = _row(sheet, body)
            if action != "delete":
                sheet.insert_rows(row + (action == "below"), 1)
            elif sheet.row_count == 1:
                raise invalid("A sheet keeps at least one row.")
            else:
                sheet.delete_rows(row, row + 1)
        return jsonify({})

    def _opened(self, spreadsheet_id: object) -> Workbook:
        """The workbook with this id; the oldest one where the page names none."""
        if not spreadsheet_id:
            ids = self._google.workbooks.ids()
            if not ids:
                raise Refusal(404, "No spreadsheet is open here; start the simulator with --open FILE.csv.")
            spreadsheet_id = ids[0]
        try:
            return self._google.workbooks.get(str(spreadsheet_id))
        except WorkbookError as error:
            raise Refusal(404, str(error)) from None


def _check_origin() -> None:
    """Refuse what another site's page sends: a browser says where a request comes from, in either header."""
    if request.method in {"GET", "HEAD"}:
        return
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


def _check_column(sheet: Sheet, column: int) -> None:
    if not 0 <= column < sheet.column_count:
        raise invalid("The sheet has no such column.")


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
