# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
import pytest

from vat.invoice import Item, gross, lines


def test_lines():
    items = [Item("stamps", 500), Item("food", 1000), Item("car", 100)]
    assert lines(items, "sl1") == [
        " 0.0%      5.00      0.00",
        "12.0%     10.00      1.20",
        "25.0%      1.00      0.25",
        "total               17.45",
    ]


def test_bread_in_norrland():
    assert gross([Item("bread", 1000), Item("bread-organic", 1000)], "NL2") == 2060


def test_ferry():
    assert gross([Item("transport-ferry", 100), Item("Transport", 100)], "VL4") == 207


def test_no_region():
    with pytest.raises(ValueError):
        gross([], "XX9")
