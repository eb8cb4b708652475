# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

from shelf import Record, Shelf


def shelf(*artists):
    return Shelf(Record(artist, "First", 1990) for artist in artists)


def test_order():
    assert shelf("The Kinks", "Joan", "Leo", "The Doors").artists() == ["The Doors", "Joan", "The Kinks", "Leo"]


def test_hives():
    assert shelf("Ivy", "The Hives", "Gong", "The Hurricanes").artists() == ["Gong", "The Hives", "The Hurricanes", "Ivy"]


def test_dividers():
    s = shelf("The Kinks", "Kate", "10cc")
    assert s.dividers() == {"#": ["10cc"], "K": ["Kate", "The Kinks"]}


def test_years():
    s = Shelf([Record("Joan", "B", 1991), Record("Joan", "A", 1991), Record("Joan", "C", 1985)])
    assert [r.title for r in s.in_order()] == ["C", "A", "B"]
