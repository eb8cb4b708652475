"""What a test file computes by itself, and what depends on the program under test."""

from __future__ import annotations

import ast

from stackrank.env.scoring.withheld.ownership import Ownership

DEPTH = 200


def owned(text: str, *expressions: str) -> list[bool]:
    """Say of each expression, in a function at the end of a file, whether it is the file's own."""
    tree = ast.parse(f"{text}\ndef test_last():\n    use({', '.join(expressions)})\n")
    last = tree.body[-1]
    assert isinstance(last, ast.FunctionDef) and isinstance(last.body[0], ast.Expr)
    call = last.body[0].value
    assert isinstance(call, ast.Call)
    ownership = Ownership(tree, {"shop"})
    return [ownership.owns(argument) for argument in call.args]


def test_each_value_may_be_computed_from_the_one_before_in_several_ways() -> None:
    steps = [f"{name}{n} = {name}{n - 1} * {name}{n - 1}" for n in range(1, DEPTH) for name in ("own", "foreign")]
    text = "\n".join(["import shop", "own0 = 2", "foreign0 = shop.price()", *steps])
    assert owned(text, f"own{DEPTH - 1}", f"foreign{DEPTH - 1}") == [True, False]


def test_functions_that_call_each_other() -> None:
    pair = "def {0}(n):\n    return {1}(n - 1) if n else {2}\n"
    text = "import shop\n" + "".join(
        pair.format(*names)
        for names in (("even", "odd", "1"), ("odd", "even", "0"), ("left", "right", "1"), ("right", "left", "shop.x"))
    )
    assert owned(text, "even(4)", "odd(4)", "left(4)", "right(4)", "unknown") == [True, True, False, False, False]


def test_what_starts_empty_is_for_others_to_fill() -> None:
    text = "empty = []\nmade = list()\nfull = [1, 2]\nfor item in empty:\n    last = item\n"
    assert owned(text, "empty", "made", "full", "last", "len(full)") == [False, False, True, False, True]
