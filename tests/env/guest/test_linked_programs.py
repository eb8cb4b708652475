"""Programs whose packages are links to folders elsewhere: every tool names a file as the workspace lists it."""

from __future__ import annotations

import pytest

from stackrank.env.task import Task
from stackrank.patches.contents import Link
from tests.fixtures.env import Play, make_task, source

LAYOUTS = {
    "the package is a link": ("rooms/till", {"src/till": "../rooms/till"}),
    "a part of the package is a link with another name": ("parts/counting", {"till": "parts/counting"}),
    "a link leads through a link": ("store/till-2", {"src/till": "../current", "current": "store/till-2"}),
}
TILL = """
    def change(paid, price):
        rest = paid - price
        coins = []
        for coin in (5, 2, 1):
            while rest > coin:
                rest -= coin
                coins.append(coin)
        return coins
"""
TESTS = """
    from till.change import change


    def test_change():
        assert change(9, 1) == [5, 2, 1]


    def test_nothing():
        assert change(3, 3) == []
"""


def linked(layout: str) -> tuple[Task, str]:
    """A task of that layout, and the path of its program."""
    folder, links = LAYOUTS[layout]
    files = {f"{folder}/__init__.py": "", f"{folder}/change.py": TILL, "tests/test_change.py": TESTS}
    contents: dict[str, bytes | str] = {**files, **{name: Link(target.encode()) for name, target in links.items()}}
    options = " -o pythonpath=src" if any(name.startswith("src/") for name in links) else " -o pythonpath=."
    return make_task(contents, test_command=f"python -m pytest -q -p no:cacheprovider{options}"), f"{folder}/change.py"


@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_tool_reaches_a_place_by_the_path_that_is_listed(play: Play, layout: str) -> None:
    task, path = linked(layout)
    step = play(task, shows_failure_state=True)
    for place in (f"{path}:6", "change"):
        assert f"{path}:" in step("trace", place=place, code="paid", test="test_change").text, place
        assert "paid = 9" in step("trace", place=place, code="paid", test="test_change").text, place
        stop = step.pdb(f"b {place}\nc\npaid", test="test_change")
        assert stop.state["kind"] == "debugger" and stop.state["file"] == path and "9" in stop.text, place
    assert "paid=9" in step("calls", place="change", test="test_change").text
    assert f"{path}:" in step("snapshot", show="tree", test="test_change").text
    failed = step("eval").state
    assert failed["kind"] == "tests" and "solved" in failed


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_place_named_by_a_link_is_the_same_place(play: Play, layout: str) -> None:
    task, path = linked(layout)
    alias = next(iter(LAYOUTS[layout][1])) + "/change.py:6"
    stop = play(task).pdb(f"b {alias}\nc\ncoin", test="test_change")
    assert stop.state["kind"] == "debugger" and stop.state["file"] == path


def test_a_listing_shows_where_links_lead(play: Play) -> None:
    files = {
        "docs/guide.txt": "x",
        "guide.txt": Link(b"docs/guide.txt", b"x"),
        "handbook": Link(b"docs"),
        "tests/test_x.py": source("def test_x():\n    assert 0\n"),
    }
    shown = play(make_task(files))("listdir", depth=1).text.splitlines()
    assert shown == ["docs/", "guide.txt -> docs/guide.txt", "handbook/ -> docs/", "tests/"]
