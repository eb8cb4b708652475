# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

import re
from itertools import product

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
