# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

import random

import pytest

from qlang import QueryError, parse, tokens


def fault(source):
    with pytest.raises(QueryError) as caught:
        parse(source)
    return caught.value


SOURCE = """a = 1 -- first

   /* one
   two */ and b = 'x
y
  z' or -- last


\tc <= 2
"""


def test_all_positions():
    found = [(t.text, tuple(t.where)) for t in tokens(SOURCE) if t.kind in ("word", "end")]
    assert found == [
        ("a", (1, 1)),
        ("and", (4, 11)),
        ("b", (4, 15)),
        ("or", (6, 6)),
        ("c", (9, 2)),
        ("", (10, 1)),
    ]


def test_every_token_stands_where_it_says():
    lines = SOURCE.split("\n")
    for token in tokens(SOURCE):
        line, column = token.where
        first = token.text.split("\n")[0]
        assert lines[line - 1][column - 1 :].startswith(first)


@pytest.mark.parametrize("source, where", [
    ("\n\n\na ? 1", (4, 3)),
    ("a = 'x\n\n' ?", (3, 3)),
    ("a = 'x\n' ?", (2, 3)),
    ("a = 1\n\n", (3, 1)),
    ("\n \n  a = 1 and\n\n   or", (5, 6)),
])
def test_faults(source, where):
    try:
        parse(source)
    except QueryError as error:
        assert error.where == where
    else:
        assert list(tokens(source))[-1].where == where


def test_show_with_tabs():
    source = "a = 1\n\n\tand\tb 2"
    assert fault(source).show(source) == "\tand\tb 2\n\t   \t  ^ expected = or != or < or > or <= or >="


def test_show_at_the_end_of_lines():
    source = "a = 1 and\n\n"
    assert fault(source).show(source) == "\n^ expected word"


def test_trees():
    assert parse("a = 1 or b = 2 and c = 3")[0] == "or"
    assert parse("a = 'x\n\ny'") == ("=", "a", "x\n\ny")
    assert parse("(a = 1\n\n)") == ("=", "a", 1.0)


SPACES = [" ", "\n", "\t", "\r\n", "\n\n ", "\x0c", "\u2028", "\n\x0b", "-- c\n", "-- c\r\n", "/* a\nb */", "/*\n*/", "/* \u2028\n\n*/ ", " -- \x0c\n\t"]
WORDS = ["a", "=", "12", "1.5", "<=", "'x'", "'x\ny'", "'\n'", "'it''s\n\n'", "'a\u2028b\n\x0c'", "(", "and", "b_2"]


def test_places_in_many_sources():
    chance = random.Random(7)
    for _ in range(400):
        source, starts = chance.choice(["", *SPACES]), []
        for _ in range(chance.randint(0, 8)):
            starts.append(len(source))
            source += chance.choice(WORDS)
            source += "".join(chance.choice(SPACES) for _ in range(chance.randint(1, 3)))
        places = [(source[:at].count("\n") + 1, at - source.rfind("\n", 0, at)) for at in [*starts, len(source)]]
        assert [tuple(token.where) for token in tokens(source)] == places, source


def test_lines_that_end_with_a_comment():
    assert [tuple(t.where) for t in tokens("a = 1 -- note\nand b")] == [(1, 1), (1, 3), (1, 5), (2, 1), (2, 5), (2, 6)]
    assert fault("a = 1 -- x\n  ?").where == (2, 3)
    assert fault("a = 'x\n' /* y\n*/ ?").show("a = 'x\n' /* y\n*/ ?") == "*/ ?\n   ^ unexpected '?'"
