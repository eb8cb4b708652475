# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
import pytest

from taxes.bands import parse_bands
from taxes.household import Household, marginal_rate, tax

BANDS = parse_bands("12000:0 20000:20 50000:30 -:45")


def test_second_band():
    assert tax(Household([15000]), BANDS) == 600
    assert tax(Household([15000], [5000]), BANDS) == 0


def test_third_band():
    assert tax(Household([30000]), BANDS) == 1600 + 3000


def test_marginal_rate():
    assert marginal_rate(Household([60000, 0]), BANDS) == 30


def test_bad_bands():
    with pytest.raises(ValueError):
        parse_bands("100:1 50:2 -:3")
