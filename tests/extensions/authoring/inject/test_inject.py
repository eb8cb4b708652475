"""Bugs planted in a project: projects of no use first, then the operators, then a whole small benchmark."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
import yaml

from stackrank.env.benchmarks.base import BenchmarkError, Source
from stackrank.env.benchmarks.python_project.pytest_command import TestCommand, default_command, project_command
from stackrank.env.benchmarks.repo import Repo
from stackrank.env.environment import Environment
from stackrank.env.sandbox.base import SandboxError, spec_for
from stackrank.env.sandbox.client import Sandbox
from stackrank.env.validate import validate
from stackrank.extensions.authoring.inject.candidates import Mutant, find_candidates
from stackrank.extensions.authoring.inject.injection import Injection, InjectionOptions, Tally
from stackrank.extensions.authoring.inject.operators import OPERATORS
from stackrank.extensions.authoring.inject.reach import Reach
from stackrank.extensions.authoring.inject.verify import Project, Verified, time_limit
from stackrank.extensions.authoring.inject.write import write_benchmark, write_source
from tests.fixtures.env import source, usable
from tests.support.waiting import run_out

pytestmark = pytest.mark.slow

STOCK = """
    RATES = {"small": 2, "large": 5}


    def price(size, count):
        if count < 1:
            raise ValueError("nothing to sell")
        return RATES[size] * count


    class Stock:
        def __init__(self, goods=None):
            self.goods = dict(goods or {})
            self.sold = 0

        def add(self, name, count):
            self.goods[name] = self.goods.get(name, 0) + count

        def take(self, name, count):
            if self.goods.get(name, 0) < count:
                raise KeyError(name)
            self.goods[name] -= count
            self.sold += price("small", count)
            return self.goods[name]

        def never_tested(self):
            return self.goods == {}
"""
TESTS = """
    import pytest
    from shop.stock import Stock, price

    @pytest.mark.parametrize("size, count, expected", [("small", 1, 2), ("large", 3, 15)])
    def test_price(size, count, expected):
        assert price(size, count) == expected

    def test_nothing():
        with pytest.raises(ValueError):
            price("small", 0)

    def test_take():
        stock = Stock({"cup": 3})
        stock.add("cup", 2)
        assert stock.take("cup", 5) == 0
        assert stock.sold == 10

    def test_too_many():
        with pytest.raises(KeyError):
            Stock().take("cup", 1)
