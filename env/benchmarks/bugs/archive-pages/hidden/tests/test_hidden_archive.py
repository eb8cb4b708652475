# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

import pytest

from archive import Archive
from archive.letters import Letter
from archive.service import Service


def service(pattern, size=3):
    names = {"a": "anna", "b": "bert", "c": "cleo"}
    return Service([Letter(number, names[sign], 1900 + number) for number, sign in enumerate(pattern)], size)


@pytest.mark.parametrize("pattern", ["aaabbbaaab", "bbbbbba", "aaa", "bbb", "", "abbbbbbbbbbbba", "bbbaaabbb", "aaabbb"])
@pytest.mark.parametrize("size", [1, 2, 3, 50])
def test_all_letters_of_an_author(pattern, size):
    got = [letter.number for letter in Archive(service(pattern, size)).all("anna")]
    assert got == [number for number, sign in enumerate(pattern) if sign == "a"]


def test_has():
    archive = Archive(service("bbbbbbbbbc"))
    assert archive.has("cleo")
    assert not archive.has("anna")


def test_requests():
    one = service("aaabbbaaabbb")
    assert [letter.number for letter in Archive(one).first(4, "anna")] == [0, 1, 2, 6]
    assert one.requests == 3
    one.requests = 0
    assert not Archive(one).has("cleo")
    assert one.requests == 4


def test_nothing_is_asked_before_the_first_letter_is_wanted():
    one = service("aaa")
    stream = Archive(one).all()
    assert one.requests == 0
    assert next(stream).number == 0


def test_years_with_gaps():
    assert Archive(service("abbbbbbba")).years("anna") == {1900: 1, 1908: 1}
