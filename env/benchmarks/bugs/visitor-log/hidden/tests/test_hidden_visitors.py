# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

import random

from visitors import month_report
from visitors.entries import Entry, read
from visitors.grouping import by_day
from visitors.totals import totals


def entries(*counts):
    return [Entry(day, hour, "adult", count) for day, hour, count in counts]


def test_groups_can_be_read_in_any_order():
    groups = by_day(entries(("b", 9, 1), ("a", 9, 2), ("b", 8, 3)))
    assert [day for day, _ in groups] == ["a", "b"]
    assert [[e.count for e in group] for _, group in reversed(groups)] == [[1, 3], [2]]


def test_from_a_generator():
    groups = by_day(read(["d1 09:00 adult 1", "", "d2 10:00 child 2", "d1 11:00 child 5"]))
    assert [(day, sum(e.count for e in group)) for day, group in groups] == [("d1", 6), ("d2", 2)]


def test_two_months():
    lines = ["2024-01-31 09:00 adult 7", "2024-02-01 12:00 child 1", "2024-02-02 13:00 adult 1", "2024-03-01 12:00 adult 9"]
    assert month_report(lines, "2024-02") == [
        "2024-02-01    1     4.00",
        "2024-02-02    1     9.00",
        "best: 2024-02-01, most at 12h",
    ]


def test_empty_month():
    assert month_report([], "2024-02") == []
    assert by_day([]) == []


def test_busiest_hour():
    assert totals(entries(("a", 12, 2), ("a", 9, 1), ("a", 9, 1))).busiest == 9


def test_many_logs():
    chance = random.Random(6)
    for _ in range(150):
        log = entries(*((chance.choice("abcd"), chance.randint(8, 12), chance.randint(0, 4)) for _ in range(chance.randint(0, 12))))
        kept = list(log)
        groups = by_day(iter(log))
        assert log == kept
        assert [day for day, _ in groups] == sorted({entry.day for entry in log})
        assert all(list(group) == [entry for entry in log if entry.day == day] for day, group in groups)


def test_days_of_a_report():
    lines = ["2024-05-02 09:10 adult 2", "2024-05-01 08:00 member 3 # choir", "# closed", "2024-05-02 08:59 child 2", "2024-05-01 17:30 adult 1"]
    assert month_report(iter(lines), "2024-05") == [
        "2024-05-01    4     9.00",
        "2024-05-02    4    26.00",
        "best: 2024-05-01, most at 8h",
    ]
    assert month_report(lines, "2024-05-02")[-1] == "best: 2024-05-02, most at 8h"
