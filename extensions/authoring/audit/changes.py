"""Changes that should not pass: parts of the fix, the fix with a mistake, empty functions, special-cased inputs."""

from __future__ import annotations

import ast
import difflib
import functools
import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from stackrank.env.patches import find_faults, function_spans, make_diff
from stackrank.extensions.authoring.inject.candidates import find_candidates
from stackrank.extensions.authoring.inject.reach import Reach
from stackrank.source import parse_python

Files = Mapping[str, bytes]
T = TypeVar("T")
NEAR = 2
"""A mistake within this many lines of the fix is tried before others."""


@dataclass(frozen=True)
class Variant:
    """A change of the task as given that may pass although it is wrong."""

    kind: str
    """How it was made, in a few words."""
    files: Files
    """The files that the fix touches, with this change; a file that is missing here does not exist."""


@dataclass(frozen=True)
class Fixed:
    """The files that the known fix or other known changes touch, before and after the fix."""

    broken_files: Files
    fixed_files: Files

    @classmethod
    def of(cls, broken: Files, fixed: Files, also: Iterable[str] = ()) -> Fixed:
        """Select them from whole workspaces. `also`: files that other changes touch."""
        other_paths = set(also)
        paths = [path for path in {**broken, **fixed} if path in other_paths or broken.get(path) != fixed.get(path)]
        return cls(*({path: side[path] for path in paths if path in side} for side in (broken, fixed)))

    def functions(self, files: Files) -> dict[str, list[tuple[str, int, int]]]:
        """Return file -> (qualified name, first line, last line) of the functions that the fix touches, in `before` or
        `after`; for a file in which it touches none, all of its functions."""
        counterpart = self.fixed_files if files is self.broken_files else self.broken_files
        functions = {}
        for fault in find_faults(files, make_diff(files, counterpart)):
            spans = function_spans(files.get(fault.file, b""))
            functions[fault.file] = [span for span in spans if span[0] in fault.functions] or spans
        return functions

    @property
    def lines(self) -> dict[str, set[int]]:
        """File -> the lines of `after` that the fix made, and the lines near them."""
        faults = find_faults(self.fixed_files, make_diff(self.fixed_files, self.broken_files))
        return {fault.file: {line + by for line in fault.lines for by in range(-NEAR, NEAR + 1)} for fault in faults}


def parts_of_the_fix(fixed: Fixed) -> Iterator[Variant]:
    """Yield no change at all, each part alone, all parts but one, and the fix without one of its lines."""
    sides = {
        path: [
            side.get(path, b"").decode(errors="surrogateescape").splitlines(True)
            for side in (fixed.broken_files, fixed.fixed_files)
        ]
        for path in sorted({**fixed.broken_files, **fixed.fixed_files})
    }
    codes = {
        path: difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
        for path, (old, new) in sides.items()
    }
    parts = [(path, n) for path, opcodes in codes.items() for n, code in enumerate(opcodes) if code[0] != "equal"]

    def make(kind: str, keep: set[tuple[str, int]], without: tuple[str, int] | None = None) -> Variant:
        files = {}
        for path, (old, new) in sides.items():
            lines: list[str] = []
            for n, (tag, a, b, c, d) in enumerate(codes[path]):
                if tag == "equal" or (path, n) not in keep:
                    lines += old[a:b]
                else:
                    lines += [line for at, line in enumerate(new[c:d], c) if (path, at) != without]
            if lines:
                files[path] = "".join(lines).encode(errors="surrogateescape")
        return Variant(kind, files)

    yield make("nothing at all", set())
    if len(parts) > 1:
        for part in parts:
            yield make("a part of the fix alone", {part})
            yield make("the fix without a part", {*parts} - {part})
    for path, n in parts:
        _, _, _, c, d = codes[path][n]
        if d - c > 1:
            for at in range(c, d):
                yield make("the fix without a line", {*parts}, (path, at))


def without_bodies(fixed: Fixed) -> Iterator[Variant]:
    """Yield the fix with one of its functions emptied, for each function."""
    for path, source, node in _nodes(fixed.fixed_files, fixed.functions(fixed.fixed_files)):
        lines = source.splitlines(True)
        first, last = node.body[0], node.body[-1]
        if first.lineno == node.lineno:
            continue
        start = first.lineno - 1
        indent = " " * first.col_offset
        text = "".join([*lines[:start], f"{indent}pass\n", *lines[last.end_lineno or 0 :]])
        yield Variant("a function without its body", {**fixed.fixed_files, path: text.encode()})


