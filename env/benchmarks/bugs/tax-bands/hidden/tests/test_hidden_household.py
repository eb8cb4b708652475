# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
import pytest

from taxes.bands import Band, parse_bands, parts
from taxes.household import Household, tax, tax_on

BANDS = parse_bands("1000:10 3000:20 4000:30 9000:40 -:50")


@pytest.mark.parametrize(
    "income, expected",
    [
        (0, []),
        (999, [(999, 10)]),
        (1000, [(1000, 10)]),
        (3001, [(1000, 10), (2000, 20), (1, 30)]),
        (8000, [(1000, 10), (2000, 20), (1000, 30), (4000, 40)]),
        (10000, [(1000, 10), (2000, 20), (1000, 30), (5000, 40), (1000, 50)]),
    ],
)
def test_parts(income, expected):
    assert parts(income, BANDS) == expected


@pytest.mark.parametrize("income", range(0, 12000, 777))
def test_every_euro_is_in_one_band(income):
    assert sum(amount for amount, _ in parts(income, BANDS)) == income


def test_two_earners():
    assert tax(Household([9000, 1000]), BANDS) == 2 * (100 + 400 + 300 + 400)


def test_one_band():
    assert tax_on(150, [Band(None, 33)]) == 49


def test_open_band_must_be_last():
    for text in ("", "-:1 5:2", "5:1"):
        with pytest.raises(ValueError):
            parse_bands(text)


def test_rounded_once():
    bands = parse_bands("50:1 100:1 150:1 -:1")
    assert tax_on(155, bands) == 1
    assert tax_on(199, bands) == 1
    assert tax_on(255, parse_bands("50:3 120:7 -:9")) == 18
