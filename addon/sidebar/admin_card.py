"""The administrators' card: jobs that need a person first, whatever spreadsheet they are in."""

from collections.abc import Sequence
from datetime import datetime

from addon.jobs.model import OVER
from addon.jobs.status import JobLine
from addon.sidebar.text import Words
from addon.sidebar.widgets import (
    FROM_ADMIN,
    Json,
    Links,
    buttons,
    captioned,
    card,
    link_button,
    paragraph,
    section,
)

SPREADSHEET = "https://docs.google.com/spreadsheets/d/"


def admin_card(
    words: Words, links: Links, jobs: Sequence[JobLine], now: datetime, model: str, notice: str = ""
) -> Json:
    """Build the card. ``jobs`` are shown in their order; no title is, for nobody proved access to it."""
    top = [paragraph(notice, strong=True)] if notice else []
    waiting = sum(job.status == "paused" for job in jobs)
    top.append(paragraph(words("admin.waiting", jobs=words.count("job", waiting))))
    top.append(paragraph(words("status.model", model=model)))
    top.append(buttons([links.button(words("admin.test"), "test-model")]))
    sections = [section(top), *(_job(words, links, job, now) for job in jobs)]
    return card(
        "admin", words("admin.title"), sections, footer=links.button(words("status.refresh"), "admin")
    )


def _job(words: Words, links: Links, job: JobLine, now: datetime) -> Json:
    caption = words("admin.started", time=words.time(job.created_at, now), rows=words.count("row", job.rows))
    if job.failed:
        caption += words("list.comma") + words.count("failed_row", job.failed)
    widgets = [captioned(words(f"status.{job.status}"), caption)]
    if job.status == "paused":
        widgets.append(paragraph(words.coded("reason", job.reason or "other")))
    mine, choices = links.about(job.job_id), []
    marked = {FROM_ADMIN: "1"}
    if job.status == "paused":
        choices.append(mine.button(words("status.resume"), "resume", marked))
    if job.status in {"queued", "running"}:
        choices.append(mine.button(words("status.pause"), "pause", marked))
    if job.status in OVER and job.failed:
        choices.append(mine.button(words("status.retry_group"), "retry", marked))
    if job.status not in OVER:
        choices.append(mine.button(words("status.cancel"), "cancel", marked))
    choices.append(link_button(words("admin.open"), SPREADSHEET + job.spreadsheet_id))
    return section([*widgets, buttons(choices)])
