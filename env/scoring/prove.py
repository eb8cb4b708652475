"""Makes a task's proof: runs its contradictions with the known fix, and keeps those that do what they should.

A contradiction holds if, in a run with it, its own test fails at the changed assertion and every other test has the
same outcome as without it. In the end the procedure of a verdict is carried out several times.
"""

from __future__ import annotations

import re
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from stackrank.env.benchmarks.testfiles import is_test, is_test_file
from stackrank.env.patches import PatchError, apply_patch
from stackrank.env.sandbox.base import SandboxError, Say, silent
from stackrank.env.sandbox.client import Sandbox
from stackrank.env.sandbox.guest.core.messages import message
from stackrank.env.scoring.contradictions import Candidate, find_candidates, test_names
from stackrank.env.scoring.judge import Run, cases_of, run_tests, shortcomings
from stackrank.env.scoring.literals import Edit
from stackrank.env.scoring.proof import NO_PYTEST, Contradiction, Proof, contradicted
from stackrank.env.scoring.report import PASSED, TestReport
from stackrank.env.task import Task

ROUNDS = 3
"""How many candidates of a unit are tried."""
KEPT = 3
"""How many contradictions of a unit are kept."""
MOST_BY_STATUS = 6
"""How many contradictions are tried if a task's command tells nothing but its exit status."""
LIMIT_S = 240.0
"""How long a proof may take. Then units that are not confirmed are given up, those that do not show the bug first."""
_SAY_EVERY_S = 15.0
_ADDED = """

import unittest as _unittest


class Zzz(_unittest.TestCase):
    def test_zzz(self):
        self.fail()


"""
"""A test that fails, and that test runners run last."""
MOST_DISTURBERS = 8
"""How many contradictions that disturb other tests are singled out before whole groups are given up."""


def why_not(task: Task) -> str:
    """Return why no contradiction of a task can be proved; empty if one may be."""
    if not task.fix:
        return message("no fix is known to prove contradictions with")
    if task.log_format:
        return NO_PYTEST
    return ""


def prove(task: Task, sandbox: Sandbox, say: Say = silent) -> Proof:
    """Make the proof of a task, in a sandbox that is cleared before every run. Raises SandboxError.

    A task without any contradiction also gets a proof, which holds the reason. `say` gets a line from time to time.
    """
    reason = why_not(task)
    if reason:
        return Proof(task.digest, reason=reason)
    try:
        fixed = apply_patch(task.files, task.fix)
    except PatchError as error:
        return Proof(task.digest, reason=message(f"its fix does not apply: {error}"))
    return _Prover(task, sandbox, fixed, say).proof()


@dataclass(frozen=True, slots=True)
class _Tried:
    """A contradiction that is tried, with the candidate that says where it should fail."""

    contradiction: Contradiction
    candidate: Candidate


