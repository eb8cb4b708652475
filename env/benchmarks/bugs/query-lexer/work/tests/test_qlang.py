# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

import pytest

from qlang import QueryError, parse


def fault(source):
    with pytest.raises(QueryError) as caught:
        parse(source)
    return caught.value


def test_tree():
    assert parse("a = 1 and (b < 2 or c != 'it''s')") == ("and", ("=", "a", 1.0), ("or", ("<", "b", 2.0), ("!=", "c", "it's")))


def test_fault_in_the_second_line():
    source = "a = 1\n  and b ? 2"
    assert fault(source).show(source) == "  and b ? 2\n        ^ unexpected '?'"


def test_fault_after_a_long_comment():
    source = "a = 1 /* first\n   the rest\n*/ and b 2"
    assert str(fault(source)) == "line 3, column 10: expected = or != or < or > or <= or >="


def test_fault_at_the_end():
    assert fault("a = ").where == (1, 5)
