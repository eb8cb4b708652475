# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

import pytest

from little import LexError, ParseError, run, words

BOX = """
/******************
 * A table of two *
 ******************/
n = 1;
while n <= 3 {
    print n * 2;   // once more
    n += 1;
}
"""


def test_his_remarks() -> None:
    assert run(BOX) == ["2", "4", "6"]


def test_my_remarks() -> None:
    assert run(BOX.replace("******************", "*")) == ["2", "4", "6"]
    assert run('/* a * b * c * */ print "*-";') == ["*-"]


def test_numbers() -> None:
    texts = [token.text for token in words("1 2.5 .5 1e3 1.e-3 1_000 a1e3")]
    assert texts == ["1", "2.5", ".5", "1e3", "1.e-3", "1_000", "a1e3"]
    assert run("print 1_000 + .5; print 2e3;") == ["1000.5", "2000"]


def test_what_is_wrong() -> None:
    for text in ('print "a', "/* a", "print 1e"):
        with pytest.raises(LexError):
            run(text)
    for text in ("print", "print 1", "= 3;", "while 1 {"):
        with pytest.raises(ParseError):
            run(text)
    with pytest.raises(RuntimeError):
        run("a = 1; while a { a = 1; }")
