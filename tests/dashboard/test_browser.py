"""The dashboard in a real browser: what a link opens, what the back button does, what hostile text can do."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace

import pytest

sync_api = pytest.importorskip("playwright.sync_api")
sync_api.expect.set_options(timeout=30_000)  # machines that test are busy
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@pytest.fixture(scope="module")
def browser(chromium: str) -> Iterator[sync_api.Browser]:
    with sync_api.sync_playwright() as play:
        opened = play.chromium.launch(executable_path=chromium, args=ARGUMENTS, headless=True)
        yield opened
        opened.close()


@pytest.fixture
def page(browser: sync_api.Browser, served: str) -> Iterator[sync_api.Page]:
    """A fresh visitor. Nothing may raise in the browser, and nothing may be fetched from elsewhere."""
    context = browser.new_context(viewport={"width": 1440, "height": 1100}, base_url=served)
    opened = context.new_page()
    opened.set_default_timeout(30_000)
    errors: list[str] = []
    elsewhere: list[str] = []
    opened.on("pageerror", lambda error: errors.append(str(error)))
    local = (served, served.replace("http", "ws"), "data:", "blob:")
    opened.on("request", lambda request: None if request.url.startswith(local) else elsewhere.append(request.url))
    yield opened
    context.close()
    assert errors == [] and elsewhere == []


def ready(page: sync_api.Page) -> None:
    """Wait until the script has run and what it draws is there."""
    page.wait_for_selector('[data-testid="stApp"][data-test-script-state="notRunning"]')
    sync_api.expect(page.locator('[data-testid="stSkeleton"]')).to_have_count(0)
    assert page.locator('[data-testid="stException"]').count() == 0


def heading(page: sync_api.Page, text: str) -> None:
    sync_api.expect(page.get_by_role("heading", name=text, exact=False).first).to_be_visible()


@pytest.mark.parametrize(
    ("path", "title"),
    [
        ("/", "Overview"),
        ("/leaderboard", "Leaderboard"),
        ("/runs", "Runs"),
        ("/run?id=1", "Run nightly"),
        ("/episodes", "Episodes"),
        ("/episode?id=5", "cave-adventure"),
    ],
)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_page_loads(page: sync_api.Page, path: str, title: str, scheme: str) -> None:
    page.emulate_media(color_scheme=scheme)
    page.goto(path)
    ready(page)
    heading(page, title)
    background = page.evaluate("getComputedStyle(document.querySelector('[data-testid=stApp]')).backgroundColor")
    assert background == {"light": "rgb(255, 255, 255)", "dark": "rgb(18, 23, 29)"}[scheme]


def test_a_link_to_a_step_and_the_way_back(page: sync_api.Page) -> None:
    page.goto("/episode?id=7&step=3")
    ready(page)
    heading(page, "Step 3:")
    page.get_by_role("button", name="Next").click()
    heading(page, "Step 4:")
    assert "step=4" in page.evaluate("location.search")
    page.go_back()
    heading(page, "Step 3:")
    assert "step=3" in page.evaluate("location.search")
    # A click on a row of the list is a link as well.
    grid = page.locator('[data-testid="stDataFrame"]').first
    grid.click(position={"x": 20, "y": 40 + 35 * 6})
    heading(page, "Step 6:")
    assert "step=6" in page.evaluate("location.search")
    page.reload()
    heading(page, "Step 6:")


def test_from_the_list_to_an_episode_and_back_to_the_same_list(page: sync_api.Page) -> None:
    page.goto("/episodes?ep_run=1&ep_verdict=unresolved")
    ready(page)
    grid = page.locator('[data-testid="stDataFrame"]').first
    grid.click(position={"x": 20, "y": 40 + 35})
    page.get_by_role("link", name="Open episode").click()
    heading(page, "Step")
    assert "/episode?id=" in page.evaluate("location.href")
    page.go_back()
    heading(page, "Episodes")
    assert page.evaluate("location.search") == "?ep_run=1&ep_verdict=unresolved"
    sync_api.expect(page.get_by_text("Newest first, without")).to_be_visible()


def test_from_a_run_to_an_episode_and_back_to_the_same_run(page: sync_api.Page) -> None:
    page.goto("/run?id=1&run_tab=Episodes")
    ready(page)
    page.locator('[data-testid="stDataFrame"]').first.click(position={"x": 20, "y": 40 + 35})
    page.get_by_role("link", name="Open episode").click()
    heading(page, "Step")
    page.go_back()
    heading(page, "Run nightly")
    assert page.evaluate("location.search") == "?id=1&run_tab=Episodes"
    page.get_by_role("tab", name="Specification").click()
    sync_api.expect(page.get_by_text("stackrank run run-1.yaml")).to_be_visible()
    page.go_back()
    sync_api.expect(page.get_by_role("tab", name="Episodes")).to_have_attribute("aria-selected", "true")


def test_the_leaderboard_in_the_address(page: sync_api.Page) -> None:
    page.goto("/leaderboard")
    ready(page)
    grid = page.locator('[data-testid="stDataFrame"]').first
    for row in (1, 2):
        grid.click(position={"x": 15, "y": 35 * row + 15})
        ready(page)
    sync_api.expect(page.get_by_text("points behind")).to_be_visible()
    assert "lb_pick=1%2C2" in page.evaluate("location.search")
    page.get_by_role("tab", name="Failure points").click()
    sync_api.expect(page.locator(".js-plotly-plot .bars").first).to_be_attached()
    link = page.evaluate("location.href")
    assert "lb_tab=Failure" in link
    page.goto("/runs")
    ready(page)
    page.goto(link)
    ready(page)
    sync_api.expect(page.get_by_text("points behind")).to_be_visible()
    sync_api.expect(page.get_by_role("tab", name="Failure points")).to_have_attribute("aria-selected", "true")


def test_hostile_text_does_nothing(page: sync_api.Page, watched: SimpleNamespace) -> None:
    alerts: list[str] = []
    page.on("dialog", lambda dialog: (alerts.append(dialog.message), dialog.dismiss()))
    page.goto(f"/episode?id={watched.made.hostile}&step=2")
    ready(page)
    heading(page, "Step 2:")
    shown = page.locator('[data-testid="stCode"]').filter(has_text="<script>document.title='owned'</script>")
    sync_api.expect(shown).to_have_count(3)
    assert page.title() == "Episode - stackrank" and alerts == []
    assert page.locator("img[src='x']").count() == 0


def test_unknown_ids_are_a_message(page: sync_api.Page) -> None:
    for path in ("/episode?id=4711", "/run?id=nothing"):
        page.goto(path)
        ready(page)
        sync_api.expect(page.get_by_text("There is no")).to_be_visible()


def test_a_run_that_ends_while_it_is_watched(page: sync_api.Page, watched: SimpleNamespace) -> None:
    page.goto(f"/run?id={watched.made.live_run}")
    ready(page)
    badges = page.locator('[data-testid="stMain"]')
    sync_api.expect(badges.get_by_text("running").first).to_be_visible()
    watched.store.end_run(watched.made.live_run, "failed", "The test ended it.")
    sync_api.expect(page.get_by_text("The test ended it.")).to_be_visible()
    sync_api.expect(badges.get_by_text("failed").first).to_be_visible()
