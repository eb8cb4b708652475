"""The grid of tasks and entrants, and the little library of the components, in a real browser."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import stackrank.dashboard as dashboard
from stackrank.dashboard.browser.modules import FOLDER
from stackrank.dashboard.parts.matrix import MARKS, state_of
from stackrank.db import queries
from stackrank.db.queries import Scope
from tests.dashboard.browsing import ready, sync_api
from tests.dashboard.seed import HOSTILE

expect = sync_api.expect
MODULES = Path(dashboard.__file__).parent / "browser"
ROWS, COLUMNS = 1000, 200


def open_grid(page: Any, query: str = "") -> Any:
    page.goto(f"/tasks{query}")
    ready(page)
    page.locator(".result").first.wait_for()
    return page.get_by_role("grid", name="Tasks by entrants")


def test_cells_show_and_open_what_the_database_has(page: sync_api.Page, watched: SimpleNamespace) -> None:
    open_grid(page)
    expected = {}
    for row in queries.grid(watched.store.engine, Scope(benchmark="bugs")):
        for side in row["cells"]:
            label = f"{row['task']}, {side['entrant']}:"
            expected[label] = (MARKS[state_of(side)][0], str(side["episode"]))
    links = page.locator(".result a").evaluate_all(
        """links => links.map(link =>
            [link.ariaLabel, link.firstChild.textContent, new URL(link.href).searchParams.get("id")])"""
    )
    assert {f"{label.rpartition(':')[0]}:": (sign, episode) for label, sign, episode in links} == expected
    spreads = [float(text) for text in page.locator(".row:not(.head) .fact.spread").all_inner_texts()]
    assert spreads == sorted(spreads, reverse=True), "disagreement comes first"
    cell = page.locator(".result a").first
    episode = cell.get_attribute("href")
    cell.click()
    page.wait_for_url(re.compile(r"/episode\?id=\d+"))
    assert page.url == episode


def test_keys_move_the_mark_and_open_what_it_is_on(page: sync_api.Page) -> None:
    grid = open_grid(page)
    grid.press("ArrowDown")
    grid.press("ArrowRight")
    marked = page.locator("#cell1x1")
    expect(grid).to_have_attribute("aria-activedescendant", "cell1x1")
    expect(marked).to_have_class(re.compile(r"\bhere\b"))
    label = marked.locator("a").get_attribute("aria-label") or ""
    preview = page.get_by_role("tooltip")
    expect(preview).to_contain_text(label.partition(",")[0])
    # The story comes from the database, while the reader stays.
    expect(preview).to_contain_text(re.compile("(Submitted|Ended|Gave up|Ran out|Solved)[^.]*[.]", re.IGNORECASE))
    grid.press("Escape")
    expect(preview).to_be_hidden()
    grid.press("Control+End")
    expect(grid).to_have_attribute("aria-activedescendant", re.compile("^cell19x2$"))
    expect(page.locator("#cell19x2")).to_be_in_viewport()
    for key in ("Control+Home", "ArrowUp", "ArrowUp"):
        grid.press(key)
    expect(grid).to_have_attribute("aria-activedescendant", "cell-1x-1")
    grid.press("ArrowDown")
    grid.press("Enter")
    page.wait_for_url(re.compile(r"/task\?id=\d+"))


@contextmanager
def shown(page: Any, content: dict[str, Any]) -> Iterator[Any]:
    """The grid over data that no database has to hold, on the page of a component's module."""
    open_grid(page)
    page.set_viewport_size({"width": 1440, "height": 900})
    page.evaluate(
        """async ([folder, content]) => {
          const isGrid = each => each.shadowRoot?.querySelector(".box[role=grid]")
          const old = [...document.querySelectorAll("*")].find(isGrid)
          const host = document.createElement("div")
          old.replaceWith(host)
          const root = host.attachShadow({ mode: "open" })
          root.innerHTML = content.html
          const { default: run } = await import(new URL(`./static/${folder}/grid/grid.js`, document.baseURI))
          window.told = []
          window.end = run({ data: JSON.stringify(content.data), parentElement: root,
            setTriggerValue: (...told) => window.told.push(told) })
        }""",
        [FOLDER, content],
    )
    yield page.locator(".box[role=grid]")
    page.evaluate("window.end()")


