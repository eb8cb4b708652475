"""What a test command and a patch say about which files are tests."""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection, Iterable, Mapping
from pathlib import PurePosixPath

from pathspec import GitIgnoreSpec

from stackrank.env.benchmarks.base import BenchmarkError
from stackrank.env.sandbox.guest.commands import pytest_run

TEST_PATTERNS = ("test_*.py", "*_test.py", "tests.py", "conftest.py")
_TESTS = GitIgnoreSpec.from_lines([*TEST_PATTERNS, "tests/**", "testing/**", "test/**"])


def is_test(path: str) -> bool:
    """Whether a path is one of a test, by its name or its folder."""
    return _TESTS.match_file(path)


def check_command(command: str) -> str:
    """The command itself. Raises BenchmarkError for one that runs pytest in a way that hides what each test came to."""
    if re.search(r"\b(pytest|py\.test)\b", command) and pytest_run(command) is None:
        raise BenchmarkError(
            f"{command!r} runs pytest in a way that cannot be followed: write one command such as "
            "`cd folder && NAME=value python -m pytest tests`, and what has to be done before it into `setup`"
        )
    return command


def words(command: str) -> list[str]:
    """The words of a command; none where it cannot be split."""
    try:
        return shlex.split(command)
    except ValueError:
        return []


def with_doctests(ids: Iterable[str]) -> set[str]:
    """The files of the program among those of test ids: a doctest stands in what it tests.

    pytest calls a doctest by its dotted name, and a whole module's by the module's.
    """
    found = set()
    for test in ids:
        path, _, name = test.partition("::")
        place = PurePosixPath(path)
        module = place.parent.name if place.stem == "__init__" else place.stem
        dotted = "." in name.partition("[")[0] or (name == module and not name.startswith("test"))
        if place.suffix == ".py" and not is_test(path) and dotted:
            found.add(path)
    return found


def named(command: str, files: Collection[str]) -> list[str]:
    """The files and folders that a command names."""
    folders = {str(parent) for path in files for parent in PurePosixPath(path).parents}
    found = [word.partition("::")[0].removeprefix("./").rstrip("/") for word in words(command)[1:]]
    return [each for each in found if each in files or (each in folders and each not in ("", "."))]


def test_files(command: str, ids: Iterable[str], files: Collection[str]) -> tuple[str, ...]:
    """Gitignore patterns of the files that a verdict comes from: never an agent's to change."""
    from_ids = {test.partition("::")[0] for test in ids if "::" in test}
    patterns = {f"/{path}" for path in from_ids if path in files}
    for path in named(command, files):
        if path in files:
            patterns.add(f"/{path}" if is_test(path) or path.endswith(".py") else "")
        else:
            patterns.update(f"/{path}/**/{pattern}" for pattern in TEST_PATTERNS)
    return tuple(sorted(patterns - {""})) or TEST_PATTERNS


def scoring_command(command: str, hidden: Mapping[str, bytes], files: Collection[str]) -> str | None:
    """The command with hidden test files that it does not reach by itself; None where it reaches all."""
    places = named(command, {*files, *hidden})
    if not places or "pytest" not in command:
        return None  # pytest without paths finds them
    tests = [path for path in sorted(hidden) if PurePosixPath(path).match("test_*.py") or path.endswith("_test.py")]
    more = [path for path in tests if not any(path == each or path.startswith(f"{each}/") for each in places)]
    return " ".join([command, *map(shlex.quote, more)]) if more else None


def visible_command(command: str, files: Collection[str]) -> str:
    """The command without test files that do not exist yet; where none does, with the folder of the first."""
    parts = words(command)
    paths = {word: word.partition("::")[0] for word in parts[1:]}
    missing = [word for word, path in paths.items() if path.endswith(".py") and path not in files]
    if not missing:
        return command
    kept = [word for word in parts if word not in missing]
    if not named(" ".join(kept), files):
        folders = {str(parent) for path in files for parent in PurePosixPath(path).parents}
        kept.append(
            next(str(each) for each in PurePosixPath(paths[missing[0]]).parents if str(each) in {*folders, "."})
        )
    return shlex.join(kept)
