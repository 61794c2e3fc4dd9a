"""The card that shows how a run stands, and what can be done about it."""

from dataclasses import dataclass

from addon.jobs.model import OVER
from addon.jobs.status import FailureGroup, JobStatus
from addon.sidebar.text import Words, shorten
from addon.sidebar.widgets import (
    Json,
    Links,
    bar,
    buttons,
    captioned,
    card,
    labelled,
    link_button,
    paragraph,
    section,
)


@dataclass(frozen=True, slots=True)
class Rights:
    """What the reader of the card may do: command this job, see all jobs."""

    commands: bool = True
    admin: bool = False


def status_card(
    words: Words, links: Links, title: str, status: JobStatus, rights: Rights, notice: str = ""
) -> Json:
    """Build the status card of a run in the spreadsheet called ``title``; ``notice`` is shown on top."""
    links = links.about(status.job_id)
    sections = [
        section(_progress(words, title, status, notice)),
        section([*_controls(words, links, status, rights), paragraph(_as_of(words, status))]),
    ]
    if details := _details(words, status):
        sections.append(section([paragraph(line) for line in details]))
    if status.failures:
        sections.append(section(_failures(words, links, status, rights), words("status.failures")))
    return card("status", words("product"), sections, footer=_main_button(words, links, status, rights))


def percent_settled(status: JobStatus) -> int:
    """Return how much is settled, 0–100: rows summarised or failed, of the rows with text."""
    if status.status == "done":
        return 100
    settled = status.done + status.failed
    return min(100, settled * 100 // status.rows) if status.rows else 0


def _progress(words: Words, title: str, status: JobStatus, notice: str) -> list[Json]:
    percent = percent_settled(status)
    widgets = [paragraph(notice, strong=True)] if notice else []
    widgets += [
        labelled(words("run.spreadsheet"), shorten(title)),
        paragraph(words(f"status.{status.status}"), strong=True),
        paragraph(words("status.progress", bar=bar(percent), percent=str(percent))),
        paragraph(
            words("status.counts", done=words.number(status.done), rows=words.count("row", status.rows))
        ),
    ]
    widgets += [paragraph(line) for line in _situation(words, status)]
    return widgets


def _situation(words: Words, status: JobStatus) -> list[str]:
    """What the person should know about the state the run is in."""
    if status.status == "queued":
        return [words("status.queued_note"), words("run.close")]
    if status.status == "paused":
        return [words.coded("reason", status.reason or "other"), words("status.safe")]
    if status.status == "cancelled":
        return [words("status.cancelled_note")]
    if status.status == "done":
        return []
    lines = []
    if status.seconds_left is not None:
        lines.append(words("status.left", time=words.duration(status.seconds_left)))
    if status.rate is not None:
        lines.append(words("status.rate", rate=words.rate(status.rate)))
    return [*lines, words("run.close")]


def _main_button(words: Words, links: Links, status: JobStatus, rights: Rights) -> Json:
    if status.status in OVER:
        return links.button(words("status.new"), "new")
    if status.status == "paused" and rights.commands:
        return links.button(words("status.resume"), "resume")
    return links.button(words("status.refresh"), "refresh")


def _controls(words: Words, links: Links, status: JobStatus, rights: Rights) -> list[Json]:
    row, over = [], status.status in OVER
    if over or (status.status == "paused" and rights.commands):  # else it is the main button
        row.append(links.button(words("status.refresh"), "refresh"))
    if status.status in {"queued", "running"} and rights.commands:
        row.append(links.button(words("status.pause"), "pause"))
    if not over and rights.commands:
        row.append(links.button(words("status.cancel"), "cancel"))
    if status.results_link:
        row.append(link_button(words("status.results"), status.results_link))
    if rights.admin:
        row.append(links.button(words("admin.show"), "admin"))
    shown = [buttons(row)] if row else []
    return shown if over or rights.commands else [paragraph(words("status.not_yours")), *shown]


def _as_of(words: Words, status: JobStatus) -> str:
    return words("status.checked", time=words.time(status.now, status.now))


def _details(words: Words, status: JobStatus) -> list[str]:
    remaining = status.rows - status.done - status.failed if status.status in OVER else 0
    counted = [
        ("status.failed", "rows", "row", status.failed),
        ("status.remaining", "rows", "row", remaining),
        ("status.blank", "rows", "row", status.blank),
        ("status.reused", "rows", "row", status.reused),
        ("status.called", "calls", "call", status.called),
    ]
    lines = [words(key, **{name: words.count(unit, n)}) for key, name, unit, n in counted if n > 0]
    if status.input_tokens or status.output_tokens:
        lines.append(
            words(
                "status.tokens",
                input=words.number(status.input_tokens),
                output=words.number(status.output_tokens),
            )
        )
    if status.expected_cost and status.status not in OVER:
        lines.append(words("status.expected", cost=words.dollars(status.expected_cost)))
    if status.cost:
        lines.append(words("status.cost", cost=words.dollars(status.cost)))
    if status.repeated > 0:
        lines.append(words("status.repeated", calls=words.count("call", status.repeated)))
    lines += [words.coded("note", note) for note in status.notes]
    lines.append(words("status.model", model=status.model))
    lines.append(words("status.started", time=words.time(status.created_at, status.now)))
    if status.finished_at is not None:
        lines.append(words("status.finished", time=words.time(status.finished_at, status.now)))
    else:
        lines.append(words("status.updated", time=words.time(status.updated_at, status.now)))
    return lines


def _failures(words: Words, links: Links, status: JobStatus, rights: Rights) -> list[Json]:
    over = status.status in OVER and rights.commands
    several = len(status.failures) > 1
    widgets = [
        captioned(
            words.coded("failure", group.error_class),
            _group_rows(words, group),
            links.button(words("status.retry_group"), "retry", {"errorClass": group.error_class})
            if over and several
            else None,
        )
        for group in status.failures
    ]
    if over:
        rows = words.count("failed_row", status.failed)
        widgets.append(buttons([links.button(words("status.retry_all", rows=rows), "retry")]))
    return widgets


def _group_rows(words: Words, group: FailureGroup) -> str:
    count = words.count("row", group.count)
    if not group.rows:
        return count
    numbers = words("list.comma").join(str(row) for row in group.rows)
    key = "status.group_rows" if group.count <= len(group.rows) else "status.group_more"
    return words(key, count=count, numbers=numbers)
