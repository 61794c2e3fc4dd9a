"""The card on which people choose what to summarise and start it."""

from collections.abc import Sequence
from dataclasses import dataclass

from addon.rows.table import Column
from addon.sidebar.run_form import (
    EXISTING,
    LONGEST_TITLE,
    MODES,
    NEW_COLUMN,
    RunForm,
    output_name,
    sources_name,
)
from addon.sidebar.text import Words, shorten
from addon.sidebar.widgets import (
    MAX_ITEMS,
    Item,
    Json,
    Links,
    Selection,
    buttons,
    card,
    labelled,
    paragraph,
    section,
    selection,
    text_input,
)

MOST_CHECK_BOXES = 20
"""With more columns a list with a search box is easier than boxes to tick."""
INSTRUCTIONS_LIMIT = 4_000
"""Characters of instructions; they are sent to the model with every row."""


@dataclass(frozen=True, slots=True)
class Tab:
    """A tab people can choose."""

    sheet_id: int
    title: str


@dataclass(frozen=True, slots=True)
class RunView:
    """What the card shows.

    Parameters
    ----------
    title
        The spreadsheet's title.
    tabs, columns
        All tabs with rows, and the columns of the chosen one.
    form
        The choices, fitted to ``columns`` by `with_columns`.
    request_id
        Random and new for every card: a repeated click on one card is the same request.
    notice
        A sentence on top, such as why the last click started nothing.
    admin
        Whether the reader may see all jobs.
    """

    title: str
    tabs: Sequence[Tab]
    columns: Sequence[Column]
    form: RunForm
    request_id: str
    notice: str = ""
    admin: bool = False


def run_card(words: Words, links: Links, view: RunView) -> Json:
    """Build the run card."""
    top = [paragraph(view.notice, strong=True)] if view.notice else []
    top.append(labelled(words("run.spreadsheet"), shorten(view.title)))
    sheet_id = view.form.sheet_id
    if sheet_id is None:
        top += [paragraph(words("run.no_tabs")), buttons([links.button(words("run.reload"), "choose")])]
        return card("run", words("run.title"), [section(top)])
    carried = {"sheetId": str(sheet_id)}
    top += _tabs(words, links, view, carried)
    reload = links.button(words("run.reload"), "choose", carried, keep_values=True)
    if not view.columns:
        top += [paragraph(words("run.no_columns")), buttons([reload])]
        return card("run", words("run.title"), [section(top)])
    sections = [
        section(top + _columns(words, links, view, sheet_id, carried)),
        section(_wishes(words, view.form)),
        section(
            [
                paragraph(words("run.close")),
                buttons(
                    [
                        reload,
                        links.button(words("run.help"), "help", keep_values=True),
                        *([links.button(words("admin.show"), "admin")] if view.admin else []),
                    ]
                ),
            ]
        ),
    ]
    start = links.button(
        words("run.button"), "run", carried | {"requestId": view.request_id}, keep_values=True
    )
    return card("run", words("run.title"), sections, footer=start)


def _tabs(words: Words, links: Links, view: RunView, carried: dict[str, str]) -> list[Json]:
    if len(view.tabs) < 2:
        return []
    items = [
        Item(shorten(tab.title), str(tab.sheet_id), tab.sheet_id == view.form.sheet_id)
        for tab in view.tabs[:MAX_ITEMS]
    ]
    change = links.action("choose", carried, keep_values=True)
    widgets = [selection("DROPDOWN", "sheet", words("run.tab"), items, change)]
    if more := len(view.tabs) - len(items):
        widgets.append(paragraph(words("run.more_tabs", tabs=words.count("tab", more))))
    return widgets


def _columns(words: Words, links: Links, view: RunView, sheet_id: int, carried: dict[str, str]) -> list[Json]:
    """Inputs for source and output columns. Of several columns with one title, one is listed."""
    form = view.form
    titles = list(dict.fromkeys(column.title for column in view.columns))
    short = [title for title in titles if len(title) <= LONGEST_TITLE]
    listed = short[:MAX_ITEMS]
    change = links.action("choose", carried, keep_values=True)
    sources = [Item(shorten(title), title, title in form.sources) for title in listed]
    # One place is taken by the entry for a new column.
    free = [title for title in short if title not in form.sources][: MAX_ITEMS - 1]
    output = [Item(words("run.output_new"), NEW_COLUMN, not form.output)]
    output += [Item(shorten(title), EXISTING + title, title == form.output) for title in free]
    kind: Selection = "CHECK_BOX" if len(sources) <= MOST_CHECK_BOXES else "MULTI_SELECT"
    widgets = []
    if sources:
        widgets.append(selection(kind, sources_name(sheet_id), words("run.sources"), sources, change))
    if more := len(short) - len(listed):
        widgets.append(paragraph(words("run.more_columns", columns=words.count("column", more))))
    if long := len(titles) - len(short):
        left_out = words.count("column", long)
        widgets.append(
            paragraph(words("run.long_titles", columns=left_out, limit=words.number(LONGEST_TITLE)))
        )
    return [
        *widgets,
        selection("DROPDOWN", output_name(sheet_id), words("run.output"), output),
        text_input(
            "new_title",
            words("run.output_title"),
            form.new_title,
            limit=LONGEST_TITLE,
            hint=words("run.output_hint"),
        ),
    ]


def _wishes(words: Words, form: RunForm) -> list[Json]:
    modes = [Item(words(f"mode.{mode}"), mode, mode == form.mode) for mode in MODES]
    return [
        text_input(
            "instructions",
            words("run.instructions"),
            form.instructions,
            limit=INSTRUCTIONS_LIMIT,
            lines=True,
        ),
        selection("RADIO_BUTTON", "mode", words("run.mode"), modes),
    ]
