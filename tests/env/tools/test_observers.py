"""The one grammar of the observers: an argument means the same in `pdb`, `inspect`, `trace`, `calls`, `snapshot`."""

from __future__ import annotations

import re

import pytest

from stackrank.env.tools import find_tool
from stackrank.env.tools.base import schema
from tests.fixtures.env import Play, make_task

OBSERVERS = ("pdb", "inspect", "trace", "calls", "snapshot")
MOST_WORDS = 450
"""The most words in all that the observers' descriptions say."""
FILES = {
    "shop/__init__.py": "",
    "shop/cart.py": """
        class Cart:
            def total(self, rows):
                result = 0
                for row in rows:
                    result += row
                return result
    """,
    "tests/test_cart.py": """
        from shop.cart import Cart


        def test_small():
            assert Cart().total([1]) == 1


        def test_large():
            assert Cart().total([1, 2, 3]) == 7


        def test_last():
            assert Cart().total([5]) == 5
    """,
    "run.py": "from shop.cart import Cart\nprint(Cart().total([8, 9]))\n",
}


def test_one_name_has_one_meaning_and_the_descriptions_are_short() -> None:
    texts: dict[str, set[str]] = {}
    words = 0
    for name in OBSERVERS:
        tool = find_tool(name)
        described = {key: entry["description"] for key, entry in schema(tool)["properties"].items()}
        words += sum(len(text.split()) for text in (tool.description, *described.values()))
        for key, text in described.items():
            texts.setdefault(key, set()).add(re.split(r"\.py`\)| It may| Default", text)[0])
    assert words <= MOST_WORDS
    assert all(len(texts[key]) == 1 for key in ("condition", "test", "code"))
    assert texts.keys() == {
        *("place", "condition", "code", "test", "hit", "count", "exception"),
        *("command", "limit", "show", "back", "passing"),
    }


@pytest.mark.parametrize(
    "place",
    [
        *("shop/cart.py:2", "cart.py:total", "total", "Cart.total", "cart.Cart.total", "shop.cart.Cart.total"),
        *("shop.cart:Cart.total", "cart:Cart.total", "cart:total", "shop/cart.py:2 in Cart.total"),
    ],
)
def test_every_observer_takes_each_notation_of_a_place(play: Play, place: str) -> None:
    step = play(make_task(FILES))
    is_line = place.startswith("shop/cart.py:")
    reached = "shop/cart.py:3 in Cart.total" if is_line else "shop/cart.py:2 in Cart.total"
    place = place.replace(":2", ":3") if is_line else place
    test = "tests/test_cart.py"
    assert f"{reached.partition(' ')[0]}" in step("trace", place=place, test=test, code="rows").text
    for tool in ("inspect", *(() if is_line else ("calls",))):
        shown = step(tool, place=place, test=test, hit=2).text
        assert reached in shown and "rows = [1, 2, 3]" in shown
    stop = step.pdb(f"b {place} if len(rows) > 1\nc\nrows", test=test)
    assert (stop.state["file"], stop.state["line"]) == ("shop/cart.py", 3) and "[1, 2, 3]" in stop.text


def test_hits_are_counted_from_both_ends(play: Play) -> None:
    step = play(make_task(FILES))
    test = "tests/test_cart.py"
    last = step("trace", place="cart:5", hit=-2, code="double = 2 * row\ndouble\nprint(\n    row\n)", test=test)
    assert "#4: double = 6, print( row ) = 3\n" in last.text and "#5: double = 10, print( row ) = 5\n" in last.text
    assert "#3" not in last.text
    assert "#2: row = 1" in step("trace", place="cart:5", hit=2, count=1, code="row", test=test).text
    assert "hit 5, in" in step("inspect", place="cart:5", hit=-1, test=test).text
    assert "hit 2, in" in step("inspect", place="cart:5", condition="row > 2", hit=-1, test=test).text
    assert "Call #3" in step("calls", place="total", hit=-1, test=test).text
    for tool in ("trace", "inspect", "calls"):
        zero = step(tool, place="total", hit=0)
        assert not zero.ok and zero.text == "there is no hit 0: the first is 1, the last is -1."


def test_a_test_is_named_alike_everywhere_and_holds_for_its_call_only(play: Play) -> None:
    step = play(make_task(FILES))
    for test, rows in (
        ("tests/test_cart.py::test_last", "[5]"),
        ("test_last", "[5]"),
        ("run.py", "[8, 9]"),
        ("python run.py", "[8, 9]"),
        ("python -c 'from shop.cart import Cart; Cart().total([4])'", "[4]"),
    ):
        assert f"rows = {rows}" in step("inspect", place="total", test=test).text
        assert f"rows={rows}" in step("calls", place="total", test=test).text
        assert f"#1: rows = {rows}" in step("trace", place="total", code="rows", test=test).text
        paused = step.pdb("tbreak total\nc\nrows", test=test).text
        assert rows in paused and "started: the tests that failed" not in paused
        assert rows in step.pdb("rows").text, "the paused program is the default"
        assert "The next command starts the tests that failed last, or the `test`" in step.pdb("c").text
        assert "[started: the tests that failed last, tests/test_cart.py::test_large]" in step.pdb("b total\nc").text
        step.pdb("cl\nq")
    unknown = step.pdb("c", test="test_lost").text
    assert "nothing was run, as there is no test test_lost: the closest are tests/test_cart.py::test_" in unknown
    assert "passed" not in unknown


def test_the_paused_and_the_failed_program_have_a_console(play: Play) -> None:
    step = play(make_task(FILES))
    console = step.pdb("b cart:6\nc\nfactor = 10\ndef scale(n):\n    return n * factor\n[scale(r) for r in rows]").text
    assert "[10, 20, 30]" in console
    assert "60" in step.pdb("scale(result)").text, "names stay from call to call"
    assert "Python code is a command here" in step.pdb("interact").text
    failed = step.pdb("cl 1\nc\nCart().total([20])").text
    assert "AssertionError" in failed and "20" in failed
