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
    folders: set[str] = set()
    for path in filter(is_test_file, files):
        parents = [folder for folder in PurePosixPath(path).parents if folder.name in ("test", "tests", "testing")]
        folders.update(str(folder) for folder in parents[-1:])
    return frozenset(folders)


def without_tests(content: bytes, tests: Iterable[str], path: str) -> bytes:
    """Return the test file at `path` without the functions that some ids name; unchanged if they name none of it.

    Raises BenchmarkError if they cannot be cut out.
    """
    removed = {
        test.partition("[")[0].partition("::")[2].replace("::", ".") for test in tests if test.startswith(f"{path}::")
    }
    lines = content.decode().split("\n")
    spans = [_span(node) for name, node in functions(parse_python(content)) if name in removed]
    for first, last in sorted(spans, reverse=True):
        del lines[first - 1 : last]
    remaining = "\n".join(lines).encode()
    try:
        parse_python(remaining)
    except (SyntaxError, ValueError):
        spans = []
    if len(spans) < len(removed):
        raise BenchmarkError("its tests cannot be told apart")
    return remaining


def defining_id(content: bytes, test: str) -> str:
    """Return the id of a test function where its file defines it: in the class from which it is inherited, if any.

    Empty if the file defines no such function.
    """
    path, _, name = test.partition("[")[0].partition("::")
    owner, _, function = name.rpartition("::")
    functions_defined, bases = _definitions(content)
    waiting, visited = [owner], set[str]()
    while waiting:
        class_name = waiting.pop(0)
        if f"{class_name}::{function}".removeprefix("::").replace("::", ".") in functions_defined:
            return "::".join(filter(None, (path, class_name, function)))
        if class_name not in visited:
            waiting += bases.get(class_name, ())
        visited.add(class_name)
    return ""


@functools.lru_cache(maxsize=128)
def _definitions(content: bytes) -> tuple[frozenset[str], Mapping[str, tuple[str, ...]]]:
    """Return the functions that a file defines, and class -> its bases. A file has many tests, and is parsed once."""
    tree = parse_python(content)
    bases = {
        node.name: tuple(base.id for base in node.bases if isinstance(base, ast.Name))
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
    }
    return frozenset(name for name, _ in functions(tree)), bases


def _span(node: ast.AST) -> tuple[int, int]:
    """Return first and last line of a function, including its decorators."""
    assert isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.end_lineno
    return min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)]), node.end_lineno


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
    files = {test.partition("::")[0] for test in ids if is_doctest(test)}
    return {path for path in files if path.endswith(".py") and not is_test(path)}


def paths_named(command: str, files: Collection[str]) -> list[str]:
    """Return the files and folders that a command names."""
    folders = {str(parent) for path in files for parent in PurePosixPath(path).parents}
    paths = [word.partition("::")[0].removeprefix("./").rstrip("/") for word in words(command)[1:]]
    return [path for path in paths if path in files or (path in folders and path not in ("", "."))]


def test_files(command: str, ids: Iterable[str], files: Collection[str]) -> tuple[str, ...]:
    """Return gitignore patterns of the files from which a verdict comes; agents may never change them."""
    from_ids = {test.partition("::")[0] for test in ids if "::" in test}
    patterns = {f"/{path}" for path in from_ids if path in files}
    for path in paths_named(command, files):
        if path in files:
            patterns.add(f"/{path}" if is_test(path) or path.endswith(".py") else "")
        else:
            patterns.update(f"/{path}/**/{pattern}" for pattern in TEST_PATTERNS)
    return tuple(sorted(patterns - {""})) or TEST_PATTERNS


def scoring_command(command: str, hidden: Mapping[str, bytes], files: Collection[str]) -> str | None:
    """Return the command with the hidden test files that it does not reach by itself; None if it reaches all."""
    places = paths_named(command, {*files, *hidden})
    if not places or "pytest" not in command:
        return None  # pytest without paths finds them
    tests = [path for path in sorted(hidden) if PurePosixPath(path).match("test_*.py") or path.endswith("_test.py")]
    unreached = [path for path in tests if not any(path == place or path.startswith(f"{place}/") for place in places)]
    return " ".join([command, *map(shlex.quote, unreached)]) if unreached else None


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
    kept_words = [word for word in parts if word not in missing]
    if not paths_named(" ".join(kept_words), files):
        folders = {str(parent) for path in files for parent in PurePosixPath(path).parents}
        kept_words.append(
            next(str(folder) for folder in PurePosixPath(paths[missing[0]]).parents if str(folder) in {*folders, "."})
        )
    return shlex.join(kept_words)


def _is_new(test: str, hidden: Mapping[str, bytes], files: Mapping[str, bytes]) -> bool:
    """Whether only the hidden version of its file defines a test function."""
    path = test.partition("::")[0]
    if "::" not in test or path not in hidden or path not in files:
        return False
    try:
        return bool(defining_id(hidden[path], test)) and not defining_id(files[path], test)
    except (SyntaxError, ValueError):
        return False