class _Prover:
    def __init__(self, task: Task, sandbox: Sandbox, fixed: Mapping[str, bytes], say: Say) -> None:
        self._task, self._sandbox, self._say = task, sandbox, say
        self._started = self._told = time.monotonic()
        self._runs = 0
        self._original = {**task.files, **task.hidden_files}
        self._files = {**fixed, **task.hidden_files}
        self._base = self._run(self._files)
        self._disturbers = 0

    def proof(self) -> Proof:
        task, base = self._task, self._base
        if base.report is None:
            return self._by_status()
        excused = {test: outcome for test, outcome in base.outcomes.items() if outcome in ("skipped", "xfailed")}
        if any(shortcomings(task, base, base.outcomes, excused)):
            return Proof(task.digest, reason=message("its tests do not pass with the known fix"))
        deciding = self._deciding()
        functions = {test.partition("[")[0] for test in deciding}
        proved: list[_Tried] = []
        units = self._candidates(deciding)
        for number in range(ROUNDS):
            if number and self._affordable(len(units)) < len(units):
                break
            tried = [options[number] for options in units.values() if number < len(options)]
            proved += self._holding(tried)
        selected = self._kept(proved)
        contradictions = self._confirmed(selected)
        covered = {test.partition("[")[0] for change in contradictions if not change.telling for test in change.tests}
        return Proof(
            task.digest,
            tuple(contradictions),
            excused,
            len(functions),
            len(covered & functions),
            "" if contradictions else self._why_none(bool(proved)),
            {} if task.must_pass or task.must_stay else cases_of(base.outcomes),
            () if task.must_pass else self._failing(deciding),
        )

    def _why_none(self, some: bool) -> str:
        """Say why there is no contradiction. `some`: there were some, before they were confirmed."""
        if some and not self._affordable(1):
            return message(f"its tests take too long for a proof in {LIMIT_S:g} s")
        return message("no expectation in its tests can be changed")

    def _by_status(self) -> Proof:
        """Make the proof of a task whose command only tells success or failure: the command counts as the one test."""
        task, base = self._task, self._base
        if any(shortcomings(task, base, base.outcomes, None)) or base.result.timed_out:
            return Proof(task.digest, reason=message("its tests do not pass with the known fix"))
        tried: dict[str, Contradiction] = {}
        paths: list[str] = []
        for path in filter(is_test, sorted(self._files)):
            if self._is_original(path) and (path in task.hidden_files or not task.may_edit(path)):
                paths += [path] if is_test_file(path) else []
                for candidate in find_candidates(path, self._files[path], test_names(path, self._files[path])):
                    if not candidate.telling:
                        tried.setdefault(candidate.unit, _contradiction(candidate))
        # Hidden tests come first: the entrant knows the text of visible ones.
        order = sorted(tried.values(), key=lambda contradiction: contradiction.path not in task.hidden_files)
        proved: list[Contradiction] = []
        for contradiction in order[:MOST_BY_STATUS]:
            if proved and not self._affordable(1):
                break
            run = self._run(contradicted(self._files, [contradiction]))
            if run.result.exit > 0 and not run.result.timed_out:
                proved.append(replace(contradiction, unit=run.command, tests={run.command: run.command}))
        for path in sorted({*paths}) if not proved else ():
            contradiction = _added_failure(path, self._files[path])
            run = self._run(contradicted(self._files, [contradiction]))
            if run.result.exit > 0 and not run.result.timed_out:
                proved.append(replace(contradiction, unit=run.command, tests={run.command: run.command}))
                break
        reason = "" if proved else message(f"{NO_PYTEST}, and no changed expectation makes them fail")
        return Proof(task.digest, tuple(proved), deciding=1, covered=int(bool(proved)), reason=reason)

    def _is_original(self, path: str) -> bool:
        """Whether the fix left a file unchanged. If not, a verdict has another file than the one an edit is for."""
        return self._files[path] == self._original.get(path)

    def _run(self, files: Mapping[str, bytes]) -> Run:
        now = time.monotonic()
        if now - self._told > _SAY_EVERY_S:
            self._told = now
            elapsed_s = now - self._started
            self._say(message(f"proving {self._task.id}: {self._runs} test runs in {elapsed_s:.0f} s"))
        self._runs += 1
        return run_tests(self._sandbox, self._task, files, fresh=True, trusted=True)

    def _affordable(self, units: int) -> int:
        """Return how many units can still be confirmed in the time that is left: each doubling takes two runs."""
        elapsed_s = time.monotonic() - self._started
        runs = (LIMIT_S - elapsed_s) / (elapsed_s / max(self._runs, 1) + 1e-9)
        return min(units, 1 << max(int(runs / 2), 0)) if runs >= 2 else 0

    def _deciding(self) -> list[str]:
        """Return the tests that decide, in the order of the files."""
        outcomes = self._base.outcomes
        listed = {*self._task.must_pass, *self._task.must_stay}
        good = [test for test, outcome in outcomes.items() if outcome == "passed"]
        return [test for test in good if not listed or test in listed or test.partition(" ")[0] in listed]

    @cached_property
    def _given(self) -> TestReport | None:
        """The test report of the task as given; None if that is not known."""
        try:
            return self._run(self._original).report
        except SandboxError:  # the bug may be that the program never ends
            return None

    def _failing(self, deciding: Sequence[str]) -> tuple[str, ...]:
        """Return the deciding tests that do not pass on the task as given."""
        report_as_given = self._given
        return tuple(test for test in deciding if report_as_given and report_as_given.outcomes.get(test) not in PASSED)

    def _candidates(self, deciding: Sequence[str]) -> dict[str, list[_Tried]]:
        """Return what could be changed in each unit, starting with the places where the test fails as given."""
        report_as_given = self._given
        failed = {**report_as_given.raised_at, **report_as_given.failed_at} if report_as_given else {}
        by_path: dict[str, list[str]] = defaultdict(list)
        for test in deciding:
            by_path[test.partition("::")[0]].append(test)
        units: dict[str, list[_Tried]] = defaultdict(list)
        for path, tests in by_path.items():
            if path not in self._files or not self._is_original(path):
                continue
            candidates = find_candidates(path, self._files[path], tests)
            cases = {candidate.unit.partition("[")[0] for candidate in candidates if "[" in candidate.unit}
            for candidate in candidates:
                if "[" in candidate.unit or candidate.unit not in cases:
                    units[candidate.unit].append(_Tried(_contradiction(candidate), candidate))
        for options in units.values():
            options.sort(key=lambda trial: _rank(trial.candidate, failed))
        return units

    # ---- running them

    def _holding(self, tried: Sequence[_Tried]) -> list[_Tried]:
        """Return the candidates that fail at their assertion and change nothing else, with the test ids of that run."""
        if not tried:
            return []
        run = self._run(contradicted(self._files, [trial.contradiction for trial in tried]))
        names = self._names(run, tried)
        if names is None or self._disturbed(run, tried, names):
            if len(tried) == 1 or self._disturbers > MOST_DISTURBERS or not self._affordable(1):
                self._disturbers += 1
                return []
            middle = len(tried) // 2
            return [*self._holding(tried[:middle]), *self._holding(tried[middle:])]
        holding = []
        for trial in tried:
            tests = {test: names[test] for test in trial.candidate.tests if _fails(trial.candidate, run, names[test])}
            unchanged = [test for test in trial.candidate.tests if test not in tests]
            if tests and all(run.outcomes[names[test]] == self._base.outcomes[test] for test in unchanged):
                holding.append(_Tried(replace(trial.contradiction, tests=tests), trial.candidate))
        return holding

    def _names(self, run: Run, tried: Sequence[_Tried]) -> dict[str, str] | None:
        """Map each test to its id in that run, by its position among the tests of its function; None if they differ."""
        groups: list[dict[str, list[str]]] = []
        for outcomes in (self._base.outcomes, run.outcomes):
            group: dict[str, list[str]] = defaultdict(list)
            for test in outcomes:
                group[test.partition("[")[0]].append(test)
            groups.append(group)
        if any(len(ids) != len(groups[1].get(name, ())) for name, ids in groups[0].items()):
            return None
        changed_tests = {test for trial in tried for test in trial.candidate.tests}
        names = {a: b for name, ids in groups[0].items() for a, b in zip(ids, groups[1][name], strict=True)}
        return names if all(test == name or test in changed_tests for test, name in names.items()) else None

    def _disturbed(self, run: Run, tried: Sequence[_Tried], names: Mapping[str, str]) -> bool:
        """Whether a test that was not changed has another outcome."""
        changed_tests = {test for trial in tried for test in trial.candidate.tests}
        return any(
            run.outcomes[names[test]] != outcome
            for test, outcome in self._base.outcomes.items()
            if test not in changed_tests
        )

    # ---- choosing

    def _kept(self, proved: Sequence[_Tried]) -> list[_Tried]:
        """Keep a few contradictions of each unit, of the best kind that it has."""
        units: dict[str, list[_Tried]] = defaultdict(list)
        for trial in proved:
            units[trial.contradiction.unit].append(trial)
        selected = []
        for options in units.values():
            untelling = [trial for trial in options if not trial.contradiction.telling] or options
            # They are in the order of their rank, so those where the bug shows come first.
            first = [trial for trial in untelling if trial.candidate.places == untelling[0].candidate.places]
            selected += first[:KEPT]
        return selected

    def _confirmed(self, selected: list[_Tried]) -> list[Contradiction]:
        """Repeat the procedure of a verdict until every two units were in different runs once; return those still left.

        A unit that leaves something behind when it fails would disturb another one, and be detected.
        """
        units = list(dict.fromkeys(trial.contradiction.unit for trial in selected))
        given = self._given.outcomes if self._given else {}
        units.sort(key=lambda unit: given.get(unit) in PASSED)  # those that show the bug first
        units = units[: self._affordable(len(units))]
        selected = [trial for trial in selected if trial.contradiction.unit in units]
        for bit in range(max(len(units) - 1, 1).bit_length()):
            for half in (0, 1):
                tried = []
                for number, unit in enumerate(units):
                    options = [trial for trial in selected if trial.contradiction.unit == unit]
                    if number >> bit & 1 == half and options:
                        tried.append(options[bit % len(options)])
                held = {trial.contradiction.edit for trial in self._holding(tried)}
                lost = {trial.contradiction.unit for trial in tried if trial.contradiction.edit not in held}
                selected = [trial for trial in selected if trial.contradiction.unit not in lost]
        return [trial.contradiction for trial in selected]


