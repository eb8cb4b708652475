# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

import pytest

from catalog import Catalog, form


@pytest.mark.parametrize("language", ["pl", "ru"])
@pytest.mark.parametrize("hundreds", [0, 100, 200, 1000, 2100, 1000000])
def test_eleven_to_fourteen(language, hundreds):
    assert [form(language, hundreds + n) for n in (11, 12, 13, 14)] == [2, 2, 2, 2]


@pytest.mark.parametrize("tens", [20, 30, 100, 120, 990, 1000])
def test_two_to_five(tens):
    for language in ("pl", "ru"):
        assert [form(language, tens + n) for n in (2, 3, 4, 5)] == [1, 1, 1, 2]


def test_one():
    assert [form("ru", n) for n in (1, 21, 101, 111, 211, 1001, 1011)] == [0, 0, 0, 2, 2, 0, 2]
    assert [form("pl", n) for n in (1, 21, 101, 111)] == [0, 2, 2, 2]
    assert [form("en", n) for n in (0, 1, 2, 11, 112)] == [1, 0, 1, 1, 1]


def test_negative_numbers():
    assert [form("ru", -n) for n in (1, 2, 112)] == [0, 1, 2]


def test_incomplete():
    catalog = Catalog("pl", {"a": ["x", "y"], "b": ["x", "y", "z"], "c": "x"})
    assert catalog.incomplete() == ["a"]


def by_hand(language, n):
    ends, last = str(n)[-2:].zfill(2), str(n)[-1]
    if language in ("en", "de"):
        return 0 if n == 1 else 1
    if language == "fr":
        return 0 if n < 2 else 1
    if (n == 1 if language == "pl" else last == "1" and ends != "11"):
        return 0
    return 1 if last in "234" and ends[0] != "1" else 2


@pytest.mark.parametrize("language", ["en", "de", "fr", "pl", "ru"])
def test_every_number(language):
    for n in [*range(1300), *range(10**12, 10**12 + 130)]:
        assert form(language, n) == form(language, -n) == by_hand(language, n), n


def test_texts_with_numbers():
    catalog = Catalog("pl", {"file": ["{n} plik w {where}", "{n} pliki w {where}", "{n} plików w {where}"], "all": "{n}!"})
    assert [catalog.count("file", n, where="x") for n in (1, 112, 22, 0)] == ["1 plik w x", "112 plików w x", "22 pliki w x", "0 plików w x"]
    assert catalog.count("all", 7) == "7!" and catalog.count("none {n}", 3) == "none 3"
    assert catalog.text("file", n=5, where="y") == "5 plik w y" and catalog.incomplete() == []
