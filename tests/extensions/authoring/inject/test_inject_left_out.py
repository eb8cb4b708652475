"""Tests of a project that injection leaves out, or that notice no bug."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from stackrank.env.benchmarks.base import Source
from stackrank.env.benchmarks.repo import Repo
from stackrank.env.benchmarks.testfiles import is_doctest
from stackrank.env.environment import Environment
from stackrank.extensions.authoring.inject.injection import Injection, Tally
from stackrank.extensions.authoring.inject.plant import plant
from stackrank.extensions.authoring.inject.reach import Reach
from tests.extensions.authoring.inject.test_inject import PROJECT, project, session, silent
from tests.fixtures.env import usable

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    ("test", "expected"),
    [
        ("src/shop/stock.py::shop.stock.Stock", True),
        ("numbers_.py::numbers_", True),
        ("shop/__init__.py::shop", True),
        ("docs/use.rst::use.rst", True),
        ("tests/test_a.py::test_a", False),
        ("tests/test_a.py::TestA::test_b[1.5]", False),
        ("test_a.py::test_a", False),
    ],
)
def test_doctests_are_known_by_their_ids(test: str, expected: bool) -> None:
    assert is_doctest(test) is expected


@pytest.mark.exhaustive
def test_a_few_tests_that_fail_anyway_are_left_out(tmp_path: Path) -> None:
    template = "def test_{0}():\n    assert price('small', {0}) == {0} * 2\n"
    many = "\n".join(map(template.format, range(1, 31)))
    test_files = {f"tests/test_more_{number}.py": "def test_it():\n    pass\n" for number in range(4)}
    broken = "def test_of_this_machine():\n    open('/no/such/file')\n"
    test_files |= {"tests/test_many.py": f"from shop.stock import price\n\n{many}\n{broken}"}
    files = project({**PROJECT, **test_files, "tests/test_tool.py": "import nowhere\n"})
    injection = session(tmp_path, files, count=1)
    reach = injection.reach()
    assert reach.left_out == ("tests/test_tool.py", "tests/test_many.py::test_of_this_machine")
    assert Reach.from_json(reach.to_json()).left_out == reach.left_out
    assert len(reach.tests) == 39
    (bug,) = injection.bugs(reach, silent)
    assert "--ignore=tests/test_tool.py --deselect=tests/test_many.py::test_of_this_machine" in bug[1].command


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("pytest.ini", "[pytest]\naddopts = --maxfail=1\n"),
        ("setup.cfg", "[tool:pytest]\naddopts = -q -x\n"),
        ("tox.ini", "[pytest]\naddopts = --exitfirst\n"),
    ],
)
def test_tests_run_although_the_project_stops_at_its_first_failure(tmp_path: Path, name: str, settings: str) -> None:
    template = "def test_{0}():\n    assert price('small', {0}) == {0} * 2\n"
    many = "\n".join(map(template.format, range(1, 31)))
    test_files = {"tests/test_a.py": "def test_of_this_machine(benchmark):\n    pass\n"}
    test_files |= {"tests/test_many.py": f"from shop.stock import price\n\n{many}", name: settings}
    injection = session(tmp_path, project({**PROJECT, **test_files}), count=1)
    reach = injection.reach()
    assert reach.left_out == ("tests/test_a.py::test_of_this_machine",) and len(reach.tests) > 30
    (bug,) = injection.bugs(reach, silent)
    assert "--deselect=tests/test_a.py::test_of_this_machine" in bug[1].command


def test_tests_whose_ids_change_are_left_out(tmp_path: Path) -> None:
    numbers = """
        import os
        import pytest
        from shop.stock import price

        @pytest.mark.parametrize("number", range(40))
        def test_numbers(number):
            assert price("small", number + 1) == 2 * number + 2

        @pytest.mark.parametrize("process", [os.getpid()])
        def test_process(process):
            assert price("small", 1) == 2
    """
    files = project({**PROJECT, "tests/test_numbers.py": numbers})
    reach = session(tmp_path, files).reach()
    assert reach.unstable == ("tests/test_numbers.py::test_process",)
    assert len(reach.passing) == len(reach.tests) - 1
    assert Reach.from_json(reach.to_json()).unstable == reach.unstable


@pytest.mark.exhaustive
def test_examples_in_docstrings_notice_no_bugs(tmp_path: Path) -> None:
    """Their ids would name the function of the fault, and they stand in the file that has to be mended."""
    example = '"""Twice.\n\n    >>> double(2)\n    4\n    """'
    code = f"def double(x):\n    {example}\n    return 2 * x\n\ndef half(x):\n    return x // 2\n"
    files = {
        "numbers_.py": code.encode(),
        "test_it.py": b"from numbers_ import half\n\ndef test_half():\n    assert half(6) == 3\n",
        "pytest.ini": b"[pytest]\naddopts = --doctest-modules\n",
    }
    injection = session(tmp_path, files, count=9)
    reach = injection.reach()
    assert len(reach.tests) == 2 and not reach.only_doctests
    tallies: list[Tally] = []
    bugs = injection.bugs(reach, tallies.append)
    assert {candidate.function for candidate, _ in bugs} == {"half"}
    assert tallies[-1].problems["only doctests reach it"]


def test_a_bug_that_does_not_show_as_it_is_judged_is_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    find_bugs, broken = Injection.bugs, set[str]()

    def find_one_that_its_command_does_not_run(*arguments: Any) -> list[Any]:
        (mutant, verified), *others = bugs = find_bugs(*arguments)
        if broken and mutant.key not in broken:  # it was found useless
            return bugs
        broken.add(mutant.key)
        other_test = "python -m pytest -q tests/test_stock.py::test_nothing"
        return [(mutant, replace(verified, command=other_test)), *others]

    monkeypatch.setattr(Injection, "bugs", find_one_that_its_command_does_not_run)
    for path, content in project().items():
        place = tmp_path / "shop" / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content)
    lines: list[str] = []
    where = {"out": tmp_path / "out", "backend": usable("bubblewrap"), "environment": Environment()}
    how = {"count": 2, "seed": 1, "test": None, "timeout_s": 30, "workers": 2}
    planted = plant(tmp_path / "shop", **where, **how, say=lines.append, on_tally=silent)  # type: ignore[arg-type]
    assert any(line.startswith("shop-001 is left out: with the fix, ") for line in lines)
    assert planted.left_out == 1 and broken.isdisjoint(mutant.key for mutant, _ in planted.bugs)
    assert len(planted.bugs) == 2 == len(Repo(Source(tmp_path / "out")).tasks())
