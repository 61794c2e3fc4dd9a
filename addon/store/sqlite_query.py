"""Queries over stored JSON in SQL, with the comparison rules of Firestore.

A value compares only with values of its own type, whole and other numbers being one type. In an order, types
come one after the other: null, booleans, numbers, times, strings.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from addon.store.documents import Order, Where
from addon.store.json_values import TIME_KEY, microseconds
from addon.store.values import check_condition, check_direction, check_field

_OPERATORS = {"==": "=", "<": "<", "<=": "<=", ">": ">", ">=": ">="}

_RANK = (
    "CASE json_type(data, ?) WHEN 'null' THEN 0 WHEN 'false' THEN 1 WHEN 'true' THEN 1 "
    "WHEN 'integer' THEN 2 WHEN 'real' THEN 2 WHEN 'object' THEN 3 ELSE 4 END"
)

Sql = tuple[str, list[Any]]
"""Text with ``?`` marks, and the values for them."""


def select(
    collection: str,
    where: Sequence[Where],
    order_by: Sequence[Order],
    *,
    after: str = "",
    limit: int | None = None,
) -> Sql:
    """A statement giving ``id, version, data``, beginning behind the id ``after``.

    Raises
    ------
    TypeError, ValueError
        A condition or an order that the stores cannot both answer.
    """
    conditions: list[Sql] = [("collection = ?", [collection]), ("id > ?", [after])]
    conditions += [_condition(*condition) for condition in where]
    orders: list[Sql] = []
    direction = "ASC"
    for name, wanted in order_by:
        path, time_path = _paths(name)
        direction = check_direction(wanted).upper()
        conditions.append(("json_type(data, ?) IS NOT NULL", [path]))
        orders.append((f"{_RANK} {direction}", [path]))
        orders.append(
            (f"coalesce(json_extract(data, ?), json_extract(data, ?)) {direction}", [time_path, path])
        )
    # Firestore breaks ties by id in the direction of the last order, so that it needs no index of its own.
    orders.append((f"id {direction}", []))
    text = (
        f"SELECT id, version, data FROM documents WHERE {' AND '.join(sql for sql, _ in conditions)} "
        f"ORDER BY {', '.join(sql for sql, _ in orders)} LIMIT ?"
    )
    values = [value for _, values in [*conditions, *orders] for value in values]
    return text, [*values, -1 if limit is None else limit]


def _condition(name: str, operator: str, value: Any) -> Sql:
    check_condition(operator, value)
    if operator != "in":
        return _comparison(name, operator, value)
    options = [_comparison(name, "==", option) for option in value]
    return f"({' OR '.join(sql for sql, _ in options)})", [item for _, values in options for item in values]


def _comparison(name: str, operator: str, value: Any) -> Sql:
    path, time_path = _paths(name)
    if value is None:
        return "json_type(data, ?) = 'null'", [path]
    if isinstance(value, datetime):
        path, types, value = time_path, "'integer'", microseconds(value)
    elif isinstance(value, bool):
        types = "'true', 'false'"
    elif isinstance(value, int | float):
        types = "'integer', 'real'"
    else:
        types = "'text'"
    return (
        f"(json_type(data, ?) IN ({types}) AND json_extract(data, ?) {_OPERATORS[operator]} ?)",
        [path, path, value],
    )


def _paths(name: str) -> tuple[str, str]:
    """JSON path of a field, and of the number inside it where it is a time."""
    path = "$" + "".join(f'."{segment}"' for segment in check_field(name))
    return path, f'{path}."{TIME_KEY}"'
