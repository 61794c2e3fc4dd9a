"""Real Chromium for tests: Debian's, driven by Playwright."""

import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import Page, sync_playwright

ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@contextmanager
def chromium_page(width: int = 1280, height: int = 800) -> Iterator[Page]:
    """A fresh page; skips where there is no Chromium, fails instead where ADDON_TEST_REQUIRE names it."""
    executable = shutil.which("chromium")
    if executable is None:
        sentence = "Chromium is not installed: the browser tests did not run."
        if "browser" in re.split(r"[,\s]+", os.environ.get("ADDON_TEST_REQUIRE", "")):
            pytest.fail(sentence)
        pytest.skip(sentence)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=ARGUMENTS)
        try:
            yield browser.new_page(viewport={"width": width, "height": height})
        finally:
            browser.close()
