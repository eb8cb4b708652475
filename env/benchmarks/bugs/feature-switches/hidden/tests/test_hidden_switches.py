# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

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
