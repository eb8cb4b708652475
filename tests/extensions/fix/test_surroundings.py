"""What a sandbox lacks is told apart from what the program does, before anybody plays."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import pluggy
import pytest

from stackrank.env.localisation.needs import inspect_surroundings
from stackrank.env.patches import make_diff
from stackrank.env.sandbox.client import Sandbox
from stackrank.extensions.fix.finding.judged import reproduce, set_aside_surroundings, task_of
from stackrank.extensions.fix.finding.problems import Problem
from stackrank.extensions.fix.finding.project import TestOptions, open_project
from stackrank.extensions.fix.finding.suite import Suite, run_suite
from stackrank.extensions.fix.leftovers import without_idle_edits, without_leftovers
from tests.extensions.fix.opening import opened, quiet
from tests.fixtures.env import usable
from tests.support.shop import git, repository

pytestmark = pytest.mark.slow

PROGRAM = """\
import datetime, shutil, subprocess

seen = []


def total(items):
    return sum(items[1:])


def version():
    return subprocess.run(["git", "rev-list", "--count", "HEAD"], capture_output=True, text=True).stdout.strip() or "0"


def weekday():
    return datetime.date.today().strftime("%A")


def formatter():
    return shutil.which("no-such-formatter")
"""
KINDS = {
    # test -> part of the reason; empty: the program's own fault.
    "assert total([1, 2]) == 3": "",
    "print(datetime.datetime.now()); assert total([4]) == 4": "",
    "open('/dev/null').close(); assert total([5, 1]) == 6": "",
    "assert version() == '1'": "git",
    "assert pathlib.Path('.git/HEAD').read_text()": "git",
    "assert formatter(), 'install it'": "no-such-formatter",
    "assert os.system('no-such-linter --check . && true') == 0": "no-such-linter",
    "subprocess.run(['no-such-server', '--port', '1'], check=True)": "no-such-server",
    "urllib.request.urlopen('http://stackrank.example/', timeout=2)": "network (stackrank.example)",
    "socket.create_connection(('192.0.2.7', 80), timeout=2)": "network (192.0.2.7)",
    "assert locale.setlocale(locale.LC_TIME, 'xx_YY.UTF-8')": "the locale xx_YY.UTF-8",
    "assert os.get_terminal_size().columns": "terminal",
    "assert 'NO_COLOR' not in os.environ": "NO_COLOR",
    "assert os.environ.get('COLUMNS', '80') == '80'": "COLUMNS",
    "assert time.strftime('%H', time.localtime(1719835200)) == '14'": "the time zone Europe/Berlin",
    "assert datetime.date.today() < datetime.date(2026, 1, 1)": "the date",
    "assert weekday() not in (datetime.datetime.fromtimestamp(START).strftime('%A'),)": "the date",
    "assert str(pathlib.Path.cwd()).endswith('other/place')": "where the project is",
    "pathlib.Path('/srv/app').mkdir()": "a place to write to",
    "assert zoneinfo.ZoneInfo('Mars/Olympus')": "time zone Mars/Olympus",
    "assert pathlib.Path('/etc/no-such-app/config.ini').read_text()": "/etc/no-such-app/config.ini",
}
HEAD = """\
import datetime, locale, os, pathlib, socket, subprocess, time, urllib.request, zoneinfo

import pytest
from shop import seen, formatter, total, version, weekday

START = {start}


def test_that_passes():
    os.system("true")
"""
UNSTABLE = """\
import datetime, os, pathlib
import pytest


@pytest.mark.parametrize("day", [datetime.date.today()], ids=str)
def test_day(day):
    assert day


@pytest.mark.parametrize("folder", [pathlib.Path.cwd()], ids=str)
def test_folder(folder):
    assert folder


@pytest.mark.parametrize("process", [os.urandom(4).hex()])
def test_process(process):
    assert not process


def test_wrong():
    assert 1 == 2
