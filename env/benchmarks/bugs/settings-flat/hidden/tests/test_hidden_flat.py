# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

import random

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


def made(chance, depth):
    kind = chance.randint(0, 4) if depth else chance.choice([0, 3, 4])
    if kind == 1:
        return {name: made(chance, depth - 1) for name in chance.sample(["a", "b-1", "c d", "é", "x=y"], chance.randint(0, 3))}
    if kind == 2:
        return [made(chance, depth - 1) for _ in range(chance.randint(0, 3))]
    return [chance.choice([0, 1, -2.5, "", "a = b", "# no", "é\n", None, True, False]), None, None, {}, []][kind]


def test_many_settings_come_back():
    chance = random.Random(5)
    for _ in range(300):
        settings = {name: made(chance, 3) for name in chance.sample(["one", "two", "three"], chance.randint(0, 3))}
        kept = repr(settings)
        assert load(dump(settings)) == settings
        assert repr(nest(flatten(settings))) == repr(settings) == kept


def test_empty_values_are_not_shared():
    settings = {"a": [], "b": {"c": {}}}
    again = load(dump(settings))
    again["a"].append(1)
    again["b"]["c"]["d"] = 2
    assert load(dump(settings)) == settings == {"a": [], "b": {"c": {}}}
    assert load("# note\n\na.b = []\na.c[0].d = {}\n") == {"a": {"b": [], "c": [{"d": {}}]}}
