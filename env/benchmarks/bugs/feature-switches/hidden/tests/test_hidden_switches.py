# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

import random

import pytest

from switches import Switches
from switches.overrides import Overrides
from switches.store import UnknownFeature

RULES = {"search": {"percent": 100}, "basket": {"groups": ["staff"]}, "gifts": {}}


def test_off_inside_off():
    switches = Switches(RULES)
    with switches.switched(search=False, basket=False):
        with switches.switched(search=False):
            pass
        assert switches.features_of("ann", ["staff"]) == []
    assert switches.features_of("ann", ["staff"]) == ["basket", "search"]


def test_off_inside_on():
    switches = Switches(RULES)
    with switches.switched(gifts=True):
        with switches.switched(gifts=False):
            assert not switches.is_on("gifts", "bob")
        assert switches.is_on("gifts", "bob")
    assert not switches.is_on("gifts", "bob")


def test_three_blocks_and_an_error():
    overrides = Overrides()
    with overrides.switched(a=False, b=True):
        with pytest.raises(KeyError):
            with overrides.switched(a=True, c=False):
                with overrides.switched(c=True):
                    raise KeyError("x")
        assert overrides.active() == {"a": False, "b": True}
    assert overrides.active() == {}


def test_not_switched_by_hand_is_left_to_the_rule():
    switches = Switches(RULES)
    with switches.switched(search=False):
        with switches.switched(basket=True):
            assert switches.features_of("ann") == ["basket"]
        assert switches.is_on("basket", "ann", ["staff"])
        assert not switches.is_on("basket", "ann")


def test_unknown_feature():
    with pytest.raises(UnknownFeature):
        with Switches(RULES).switched(nothing=True):
            pass


def test_blocks_that_overlap_keep_to_their_own_features():
    overrides = Overrides()
    one, two = overrides.switched(a=True), overrides.switched(b=False)
    one.__enter__()
    two.__enter__()
    one.__exit__(None, None, None)
    assert overrides.active() == {"b": False}
    two.__exit__(None, None, None)
    assert overrides.active() == {}


def test_many_nested_blocks():
    overrides, chance = Overrides(), random.Random(5)

    def nest(depth):
        before = overrides.active()
        wanted = {feature: chance.random() < 0.5 for feature in chance.sample("abcd", chance.randint(0, 3))}
        with overrides.switched(**wanted):
            assert overrides.active() == {**before, **wanted}
            assert [overrides.get(feature) for feature in wanted] == list(wanted.values())
            for _ in range(2 if depth else 0):
                nest(depth - 1)
        assert overrides.active() == before

    for _ in range(20):
        nest(3)
    assert overrides.active() == {}
