# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
import pytest

from routing.prefixes import Prefix
from routing.table import load


def test_longest_prefix():
    table = load("0.0.0.0/0 gate\n10.0.0.0/8 core 5\n10.1.0.0/16 lab 9\n")
    assert table.lookup("10.1.2.3").hop == "lab"
    assert table.lookup("10.2.2.3").hop == "core"
    assert table.lookup("9.9.9.9").hop == "gate"


def test_cheapest_route():
    table = load("10.0.0.0/8 slow 7\n10.0.0.0/8 fast 2\n")
    assert table.alternatives("10.0.0.0/8") == ["fast", "slow"]


def test_equal_uplinks():
    table = load("10.0.0.0/8 east 3\n10.0.0.0/8 north 3  # new line\n")
    assert table.lookup("10.9.9.9").hop == "east"


def test_bad_prefix():
    with pytest.raises(ValueError):
        Prefix.parse("10.0.0.0/40")
