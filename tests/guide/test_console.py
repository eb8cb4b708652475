"""Console blocks are read and compared by the rule that the guide states."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.guide.console import commands, matches

TABLE = """run   name   seconds   steps
───────────────────────────────
  1   demo       172    20.1"""


def test_commands_and_outputs_are_told_apart(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "Text.\n\n```console\n$ one \\\n    two\nout\n\nmore\n$ three\n```\n\n"
        "- item\n\n  ```console\n  $ four\n  a\n  ```\n"
    )
    found = [(command.line, command.command, command.shown) for command in commands(page)]
    assert found == [(4, "one two", "out\n\nmore"), (9, "three", ""), (15, "four", "a")]


def test_a_block_without_a_command_is_refused(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("```console\noutput of nothing\n```\n")
    with pytest.raises(AssertionError, match=r"page\.md:2"):
        commands(page)


@pytest.mark.parametrize(
    ("shown", "printed", "expected"),
    [
        ("a\nb", "a\nb\n", True),
        ("a\nb", "a\nc\n", False),
        ("a\nb", "a\n0 of 9 episodes (0 resolved, 0 unresolved, 0 errors)\nb", True),
        ("a\n...\nd", "a\nb\nc\nd", True),
        ("a\n...\nd", "a\nd", True),
        ("a\n...\nd", "a\nb\nc", False),
        ("a: ... files", "a: 3 files", True),
        ("a: ... files", "b: 3 files", False),
        ("ended after 172 s", "ended after 9.5 s", True),
        ("10 min 00 s", "2 h 3 min", True),
        ("172 steps", "173 steps", False),
        ("on 2026-11-22 02:00:00", "on 2027-01-01", True),
        ("shop-f2a8f5cf", "shop-0b1c2d3e", True),
        ("defaced", "deadbeef", False),
        (TABLE, TABLE.replace("172", "  9"), True),
        (TABLE, TABLE.replace("20.1", "20.2"), False),
        (TABLE, TABLE.replace("demo", "dome"), False),
        (TABLE, TABLE.replace("run   name", "run   name  ").replace("─", "──").replace("demo", "demo  "), True),
        ("", "anything", True),
    ],
)
def test_outputs_are_compared(shown: str, printed: str, expected: bool) -> None:
    assert matches(shown, printed) is expected
