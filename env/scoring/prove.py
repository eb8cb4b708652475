"""Makes a task's proof: runs its contradictions with the known fix, and keeps those that do what they should.

A contradiction holds if, in a run with it, its own test fails at the changed assertion and every other test has the
same outcome as without it. In the end the procedure of a verdict is carried out several times.
"""

from __future__ import annotations

import re
import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property

from stackrank.env.benchmarks.testfiles import is_test, is_test_file
from stackrank.env.patches import PatchError, apply_patch
from stackrank.env.sandbox.base import SandboxError, Say, silent
from stackrank.env.sandbox.client import Sandbox
from stackrank.env.sandbox.guest.core.messages import message
from stackrank.env.sandbox.guest.testing.ids import function_of, parse_id, path_of
from stackrank.env.scoring.contradictions import find_candidates, test_functions
from stackrank.env.scoring.judge import Run, cases_of, run_tests, shortcomings
from stackrank.env.scoring.literals import Edit
from stackrank.env.scoring.proof import NO_PYTEST, Contradiction, Proof, contradicted
from stackrank.env.scoring.report import PASSED, TestReport
from stackrank.env.scoring.trials import ShowsBug, Trial, contradiction_of, in_order, without_telling
from stackrank.env.scoring.withheld.answers import Answers, differing, repeated
from stackrank.env.scoring.withheld.questions import withhold
from stackrank.env.scoring.without_fix.outline import outline
from stackrank.env.task import Task

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


def prove(task: Task, sandbox: Sandbox, say: Say = silent) -> Proof:
    """Make the proof of a task, in a sandbox that is cleared before every run. Raises SandboxError.

    A task without any contradiction also gets a proof, which holds the reason. `say` gets a line from time to time.
    """
    if task.log_format and (not task.fix or task.must_pass or task.must_stay):
        return Proof(task.digest, reason=NO_PYTEST)
    if not task.fix:
        return outline(task, run_tests(sandbox, task, {**task.files, **task.hidden_files}, fresh=True, trusted=True))
    try:
        fixed = apply_patch(task.files, task.fix)
    except PatchError as error:
        return Proof(task.digest, reason=message(f"its fix does not apply: {error}"))
    return Prover(task, fixed, lambda files: run_tests(sandbox, task, files, fresh=True, trusted=True), say).proof()


