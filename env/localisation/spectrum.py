"""Measures which lines each test of a project runs, and where failing tests fail."""

from __future__ import annotations

import json
import shlex
import zlib
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from stackrank.env.benchmarks.testfiles import is_test
from stackrank.env.localisation.formulas import Counts
from stackrank.env.sandbox.base import BadReply, Refused
from stackrank.env.sandbox.client import Sandbox
from stackrank.env.sandbox.guest import testing
from stackrank.env.sandbox.guest.testing.commands import pytest_run
from stackrank.env.sandbox.replies.decoder import Line, Many, Name, Number, Seconds, Shape, decode
from stackrank.errors import StackrankError

AT_IMPORT = -1
"""The number in a group that stands for no test: the line runs when its file is imported."""
SourceLine = tuple[str, int]
"""A file, relative to the workspace, and a line, from 1."""
_RESULT = ".stackrank-measured"
_FOREIGN = "the program wrote something else in place of its measurement"
_MOST_UNPACKED = 256 << 20
"""The most bytes of JSON that a measurement may have."""
_HERE = Path(__file__).parent
_DETERMINISM = Path(testing.__file__).with_name("pytest_determinism.py")
_RUNNER = _HERE / "pytest_with_plugins.py"
_RUN_MODULE = f"-m stackrank_{_RUNNER.stem}"
RUN_PYTEST = f"python {_RUN_MODULE}"
"""Runs pytest with the plug-ins of a measurement, as their request names them."""


class Unmeasured(StackrankError):
    """Nothing could be measured; the message is one sentence about why."""


@dataclass(frozen=True)
class Spectrum:
    """Which lines the tests of a project run."""

    tests: tuple[str, ...]
    """Test ids."""
    seconds: tuple[float, ...]
    """How long each takes while it is measured, which is longer than it takes otherwise."""
    outcomes: tuple[str, ...]
    """passed, failed, skipped or missing."""
    failures: Mapping[str, tuple[SourceLine, ...]]
    """Failing test -> the frames in the workspace that its traceback names, including those of chained exceptions."""
    groups: tuple[frozenset[int], ...]
    """Sets of tests, which are given by their number in `tests`; `lines` refers to a group by its number."""
    lines: Mapping[str, Mapping[int, int]]
    """File of the program -> line that runs -> number of the group of tests that run it."""

    @cached_property
    def failing(self) -> tuple[str, ...]:
        """The tests that fail."""
        return tuple(test for test, outcome in zip(self.tests, self.outcomes, strict=True) if outcome == "failed")

    @cached_property
    def by_group(self) -> tuple[Counts, ...]:
        """The counts of the lines of each group. A line that runs at import is run by every test."""
        failing = {number for number, outcome in enumerate(self.outcomes) if outcome == "failed"}
        passing = {number for number, outcome in enumerate(self.outcomes) if outcome == "passed"}
        by_group = []
        for group in self.groups:
            bad, good = (failing, passing) if AT_IMPORT in group else (failing & group, passing & group)
            by_group.append(Counts(len(bad), len(failing) - len(bad), len(good), len(passing) - len(good)))
        return tuple(by_group)

    @cached_property
    def counts(self) -> Counter[Counts]:
        """How many lines have which counts."""
        return Counter(self.by_group[group] for lines in self.lines.values() for group in lines.values())

    def of(self, places: Iterable[SourceLine]) -> set[Counts]:
        """Return the counts of those of these lines that run."""
        groups = (self.lines.get(file, {}).get(line) for file, line in places)
        return {self.by_group[group] for group in groups if group is not None}

    def run_by(self, test: str) -> list[SourceLine]:
        """Return the lines that a test runs, without those that run at import anyway."""
        number = self.tests.index(test)
        groups = {n for n, group in enumerate(self.groups) if number in group and AT_IMPORT not in group}
        return [(file, line) for file, lines in self.lines.items() for line, group in lines.items() if group in groups]


