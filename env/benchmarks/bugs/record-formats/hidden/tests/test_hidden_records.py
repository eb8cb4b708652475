# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
import pytest

from records import UnknownFormat, formats, load

COLUMNS = [("code", 3), ("item", 6), ("qty", 3)]


def test_all_formats_are_listed():
    assert formats() == ["delimited", "fixedwidth", "keyvalue"]


def test_short_line_gets_default_fill():
    assert load("A1 bolt\nB2", "fixedwidth", columns=COLUMNS) == [
        {"code": "A1", "item": "bolt", "qty": "-"},
        {"code": "B2", "item": "-", "qty": "-"},
    ]


def test_short_line_gets_given_fill():
    assert load("B2", "fixedwidth", columns=COLUMNS, fill="?") == [{"code": "B2", "item": "?", "qty": "?"}]


def test_padding_kept_on_request():
    assert load("A1 bolt    7", "fixedwidth", columns=COLUMNS, strip=False) == [
        {"code": "A1 ", "item": "bolt  ", "qty": "  7"}
    ]


def test_comments_of_fixed_width():
    text = "; parts\n#9 nut     1\n\n"
    assert load(text, "fixedwidth", columns=COLUMNS) == [{"code": "#9", "item": "nut", "qty": "1"}]


def test_unknown_format_still_raises():
    with pytest.raises(UnknownFormat, match="unknown format: toml"):
        load("x", "toml")


def test_other_readers():
    assert load("a,b\n1,2,3\n", "delimited") == [{"a": "1", "b": "2"}]
    assert load("# no\nk: v: w\n", "keyvalue") == [{"k": "v: w"}]
