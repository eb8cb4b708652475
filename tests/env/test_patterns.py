"""Patterns of paths: a literal path matches itself, whatever signs it has."""

from __future__ import annotations

import unicodedata

import pytest

from stackrank.env.patterns import Matcher, Pattern, globs
from stackrank.env.task import Task

NAMES = (
    "*", "**", "a*b", "?", "[x]", "[!x]", "[a-z].py", "!a", "#a", " a", "a ", "a  ", " ", "\\a", "a\\", "a\\*",
    "a\\ ", "-a", "--", "a\nb", "a\n", "\na", "\n", "a\r", "a\r\n", "a\tb", "a\t", "a \t ", "a\x85", "{a,b}", "$a^",
    "(a|b)", "~", "...", "a.py", "a", "é", unicodedata.normalize("NFD", "é"), "a\x85b", "a\u2028b", "\udcff", "名",
    "%2a", "a/**/b", "a/*", "a/[x]/b ", "!", "#",
)  # fmt: skip
PATHS = {*NAMES, *(f"{name}/t.py" for name in NAMES), "b", "ab", "t.py", "a/b", "a/x/b", "axb", "x", "e", "a b"}


@pytest.mark.parametrize("name", NAMES)
def test_a_literal_matches_its_path_and_what_is_below(name: str) -> None:
    expected = {path for path in PATHS if path == name or path.startswith(f"{name}/")}
    for pattern in (Pattern.literal(name), Pattern.glob(Pattern.literal(name).text)):
        assert set(Matcher([pattern]).select(PATHS)) == expected
    assert Pattern.literal(name).is_literal(name)
    everything = [Pattern.glob("*"), Pattern.literal(name).inverted]
    assert not Matcher(everything).matches(name) and Matcher(everything).matches("other")
    tests = {f"{name}/deep/test_x.py", f"{name}/test_y.py"}
    assert set(Matcher([Pattern.below(name, "test_*.py")]).select({*tests, "other/test_x.py"})) == tests


def test_all_literals_together_match_no_other_path() -> None:
    task = Task("t", "b", "s", {}, "true", editable=tuple(map(Pattern.literal, NAMES)))
    assert [path for path in PATHS if task.may_edit(path)] == [
        path for path in PATHS if any(path == name or path.startswith(f"{name}/") for name in NAMES)
    ]


def test_what_people_write_are_patterns() -> None:
    matcher = Matcher(globs(["# a comment", "", "*.py\n", "!keep.py", "/top", "folder/"]))
    assert matcher.select(["a/b.py", "keep.py", "a/keep.py", "top", "a/top", "folder/x", "x.pyc", "b.py\n"]) == [
        "a/b.py", "top", "folder/x",
    ]  # fmt: skip


def test_a_text_is_no_pattern() -> None:
    with pytest.raises(TypeError, match=r"Pattern\.literal"):
        Matcher(["tests/"])  # type: ignore[list-item]
