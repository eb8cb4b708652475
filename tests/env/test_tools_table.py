"""The README's table of tools is what the program has."""

from __future__ import annotations

from pathlib import Path

from env.tools import TOOL_SETS
from env.tools.describe import markdown_table

README = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")


def test_the_table_of_tools() -> None:
    """If this fails: put what `python -m env.tools.describe` prints into the README."""
    assert markdown_table() in README


def test_every_tool_set_is_named() -> None:
    for name in TOOL_SETS:
        assert f"`{name}`" in README, name
