"""Find out which files are tests, from their paths and from a test command."""

from __future__ import annotations

import ast
import functools
import re
import shlex
from collections.abc import Collection, Iterable, Mapping
from pathlib import PurePosixPath

from pathspec import GitIgnoreSpec

from stackrank.env.benchmarks.base import BenchmarkError
from stackrank.env.sandbox.guest.debugging.source import functions
from stackrank.env.sandbox.guest.testing.commands import pytest_run
from stackrank.source import parse_python

TEST_PATTERNS = ("test_*.py", "*_test.py", "tests.py", "conftest.py")
_TESTS = GitIgnoreSpec.from_lines([*TEST_PATTERNS, "tests/**", "testing/**", "test/**"])


def is_test(path: str) -> bool:
    """Whether a path belongs to a test, by its name or its folder."""
    return _TESTS.match_file(path)


def is_test_file(path: str) -> bool:
    """Whether a path is that of a file of tests, by its name alone."""
    name = PurePosixPath(path).name
    return name.endswith(".py") and is_test(name)


def test_folders(files: Iterable[str]) -> frozenset[str]:
    """Return the outermost folders that are named after tests and contain some: agents may change nothing in them."""
    found: set[str] = set()
    for path in filter(is_test_file, files):
        parents = [each for each in PurePosixPath(path).parents if each.name in ("test", "tests", "testing")]
        found.update(str(each) for each in parents[-1:])
    return frozenset(found)


def without_tests(content: bytes, tests: Iterable[str], path: str) -> bytes:
    """Return the test file at `path` without the functions that some ids name; unchanged if they name none of it.

    Raises BenchmarkError if they cannot be cut out.
    """
    gone = {
        test.partition("[")[0].partition("::")[2].replace("::", ".") for test in tests if test.startswith(f"{path}::")
    }
    lines = content.decode().split("\n")
    spans = [_span(node) for name, node in functions(parse_python(content)) if name in gone]
    for first, last in sorted(spans, reverse=True):
        del lines[first - 1 : last]
    shown = "\n".join(lines).encode()
    try:
        parse_python(shown)
    except (SyntaxError, ValueError):
        spans = []
    if len(spans) < len(gone):
        raise BenchmarkError("its tests cannot be told apart")
    return shown


def defined_as(content: bytes, test: str) -> str:
    """Return the id of a test function where its file defines it: in the class from which it is inherited, if any.

    Empty if the file defines no such function.
    """
    path, _, name = test.partition("[")[0].partition("::")
    owner, _, function = name.rpartition("::")
    known, bases = _definitions(content)
    waiting, seen = [owner], set[str]()
    while waiting:
        here = waiting.pop(0)
        if f"{here}::{function}".removeprefix("::").replace("::", ".") in known:
            return "::".join(filter(None, (path, here, function)))
        if here not in seen:
            waiting += bases.get(here, ())
        seen.add(here)
    return ""


@functools.lru_cache(maxsize=128)
def _definitions(content: bytes) -> tuple[frozenset[str], Mapping[str, tuple[str, ...]]]:
    """Return the functions that a file defines, and class -> its bases. A file has many tests, and is parsed once."""
    tree = parse_python(content)
    bases = {
        each.name: tuple(base.id for base in each.bases if isinstance(base, ast.Name))
        for each in ast.walk(tree)
        if isinstance(each, ast.ClassDef)
    }
    return frozenset(name for name, _ in functions(tree)), bases


def _span(node: ast.AST) -> tuple[int, int]:
    """Return first and last line of a function, including its decorators."""
    assert isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.end_lineno
    return min([node.lineno, *(each.lineno for each in node.decorator_list)]), node.end_lineno


def check_command(command: str) -> str:
    """Return the command. Raises BenchmarkError if it runs pytest in a way that hides the outcome of each test."""
    if re.search(r"\b(pytest|py\.test)\b", command) and pytest_run(command) is None:
        raise BenchmarkError(
            f"{command!r} runs pytest in a way that stackrank does not understand: write one command such as "
            "`cd folder && NAME=value python -m pytest tests`, and move anything that has to run before it to `setup`"
        )
    return command