"""


@pytest.mark.exhaustive
def test_what_a_sandbox_lacks_is_told_from_what_the_program_does(tmp_path: Path) -> None:
    import time

    body = "".join(f"\n\ndef test_{number}():\n    {code}\n" for number, code in enumerate(KINDS))
    files = {"shop.py": PROGRAM, "test_shop.py": HEAD.format(start=time.time()) + body}
    project, backend = opened(tmp_path / "p", files), usable("bubblewrap")
    suite = set_aside_surroundings(project, backend, run_suite(project, backend, times=1), quiet)
    reasons = {code: suite.lacking.get(f"test_shop.py::test_{number}", "") for number, code in enumerate(KINDS)}
    reasons |= {
        code: "outside" for number, code in enumerate(KINDS) if f"test_shop.py::test_{number}" in suite.not_isolated
    }
    wrong = {
        code: (reasons[code], part)
        for code, part in KINDS.items()
        if (part not in reasons[code] and reasons[code] != "outside") or bool(part) != bool(reasons[code])
    }
    assert wrong == {}
    assert set(suite.failing) == {f"test_shop.py::test_{number}" for number in range(3)}


@pytest.mark.parametrize(
    ("right", "wrong"),
    [("self._name2plugin.get(name, -1) is None", "self._name2plugin.get(name) is None"), ("count = 0", "count = 1")],
)
def test_a_bug_in_what_pytest_runs_on_does_not_keep_tests_from_being_measured(
    tmp_path: Path, right: str, wrong: str
) -> None:
    package = Path(pluggy.__file__).parent
    files = {f"pluggy/{file.name}": file.read_text(encoding="utf-8") for file in package.glob("*.py")}
    assert right in files["pluggy/_manager.py"]
    files["pluggy/_manager.py"] = files["pluggy/_manager.py"].replace(right, wrong)
    files["test_manager.py"] = (
        "import os\n\nimport pluggy\n\n\ndef test_own():\n    assert not pluggy.PluginManager('shop').unblock('a')\n"
        "    assert pluggy.PluginManager('shop').load_setuptools_entrypoints('shop') == 0\n\n\n"
        "def test_git():\n    assert os.path.isdir('.git')\n"
    )
    project = opened(tmp_path / "p", files)
    tests = ["test_manager.py::test_own", "test_manager.py::test_git"]
    with Sandbox(usable("bubblewrap"), project.spec) as sandbox:
        found = inspect_surroundings(sandbox, project.files, "python -m pytest -q", tests, 60)
    assert set(found.lacking) == {"test_manager.py::test_git"}


def test_ids_that_change_are_said_at_once(tmp_path: Path) -> None:
    project, backend = opened(tmp_path / "p", {"test_ids.py": UNSTABLE}), usable("bubblewrap")
    suite = set_aside_surroundings(project, backend, run_suite(project, backend, times=2), quiet)
    reasons = {test.partition("[")[0].removeprefix("test_ids.py::"): reason for test, reason in suite.lacking.items()}
    assert reasons == {
        "test_day": "its id depends on the day",
        "test_folder": "its id depends on the folder",
        "test_process": "its id is another one in each process",
    }
    assert set(suite.failing) == {"test_ids.py::test_wrong"} and not suite.flaky


ORDER = {
    "shop.py": PROGRAM,
    "test_a.py": "import shop\n\n\ndef test_first():\n    shop.seen.append(1)\n",
    "test_b.py": (
        "import shop\n\n\ndef test_alone():\n    assert not shop.seen\n\n\n"
        "def test_total():\n    assert shop.total([1]) == 1\n\n\ndef test_neighbour():\n    pass\n"
    ),
    "test_c.py": "import shop\n\n\ndef test_only():\n    assert len(shop.seen) == 0\n",
}


def test_a_problem_fails_in_the_form_in_which_it_is_judged(tmp_path: Path) -> None:
    project, backend = opened(tmp_path / "p", ORDER), usable("bubblewrap")
    suite = run_suite(project, backend, times=1)
    alone, total, only = "test_b.py::test_alone", "test_b.py::test_total", "test_c.py::test_only"
    assert set(suite.failing) == {alone, total, only}
    problems = [
        Problem("b", "b", "b", (alone, total), suite, parts=((alone,), (total,))),
        Problem("c", "c", "c", (only,), suite),
    ]
    (problem,), reasons = reproduce(project, backend, problems)
    assert (problem.name, problem.tests, problem.parts) == ("b", (total,), ())
    assert alone not in problem.statement and total in problem.statement
    assert set(reasons) == {alone, only} and "tests that run before" in reasons[only]


@pytest.mark.parametrize(("test", "limit"), [("pytest test_b.py", 300), ("pytest", 300), ("pytest test_b.py", 7)])
def test_a_problem_has_a_time_limit_of_its_own(tmp_path: Path, test: str, limit: float) -> None:
    project, backend = opened(tmp_path / "p", ORDER, test=test, timeout_s=limit), usable("bubblewrap")
    suite = Suite(frozenset(), {"test_b.py::test_total": ""}, ())
    (problem,), _ = reproduce(project, backend, [Problem("b", "b", "b", ("test_b.py::test_total",), suite)])
    task = task_of(project, problem)
    assert task.limits.timeout_s == min(limit, max(20, math.ceil(10 * problem.seconds))) and problem.seconds > 0
    assert task_of(project, replace(problem, seconds=0.0)).limits.timeout_s == limit


@pytest.mark.parametrize("needs_file", [False, True])
def test_what_test_runs_left_behind_is_not_part_of_a_change(tmp_path: Path, needs_file: bool) -> None:
    code = "import pathlib\n\n\ndef total(items):\n    return sum(items[1:])\n"
    files = {
        "shop.py": code,
        "test_shop.py": "from shop import total\n\n\ndef test_it():\n    assert total([2]) == 2\n",
    }
    project, backend = opened(tmp_path / "p", {**files, "report.json": "{}\n"}), usable("bubblewrap")
    problem = Problem("a", "a", "a", ("test_shop.py::test_it",), run_suite(project, backend, times=1))
    read = "int(pathlib.Path('start.txt').read_text())" if needs_file else "0"
    fixed = code.replace("items[1:]", f"items[{read}:]")
    fix = {"shop.py": fixed, **({"start.txt": "0\n"} if needs_file else {})}
    left = {".coverage.host.7": "x\n", "htmlcov/index.html": "<p>\n", "report.json": '{"at": 7}\n', "scratch.py": "1\n"}
    old = dict(project.files)
    change = make_diff(old, {**old, **{path: text.encode() for path, text in {**fix, **left}.items()}})
    lean = make_diff(old, {**old, **{path: text.encode() for path, text in fix.items()}})
    assert without_leftovers(project, backend, problem, change) == lean
    assert without_leftovers(project, backend, problem, lean) == lean


def test_edits_that_make_no_difference_to_a_test_are_not_part_of_a_change(tmp_path: Path) -> None:
    code = """\
