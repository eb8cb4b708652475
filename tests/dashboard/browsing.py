"""Helpers for tests of pages in a real browser."""

from __future__ import annotations

import shutil
from typing import Any

import pytest

sync_api = pytest.importorskip("playwright.sync_api")
sync_api.expect.set_options(timeout=120_000)  # machines that test are busy
BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
"""Any of these will do. The first is Chromium without what windows need, and takes a third less processor time."""
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def find_browser() -> str | None:
    """The program of a browser."""
    return next(filter(None, map(shutil.which, BROWSERS)), None)


DRAWN = """() => [...document.querySelectorAll('[data-testid="stVegaLiteChart"], [data-testid="stPlotlyChart"]')]
    .every(chart => chart.querySelector("canvas, svg.marks, .main-svg"))"""
"""Whether there is a drawing in every figure: the script that makes it may come after the figure's place."""


def ready(page: sync_api.Page) -> None:
    """Wait until the script has run and what it draws is there."""
    sync_api.expect(page.get_by_test_id("stApp")).to_have_attribute("data-test-script-state", "notRunning")
    sync_api.expect(page.locator('[data-testid="stSkeleton"], [data-stale="true"]')).to_have_count(0)
    page.wait_for_function(DRAWN)
    for grid in page.locator('.box[role="grid"]').all():
        sync_api.expect(grid.locator(".cell.name").first).to_be_attached()  # its modules and rows come after its place
    assert page.locator('[data-testid="stException"]').count() == 0


def opens_for_certain(page: sync_api.Page) -> None:
    """Let the page be opened again when the machine's network changed while it was loaded.

    Chromium gives up what it is fetching, even from this machine, when any address comes or goes. Other tests build
    images meanwhile, for which Docker adds and removes interfaces; a page without its scripts stays empty for good.
    """
    changed = "net::ERR_NETWORK_CHANGED"
    cut: list[str] = []
    page.on("requestfailed", lambda request: cut.append(request.url) if request.failure == changed else None)
    once = page.goto

    def goto(*arguments: Any, **options: Any) -> sync_api.Response | None:
        while True:
            cut.clear()
            try:
                answer = once(*arguments, **options)
            except sync_api.Error as error:
                if changed not in str(error):
                    raise
                continue
            if not cut:
                return answer

    page.goto = goto


def tick(page: sync_api.Page, row: int, table: int = 0) -> None:
    """Tick a row, from 1, of a table, from 0; it is a drawing, so a click before it is painted is lost."""
    grid = page.locator('[data-testid="stDataFrame"]').nth(table)
    grid.get_by_test_id(f"glide-cell-1-{row - 1}").wait_for(state="attached")
    grid.click(position={"x": 15, "y": 35 * row + 17})


def heading(page: sync_api.Page, text: str) -> None:
    sync_api.expect(page.get_by_role("heading", name=text, exact=False).first).to_be_visible()


def selected(page: sync_api.Page, step: int) -> None:
    """The step is the one in the list, in the pane beside it and in the address."""
    heading(page, f"Step {step}:")
    row = page.locator('.row[aria-selected="true"]')
    sync_api.expect(row).to_have_attribute("data-step", str(step))
    sync_api.expect(row).to_be_in_viewport()


def at(page: sync_api.Page, step: int) -> None:
    selected(page, step)
    page.wait_for_function(f"new URLSearchParams(location.search).get('step') === '{step}'")


def pressed(page: sync_api.Page, key: str, step: int) -> None:
    page.keyboard.press(key)
    at(page, step)


# Streamlit gives up a run of a component, and cleans up after it late, where a page is drawn twice at once.
TWICE = """
window.Blob = class extends Blob {
  constructor(parts, options) {
    const [text] = parts
    const component = options?.type === "text/javascript" && text.includes("export default ")
    super(component ? [text.replace("export default ", "const run = ") + `
      export default component => {
        const givenUp = run(component)
        const latest = run(component)
        givenUp?.()
        document.documentElement.dataset.twice = "yes"
        return latest
      }`] : parts, options)
  }
}
"""
