"""Firestore is set up for every query the code makes: indexes, exemptions and policies of retention."""

from dataclasses import fields

import pytest
from infra_files import ROOT, resources, strings
from query_scan import Order, Query, Unreadable, Where, needs_composite, scan, scan_source

from addon.jobs.records import Result, results_path
from addon.store.values import TRAIL_FIELD

QUERIES, PRUNES = scan(ROOT / "addon")
FIELDS = list(resources("google_firestore_field").values())
RESULTS = results_path("x").rsplit("/", 1)[-1]


def fields_of(body: dict[str, object]) -> list[str]:
    """A resource's field, or fields where it is made for each of a set."""
    return [body["field"]] if "for_each" not in body else _members(str(body["for_each"]))  # type: ignore[list-item]


def _members(expression: str) -> list[str]:
    return expression.removeprefix("${toset([").removesuffix("])}").replace('"', "").split(", ")


def indexed(body: dict[str, object]) -> set[str]:
    return set(strings(body["index_config"]))


def asked() -> set[str]:
    """Fields of results that some query compares or orders by."""
    of_results = [query for query in QUERIES if query.collection == RESULTS]
    found = {field for query in of_results for field, _ in (*query.where, *query.order_by)}
    return found | {prune.field for prune in PRUNES if prune.collection == RESULTS}


def test_all_queries_are_seen() -> None:
    places = {query.place.split(":")[0] for query in QUERIES}

    assert {"addon.jobs.sweep", "addon.jobs.status", "addon.jobs.scan", "addon.store.optimistic"} <= places
    assert {query.collection for query in QUERIES} >= {"jobs", "spreadsheets", "failures", RESULTS}


@pytest.mark.parametrize("query", QUERIES, ids=lambda query: f"{query.place}-{query.collection}")
def test_a_query_has_the_composite_index_it_needs(query: Query) -> None:
    assert not resources("google_firestore_index"), "compare them with the queries here"
    assert not needs_composite(query.where, query.order_by), "add a google_firestore_index to infra/store.tf"


def test_what_the_code_prunes_has_a_retention_policy_and_nothing_else_has() -> None:
    policies = {(body["collection"], body["field"]) for body in FIELDS if "ttl_config" in body}

    assert policies == {(prune.collection, prune.field) for prune in PRUNES} == {("results", "until")}


def test_a_lease_is_never_deleted_for_having_run_out() -> None:
    assert "expires_at" not in {field for body in FIELDS for field in fields_of(body)}


def test_fields_of_results_that_are_asked_for_stay_indexed_upwards() -> None:
    kept = {field for body in FIELDS for field in fields_of(body) if indexed(body) == {"ASCENDING"}}

    assert kept == asked() == {"part", "sha256", "until"}
    downwards = [
        query
        for query in QUERIES
        if query.collection == RESULTS and ("desc" in dict(query.order_by).values())
    ]
    assert not downwards


def test_the_other_fields_of_results_are_not_indexed() -> None:
    exempt = {field for body in FIELDS for field in fields_of(body) if not indexed(body)}

    assert exempt == {item.name for item in fields(Result)} - asked() | {TRAIL_FIELD}
    assert {body["collection"] for body in FIELDS} == {RESULTS}


@pytest.mark.parametrize(
    ("where", "order_by", "needed"),
    [
        ([], [], False),
        ([("a", "==")], [], False),
        ([("a", "=="), ("b", "in"), ("c", "==")], [], False),
        ([("a", "<=")], [], False),
        ([("a", ">"), ("a", "<")], [("a", "desc")], False),
        ([], [("a", "desc")], False),
        ([("a", "==")], [("b", "asc")], True),
        ([("a", "in")], [("b", "asc")], True),
        ([("a", "=="), ("b", "<")], [], True),
        ([("a", "<"), ("b", ">")], [], True),
        ([("a", "<")], [("b", "asc")], True),
        ([], [("a", "asc"), ("b", "asc")], True),
    ],
)
def test_when_firestore_wants_a_composite_index(
    where: list[Where], order_by: list[Order], needed: bool
) -> None:
    assert needs_composite(where, order_by) is needed


def test_a_condition_that_depends_is_read_both_ways() -> None:
    source = (
        "def f(d, x):\n"
        "    some = [('a', '==', x)] if x else []\n"
        "    d.query('c/1/results', where=some, order_by=[('b', 'asc')])\n"
    )
    queries, _ = scan_source(source, "m")

    assert queries == [
        Query("m:3", "results", (("a", "=="),), (("b", "asc"),)),
        Query("m:3", "results", (), (("b", "asc"),)),
    ]


@pytest.mark.parametrize(
    "call",
    [
        "d.query('c', where=made_elsewhere())",
        "d.query('c', where=[condition])",
        "d.query('c', where=[(f'{x}', '==', 1)])",
        "d.query(x.collection)",
        "d.prune('c', x.field, 1)",
    ],
)
def test_a_query_that_cannot_be_read_fails_instead_of_passing(call: str) -> None:
    with pytest.raises(Unreadable):
        scan_source(f"def f(d):\n    {call}\n", "m")
