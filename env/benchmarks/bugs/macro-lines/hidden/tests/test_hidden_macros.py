# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

import random

import pytest

from macros import Book, Document


@pytest.mark.parametrize("macros, text, expected", [
    (dict(X="Y Y", Y="z"), "X", "z z"),
    (dict(X="Y Z", Y="Z", Z="w"), "X X", "w w w w"),
    (dict(X="Y Z Y", Y="b", Z="Y"), "X", "b b b"),
    (dict(A="B", B="A"), "A B", "A B"),
    (dict(A="B x", B="C y", C="A z"), "A|B|C", "A z y x|B x z y|C y x z"),
    (dict(A="B B", B="A c"), "A", "A c A c"),
    (dict(A="B C", B="C", C="A B"), "A", "A B A C"),
    (dict(D="E E", E="F F", F="g"), "D", "g g g g"),
])
def test_expansions(macros, text, expected):
    assert Book(**macros).expand(text) == expected


def test_expansion_leaves_no_trace():
    book = Book(A="B B", B="c")
    assert [book.expand("A") for _ in range(3)] == ["c c"] * 3


def test_definitions_hold_for_the_lines_below():
    document = Document("X\n#define X = 1\nX X\n#define X = 2 X\nX")
    assert document.expanded() == "X\n1 1\n2 X"


def test_names_are_whole_words():
    assert Book(AB="x").expand("AB ABC AB_ aAB AB1 (AB)") == "x ABC AB_ aAB AB1 (x)"


def test_empty():
    assert Book().expand("") == "" and Book(A="").expand("[A]") == "[]"
    book = Book()
    book.define("A = b = c")
    assert book.expand("A") == "b = c" and book.names() == ["A"]


def by_hand(words, macros, inside=()):
    result = []
    for word in words:
        if word in macros and word not in inside:
            result += by_hand(macros[word].split(), macros, (*inside, word))
        else:
            result.append(word)
    return result


def test_many_books():
    chance = random.Random(8)
    for _ in range(400):
        names = ["A", "B", "C", "D_1"]
        macros = {name: " ".join(chance.choice([*names, "x", "y", "E"]) for _ in range(chance.randint(1, 3))) for name in names[: chance.randint(1, 4)]}
        kept, text = dict(macros), " ".join(chance.choice(names) for _ in range(chance.randint(1, 3)))
        book = Book(**macros)
        assert book.expand(text).split() == by_hand(text.split(), macros)
        assert book.expand(text).split() == by_hand(text.split(), macros)
        assert macros == kept


def test_names_that_come_about_by_expansion():
    assert Book(A="B", B="b").expand("A_ A A-A") == "A_ b b-b"
    assert Book(A="x", B="A:A B").expand("B, B") == "x:x B, x:x B"
