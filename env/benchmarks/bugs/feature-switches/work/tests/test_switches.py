# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

from switches import Switches

RULES = {"search": {"percent": 100}, "basket": {"groups": ["staff"]}, "gifts": {"percent": 50, "never": ["eve"]}}


def test_rules():
    switches = Switches(RULES)
    assert switches.features_of("eve", ["staff"]) == ["basket", "search"]
    assert not switches.is_on("basket", "ann")
    assert not switches.is_on("gifts", "eve")


def test_switched_off_for_a_block():
    switches = Switches(RULES)
    with switches.switched(search=False):
        assert not switches.is_on("search", "ann")
    assert switches.is_on("search", "ann")


def test_shortly_on_inside_an_off_block():
    switches = Switches(RULES)
    with switches.switched(search=False):
        with switches.switched(search=True):
            assert switches.is_on("search", "ann")
        assert not switches.is_on("search", "ann")
