# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

from datetime import datetime, timedelta, timezone

import pytest

from payroll import CENTRAL, BadCard, Tariff, pay, read_cards

TARIFF = Tariff(hourly=2000)


def test_ordinary_night():
    shifts = read_cards("ann 2024-05-01T22:00 2024-05-02T06:30 30\nbob 2024-05-01T08:00 2024-05-01T18:00\n")
    assert [shift.minutes for shift in shifts] == [480, 600]
    assert pay(shifts, TARIFF) == {"ann": 16000, "bob": 21000}


def test_zone():
    assert datetime(2024, 7, 1, 12, tzinfo=CENTRAL).astimezone(timezone.utc).hour == 10
    assert datetime(2024, 12, 1, 12, tzinfo=CENTRAL).astimezone(timezone.utc).hour == 11
    assert datetime(2024, 10, 27, 2, 30, tzinfo=CENTRAL, fold=1).utcoffset() == timedelta(hours=1)


def test_night_in_october():
    shifts = read_cards("ann 2024-10-26T22:00 2024-10-27T05:00")
    assert pay(shifts, TARIFF) == {"ann": 16000}


def test_bad_cards():
    with pytest.raises(BadCard, match="line 1"):
        read_cards("ann 2024-05-01T22:00")
    with pytest.raises(BadCard, match="line 2"):
        read_cards("\nann 2024-05-01T22:00 2024-05-01T21:00")
