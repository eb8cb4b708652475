"""The dashboard in a real browser: links, the back button, live updates, notes."""

from __future__ import annotations

import contextlib
import re
from types import SimpleNamespace

import pytest

from stackrank.db import queries
from tests.dashboard.browsing import heading, ready, sync_api, tick
from tests.dashboard.traces import add_many, finish, new_episode
from tests.support.episodes import create_episodes, start


def test_the_front_page_loads(page: sync_api.Page) -> None:
    page.goto("/")
    ready(page)
    heading(page, "Overview")


def test_the_bar_marks_where_the_page_belongs(page: sync_api.Page) -> None:
    marked = page.locator(".st-key-top_pages").get_by_role("link").filter(has=page.locator("strong"))
    for path, name in (("/leaderboard", "Leaderboard"), ("/run?id=1", "Runs"), ("/episode?id=5", "Episodes")):
        page.goto(path)
        ready(page)
        sync_api.expect(marked).to_have_text([re.compile(f"{name}$")])


def test_a_phone_has_a_card_for_each_row(page: sync_api.Page) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto("/runs")
    card = page.locator(".cards article").first
    sync_api.expect(card).to_contain_text("Rate")
    sync_api.expect(page.get_by_test_id("stDataFrame")).to_have_count(0)
    sync_api.expect(page.get_by_text("Tick a row")).to_have_count(0)
    card.get_by_role("link").first.click()
    heading(page, "Run nightly")
    page.set_viewport_size({"width": 1440, "height": 900})
    sync_api.expect(page.get_by_test_id("stDataFrame").first).to_be_visible()
    sync_api.expect(page.locator(".cards")).to_have_count(0)


def test_a_phone_picks_two_runs_and_says_what_numbers_mean(page: sync_api.Page) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto("/runs")
    field = page.get_by_role("combobox", name="Compare")
    for run in ("nightly #2", "nightly #1"):
        field.click()
        page.get_by_role("option", name=run).click()
    page.keyboard.press("Escape")
    page.get_by_role("link", name="nightly #2 against nightly #1").click()
    heading(page, "nightly #2 against nightly #1")
    ready(page)
    field = page.get_by_role("combobox", name="Open here").first
    side_by_side = page.get_by_role("link", name="side by side").first
    for _ in range(20):  # a list is closed again where a figure above it moves the field
        field.press("ArrowDown")
        field.press("Enter")
        with contextlib.suppress(AssertionError):
            sync_api.expect(side_by_side).to_be_visible(timeout=3_000)
            break
    sync_api.expect(side_by_side).to_be_visible()
    page.get_by_text("What these numbers mean").first.click()
    sync_api.expect(page.get_by_text("Corrected as p is (Holm)").first).to_be_visible()


def test_a_phone_has_the_legend_of_a_figure_as_text(page: sync_api.Page) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto("/failures?fp_tab=Where+it+went+wrong")
    legend = page.locator(".legend")
    sync_api.expect(legend).to_contain_text("resolved")
    sync_api.expect(page.locator(".js-plotly-plot .legend")).to_have_count(0)
    assert legend.evaluate("box => box.scrollHeight <= box.clientHeight && box.scrollWidth <= box.clientWidth")
    page.goto("/failures")
    sync_api.expect(legend.locator(".line + .mark")).to_have_count(3)
    page.goto("/failures?fp_tab=Where+it+went+wrong")
    sync_api.expect(legend.locator(".field").first).to_be_visible()
    page.set_viewport_size({"width": 1440, "height": 900})
    sync_api.expect(page.locator(".js-plotly-plot .legend")).to_have_count(1)
    sync_api.expect(page.locator("div.legend")).to_have_count(0)


def test_a_phone_reaches_every_page_from_the_menu(page: sync_api.Page) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto("/leaderboard")
    ready(page)
    sync_api.expect(page.locator(".st-key-top_pages")).to_be_hidden()
    sync_api.expect(page.get_by_text("Ctrl K")).to_be_hidden()
    for name in ("Runs", "Failure points"):
        page.locator(".st-key-top_menu button").click()
        page.get_by_test_id("stPopoverBody").get_by_role("link", name=name).click()
        sync_api.expect(page.get_by_role("heading", name=name, level=1)).to_be_visible()
        sync_api.expect(page.get_by_test_id("stPopoverBody")).to_have_count(0)


