"""Rate how suspicious each line of the program is, from what the agent has seen."""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from stackrank.env.localisation.formulas import Counts, ochiai
from stackrank.source import parse_python

_WORD = re.compile(r"[A-Za-z][a-z]+|[A-Z]+")
_FRAME = re.compile(r"^(?:E\s+)?(?:File \"/workspace/)?([\w./-]+\.py)\"?(?::| *, line )(\d{1,9})(?!\d)", re.MULTILINE)
_COMMON = frozenset(
    "the a an of to in is are and or not it that this which who with for from by be as on at if self def return none "  # noqa: SIM905
    "true false test assert import class raise list dict str int any".split()
)
DISTANCE = 0.8
"""Each call between the test and a function multiplies its suspicion by this, without coverage."""


def frames(text: str, files: Iterable[str], links: Mapping[str, str]) -> list[tuple[str, int]]:
    """Return file and line of each traceback entry in known files, in the order of the text.

    `links`: link -> the path to which it leads. A traceback names a file as it was imported.
    """
    paths = set(files)
    entries = [(_follow(path.removeprefix("/workspace/"), links), int(line)) for path, line in _FRAME.findall(text)]
    return [(path, line) for path, line in entries if path in paths]


def _follow(path: str, links: Mapping[str, str]) -> str:
    """Return the path of a file without the link that is part of it."""
    link = next((name for name in links if path == name or path.startswith(f"{name}/")), "")
    return links[link] + path.removeprefix(link) if link else path


def words(text: str) -> set[str]:
    """Return the words of a text and of its identifiers, without a plural `s`."""
    lowered = {match.group().lower() for match in _WORD.finditer(text)} - _COMMON
    return {word[:-1] if word.endswith("s") and len(word) > 3 else word for word in lowered if len(word) > 2}


@dataclass(frozen=True, slots=True)
class Function:
    """A function of the program, as the call graph sees it."""

    path: str
    name: str
    first: int
    last: int
    calls: frozenset[str]
    """Names that its body mentions: functions it may call, properties it may read."""
    text: str


def functions_of(path: str, text: str) -> list[Function]:
    """Return the functions of a file, also nested ones, whose text and calls belong to the outer function too."""
    try:
        tree = parse_python(text)
    except (SyntaxError, ValueError):
        return []
    lines = text.splitlines()
    functions = []
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            mentioned = _mentioned(node)
            last = node.end_lineno or node.lineno
            first = min([node.lineno, *(child.lineno for child in node.decorator_list)])
            functions.append(Function(path, node.name, first, last, mentioned, "\n".join(lines[first - 1 : last])))
        elif isinstance(node, ast.ClassDef):
            # Calling the class calls these methods; so do operators.
            special = {
                child.name for child in node.body if isinstance(child, ast.FunctionDef) and child.name[:2] == "__"
            }
            calls = frozenset(special | {"__init__"})
            functions.append(Function(path, node.name, node.lineno, node.lineno, calls, ""))
    return functions


def _mentioned(node: ast.AST) -> frozenset[str]:
    names = set()
    for child in ast.walk(node):
        if isinstance(child, ast.Name):
            names.add(child.id)
        elif isinstance(child, ast.Attribute):
            names.add(child.attr)
    return frozenset(names)


@dataclass
class Suspicion:
    """Rates the suspicion of lines, between 0 and about 4."""

    functions: list[Function]
    frames: list[tuple[str, int]]
    statement: set[str]
    failing: set[str]
    """Names that the failing tests mention."""
    executed: Mapping[str, Mapping[int, tuple[int, int]]] | None = None
    """Path -> line -> (failing tests that execute it, passing ones), once the debugger has reported them."""
    total_failing: int = 1

    def __post_init__(self) -> None:
        self._reach = self._distances(self.failing)
        self._likeness = self._compare()

    def _distances(self, names: set[str]) -> dict[tuple[str, int], int]:
        by_name: dict[str, list[Function]] = {}
        for function in self.functions:
            by_name.setdefault(function.name, []).append(function)
        distance: dict[tuple[str, int], int] = {}
        visited: set[str] = set()
        front, step = set(names), 0
        while front and step < 12:
            following: set[str] = set()
            for name in front - visited:
                for function in by_name.get(name, ()):
                    distance.setdefault((function.path, function.first), step)
                    following |= function.calls
            visited |= front
            front, step = following - visited, step + 1
        return distance

    def _compare(self) -> dict[tuple[str, int], float]:
        """Rate how many words of the bug report occur in each function; rare words count more."""
        texts = {(function.path, function.first): words(function.text) for function in self.functions if function.text}
        often: dict[str, int] = {}
        for vocabulary in texts.values():
            for word in vocabulary:
                often[word] = often.get(word, 0) + 1
        scores = {}
        for key, vocabulary in texts.items():
            common = vocabulary & self.statement
            scores[key] = sum(1 / math.sqrt(often[word]) for word in common) / math.sqrt(len(vocabulary) + 3)
        highest = max(scores.values(), default=0.0) or 1.0
        return {key: score / highest for key, score in scores.items()}

    def function_at(self, path: str, line: int) -> Function | None:
        """Return the innermost function around a line."""
        around = [
            function
            for function in self.functions
            if function.path == path and function.first <= line <= function.last and function.text
        ]
        return max(around, key=lambda function: function.first, default=None)

    def of(self, path: str, line: int) -> float:
        """Return the suspicion of a line; 0 means that the fault cannot be there."""
        function = self.function_at(path, line)
        score = 1.0
        if self.executed is not None:
            score = self._by_coverage(path, line, function)
        elif function is None:
            score = 0.4
        else:
            step = self._reach.get((path, function.first))
            score = DISTANCE**step if step is not None else 0.1
        if function is not None:
            score *= 1.0 + 0.8 * self._likeness.get((path, function.first), 0.0)
        for depth, (frame_path, frame_line) in enumerate(reversed(self.frames)):
            if frame_path != path:
                continue
            if frame_line == line:
                score *= 2.0 if depth == 0 else 1.6
                break
            if function is not None and function.first <= frame_line <= function.last:
                score *= 1.4
                break
        return score

    def _by_coverage(self, path: str, line: int, function: Function | None) -> float:
        """Return Ochiai's coefficient plus 0.3; a line without a count of its own gets a lower, fixed value."""
        assert self.executed is not None
        counts = self.executed.get(path, {})
        if line in counts:
            failing, passing = counts[line]
            return 0.3 + ochiai(Counts(failing, self.total_failing - failing, passing, 0))
        if function is None:
            return 0.25 if counts else 0.1
        counted = [number for number in range(function.first, function.last + 1) if number in counts]
        # Lines inside a statement of several lines have no count, nor have those of a branch that was not taken.
        return 0.2 if counted else 0.0
