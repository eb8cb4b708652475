"""The pytest command of a project, split so that it can be run for other tests."""

from __future__ import annotations

import fnmatch
import re
import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

from stackrank.env.benchmarks.base import BenchmarkError
from stackrank.env.benchmarks.python_project.pytest_settings import django_variables, pytest_settings, rooting_options
from stackrank.env.benchmarks.testfiles import OPTIONS_WITH_VALUE, as_argument, shell_command
from stackrank.env.sandbox.guest.testing.commands import PytestRun, pytest_run
from stackrank.env.sandbox.guest.testing.ids import path_of
from stackrank.env.sandbox.guest.testing.requests import REPORT_LIMIT
from stackrank.env.scoring.report import TestReport
from stackrank.wording import count_of


@dataclass(frozen=True)
class TestCommand:
    """A pytest command, split into options and targets."""

    __test__ = False

    options: tuple[str, ...]
    targets: tuple[str, ...]
    variables: tuple[tuple[str, str], ...] = ()
    """Names and values that the command sets in the environment."""

    @classmethod
    def of(cls, command: str, files: Iterable[str]) -> TestCommand:
        """Parse a command. Raises BenchmarkError if it does not run pytest once, in the project's own folder."""
        run = pytest_run(command)
        if run is None:
            raise BenchmarkError(
                f"{command!r} does not run pytest directly: name the pytest command, such as `python -m pytest -q "
                "tests`; pytest runs the tests of unittest, too"
            )
        if run.folder != ".":
            inside = shell_command(run._replace(folder="."), run.arguments)
            raise BenchmarkError(
                f"{command!r} runs in the folder {run.folder}: name that folder as the project, with --test {inside!r}"
            )
        arguments = run.arguments
        places = {*files, *(str(parent) for path in files for parent in PurePosixPath(path).parents)}
        options: list[str] = []
        targets: list[str] = []
        for previous, word in zip(["", *arguments], arguments, strict=False):
            is_place = path_of(word).removeprefix("./").rstrip("/") in places
            (targets if is_place and previous not in OPTIONS_WITH_VALUE else options).append(word)
        return cls(tuple(options), tuple(targets), tuple(run.variables.items()))

    def arguments(self, targets: Iterable[str] | None = None) -> list[str]:
        """Return the arguments of pytest for these files or tests, or for all of the command's."""
        return [*self.options, *map(as_argument, self.targets if targets is None else targets)]

    def on(self, targets: Iterable[str], *options: str) -> str:
        """Return the command for these files or tests, with more options."""
        run = PytestRun([], ".", dict(self.variables))
        return shell_command(run, [*self.options, *options, *map(as_argument, targets)])

    def without(self, tests: Iterable[str]) -> TestCommand:
        """Return the command that leaves these tests, or files, out."""
        options = (f"--{'deselect' if '::' in target else 'ignore'}={target}" for target in tests)
        return replace(self, options=(*self.options, *options))

    def whole(self, *options: str) -> str:
        """Return the command for all tests."""
        return self.on(self.targets, *options)

    def why_unfinished(self, report: TestReport, size: int) -> str:
        """Say why a run of all tests, whose report has this many bytes, has no end, and what to do."""
        tests = count_of(len(report.outcomes), "test")
        if size >= REPORT_LIMIT:
            return f"{tests} are more than the report of one run holds: name some of their files with --test"
        waiting = next((test for test, outcome in report.outcomes.items() if outcome == "missing"), "")
        hint = f", perhaps {waiting}: leave it out with --test {shlex.quote(self.whole(f'--deselect={waiting}'))}"
        ended = f"one of {tests} ends the process that runs them all"
        return ended + (hint if waiting else ": name tests that do not, with --test")


_OF_EARLIER_RUNS = {
    "--lf", "--last-failed", "--ff", "--failed-first", "--nf", "--new-first", "--lfnf", "--last-failed-no-failures",
    "--sw", "--stepwise", "--sw-skip", "--stepwise-skip", "--sw-reset", "--stepwise-reset", "--cache-clear",
    "--cache-show", "--pdb", "--trace",
}  # fmt: skip
"""Options with which a run depends on earlier ones, or waits for somebody to type."""
_OF_LINTERS = {
    "--black", "--checkdocs", "--flake8", "--isort", "--mypy", "--pycodestyle", "--pydocstyle", "--pylint", "--ruff",
    "--ruff-format",
}  # fmt: skip
"""Options with which the findings of a linter count as tests, although they say nothing about what a program does."""
_DESCRIPTIONS = ("pyproject.toml", "setup.cfg", "setup.py")


def project_command(given: str | None, files: Mapping[str, bytes]) -> TestCommand:
    """Return the given command for a project's tests, with paths from the project's folder, or else the default one.

    Raises BenchmarkError.
    """
    command = TestCommand.of(given or default_command(files), files)
    says_where = any(re.match("-c|--config-file|--rootdir", option) for option in command.options)
    if says_where or not rooting_options(files):
        return command
    return replace(command, options=(*command.options, "--rootdir=."))


def default_command(files: Mapping[str, bytes]) -> str:
    """Return the default command for a project's tests.

    It puts a `src` folder that is not installed on the path, unless the project itself says what is on the path. If no
    file has a name that pytest looks for, or Django's own runner tests the project, the files that unittest and Django
    look for are named.
    """
    in_src = any(path.startswith("src/") and path.endswith(".py") for path in files)
    in_src = in_src and "pythonpath" not in pytest_settings(files)
    options = ["-o pythonpath=src" if in_src else "", _unittest_names(files)]
    return " ".join(filter(None, [command_start(files), *options]))


def command_start(files: Mapping[str, bytes]) -> str:
    """Return a project's pytest command without its tests. No run depends on an earlier one, and Django is set up."""
    variables = "".join(f"{name}={shlex.quote(value)} " for name, value in django_variables(files).items())
    return f"{variables}python -m pytest -q {' '.join([_independent_options(files), *rooting_options(files)])}"


def _unittest_names(files: Mapping[str, bytes]) -> str:
    """Return the option with which pytest finds tests in files whose names only unittest looks for."""
    names = {PurePosixPath(path).name for path in files}
    has_usual_names = any(fnmatch.filter(names, pattern) for pattern in ("test_*.py", "*_test.py"))
    if "python_files" in pytest_settings(files) or (has_usual_names and not django_variables(files)):
        return ""
    return "-o python_files='test*.py'" if fnmatch.filter(names, "test*.py") else ""


def _independent_options(files: Mapping[str, bytes]) -> str:
    """Return options of pytest with which no run depends on an earlier one, and no linter counts as a test.

    The project's settings may say otherwise.
    """
    settings = pytest_settings(files)
    addopts = settings.get("addopts", "")
    try:
        options = list(map(str, addopts)) if isinstance(addopts, list) else shlex.split(str(addopts))
    except ValueError:  # pytest itself says what is wrong
        options = []
    # Without its plug-in, pytest does not know these options, nor the setting.
    cache = "-o cache_dir=/tmp/pytest-cache" if "cache_dir" in settings else "-p no:cacheprovider"
    kept = [option for option in options if option.partition("=")[0] not in _OF_EARLIER_RUNS | _OF_LINTERS]
    if any(b"pytest-enabler" in files.get(name, b"") for name in _DESCRIPTIONS):
        cache += " -p no:enabler"  # it adds the options of linters that are installed
    return cache if kept == options else f"{cache} -o {shlex.quote('addopts=' + shlex.join(kept))}"
