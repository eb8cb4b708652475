# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
import pytest

from records import UnknownFormat, load


def test_keyvalue():
    text = "name: ada\nborn: 1815\n---\nname: alan\n"
    assert load(text, "keyvalue") == [{"name": "ada", "born": "1815"}, {"name": "alan"}]


def test_delimited():
    assert load("a;b\n1; 2\n3\n", "delimited", separator=";") == [{"a": "1", "b": "2"}, {"a": "3", "b": ""}]


def test_unknown_format():
    with pytest.raises(UnknownFormat):
        load("", "yaml")


def test_fixed_width():
    rows = load("ada  1815\nalan 1912\n", "fixedwidth", columns=[("name", 5), ("born", 4)])
    assert rows == [{"name": "ada", "born": "1815"}, {"name": "alan", "born": "1912"}]
