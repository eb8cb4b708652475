# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

from datetime import date

from rentals import Tenancy, print_calendar


def test_calendar():
    tenancies = [
        Tenancy("Ames", date(2023, 11, 15), 50000),
        Tenancy("Brook", date(2023, 12, 1), 72050, every_months=2),
    ]
    assert print_calendar(tenancies, date(2023, 12, 1), date(2024, 2, 1)).split("\n") == [
        "2023-12-01  Brook  720.50",
        "2023-12-15  Ames  500.00",
        "2024-01-15  Ames  500.00",
        "2024-02-01  Brook  720.50",
    ]


def test_calendar_of_a_tenancy_from_the_31st():
    tenancy = Tenancy("Cole", date(2023, 1, 31), 10000)
    assert print_calendar([tenancy], date(2023, 1, 1), date(2023, 3, 1)).split("\n") == [
        "2023-01-31  Cole  100.00",
        "2023-02-28  Cole  100.00",
    ]


def test_owed_and_next():
    tenancy = Tenancy("Dean", date(2023, 1, 10), 100, end=date(2023, 3, 31))
    assert tenancy.owed(date(2023, 2, 10)) == 200
    assert tenancy.next_due(date(2023, 2, 11)) == date(2023, 3, 10)
    assert tenancy.next_due(date(2023, 3, 11)) is None