def words(command: str) -> list[str]:
    """Return the words of a command; none if it cannot be split."""
    try:
        return shlex.split(command)
    except ValueError:
        return []


def is_doctest(test: str) -> bool:
    """Whether a test is an example in a docstring or a text.

    pytest calls a doctest by its dotted name, and the doctest of a whole module by the module's name.
    """
    path, _, name = test.partition("::")
    place = PurePosixPath(path)
    module = place.parent.name if place.stem == "__init__" else place.stem
    return "." in name.partition("[")[0] or (name == module and not name.startswith("test"))


def with_doctests(ids: Iterable[str]) -> set[str]:
    """Return the files of the program among those of test ids: a doctest is in the file that it tests."""
    found = {test.partition("::")[0] for test in ids if is_doctest(test)}
    return {path for path in found if path.endswith(".py") and not is_test(path)}


def named(command: str, files: Collection[str]) -> list[str]:
    """Return the files and folders that a command names."""
    folders = {str(parent) for path in files for parent in PurePosixPath(path).parents}
    found = [word.partition("::")[0].removeprefix("./").rstrip("/") for word in words(command)[1:]]
    return [each for each in found if each in files or (each in folders and each not in ("", "."))]


def test_files(command: str, ids: Iterable[str], files: Collection[str]) -> tuple[str, ...]:
    """Return gitignore patterns of the files from which a verdict comes; agents may never change them."""
    from_ids = {test.partition("::")[0] for test in ids if "::" in test}
    patterns = {f"/{path}" for path in from_ids if path in files}
    for path in named(command, files):
        if path in files:
            patterns.add(f"/{path}" if is_test(path) or path.endswith(".py") else "")
        else:
            patterns.update(f"/{path}/**/{pattern}" for pattern in TEST_PATTERNS)
    return tuple(sorted(patterns - {""})) or TEST_PATTERNS


def scoring_command(command: str, hidden: Mapping[str, bytes], files: Collection[str]) -> str | None:
    """Return the command with the hidden test files that it does not reach by itself; None if it reaches all."""
    places = named(command, {*files, *hidden})
    if not places or "pytest" not in command:
        return None  # pytest without paths finds them
    tests = [path for path in sorted(hidden) if PurePosixPath(path).match("test_*.py") or path.endswith("_test.py")]
    more = [path for path in tests if not any(path == each or path.startswith(f"{each}/") for each in places)]
    return " ".join([command, *map(shlex.quote, more)]) if more else None


def visible_command(command: str, files: Mapping[str, bytes], hidden: Mapping[str, bytes] | None = None) -> str:
    """Return the command without tests that only the hidden files have; if none is left, with the folder of the first.

    `hidden`: by default no more is known of them than that they are not among `files`.
    """
    parts = words(command)
    paths = {word: word.partition("::")[0] for word in parts[1:]}
    missing = [
        word
        for word, path in paths.items()
        if path.endswith(".py") and (path not in files or _is_new(word, hidden or {}, files))
    ]
    if not missing:
        return command
    kept = [word for word in parts if word not in missing]
    if not named(" ".join(kept), files):
        folders = {str(parent) for path in files for parent in PurePosixPath(path).parents}
        kept.append(
            next(str(each) for each in PurePosixPath(paths[missing[0]]).parents if str(each) in {*folders, "."})
        )
    return shlex.join(kept)


def _is_new(test: str, hidden: Mapping[str, bytes], files: Mapping[str, bytes]) -> bool:
    """Whether only the hidden version of its file defines a test function."""
    path = test.partition("::")[0]
    if "::" not in test or path not in hidden or path not in files:
        return False
    try:
        return bool(defined_as(hidden[path], test)) and not defined_as(files[path], test)
    except (SyntaxError, ValueError):
        return False
