# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

import pytest

from little import LexError, run, words


@pytest.mark.parametrize("remark", ["/**/", "/***/", "/****/", "/* **/", "/** a **/", "/* a **b*/", "/* **** / */", "/*\n***\n**/"])
def test_remarks_end(remark: str) -> None:
    assert [token.text for token in words(f"a {remark} b")] == ["a", "b"]


@pytest.mark.parametrize("remark", ["/*", "/* *", "/* **", "/* * /", "/*/"])
def test_remarks_that_do_not_end(remark: str) -> None:
    with pytest.raises(LexError, match="does not end"):
        list(words(f"a {remark}"))


def test_what_is_between_remarks_counts() -> None:
    assert run("/** one **/ print 1; /*** two ***/ print 2; /* 3 */") == ["1", "2"]
    assert [token.line for token in words("/**\n**/ a\n/*\n*/ b")] == [2, 4]


def test_signs() -> None:
    text = "a=b==c<=d<<e<-f>=g>>h->i=>j!=k**l*=m...n..o"
    signs = [token.text for token in words(text) if token.kind == "sign"]
    assert signs == ["=", "==", "<=", "<<", "<-", ">=", ">>", "->", "=>", "!=", "**", "*=", "...", ".."]


def test_numbers_in_words() -> None:
    found = [(token.kind, token.text) for token in words("1_000 2.5e-3 x1 .5")]
    assert found == [("number", "1_000"), ("number", "2.5e-3"), ("name", "x1"), ("number", ".5")]


def test_examples() -> None:
    from little.examples import FIBONACCI, POWERS, ROOT

    assert run(POWERS) == ["1", "2", "4", "8", "16", "32", "64"]
    assert run(FIBONACCI)[-3:] == ["13", "21", "34"]
    assert run(ROOT) == ["1.41421"]


def test_rewritten() -> None:
    from little.writer import rewritten

    text = 'a=2*(3+4)-(1-1);/** so **/while a>0{a-=5;print "/"/n//";}'
    again = 'a = 2 * (3 + 4) - (1 - 1);\nwhile a > 0 {\n    a = a - 5;\n    print "/"/n//";\n}\n'
    assert rewritten(text) == again and rewritten(again) == again
    assert run(again) == run(text) == ['"\n/'] * 3


def test_strings() -> None:
    assert run('print "a * b ** c";') == ["a * b ** c"]
    assert run('print "say /"so/" and/n//";') == ['say "so" and\n/']
