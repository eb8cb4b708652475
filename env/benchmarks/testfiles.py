"""Find out which files are tests, from their paths and from a test command."""

from __future__ import annotations

import ast
import functools
import posixpath
import re
import shlex
from collections.abc import Collection, Iterable, Mapping
from pathlib import PurePosixPath

from stackrank.env.benchmarks.base import BenchmarkError
from stackrank.env.patterns import Matcher, Pattern, globs
from stackrank.env.sandbox.guest.debugging.source import functions
from stackrank.env.sandbox.guest.testing.commands import PytestRun, pytest_run
from stackrank.env.sandbox.guest.testing.ids import parse_id, path_of
from stackrank.patches.contents import like
from stackrank.source import parse_python

TEST_NAMES = ("test_*.py", "*_test.py", "tests.py", "conftest.py")
TEST_PATTERNS = globs(TEST_NAMES)
OPTIONS_WITH_VALUE = (
    "--deselect",
    "--ignore",
    "--ignore-glob",
    "--rootdir",
    "--confcutdir",
    "-c",
    "-k",
    "-m",
    "-o",
    "-p",
)
"""Options of pytest whose value may look like a path."""
_TESTS = Matcher([*TEST_PATTERNS, *globs(("test.py", "tests/**", "testing/**", "test/**"))])


def is_test(path: str) -> bool:
    """Whether a path belongs to a test, by its name or its folder."""
    return _TESTS.matches(path)


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
    removed = {test_id.qualified for test_id in map(parse_id, tests) if test_id.path == path and test_id.names}
    lines = content.split(b"\n")
    spans = [_span(node) for name, node in functions(parse_python(content)) if name in removed]
    for first, last in sorted(spans, reverse=True):
        del lines[first - 1 : last]
    remaining = like(b"\n".join(lines), content)
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
    path, names, _ = parse_id(test)
    owner, function = "::".join(names[:-1]), parse_id(test).name
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


def is_imported(content: bytes, test: str) -> bool:
    """Whether the test is a function that its file imports by name, and does not define."""
    test_id = parse_id(test)
    try:
        imports = (node for node in ast.walk(parse_python(content)) if isinstance(node, ast.ImportFrom))
        names = {alias.asname or alias.name for node in imports for alias in node.names}
    except (SyntaxError, ValueError):
        return False
    return len(test_id.names) == 1 and test_id.name in names and not defining_id(content, test)


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
    test_id = parse_id(test)
    place = PurePosixPath(test_id.path)
    module = place.parent.name if place.stem == "__init__" else place.stem
    name = test_id.qualified
    return "." in test_id.name or (name == module and not name.startswith("test"))


def with_doctests(ids: Iterable[str]) -> set[str]:
    """Return the files of the program among those of test ids: a doctest is in the file that it tests."""
    files = {path_of(test) for test in ids if is_doctest(test)}
    return {path for path in files if path.endswith(".py") and not is_test(path)}


def paths_named(command: str, files: Collection[str]) -> list[str]:
    """Return the files and folders of the workspace that a command names, also if it runs in a folder of it."""
    folders = {str(parent) for path in files for parent in PurePosixPath(path).parents}
    paths = [place for place in _places(command).values() if place]
    return [path for path in paths if path in files or (path in folders and path != ".")]


def _places(command: str) -> dict[str, str]:
    """Map each word of a command to the path in the workspace that it would name; empty if it cannot name one."""
    run = pytest_run(command)
    folder, parts = (run.folder, run.arguments) if run is not None else (".", words(command)[1:])
    places: dict[str, str] = {}
    for previous, word in zip(["", *parts], parts, strict=False):
        is_path = not word.startswith("-") and previous not in OPTIONS_WITH_VALUE
        places[word] = posixpath.normpath(posixpath.join(folder, path_of(word))) if is_path else ""
    return places