def is_less(a, b):
    return a < b


def is_least(items):
    return items[0] <= min(items[1:])


def total(items):
    return sum(items[1:])


def rest(items):
    return total(items)
"""
    files = {
        "shop.py": code,
        "test_rest.py": "from shop import rest\n\n\ndef test_it():\n    assert rest([4, 5]) == 5\n",
        "test_shop.py": "from shop import is_least, is_less, total\n\n\ndef test_it():\n    assert is_less(1, 2)\n"
        "    assert is_least([2, 3])\n    assert total([2]) == 2\n",
    }
    project, backend = opened(tmp_path / "p", files), usable("bubblewrap")
    problem = Problem("a", "a", "a", ("test_shop.py::test_it",), run_suite(project, backend, times=1))
    old = dict(project.files)
    fixed = code.replace("sum(items[1:])", "sum(items)").replace("total(items)\n", "total(items[1:])\n")
    needless = fixed.replace("a < b", "a <= b").replace("items[0] <= min", "items[0] < min")
    diffs = {
        name: make_diff(old, {**old, "shop.py": text.encode()})
        for name, text in (("needless", needless), ("fixed", fixed))
    }
    assert without_idle_edits(project, backend, problem, diffs["needless"]) == diffs["fixed"]
    assert without_idle_edits(project, backend, problem, diffs["fixed"]) == diffs["fixed"]


@pytest.mark.parametrize(
    ("imported", "call"),
    [
        ("from helpers import test_price", "test_price(2) == 4"),
        ("from helpers import check as test_it, test_price", "test_it(3) == 6"),
    ],
)
def test_a_function_that_a_test_file_imports_is_no_test(tmp_path: Path, imported: str, call: str) -> None:
    files = {
        "helpers.py": "def test_price(price):\n    return price * 2\n\n\ncheck = test_price\n",
        "test_shop.py": f"{imported}\n\n\ndef test_all():\n    assert {call}\n\n\ndef test_own(price):\n    pass\n",
    }
    project, backend = opened(tmp_path / "p", files), usable("bubblewrap")
    suite = run_suite(project, backend, times=1)
    assert not suite.failing and suite.passing == {"test_shop.py::test_all"}
    reasons = dict(suite.lacking)
    assert "needs the fixture price" in reasons.pop("test_shop.py::test_own")
    assert reasons and all("no test" in reason for reason in reasons.values())


@pytest.mark.parametrize("folder", ["tests/data set", "vendor/spec"])
def test_what_needs_a_file_of_a_submodule_is_set_aside(tmp_path: Path, folder: str) -> None:
    shared = repository(tmp_path / "shared", {"cases.txt": "1\n"})
    reading = f"open({folder + '/cases.txt'!r}).read()"
    files = {
        "test_case.py": f"def test_case():\n    assert {reading}\n\n\ndef test_own():\n    open('cases.txt')\n",
        "test_list.py": f"import os\n\nCASES = os.listdir({folder!r})\n\n\ndef test_all():\n    assert CASES\n",
        "test_text.py": f"import pathlib\n\npathlib.Path({folder!r}, 'cases.txt').read_text()\n",
    }
    repo = repository(tmp_path / "p", files)
    git(repo, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(shared), folder)
    git(repo, "commit", "-q", "-m", "With shared cases")
    suite = run_suite(open_project(repo, TestOptions(setup=())), usable("bubblewrap"), times=1)
    assert set(suite.failing) == {"test_case.py::test_own"}
    assert set(suite.lacking) == {"test_case.py::test_case", "test_list.py", "test_text.py"} and not suite.unread
    assert all(f"the submodule {folder}" in reason for reason in suite.lacking.values())
