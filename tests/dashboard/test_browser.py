"""The dashboard in a real browser: what a link opens, what the back button does, what hostile text can do."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from tests.dashboard.browsing import heading, ready, sync_api


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
    page.get_by_role("tab", name="Reliability").click()
    sync_api.expect(page.get_by_text("pass@k").first).to_be_visible()
    link = page.evaluate("location.href")
    assert "lb_tab=Reliability" in link
    page.goto("/runs")
    ready(page)
    page.goto(link)
    ready(page)
    sync_api.expect(page.get_by_text("points behind")).to_be_visible()
    sync_api.expect(page.get_by_role("tab", name="Reliability")).to_have_attribute("aria-selected", "true")


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
