"""What the run card's form holds: its first contents, and reading it back from a click."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import get_args

from addon.jobs.plan import StartRequest
from addon.jobs.records import Mode
from addon.rows.table import Column
from addon.sidebar.events import Event
from addon.sidebar.text import Words

NEW_COLUMN = "new"
EXISTING = "column:"
"""Before an existing column's title in the output choice, so that a column may be called ``new``."""
MODES: tuple[Mode, ...] = get_args(Mode)
LONGEST_TITLE = 200
"""Characters of a column title a form may carry; a longer one is text, not a title."""

_TEXT_TITLE = re.compile(
    r"text|body|content|message|comment|inquiry|enquiry|question|feedback|review|description|note|detail"
    r"|本文|内容|問い?合わ?せ|コメント|質問|感想|意見|説明|備考|詳細|メッセージ|文章|テキスト",
    re.IGNORECASE,
)
_OTHER_TITLE = re.compile(
    r"\b(id|no|number|date|time|timestamp|status|summary|name|e-?mail|phone|price|amount|url)\b"
    r"|番号|日付|日時|日$|時刻|状態|ステータス|要約|氏名|名前|メール|電話|金額|価格|タイムスタンプ",
    re.IGNORECASE,
)
_SHEET_ID = re.compile(r"[0-9]{1,10}")


@dataclass(frozen=True, slots=True)
class RunForm:
    """The person's choices.

    Parameters
    ----------
    sheet_id
        The chosen tab; ``None`` before one is chosen. 0 is a tab.
    sources
        Titles of the columns to read.
    output
        Title of the column for the summaries if it exists, else empty: then ``new_title`` counts.
    tab_changed
        The choices of columns belong to another tab than the chosen one, so they are not used.
    """

    sheet_id: int | None
    sources: tuple[str, ...]
    output: str
    new_title: str
    instructions: str
    mode: Mode
    tab_changed: bool = False

    def request(self, spreadsheet_id: str, sheet_id: int, request_id: str) -> StartRequest:
        """Return what is to be started."""
        return StartRequest(
            spreadsheet_id=spreadsheet_id,
            sheet_id=sheet_id,
            source_columns=self.sources,
            output_column=self.output or self.new_title.strip(),
            instructions=self.instructions.strip(),
            mode=self.mode,
            request_id=request_id,
        )


def sources_name(sheet_id: int) -> str:
    """Name of the input of source columns: one per tab, so that Google never keeps another tab's choice."""
    return f"sources_{sheet_id}"


def output_name(sheet_id: int) -> str:
    """Name of the output column's input, also one per tab."""
    return f"output_{sheet_id}"


def first_form(words: Words) -> RunForm:
    """Return the form of a card nobody has filled in yet; its columns come from `with_columns`."""
    return RunForm(
        sheet_id=None,
        sources=(),
        output="",
        new_title=words("run.output_default"),
        instructions=words("run.instructions_default"),
        mode="new_or_changed",
        tab_changed=True,
    )


def read_form(event: Event) -> RunForm:
    """Read the form of a click on the run card."""
    shown = _sheet_id(event.parameters.get("sheetId", ""))
    sheet_id = _sheet_id(event.value("sheet") or "")
    if sheet_id is None:
        sheet_id = shown
    mode = event.value("mode")
    output = event.value(output_name(sheet_id)) or "" if sheet_id is not None else ""
    return RunForm(
        sheet_id=sheet_id,
        sources=event.form.get(sources_name(sheet_id), ()) if sheet_id is not None else (),
        output=output.removeprefix(EXISTING) if output.startswith(EXISTING) else "",
        new_title=event.value("new_title") or "",
        instructions=event.value("instructions") or "",
        mode=next((known for known in MODES if known == mode), "new_or_changed"),
        tab_changed=sheet_id != shown,
    )


def with_columns(form: RunForm, sheet_id: int, columns: Sequence[Column]) -> RunForm:
    """Fit a form to the columns a tab has now; guess where the form says nothing about this tab."""
    titles = [column.title for column in columns]
    if form.tab_changed or form.sheet_id != sheet_id:
        form = replace(form, sheet_id=sheet_id, sources=_guess(titles, form.new_title), output="")
        # A column that already has the summaries' title is what an earlier run made.
        if form.new_title in titles and form.new_title not in form.sources:
            form = replace(form, output=form.new_title)
    sources = tuple(title for title in form.sources if title in titles)
    keeps_output = form.output in titles and form.output not in sources
    return replace(form, sources=sources, output=form.output if keeps_output else "")


def _guess(titles: Sequence[str], output: str) -> tuple[str, ...]:
    candidates = [title for title in titles if title != output and len(title) <= LONGEST_TITLE]
    by_name = [title for title in candidates if _TEXT_TITLE.search(title)]
    plain = [title for title in candidates if not _OTHER_TITLE.search(title)]
    return tuple((by_name or plain or candidates)[:1])


def _sheet_id(text: str) -> int | None:
    return int(text) if _SHEET_ID.fullmatch(text) else None
