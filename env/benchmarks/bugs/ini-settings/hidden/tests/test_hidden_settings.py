# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

import copy
import pickle

import pytest

from settings import MissingSetting, Section, parse


def test_hasattr():
    section = Section("s", {"a": "1"})
    assert hasattr(section, "a")
    assert not hasattr(section, "b")
    assert not hasattr(section, "b_c")


def test_missing_attribute_is_an_attribute_error_that_says_what():
    with pytest.raises(AttributeError) as caught:
        Section("theme", {}).line_width
    assert not isinstance(caught.value, KeyError)
    assert "theme" in str(caught.value)


@pytest.mark.parametrize("name", ["x", "long-name"])
def test_missing_item_is_a_key_error(name):
    with pytest.raises(KeyError) as caught:
        Section("s", {})[name]
    assert isinstance(caught.value, MissingSetting)
    assert not isinstance(caught.value, AttributeError)
    assert caught.value.name == name


def test_get_of_a_mapping():
    section = Section("s", {"a": "1"})
    assert section.get("a") == "1"
    assert section.get("b", "2") == "2"
    assert "b" not in section


def test_copies():
    section = Section("s", {"a": "1"})
    assert copy.deepcopy(section).a == "1"
    assert pickle.loads(pickle.dumps(section))["a"] == "1"


def test_missing_section_and_flag():
    settings = parse("[a]\nx = on")
    with pytest.raises(MissingSetting):
        settings.section("b")
    with pytest.raises(MissingSetting):
        settings.section("a").flag("y")
    assert settings.section("a").flag("y", default=False) is False


def test_attributes_are_found_as_they_are_written():
    section = Section("s", {"line_width": "2", "class_": "x", "pen-up": "y"})
    assert section.line_width == "2"
    assert section.class_ == "x"
    assert section.pen_up == "y"


def test_settings_without_a_value_are_there():
    section = parse("[s]\nempty =\nline-width =\nzero = 0\n").section("s")
    assert section.empty == "" and section["empty"] == ""
    assert section.line_width == ""
    assert getattr(section, "empty", "blue") == ""
    assert hasattr(section, "line_width")
    assert section.zero == "0"
    with pytest.raises(AttributeError):
        section.full


def test_attributes_and_items_are_the_same_settings():
    text = "[default]\nink = black\npen-up =\n[a]\nInk = red\nshort-name = 1\nlong_name = 2\n[b]\n"
    settings = parse(text)
    assert settings.section("a").ink == "red" and settings.section("b").ink == "black"
    for title in ("a", "b"):
        section = settings.section(title)
        for name in section:
            assert getattr(section, name.replace("-", "_")) == section[name] == getattr(section, name.replace("-", "_").upper())
    assert not hasattr(settings.section("b"), "short_name")
