"""Events: whatever Google leaves out or spells oddly, the sidebar reads the rest."""

import json
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from addon.sidebar.events import FORM_PARAMETER, BadEvent, Event, keep_form, parse_event

SHEET = "1AbC_d-" + "x" * 37

CLICK = {
    "commonEventObject": {
        "hostApp": "SHEETS",
        "platform": "WEB",
        "userLocale": "ja-JP",
        "timeZone": {"id": "Asia/Tokyo", "offset": 32_400_000},
        "parameters": {"spreadsheetId": SHEET, "jobId": "j-1"},
        "formInputs": {
            "sheet": {"stringInputs": {"value": ["0"]}},
            "sources_0": {"stringInputs": {"value": ["Title", "本文"]}},
            "day": {"dateInput": {"msSinceEpoch": "1787702400000"}},
        },
    },
    "authorizationEventObject": {
        "userOAuthToken": "ya29.x",
        "authorizedScopes": ["https://www.googleapis.com/auth/drive.file"],
    },
    "sheets": {"addonHasFileScopePermission": True, "id": "another" + "y" * 37, "title": "Book"},
}


def with_common(**fields: object) -> Event:
    return parse_event({"commonEventObject": fields})


def test_a_click_is_read_in_full() -> None:
    event = parse_event(CLICK)

    assert event.locale == "ja-JP"
    assert event.zone is not None and event.zone.utcoffset(None) == timedelta(hours=9)
    assert event.parameters == {"spreadsheetId": SHEET, "jobId": "j-1"}
    assert event.form == {"sheet": ("0",), "sources_0": ("Title", "本文")}
    assert event.scopes == ("https://www.googleapis.com/auth/drive.file",)
    assert event.value("sheet") == "0" and event.value("mode") is None


def test_the_spreadsheet_of_the_card_comes_before_the_open_one() -> None:
    assert parse_event(CLICK).spreadsheet_id == SHEET
    assert parse_event({"sheets": {"id": SHEET}}).spreadsheet_id == SHEET


@pytest.mark.parametrize("sheets", [{}, {"sheets": {}}, {"sheets": {"addonHasFileScopePermission": False}}])
def test_three_shapes_mean_that_no_file_is_granted(sheets: dict[str, object]) -> None:
    assert parse_event(sheets).spreadsheet_id == ""


@pytest.mark.parametrize("bad", ["../../etc", "a/b", "", "x" * 129, "naïve", "a b", "id\n"])
def test_an_id_that_could_change_a_path_counts_as_absent(bad: str) -> None:
    event = parse_event(
        {
            "commonEventObject": {"parameters": {"spreadsheetId": bad, "jobId": bad}},
            "sheets": {"id": bad},
        }
    )

    assert event.spreadsheet_id == "" and event.identifier("jobId") == ""


def test_the_misspelt_platform_and_old_duplicates_change_nothing() -> None:
    odd = json.loads(json.dumps(CLICK))
    odd["commonEventObject"]["platform"] = "ANDRIOD"
    odd |= {"parameters": {"jobId": "old"}, "formInput": {"sheet": "9"}, "userOauthToken": "old"}

    assert parse_event(odd) == parse_event(CLICK)


@pytest.mark.parametrize(
    ("offset", "hours"), [(-14_400_000, -4), ("19800000", 5.5), (0, 0), (50_400_000.0, 14)]
)
def test_the_zone_is_read_from_a_number_or_text(offset: object, hours: float) -> None:
    zone = with_common(timeZone={"offset": offset}).zone

    assert zone is not None and zone.utcoffset(None) == timedelta(hours=hours)


@pytest.mark.parametrize("offset", [True, None, "soon", "1e3", 10**30, float("nan"), float("inf"), [], "٣"])
def test_an_offset_that_is_none_counts_as_absent(offset: object) -> None:
    assert with_common(timeZone={"offset": offset}).zone is None


def test_widgets_left_empty_or_of_another_shape_are_absent() -> None:
    event = with_common(
        formInputs={"a": {"stringInputs": {"value": []}}, "b": {}, "c": 3, "d": {"stringInputs": []}}
    )

    assert event.form == {}


def test_half_a_surrogate_pair_is_replaced_so_that_it_can_be_stored() -> None:
    event = with_common(
        parameters={"a": "x\ud83d"}, formInputs={"w": {"stringInputs": {"value": ["\ude00"]}}}
    )

    assert event.parameters["a"] == "x?" and event.value("w") == "?"


def test_a_kept_form_is_read_back_where_the_click_has_none() -> None:
    kept = keep_form(parse_event(CLICK))

    assert with_common(parameters={FORM_PARAMETER: kept}).form == parse_event(CLICK).form
    assert with_common(parameters={FORM_PARAMETER: "[" * 99_999}).form == {}
    assert with_common(parameters={FORM_PARAMETER: "[1]"}).form == {}


@pytest.mark.parametrize("body", [None, [], "text", 7])
def test_a_body_that_is_no_object_is_a_bad_event(body: object) -> None:
    with pytest.raises(BadEvent):
        parse_event(body)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=9), inner, max_size=4),
    max_leaves=12,
)
KNOWN = [
    *(
        "commonEventObject",
        "authorizationEventObject",
        "sheets",
        "userLocale",
        "timeZone",
        "offset",
        "parameters",
    ),
    *("formInputs", "stringInputs", "value", "id", "authorizedScopes", "form", "spreadsheetId"),
]
EVENTS = st.recursive(
    JSON, lambda inner: st.dictionaries(st.sampled_from(KNOWN), inner, max_size=5), max_leaves=25
)


@given(JSON | EVENTS)
def test_arbitrary_json_raises_nothing_but_bad_event(body: object) -> None:
    try:
        event = parse_event(body)
    except BadEvent:
        assert not isinstance(body, dict)
    else:
        for text in (event.locale, event.spreadsheet_id, *event.parameters.values(), *event.scopes[:0]):
            text.encode("utf-8")