class Prover:
    """Makes one proof, from runs of a program that passes the tests."""

    _most_splits = 99
    """How often the units are split into two halves in the end."""

    def __init__(
        self,
        task: Task,
        program: Mapping[str, bytes],
        run: Callable[[Mapping[str, bytes]], Run],
        say: Say = silent,
        base: Run | None = None,
    ) -> None:
        """`program`: the files of the program that passes. `run`: the function that runs the tests on files.

        `base`: the run in which it passes, if there is one already.
        """
        self._task, self._run_tests, self._say = task, run, say
        self._started = self._told = time.monotonic()
        self._runs = 0
        self._original = {**task.files, **task.hidden_files}
        self._files = {**program, **task.hidden_files}
        self._base = base or self._run(self._files)
        self._disturbers = 0
        self.passing: list[Trial] = []
        """The trials whose tests passed all the same."""

    def proof(self) -> Proof:
        """Return the proof. Raises SandboxError."""
        task, base = self._task, self._base
        if base.report is None and not task.log_format:
            return self._by_status()
        excused = {test: outcome for test, outcome in base.outcomes.items() if outcome in ("skipped", "xfailed")}
        if any(shortcomings(task, base, base.outcomes, excused)):
            return Proof(task.digest, reason=message("its tests do not pass with the known fix"))
        if task.log_format:  # which tests have to run is known, and contradictions need pytest
            cases = cases_of(base.outcomes)
            return Proof(task.digest, excused=excused, deciding=len(cases), reason=NO_PYTEST, cases=cases)
        deciding = self._deciding()
        functions = {function_of(test) for test in deciding}
        proved = self._proved(self._candidates(deciding))
        contradictions = self._confirmed(without_telling(proved))
        covered = {function_of(test) for change in contradictions if not change.telling for test in change.tests}
        return Proof(
            task.digest,
            tuple(contradictions),
            excused,
            len(functions),
            len(covered & functions),
            "" if contradictions else self._why_none(bool(proved)),
            {} if task.must_pass or task.must_stay else cases_of(base.outcomes),
            () if task.must_pass else self._failing(deciding),
            self._answers,
            sum(map(len, self._unmet.values())),
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
                for candidate in find_candidates(path, self._files[path], [*test_functions(path, self._files[path])]):
                    if not candidate.telling:
                        tried.setdefault(candidate.unit, contradiction_of(candidate))
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
        return self._run_tests(files)

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

    @cached_property
    def _withheld(self) -> dict[str, bytes]:
        """The hidden tests without what they expect."""
        return withhold(self._task)

    @cached_property
    def _answers(self) -> Answers:
        """What the fix answers to them, twice alike."""
        if not self._withheld:
            return {}
        runs = [self._run({**self._files, **self._withheld}).report for _ in range(2)]
        return repeated(*(report.answers if report else {} for report in runs))

    @cached_property
    def _unmet(self) -> dict[str, list[str]]:
        """The questions that the program as given answers in another way than the fix, by test."""
        if not self._answers:
            return {}
        try:
            report = self._run({**self._original, **self._withheld}).report
        except SandboxError:
            report = None
        return differing(self._answers, report.answers if report else {})

    def _candidates(self, deciding: Sequence[str]) -> dict[str, list[Trial]]:
        """Return what is tried in each unit, in this order."""
        by_path: dict[str, list[str]] = defaultdict(list)
        for test in deciding:
            by_path[path_of(test)].append(test)
        units: dict[str, list[Trial]] = defaultdict(list)
        shows = ShowsBug(self._given, self._answers, self._unmet)
        for path, tests in by_path.items():
            if path not in self._files or not self._is_original(path):
                continue
            candidates = find_candidates(path, self._files[path], tests)
            cases = {function_of(candidate.unit) for candidate in candidates if parse_id(candidate.unit).parameters}
            for candidate in candidates:
                if parse_id(candidate.unit).parameters or candidate.unit not in cases:
                    contradiction = contradiction_of(candidate, shows_bug=shows(candidate))
                    units[candidate.unit].append(Trial(contradiction, candidate))
        return {unit: self._in_order(unit, options) for unit, options in units.items()}

    def _in_order(self, unit: str, options: Sequence[Trial]) -> list[Trial]:
        return in_order(unit, options, hidden=path_of(unit) in self._task.hidden_files)

    # ---- running them

    def _proved(self, units: Mapping[str, Sequence[Trial]]) -> list[Trial]:
        """Try the options of each unit, one of every unit at a time, and return those that hold."""
        proved: list[Trial] = []
        for number in range(max(map(len, units.values()), default=0)):
            if number and self._affordable(len(units)) < len(units):
                break
            proved += self._holding([options[number] for options in units.values() if number < len(options)])
        return proved

    def _holding(self, tried: Sequence[Trial]) -> list[Trial]:
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
            tests = {test: names[test] for test in trial.candidate.tests if trial.fails(run, names[test])}
            unchanged = [test for test in trial.candidate.tests if test not in tests]
            if not tests and all(run.outcomes[names[test]] in PASSED for test in unchanged):
                self.passing.append(trial)
            if tests and all(run.outcomes[names[test]] == self._base.outcomes[test] for test in unchanged):
                holding.append(Trial(replace(trial.contradiction, tests=tests), trial.candidate))
        return holding

    def _names(self, run: Run, tried: Sequence[Trial]) -> dict[str, str] | None:
        """Map each test to its id in that run, by its position among the tests of its function; None if they differ."""
        groups: list[dict[str, list[str]]] = []
        for outcomes in (self._base.outcomes, run.outcomes):
            group: dict[str, list[str]] = defaultdict(list)
            for test in outcomes:
                group[function_of(test)].append(test)
            groups.append(group)
        if any(len(ids) != len(groups[1].get(name, ())) for name, ids in groups[0].items()):
            return None
        changed_tests = {test for trial in tried for test in trial.candidate.tests}
        names = {a: b for name, ids in groups[0].items() for a, b in zip(ids, groups[1][name], strict=True)}
        return names if all(test == name or test in changed_tests for test, name in names.items()) else None

    def _disturbed(self, run: Run, tried: Sequence[Trial], names: Mapping[str, str]) -> bool:
        """Whether a test that was not changed has another outcome."""
        changed_tests = {test for trial in tried for test in trial.candidate.tests}
        return any(
            run.outcomes[names[test]] != outcome
            for test, outcome in self._base.outcomes.items()
            if test not in changed_tests
        )

    # ---- choosing

    def _is_split(self, trial: Trial) -> bool:
        """Whether a verdict may contradict this unit apart from others."""
        return True

    def _confirmed(self, selected: list[Trial]) -> list[Contradiction]:
        """Repeat the procedure of a verdict until every two units were in different runs once; return those still left.

        A unit that leaves something behind when it fails would disturb another one, and be detected.
        """
        units = list(dict.fromkeys(trial.contradiction.unit for trial in selected if self._is_split(trial)))
        given = self._given.outcomes if self._given else {}
        units.sort(key=lambda unit: given.get(unit) in PASSED)  # those that show the bug first
        given_up = set(units[self._affordable(len(units)) :])
        units = [unit for unit in units if unit not in given_up]
        selected = [trial for trial in selected if trial.contradiction.unit not in given_up]
        for bit in range(min(self._most_splits, max(len(units) - 1, 1).bit_length())):
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


def _added_failure(path: str, content: bytes) -> Contradiction:
    """Return a contradiction that adds a failing test after all others of a file.

    It catches a program that ends the test process early, whatever the command is.
    """
    main = re.search(rb"(?m)^if __name__\b", content)
    start = main.start() if main else len(content)
    line = content.count(b"\n", 0, start) + 1
    return Contradiction("", {}, path, line, Edit(start, start, _ADDED), "", telling=True)