def large() -> dict[str, Any]:
    names = [f"{HOSTILE} / {number}" for number in range(COLUMNS)]
    cells = [{"state": at % 4, "told": HOSTILE, "episode": at} if at % 5 else None for at in range(COLUMNS)]
    facts = {"about": HOSTILE, "rate": "50.0%", "spread": "100.0", "notes": HOSTILE, "cells": cells}
    rows = [{"task": f"{HOSTILE} {at}", "id": at, **facts} for at in range(ROWS)]
    addresses = {"of_task": "task?id=", "of_episode": "episode?id=", "of_entrant": "episodes?ep_query="}
    data = {"marks": MARKS, "facts": ["Rate", "Spread", "Notes"], "entrants": names, "rows": rows, **addresses}
    css = "".join((MODULES / name).read_text() for name in ("lib/base.css", "grid/grid.css"))
    return {"html": f"<style>{css}</style>{(MODULES / 'grid/grid.html').read_text()}", "data": data}


def test_only_what_is_in_view_is_drawn(page: sync_api.Page) -> None:
    with shown(page, large()) as grid:
        assert grid.get_attribute("aria-rowcount") == str(ROWS + 1)
        count = "root => root.querySelectorAll('*').length"
        for key, cell in (("Control+End", f"cell{ROWS - 1}x{COLUMNS - 1}"), ("Control+Home", "cell0x0")):
            grid.press(key)
            expect(page.locator(f"#{cell}")).to_be_in_viewport()
            assert grid.evaluate(count) < 10_000, "of 200,000 cells"
        grid.evaluate("box => box.scrollTo(1500, 15000)")
        expect(page.locator("#cell505x55")).to_be_in_viewport()
        expect(page.locator("#cell505x-1")).to_be_in_viewport()
        expect(page.locator("#cell-1x55")).to_be_in_viewport()


def test_names_are_texts_and_lead_nowhere_else(page: sync_api.Page) -> None:
    with shown(page, large()) as grid:
        grid.press("ArrowDown")
        expect(page.get_by_role("tooltip")).to_contain_text(HOSTILE)
        assert page.evaluate("window.told") == [] or page.evaluate("window.told")[0][0] == "look"
        assert grid.locator("script, img").count() == 0 and page.title() != "owned"
        origins = grid.locator("a").evaluate_all("links => [...new Set(links.map(link => new URL(link.href).origin))]")
        assert origins == [page.evaluate("location.origin")]


LIBRARY = """async folder => {
  const from = name => import(new URL(`./static/${folder}/${name}.js`, document.baseURI))
  const [{ count, countOf }, { inView }, { common, shortened }, parts, dom] = await Promise.all(
    ["lib/numbers", "lib/windowed", "grid/names", "lib/parts", "lib/dom"].map(from))
  const said = []
  const end = parts.whenFed(() => said.push(parts.part(7, "step")))
  const sent = { source: 7, name: "step", value: 1 }
  parts.store(new TextEncoder().encode(JSON.stringify(sent)))
  await new Promise(requestAnimationFrame)
  await new Promise(requestAnimationFrame)
  end()
  return {
    said,
    numbers: [count(1234567), countOf(1, "stop"), countOf(0, "stop"), countOf(2, "entry", "entries")],
    windows: [inView(0, 100, 10, 5), inView(1000, 100, 10, 500), inView(4950, 100, 10, 500), inView(0, 0, 10, 0)],
    names: [["a / b c", "a / b d"], ["one"], ["ab", "ac"]].map(common),
    shortened: [shortened("abcdefghij", 6), shortened("short", 5)],
    parts: [parts.part(7, "step") ?? null, parts.part(8, "step") ?? null],
    link: dom.link("", "<b>", "task?id=<").href,
  }
}"""


def test_library(page: sync_api.Page) -> None:
    page.goto("/runs")
    ready(page)
    found = page.evaluate(LIBRARY, FOLDER)
    assert found["numbers"] == ["1,234,567", "1 stop", "0 stops", "2 entries"]
    assert found["windows"] == [[0, 5], [92, 118], [487, 500], [0, 0]]
    assert found["names"] == ["a / b ", "", ""] and found["shortened"] == ["ab…hij", "short"]
    assert found["parts"] == [1, None] and found["said"] == [1]
    assert found["link"].endswith("/task?id=%3C")
