"""What a statement says of an injected bug."""

from __future__ import annotations

import pytest

from stackrank.env.task import Fault
from stackrank.extensions.authoring.inject.statement import statement

FAULTS = (Fault("shop/stock.py", ("Stock.take",), (3,)),)


def said(message: str, test: str = "tests/test_stock.py::test_gift_cards") -> str:
    text = statement("It is wrong", {test: message}, "shop/stock.py", FAULTS)[1]
    assert text.startswith("It is wrong") and text.endswith(" Nothing else has changed.")
    return text.removeprefix("It is wrong").removesuffix(" Nothing else has changed.")


@pytest.mark.parametrize(
    ("message", "sentence"),
    [
        ("AssertionError: assert 'a b' == 'ab'\n  \n  - ab\n", "For instance, 'a b' and 'ab' should be equal."),
        ("AssertionError: of no use\nassert 3 == 4", "For instance, 3 and 4 should be equal."),
        ("AssertionError: 3 != 4 : too few", "For instance, 3 and 4 should be equal."),
        ("ValueError: no such card", "For instance, ValueError is raised: no such card."),
        ("Failed: DID NOT RAISE <class 'shop.errors.Empty'>", "For instance, Empty should be raised, and is not."),
        ("Failed: DID NOT RAISE ValueError", "For instance, ValueError should be raised, and is not."),
        ("AssertionError: KeyError not raised", "For instance, KeyError should be raised, and is not."),
        # Too little, not always the same, cut off, more than one comparison, too long.
        ("AssertionError: assert False", ""),
        ("AssertionError: assert <a.B object at 0x7f12> == 3", ""),
        ("FileNotFoundError: /tmp/pytest-1/x", ""),
        ("AssertionError: assert [1, 2, ...] == [1]", ""),
        ("AssertionError: assert (1 == 1) == 2 == 3", ""),
        (f"AssertionError: assert {'x' * 200!r} == ''", ""),
        # It names a function, or a class, of the fault.
        ("TypeError: take() missing 1 required positional argument", ""),
        ("AssertionError: assert <Stock of 3> == 3", ""),
        ("", ""),
    ],
)
def test_what_a_failure_shows(message: str, sentence: str) -> None:
    assert said(message) == ": gift cards." + (f" {sentence}" if sentence else "")


def test_what_would_tell_the_place_is_left_out() -> None:
    assert (
        said("ValueError: none", "tests/test_stock.py::test_take_two") == ". For instance, ValueError is raised: none."
    )
    assert said("assert False", "tests/test_stock.py::test_take_two") == ". Some of its tests show it."
    assert said("ValueError: none", "shop/stock.py::shop.stock.Stock") == ". Some of its tests show it."


def test_the_test_that_says_most_is_chosen() -> None:
    tests = {
        "tests/test_a.py::test_take": "AssertionError: assert 1 == 2",
        "tests/test_a.py::test_empty_card": "AssertionError: assert not 3",
        "tests/test_a.py::test_full_card[long]": "KeyError: 'card'",
    }
    title, text = statement("It is wrong", tests, "shop/stock.py", FAULTS)
    assert title == "full card"
    assert "wrong: full card. For instance, KeyError is raised: 'card'." in text
