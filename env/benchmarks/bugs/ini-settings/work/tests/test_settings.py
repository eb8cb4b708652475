# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

import pytest

from settings import BadLine, MissingSetting, parse

TEXT = """
[default]
font = serif
[theme]
Colour = green
line-width = 3
; a comment
[print]
duplex = yes
"""


def test_values():
    theme = parse(TEXT).section("theme")
    assert theme["colour"] == "green"
    assert theme.font == "serif"
    assert theme.line_width == "3"


def test_optional_attribute():
    theme = parse(TEXT).section("theme")
    assert getattr(theme, "accent", "blue") == "blue"


def test_missing_item():
    with pytest.raises(MissingSetting):
        parse(TEXT).section("theme")["accent"]


def test_flags_and_bad_lines():
    assert parse(TEXT).section("print").flag("duplex") is True
    with pytest.raises(BadLine):
        parse("[a]\nnonsense")