"""
PROJECT = {"src/shop/__init__.py": "", "src/shop/stock.py": STOCK, "tests/test_stock.py": TESTS}


def project(files: Mapping[str, str] = PROJECT) -> dict[str, bytes]:
    return {path: source(text) for path, text in files.items()}


def session(
    folder: Path,
    files: Mapping[str, bytes],
    count: int = 5,
    seed: int = 1,
    test: str = "",
    timeout_s: float = 30,
    setup: tuple[str, ...] = (),
) -> Injection:
    command = project_command(test, files)
    options = InjectionOptions(count, seed, command, Environment(setup=setup), timeout_s=timeout_s)
    return Injection(usable("bubblewrap"), files, options, folder)


def silent(tally: Tally) -> None:
    pass


_LONG = "number" * 500
_MANY = f"@pytest.mark.parametrize('number', range(2_500))\ndef test_{_LONG}(number):\n    pass\n"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"tests/test_stock.py": "x = 1\n"}, "no tests were found"),
        ({"tests/test_stock.py": "import tests.nowhere\n"}, "'tests.nowhere', which is not among the project's files"),
        (
            {"tests/test_stock.py": "import yaml\n", "shop/formats/yaml.py": "", "shop/formats/__init__.py": ""},
            "which --require yaml may install",
        ),
        (
            {"tests/test_stock.py": "import tables\n", "lib/tables/__init__.py": "", "shop/tables.py": ""},
            "--test '... -o pythonpath=lib'",
        ),
        ({"tests/test_stock.py": "import nowhere\n"}, "No module named 'nowhere', which --require nowhere may install"),
        (
            {"tests/test_stock.py": TESTS.replace("== 10", "== 11")},
            "1 of its tests fail in the original project, most often with ",
        ),
        ({"tests/test_stock.py": TESTS.replace("== 10", "== 11")}, "--deselect=tests/test_stock.py::"),
        (
            {"tests/test_stock.py": "import os\n\ndef test_it():\n    pass\n\ndef test_exit():\n    os._exit(0)\n"},
            "ends the process that runs them all, perhaps tests/test_stock.py::test_exit: leave it out with --test ",
        ),
        (
            {"tests/test_stock.py": f"import pytest\n\n{_MANY}"},
            "2,500 tests are more than the report of one run holds: name some of their files with --test",
        ),
        ({"tests/test_stock.py": "import psycopg\n"}, "No module named 'psycopg' (a sandbox has no database server"),
        ({"conftest.py": "import nowhere\n"}, "pytest does not start: ModuleNotFoundError: No module named 'nowhere'"),
        pytest.param(
            {"tests/test_stock.py": "import time\n\ndef test_it():\n    time.sleep(600)\n"},
            "do not end within",
            marks=pytest.mark.exhaustive,
        ),
        ({"pytest.ini": "[pytest]\naddopts = --no-such-option\n"}, "pytest does not start: "),
    ],
)
def test_a_project_of_no_use_is_said(tmp_path: Path, change: dict[str, str], words: str) -> None:
    timeout_s = run_out(1) if "sleep" in str(change) else 120
    with pytest.raises(BenchmarkError) as error:
        session(tmp_path, project({**PROJECT, **change}), timeout_s=timeout_s).reach()
    assert words in str(error.value)


def test_tests_that_reach_nothing_that_could_be_changed(tmp_path: Path) -> None:
    files = project({"code.py": "x = 1\n", "test_it.py": "import code\n\ndef test_it():\n    pass\n"})
    injection = session(tmp_path, files)
    with pytest.raises(BenchmarkError):
        injection.bugs(injection.reach(), silent)


@pytest.mark.parametrize("command", ["make test", "python -m unittest", "pytest tests | grep -c passed"])
def test_only_plain_pytest(command: str) -> None:
    with pytest.raises(BenchmarkError, match="does not run pytest directly"):
        TestCommand.of(command, PROJECT)


def test_a_command_is_taken_apart() -> None:
    command = TestCommand.of("pytest -q -k 'not slow' ./tests tests/test_stock.py::test_take", PROJECT)
    assert command.targets == ("./tests", "tests/test_stock.py::test_take")
    assert command.on(["a.py"], "-x") == "python -m pytest -q -k 'not slow' -x a.py"
    assert command.on(["-a/x y.py", "--b_test.py"]).endswith(" './-a/x y.py' ./--b_test.py")
    deselecting = TestCommand.of("pytest -q --deselect tests/test_stock.py --ignore=tests", PROJECT)
    assert (deselecting.options, deselecting.targets) == (
        ("-q", "--deselect", "tests/test_stock.py", "--ignore=tests"),
        (),
    )
    assert "pythonpath=src" in default_command(project()) and "src" not in default_command({"a.py": b""})
    configured = {**PROJECT, "pytest.ini": "[pytest]\npythonpath = src tests\n"}
    assert "pythonpath" not in default_command(project(configured))


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ("addopts = -x --sw", "-p no:cacheprovider -o addopts=-x"),
        ("addopts = --mypy --ruff=x --strict-markers", "-p no:cacheprovider -o addopts=--strict-markers"),
        ("addopts = --flake8 --cov", "-p no:cacheprovider -o addopts=--cov"),
        ("addopts = --last-failed-no-failures=all --ff --cache-clear --pdb", "-p no:cacheprovider -o addopts="),
        ("addopts = -m 'not slow' --lf", """-p no:cacheprovider -o 'addopts=-m '"'"'not slow'"'"''"""),
        ("addopts = -x --strict-markers", "-p no:cacheprovider"),
        ("cache_dir = .cache", "-o cache_dir=/tmp/pytest-cache"),
    ],
)
def test_the_default_command_does_not_depend_on_earlier_runs(settings: str, expected: str) -> None:
    files = {"a.py": b"", "pytest.ini": f"[pytest]\n{settings}\n".encode()}
    command = default_command(files)
    assert command == f"python -m pytest -q {expected}"
    assert TestCommand.of(command, files).targets == ()


@pytest.mark.parametrize("name", ["pyproject.toml", "setup.cfg"])
def test_linters_that_a_plug_in_adds_are_no_tests(name: str) -> None:
    assert default_command({name: b"# pytest-enabler >= 2"}) == "python -m pytest -q -p no:cacheprovider -p no:enabler"


def proposals(code: str, operator: str) -> set[str]:
    """What an operator makes of the body of a function."""
    text = textwrap.dedent(code).strip("\n") + "\n"
    reach = Reach(("t",), (0.0,), (frozenset({0}),), {"a.py": dict.fromkeys(range(1, text.count("\n") + 1), 0)})
    mutants = [mutant for mutant in find_candidates({"a.py": text.encode()}, reach, 0) if mutant.operator == operator]
    return {mutant.source().decode() for mutant in mutants}


EXAMPLES = [
    ("boundary", "def f(x):\n    return x < 1\n", "return x <= 1"),
    ("wrong-comparison", "def f(x, y):\n    return x in y\n", "return x not in y"),
    ("wrong-operator", "def f(x):\n    return x + 1\n", "return x - 1"),
    ("wrong-update", "def f(x):\n    x += 1\n    return x\n", "x -= 1"),
    ("wrong-update", "def f(x):\n    x += 1\n    return x\n", "x = 1"),
    ("wrong-connective", "def f(x, y):\n    return x and y\n", "return x or y"),
    ("negated-condition", "def f(x):\n    if not x:\n        return 1\n", "if x:"),
    ("wrong-constant", "def f():\n    return 7\n", "return 8"),
    ("off-by-one", "def f(x):\n    return x[1:len(x)]\n", "x[1:len(x) - 1]"),
    ("off-by-one", "def f(x):\n    return range(x)\n", "range(1, x)"),
    ("off-by-one", "def f(x, i):\n    return x[i]\n", "x[i - 1]"),
    ("swapped-arguments", "def f(x, y):\n    return g(x, y)\n", "g(y, x)"),
    ("dropped-argument", "def f(x):\n    return g(x, key=len)\n", "g(x)"),
    ("wrong-method", "def f(x):\n    return x.strip()\n", "x.lstrip()"),
    ("wrong-function", "def f(x):\n    return min(x)\n", "max(x)"),
    ("shared-copy", "def f(x):\n    return list(x)\n", "return x\n"),
    ("shared-copy", "def f(x):\n    return x[:]\n", "return x\n"),
    ("wrong-variable", "def f(a, b):\n    return a\n", "return b"),
    ("missing-await", "async def f(x):\n    return await x()\n", "return x()"),
    ("missing-lock", "def f(self):\n    with self.lock:\n        self.n = 1\n    g()\n", "    self.n = 1\n    g()"),
    ("swapped-branches", "def f(x):\n    return 1 if x else 2\n", "2 if x else 1"),
    ("removed-guard", "def f(x):\n    if not x:\n        return 0\n    return 1\n", "def f(x):\n    return 1"),
    ("stale-state", "def f(self):\n    self.x = 1\n    return 2\n", "def f(self):\n    return 2"),
    ("moved-statement", "def f(s):\n    s.a = 1\n    b = s.a\n    return b\n", "b = s.a\n    s.a = 1"),
    ("swallowed-exception", "def f():\n    raise E\n", "return None"),
    ("wrong-exception", "def f():\n    try:\n        g()\n    except KeyError:\n        pass\n", "except IndexError:"),
    ("wrong-exception", "def f():\n    try:\n        g()\n    except (A, B):\n        pass\n", "except A:"),
    ("dropped-return", "def f(x):\n    return g(x)\n", "def f(x):\n    g(x)"),
    ("wrong-jump", "def f(x):\n    for y in x:\n        if y:\n            break\n", "continue"),
    (
        "mutable-default",
        "def f(x=None):\n    if x is None:\n        x = []\n    x.append(1)\n    return x\n",
        "def f(x=[]):\n    x.append(1)",
    ),
]


@pytest.mark.parametrize(("operator", "code", "expected"), EXAMPLES)
def test_operators(operator: str, code: str, expected: str) -> None:
    sources = proposals(code, operator)
    assert any(expected in text for text in sources), sources
    for text in sources:
        compile(text, "a.py", "exec")
        assert text != code


def test_the_rest_of_a_file_stays_as_it_is() -> None:
    code = "# -*- coding: latin-1 -*-\r\ndef f(x):\r\n    return x < 1  # \u00e9\r\n\x0c\r\nNAME = '\u00fc'"
    reach = Reach(("t",), (0.0,), (frozenset({0}),), {"a.py": {3: 0}})
    for text in (code.encode("latin-1"), code.encode(), code.replace("latin-1", "utf-8").encode()):
        (mutant,) = [
            candidate for candidate in find_candidates({"a.py": text}, reach, 0) if candidate.operator == "boundary"
        ]
        assert mutant.source() == text.replace(b"<", b"<=")


def test_tests_hang_that_take_many_times_as_long_with_a_bug() -> None:
    tests = ("test_a.py::test_x", "test_a.py::test_y", "test_b.py::test_z")
    project = Project({}, TestCommand.of("pytest", []), Reach(tests, (0.25, 0.25, 4.0), (), {}), timeout_s=120.0)
    limits = [time_limit(project, reaching) for reaching in (tests[:1], tests[:2], tests[2:], tests)]
    assert limits == [20.0, 20.0, 60.0, 60.0]


def test_candidates_of_a_long_table_are_not_compared_with_each_other(monkeypatch: pytest.MonkeyPatch) -> None:
    """A table of thousands of entries, which is one statement, would take many minutes."""
    table = "".join(f"        {number},\n" for number in range(200))
    code = f"def f(x):\n    table = [\n{table}    ]\n    return table[x]\n"
    reach = Reach(("t",), (0.0,), (frozenset({0}),), {"a.py": dict.fromkeys(range(1, code.count("\n") + 1), 0)})
    asked: list[Mutant] = []
    lines_of = Mutant.lines.fget
    monkeypatch.setattr(Mutant, "lines", property(lambda mutant: asked.append(mutant) or lines_of(mutant)))  # type: ignore[misc, func-returns-value]
    mutants = find_candidates({"a.py": code.encode()}, reach, 0)
    assert len(asked) < len(mutants) > 200 and any(" and " in mutant.key for mutant in mutants)


def test_every_operator_has_an_example() -> None:
    assert {operator.name for operator in OPERATORS} == {name for name, _, _ in EXAMPLES}


def test_only_lines_that_tests_alone_reach_are_changed() -> None:
    code = "def f(x):\n    if x > 1:\n        return 1\n    return 0\n\n\nBOUND = 3 < 4\n"
    groups = (frozenset({0}), frozenset({-1}), frozenset({0, -1}))
    reach = Reach(("t",), (0.0,), groups, {"a.py": {1: 1, 2: 0, 3: 2, 7: 1}})
    candidates = find_candidates({"a.py": code.encode()}, reach, 0)
    assert candidates and all(mutant.lines <= {2} for mutant in candidates if "+" not in mutant.operator)


def test_a_benchmark_of_bugs(tmp_path: Path) -> None:
    files = project()
    injection = session(tmp_path, files, count=6)
    tallies: list[Tally] = []
    bugs = injection.bugs(injection.reach(), tallies.append)
    assert len(bugs) == 6 and tallies[-1].bugs >= 6
    write_source(tmp_path, files)
    write_benchmark(tmp_path, "shop", files, bugs, Environment(), 30)
    benchmark = Repo(Source(tmp_path))
    tasks = benchmark.tasks()
    assert len(tasks) == 6 and not benchmark.excluded()
    assert len({task.files["src/shop/stock.py"] for task in tasks}) == 6  # no two the same
    touched = [line for task in tasks for fault in task.faults for line in fault.lines]
    assert touched and all("never_tested" not in fault.functions for task in tasks for fault in task.faults)
    for task in tasks:
        assert task.fail_to_pass and task.difficulty in ("easy", "medium", "hard") and task.category
        assert not task.may_edit("tests/test_stock.py") and task.may_edit("src/shop/stock.py")
        assert not any(path.startswith("state/") or path == "tasks.yaml" for path in task.files)
    result = validate(tasks[0], lambda spec: Sandbox(usable("bubblewrap"), spec), rounds=2)
    assert result.valid, result.reason

    # Again: the same bugs, and nothing is run, however many work on it.
    def refuse(*_: object) -> None:
        raise AssertionError("a sandbox was started")

    resumed = Injection(_Refusing(refuse), files, injection._options, tmp_path)
    same_bugs = resumed.bugs(resumed.reach(), silent)
    assert [(mutant.key, verified) for mutant, verified in same_bugs] == [
        (mutant.key, verified) for mutant, verified in bugs
    ]
    text = (tmp_path / "tasks.yaml").read_text()
    write_benchmark(tmp_path, "shop", files, same_bugs, Environment(), 30)
    assert (tmp_path / "tasks.yaml").read_text() == text
    assert len(yaml.safe_load(text)["tasks"]) == 6


@pytest.mark.exhaustive
def test_a_project_that_has_to_be_set_up(tmp_path: Path) -> None:
    needs = "import shop._made\n\ndef test_made():\n    assert shop._made.MADE == 7\n"
    files = project({**PROJECT, "tests/test_made.py": needs})
    setup = "echo 'MADE = 7' > src/shop/_made.py"
    with pytest.raises(BenchmarkError, match="--setup"):
        session(tmp_path, files).reach()
    copying = session(tmp_path, files, setup=(setup, "cp -r src/shop /opt/environment/lib/python3*/site-packages"))
    copying.prepare(lambda message: None)
    with pytest.raises(BenchmarkError, match=r"setup copies the project .*site-packages/shop/stock.py"):
        copying.reach()
    injection = session(tmp_path, files, count=1, setup=(setup,))
    injection.prepare(lambda message: None)
    bugs = injection.bugs(injection.reach(), silent)
    write_source(tmp_path, files)
    write_benchmark(tmp_path, "the shop+", files, bugs, injection._options.environment, 30)
    (task,) = Repo(Source(tmp_path)).tasks()
    assert task.id == "the-shop-001"
    box = usable("bubblewrap")
    box.prepare(spec_for(task))
    result = validate(task, lambda spec: Sandbox(box, spec), rounds=1)
    assert result.valid, result.reason


class _Refusing:
    """A backend that must not be asked."""

    name = "refusing"

    def __init__(self, refuse: Callable[..., None]) -> None:
        self.start = refuse


def test_another_seed_makes_other_bugs(tmp_path: Path) -> None:
    files = project()
    reach = session(tmp_path, files).reach()
    mutants, repeated, differing = (find_candidates(files, reach, seed) for seed in (1, 1, 2))
    assert [mutant.key for mutant in mutants] == [mutant.key for mutant in repeated]
    assert [mutant.key for mutant in mutants] != [mutant.key for mutant in differing]
    assert len({mutant.key for mutant in mutants}) == len(mutants)
    assert any(len(mutant.changes) == 2 for mutant in mutants)


def test_a_sandbox_that_fails_is_replaced_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = project()
    injection = session(tmp_path, files, count=1)
    reach = injection.reach()
    calls: list[str] = []

    def verify(sandbox: Sandbox, project: object, candidate: Mutant) -> Verified:
        calls.append(sandbox.name)
        if len(calls) == 1:
            raise SandboxError("gone")
        return Verified(candidate.key, "", "python -m pytest", ("t",), (), "hard")

    monkeypatch.setattr("stackrank.extensions.authoring.inject.injection.verify", verify)
    assert len(injection.bugs(reach, silent)) == 1

    def always(sandbox: Sandbox, project: object, candidate: Mutant) -> Verified:
        raise SandboxError("gone")

    monkeypatch.setattr("stackrank.extensions.authoring.inject.injection.verify", always)
    with pytest.raises(SandboxError):
        session(tmp_path, {**files, "more.txt": b"1"}, count=1).bugs(reach, silent)
