"""Observations as earlier versions worded them: a replay takes them for the same, and no others."""

from __future__ import annotations

import pytest

from stackrank.flows.runs.afterwards.same_observation import same_observation

SAID = """(Pdb) c
> /workspace/a.py(2)f()
-> x = 1
(Pdb) w
  /workspace/a.py(9)g()
-> f()
> /workspace/a.py(2)f()
-> x = 1
"""
EXCERPT = "   1    def f():\n   2 B      x = 1\n   3\n"
PLACE = "[a.py:2, f, depth 2]\n"
CALLS, LOCALS = "Calls: g (a.py:9) > *f (a.py:2)*\n", "Locals: y = 1\n"
POINTS = "Breakpoints:\n  1: a.py:1"
BEFORE = SAID + EXCERPT + PLACE + CALLS + LOCALS + POINTS
CUT = "(Pdb) p y\n'a long\n[... 90 characters omitted: a limit above 4000 shows more ...]\ntext'\n" + PLACE + LOCALS

CUT_THEN = "one two three and more\n[... 90 characters omitted: ask for a part of it ...]\neight nine"
CUT_NOW = "one two three\n[... 99 characters omitted: ask for a part of it ...]\n nine"
SOURCE = "x = {0}\n\n    def test(x):\n        y = x\n>       assert x == {0}\nE       assert {0}\n"
TWICE = SOURCE.format(1) + SOURCE.format(2)
FOLDED = SOURCE.format(1) + SOURCE.format(2).replace("    def test(x):\n        y = x\n", "    [as above]\n")


@pytest.mark.parametrize(
    ("before", "now"),
    [
        (BEFORE, BEFORE),
        (BEFORE, SAID + EXCERPT + PLACE + LOCALS + POINTS),
        (BEFORE, SAID + PLACE + POINTS),
        ("> /workspace/a.py(2)f()\n-> x = 1", "> /workspace/a.py(2)f()\n" + EXCERPT + PLACE + LOCALS.rstrip()),
        (CUT, "(Pdb) p y\n'a long and\neven longer text'\n" + PLACE + LOCALS),
        ("Created a.py: 0 lines replaced by 1.", "Created a.py: 1 line."),
        ("a.py:1: x\na.py:2: y\nb.py:7: z: 1", "a.py\n1: x\n2: y\nb.py\n7: z: 1"),
        ("a.py:1: x\n... and 2 more matches: use", "a.py\n1: x\n2: y\n... and 1 more matches: use"),
        (f"a.py:1: {'x' * 240}", f"a.py\n1: {'x' * 237}..."),
        (CUT_THEN, CUT_NOW),
        (TWICE, FOLDED),
        ("Created a.py: 0 lines replaced by 3.\nThe file", "Created a.py: 3 lines.\nThe file"),
    ],
)
def test_what_was_told_otherwise(before: str, now: str) -> None:
    assert same_observation(before, now)


@pytest.mark.parametrize(
    ("before", "now"),
    [
        (BEFORE, BEFORE.replace("(9)g", "(8)g")),
        (BEFORE, SAID + PLACE.replace("depth 2", "depth 3") + POINTS),
        (BEFORE, SAID + EXCERPT + PLACE + LOCALS.replace("1", "2") + POINTS),
        (BEFORE, SAID + EXCERPT.replace("x = 1", "x = 2") + PLACE + CALLS + LOCALS + POINTS),
        (BEFORE, SAID + PLACE),
        (CUT, "(Pdb) p y\n'another long text'\n" + PLACE + LOCALS),
        (CUT, "(Pdb) p y\n'a long story'\n" + PLACE + LOCALS),
        ("Created a.py: 0 lines replaced by 1.", "Created a.py: 2 lines."),
        ("Rewrote a.py: 0 lines replaced by 1.", "Rewrote a.py: 1 lines replaced by 1."),
        ("1 passed", "1 failed"),
        ("a.py:1: x\na.py:2: y", "a.py\n1: x\n3: y"),
        ("a.py:1: x\na.py:2: y", "a.py\n1: x"),
        ("a.py:1: x\na.py:2: y", "b.py\n1: x\n2: y"),
        ("a.py:1: x\n... and 2 more matches: use", "a.py\n1: x\n2: y\n... and 2 more matches: use"),
        (CUT_NOW, CUT_THEN),
        (CUT_THEN, CUT_NOW.replace("three", "four")),
        (CUT_THEN, CUT_NOW.replace("nine", "ten")),
        (TWICE, FOLDED.replace("x == 2", "x == 3")),
    ],
)
def test_what_is_another_observation(before: str, now: str) -> None:
    assert not same_observation(before, now)
