"""The main job as a newcomer sees it: `addon demo`, a real browser, and the sample sheet."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from browsing import chromium_page
from demo_process import running_demo
from playwright.sync_api import Page, expect

from addon.llm.base import Prompt, Text
from addon.llm.builtin import Builtin
from addon.sidebar.text_en import TEXTS

ROOT = Path(__file__).resolve().parent.parent.parent
OUTPUT = ROOT / "test-output"
ROWS = 40
PATIENCE = 60_000
"""Milliseconds to wait for what takes far less."""

pytestmark = pytest.mark.browser


@pytest.fixture
def demo(tmp_path: Path) -> Iterator[str]:
    """The running demo's URL."""
    with running_demo(tmp_path) as url:
        yield url


@pytest.fixture
def page() -> Iterator[Page]:
    """A page of real Chromium that fails the test on any error in the console."""
    with chromium_page() as page:
        errors: list[str] = []
        page.on("pageerror", lambda error: errors.append(str(error)))
        yield page
        assert errors == []


def _cells(page: Page, url: str) -> list[list[str]]:
    """The sheet as the page's own interface gives it."""
    spreadsheet = url.split("spreadsheet=")[1].split("&", maxsplit=1)[0]
    origin = url.split("/page/", maxsplit=1)[0]
    answer = page.request.get(f"{origin}/page/api/sheet?spreadsheet={spreadsheet}")
    rows: list[tuple[int, object, list[str]]] = json.loads(answer.text())["sheets"][0]["rows"]
    return [cells for _, _, cells in sorted(rows, key=lambda row: row[0])]


def _summary(text: str) -> str:
    """What the offline model writes about a row."""
    if not text.strip():
        return ""
    outcome = Builtin().summarise(Prompt(TEXTS["run.instructions_default"], (("inquiry", text),)), 10)
    assert isinstance(outcome, Text)
    return outcome.text


def test_three_clicks_summarise_the_sample_sheet(demo: str, page: Page) -> None:
    OUTPUT.mkdir(exist_ok=True)
    page.goto(demo)
    page.get_by_role("button", name="Allow this spreadsheet").click()
    page.get_by_role("dialog").get_by_role("button", name="Allow").click()
    page.get_by_role("button", name="Run summaries").click()

    expect(page.get_by_text("rows done")).to_be_visible(timeout=PATIENCE)
    halfway = page.get_by_text("Working")
    for _ in range(200):
        page.get_by_role("button", name="Refresh").click()
        page.wait_for_timeout(200)
        if halfway.count() and "0 of" not in page.get_by_text("rows done").inner_text():
            page.screenshot(path=OUTPUT / "demo.png")
        if page.get_by_text("Finished").count():
            break
    expect(page.get_by_text(f"{ROWS} of {ROWS} rows done")).to_be_visible()

    header, *rows = _cells(page, demo)
    text, summary = header.index("inquiry"), header.index("Summary")
    for row in rows:
        padded = row + [""] * len(header)
        assert padded[summary] == _summary(padded[text])
    with page.expect_popup() as popup:
        page.get_by_role("link", name="Open the results").or_(
            page.get_by_role("button", name="Open the results")
        ).click()
    expect(popup.value.get_by_role("table")).to_contain_text("builtin-1")


def test_the_sidebar_speaks_japanese(demo: str, page: Page) -> None:
    OUTPUT.mkdir(exist_ok=True)
    page.goto(f"{demo}&lang=ja")
    page.get_by_role("combobox", name="Language").or_(page.locator("select").first).first.select_option("ja")
    expect(page.locator("body")).to_contain_text("スプレッドシート")
    page.screenshot(path=OUTPUT / "connect-ja.png")
