"""Common questions are answered within a few clicks from Overview."""

from __future__ import annotations

import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from xml.etree import ElementTree

import pytest

from stackrank.db import queries
from tests.dashboard.browsing import heading, ready, sync_api, tick


class Reader:
    """A person who starts at Overview; every click counts."""

    def __init__(self, page: Any) -> None:
        self.page, self.clicks = page, 0
        page.goto("/")
        ready(page)

    def click(self, role: Any, name: str | re.Pattern[str]) -> None:
        self.clicks += 1
        self.page.get_by_role(role, name=name).first.click()

    def tick(self, row: int, table: int = 0) -> None:
        ready(self.page)
        self.clicks += 1
        tick(self.page, row, table)

    def ask(self, query: str) -> None:
        """Type a query where episodes are listed; the way there and the query are one."""
        self.click("link", "Episodes")
        heading(self.page, "Episodes")
        field = self.page.get_by_role("textbox", name="Query")
        field.fill(query)
        field.press("Enter")
        sync_api.expect(self.page).to_have_url(re.compile("ep_query="))
        ready(self.page)


@pytest.fixture
def reader(page: Any) -> Reader:
    return Reader(page)


def test_find_the_cause_of_a_nightly_regression(reader: Reader) -> None:
    page = reader.page
    sync_api.expect(page.get_by_text("task results got worse")).to_be_visible()
    reader.click("link", "Why?")
    sync_api.expect(page.get_by_role("heading", name=re.compile(r"^.+ #\d+ against .+ #\d+$"))).to_be_visible()
    heading(page, "Resolved less often")
    reader.tick(1, table=1)
    reader.click("link", re.compile("side by side"))
    page.wait_for_url("**/diverge?a=*&b=*")
    ready(page)
    sync_api.expect(page.get_by_text("The traces diverge at step")).to_be_visible()
    assert reader.clicks == 3


@pytest.mark.exhaustive
def test_find_the_best_entrant_per_dollar(reader: Reader) -> None:
    reader.click("link", "Leaderboard")
    sync_api.expect(
        reader.page.get_by_text(
            re.compile(r"(Best per dollar: |No clear difference per dollar between ).+ \$[0-9.]+ per resolved")
        )
    ).to_be_visible()
    assert reader.clicks == 1


@pytest.mark.exhaustive
def test_find_tasks_where_the_debugger_was_decisive(reader: Reader, watched: SimpleNamespace) -> None:
    reader.click("link", "Tasks resolved only with a debugger")
    heading(reader.page, "Tasks")
    reader.click("link", re.compile("without its debugger$"))
    reader.page.wait_for_url("**/episode?id=*")
    assert reader.clicks == 2
    episode = queries.episode(watched.store.engine, reader.page.url.rpartition("=")[2])
    assert episode["verdict"] == "resolved" and "pdb" in episode["tool_list"]


@pytest.mark.exhaustive
def test_find_episodes_without_a_breakpoint(reader: Reader) -> None:
    reader.ask("-breakpoint")
    sync_api.expect(reader.page.get_by_text("Newest first, without")).to_be_visible()
    assert reader.clicks == 1


@pytest.mark.exhaustive
def test_search_text_in_traces(reader: Reader) -> None:
    reader.ask('text:"assert 40 == 52" step:0 verdict:unresolved')
    reader.tick(1)
    reader.click("link", "Open episode")
    reader.page.wait_for_url(re.compile(r"episode.id=\d+&step=\d+"))
    sync_api.expect(reader.page.get_by_text("assert 40 == 52").first).to_be_attached()
    assert reader.clicks == 3


@pytest.mark.exhaustive
@pytest.mark.parametrize("place", ["Leaderboard", "Tool sets"])
def test_download_a_figure_for_a_paper(reader: Reader, place: str, tmp_path: Path) -> None:
    page = reader.page
    reader.click("link", place)
    heading(page, place if place == "Leaderboard" else "What tools are worth")
    with page.expect_download() as download:
        reader.click("button", "Figure for a paper (SVG)")
    assert reader.clicks == 2
    file = tmp_path / download.value.suggested_filename
    download.value.save_as(file)
    drawing = ElementTree.parse(file).getroot()
    texts = [text.text or "" for text in drawing.iter("{http://www.w3.org/2000/svg}text")]
    caption = drawing.findtext("{http://www.w3.org/2000/svg}desc") or ""
    assert file.suffix == ".svg" and "qwen3-coder" in " ".join(texts)
    assert "95% intervals" in caption and "conditions" in caption and "tasks" in caption
    assert " ".join(texts).endswith(caption), "and it is written below the figure"


@pytest.mark.exhaustive
def test_disputed_task_is_excluded_from_the_board(reader: Reader) -> None:
    page = reader.page
    reader.click("link", "Tasks")
    heading(page, "Tasks")
    reader.click("tab", "Table")
    reader.tick(1)
    reader.click("button", "Dispute this task")
    sync_api.expect(page.get_by_text("Without the 1 disputed task")).to_be_visible()
    assert reader.clicks == 4
    reader.click("link", "Leaderboard without disputed tasks")
    heading(page, "Leaderboard")
    sync_api.expect(page.get_by_text("1 disputed task excluded").first).to_be_visible()
    page.go_back()
    heading(page, "Tasks")
    # Other tests find the board as it was.
    page.goto("/tasks?tk_show=disputed&tk_tab=Table")
    ready(page)
    tick(page, 1, table=1)
    page.get_by_role("button", name="Take my dispute back").click()
    sync_api.expect(page.get_by_text("Without the 1 disputed task")).to_have_count(0)
