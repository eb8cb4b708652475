# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
import pytest

from query.engine import run
from query.tokens import QueryError

TABLES = {"users": [{"name": "eve", "age": 41}, {"name": "ann", "age": 30}, {"name": "bob", "age": 35}]}


def test_order():
    assert run(TABLES, "select name from users order by age") == [{"name": "ann"}, {"name": "bob"}, {"name": "eve"}]


def test_limit():
    assert run(TABLES, "select name from users limit 2") == [{"name": "eve"}, {"name": "ann"}]


def test_where():
    assert run(TABLES, "SELECT * FROM users WHERE age >= 35 AND name <> 'eve'") == [{"name": "bob", "age": 35}]


def test_nonsense():
    with pytest.raises(QueryError):
        run(TABLES, "select name users")
