# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

import random

import pytest

from shelf import Record, Shelf
from sorting import sort_name


@pytest.mark.parametrize("name, expected", [
    ("The Hives", "hives"), ("THE  Eels", "eels"), ("A Ha", "ha"), ("An Anna", "anna"), ("Die Ideen", "ideen"),
    ("Les Sels", "sels"), ("A Tribe Called The Best", "tribe called the best"), ("The The", "the"), ("The", "the"),
    ("Them", "them"), ("Theodor", "theodor"), ("Another", "another"), (" The Tees ", "tees"), ("A A A", "a a"),
    ("Bela the Cat", "bela the cat"), ("The A Team", "a team"),
])
def test_sort_names(name, expected):
    assert sort_name(name) == expected


def test_dividers_of_names_like_the_article():
    s = Shelf(Record(a, "x", 1) for a in ("The Hives", "The Eels", "The Tees", "A Apple", "The The"))
    assert s.dividers() == {"A": ["A Apple"], "E": ["The Eels"], "H": ["The Hives"], "T": ["The Tees", "The The"]}


def test_titles_are_sorted_alike():
    s = Shelf([Record("x", t, 1) for t in ("The Heat", "Ice", "A Gale")])
    assert [r.title for r in s.in_order()] == ["A Gale", "The Heat", "Ice"]


def test_empty():
    assert Shelf().dividers() == {}


def test_many_names():
    chance = random.Random(3)
    words = ["the", "The", "THE", "a", "An", "die", "Les", "Them", "Athens", "Thé", "STRASSE", "straße", "an'", "the-", "Desires", "x", "7"]
    for _ in range(500):
        chosen = [chance.choice(words) for _ in range(chance.randint(1, 4))]
        folded = [word.casefold() for word in chosen]
        if len(folded) > 1 and folded[0] in ("the", "a", "an", "die", "les"):
            folded = folded[1:]
        name = chance.choice(["", " ", "\t"]) + chance.choice([" ", "  ", "\n"]).join(chosen) + chance.choice(["", "  "])
        assert sort_name(name) == " ".join(folded), name


def test_order_within_an_artist():
    records = [Record("The Eels", "The B", 2), Record("eels", "a", 2), Record("Eels", "z", 1), Record("Les Eels", "An Ab", 2)]
    kept = list(records)
    s = Shelf(records)
    assert [(r.year, r.title) for r in s.in_order()] == [(1, "z"), (2, "a"), (2, "An Ab"), (2, "The B")]
    assert s.artists() == ["Eels", "eels", "Les Eels", "The Eels"]
    s.add(Record("The 7", "x", 9))
    assert records == kept
    assert s.dividers() == {"#": ["The 7"], "E": ["Eels", "eels", "Les Eels", "The Eels"]}
