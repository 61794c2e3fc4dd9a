"""What both stores promise about single documents, values, queries and limits."""

import math
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from emulator import OpenStore
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from addon.store.documents import (
    MAX_DOCUMENT_BYTES,
    AlreadyExists,
    Documents,
    DocumentTooLarge,
    NotFound,
    Transaction,
)

NOON = datetime(2026, 3, 29, 12, 0, 0, 123456, tzinfo=UTC)


def put(documents: Documents, **by_id: dict[str, Any]) -> None:
    """Write documents ``things/{id}``."""

    def work(transaction: Transaction) -> None:
        for identifier, data in by_id.items():
            transaction.set(f"things/{identifier}", data)

    documents.transact(work)


def ids(documents: Documents, *args: Any, **kwargs: Any) -> list[str]:
    return [snapshot.path.removeprefix("things/") for snapshot in documents.query("things", *args, **kwargs)]


def test_a_missing_document_is_none_and_absent_from_many(documents: Documents) -> None:
    put(documents, a={"n": 1})
    assert documents.get("things/b") is None
    assert {path: s.data for path, s in documents.get_many(["things/b", "things/a", "things/a"]).items()} == {
        "things/a": {"n": 1}
    }
    assert documents.get_many([]) == {}


def test_every_kind_of_value_comes_back_as_it_went(documents: Documents) -> None:
    data = {
        "none": None,
        "yes": True,
        "no": False,
        "zero": 0,
        "large": 2**63 - 1,
        "small": -(2**63),
        "one": 1.0,
        "tiny": 5e-324,
        "text": '日本語 🎉 \x00 "$t" \\',
        "empty": "",
        "time": NOON,
        "list": [1, None, {"time": NOON, "list": ["x"]}],
        "nothing": [],
        "dict": {"a.b": {"c": NOON}, "`": 1, "空": {}},
    }
    put(documents, a=data)
    snapshot = documents.get("things/a")
    assert snapshot is not None
    assert snapshot.data == data
    assert [type(snapshot.data[name]) for name in data] == [type(value) for value in data.values()]


def test_a_time_comes_back_as_utc(documents: Documents) -> None:
    tokyo = timezone(timedelta(hours=9))
    put(documents, a={"at": NOON.astimezone(tokyo), "early": datetime(1, 1, 2, tzinfo=UTC)})
    snapshot = documents.get("things/a")
    assert snapshot is not None
    assert snapshot.data == {"at": NOON, "early": datetime(1, 1, 2, tzinfo=UTC)}
    assert snapshot.data["at"].tzinfo == UTC


