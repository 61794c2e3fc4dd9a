"""Google Sheets, as far as a job needs it: what sheets there are, reading areas, writing cells as text.

Everything is addressed by ``sheetId``, which survives renaming; rows and columns count from zero.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from addon.google.areas import Area, Unmatched, grid_range, rows_by_area
from addon.google.cells import CellWriter, Grid, Run
from addon.google.errors import ActingFor, JobBlocked, OutOfGrid, Refused, TryAgain, sort_refusal
from addon.google.session import Session

__all__ = ["Area", "OutOfGrid", "Run", "SheetInfo", "Sheets", "SpreadsheetInfo"]

_INFO_FIELDS = (
    "properties(title,locale,timeZone),"
    "sheets(properties(sheetId,title,index,sheetType,hidden,gridProperties(rowCount,columnCount)))"
)


@dataclass(frozen=True, slots=True)
class SheetInfo:
    """One sheet of a spreadsheet. ``sheet_id`` 0 is valid; a sheet that is only a chart has no rows."""

    sheet_id: int
    title: str
    index: int
    rows: int
    columns: int
    hidden: bool
    sheet_type: str


@dataclass(frozen=True, slots=True)
class SpreadsheetInfo:
    """A spreadsheet and its sheets in tab order; ``time_zone`` is a CLDR name such as ``Asia/Tokyo``."""

    title: str
    locale: str
    time_zone: str
    sheets: tuple[SheetInfo, ...]


class Sheets:
    """The Sheets API for one credential. Safe to share between threads.

    Parameters
    ----------
    session
        Whoever the calls act for.
    endpoint
        Root URL of the API.
    acting_for
        Whose credential it is: decides what a refused access means.
    """

    def __init__(self, session: Session, endpoint: str, acting_for: ActingFor) -> None:
        self._session = session
        self._endpoint = endpoint
        self._acting_for = acting_for

    def info(self, spreadsheet_id: str, *, deadline: float | None = None) -> SpreadsheetInfo:
        """Read a spreadsheet's title, time zone and sheets; no cells.

        Raises
        ------
        GrantMissing, JobBlocked
            The user's token, or the worker, may not read it.
        TryAgain
            Google did not answer within the bounded retries or ``deadline`` seconds.
        """
        try:
            data = self._send("GET", spreadsheet_id, params={"fields": _INFO_FIELDS}, deadline=deadline)
        except Refused as refusal:
            raise self._sorted(refusal, spreadsheet_id) from None
        properties = data.get("properties", {})
        return SpreadsheetInfo(
            title=properties.get("title", ""),
            locale=properties.get("locale", ""),
            time_zone=properties.get("timeZone", ""),
            sheets=tuple(_sheet_info(sheet.get("properties", {})) for sheet in data.get("sheets", ())),
        )

    def read(
        self,
        spreadsheet_id: str,
        sheet_id: int,
        areas: Sequence[Area],
        *,
        deadline: float | None = None,
    ) -> list[list[list[str]]]:
        """Read areas in one request, as people see them: formatted in the spreadsheet's own locale.

        Returns
        -------
        list
            Per area, in the order asked, its rows from the area's first row on. Blank cells at the end of a
            row and blank rows at the end of an area are left out.

        Raises
        ------
        OutOfGrid
            An area lies outside the sheet.
        JobBlocked
            The sheet is gone (``sheet_gone``), or the worker's access (``access_removed``).
        GrantMissing, TryAgain
            As for `info`; `TryAgain` also where it cannot be told which values belong to which area.
        """
        wanted = list(dict.fromkeys(areas))
        if not wanted:
            return []
        body = {
            "dataFilters": [{"gridRange": grid_range(sheet_id, area)} for area in wanted],
            "majorDimension": "ROWS",
            "valueRenderOption": "FORMATTED_VALUE",
        }
        action = "/values:batchGetByDataFilter"
        try:
            data = self._send("POST", spreadsheet_id, action, json=body, deadline=deadline)
            found = rows_by_area(data.get("valueRanges", ()), wanted)
        except Refused as refusal:
            raise self._sorted(refusal, spreadsheet_id) from None
        except Unmatched:
            raise TryAgain(
                f"Sheets answered for other areas of spreadsheet {spreadsheet_id} than asked; read again.",
                service="Sheets",
                reason="unmatched_areas",
            ) from None
        return [[list(row) for row in found.get(area, ())] for area in areas]

    def write(
        self,
        spreadsheet_id: str,
        sheet_id: int,
        runs: Sequence[Run],
        *,
        grid: Grid | None = None,
        deadline: float | None = None,
    ) -> dict[int, str]:
        """Write texts as text, in one request; none is ever taken for a formula, a number or a date.

        Where Google refuses content, the request is halved until the bad rows are found, and the other rows
        are written. Writing the same again changes nothing, so any call may be repeated after an error.

        Parameters
        ----------
        grid
            The sheet's rows and columns now; where that is too small, the same request enlarges the sheet.
        deadline
            Seconds for all this call does.

        Returns
        -------
        dict
            Row to reason, for the rows Google refuses.

        Raises
        ------
        OutOfGrid
            A cell lies outside the sheet, and ``grid`` was not given or is out of date.
        JobBlocked
            ``sheet_gone``, ``protected``, ``workbook_full``, ``access_removed`` or ``api_refused``.
        GrantMissing, TryAgain
            As for `info`.
        """

        def post(requests: list[dict[str, Any]], idempotent: bool, seconds: float | None) -> None:
            self._send(
                "POST",
                spreadsheet_id,
                ":batchUpdate",
                params={"fields": "spreadsheetId"},
                json={"requests": requests},
                idempotent=idempotent,
                deadline=seconds,
            )

        writer = CellWriter(
            post,
            lambda seconds: self._grid(spreadsheet_id, sheet_id, seconds),
            self._session.pause,
            target=f"spreadsheet {spreadsheet_id}",
            sheet_id=sheet_id,
            grid=grid,
            budget=self._session.budget(deadline),
        )
        try:
            return writer.write(runs)
        except Refused as refusal:
            raise self._sorted(refusal, spreadsheet_id) from None

    def _grid(self, spreadsheet_id: str, sheet_id: int, deadline: float | None) -> Grid:
        for sheet in self.info(spreadsheet_id, deadline=deadline).sheets:
            if sheet.sheet_id == sheet_id:
                return sheet.rows, sheet.columns
        raise JobBlocked(
            f"Spreadsheet {spreadsheet_id} has no sheet {sheet_id} any more; choose another one.",
            code="sheet_gone",
            service="Sheets",
        )

    def _send(
        self,
        method: str,
        spreadsheet_id: str,
        action: str = "",
        *,
        params: Mapping[str, str] | None = None,
        json: Any = None,
        idempotent: bool = True,
        deadline: float | None = None,
    ) -> Any:
        return self._session.request(
            method,
            f"{self._endpoint}/v4/spreadsheets/{quote(spreadsheet_id, safe='')}{action}",
            service="Sheets",
            idempotent=idempotent,
            params=params,
            json=json,
            wants_json=True,
            deadline=deadline,
        ).data

    def _sorted(self, refusal: Refused, spreadsheet_id: str) -> Exception:
        return sort_refusal(refusal, self._acting_for, f"spreadsheet {spreadsheet_id}")


def _sheet_info(properties: Mapping[str, Any]) -> SheetInfo:
    grid = properties.get("gridProperties", {})  # Google's JSON leaves zeros, blanks and false out
    return SheetInfo(
        sheet_id=properties.get("sheetId", 0),
        title=properties.get("title", ""),
        index=properties.get("index", 0),
        rows=grid.get("rowCount", 0),
        columns=grid.get("columnCount", 0),
        hidden=properties.get("hidden", False),
        sheet_type=properties.get("sheetType", "GRID"),
    )
