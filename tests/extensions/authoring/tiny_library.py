"""The source archive of a tiny library with tests, and a recipe that plants faults in it."""

from __future__ import annotations

import hashlib
import io
import tarfile
from collections.abc import Mapping
from pathlib import Path

import pytest
import yaml

from stackrank.env.benchmarks.base import Source
from stackrank.env.benchmarks.registry import load_benchmark
from stackrank.extensions.authoring.benchmarks.deep_recipe import Recipe, RecipeChange, digest_of, plant
from stackrank.extensions.authoring.benchmarks.deep_suite import Deep

BOOK = '''\
"""Names and their numbers."""


class Book:
    def __init__(self):
        self._numbers = {}
        self._found = {}

    def add(self, name, number):
        self._numbers[name] = number
        self._found.clear()

    def find(self, start, most=9):
        key = (start, most)
        if key not in self._found:
            self._found[key] = sorted(n for n in self._numbers if n.startswith(start))[:most]
        return list(self._found[key])
'''
OWN_TEST = """\
from tinybook import Book


def test_find_after_add():
    book = Book()
    book.add("ada", 1)
    assert book.find("a") == ["ada"]
    book.add("alan", 2)
    assert book.find("a") == ["ada", "alan"]


def test_second_find():
    book = Book()
    assert book.find("") == []
    book.add("bob", 3)
    assert book.find("b") == ["bob"]
    book.add("bea", 4)
    assert book.find("b") == ["bea", "bob"]
"""
# So that pip asks no index for a tool to build with.
BACKEND = """\
import pathlib


def prepare_metadata_for_build_wheel(folder, settings=None):
    made = pathlib.Path(folder, "tinybook-1.0.dist-info")
    made.mkdir()
    (made / "METADATA").write_text("Metadata-Version: 2.1\\nName: tinybook\\nVersion: 1.0\\n")
    return made.name


def build_wheel(folder, settings=None, metadata=None):
    raise NotImplementedError
"""
FILES = {
    "pyproject.toml": '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n',
    "backend.py": BACKEND,
    "PKG-INFO": "Metadata-Version: 2.1\nName: tinybook\nVersion: 1.0\n",
    "src/tinybook/__init__.py": BOOK,
    "tests/test_book.py": OWN_TEST,
    "tests/test_other.py": "from tinybook import Book\n\n\ndef test_empty():\n    assert Book().find('') == []\n",
    "tests/names.txt": "ada",
    "docs/index.md": "long",
}
REPORT_TEST = """\
from tinybook import Book


def test_the_new_name_is_found():
    book = Book()
    book.add("a", 1)
    assert book.find("") == ["a"]
    book.add("b", 2)
    assert book.find("") == ["a", "b"]
"""
CLEAR, SLICE = "src/tinybook/__init__.py:11:8-11:27", "src/tinybook/__init__.py:14:15-14:26"
OWN_TESTS = """\
import pytest

from tinybook import Book


def filled():
    book = Book()
    for number, name in enumerate(["ada", "alan", "bob"]):
        book.add(name, number)
    return book


def test_most():
    book = filled()
    assert book.find("a") == ["ada", "alan"]
    assert book.find("a", 1) == ["ada"]


class TestOrder:
    @pytest.mark.parametrize("most", [1, 2])
    def test_both(self, most):
        book = filled()
        assert book.find("", 3) == ["ada", "alan", "bob"]
        assert len(book.find("", most)) == most

    def test_all(self):
        assert filled().find("") == ["ada", "alan", "bob"]


def test_after_adding():
    book = filled()
    assert book.find("b") == ["bob"]
    book.add("ben", 9)
    assert book.find("b") == ["ben", "bob"]


def test_after_adding_twice():
    book = filled()
    assert book.find("c") == []
    book.add("cy", 9)
    book.add("cal", 9)
    assert book.find("c") == ["cal", "cy"]
"""


def publish(files: Mapping[str, str], folder: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Pack these files as the library's source archive, in a folder that pip takes packages from; return its hash."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        for path, text in files.items():
            info = tarfile.TarInfo(f"tinybook-1.0/{path}")
            info.size = len(text.encode())
            archive.addfile(info, io.BytesIO(text.encode()))
    folder.mkdir()
    (folder / "tinybook-1.0.tar.gz").write_bytes(buffer.getvalue())
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    return hashlib.sha256(buffer.getvalue()).hexdigest()


def recipe(sha256: str, *changes: RecipeChange, **fields: object) -> Recipe:
    """A recipe with one task that makes these changes."""
    planted = changes or (RecipeChange(place=CLEAR, write="self._found.pop(name, None)"),)
    task = {
        "id": "tinybook-new-name", "title": "A new name is not found", "statement": "It is not found.",
        "category": "state", "changes": [change.model_dump(exclude_defaults=True) for change in planted],
        "broken": digest_of(plant({path: text.encode() for path, text in FILES.items()}, planted)),
        "report": REPORT_TEST, "hidden": ["tests/test_book.py::test_find_after_add"],
        "hidden_report": REPORT_TEST.replace('"a"', '"c"').replace('"b"', '"d"'),
    }  # fmt: skip
    content = {
        "library": "tinybook", "version": "1.0", "sha256": sha256, "license": "MIT", "package": "src/tinybook",
        "options": "-o pythonpath=src", "omit": ["/docs/"], "suite": ["tests/test_other.py", "tests/test_book.py"],
        "tasks": [task],
    }  # fmt: skip
    return Recipe.model_validate({**content, **fields})


def stored(folder: Path, planted_recipe: Recipe, name: str = "deep") -> Deep:
    """The benchmark in a folder with this recipe."""
    folder.mkdir(exist_ok=True)
    (folder / "tinybook.yaml").write_text(yaml.safe_dump(planted_recipe.model_dump(exclude_defaults=True)))
    benchmark = load_benchmark(name, Source(folder))
    assert isinstance(benchmark, Deep)
    return benchmark
