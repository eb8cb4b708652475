# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

import pytest

from rowstore import BrokenConnection, Database, Pool, PoolExhausted, exists, first_row, rows, take, totals


@pytest.fixture
def database():
    return Database({"n": [{"v": i, "k": i % 2} for i in range(10)]})


def test_take_gives_the_connection_back(database):
    pool = Pool(database, size=1)
    for count in (0, 1, 3, 10, 20):
        assert [row["v"] for row in take(pool, "n", count)] == list(range(min(count, 10)))
        assert pool.lent == 0
    assert database.opened == 1 and pool.idle == 1


def test_reader_that_stops_early(database):
    pool = Pool(database, size=1)
    stream = rows(pool, "n")
    assert next(stream)["v"] == 0
    assert (pool.idle, pool.lent) == (0, 1)
    stream.close()
    assert (pool.idle, pool.lent) == (1, 0)


def test_a_connection_in_use_is_not_lent_twice(database):
    pool = Pool(database, size=1)
    stream = rows(pool, "n")
    next(stream)
    with pytest.raises(PoolExhausted):
        first_row(pool, "n")
    assert sum(1 for _ in stream) == 9
    assert first_row(pool, "n") == {"v": 0, "k": 0}
    assert database.opened == 1


def test_broken_connection_is_discarded_once(database):
    pool = Pool(database, size=2)
    database.breaks_after = 1
    with pytest.raises(BrokenConnection):
        take(pool, "n", 5)
    assert (pool.idle, pool.lent) == (0, 0)
    assert totals(pool, "n", "k", "v") == {0: 20, 1: 25}
    assert database.opened == 2


def test_failing_test_function(database):
    pool = Pool(database, size=1)
    with pytest.raises(ZeroDivisionError):
        exists(pool, "n", lambda row: 1 / 0 > 1)
    assert (pool.idle, pool.lent) == (0, 0)
    assert exists(pool, "n", lambda row: row["v"] == 9)


def test_interrupted_reader_does_not_keep_the_connection(database):
    pool = Pool(database, size=1)

    def interrupt(row):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        first_row(pool, "n", interrupt)
    assert pool.lent == 0


def test_two_readers_who_stop_early_both_give_back():
    pool = Pool(Database({"t": [{"n": 1}, {"n": 2}]}), size=2)
    first, second = rows(pool, "t"), rows(pool, "t")
    next(first), next(second)
    first.close()
    second.close()
    assert (pool.idle, pool.lent) == (2, 0)
