# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

import pytest

from craft import Book, plan, shifts


@pytest.mark.parametrize(
    "item, raw, time",
    [
        ("rope", {'reed': 6}, 2),
        ("net", {'reed': 12}, 8),
        ("bow", {'log': 1, 'reed': 6}, 7),
        ("mast", {'log': 8, 'reed': 18}, 20),
        ("boat", {'coal': 14, 'honey': 4, 'iron_ore': 28, 'log': 42, 'reed': 12, 'resin': 21}, 195),
        ("crane", {'coal': 12, 'copper_ore': 12, 'iron_ore': 6, 'log': 18, 'reed': 24, 'tin_ore': 6}, 117),
        ("well", {'clay': 12, 'coal': 15, 'copper_ore': 12, 'iron_ore': 6, 'log': 18, 'reed': 36, 'stone': 12, 'tin_ore': 6}, 144),
        ("ship", {'coal': 51, 'copper_ore': 6, 'honey': 4, 'iron_ore': 86, 'log': 100, 'reed': 294, 'resin': 25, 'sand': 15, 'wool': 18}, 692),
        ("chest", {'coal': 2, 'iron_ore': 4, 'log': 2}, 16),
        ("book", {'berry': 3, 'bone': 2, 'coal': 1, 'hide': 2, 'reed': 6, 'salt': 1, 'water': 6}, 21),
    ],
)
def test_what_it_takes(item: str, raw: dict, time: int) -> None:
    found = plan(Book(), {item: 1})
    assert (found.raw, found.time) == (raw, time)


def test_everything_can_be_made() -> None:
    book = Book()
    assert book.unknown() == set()
    for recipe in book:
        found = plan(book, {recipe.item: 1})
        assert found.raw and list(found.made)[-1] == recipe.item


def test_what_is_left() -> None:
    assert plan(Book(), {"rope": 3}).left == {"rope": 1}
    assert plan(Book(), {"net": 1}).made == {"rope": 2, "net": 1}


def test_uses() -> None:
    assert Book().uses("net") == []
    assert Book().uses("reed") == ["canvas", "paper", "rope"]
    assert "net" in Book().uses("rope")


def test_the_hall() -> None:
    book = Book()
    found = shifts(book, plan(book, {"net": 1}))
    assert [tuple(each) for each in found] == [("wheel", "rope", 0, 4), ("loom", "net", 4, 8)]
