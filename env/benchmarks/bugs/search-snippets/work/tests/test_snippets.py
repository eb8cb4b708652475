# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

from snippets import Index, mark


def test_marks():
    assert mark("Tea and TEA", ["tea"]) == "<b>Tea</b> and <b>TEA</b>"
    assert mark("abcd", ["ab", "bc", "x"]) == "<b>abc</b>d"


def test_search():
    index = Index()
    index.add("a", "The ferry leaves at noon.")
    index.add("b", "No ferry today.")
    assert index.search("FERRY noon") == [("a", "The <b>ferry</b> leaves at <b>noon</b>.")]
    assert index.search("ferry", around=3) == [("a", "...he <b>ferry</b> le..."), ("b", "No <b>ferry</b> to...")]


def test_old_german():
    index = Index()
    index.add("a", "Am Fluß, im Schloß, die große Brücke")
    assert index.search("brücke") == [("a", "...m Schloß, die große <b>Brücke</b>")]
    assert index.search("schloss", around=4) == [("a", "... im <b>Schloß</b>, di...")]


def test_nothing():
    assert Index().search("x") == []
    assert mark("abc", [""]) == "abc"
