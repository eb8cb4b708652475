"""`stackrank fix`: repositories, folders and suites that are of no use, and what is said of them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from stackrank.env.benchmarks.base import BenchmarkError
from stackrank.env.scoring.report import TestReport
from stackrank.extensions.fix.commands import next_steps
from stackrank.extensions.fix.finding import suite as suite_module
from stackrank.extensions.fix.finding.project import TestOptions, list_own_loaders, open_project
from stackrank.extensions.fix.finding.suite import run_suite, select_broken_since
from tests.extensions.fix.opening import opened
from tests.fixtures.calls import CommandLine
from tests.fixtures.env import usable
from tests.support.shop import GIVEN, SHOP, git, repository, tree, write

BOX = ("--sandbox", "bubblewrap")


# ---- repositories of no use


def _no_git(folder: Path) -> None:
    write(folder, SHOP)


def _dirty(folder: Path) -> None:
    (repository(folder) / "shop/cart.py").write_text(GIVEN)


def _staged(folder: Path) -> None:
    _dirty(folder)
    git(folder, "add", "-A")


def _empty(folder: Path) -> None:
    folder.mkdir()
    git(folder, "init", "-q")


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (_no_git, "is not in a git repository"),
        (_dirty, "has uncommitted changes (shop/cart.py)"),
        (_staged, "has uncommitted changes (shop/cart.py)"),
        (_empty, "has no commits yet"),
    ],
)
def test_a_repository_of_no_use(stackrank: CommandLine, tmp_path: Path, make: Any, words: str) -> None:
    shop = tmp_path / "shop"
    make(shop)
    tree_before = tree(shop)
    result = stackrank("fix", str(shop), "--agent", "random", "--out", str(tmp_path / "out"), *BOX)
    assert (result.status, words in result.sentence()) == (2, True), result.err
    assert tree(shop) == tree_before and not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("entrant", "words"),
    [
        (("--agent", "random", "--model", "x"), "uses no model"),
        (("--agent", "llm"), "needs a model"),
        (("--agent", "oracle"), "needs known fixes"),
        (("--agent", "random", "--tools", "investigate"), "does not use"),
    ],
)
def test_an_entrant_of_no_use_is_refused_before_a_suite_runs(
    stackrank: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, entrant: tuple[str, ...], words: str
) -> None:
    monkeypatch.setattr(suite_module, "_run", lambda *_: pytest.fail("the suite ran"))
    shop = repository(tmp_path / "shop")
    result = stackrank("fix", str(shop), *entrant, "--out", str(tmp_path / "out"), *BOX)
    assert (result.status, words in result.sentence()) == (2, True), result.err
    assert not (tmp_path / "out").exists()


def test_an_output_inside_of_the_repository(stackrank: CommandLine, tmp_path: Path) -> None:
    shop = repository(tmp_path / "shop")
    (tmp_path / "link").symlink_to(shop)
    for out in (shop, shop / "proposals", tmp_path / "link" / "x"):
        result = stackrank("fix", str(shop), "--agent", "random", "--out", str(out), *BOX)
        assert result.status == 2 and "stackrank never changes" in result.sentence()
    local = stackrank("fix", str(shop), "--agent", "random", "--out", str(tmp_path / "o"), "--sandbox", "local")
    assert local.status == 2 and "tests could change your files" in local.sentence()
    assert git(shop, "status", "--porcelain") == ""


@pytest.mark.parametrize(("tag", "version"), [("", "0"), ("v1.2.3rc1", "1.2.3")])
@pytest.mark.parametrize(
    "files",
    [
        {"pyproject.toml": '[build-system]\nrequires = ["flit_core", "flit_scm"]\n[project]\nname = "p"\n'},
        {"pyproject.toml": '[build-system]\nrequires = ["hatchling", "hatch-vcs"]\n[project]\nname = "p"\n'},
        {"setup.py": "from setuptools import setup\nsetup(use_scm_version=True)\n"},
    ],
)
def test_a_version_that_git_knows(tmp_path: Path, files: dict[str, str], tag: str, version: str) -> None:
    folder = repository(tmp_path / "p", {**SHOP, **files})
    if tag:
        git(folder, "tag", tag)
    (command,) = open_project(folder, TestOptions()).environment.setup
    assert command == f"SETUPTOOLS_SCM_PRETEND_VERSION={version} python -m pip install -q -e ."


# ---- suites


@pytest.mark.slow
def test_what_tests_need_and_nobody_has(stackrank: CommandLine, tmp_path: Path) -> None:
    build_system = '[build-system]\nrequires = ["setuptools"]\n[project]\nname = "shop"\nversion = "1"\n'
    files = {**SHOP, "pyproject.toml": build_system, "requirements/tests.txt": "stackrank-has-no-such-package==1\n"}
    shop, out = repository(tmp_path / "shop", files), tmp_path / "out"
    refused = stackrank("fix", str(shop), "--agent", "random", "--out", str(out), *BOX)
    assert refused.status == 2 and not out.exists()
    assert "stackrank-has-no-such-package" in refused.err and "state with --setup how" in refused.err


@pytest.mark.slow
def test_files_of_tests_that_cannot_be_imported_are_named(stackrank: CommandLine, tmp_path: Path) -> None:
    frozen = "from freezing import freeze\n\n\ndef test_now():\n    assert freeze()\n"
    shop = repository(tmp_path / "shop", {**SHOP, "shop/cart.py": GIVEN, "tests/test_frozen.py": frozen})
    result = stackrank("fix", str(shop), "--agent", "random", "--out", str(tmp_path / "out"), *BOX, "--json")
    (unread,) = result.json()["set_aside"]["unread"]
    assert result.json()["suite"]["unread"] == 1
    assert "tests/test_frozen.py" in unread and "freezing" in unread
    assert "the tests in files that need a missing module did not run" in result.err and "--require" in result.err


def test_what_several_runs_agree_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runs = [
        {"good": "passed", "expected": "xfailed", "bad": "failed", "flaky": "passed", "now and then": "failed"},
        {"good": "passed", "expected": "passed", "bad": "failed", "flaky": "failed", "skipped": "skipped"},
    ]
    runs = [{f"tests/test_it.py::{name}": outcome for name, outcome in outcomes.items()} for outcomes in runs]
    good, expected, bad, flaky, now_and_then, skipped = (
        f"tests/test_it.py::{name}" for name in ("good", "expected", "bad", "flaky", "now and then", "skipped")
    )
    project = opened(tmp_path / "p", SHOP)
    for reports in (runs, runs[::-1]):
        report_iterator = iter([TestReport(outcomes, {bad: "assert 1 == 2"}, complete=True) for outcomes in reports])
        monkeypatch.setattr(
            suite_module,
            "_run",
            lambda *_, report_iterator=report_iterator: suite_module.Run(next(report_iterator), set(), {}),
        )
        suite = run_suite(project, usable("bubblewrap"), times=2)
        assert suite.passing == {good, expected} and suite.failing == {bad: "assert 1 == 2"}
        assert suite.flaky == (flaky, now_and_then, skipped)


@pytest.mark.parametrize(
    ("message", "program", "set_aside"),
    [
        ("ModuleNotFoundError: No module named 'extra'", "", "the module extra"),
        ("ModuleNotFoundError: No module named 'extra.deep'", "", ""),  # the package is there
        ("ModuleNotFoundError: No module named 'yaml'", "import yamlish\n", "the module yaml"),
        ("ModuleNotFoundError: No module named 'yaml'", "def f():\n    import yaml\n", ""),
        ("ModuleNotFoundError: No module named 'shop'", "", ""),
        ("assert \"No module named 'extra'\" == ''", "", ""),
    ],
)
def test_a_module_that_only_tests_need_is_no_problem_of_the_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, message: str, program: str, set_aside: str
) -> None:
    report = TestReport({"a": "failed", "b": "passed"}, {"a": message}, complete=True)
    monkeypatch.setattr(suite_module, "_run", lambda *_: suite_module.Run(report, set(), {}))
    suite = run_suite(opened(tmp_path / "p", {**SHOP, "shop/more.py": program}), usable("bubblewrap"), times=2)
    assert set_aside in suite.lacking.get("a", "") and ("a" in suite.failing) == (not set_aside)


@pytest.mark.parametrize(("long_s", "times"), [(0.0, 2), (0.0, 3), (60.0, 2)])
def test_a_suite_that_takes_long_is_said_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, long_s: float, times: int
) -> None:
    runs, messages = [], list[tuple[int, str]]()
    monkeypatch.setattr(suite_module, "_LONG_S", long_s)
    report = TestReport({"a": "passed", "b": "failed"}, complete=True)
    monkeypatch.setattr(suite_module, "_run", lambda *_: suite_module.Run(runs.append(1) or report, set(), {}))
    project = opened(tmp_path / "p", SHOP)
    run_suite(project, usable("bubblewrap"), times=times, say=lambda message: messages.append((len(runs), message)))
    assert len(runs) == times and [number for number, _ in messages] == ([1] if long_s == 0 else [])
    assert all("up to 4 of them" in message and "--test" in message for _, message in messages)


@pytest.mark.slow
def test_a_test_that_writes_outside(tmp_path: Path) -> None:
    tests = (
        "def test_good():\n    pass\n\n\ndef test_bad():\n    assert 1 == 2\n\n\n"
        "def test_outside():\n    open('/etc/stackrank-was-here', 'w')\n"
    )
    suite = run_suite(opened(tmp_path / "p", {"test_it.py": tests}), usable("bubblewrap"), times=2)
    assert suite.passing == {"test_it.py::test_good"} and list(suite.failing) == ["test_it.py::test_bad"]
    assert suite.not_isolated == ("test_it.py::test_outside",) and not suite.flaky
    assert not Path("/etc/stackrank-was-here").exists()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("fixture", "conftest", "aside"),
    [
        ("benchmark", "", True),
        ("mocker", "def mocked():\n    pass\n", True),
        ("till", "def till():\n    pass\n", False),
    ],
)
def test_a_test_that_needs_a_plug_in(tmp_path: Path, fixture: str, conftest: str, aside: bool) -> None:
    test = f"def test_it({fixture}):\n    pass\n"
    project = opened(tmp_path / "p", {"test_it.py": test, "conftest.py": conftest})
    suite = run_suite(project, usable("bubblewrap"), times=2)
    assert [*(suite.lacking if aside else suite.failing)] == ["test_it.py::test_it"]
    assert (f"needs the fixture {fixture}" in "".join(suite.lacking.values())) is aside


OLD_NAME = "import warnings\n\nwarnings.simplefilter('error')\nwarnings.warn('use another name', "


@pytest.mark.slow
@pytest.mark.parametrize(
    ("test", "timeout_s", "words"),
    [
        ("def test_it():\n    assert 1 == 2\n", 60, "no test of p passes"),
        ("import nothing_such\n", 60, "no test of p passes"),
        ("def test_it():\n    raise OSError(101, 'Network is unreachable')\n", 60, "a server, a network or a place"),
        ("def test_it():\n    open('/etc/x', 'w')\n", 60, "a server, a network or a place"),
        (f"{OLD_NAME}DeprecationWarning)\n", 60, "allow warnings with --test 'python -m pytest -W default'"),
        (f"conftest.py: {OLD_NAME}FutureWarning)\n", 60, "allow warnings with --test 'python -m pytest -W default'"),
        ("import time\n\n\ndef test_it():\n    time.sleep(600)\n", 1, "do not end within 1 s"),
        ("x = 1\n", 60, "pytest finds no tests in p: name them with --test"),
        ("pytest.ini: [pytest\n", 60, "correct pytest.ini, which pytest cannot read"),
        ("pyproject.toml: [tool.pytest\n", 60, "correct pyproject.toml, which pytest cannot read"),
        ("conftest.py: def pytest_ignore_collect(collection_path, paths):\n    pass\n", 60, "--require 'pytest<8'"),
        ("conftest.py: def pytest_report_header(config, start):\n    pass\n", 60, "--require 'pytest<8'"),
    ],
)
def test_a_suite_of_no_use(stackrank: CommandLine, tmp_path: Path, test: str, timeout_s: float, words: str) -> None:
    file, _, text = test.partition(": ") if re.match(r"[\w.]+: ", test) else ("test_it.py", "", test)
    project = repository(tmp_path / "p", {"test_it.py": "def test_it():\n    pass\n", file: text})
    tree_before = tree(project)
    flags = ("--agent", "random", "--out", str(tmp_path / "out"), "--timeout", str(timeout_s), "--repeat", "2")
    result = stackrank("fix", str(project), *flags, *BOX)
    assert (result.status, words in result.sentence()) == (2, True), result.err
    assert tree(project) == tree_before and not (tmp_path / "out").exists()


@pytest.mark.slow
def test_only_what_a_change_broke(tmp_path: Path) -> None:
    shop = repository(tmp_path / "shop", {**SHOP, "shop/cart.py": GIVEN.replace("price > best", "price < best")})
    write(shop, SHOP)
    git(shop, "commit", "-qam", "Breaks another")
    project, backend = open_project(shop, TestOptions()), usable("bubblewrap")
    suite = run_suite(project, backend, times=2)
    assert len(suite.failing) == 3
    changed = select_broken_since(project, backend, suite, "HEAD~1", times=2)
    assert sorted(changed.failing) == ["tests/test_cart.py::test_discount", "tests/test_cart.py::test_total"]
    with pytest.raises(BenchmarkError, match="has no commit nowhere"):
        select_broken_since(project, backend, suite, "nowhere", times=2)


@pytest.mark.slow
def test_what_tests_leave_and_why_they_do_not_run(tmp_path: Path) -> None:
    tests = "def test_it():\n    open('left.bin', 'wb').write(b'\\xff')\n"
    suite = run_suite(opened(tmp_path / "p", {"test_it.py": tests}), usable("bubblewrap"), times=2)
    assert suite.leaves == {"left.bin"} and suite.passing == {"test_it.py::test_it"}
    project = opened(tmp_path / "q", {"test_it.py": tests, "pytest.ini": "[pytest]\naddopts = --no-such-option\n"})
    with pytest.raises(BenchmarkError, match="unrecognized arguments: --no-such-option"):
        run_suite(project, usable("bubblewrap"), times=2)


# ---- test commands


MONOREPO = {f"services/billing/{path}": text for path, text in SHOP.items()} | {"services/mailer/text.py": "x = 1\n"}


@pytest.mark.parametrize(
    ("place", "test", "command"),
    [
        (".", "cd services/billing && pytest -q", "python -m pytest -q"),
        (".", "cd services; cd ./billing; python -m pytest tests", "python -m pytest tests"),
        (
            "services",
            "cd billing && RATE=1.5 pytest -x tests/test_cart.py",
            "RATE=1.5 python -m pytest -x tests/test_cart.py",
        ),
        ("services/mailer", "bash -c 'cd ../billing && pytest'", "python -m pytest"),
        ("services/billing", "RATE='a b' py.test", "RATE='a b' python -m pytest"),
    ],
)
def test_a_command_that_goes_to_a_folder_tests_the_project_there(
    tmp_path: Path, place: str, test: str, command: str
) -> None:
    mono = repository(tmp_path / "mono", MONOREPO)
    project = open_project(mono / place, TestOptions(test, ()))
    assert project.subdir == "services/billing" and project.command.whole().strip() == command
    assert "shop/cart.py" in project.files and project.in_repository("") == ""


@pytest.mark.parametrize(
    ("test", "words"),
    [
        ("cd ../elsewhere && pytest", "which is outside of the repository: name a folder in it"),
        ("cd /tmp && pytest", "which is outside of the repository: name a folder in it"),
        *(
            (runner, "does not run pytest directly: name the pytest command")
            for runner in ("tox -e py", "nox", "make test")
        ),
        ("python manage.py test", "pytest runs the tests of unittest, too"),
        ("python -m unittest discover -s tests", "pytest runs the tests of unittest, too"),
    ],
)
def test_a_command_of_no_use(tmp_path: Path, test: str, words: str) -> None:
    with pytest.raises(BenchmarkError, match=words):
        open_project(repository(tmp_path / "shop"), TestOptions(test, ()))


def test_files_that_choose_their_tests_for_unittest_are_named(tmp_path: Path) -> None:
    files = {
        "src/words/tests.py": "import doctest\n\n\ndef test_suite():\n    return doctest.DocFileSuite('words.rst')\n",
        "tests/test_words.py": "def load_tests(loader, tests, pattern):\n    return tests\n",
        "tests/test_more.py": "def test_suite_of_words():\n    def load_tests():\n        pass\n",
        "words/loading.py": "def load_tests(loader, tests, pattern):\n    return tests\n",
    }
    assert list_own_loaders(opened(tmp_path / "words", files)) == ["src/words/tests.py", "tests/test_words.py"]


@pytest.mark.parametrize(
    ("later", "flaky", "lacking"),
    [
        (["failed", "failed"], [], []),
        (["failed", "passed"], ["tests/test_bad.py::test_b"], []),
        (["passed", "passed"], [], ["tests/test_bad.py::test_b"]),
    ],
)
def test_only_files_with_a_failing_test_run_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, later: list[str], flaky: list[str], lacking: list[str]
) -> None:
    good, bad, outcomes = "tests/test_good.py::test_a", "tests/test_bad.py::test_b", iter(["failed", *later])
    ran: list[Any] = []

    def run(project: Any, backend: Any, changed: Any, only: Any) -> suite_module.Run:
        ran.append([*only])
        kept = {} if only else {good: "passed"}
        return suite_module.Run(TestReport({**kept, bad: next(outcomes)}, complete=True), set(), {})

    monkeypatch.setattr(suite_module, "_run", run)
    project = opened(tmp_path / "p", {**SHOP, "tests/test_good.py": "", "tests/test_bad.py": ""})
    suite = run_suite(project, usable("bubblewrap"), times=3)
    assert ran == [[], ["tests/test_bad.py"], ["tests/test_bad.py"]] and suite.passing == {good}
    assert [*suite.flaky] == flaky and [*suite.lacking] == lacking
    assert [*suite.failing] == ([bad] if later == ["failed", "failed"] else [])


def test_a_decided_proposal_is_not_to_be_decided_again() -> None:
    """As when the folder of proposals was deleted, and the same command is given again."""
    rows = [{"id": 4, "status": "approved"}, {"id": 5, "status": "rejected"}, {"id": 7, "status": "open"}]
    for count in (1, 2, 3):
        text = "\n".join(next_steps(rows[:count], "a folder"))
        assert "stackrank review 4 --out 'a folder'" in text and "review 4 --approve" not in text
        assert ("Proposal 5 is already rejected" in text) == (count > 1) and "review 5 --approve" not in text
        assert ("stackrank review 7 --approve" in text) == (count == 3)
