"""What the demo page needs to know of a workbook: everything at first, then only the rows that are new."""

import secrets
import threading
from collections import OrderedDict
from dataclasses import dataclass
from itertools import count
from typing import Any

from addon.simulator.grid import Sheet
from addon.simulator.workbook import Workbook

_KEPT = 16
"""States of workbooks remembered. A page asks again within a second, so a few per open page are enough;
a page whose state is forgotten gets everything anew."""


@dataclass(frozen=True, slots=True)
class _Shown:
    """A state of a workbook that a page may have. Published sheets never change, so keeping them is cheap."""

    version: str
    spreadsheet_id: str
    title: str
    sheets: tuple[Sheet, ...]


class Feed:
    """Tells pages what is new. Safe to share between threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._shown: OrderedDict[str, _Shown] = OrderedDict()
        # Versions of an earlier run must not be taken for this run's.
        self._prefix = secrets.token_hex(4)
        self._numbers = count(1)

    def news(self, workbook: Workbook, since: str) -> dict[str, Any] | None:
        """What changed since version ``since``, or everything where that is unknown; ``None`` for nothing.

        A row is ``[position, identity, cells]``: the identity stays while the row is moved about.
        """
        with self._lock:
            shown = self._now(workbook)
            known = self._shown.get(since)
        if shown.version == since:
            return None
        if known is None or known.spreadsheet_id != shown.spreadsheet_id:
            known = _Shown("", shown.spreadsheet_id, "", ())
        before = {sheet.sheet_id: sheet for sheet in known.sheets}
        return {
            "spreadsheet": shown.spreadsheet_id,
            "version": shown.version,
            "since": known.version,
            "title": shown.title,
            "sheets": [
                _sheet_news(sheet, before.get(sheet.sheet_id)) for sheet in shown.sheets if not sheet.hidden
            ],
        }

    def _now(self, workbook: Workbook) -> _Shown:
        title, sheets, spreadsheet_id = workbook.title, workbook.sheets, workbook.spreadsheet_id
        for shown in reversed(self._shown.values()):
            if shown.spreadsheet_id == spreadsheet_id:
                if shown.sheets is sheets and shown.title == title:
                    return shown
                break
        made = _Shown(f"{self._prefix}-{next(self._numbers)}", spreadsheet_id, title, sheets)
        self._shown[made.version] = made
        while len(self._shown) > _KEPT:
            self._shown.popitem(last=False)
        return made


def _sheet_news(sheet: Sheet, before: Sheet | None) -> dict[str, Any]:
    known = len(before.rows) if before else 0
    changed = [
        [position, row_id, cells]
        for position, (row_id, cells) in enumerate(zip(sheet.ids, sheet.rows, strict=True))
        if before is None
        or position >= known
        or before.ids[position] != row_id
        or before.rows[position] is not cells
    ]
    return {
        "id": sheet.sheet_id,
        "title": sheet.title,
        "rowCount": sheet.row_count,
        "columnCount": sheet.column_count,
        "filled": len(sheet.rows),
        "rows": changed,
    }