def mistakes(fixed: Fixed, seed: int) -> Iterator[Variant]:
    """Yield the fix with one mistake in the functions that it touches, mistakes near its lines first."""
    spans = fixed.functions(fixed.fixed_files)
    lines = {
        path: {line: 0 for _, first, last in file_spans for line in range(first, last + 1)}
        for path, file_spans in spans.items()
        if file_spans
    }
    near_lines = fixed.lines
    reach = Reach(("all",), (0.0,), (frozenset({0}),), lines)
    mutants = find_candidates(fixed.fixed_files, reach, seed)
    singles = [mutant for mutant in mutants if len(mutant.changes) == 1]
    for mutant in sorted(singles, key=lambda mutant: not mutant.lines & near_lines.get(mutant.file, set())):
        yield Variant(
            f"the fix with a mistake ({mutant.operator})", {**fixed.fixed_files, mutant.file: mutant.source()}
        )


@dataclass(frozen=True)
class Call:
    """A call of a faulty function by the visible tests, recorded with the fix, as Python literals."""

    file: str
    function: str
    arguments: Mapping[str, str]
    """Name -> value; arguments that have no literal, such as `self`, are missing."""
    result: str
    """A statement that returns or raises what the call did."""


def special_cases(fixed: Fixed, calls: Sequence[Call]) -> Iterator[Variant]:
    """Yield the unfixed program with special cases for the calls of the visible tests."""
    for path, source, node in _nodes(fixed.broken_files, fixed.functions(fixed.broken_files)):
        name = next((n for n, first, _ in function_spans(fixed.broken_files[path]) if first == _first_line(node)), "")
        results_by_test: dict[str, set[str]] = {}
        for call in calls:
            if (call.file, call.function) == (path, name):
                test = " and ".join(f"{argument} == {value}" for argument, value in call.arguments.items()) or "True"
                results_by_test.setdefault(test, set()).add(call.result)
        cases = [(test, results.pop()) for test, results in results_by_test.items() if len(results) == 1]
        first = _after_docstring(node)
        if not cases or first is None or first.lineno == node.lineno:
            continue
        indent = " " * first.col_offset
        added = [f"{indent}if {test}:\n{indent}    {result}\n" for test, result in cases]
        lines = source.splitlines(True)
        at = first.lineno - 1
        yield Variant(
            "a special case for the visible inputs",
            {**fixed.broken_files, path: "".join([*lines[:at], *added, *lines[at:]]).encode()},
        )


def distinct(fixed: Fixed, candidates: Iterator[Variant]) -> Iterator[Variant]:
    """Yield the candidates that are valid Python and differ from the fix and from all earlier candidates."""
    meanings = {_normal_form(fixed.fixed_files)}
    for candidate in candidates:
        meaning = _normal_form(candidate.files)
        if meaning is not None and meaning not in meanings:
            meanings.add(meaning)
            yield candidate


def sample(candidates: Sequence[T], limit: int, seed: int) -> list[T]:
    """Choose at most `most` candidates by chance, and keep their order."""
    if len(candidates) <= limit:
        return list(candidates)
    positions = sorted(random.Random(seed).sample(range(len(candidates)), limit))
    return [candidates[number] for number in positions]


def _normal_form(files: Files) -> tuple[tuple[str, str], ...] | None:
    try:
        return tuple(
            (path, _dump(text) if path.endswith(".py") else repr(text)) for path, text in sorted(files.items())
        )
    except (SyntaxError, ValueError):
        return None


_Function = ast.FunctionDef | ast.AsyncFunctionDef


@functools.lru_cache(maxsize=64)  # most candidates change one of several files
def _dump(content: bytes) -> str:
    """Dump a module without docstrings and annotations of functions, on which nothing depends.

    Raises SyntaxError or ValueError if it cannot be compiled.
    """
    tree = parse_python(content)
    compile(tree, "candidate", "exec", dont_inherit=True)
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | _Function) and ast.get_docstring(node) is not None:
            node.body = node.body[1:]
        if isinstance(node, _Function):
            node.returns = None
        if isinstance(node, ast.arg):
            node.annotation = None
    return ast.dump(tree)


def _nodes(files: Files, spans: Mapping[str, list[tuple[str, int, int]]]) -> Iterator[tuple[str, str, _Function]]:
    for path, file_spans in spans.items():
        starts = {first for _, first, _ in file_spans}
        source = files[path].decode(errors="replace") if file_spans else ""
        for node in ast.walk(parse_python(source)):
            if isinstance(node, _Function) and _first_line(node) in starts:
                yield path, source, node


def _first_line(node: Any) -> int:
    return int(node.lineno)


def _after_docstring(node: _Function) -> ast.stmt | None:
    body = node.body[1:] if ast.get_docstring(node, clean=False) is not None else node.body
    return body[0] if body else None
