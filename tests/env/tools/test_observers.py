"""The one grammar of the observers: an argument means the same in `pdb`, `inspect`, `trace`, `calls`, `snapshot`."""

from __future__ import annotations

import re

import pytest

from stackrank.env.tools import find_tool
from stackrank.env.tools.base import schema
from tests.fixtures.env import Play, cart, make_task

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


def test_code_runs_at_the_hit_that_was_asked_for(play: Play) -> None:
    step = play(cart())
    code = (
        "price\ndouble = price * 2\n[double * item for item in items]\nfor item in items[:2]:\n    print(item)\nnothing"
    )
    seen = step("inspect", place="cart.py:4", condition="price > 1", hit=2, code=code)
    assert seen.text.startswith("cart.py:4 in total, hit 2, in tests/test_cart.py::test_total.\n>>> price\n3\n")
    assert (
        ">>> [double * item for item in items]\n[6, 12, 18]\n>>> for item in items[:2]:\n...     print(item)\n1\n2\n"
        in seen.text
    )
    assert ">>> nothing\nraised NameError: name 'nothing' is not defined" in seen.text
    assert (seen.state["event"], seen.state["line"], seen.state["locals"]["price"]) == ("stopped", 4, "3")
    same = step("inspect", place="cart.py:4 in total if price > 1", hit=2, code="price")
    assert "hit 2" in same.text and ">>> price\n3" in same.text, "a condition may follow a place, as a tool shows it"
    assert "def total(items)" in step("inspect", place="cart.total").text


def test_without_a_place_code_runs_where_the_test_fails(play: Play) -> None:
    step = play(cart({"cart.py": "def total(items):\n    rest = items[1:]\n    return rest[9]\n\n\naverage = total\n"}))
    seen = step("inspect", code="len(rest)\ntotal(list(range(11)))", test="tests/test_cart.py::test_average")
    assert seen.text.startswith("tests/test_cart.py::test_average failed at cart.py:3: IndexError")
    assert ">>> len(rest)\n1\n>>> total(list(range(11)))\n10\n" in seen.text
    assert (seen.state["event"], seen.state["function"]) == ("failed", "total")


def test_what_was_not_reached_or_cannot_be_evaluated_is_said(play: Play) -> None:
    step = play(cart())
    missed = step("inspect", place="cart.py:4", condition="price > 1 / (price - 1)", hit=9, code="price")
    assert "Hit 9 did not happen, so no code was run." in missed.text
    assert "the condition raised ZeroDivisionError" in missed.text and "test_total failed" in missed.text
    for refused, reason in (
        ({"place": "cart.py:4", "code": "1 +"}, "the code is not valid Python"),
        ({"place": "cart.py:6"}, "has no code"),
        ({"place": "cart.py:4 if price", "condition": "price"}, "two conditions given"),
    ):
        observation = step("inspect", **refused)
        assert not observation.ok and reason in observation.text


def test_calls_can_be_chosen_by_a_condition(play: Play) -> None:
    test = "from cart import total\ndef test():\n    for n in range(40):\n        total([n])\n    total('x')\n"
    step = play(cart({"tests/test_many.py": test}))
    few = step("calls", place="total", condition="raised or result > 36", test="tests/test_many.py").text
    assert ": 41 calls; #41 raised an exception. The condition was true for 3." in few
    assert "#39 total(items=[38]) -> 37\n" in few and "#41 total(items='x') -> raised TypeError" in few
    assert "#38" not in few and "omitted" not in few
    one = step("calls", place="total if items[0] == 7", hit=-1, test="tests/test_many.py").text
    assert "Call #8 of total" in one
    wrong = step("calls", place="total", condition="items.x", test="tests/test_many.py").text
    assert "The condition was true for none.\n[the condition raised AttributeError" in wrong