scalars = (
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
    | st.datetimes(timezones=st.just(UTC))
)
keys = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8).filter(
    lambda key: key.isprintable() and not key.startswith(("$", "__")) and key != "_trail"
)
values = st.recursive(
    scalars,
    lambda inner: (
        st.dictionaries(keys, inner, max_size=4)
        | st.lists(inner.filter(lambda item: not isinstance(item, list)), max_size=4)
    ),
    max_leaves=10,
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(first=st.dictionaries(keys, values, max_size=5), second=st.dictionaries(keys, values, max_size=3))
def test_any_fields_round_trip_and_an_update_replaces_the_top_level_ones(
    documents: Documents, first: dict[str, Any], second: dict[str, Any]
) -> None:
    put(documents, a=first)
    snapshot = documents.get("things/a")
    assert snapshot is not None
    assert snapshot.data == first
    documents.transact(lambda transaction: transaction.update("things/a", second))
    snapshot = documents.get("things/a")
    assert snapshot is not None
    assert snapshot.data == first | second


@pytest.mark.parametrize(
    "bad",
    [
        2**63,
        math.nan,
        math.inf,
        NOON.replace(tzinfo=None),
        [[1]],
        b"bytes",
        {1: 2},
        {"": 1},
        {"__x__": 1},
        {"a\n": 1},
        {"$t": 1},
        {"_trail": 1},
        {"a": object()},
        "\ud800",
    ],
)
def test_a_value_that_one_store_could_not_hold_is_refused_by_both(documents: Documents, bad: Any) -> None:
    with pytest.raises((TypeError, ValueError)):
        put(documents, a={"value": bad})
    assert documents.get("things/a") is None


@pytest.mark.parametrize("depth, fits", [(19, True), (30, False)])
def test_deep_nesting_is_refused_before_the_server_does(documents: Documents, depth: int, fits: bool) -> None:
    value: Any = 1
    for _ in range(depth):
        value = {"a": value}
    if fits:
        put(documents, a=value)
    else:
        with pytest.raises(ValueError, match="nested"):
            put(documents, a=value)


@pytest.mark.parametrize(
    "path",
    [
        "",
        "things",
        "things/",
        "/a",
        "things/a/b",
        "things/..",
        "things/__x__",
        "things/a\nb",
        "t/" + "x" * 1501,
    ],
)
def test_a_bad_path_is_refused(documents: Documents, path: str) -> None:
    for call in (
        lambda: documents.get(path),
        lambda: documents.transact(lambda transaction: transaction.get(path)),
        lambda: documents.transact(lambda transaction: transaction.delete(path)),
    ):
        with pytest.raises(ValueError, match=r"path|document"):
            call()
    with pytest.raises(ValueError, match=r"path|document"):
        documents.query("things/a")


@pytest.mark.parametrize(
    "identifier", ["user:abc", "a b", "é", "日本", "a.b", "-", "_x_", "0" * 64, "x" * 1500]
)
def test_ids_of_any_shape_work(documents: Documents, identifier: str) -> None:
    path = f"locks/{identifier}"
    documents.transact(lambda transaction: transaction.create(path, {"n": 1}))
    assert [snapshot.path for snapshot in documents.query("locks")] == [path]
    assert set(documents.get_many([path])) == {path}


def test_set_replaces_update_merges_delete_removes(documents: Documents) -> None:
    put(documents, a={"n": 1, "m": {"x": 1}}, b={"n": 2})
    documents.transact(lambda transaction: transaction.update("things/a", {"m": {"y": 2}}))
    documents.transact(lambda transaction: transaction.set("things/b", {"k": 3}))
    found = documents.get_many(["things/a", "things/b"])
    assert {path: snapshot.data for path, snapshot in found.items()} == {
        "things/a": {"n": 1, "m": {"y": 2}},
        "things/b": {"k": 3},
    }
    documents.transact(lambda transaction: transaction.delete("things/a"))
    documents.transact(lambda transaction: transaction.delete("things/a"))
    assert ids(documents) == ["b"]


def test_create_of_an_existing_and_update_of_a_missing_document_write_nothing_at_all(
    documents: Documents,
) -> None:
    put(documents, a={"n": 1})

    def create_both(transaction: Transaction) -> None:
        transaction.create("things/b", {"n": 2})
        transaction.create("things/a", {"n": 2})

    def update_both(transaction: Transaction) -> None:
        transaction.update("things/a", {"n": 2})
        transaction.update("things/b", {"n": 2})

    with pytest.raises(AlreadyExists, match="things/a"):
        documents.transact(create_both)
    with pytest.raises(NotFound, match="things/b"):
        documents.transact(update_both)
    assert {s.path: s.data for s in documents.query("things")} == {"things/a": {"n": 1}}


def test_the_version_changes_with_every_write_also_of_equal_fields_and_after_deletion(
    documents: Documents,
) -> None:
    versions = []
    for kind in ("set", "set", "update", "delete", "set"):
        if kind == "delete":
            documents.transact(lambda transaction: transaction.delete("things/a"))
            continue
        documents.transact(lambda transaction, kind=kind: getattr(transaction, kind)("things/a", {"n": 1}))
        snapshot = documents.get("things/a")
        assert snapshot is not None
        versions.append(snapshot.version)
    assert len(set(versions)) == 4


def test_a_snapshot_is_a_private_copy(documents: Documents) -> None:
    put(documents, a={"list": [1]})

    def work(transaction: Transaction) -> Any:
        first, second = transaction.get("things/a"), transaction.get("things/a")
        assert first is not None
        assert second is not None
        first.data["list"].append(2)
        return second.data

    assert documents.transact(work) == {"list": [1]}


def test_what_is_changed_after_it_was_handed_over_is_not_written(documents: Documents) -> None:
    def work(transaction: Transaction) -> None:
        data = {"list": [1]}
        transaction.create("things/a", data)
        data["list"].append(2)

    documents.transact(work)
    snapshot = documents.get("things/a")
    assert snapshot is not None
    assert snapshot.data == {"list": [1]}


def test_the_clock_of_the_store_goes_forward_and_stamps_reads(documents: Documents) -> None:
    before = documents.now()
    put(documents, a={"n": 1})
    snapshot = documents.get("things/a")
    inside = documents.transact(lambda transaction: transaction.now)
    assert snapshot is not None
    assert before <= snapshot.read_time <= inside
    assert before.tzinfo == UTC


def test_a_query_sees_only_direct_children_ordered_by_id(documents: Documents) -> None:
    def work(transaction: Transaction) -> None:
        for path in (
            "jobs/b",
            "jobs/a",
            "jobs/Z",
            "jobs/é",
            "jobs/a/shards/1",
            "jobsx/a",
            "jobs/10",
            "jobs/9",
        ):
            transaction.create(path, {"path": path})

    documents.transact(work)
    assert [s.path for s in documents.query("jobs")] == [f"jobs/{i}" for i in ("10", "9", "Z", "a", "b", "é")]
    assert [(s.path, s.data) for s in documents.query("jobs/a/shards")] == [
        ("jobs/a/shards/1", {"path": "jobs/a/shards/1"})
    ]
    assert [s.path for s in documents.query("jobs", limit=2)] == ["jobs/10", "jobs/9"]
    assert list(documents.query("jobs", limit=0)) == []
    assert list(documents.query("nobody")) == []


def test_conditions_compare_with_values_of_their_own_type(documents: Documents) -> None:
    put(
        documents,
        one={"v": 1},
        one_dot={"v": 1.0},
        true={"v": True},
        text={"v": "1"},
        null={"v": None},
        time={"v": NOON},
        later={"v": NOON + timedelta(microseconds=1)},
        deep={"v": {"w": 1}},
        other={"w": 1},
    )
    assert ids(documents, [("v", "==", 1)]) == ["one", "one_dot"]
    assert ids(documents, [("v", "==", True)]) == ["true"]
    assert ids(documents, [("v", "==", "1")]) == ["text"]
    assert ids(documents, [("v", "==", None)]) == ["null"]
    assert ids(documents, [("v", "==", NOON)]) == ["time"]
    assert ids(documents, [("v", ">", NOON)]) == ["later"]
    assert ids(documents, [("v", "<=", NOON)]) == ["time"]
    assert ids(documents, [("v", "<", 2)]) == ["one", "one_dot"]
    assert ids(documents, [("v", ">=", "")]) == ["text"]
    assert ids(documents, [("v.w", "==", 1)]) == ["deep"]
    assert ids(documents, [("v", "in", [True, "1", NOON, 7])]) == ["text", "time", "true"]


def test_conditions_add_up_and_limits_count_what_meets_them(documents: Documents) -> None:
    put(
        documents,
        **{f"{n:02}": {"status": "running" if n % 2 else "done", "shard": n % 5} for n in range(20)},
    )
    assert ids(documents, [("status", "==", "running"), ("shard", "in", [0, 1])]) == ["01", "05", "11", "15"]
    assert ids(documents, [("status", "==", "running")], limit=3) == ["01", "03", "05"]
    assert ids(documents, [("shard", ">", 2), ("shard", "<=", 4)], limit=3) == ["03", "04", "08"]


def test_an_order_leaves_out_documents_without_the_field_and_breaks_ties_by_id(documents: Documents) -> None:
    put(
        documents,
        a={"n": 2},
        b={"n": 1},
        c={"n": 2},
        d={},
        e={"n": None},
        f={"n": NOON},
        g={"n": "x"},
        h={"n": True},
    )
    assert ids(documents, order_by=[("n", "asc")]) == ["e", "h", "b", "a", "c", "f", "g"]
    assert ids(documents, order_by=[("n", "desc")]) == ["g", "f", "c", "a", "b", "h", "e"]
    assert ids(documents, [("n", ">=", 1)], [("n", "desc")], limit=2) == ["c", "a"]


def test_an_order_by_a_nested_time(documents: Documents) -> None:
    put(documents, a={"x": {"at": NOON}}, b={"x": {"at": NOON - timedelta(days=1)}}, c={"x": 1})
    assert ids(documents, order_by=[("x.at", "asc")]) == ["b", "a"]


@pytest.mark.parametrize("order_by", [[], [("n", "asc")], [("n", "desc")]])
def test_a_long_answer_comes_whole_and_once(documents: Documents, order_by: list[Any]) -> None:
    total = 1203
    for start in range(0, total, 401):
        put(documents, **{f"{n:05}": {"n": n // 7} for n in range(start, start + 401)})
    expected = [f"{n:05}" for n in range(total)]
    if order_by and order_by[0][1] == "desc":
        expected.reverse()
    assert ids(documents, order_by=order_by) == expected
    assert ids(documents, order_by=order_by, limit=1001) == expected[:1001]


@pytest.mark.parametrize(
    "where, order_by",
    [
        ([("n", "!=", 1)], []),
        ([("n", "in", [])], []),
        ([("n", "in", list(range(31)))], []),
        ([("n", "in", [None])], []),
        ([("n", "<", None)], []),
        ([("n", "==", [1])], []),
        ([("n", "==", {"a": 1})], []),
        ([("n", "==", math.nan)], []),
        ([("", "==", 1)], []),
        ([('n"', "==", 1)], []),
        ([("a..b", "==", 1)], []),
        ([], [("n", "up")]),
        ([], [("`", "asc")]),
    ],
)
def test_a_question_that_one_store_could_not_answer_is_refused_by_both(
    documents: Documents, where: Any, order_by: Any
) -> None:
    with pytest.raises((TypeError, ValueError)):
        documents.query("things", where, order_by)


def test_a_document_near_one_mebibyte_is_refused_and_the_message_tells_the_limit(
    documents: Documents,
) -> None:
    put(documents, fits={"text": "x" * (MAX_DOCUMENT_BYTES - 200)})
    for text in ("x" * MAX_DOCUMENT_BYTES, "あ" * (MAX_DOCUMENT_BYTES // 3)):
        with pytest.raises(DocumentTooLarge, match="1,000,000"):
            put(documents, a={"text": text})
    assert documents.get("things/a") is None


def test_an_update_that_makes_a_document_too_large_is_refused(documents: Documents) -> None:
    put(documents, a={"first": "x" * 600_000})
    with pytest.raises(DocumentTooLarge, match="things/a"):
        documents.transact(lambda transaction: transaction.update("things/a", {"second": "x" * 600_000}))
    documents.transact(lambda transaction: transaction.update("things/a", {"first": "y" * 600_000}))
    snapshot = documents.get("things/a")
    assert snapshot is not None
    assert snapshot.data == {"first": "y" * 600_000}


def test_a_commit_above_three_mebibytes_is_refused_before_it_is_sent(documents: Documents) -> None:
    def four(transaction: Transaction) -> None:
        for n in range(4):
            transaction.create(f"things/{n}", {"text": "x" * 900_000})

    with pytest.raises(DocumentTooLarge, match="Split"):
        documents.transact(four)
    assert list(documents.query("things")) == []


def test_four_hundred_creates_are_one_commit_and_thousands_are_read_back(documents: Documents) -> None:
    for start in range(0, 2400, 400):
        put(documents, **{f"{n:064x}": {"position": n} for n in range(start, start + 400)})
    wanted = [f"things/{n:064x}" for n in range(2500)]
    found = documents.get_many(wanted)
    assert {path: snapshot.data["position"] for path, snapshot in found.items()} == {
        path: n for n, path in enumerate(wanted[:2400])
    }


def test_prune_deletes_only_what_is_due_and_at_most_the_limit(documents: Documents) -> None:
    put(documents, **{f"{n:03}": {"keep": {"until": NOON + timedelta(minutes=n)}} for n in range(450)})
    put(documents, forever={"keep": {"until": None}}, never={}, text={"keep": {"until": "2000-01-01"}})
    assert documents.prune("things", "keep.until", NOON + timedelta(minutes=430), limit=10) == 10
    assert documents.prune("things", "keep.until", NOON + timedelta(minutes=430)) == 420
    assert documents.prune("things", "keep.until", NOON + timedelta(minutes=430)) == 0
    assert ids(documents) == [*(f"{n:03}" for n in range(430, 450)), "forever", "never", "text"]


def test_prune_spares_what_was_renewed_after_it_was_found(
    documents: Documents, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(documents, old={"until": NOON}, renewed={"until": NOON}, gone={"until": NOON})
    query = documents.query

    def found_then_renewed(*arguments: Any) -> Any:
        found = list(query(*arguments))
        put(documents, renewed={"until": NOON + timedelta(days=1)})
        documents.transact(lambda transaction: transaction.delete("things/gone"))
        return iter(found)

    with monkeypatch.context() as patch:
        patch.setattr(documents, "query", found_then_renewed)
        assert documents.prune("things", "until", NOON + timedelta(hours=1)) == 1
    assert ids(documents) == ["renewed"]


def test_a_closed_store_opens_again_when_it_is_used(documents: Documents) -> None:
    put(documents, a={"n": 1})
    documents.close()
    documents.close()
    assert ids(documents) == ["a"]


def test_two_openings_see_the_same_documents(open_documents: OpenStore) -> None:
    put(open_documents(), a={"n": 1})
    assert ids(open_documents()) == ["a"]
