"""Check whether a task's tests are strong enough, by looking for wrong changes that pass all of them.

A change is wrong if it visibly behaves differently from the fix on slightly changed inputs of the task's own tests
(`probes`) for which the fix itself does not fail. A change that passes and shows no difference may be as good as the
fix; it is counted as undecided.
"""

from __future__ import annotations

import json
import shlex
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path, PurePosixPath
from typing import Any

from stackrank.env.benchmarks.base import BenchmarkError
from stackrank.env.benchmarks.python_project.pytest_command import TestCommand
from stackrank.env.benchmarks.testfiles import is_test
from stackrank.env.patches import PatchError, apply_patch, make_diff
from stackrank.env.sandbox.base import Refused, SandboxError, spec_for
from stackrank.env.sandbox.client import Changes, Sandbox
from stackrank.env.sandbox.guest import testing
from stackrank.env.sandbox.guest.testing.ids import parse_id, path_of
from stackrank.env.scoring.verdict import NewSandbox, score_in
from stackrank.env.task import Task
from stackrank.extensions.authoring.audit import changes
from stackrank.extensions.authoring.audit.changes import Call, Files, Fixed, Variant
from stackrank.extensions.authoring.audit.probes import probe

PARTS, MISTAKES, OTHERS = 24, 48, 32
"""How many candidates of a kind are tried: parts of the fix, mistakes in it, and others that the caller adds."""
PROBES = 40
"""Changed copies of each test file on which a change is compared with the fix; fewer if there are many tests."""
PROBE_TESTS = 600
"""About how many tests on other inputs there should be at most."""
COMPARED = 16
"""Changes that pass are compared with the fix up to this number; the others stay undecided."""
ENOUGH = 3
"""After this many wrong changes that pass, no more are sought: the tests are weak."""
BUDGET_S = 120.0
"""Seconds after which no more candidates of a task are tried; the machine may be busy with other work."""
_FOLDER = ".stackrank-attack"
_JOB = f"{_FOLDER}/job.json"
_DETERMINISM = Path(testing.__file__).with_name("pytest_determinism.py")
_GUEST = {
    f"{_FOLDER}/attacking/{file.name}": file.read_bytes()
    for file in (*(Path(__file__).parent / "guest").glob("*.py"), _DETERMINISM)
}
_START = f"import sys; sys.path[0] = {_FOLDER!r}; from attacking.main import main; main({_JOB!r})"


@dataclass(frozen=True, slots=True)
class WrongChange:
    """A wrong change that passes."""

    kind: str
    diff: str
    """Against the task as given."""
    test: str
    """The test of the task that shows the difference when its inputs are changed."""
    fixed: str
    """What the fix does there."""
    wrong: str
    """What the wrong change does."""


@dataclass(frozen=True, slots=True)
class Audit:
    """The result of auditing one task."""

    task: str
    reason: str = ""
    """Why it could not be audited, one sentence."""
    tried: int = 0
    """Candidates whose tests ran."""
    killed: int = 0
    untried: int = 0
    """Candidates for which there was no time."""
    wrong: tuple[WrongChange, ...] = ()
    undecided: tuple[str, ...] = field(default=(), repr=False)
    """Diffs of changes that pass and show no difference from the fix."""
    wall_s: float = 0.0

    @property
    def audited(self) -> bool:
        """Whether the task could be audited."""
        return not self.reason


def audit(
    task: Task,
    new_sandbox: NewSandbox,
    more_variants: Iterable[Callable[[], Variant]] = (),
    seed: int = 0,
    rejected: Sequence[Variant] = (),
) -> Audit:
    """Look for wrong changes that pass the task's tests; equal arguments try the same ones. Raises SandboxError.

    `more_variants`: functions that make candidates besides our own, a sample of which is tried; there may be
    thousands of them. `rejected`: more candidates, all of them tried.
    """
    began = time.monotonic()
    if not task.fix:
        return Audit(task.id, "it has no known fix")
    try:
        fixed = apply_patch(task.files, task.fix)
        paths = {*fixed, *task.hidden_files}
        command = TestCommand.of(task.score_command or task.test_command, paths)
        visible = TestCommand.of(task.test_command, paths).arguments() if task.test_command else None
        with new_sandbox(spec_for(task, warm=False)) as sandbox:
            return _Search(task, fixed, command, visible, sandbox, seed, began, rejected).result(more_variants)
    except (BenchmarkError, PatchError, Refused) as error:
        return Audit(task.id, str(error))


