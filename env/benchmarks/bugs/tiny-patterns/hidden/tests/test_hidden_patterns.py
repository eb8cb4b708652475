# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

import re
from itertools import product
import random

import pytest

from patterns import matches, parse

TEXTS = ["".join(t) for n in range(5) for t in product("abc", repeat=n)]


@pytest.mark.parametrize("pattern", [
    "(a*)*", "(a*)+", "(a*)+b", "(a?b?)*c", "(a?b?)+c", "(a|b*)*", "(|a)*b", "(|a)+", "(|a)+b", "((a*)*)*", "((a?)+b)*c?", "(a*b*)+",
    "a**", "a+?", "(a?)?b", "(a*|b)+c", "()*a", "()+a", "((b|a?)+)+",
])
def test_like_the_library(pattern):
    library = re.compile(pattern.replace("**", "*").replace("a+?", "(a+)?"))
    node = parse(pattern)
    for text in TEXTS:
        assert matches(node, text) == bool(library.fullmatch(text)), text


@pytest.mark.parametrize("pattern", ["a*b+c?", "(ab|c)*", "a(b|c)+a?", ".b.", "", "a||b", "((a|b)(c|a))+"])
def test_plain_patterns(pattern):
    node = parse(pattern)
    for text in TEXTS:
        assert matches(node, text) == bool(re.fullmatch(pattern, text)), text


def test_longer_text():
    assert matches(parse("(a?)*b"), "a" * 40 + "b")
    assert matches(parse("(x*|y)*"), "xy" * 10)
    assert not matches(parse("(ab?)*c"), "ab" * 10)


def made(chance, depth):
    kind = chance.randint(0, 5) if depth else 0
    if kind == 0:
        return chance.choice(["a", "b", "c", ".", ""])
    if kind == 1:
        return made(chance, depth - 1) + made(chance, depth - 1)
    if kind == 2:
        return f"({made(chance, depth - 1)}|{made(chance, depth - 1)})"
    return f"({made(chance, depth - 1)}){chance.choice('*+?*')}"


def test_many_patterns_like_the_library():
    chance = random.Random(3)
    for _ in range(250):
        pattern = made(chance, 4)
        library, node = re.compile(pattern), parse(pattern)
        for text in TEXTS[:: chance.choice([1, 2, 3])][:60]:
            assert matches(node, text) == bool(library.fullmatch(text)), (pattern, text)


def test_filters_by_name():
    from patterns.filters import Filters

    filters = Filters()
    filters.define("any", "(a*b*)*c")
    filters.define("none", "()*")
    assert filters.names("abc") == ["any"] and filters.names("") == ["none"]
    assert filters.keep("any", iter(["c", "", "aabbac", "ca"])) == ["c", "aabbac"]
