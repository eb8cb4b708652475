"""Which files of tests are loaded when some tests run."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import PurePosixPath

from stackrank.env.benchmarks.testfiles import is_test
from stackrank.env.sandbox.guest.testing.ids import path_of

_IMPORT = re.compile(rb"^[ \t]*(?:from[ \t]+(\.*[\w.]*)[ \t]+import[ \t]+\(?([^#\n)]*)|import[ \t]+([\w., \t]+))", re.M)
_PLUGIN = re.compile(rb"""["'](\w+(?:\.\w+)+)["']""")
"""The name of a module in a text, as `pytest_plugins` has them."""


def loaded_tests(files: Mapping[str, bytes], targets: Iterable[str]) -> list[str]:
    """Return the Python files of tests that a run of `targets` loads: theirs, every conftest.py, and what these import.

    Without targets, or if none of them is a file or a folder of tests, all of them.
    """
    tests = {path for path in files if path.endswith(".py") and is_test(path)}
    places = [path_of(target).removeprefix("./").rstrip("/") for target in targets]
    named = {path for path in tests if any(path == place or path.startswith(f"{place}/") for place in places)}
    if not named:
        return sorted(tests)
    loaded: set[str] = set()
    pending = [*named, *(path for path in files if PurePosixPath(path).name == "conftest.py")]
    while pending:
        path = pending.pop()
        if path not in loaded:
            loaded.add(path)
            names = [name.replace(".", "/") for name in _modules(path, files[path])]
            pending += [file for name in names for file in (f"{name}.py", f"{name}/__init__.py") if file in tests]
    return sorted(loaded)


def _modules(path: str, content: bytes) -> Iterator[str]:
    """Yield the dotted names of modules that a file may import, seen from the top folder."""
    for module, names, plain in _IMPORT.findall(content):
        if plain:
            yield from (name.split()[0] for name in plain.decode().split(",") if name.strip())
            continue
        name = module.decode().lstrip(".")
        if dots := len(module) - len(name):
            folder = PurePosixPath(path).parents[min(dots, len(PurePosixPath(path).parents)) - 1]
            name = ".".join(part for part in (*folder.parts, name) if part)
        yield name
        yield from (f"{name}.{word.split()[0]}" for word in names.decode().split(",") if word.strip())
    if PurePosixPath(path).name == "conftest.py":
        yield from (name.decode() for name in _PLUGIN.findall(content))
