"""Areas of a sheet, and telling which values of an answer belong to which area. Pure."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

_START = re.compile(r"\$?([A-Z]*)\$?([0-9]*)")


@dataclass(frozen=True, slots=True)
class Area:
    """A rectangle of cells, counted from zero, half open; an end of ``None`` reaches as far as the sheet."""

    first_row: int
    end_row: int | None
    first_column: int
    end_column: int | None


class Unmatched(Exception):
    """It cannot be told which area some values belong to."""


def grid_range(sheet_id: int, area: Area) -> dict[str, int]:
    """The area as Google's ``GridRange``, which leaves an open end out."""
    ends = {"endRowIndex": area.end_row, "endColumnIndex": area.end_column}
    return {
        "sheetId": sheet_id,
        "startRowIndex": area.first_row,
        "startColumnIndex": area.first_column,
        **{name: end for name, end in ends.items() if end is not None},
    }


def rows_by_area(matched: Iterable[Mapping[str, Any]], wanted: Sequence[Area]) -> dict[Area, list[list[str]]]:
    """Sort the ``MatchedValueRange`` items of an answer by area; an area without values is left out.

    The answer need not keep the order asked, may repeat a range, and may serve several areas by one range.

    Raises
    ------
    Unmatched
        A range answers none of the areas, or could be one or another.
    """
    found: dict[Area, list[list[str]]] = {}
    for item in matched:
        filters = item.get("dataFilters", ())
        if not filters:
            raise Unmatched
        for data_filter in filters:
            area = _area_meant(data_filter.get("gridRange", {}), wanted)
            found.setdefault(area, _cut(item.get("valueRange", {}), area))
    return found


def _area_meant(said: Mapping[str, int], wanted: Sequence[Area]) -> Area:
    """The wanted area that a returned filter repeats, perhaps with its ends cut to the sheet's size."""
    echo = Area(
        said.get("startRowIndex", 0),
        said.get("endRowIndex"),
        said.get("startColumnIndex", 0),
        said.get("endColumnIndex"),
    )
    if echo in wanted:
        return echo
    fitting = [
        area
        for area in wanted
        if (area.first_row, area.first_column) == (echo.first_row, echo.first_column)
        and _cut_short(area.end_row, echo.end_row)
        and _cut_short(area.end_column, echo.end_column)
    ]
    if len(fitting) != 1:
        raise Unmatched
    return fitting[0]


def _cut_short(asked: int | None, said: int | None) -> bool:
    return said == asked or (said is not None and (asked is None or said < asked))


def _cut(value_range: Mapping[str, Any], area: Area) -> list[list[str]]:
    """The area's own rows out of a range that may begin elsewhere; ragged, without trailing blanks."""
    row, column = _start(value_range.get("range", ""), area)
    rows = [
        [_text(value) for value in _window(values, column, area.first_column, area.end_column, "")]
        for values in _window(value_range.get("values", []), row, area.first_row, area.end_row, [])
    ]
    for texts in rows:
        _drop_trailing(texts, "")
    _drop_trailing(rows, [])
    return rows


def _window(items: list[Any], start: int, first: int, end: int | None, blank: Any) -> list[Any]:
    """Of items that begin at ``start``, those from ``first`` to ``end``; blanks stand for missing ones."""
    aligned = items[first - start :] if first >= start else [blank] * (start - first) + items
    return aligned if end is None else aligned[: end - first]


def _start(a1: str, area: Area) -> tuple[int, int]:
    """Row and column an A1 range begins at; where it does not say, it begins where the area does."""
    _, separator, cells = a1.rpartition("!")
    match = _START.match(cells)
    if not separator or match is None:
        return area.first_row, area.first_column
    letters, digits = match.groups()
    column = 0
    for letter in letters:
        column = column * 26 + ord(letter) - ord("A") + 1
    return max(0, int(digits or 1) - 1), max(0, column - 1)


def _drop_trailing(items: list[Any], blank: Any) -> None:
    while items and items[-1] == blank:
        items.pop()


def _text(value: object) -> str:
    """Formatted values are strings; should a bare value come, it reads as Sheets shows it."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    return str(value)
