# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

import pytest

from snippets import Index, mark


@pytest.mark.parametrize("text, words, marked", [
    ("İzmir ve İstanbul", ["istanbul", "ve"], "İzmir <b>ve</b> İstanbul"),
    ("Maße und Massen", ["masse"], "<b>Maße</b> und <b>Masse</b>n"),
    ("ﬁne ﬀ coﬃn tea", ["tea", "fine"], "<b>ﬁne</b> ﬀ coﬃn <b>tea</b>"),
    ("coﬃn", ["cof"], "<b>coﬃ</b>n"),
    ("STRASSE, straße, STRAẞE", ["straße"], "<b>STRASSE</b>, <b>straße</b>, <b>STRAẞE</b>"),
    ("ßßß x", ["x"], "ßßß <b>x</b>"),
    ("ŉ ǰ ΐ x y", ["y", "x"], "ŉ ǰ ΐ <b>x</b> <b>y</b>"),
])
def test_letters_that_fold_to_several(text, words, marked):
    assert mark(text, words) == marked


def test_capitals_of_sharp_s_are_found():
    index = Index()
    index.add("a", "x" * 30 + " GROSSE Straße " + "y" * 30)
    assert index.search("große", around=2) == [("a", "...x <b>GROSSE</b> S...")]
    assert index.search("STRASSE", around=2) == [("a", "...E <b>Straße</b> y...")]


def test_end_of_text():
    assert mark("Spaß", ["spass"]) == "<b>Spaß</b>"
    assert mark("ß", ["s"]) == "<b>ß</b>"
    assert mark("Fuß Fuß", ["fuss"]) == "<b>Fuß</b> <b>Fuß</b>"


def test_plain_text_as_before():
    assert mark("aXbxA", ["x", "b"]) == "a<b>Xbx</b>A"
    assert mark("aaaa", ["aa"]) == "<b>aaaa</b>"


def test_empty_texts_have_nothing_to_mark():
    index = Index()
    index.add("blank", "")
    assert mark("", ["tea"]) == ""
    assert mark("", []) == ""
    assert mark("tea", []) == "tea"
    assert mark("tea", [""]) == "tea"
    assert index.search("tea") == []
