"""Two traces beside each other in a real browser."""

from __future__ import annotations

import re
from types import SimpleNamespace
from typing import Any

import pytest

from stackrank.dashboard.browser.modules import FOLDER
from stackrank.db.models.runs import Step
from stackrank.db.writes.store import Store
from stackrank.patches.writing import file_diff
from tests.dashboard.browsing import ready, sync_api
from tests.dashboard.seed import HOSTILE, SOURCE
from tests.support.episodes import create_episodes, start

expect = sync_api.expect


def paused(line: int, **values: str) -> dict[str, Any]:
    frame = {"file": "core.py", "line": line, "function": "Book.total", "current": True}
    return {
        "file": "core.py",
        "line": line,
        "function": "Book.total",
        "depth": 1,
        "locals": values,
        "stack": [frame],
        "breakpoints": [],
    }


@pytest.fixture(scope="module")
def two(watched: SimpleNamespace) -> list[int]:
    """Two episodes of one task: after the same pause, one looks at a value and edits, the other goes on."""
    store: Store = watched.store
    task = {"name": "parting", "files": {"core.py": SOURCE}}
    benchmark = store.save_benchmark(name="parting", digest="parting", license="", source="", tasks=[task])
    entrants = [store.save_entrant(digest=name, name=name, agent="a", tool_list=["pdb"]) for name in ("one", HOSTILE)]
    run = store.create_run(name="parting", benchmark_id=benchmark.id, spec={})
    cells = [(benchmark.task_ids["parting"], entrant, 1) for entrant in entrants]
    ids = list(create_episodes(store, run, cells).values())
    store.start_run(run)
    fixed = SOURCE.replace("items[1:]", "items")
    edit = {"kind": "edit", "edited": "core.py", "lines": [14, 14]}
    edit["diff"] = file_diff("core.py", SOURCE.encode(), fixed.encode())
    first = [("pdb", "b 13", paused(13, result="0")), ("pdb", "p items", paused(13, result="0", seen="1"))]
    first += [("rewrite", "", edit), ("eval", "", {})]
    second = [("pdb", "b 13", paused(13, result="0")), ("pdb", HOSTILE, paused(14, result="7")), ("eval", "", {})]
    for episode, steps in zip(ids, (first, second), strict=True):
        start(store, episode)
        store.add_step(Step(episode_id=episode, index=0))
        for index, (tool, command, state) in enumerate(steps, 1):
            store.add_step(
                Step(
                    episode_id=episode,
                    index=index,
                    tool=tool,
                    arguments={"command": command},
                    thought=f"Thought {index}.",
                    observation=f"Seen {index} {HOSTILE}",
                    state=state,
                )
            )
        store.finish_episode(episode, verdict="unresolved", stop_reason="submitted", steps=len(steps))
    return ids


def test_both_stand_where_they_part(page: sync_api.Page, two: list[int]) -> None:
    page.goto(f"/diverge?a={two[0]}&b={two[1]}")
    ready(page)
    a, b = (page.locator(".side").nth(place) for place in range(2))
    expect(a.get_by_role("heading", name="Step 2: pdb")).to_be_visible()
    expect(b.get_by_role("heading", name="Step 2: pdb")).to_be_visible()
    expect(page.locator(".pair .sign")).to_have_text(["=", "=", "≠", "≠", "="])
    expect(b.locator(".body")).to_contain_text(HOSTILE)
    expect(a.locator(".line.current .count")).to_have_text("13")
    expect(b.locator(".line.current .count")).to_have_text("14")
    expect(a.locator("tr.differs")).to_have_count(2)
    expect(a.locator("tr.differs", has_text="seen")).to_contain_text("B: not there")
    expect(b.locator("tr.differs", has_text="result")).to_contain_text("A: 0")
    expect(b.locator(".frame.differs")).to_contain_text("≠")
    assert page.title() != "owned"


def test_keys_move_both_and_the_address_follows(page: sync_api.Page, two: list[int]) -> None:
    page.goto(f"/diverge?a={two[0]}&b={two[1]}&at=1")
    ready(page)
    a, b = (page.locator(".side").nth(place) for place in range(2))
    expect(a.get_by_role("heading", name="Step 1: pdb")).to_be_visible()
    expect(a.locator(".differs")).to_have_count(0)
    page.keyboard.press("n")
    expect(a.get_by_role("heading", name="Step 2: pdb")).to_be_visible()
    page.keyboard.press("j")
    expect(a.get_by_role("heading", name="Step 3: rewrite")).to_be_visible()
    expect(b.get_by_text("B has no step here. This is its last one before.")).to_be_visible()
    expect(b.get_by_role("heading", name="Step 2: pdb")).to_be_visible()
    # The edit has changed one line of the file; the other side still has it as it was.
    for side in (a, b):
        expect(side.locator(".line.differs .count")).to_have_text(["14"])
    expect(page).to_have_url(re.compile(r"at=3\b"))
    page.keyboard.press("j")
    expect(b.get_by_role("heading", name="Step 3: eval")).to_be_visible()
    page.go_back()
    expect(page).to_have_url(re.compile(r"at=1\b"))
    expect(a.get_by_role("heading", name="Step 1: pdb")).to_be_visible()


def test_both_show_the_same_part_of_their_steps(page: sync_api.Page, two: list[int]) -> None:
    page.goto(f"/diverge?a={two[0]}&b={two[1]}&at=3&step_tab=Diff")
    ready(page)
    a, b = (page.locator(".side").nth(place) for place in range(2))
    expect(a.locator(".body .added")).to_have_text(["+    for item in items:\n"])
    expect(b.locator(".body")).to_contain_text("Nothing is changed yet.")
    page.keyboard.press("3")
    expect(page.get_by_role("tab", name="Tests")).to_have_attribute("aria-selected", "true")
    expect(page).to_have_url(re.compile(r"step_tab=Tests\b"))
    for side in (a, b):
        expect(side.locator(".body")).to_have_text("The tests were not run yet.")
    page.get_by_role("tab", name="Step").click()
    expect(a.locator(".body")).to_contain_text("Thought 3.")
    page.go_back()
    expect(a.locator(".body")).to_have_text("The tests were not run yet.")


DIFFERING = """async folder => {
  const { differing } = await import(new URL(`./static/${folder}/lib/difference.js`, document.baseURI))
  const lines = text => [...text]
  return [["abc", "abc"], ["abc", "axc"], ["", "ab"], ["abcd", "bd"], ["xay", "ya"]].map(([a, b]) =>
    differing(lines(a), lines(b)).map(only => [...only]))
}"""


def test_differing_lines(page: sync_api.Page) -> None:
    page.goto("/runs")
    ready(page)
    assert page.evaluate(DIFFERING, FOLDER) == [
        [[], []], [[1], [1]], [[], [0, 1]], [[0, 2], []], [[0, 1], [1]],
    ]  # fmt: skip
