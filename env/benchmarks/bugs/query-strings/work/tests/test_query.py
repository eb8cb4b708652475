# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

from query import build, parse


def test_parse():
    form = parse("?q=green+tea&tag=a&tag=b&empty")
    assert form.first("q") == "green tea"
    assert form.all("tag") == ["a", "b"]
    assert form.first("empty") == ""


def test_build():
    assert build({"q": "c++ & more", "n": 3, "tag": ["ä", "~"]}) == "q=c%2B%2B+%26+more&n=3&tag=%C3%A4&tag=~"


def test_there_and_back():
    values = {"q": "c++", "phone": "+49 30"}
    assert dict(parse(build(values))) == values


def test_broken_escapes():
    assert list(parse("a=100%&b=%zz&c=%e2%82%ac")) == [("a", "100%"), ("b", "%zz"), ("c", "€")]
