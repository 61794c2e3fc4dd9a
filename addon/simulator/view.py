"""A Drive file for a person to look at: a plain page, every cell escaped."""

import csv
import io
from collections.abc import Iterable, Sequence

from flask import Response
from markupsafe import Markup, escape

from addon.simulator.filemeta import SPREADSHEET, File, not_found
from addon.simulator.files import Files
from addon.simulator.gate import route
from addon.simulator.workbooks import Workbooks

_PAGE = Markup(
    '<!doctype html><html><head><meta charset="utf-8"><title>{title}</title><style>'
    "body{{font:15px/1.5 system-ui,sans-serif;margin:2rem}} table{{border-collapse:collapse}}"
    "th,td{{border:1px solid #ccc;padding:.3rem .6rem;text-align:left;"
    "vertical-align:top;white-space:pre-wrap}}"
    "th{{background:#f4f4f4}}</style></head><body><h1>{title}</h1>{content}</body></html>"
)
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'self'"


class View:
    """The page behind ``webViewLink``: whoever has the link on this machine sees the file."""

    def __init__(self, files: Files, workbooks: Workbooks) -> None:
        self._files = files
        self._workbooks = workbooks

    @route("GET", "/file/d/<file_id>/view")
    def view(self, file_id: str) -> Response:
        file = self._files.find(file_id)
        if file is None:
            raise not_found(file_id)
        page = _PAGE.format(title=file.name, content=_content(file, self._files, self._workbooks))
        response = Response(str(page), content_type="text/html; charset=utf-8")
        response.headers["Content-Security-Policy"] = _POLICY
        response.headers["X-Content-Type-Options"] = "nosniff"
        response.headers["Referrer-Policy"] = "no-referrer"
        return response


def _content(file: File, files: Files, workbooks: Workbooks) -> Markup:
    if file.mime_type == SPREADSHEET:
        workbook = workbooks.get(file.id)
        return _table(workbook.cells(workbook.sheets[0].sheet_id))
    if file.blob is None:
        return Markup("<p>This file has no content to show.</p>")
    text = files.read(file.id).decode("utf-8", "replace")
    if file.mime_type == "text/csv":
        return _table(csv.reader(io.StringIO(text.removeprefix("\ufeff"), newline="")))
    return Markup("<pre>{}</pre>").format(text)


def _table(rows: Iterable[Sequence[str]]) -> Markup:
    lines = []
    for number, row in enumerate(rows):
        tag = Markup("th" if number == 0 else "td")
        cells = Markup("").join(Markup("<{0}>{1}</{0}>").format(tag, escape(text)) for text in row)
        lines.append(Markup("<tr>{}</tr>").format(cells))
    return Markup("<table>{}</table>").format(Markup("\n").join(lines))