def _contradiction(candidate: Candidate) -> Contradiction:
    line = candidate.places[0][0]
    return Contradiction(candidate.unit, {}, candidate.path, line, candidate.edit, candidate.old, candidate.telling)


def _added_failure(path: str, content: bytes) -> Contradiction:
    """Return a contradiction that adds a failing test after all others of a file.

    It catches a program that ends the test process early, whatever the command is.
    """
    main = re.search(rb"(?m)^if __name__\b", content)
    start = main.start() if main else len(content)
    line = content.count(b"\n", 0, start) + 1
    return Contradiction("", {}, path, line, Edit(start, start, _ADDED), "", telling=True)


def _fails(candidate: Candidate, run: Run, test: str) -> bool:
    """Whether a test failed at the assertion that was changed."""
    report = run.report
    assert report is not None
    lines = report.failed_at.get(test, report.raised_at.get(test, ()) if candidate.raises else ())
    return run.outcomes[test] == "failed" and any(
        first <= line <= last for line in lines for first, last in candidate.places
    )


def _rank(candidate: Candidate, failed: Mapping[str, tuple[int, ...]]) -> tuple[bool, int, int]:
    """Rank a candidate, smaller is better: not telling; where the test fails as given, else late, so that more runs."""
    lines = [line for test in candidate.tests for line in failed.get(test, ())]
    shows = any(first <= line <= last for line in lines for first, last in candidate.places)
    return candidate.telling, 0 if shows else 1, -candidate.places[-1][1]
