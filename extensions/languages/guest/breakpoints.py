"""The table of breakpoints, and the places that agents write."""

from __future__ import annotations

import os
import re
from typing import Any

from stackrank.extensions.languages.guest.adapter import AdapterError

_LINE = re.compile(r"(.+):(\d+)$")
_JAVASCRIPT = (
    r"(?:function\s*\*?\s*%(name)s\s*\(|\b%(name)s\s*[:=]\s*(?:async\s*)?(?:function\b|\(|\w+\s*=>)"
    r"|^\s*(?:static\s+|async\s+|\*\s*)*%(name)s\s*\([^;]*\{)"
)
_DEFINITIONS = {
    ".go": r"^func\s+(?:\([^)]*\)\s*)?%(name)s\s*[\[(]",
    ".java": r"^\s*(?!(?:return|else|throw|new|assert)\b)(?:[\w.<>\[\]?,@]+\s+)+%(name)s\s*\([^;]*$",
    ".rs": r"\bfn\s+%(name)s\b",
    ".js": _JAVASCRIPT,
    ".mjs": _JAVASCRIPT,
    ".cjs": _JAVASCRIPT,
}
"""Suffix of a file -> where a function is defined in it. In C++, the debugger knows it better."""
MOST_FILES = 5000
_MOST_POINTS = 1000


class Point:
    """One breakpoint: a line of a file, or a function, which then has no file until the program stands in it."""

    def __init__(self, number: int, file: str, line: int, function: str, condition: str, temporary: bool) -> None:
        self.number, self.file, self.line, self.function = number, file, line, function
        self.condition, self.temporary = condition, temporary
        self.hits = 0
        self.problem = ""

    @property
    def place(self) -> str:
        """The place, as agents write it."""
        return self.function or "%s:%d" % (self.file, self.line)

    def row(self, relative: Any) -> dict[str, Any]:
        """Return the row of the table; `relative` shortens paths."""
        return {
            "number": self.number,
            "file": relative(self.file) or "*",
            "line": self.line,
            "condition": self.condition or None,
            "temporary": self.temporary,
            "enabled": True,
            "ignore": 0,
            "hits": self.hits,
            "commands": [],
            "silent": False,
            "entered": self.function,
        }


class Points:
    """The breakpoints of a session; they outlive a run of the program."""

    def __init__(self, root: str) -> None:
        self._root = root
        self._last = 0
        self.all: list[Point] = []

    def add(self, text: str, temporary: bool, here: str, scripts: bool) -> Point:
        """Add a breakpoint at `FILE:LINE`, `LINE` or `FUNCTION`, perhaps with `if CONDITION`. Raises AdapterError.

        `here`: the file that a line alone is in. `scripts`: the debugger knows no functions, only the sources do.
        """
        if len(self.all) >= _MOST_POINTS:
            raise AdapterError("there are %d breakpoints, the most that there may be: cl deletes them" % _MOST_POINTS)
        place, _, condition = text.partition(" if ")
        place, condition = place.strip(), condition.strip()
        match = _LINE.match(place)
        file, line, function = "", 0, ""
        if match and not match[1].endswith(":"):
            file, line = self._find(match[1]), int(match[2])
        elif place.isdigit():
            if not here:
                raise AdapterError("the program is not paused in a file: write FILE:LINE")
            file, line = here, int(place)
        elif place:
            function = place
            file, line = self._find_function(place)
            if scripts and not file:
                raise AdapterError("there is no function %s" % place)
        else:
            raise AdapterError("name a place: FILE:LINE or FUNCTION")
        if file:
            self._check(file, line)
        self._last += 1
        point = Point(self._last, file, line, function, condition, temporary)
        self.all.append(point)
        return point

    def remove(self, text: str) -> list[Point]:
        """Remove the breakpoints with these numbers, or all. Raises AdapterError."""
        words = text.split()
        numbers = {int(word) for word in words if word.isdigit()}
        gone = [point for point in self.all if not words or point.number in numbers or point.place in words]
        if words and not gone:
            raise AdapterError("there is no breakpoint %s" % text)
        self.all = [point for point in self.all if point not in gone]
        return gone

    def at(self, file: str, line: int, function: str) -> Point | None:
        """Return the breakpoint at which the program stands."""
        for point in self.all:
            named = point.function and function.rpartition("::")[2].rpartition(".")[2] == _last(point.function)
            if (point.file == file and point.line == line) or (named and not (point.file and point.line != line)):
                return point
        return None

    def _find(self, name: str) -> str:
        path = os.path.normpath(os.path.join(self._root, name))
        if os.path.isfile(path):
            return path
        found = [path for path in self._sources() if path.endswith("/" + name.lstrip("./"))]
        if len(found) == 1:
            return found[0]
        if found:
            raise AdapterError("several files are called %s: %s" % (name, ", ".join(map(self._relative, found[:5]))))
        raise AdapterError("there is no file %s" % name)

    def _check(self, file: str, line: int) -> None:
        with open(file, encoding="utf-8", errors="replace") as source:
            count = sum(1 for _ in source)
        if not 1 <= line <= count:
            raise AdapterError("%s has %d lines" % (self._relative(file), count))

    def _find_function(self, name: str) -> tuple[str, int]:
        """Return the first line inside of a function of the workspace; an empty path if it is not found."""
        for path in self._sources():
            definition = _DEFINITIONS.get(os.path.splitext(path)[1])
            if definition is None:
                continue
            pattern = re.compile(definition % {"name": re.escape(_last(name))})
            with open(path, encoding="utf-8", errors="replace") as source:
                lines = source.read().splitlines()
            for number, text in enumerate(lines, 1):
                if pattern.search(text):
                    return path, _first_inside(lines, number)
        return "", 0

    def _sources(self) -> list[str]:
        found: list[str] = []
        for folder, folders, files in os.walk(self._root):
            folders[:] = sorted(name for name in folders if name not in ("node_modules", ".git", "target"))
            found += [os.path.join(folder, name) for name in sorted(files)]
            if len(found) > MOST_FILES:
                break
        return found

    def _relative(self, path: str) -> str:
        return os.path.relpath(path, self._root)


def _first_inside(lines: list[str], number: int) -> int:
    """Return the first line with code of the function whose definition begins in a line; 1-based."""
    for line in range(number, min(number + 20, len(lines)) + 1):
        text = lines[line - 1].rstrip()
        if not text.endswith("{"):
            if line == number and ("}" in text or text.endswith(";") or "=>" in text):
                return number  # all of it is on one line
            continue
        inside = line
        while inside < len(lines) and (
            not lines[inside].strip() or lines[inside].lstrip().startswith(("//", "/*", "*"))
        ):
            inside += 1
        return min(inside + 1, len(lines))
    return number


def _last(name: str) -> str:
    return name.rpartition("::")[2].rpartition(".")[2]