def test_a_name_in_a_table_opens_what_it_names(page: sync_api.Page) -> None:
    page.goto("/runs?runs_status=finished")
    ready(page)
    page.get_by_test_id("glide-cell-1-0").wait_for(state="attached")  # painted
    name = sync_api.Position(x=60, y=52)  # in the first row, beside its box
    page.get_by_test_id("stDataFrame").hover(position=name)
    sync_api.expect(page.get_by_test_id("data-grid-canvas")).to_have_css("cursor", "pointer")  # it sees the link
    with page.context.expect_page() as opened:
        page.get_by_test_id("stDataFrame").click(position=name)
    heading(opened.value, "Run nightly")
    assert re.search(r"/run\?name=nightly\+%23\d+&id=\d+$", opened.value.url)
    opened.value.close()


@pytest.mark.exhaustive
def test_back_from_an_episode_restores_the_list(page: sync_api.Page) -> None:
    page.goto("/episodes?run=1&ep_verdict=unresolved")
    ready(page)
    tick(page, 2)
    page.get_by_role("link", name="Open episode").click()
    heading(page, "Step")
    assert "/episode?run=1&id=" in page.evaluate("location.href")
    page.go_back()
    heading(page, "Episodes")
    assert page.evaluate("location.search") == "?run=1&ep_verdict=unresolved"
    sync_api.expect(page.get_by_text("Newest first, without")).to_be_visible()


@pytest.mark.exhaustive
def test_back_from_an_episode_restores_the_run(page: sync_api.Page) -> None:
    page.goto("/run?id=1&run_tab=Episodes")
    ready(page)
    tick(page, 2)
    page.get_by_role("link", name="Open episode").click()
    heading(page, "Step")
    page.go_back()
    heading(page, "Run nightly")
    assert page.evaluate("location.search") == "?id=1&run_tab=Episodes"
    page.get_by_role("tab", name="Specification").click()
    sync_api.expect(page.get_by_text("stackrank run run-1.yaml")).to_be_visible()
    page.go_back()
    sync_api.expect(page.get_by_role("tab", name="Episodes")).to_have_attribute("aria-selected", "true")


@pytest.mark.exhaustive
def test_leaderboard_state_is_in_the_address(page: sync_api.Page) -> None:
    page.goto("/leaderboard")
    ready(page)
    for row, picked in ((1, "1"), (2, "1%2C2")):
        condition = f"location.search === '?lb_pick={picked}'"
        for _ in range(3):  # a click while the page is still being drawn is lost
            tick(page, row)
            with contextlib.suppress(sync_api.TimeoutError):
                page.wait_for_function(condition, timeout=15_000)
                break
        assert page.evaluate(condition)
        ready(page)
    sync_api.expect(page.get_by_text("in 80% of cases")).to_be_visible()
    page.get_by_role("tab", name="Reliability").click()
    sync_api.expect(page.get_by_text("Unbiased estimates over tasks")).to_be_visible()
    link = page.evaluate("location.href")
    assert "lb_tab=Reliability" in link
    page.goto("/runs")
    ready(page)
    page.goto(link)
    ready(page)
    sync_api.expect(page.get_by_text("in 80% of cases")).to_be_visible()
    sync_api.expect(page.get_by_role("tab", name="Reliability")).to_have_attribute("aria-selected", "true")


def test_leaderboard_to_side_by_side_traces_and_back(page: sync_api.Page) -> None:
    page.goto("/leaderboard?lb_pick=2%2C1&last=10")
    ready(page)
    page.get_by_role("link", name="Compare these 2").click()
    heading(page, "Compare")
    assert page.evaluate("location.search") == "?last=10&cmp_pick=2%2C1"
    sync_api.expect(page.get_by_text("in 80% of cases")).to_be_visible()
    ready(page)
    tick(page, 1)
    page.get_by_role("link", name="The two traces side by side").click()
    page.wait_for_url("**/diverge?*a=*&b=*")
    ready(page)
    page.go_back()
    heading(page, "Compare")
    assert page.evaluate("location.search") == "?last=10&cmp_pick=2%2C1"
    page.get_by_role("tab", name="By category").click()
    sync_api.expect(page.get_by_test_id("stVegaLiteChart").locator("canvas, svg").first).to_be_visible()
    page.go_back()
    sync_api.expect(page.get_by_role("tab", name="Tasks")).to_have_attribute("aria-selected", "true")
    page.go_back()
    heading(page, "Leaderboard")
    assert page.evaluate("location.search") == "?lb_pick=2%2C1&last=10"


@pytest.mark.exhaustive
def test_comparison_link_opens_that_comparison(page: sync_api.Page) -> None:
    page.goto("/compare?cmp_pick=3%2C1%2C2&cmp_pair=1&cmp_tab=By+category&benchmark=elsewhere")
    ready(page)
    pair = "qwen3-coder / rewrite against llama-3.3-70b / debug"  # the two of the lowest rates come first
    sync_api.expect(page.get_by_role("combobox", name="Pair")).to_have_value(pair)
    sync_api.expect(page.get_by_role("tab", name="By category")).to_have_attribute("aria-selected", "true")
    for name, value in (("cmp_pair", "1"), ("benchmark", "elsewhere")):
        sync_api.expect(page.get_by_text(f"The link asks for {name} = {value}")).to_be_visible()


