"""`inspect`: code that is evaluated where a place is reached, or where a test fails."""

from __future__ import annotations

from tests.fixtures.env import Play, cart


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
    assert "The condition was true for 0.\n[the condition raised AttributeError" in wrong
