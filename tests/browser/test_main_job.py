"""The main job as a newcomer sees it: `addon demo`, a real browser, and the sample sheet."""

import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from browsing import chromium_page
from playwright.sync_api import Page, expect

ROOT = Path(__file__).resolve().parent.parent.parent
OUTPUT = ROOT / "test-output"
ROWS = 40
PATIENCE = 60_000
"""Milliseconds to wait for what takes far less."""

pytestmark = pytest.mark.browser


def _two_free_ports() -> int:
    """A port whose next one is free as well."""
    while True:
        with socket.create_server(("127.0.0.1", 0)) as first:
            port: int = first.getsockname()[1]
            try:
                with socket.create_server(("127.0.0.1", port + 1)):
                    return port
            except OSError:
                continue


@pytest.fixture
def demo(tmp_path: Path) -> Iterator[str]:
    """The running demo's URL."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("ADDON_")}
    command = [sys.executable, "-m", "addon", "demo", "--no-browser"]
    command += ["--state", str(tmp_path / "state"), "--port", str(_two_free_ports())]
    with subprocess.Popen(
        command, cwd=ROOT, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        assert "http://127.0.0.1" in line
        yield line.split()[-1]
        process.terminate()
        assert process.wait(30) == 0


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
    spreadsheet = url.split("spreadsheet=")[1].split("&")[0]
    origin = url.split("/page/")[0]
    answer = page.request.get(f"{origin}/page/api/sheet?spreadsheet={spreadsheet}")
    rows: list[tuple[int, object, list[str]]] = json.loads(answer.text())["sheets"][0]["rows"]
    return [cells for _, _, cells in sorted(rows, key=lambda row: row[0])]


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
        assert bool(padded[text].strip()) == bool(padded[summary].strip())
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