@pytest.mark.exhaustive
def test_notes_are_saved(page: sync_api.Page) -> None:
    page.goto("/episode?id=9&step=2")
    ready(page)
    page.get_by_text("Notes and tags").click()
    page.get_by_label("A note about the step that is shown").fill("<b>Look</b> here.")
    page.get_by_role("button", name="Add note").click()
    sync_api.expect(page.get_by_text("<b>Look</b> here.", exact=True)).to_be_visible()
    page.goto("/run?id=1")
    ready(page)
    sync_api.expect(page.get_by_text("<b>Look</b> here.", exact=True)).to_be_visible()
    page.get_by_role("link", name="episode 9 step 2").click()
    heading(page, "Step 2")
    assert page.evaluate("location.search") == "?id=9&step=2"


def test_unknown_ids_are_reported(page: sync_api.Page) -> None:
    for path in ("/episode?id=4711", "/run?id=nothing"):
        page.goto(path)
        ready(page)
        sync_api.expect(page.get_by_text("There is no")).to_be_visible()


@pytest.mark.exhaustive
def test_run_tables_update_live(page: sync_api.Page, watched: SimpleNamespace) -> None:
    episode = new_episode(watched.store, name="growing")
    row = queries.episode(watched.store.engine, episode)
    run = row["run_id"]
    page.goto(f"/run?id={run}")
    ready(page)
    sync_api.expect(page.get_by_text("No episode has a verdict yet.")).to_be_visible()
    sync_api.expect(page.get_by_text("Running now: 1")).to_be_visible()
    sync_api.expect(page.get_by_text("no episode has a verdict").first).to_be_visible()
    assert page.title() == f"run of growing - run {run} - stackrank"
    (second_episode,) = create_episodes(watched.store, run, [(row["task_id"], row["entrant_id"], 2)]).values()
    start(watched.store, second_episode)
    sync_api.expect(page.get_by_text("Running now: 2")).to_be_visible()
    playing = page.get_by_test_id("stExpander").filter(has_text="Running now").get_by_test_id("stDataFrame")
    sync_api.expect(playing).to_be_visible()
    add_many(watched.store, episode, 2)
    for episode_id in (episode, second_episode):
        finish(watched.store, episode_id, steps=1)
    sync_api.expect(page.get_by_text("Download entrants (CSV)")).to_be_visible()
    sync_api.expect(page.get_by_text("Running now: 1")).to_have_count(0)
    sync_api.expect(page.get_by_text("no episode has a verdict")).to_have_count(0)


def test_run_end_is_shown_live(page: sync_api.Page, watched: SimpleNamespace) -> None:
    page.goto(f"/run?id={watched.made.live_run}")
    ready(page)
    badges = page.locator('[data-testid="stMain"]')
    sync_api.expect(badges.get_by_text("running").first).to_be_visible()
    watched.store.end_run(watched.made.live_run, "failed", "The test ended it.")
    sync_api.expect(page.get_by_text("The test ended it.")).to_be_visible()
    sync_api.expect(badges.get_by_text("failed").first).to_be_visible()


@pytest.mark.exhaustive
def test_labelled_episode_is_searchable(page: sync_api.Page) -> None:
    page.goto("/episode?id=11")
    ready(page)
    page.get_by_text("Notes and tags").click()
    page.get_by_label("Why").fill("<i>See step 2.</i>")
    page.get_by_role("button", name="Add label").click()
    sync_api.expect(page.get_by_text("<i>See step 2.</i>")).to_be_visible()
    page.goto("/episodes?ep_query=label%3Adisputed")
    ready(page)
    page.get_by_role("button", name="Saved views").click()
    page.get_by_label("Save these filters as").fill("Disputed ones")
    page.get_by_role("button", name="Save", exact=True).click()
    sync_api.expect(page.get_by_role("button", name="Saved views (1)")).to_be_visible()
    page.goto("/episodes")
    ready(page)
    page.get_by_role("button", name="Saved views").click()
    page.get_by_role("button", name="Disputed ones").click()
    page.wait_for_url(re.compile("/episodes.ep_query=label(:|%3A)disputed$"))
    page.keyboard.press("Escape")
    ready(page)
    tick(page, 1)
    sync_api.expect(page.get_by_role("link", name="Open episode 11")).to_be_visible()