class _Search:
    def __init__(
        self,
        task: Task,
        workspace: Files,
        command: TestCommand,
        visible: Sequence[str] | None,
        sandbox: Sandbox,
        seed: int,
        began: float,
        rejected: Sequence[Variant],
    ) -> None:
        self._task = task
        self._workspace = {**workspace, **task.hidden_files}
        self._command, self._visible = command, visible
        self._fixed = Fixed.of(task.files, workspace, {path for variant in rejected for path in variant.files})
        # Add the files that they do not touch, because every candidate has to be complete.
        self._rejected = [Variant(variant.kind, {**self._untouched, **variant.files}) for variant in rejected]
        self._sandbox = sandbox
        self._seed = seed
        self._began = began

    def result(self, more_variants: Iterable[Callable[[], Variant]]) -> Audit:
        fixed, seed = self._fixed, self._seed
        parts = changes.sample([*changes.parts_of_the_fix(fixed)], PARTS, seed)
        mistakes = [*changes.mistakes(fixed, seed)][:MISTAKES]
        sampled = [make() for make in changes.sample([*more_variants], OTHERS, seed)]
        complete = [Variant(variant.kind, {**self._untouched, **variant.files}) for variant in sampled]
        candidates = [
            *changes.distinct(fixed, chain(self._rejected, parts, changes.without_bodies(fixed), mistakes, complete))
        ]
        first = self._try(candidates)
        if not first["tests"]:
            return Audit(self._task.id, "its tests do not pass with the fix when they share a process")
        calls = [Call(*variant) for variant in first["calls"]]
        special = [*changes.distinct(fixed, changes.special_cases(fixed, calls))]
        passed = [*first["passed"], *(self._try(special)["passed"] if special else ())]
        every = [*candidates, *special]
        survivors = [variant for variant, passes in zip(every, passed, strict=True) if passes]
        wrong, undecided = self._compare(survivors, max(min(PROBES, PROBE_TESTS // first["tests"]), PROBES // 8))
        return Audit(
            task=self._task.id,
            tried=sum(passes is not None for passes in passed),
            killed=sum(passes is False for passes in passed),
            untried=sum(passes is None for passes in passed),
            wrong=tuple(wrong),
            undecided=tuple(self._diff(variant) for variant in undecided),
            wall_s=time.monotonic() - self._began,
        )

    @property
    def _untouched(self) -> dict[str, bytes]:
        """The files that a rejected change touches and the fix does not."""
        broken, fixed = self._fixed.broken_files, self._fixed.fixed_files
        return {path: content for path, content in broken.items() if fixed.get(path) == content}

    def _try(self, candidates: list[Variant]) -> dict[str, Any]:
        functions = [
            [file, name, line]
            for file, spans in self._fixed.functions(self._fixed.fixed_files).items()
            for name, line, _ in spans
        ]
        return self._run(
            {},
            {
                "compare": False,
                "arguments": self._command.arguments(),
                "visible": self._visible,
                "functions": functions,
                "must_pass": self._task.must_pass,
                "may_skip": self._task.must_stay,
                "candidates": [self._all(variant.files) for variant in candidates],
            },
        )

    def _compare(self, survivors: list[Variant], copies: int) -> tuple[list[WrongChange], list[Variant]]:
        """Split the survivors into those that are wrong and those that stay undecided."""
        compared = survivors[:COMPARED]
        probes, tests = self._probes(copies) if compared else ({}, [])
        if not probes:
            return [], survivors
        job = {"compare": True, "arguments": self._command.arguments(tests), "enough": ENOUGH}
        candidates = [self._all(variant.files) for variant in compared]
        differ = self._run(probes, {**job, "candidates": candidates})["differ"]
        wrong, undecided = [], survivors[len(differ) :]
        for variant, difference in zip(compared, differ, strict=False):
            if difference is not None and self._passes(variant):
                wrong.append(WrongChange(variant.kind, self._diff(variant), **difference))
            else:
                undecided.append(variant)
        return wrong, undecided

    def _probes(self, copies: int) -> tuple[Files, list[str]]:
        """Copy the test files with other inputs. Also return the ids of the copied tests that the command runs."""
        files: dict[str, bytes] = {}
        tests: list[str] = []
        for path, content in self._workspace.items():
            name = PurePosixPath(path)
            tests_of_file = _named_tests(path, self._command.targets)
            if (
                tests_of_file is None
                or not is_test(path)
                or name.suffix != ".py"
                or name.stem in ("conftest", "__init__")
            ):
                continue
            for number in range(copies):
                source = probe(content.decode(errors="replace"), self._seed + number)
                if source is not None:
                    copy = str(name.with_name(f"test_probe_{number}_{name.name}"))
                    files[copy] = source.encode()
                    tests += [f"{copy}::{test}" for test in tests_of_file] or [copy]
        return files, sorted(tests)

    def _run(self, files: Files, job: Mapping[str, Any]) -> dict[str, Any]:
        """Have the runner do a job in the fixed workspace. Raises SandboxError."""
        limit = self._task.limits.timeout_s
        complete_job = {**job, "fixed": self._all(self._fixed.fixed_files), "timeout_s": limit, "budget_s": BUDGET_S}
        self._sandbox.put({**self._workspace, **files, **_GUEST, _JOB: json.dumps(complete_job).encode()}, fresh=True)
        command_result = self._sandbox.run(shlex.join(["python", "-c", _START]), BUDGET_S * 6 + limit)
        try:
            answer: dict[str, Any] = json.loads(self._sandbox.read(f"{_JOB}.answer"))
        except Refused:
            raise SandboxError(f"the audit of {self._task.id} did not end: {command_result.output[-500:]}") from None
        return answer

    def _all(self, files: Files) -> dict[str, str | None]:
        """Return the content of every file that the fix touches; None for a file that is missing in `files`."""
        paths = {**self._fixed.broken_files, **self._fixed.fixed_files}
        return {path: files[path].decode(errors="surrogateescape") if path in files else None for path in paths}

    def _passes(self, candidate: Variant) -> bool:
        """Whether the scorer finds the task resolved by a candidate."""
        deleted = tuple(path for path in self._fixed.broken_files if path not in candidate.files)
        changed = {path: text for path, text in candidate.files.items() if self._fixed.broken_files.get(path) != text}
        return score_in(self._sandbox, self._task, Changes(files=changed, deleted=deleted), fresh=True).resolved

    def _diff(self, candidate: Variant) -> str:
        return make_diff(self._fixed.broken_files, candidate.files)


def _named_tests(path: str, targets: Sequence[str]) -> list[str] | None:
    """Return the tests of a file that a command's targets name: an empty list for all of them, None for none."""
    tests: dict[str, None] = {}
    for target in targets:
        place = path_of(target)
        if PurePosixPath(place) not in (PurePosixPath(path), *PurePosixPath(path).parents):
            continue
        if place == target:
            return []
        tests["::".join(parse_id(target).names)] = None
    return list(tests) or (None if targets else [])
