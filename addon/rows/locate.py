"""Key to row, now: where in freshly read rows the summaries belong. Pure."""

from collections.abc import Iterable, Mapping
from itertools import pairwise

from addon.google.cells import Run
from addon.rows.table import Row

WINDOW_ROWS = 2_000
"""Rows one window of a check may span: as many as a page of reading."""


def windows(indexes: Iterable[int]) -> list[tuple[int, int]]:
    """Cover row indexes by few windows ``(first, end)``, none wider than `WINDOW_ROWS`."""
    result: list[tuple[int, int]] = []
    for index in sorted(set(indexes)):
        if result and index < result[-1][0] + WINDOW_ROWS:
            result[-1] = (result[-1][0], index + 1)
        else:
            result.append((index, index + 1))
    return result


def targets(rows: Iterable[Row], texts: Mapping[str, str]) -> dict[int, str]:
    """Row index to summary, for every row whose key has a text that its output cell does not show yet."""
    return {
        row.index: texts[row.key]
        for row in rows
        if row.key is not None and row.key in texts and row.output != texts[row.key]
    }


def runs(column: int, cells: Mapping[int, str]) -> list[Run]:
    """Join cells of one column into vertical runs of consecutive rows."""
    result: list[Run] = []
    indexes = sorted(cells)
    if not indexes:
        return result
    start = indexes[0]
    for before, after in [*pairwise(indexes), (indexes[-1], -1)]:
        if after != before + 1:
            texts = tuple(cells[index] for index in range(start, before + 1))
            result.append(Run(start, column, texts))
            start = after
    return result
