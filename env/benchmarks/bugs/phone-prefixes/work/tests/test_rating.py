# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
import pytest

from callrating.prefixes import PrefixTree
from callrating.rating import Tariff, UnknownDestination, rate_call

TARIFFS = {"fixed": Tariff(0, 2), "mobile": Tariff(5, 9)}


def tree():
    result = PrefixTree()
    result.add("49", "fixed")
    result.add("4917", "mobile")
    return result


def test_fixed_line():
    assert rate_call(tree(), TARIFFS, "+49 30 1234", 61) == 4


def test_mobile():
    assert rate_call(tree(), TARIFFS, "0049-170-555", 60) == 14


def test_unknown():
    with pytest.raises(UnknownDestination):
        rate_call(tree(), TARIFFS, "+1 212 555", 10)
