"""What a planted change leaves behind."""

from __future__ import annotations

import pytest

from stackrank.extensions.authoring.inject.leftovers import left_behind

CODE = """\
from __future__ import annotations

import copy
from typing import Any

START = 0
_END = 9


class Box:
    SIDE = 2

    def __init__(self, size: Any, name, unused):
        self.size = size
        self.names = [name]

    def grow(self, by):
        wide, high = by, by * self.SIDE
        self._reset()
        return copy.copy(self.names), max(wide, high, START, _END)

    def _reset(self):
        self.size = 0


def outer(first, second):
    def inner():
        return first

    return [inner(), *(each for each in second)]
"""


@pytest.mark.parametrize(
    ("old", "new", "unused"),
    [
        ("copy.copy(self.names)", "self.names", ["copy"]),
        ("copy.copy(self.names)", "list(self.names)", ["copy"]),
        ("[name]", "[]", ["name"]),
        ("max(wide, high, START, _END)", "max(wide, START, _END)", ["high"]),
        ("        self._reset()\n", "        self._reset()\n        extra = 1\n", ["extra"]),
        (", START, _END)", ")", ["START", "_END"]),
        ("        self._reset()\n", "", ["_reset"]),
        ("by * self.SIDE", "by", ["SIDE"]),
        ("return first\n", "return 1\n", ["first"]),
        # Nothing is left: a use elsewhere in the scope, in an annotation or by a function within is a use.
        ("size: Any, name", "name, size: Any", []),
        ("self.size = size", "self.size = [size]", []),
        ("wide, high = by", "high, wide = by", []),
        ("first, second):", "first: Any, second):", []),
        ("return first\n", "return [first]\n", []),
        ("*(each for each in second)", "*second", []),
        ("*second", "*second", []),
    ],
)
def test_what_is_left(old: str, new: str, unused: list[str]) -> None:
    files = {"box.py": CODE.encode(), "other.py": b"import box\n"}
    assert left_behind(files, {"box.py": CODE.replace(old, new).encode()}) == unused


def test_what_another_file_mentions_is_used() -> None:
    broken = {"box.py": CODE.replace("        self._reset()\n", "").encode()}
    assert left_behind({"box.py": CODE.encode(), "other.py": b"def f(box):\n    box._reset()\n"}, broken) == []


def test_every_file_that_changes_is_looked_at() -> None:
    files = {"a.py": b"import b\nimport c\n\nb.f(c)\n", "b.py": b"def f(x):\n    return x\n"}
    broken = {"a.py": b"import b\nimport c\n\nb.f(1)\n", "b.py": b"def f(x):\n    return 1\n"}
    assert left_behind(files, broken) == ["c", "x"]
