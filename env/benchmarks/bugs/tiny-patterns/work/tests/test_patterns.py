# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

import pytest

from patterns import Filters, PatternError, parse


def filters(**patterns):
    result = Filters()
    for name, pattern in patterns.items():
        result.define(name, pattern)
    return result


def test_letters_and_choices():
    f = filters(pet="cat|dog", any="...")
    assert f.names("dog") == ["pet", "any"]
    assert f.names("dogs") == []


def test_repeats():
    f = filters(r="a*b+c?")
    assert f.keep("r", ["b", "aab", "abbc", "ac", "abcc", ""]) == ["b", "aab", "abbc"]


def test_brackets():
    f = filters(r="(ab|c)*d", s="(a*b*)*c")
    assert f.keep("r", ["d", "abcd", "acd"]) == ["d", "abcd"]
    assert f.keep("s", ["c", "abbaac", "abd", ""]) == ["c", "abbaac"]


def test_bad_patterns():
    for bad in ("*a", "(a", "a)", "a|*"):
        with pytest.raises(PatternError):
            parse(bad)
