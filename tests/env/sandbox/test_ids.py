"""Ids of tests are taken apart in one place, which reads odd folders and parameters right."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from stackrank.env.benchmarks.testfiles import defining_id, is_doctest, without_tests
from stackrank.env.sandbox.guest.testing import ids
from stackrank.env.sandbox.guest.testing.ids import function_of, parse_id, path_of
from stackrank.env.scoring.contradictions import find_candidates

ROOT = Path(__file__).parents[3]
ROOMS = ("agents", "dashboard", "db", "env", "extensions", "flows", "src")
BUGS = ROOT / "env" / "benchmarks" / "bugs"
LANGUAGES = ROOT / "extensions/languages"
"""Ids of tests in other languages, which have forms of their own."""
SPLITTERS = {"partition", "rpartition", "split", "rsplit", "find", "rfind", "index"}


@pytest.mark.parametrize(
    ("test", "path", "names", "parameters"),
    [
        ("a[1]/test_x.py::test_y[param]", "a[1]/test_x.py", ("test_y",), "[param]"),
        ("a[1]/test_x.py::TestY::test_y", "a[1]/test_x.py", ("TestY", "test_y"), ""),
        ("test_[x].py::test_y[1-2]", "test_[x].py", ("test_y",), "[1-2]"),
        ("a[b].py[c]/test_x.py::test_y[[]", "a[b].py[c]/test_x.py", ("test_y",), "[[]"),
        ("a::b/test_x.py::test_y[c]", "a::b/test_x.py", ("test_y",), "[c]"),
        ("test_x.py::test_y[a.py::b]", "test_x.py", ("test_y",), "[a.py::b]"),
        ("test_x.py::test_y[x\n::z]", "test_x.py", ("test_y",), "[x\n::z]"),
        ("guide [old].md::guide [old].md", "guide [old].md", ("guide [old].md",), ""),
        ("cases::test_y[a::b]", "cases", ("test_y",), "[a::b]"),
        ("a[1]/test_x.py", "a[1]/test_x.py", (), ""),
        ("", "", (), ""),
    ],
)
def test_an_id_is_taken_apart(test: str, path: str, names: tuple[str, ...], parameters: str) -> None:
    parsed = parse_id(test)
    assert parsed == (path, names, parameters)
    assert parsed.function + parsed.parameters == test
    assert (path_of(test), function_of(test)) == (path, parsed.function)


def test_tests_in_a_folder_with_brackets_can_be_contradicted_and_cut_out() -> None:
    path = "a[1]/test_x[2].py"
    content = (
        b"import pytest\n\n@pytest.mark.parametrize('n', [1, 2])\n"
        b"def test_y(n):\n    assert n * 2 == 2 * n\n    assert str(3) == '3'\n\n"
        b"class TestZ:\n    def test_z(self):\n        assert 1 + 1 == 2\n"
    )
    candidates = find_candidates(path, content, [f"{path}::test_y[1]", f"{path}::test_y[2]", f"{path}::TestZ::test_z"])
    assert {candidate.unit for candidate in candidates} >= {f"{path}::test_y", f"{path}::TestZ::test_z"}
    assert defining_id(content, f"{path}::TestZ::test_z") == f"{path}::TestZ::test_z"
    assert b"test_y" not in without_tests(content, [f"{path}::test_y[1]"], path)
    assert not is_doctest(f"{path}::test_y[a.b]")


def test_no_other_module_splits_ids() -> None:
    found = {
        f"{path.relative_to(ROOT)}:{line}"
        for room in ROOMS
        for path in (ROOT / room).rglob("*.py")
        if not path.is_symlink() and {BUGS, LANGUAGES}.isdisjoint(path.parents)
        if path != Path(ids.__file__).resolve()
        for line in _splits(path)
    }
    assert not found, "use stackrank.env.sandbox.guest.testing.ids"


def _splits(path: Path) -> Iterator[int]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args:
            first = node.args[0]
            is_separator = isinstance(first, ast.Constant) and first.value in ("::", "[", r"\[.*", ".py::")
            if is_separator and node.func.attr in {*SPLITTERS, "sub"}:
                yield node.lineno
