"""Files of tests that cannot be imported: a problem of their own where the program is to blame."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from stackrank.env.benchmarks.repo_schema import read_tasks
from stackrank.env.scoring.report import TestReport
from stackrank.extensions.fix.finding import suite as suite_module
from stackrank.extensions.fix.finding.judged import reproduce
from stackrank.extensions.fix.finding.problems import find_problems, write_problems
from stackrank.extensions.fix.finding.project import TestOptions, open_project
from stackrank.extensions.fix.finding.suite import Suite, run_suite
from tests.extensions.fix.opening import opened, quiet
from tests.fixtures.calls import CommandLine
from tests.fixtures.env import usable
from tests.support.openai_server import OpenAIServer, call
from tests.support.shop import GIVEN, SHOP, git, repository, tree

BOX = ("--sandbox", "bubblewrap")
STOCK = """\
LIMIT = 3


def room(held):
    return LIMIT - held
"""
BAD_STOCK = STOCK.replace("LIMIT = 3", "LIMIT = LIMITS")
USES_STOCK = """\
from shop.stock import room


def test_room():
    assert room(1) == 2


def test_full():
    assert room(3) == 0
"""
FILES = {
    **SHOP,
    "shop/cart.py": GIVEN,
    "shop/stock.py": BAD_STOCK,
    "tests/test_stock.py": USES_STOCK,
    "tests/test_again.py": USES_STOCK,
}
NAME_ERROR = "NameError: name 'LIMITS' is not defined"


@pytest.mark.parametrize(
    ("message", "standing"),
    [
        ("ModuleNotFoundError: No module named 'freezing'", "unread"),
        ("ModuleNotFoundError: No module named 'freezing.deeper'", "unread"),
        ("ImportError: cannot import name 'x' from 'freezing'", "unread"),
        ("ModuleNotFoundError: No module named 'shop.store'", "failing"),
        ("ImportError: cannot import name 'room' from 'shop.stock'", "failing"),
        ("ImportError: cannot import name 'a' from partially initialized module 'shop.a' (most likely ...)", "failing"),
        ("SyntaxError: expected ':'", "failing"),
        ("PermissionError: [Errno 13] Permission denied: '/var/x'", "outside"),
    ],
)
def test_what_keeps_a_file_from_being_imported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, message: str, standing: str
) -> None:
    project = open_project(repository(tmp_path / "p", FILES), TestOptions())
    report = TestReport(
        {"a::b": "passed"}, complete=True, collect_errors=(f"tests/test_stock.py: {[f'E   {message}']}",)
    )
    monkeypatch.setattr(suite_module, "_run", lambda *_: suite_module.Run(report, set(), {}))
    suite = run_suite(project, usable("bubblewrap"), times=2)
    reasons = {
        "unread": any("tests/test_stock.py" in text for text in suite.unread),
        "failing": suite.failing == {"tests/test_stock.py": message},
        "outside": suite.not_isolated == ("tests/test_stock.py",),
    }
    assert [name for name, is_present in reasons.items() if is_present] == [standing]


@pytest.mark.parametrize("layout", ["libs/{}/src/{}/__init__.py", "libs/{}/{}.py", "{}/{}/deep/mod.py"])
def test_a_package_of_the_repository_that_is_not_installed_is_no_problem(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, layout: str
) -> None:
    module = layout.format("billing", "billing")
    folder = module.partition("billing")[0] + "billing"
    files = {**FILES, module: "x = 1\n", f"{folder}/pyproject.toml": "[project]\nname = 'billing'\n"}
    project = open_project(repository(tmp_path / "p", files), TestOptions())
    test = f"{folder}/tests/test_price.py"
    error = f"{test}: [\"E   ModuleNotFoundError: No module named 'billing'\"]"
    report = TestReport({"a::b": "passed"}, complete=True, collect_errors=(error,))
    monkeypatch.setattr(suite_module, "_run", lambda *_: suite_module.Run(report, set(), {}))
    suite = run_suite(project, usable("bubblewrap"), times=2)
    assert not suite.failing and f"name the folder {folder} as the project" in suite.unread[0]


def test_a_file_that_can_be_imported_now_and_then_is_flaky(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project = open_project(repository(tmp_path / "p", FILES), TestOptions())
    errors: Iterator[tuple[str, ...]] = iter([("tests/test_stock.py: ['E   NameError: x']",), ()])
    monkeypatch.setattr(
        suite_module,
        "_run",
        lambda *_: suite_module.Run(
            TestReport({"a::b": "passed"}, complete=True, collect_errors=next(errors)), set(), {}
        ),
    )
    suite = run_suite(project, usable("bubblewrap"), times=2)
    assert suite.flaky == ("tests/test_stock.py",) and not suite.failing and not suite.unread


def test_a_file_passes_when_all_of_its_tests_do() -> None:
    passing = frozenset({"tests/test_a.py::test_x", "tests/test_ab.py::test_x", "deep/b/test_c.py::test_z"})
    suite = Suite(passing, {"tests/test_a.py::test_y": "why", "tests/test_d.py": "NameError"}, ("tests/test_e.py",))
    names = ("tests/test_a.py", "tests/test_ab.py", "deep/b", "tests/test_d.py", "tests/test_e.py", "tests/test_f.py")
    assert [suite.outcome(name) for name in names] == ["failed", "passed", "passed", "failed", "flaky", "missing"]


@pytest.mark.slow
def test_files_that_one_mistake_keeps_from_being_imported_are_one_problem(tmp_path: Path) -> None:
    project, box = open_project(repository(tmp_path / "shop", FILES), TestOptions()), usable("bubblewrap")
    suite = run_suite(project, box, times=2)
    assert suite.failing == dict.fromkeys(("tests/test_again.py", "tests/test_stock.py"), NAME_ERROR)
    assert len(suite.passing) == 5 and not suite.unread
    (problem,) = find_problems(project, suite, box, quiet)
    assert problem.tests == ("tests/test_again.py", "tests/test_stock.py") and NAME_ERROR in problem.statement
    assert problem.title == "tests/test_again.py cannot be imported, and 1 more"
    (task,) = read_tasks(write_problems(project, [problem], tmp_path / "out"))[0].tasks
    assert not task.fail_to_pass and not task.pass_to_pass
    assert "tests/test_again.py tests/test_stock.py" in task.test


@pytest.mark.slow
@pytest.mark.parametrize(
    ("conftest", "options", "passing", "targets"),
    [
        ("conftest.py", {}, 0, ""),
        ("tests/conftest.py", {}, 0, " tests"),
        ("tests/conftest.py", {"test": "pytest tests/test_cart.py"}, 0, " tests/test_cart.py"),
        ("checks/deep/conftest.py", {}, 5, " checks/deep tests/test_stock.py"),
    ],
)
def test_tests_whose_conftest_the_program_breaks_are_one_problem(
    tmp_path: Path, conftest: str, options: dict[str, Any], passing: int, targets: str
) -> None:
    files = {name: content for name, content in FILES.items() if name != "tests/test_again.py"}
    files |= {conftest: "from shop.stock import LIMIT\n", "checks/deep/test_deep.py": "def test_deep():\n    pass\n"}
    project, box = opened(tmp_path / "shop", files, **options), usable("bubblewrap")
    suite = run_suite(project, box, times=2)
    assert suite.failing[conftest] == NAME_ERROR and len(suite.passing) == passing
    assert suite.outcome(conftest) == "failed"
    problems, reasons = reproduce(project, box, find_problems(project, suite, box, quiet))
    (problem,) = problems
    assert not reasons and problem.title.startswith(f"{conftest} cannot be imported")
    (task,) = read_tasks(write_problems(project, [problem], tmp_path / "out"))[0].tasks
    assert not task.fail_to_pass and task.test.endswith(f"no:cacheprovider{targets}" if not options else targets)
    mended = run_suite(project, box, {"shop/stock.py": STOCK.encode()}, times=1)
    assert not mended.failing and mended.outcome(conftest) == "passed"


@pytest.mark.slow
@pytest.mark.usefixtures("prefect_server")
@pytest.mark.parametrize("alone", [False, True], ids=["beside others", "the whole suite"])
def test_from_an_import_error_to_a_patch(
    stackrank: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, alone: bool
) -> None:
    files = {name: content for name, content in FILES.items() if not (alone and name == "tests/test_cart.py")}
    shop, out = repository(tmp_path / "shop", files), tmp_path / "out"
    tree_before = tree(shop)

    def script(request: dict[str, Any]) -> Any:
        assert NAME_ERROR in json.dumps(request["messages"])
        turns = sum(message["role"] == "assistant" for message in request["messages"])
        if turns == 0:  # the files can be imported then, and their tests fail
            return call("rewrite", path="shop/stock.py", new_code=STOCK.replace("3", "4"))
        if turns == 1:
            return call("eval")
        if turns == 2:
            assert "test_room" in json.dumps(request["messages"][-1])
            return call("rewrite", path="shop/stock.py", new_code=STOCK)
        return call("submit")

    with OpenAIServer(script, key="sk-test") as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
        flags = ("--agent", "llm", "--model", "scripted", "--tools", "rewrite", "--repeat", "2", *BOX, "--json")
        document = stackrank("fix", str(shop), "--out", str(out), *flags).json()
    assert document["suite"] == {"passed": 0 if alone else 5, "failed": 2, "flaky": 0, "unread": 0}
    (proposal,) = document["proposals"]
    assert not document["without"] and proposal["tests"] == ["tests/test_again.py", "tests/test_stock.py"]
    evidence = proposal["evidence"]
    assert evidence["target"] == {test: ["failed", "passed"] for test in proposal["tests"]}
    assert evidence["fixed"] == proposal["tests"] and not evidence["regressions"]
    assert evidence["suite_after"] == {"passed": 4 if alone else 9, "failed": 0, "flaky": 0, "unread": 0}
    assert stackrank("review", "1", "--approve").status == 0
    git(tmp_path, "clone", "-q", str(shop), "clean")
    (patch,) = out.glob("0001-*.patch")
    git(tmp_path / "clean", "am", "-q", str(patch))
    assert (tmp_path / "clean/shop/stock.py").read_text() == STOCK and tree(shop) == tree_before
    solved = stackrank("validate", "repo", "--path", str(out / "solved"), "--rounds", "1", *BOX, "--json").json()
    assert [task["valid"] for task in solved["tasks"]] == [True]