def find_unrun(command: str, ids: Iterable[str], files: Collection[str]) -> list[str]:
    """Return the test ids in files that a pytest command does not run, because it names other files and folders."""
    run = pytest_run(command)
    places = paths_named(command, files)
    if run is None or not places:
        return []
    unrun = []
    for test in ids:
        path = path_of(test)
        paths = {path, posixpath.normpath(posixpath.join(run.folder, path))} & {*files}
        if "::" in test and paths and not any(is_below(path, place) for path in paths for place in places):
            unrun.append(test)
    return unrun


def is_below(path: str, place: str) -> bool:
    """Whether a path is `place`, a file or a folder of the workspace, or in it."""
    return place in (".", path) or path.startswith(f"{place}/")


def test_files(command: str, ids: Iterable[str], files: Collection[str]) -> tuple[Pattern, ...]:
    """Return patterns of the files from which a verdict comes; agents may never change them."""
    from_ids = {path_of(test) for test in ids if "::" in test}
    patterns = {Pattern.literal(path) for path in from_ids if path in files}
    for path in paths_named(command, files):
        if path in files:
            patterns.update([Pattern.literal(path)] if is_test(path) or path.endswith(".py") else [])
        else:
            patterns.update(Pattern.below(path, name) for name in TEST_NAMES)
    return tuple(sorted(patterns)) or TEST_PATTERNS


def visible_command(command: str, files: Mapping[str, bytes], hidden: Mapping[str, bytes]) -> str:
    """Return the command without tests that only the hidden files have; empty if it runs no visible test.

    Nothing is put in the place of what is left out, so whoever runs this command runs no test that does not decide.
    """
    places = _places(command)
    workspace = {*files, *hidden}
    hidden_words = [
        word
        for word, place in places.items()
        if (_exists(place, hidden) or place.endswith(".py"))
        and (not _exists(place, files) or _is_new(place, word, hidden, files))
    ]
    targets = paths_named(command, workspace)
    visible = command
    if hidden_words:
        run = pytest_run(command)
        parts = words(command) if run is None or run.is_plain else run.arguments
        kept = [word for word in parts if word not in hidden_words]
        visible = shlex.join(kept) if run is None or run.is_plain else shell_command(run, kept)
        targets = [places[word] for word in kept if word in places and _exists(places[word], files)]
        if not targets:
            return ""
    targets = targets or ["."]
    is_secret = any(is_test_file(path) and any(is_below(path, place) for place in targets) for path in hidden)
    if is_secret and not any(path in files and not is_test_file(path) for path in targets):
        seen = (path for path in files if is_test_file(path) and PurePosixPath(path).name != "conftest.py")
        if not any(is_below(path, place) for path in seen for place in targets):
            return ""
    return visible


def _exists(place: str, files: Collection[str]) -> bool:
    return bool(place) and (place in files or any(path.startswith(f"{place}/") for path in files))


def _is_new(path: str, test: str, hidden: Mapping[str, bytes], files: Mapping[str, bytes]) -> bool:
    """Whether only the hidden version of its file defines a test function."""
    if "::" not in test or path not in hidden or path not in files:
        return False
    name = f"{path}{test.removeprefix(path_of(test))}"
    try:
        return bool(defining_id(hidden[path], name)) and not defining_id(files[path], name)
    except (SyntaxError, ValueError):
        return False


def shell_command(run: PytestRun, arguments: Iterable[str]) -> str:
    """Return the command line of a pytest run with these arguments."""
    folder = "" if run.folder == "." else f"cd {shlex.quote(run.folder)} && "
    variables = [f"{name}={shlex.quote(value)}" for name, value in run.variables.items()]
    return folder + " ".join([*variables, "python -m pytest", *map(shlex.quote, arguments)])


def can_be_named(path: str) -> bool:
    """Whether pytest can run a file by its path. It takes `[` and `::` for parts of a test's id."""
    return "[" not in path and "::" not in path


def as_argument(target: str) -> str:
    """Return the argument with which pytest runs a test, a file or a folder, whose name may begin like an option."""
    return f"./{target}" if target.startswith("-") else target
