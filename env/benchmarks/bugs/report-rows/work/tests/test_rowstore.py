# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

import pytest

from rowstore import BrokenConnection, Database, Pool, exists, first_row, totals

SALES = [
    {"shop": "north", "amount": 5},
    {"shop": "south", "amount": 7},
    {"shop": "north", "amount": 1},
]


@pytest.fixture
def pool():
    return Pool(Database({"sales": SALES, "empty": []}), size=2)


def test_report(pool):
    for _ in range(5):
        assert totals(pool, "sales", "shop", "amount") == {"north": 6, "south": 7}
    assert (pool.idle, pool.lent) == (1, 0)


def test_questions(pool):
    for _ in range(5):
        assert first_row(pool, "sales") == {"shop": "north", "amount": 5}
        assert exists(pool, "sales", lambda row: row["amount"] == 7)
        assert not exists(pool, "empty", lambda row: True)


def test_broken_connection_is_not_used_again():
    database = Database({"sales": SALES})
    pool = Pool(database, size=1)
    database.breaks_after = 2
    with pytest.raises(BrokenConnection):
        totals(pool, "sales", "shop", "amount")
    assert totals(pool, "sales", "shop", "amount") == {"north": 6, "south": 7}
    assert database.opened == 2
