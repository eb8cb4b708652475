# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

import pytest

from flat import dump, flatten, load, nest


@pytest.mark.parametrize("settings", [
    {}, {"a": {}}, {"a": []}, {"a": [[], {}, [[]]]}, {"a": {"b": {"c": {}}}, "d": 1}, {"a": None, "b": False, "c": 0, "d": ""},
    {"a": [0, 0]}, {"a": {"b": 0}}, {"a": [None]}, {"a": [{"b": []}, {"b": [1]}]}, {"x": [[1, 2], [3]]}, {"a": [{}, 1]},
])
def test_there_and_back(settings):
    assert load(dump(settings)) == settings
    assert nest(flatten(settings)) == settings


def test_empty_ones_are_entries():
    assert flatten({"a": [], "b": {"c": {}}, "d": [[]]}) == {"a": [], "b.c": {}, "d[0]": []}
    assert dump({"a": {}}) == "a = {}\n"
    assert flatten({}) == {} and dump({}) == ""


def test_many_items_stay_in_order():
    settings = {"a": list(range(12)), "b": [[], 1] * 6}
    assert load(dump(settings)) == settings


def test_loaded_from_any_order():
    assert load("a[1] = 2\na[0] = []\n") == {"a": [[], 2]}
