"""Firestore's structured queries: conditions, orders and pages as protocol messages."""

import re
from collections.abc import Sequence
from typing import Any

from google.cloud.firestore_v1.types import RunQueryRequest, StructuredQuery

from addon.store.documents import Order, Where
from addon.store.proto_values import encode
from addon.store.values import check_condition, check_direction, check_field, split

_RunQuery: Any = RunQueryRequest.pb()
_NAME = "__name__"

_OPERATORS = {
    "==": StructuredQuery.FieldFilter.Operator.EQUAL,
    "<": StructuredQuery.FieldFilter.Operator.LESS_THAN,
    "<=": StructuredQuery.FieldFilter.Operator.LESS_THAN_OR_EQUAL,
    ">": StructuredQuery.FieldFilter.Operator.GREATER_THAN,
    ">=": StructuredQuery.FieldFilter.Operator.GREATER_THAN_OR_EQUAL,
    "in": StructuredQuery.FieldFilter.Operator.IN,
}
_DIRECTIONS = {"asc": StructuredQuery.Direction.ASCENDING, "desc": StructuredQuery.Direction.DESCENDING}


def quoted(*segments: str) -> str:
    """A field path as Firestore reads it."""
    return ".".join(
        segment
        if re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", segment)
        else "`" + segment.replace("\\", "\\\\").replace("`", "\\`") + "`"
        for segment in segments
    )


def range_fields(where: Sequence[Where]) -> list[str]:
    """Fields that ``where`` compares other than for equality: Firestore walks its index in their order."""
    return list(dict.fromkeys(name for name, operator, _ in where if operator not in ("==", "in")))


def page_request(
    root: str,
    collection: str,
    where: Sequence[Where],
    order_by: Sequence[Order],
    *,
    limit: int,
    after: Any = None,
) -> Any:
    """A RunQuery message for one page.

    Parameters
    ----------
    root
        Resource name above all documents.
    order_by
        Ties come by id, in the direction of the last order.
    limit
        Most documents in the page.
    after
        The ``Document`` message that ended the page before.

    Raises
    ------
    TypeError, ValueError
        A condition or an order that the stores cannot both answer.
    """
    parent, name = split(collection)
    request = _RunQuery(parent=f"{root}/{parent}" if parent else root)
    query = request.structured_query
    query.from_.add(collection_id=name)
    if where:
        query.where.composite_filter.op = StructuredQuery.CompositeFilter.Operator.AND
        for condition in where:
            _add_condition(query.where.composite_filter.filters.add(), *condition)
    orders = [(check_field(field), check_direction(direction)) for field, direction in order_by]
    for segments, direction in orders:
        _add_order(query, quoted(*segments), direction)
    _add_order(query, _NAME, orders[-1][1] if orders else "asc")
    query.limit.value = limit
    if after is not None:
        for segments, _ in orders:
            query.start_at.values.add().CopyFrom(_value_at(after.fields, segments))
        query.start_at.values.add(reference_value=after.name)
        query.start_at.before = False
    return request


def _add_order(query: Any, field: str, direction: str) -> None:
    query.order_by.add(direction=_DIRECTIONS[direction]).field.field_path = field


def _add_condition(message: Any, name: str, operator: str, value: Any) -> None:
    check_condition(operator, value)
    field = quoted(*check_field(name))
    if value is None:
        message.unary_filter.op = StructuredQuery.UnaryFilter.Operator.IS_NULL
        message.unary_filter.field.field_path = field
        return
    message.field_filter.field.field_path = field
    message.field_filter.op = _OPERATORS[operator]
    encode(list(value) if operator == "in" else value, message.field_filter.value)


def _value_at(fields: Any, segments: Sequence[str]) -> Any:
    for segment in segments[:-1]:
        fields = fields[segment].map_value.fields
    return fields[segments[-1]]