def measure_suite(
    sandbox: Sandbox, files: Mapping[str, bytes], command: str, timeout_s: float, limit_s: float = 0.0
) -> Spectrum:
    """Run a pytest command on these files under coverage.py, in a sandbox that is cleared before.

    `timeout_s`: for the whole run; `limit_s`: for one test, which then fails where it is; 0: no limit.
    Raises Unmeasured, SandboxError.
    """
    head = f"python -m coverage run --rcfile=/dev/null --data-file={{result}}.db --source={{root}} {_RUN_MODULE}"
    answer = run_plugin(sandbox, files, command, "suite_plugin", head, timeout_s, {"limit_s": limit_s})
    data = decode_answer(_Measured, answer, packed=True)
    root = sandbox.root.rstrip("/")
    sources = {f"{root}/{path}": path for path in files if path.endswith(".py")}
    lines = {
        sources[file]: by_line
        for file, by_line in data.lines.items()
        if file in sources and not is_test(sources[file]) and by_line
    }
    failures = {
        test: tuple((sources[file], line) for file, line in frames if file in sources and line is not None)
        for test, frames in data.failures.items()
    }
    seconds = tuple(round(duration, 4) for duration in data.seconds)
    groups = tuple(map(frozenset, data.groups))
    known_groups = all(group < len(groups) for by_line in lines.values() for group in by_line.values())
    if not known_groups or not len(data.tests) == len(data.seconds) == len(data.outcomes):
        raise Unmeasured(_FOREIGN)
    return Spectrum(data.tests, seconds, data.outcomes, failures, groups, lines)


def measure_distance(
    sandbox: Sandbox, files: Mapping[str, bytes], command: str, faults: Iterable[SourceLine], timeout_s: float
) -> int | None:
    """Count the calls of the workspace's functions between the last time that the fault ran and the failure.

    `command`: runs one test, which fails. None if the fault did not run before. Raises Unmeasured, SandboxError.
    """
    lines: dict[str, list[int]] = {}
    for file, line in faults:
        lines.setdefault(f"{sandbox.root.rstrip('/')}/{file}", []).append(line)
    request = {"limit_s": timeout_s / 2, "faults": lines, "root": sandbox.root}
    answer = run_plugin(sandbox, files, command, "calls_plugin", RUN_PYTEST, timeout_s, request)
    return decode_answer(_Distance, answer).distance


@dataclass(frozen=True, slots=True, kw_only=True)
class _Measured:
    """What `suite_plugin` writes."""

    tests: Many[Name]
    seconds: Many[Seconds]
    outcomes: Many[Name]
    failures: dict[Name, Many[tuple[Name, Line | None]]]
    groups: Many[Many[Annotated[int, Field(ge=AT_IMPORT, le=1 << 31)]]]
    lines: dict[Name, dict[Line, Number]]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Distance:
    """What `calls_plugin` writes."""

    distance: Number | None = None


def decode_answer(shape: type[Shape], answer: bytes, packed: bool = False) -> Shape:
    """Return a plug-in's answer. Raises Unmeasured if the program wrote something else in its place."""
    try:
        if packed:
            unpacking = zlib.decompressobj()
            answer = unpacking.decompress(answer, _MOST_UNPACKED)
            if unpacking.unconsumed_tail:
                raise Unmeasured(_FOREIGN)
        return decode(shape, answer)
    except (BadReply, zlib.error):
        raise Unmeasured(_FOREIGN) from None


def run_plugin(
    sandbox: Sandbox,
    files: Mapping[str, bytes],
    command: str,
    plugin: str,
    head: str,
    timeout_s: float,
    request: Mapping[str, Any],
    before: str = "true",
) -> bytes:
    """Run pytest with a plug-in and return what the plug-in wrote. `head`: runs `RUN_PYTEST`.

    `before`: a shell command that runs before, in the workspace, and may change the folder and the environment.
    Raises Unmeasured, SandboxError.
    """
    run = pytest_run(command)
    if run is None:
        raise Unmeasured("its tests are not run by pytest")
    plugins = {f"stackrank_{file.stem}": file for file in (_DETERMINISM, _HERE / f"{plugin}.py")}
    modules = {**plugins, _RUN_MODULE.removeprefix("-m "): _RUNNER}
    folder = "" if run.folder == "." else f"{run.folder}/"
    sandbox.put({**files, **{f"{folder}{name}.py": file.read_bytes() for name, file in modules.items()}}, fresh=True)
    result = f"{sandbox.root.rstrip('/')}/{_RESULT}"
    measurement = json.dumps({**request, "result": result, "plugins": [*plugins]})
    variables = {**run.variables, "MEASUREMENT": measurement}
    words = [f"{key}={shlex.quote(value)}" for key, value in variables.items()]
    words.append(head.format(result=result, root=shlex.quote(sandbox.root)))
    words.append(shlex.join([*run.arguments, "--maxfail=0", "--tb=no", "--continue-on-collection-errors"]))
    command_result = sandbox.run(f"{before} && cd {shlex.quote(run.folder)} && {' '.join(words)}", timeout_s)
    if command_result.timed_out:
        raise Unmeasured(f"its tests do not end within {timeout_s:g} s while they are measured")
    try:
        return sandbox.read(_RESULT)
    except Refused:
        last = " ".join((command_result.output.strip().splitlines() or ["no output"])[-1].split())
        raise Unmeasured(f"its tests cannot be measured: {last[:300]}") from None
