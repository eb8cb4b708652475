# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

import pytest

from craft import BadRecipes, Book, UnknownItem, plan, read
from craft.text import shopping_list, time


def test_an_axe() -> None:
    assert plan(Book(), {"axe": 1}).raw == {'coal': 4, 'iron_ore': 8, 'log': 10, 'reed': 6}


def test_the_tower() -> None:
    found = plan(Book(), {"tower": 1})
    assert (found.raw["stone"], found.time) == (80, 279)


def test_a_cake() -> None:
    found = plan(Book(), {"cake": 2})
    assert shopping_list(found) == ['4 egg', '2 honey', '6 milk', '9 wheat']
    assert time(found.time) == "24 min"


def test_what_is_not_there() -> None:
    with pytest.raises(UnknownItem):
        plan(Book(), {"dragon": 1})
    with pytest.raises(BadRecipes):
        read("axe of iron")
