# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
import pytest

from vat.invoice import Item, by_rate, gross
from vat.rates import rate, region_of
from vat.regions import REGIONS


@pytest.mark.parametrize(
    "kind, expected",
    [("bread", 60), ("bread-organic", 0), ("organic", 240), ("read", 240), ("gan", 240), ("books", 60), ("-", 240), ("", 240)],
)
def test_rates_in_norrland(kind, expected):
    assert rate(region_of("nl2"), kind) == expected


@pytest.mark.parametrize("code", ["SL1", "OL3", "VL4"])
def test_parts_of_names_mean_nothing(code):
    region = REGIONS[code]
    for kind in ("o", "ferry", "audio", "heal", "stamp"):
        assert rate(region, kind) == region.full


def test_by_rate():
    items = [Item("bread", 55), Item("Bread-Organic ", 10), Item("organic", 5), Item("food", 45)]
    assert by_rate(items, "NL2") == {0: (10, 0), 60: (100, 6), 240: (5, 1)}


def test_gross_elsewhere():
    assert gross([Item("books", 200), Item("books-audio", 200), Item("bread", 100)], "ol3") == 540
