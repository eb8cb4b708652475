# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
import pytest

import random

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


def test_any_bands_euro_by_euro():
    chance = random.Random(8)
    for _ in range(150):
        limits = sorted(chance.sample(range(1, 60), chance.randint(0, 6)))
        bands = [Band(limit, chance.choice([0, 10, 10, 25])) for limit in limits] + [Band(None, chance.choice([0, 10, 40]))]
        text = " ".join(f"{'-' if band.upto is None else band.upto}:{band.per_cent}" for band in bands)
        assert parse_bands(text) == bands
        before = list(bands)
        for income in (0, 1, chance.randint(0, 70), 100):
            found = [0] * len(bands)
            for euro in range(income):
                found[next(n for n, band in enumerate(bands) if band.upto is None or euro < band.upto)] += 1
            expected = [(amount, band.per_cent) for amount, band in zip(found, bands) if amount]
            assert parts(income, bands) == parts(income, tuple(bands)) == expected
            assert tax_on(income, bands) == sum(amount * rate for amount, rate in expected) // 100
            assert tax(Household([income + 5], [5]), bands) == tax_on(income, bands)
            assert tax(Household([income, 1]), bands) == 2 * tax_on((income + 1) // 2, bands)
        assert bands == before
