# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
import pytest

from vat.invoice import Item, by_rate, gross
from vat.rates import rate, region_of
from vat.regions import REGIONS
from vat.invoice import lines, vat_of


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


@pytest.mark.parametrize("code, rates", [
    ("SL1", {"food": 120, "bread": 120, "bread-organic": 120, "hotel": 120, "stamps": 0, "health": 0, "books": 250, "transport": 250}),
    ("NL2", {"food": 60, "bread": 60, "bread-organic": 0, "books": 60, "hotel": 240, "stamps": 240, "health": 240, "transport": 240}),
    ("OL3", {"food": 200, "bread": 200, "books": 50, "books-audio": 50, "stamps": 200, "health": 200, "bread-organic": 200}),
    ("VL4", {"transport": 70, "food": 70, "transport-ferry": 0, "health": 0, "bread": 190, "bread-organic": 190, "books": 190}),
])
def test_tables_of_all_regions(code, rates):
    assert {kind: rate(region_of(f" {code.lower()} "), kind.upper() + " ") for kind in rates} == rates
    region = REGIONS[code]
    assert all(len(kind) > 3 for kinds in (region.reduced_kinds, region.exempt_kinds) for kind in kinds)


def test_foot_of_an_invoice():
    items = [Item("bread", 1050), Item("bread-organic", 500), Item("hotel", 101)]
    assert lines(items, "NL2") == [" 0.0%      5.00      0.00", " 6.0%     10.50      0.63", "24.0%      1.01      0.24", "total               17.38"]
    assert gross(items, "NL2") == 1738
    assert (vat_of(25, 60), vat_of(8, 60), vat_of(9, 60)) == (2, 0, 1)
    with pytest.raises(ValueError):
        region_of("NL3")
