"""Tests of the project that its test command does not name, and that a change may break all the same."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import PurePosixPath
from typing import NamedTuple

from stackrank.env.benchmarks.base import BenchmarkError
from stackrank.env.benchmarks.testfiles import can_be_named, is_below, is_test_file
from stackrank.env.sandbox.base import Backend
from stackrank.env.sandbox.guest.testing.ids import path_of
from stackrank.extensions.fix.finding.problems import is_file
from stackrank.extensions.fix.finding.project import Project
from stackrank.extensions.fix.finding.suite import run_suite
from stackrank.source import parse_python

Parts = tuple[str, ...]

_MOST_FILES = 12


class UnnamedRun(NamedTuple):
    """What the unnamed test files show that import what a change touches."""

    files: list[str]
    broken: list[str]
    """Their tests that the change breaks."""
    unchecked: str = ""
    """Why nothing is known about their tests; empty if it is."""


def break_unnamed(project: Project, backend: Backend, changed: Mapping[str, bytes | None], *, times: int) -> UnnamedRun:
    """Run the unnamed test files that import what a change touches, with it and without it. Raises SandboxError."""
    files = list_unnamed(project, changed)
    if not files:
        return UnnamedRun([], [])
    try:
        after = run_suite(project, backend, changed, times=times, only=files)
        doubtful = sorted({path_of(test) for test in after.failing})
        passing = run_suite(project, backend, times=times, only=doubtful).passing if doubtful else frozenset()
    except BenchmarkError as error:
        return UnnamedRun(files, [], str(error))
    importable = {path_of(test) for test in passing}
    broken = sorted(test for test in after.failing if test in (importable if is_file(test) else passing))
    return UnnamedRun(files, broken)


def list_unnamed(project: Project, changed: Collection[str]) -> list[str]:
    """Return the test files that the command does not name and that import one of these modules, the nearest first.

    Packages export what their modules define, so an import of a module's package counts as well.
    """
    targets = project.command.targets
    modules = [_module_of(path) for path in changed if path.endswith(".py")]
    ranked: list[tuple[int, str]] = []
    for path in project.files if targets and modules else ():
        is_named = any(is_below(path, target.rstrip("/")) for target in targets)
        if not is_named and path not in changed and is_test_file(path) and can_be_named(path):
            nearness = _nearness(project.files[path], modules)
            if nearness:
                ranked.append((-nearness, path))
    return [path for _, path in sorted(ranked)][:_MOST_FILES]


def _module_of(path: str) -> Parts:
    parts = PurePosixPath(path).with_suffix("").parts
    return parts[:-1] if parts[-1] == "__init__" else parts


def _nearness(source: bytes, modules: Iterable[Parts]) -> int:
    """Return 2 if a file imports one of these modules, 1 if it imports the package of one, 0 otherwise."""
    imported = {*_imported(source)}
    names = [(2, module) for module in modules] + [(1, module[:-1]) for module in modules if len(module) > 1]
    return max((nearness for nearness, name in names if any(_same(name, other) for other in imported)), default=0)


def _same(first: Parts, second: Parts) -> bool:
    """Whether these may be one module: a folder such as `src` is no part of its name, and a package may be a link."""
    shared = min(len(first), len(second))
    return first[-shared:] == second[-shared:]


def _imported(source: bytes) -> Iterator[Parts]:
    try:
        nodes = list(ast.walk(parse_python(source)))
    except (SyntaxError, ValueError):
        return
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (tuple(alias.name.split(".")) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            package = tuple((node.module or "").split(".")) if node.module else ()
            if package:
                yield package
            yield from ((*package, alias.name) for alias in node.names)
