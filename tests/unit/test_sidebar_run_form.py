"""The run form: sensible first choices, and what people chose survives every redraw."""

from dataclasses import replace

import pytest

from addon.rows.table import Column
from addon.sidebar.events import Event, parse_event
from addon.sidebar.run_form import RunForm, first_form, read_form, with_columns
from addon.sidebar.text import Words


def columns(*titles: str) -> tuple[Column, ...]:
    return tuple(Column(index, title) for index, title in enumerate(titles))


def click(shown: str = "0", **form: list[str]) -> Event:
    return parse_event(
        {
            "commonEventObject": {
                "parameters": {"sheetId": shown},
                "formInputs": {name: {"stringInputs": {"value": value}} for name, value in form.items()},
            }
        }
    )


CHOSEN = RunForm(0, ("A", "B"), "C", "Summary", "Do it", "all")


@pytest.mark.parametrize(
    ("titles", "source"),
    [
        (["ID", "Date", "Inquiry text", "Status"], "Inquiry text"),
        (["番号", "日付", "お問い合わせ内容", "状態"], "お問い合わせ内容"),
        (["ID", "Body", "Comment"], "Body"),
        (["No", "Date", "Story"], "Story"),
        (["ID", "Date"], "ID"),
        (["Summary", "要約文"], "要約文"),
        (["x" * 201, "Thing"], "Thing"),
    ],
)
def test_the_column_that_looks_like_text_is_chosen_at_first(titles: list[str], source: str) -> None:
    assert with_columns(first_form(Words()), 0, columns(*titles)).sources == (source,)


def test_the_column_of_an_earlier_run_is_chosen_for_the_summaries() -> None:
    assert with_columns(first_form(Words("ja")), 0, columns("本文", "要約")).output == "要約"
    assert with_columns(first_form(Words("ja")), 0, columns("本文", "Summary")).output == ""


def test_a_tab_with_no_columns_has_no_choices() -> None:
    form = with_columns(first_form(Words()), 0, ())

    assert (form.sheet_id, form.sources, form.output) == (0, (), "")


def test_the_choices_are_read_back() -> None:
    event = click(
        sheet=["0"],
        sources_0=["A", "B"],
        output_0=["column:C"],
        new_title=["Summary"],
        instructions=["Do it"],
        mode=["all"],
    )

    assert read_form(event) == CHOSEN
    assert with_columns(read_form(event), 0, columns("A", "B", "C")) == CHOSEN


def test_a_column_called_new_is_not_mistaken_for_a_new_column() -> None:
    assert read_form(click(output_0=["column:new"])).output == "new"
    assert read_form(click(output_0=["new"])).output == ""


def test_an_emptied_form_is_read_as_empty_and_not_filled_with_defaults() -> None:
    assert read_form(click()) == RunForm(0, (), "", "", "", "new_or_changed")


def test_unknown_tabs_and_modes_are_not_taken_over() -> None:
    form = read_form(click(shown="-1", mode=["everything"], sheet=["1e3"]))

    assert (form.sheet_id, form.mode) == (None, "new_or_changed")


def test_another_tab_keeps_the_wishes_and_guesses_the_columns_anew() -> None:
    event = click(
        shown="0", sheet=["7"], sources_0=["A"], instructions=["Do it"], mode=["all"], new_title=["要約"]
    )

    form = with_columns(read_form(event), 7, columns("ID", "Body", "要約"))

    assert form == RunForm(7, ("Body",), "要約", "要約", "Do it", "all", tab_changed=True)


def test_columns_that_are_gone_and_outputs_that_became_sources_are_dropped() -> None:
    assert with_columns(CHOSEN, 0, columns("B", "C")).sources == ("B",)
    assert with_columns(replace(CHOSEN, sources=("C",)), 0, columns("A", "B", "C")).output == ""
    assert with_columns(CHOSEN, 0, columns("A", "B")).output == ""


def test_the_request_has_the_existing_column_or_the_new_title() -> None:
    request = CHOSEN.request("S", 0, "r-1")

    assert (request.spreadsheet_id, request.sheet_id, request.request_id) == ("S", 0, "r-1")
    assert (request.source_columns, request.output_column) == (("A", "B"), "C")
    assert (request.instructions, request.mode) == ("Do it", "all")
    assert replace(CHOSEN, output="", new_title=" New ").request("S", 0, "r").output_column == "New"
