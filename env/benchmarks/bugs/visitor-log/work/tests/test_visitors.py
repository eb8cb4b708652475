# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

from visitors import day_report, month_report

LOG = """
2024-05-01 10:15 adult 2
2024-05-01 10:40 child 3   # a birthday
2024-05-02 14:00 member 1
2024-05-01 15:00 adult 1
2024-05-03 11:30 adult 4
""".splitlines()


def test_one_day():
    assert day_report(LOG, "2024-05-01") == (6, 3900, 10)


def test_empty_day():
    assert day_report(LOG, "2024-06-01") == (0, 0, None)


def test_month():
    assert month_report(LOG, "2024-05") == [
        "2024-05-01    6    39.00",
        "2024-05-02    1     0.00",
        "2024-05-03    4    36.00",
        "best: 2024-05-01, most at 10h",
    ]
