"""Checks that a task is what it says: it fails as given and passes with its fix."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Protocol, runtime_checkable

from stackrank.env.corrections import find_corrections
from stackrank.env.difficulty import Difficulty, Measure
from stackrank.env.localisation.needs import has_address
from stackrank.env.patches import PatchError, apply_patch
from stackrank.env.sandbox.base import Refused, SandboxError, Say, silent, spec_for
from stackrank.env.sandbox.client import Changes, Sandbox
from stackrank.env.sandbox.guest.testing.ids import function_of, path_of
from stackrank.env.scoring.by_fault.tests_of_faults import TestsOfFaults, find_tests_of_faults, with_tests
from stackrank.env.scoring.judge import UNREPORTED, Score
from stackrank.env.scoring.proof import Proof
from stackrank.env.scoring.prove import prove
from stackrank.env.scoring.report import PASSED, outcome_of
from stackrank.env.scoring.verdict import NewSandbox, score_in
from stackrank.env.state import outcomes_of
from stackrank.env.task import Task
from stackrank.env.tools.run_tests import run_visible_tests

_SOUND: set[tuple[str, int]] = set()
"""The faults that this process has validated in so many rounds: digest, rounds. Many releases have the same ones."""
_NO_FIX = "no fix is known, so nothing can be proved"
_MOST_REASON = 400
"""The most characters that say why tests do not pass."""


class Standing(StrEnum):
    """What is known about a task's soundness."""

    VALID = "valid"
    INVALID = "invalid"
    UNPROVEN = "unproven"
    """No fix is known: the task can be played, but an entrant's failure may be the task's fault."""
    ERROR = "error"
    """The infrastructure failed, so nothing was found out."""


@dataclass(frozen=True, slots=True)
class Validation:
    """The result for one task."""

    task: str
    standing: Standing
    reason: str = ""
    """Why the task is not valid, one sentence."""
    fail_to_pass: tuple[str, ...] = ()
    """Tests of the scoring run that failed as given and pass with the fix, in every round."""
    pass_to_pass: tuple[str, ...] = ()
    out_of_time: bool = False
    """The task is not valid because the tests took too long: perhaps the machine was busy."""
    dropped: tuple[str, ...] = ()
    """Tests of the task's lists that do not behave here as the data says (see `env.corrections`)."""
    proof: Proof | None = None
    """The proof by which its verdicts can be sealed; None if the task is not valid."""
    measured: Difficulty | None = None
    """How hard the task is; None if it is not valid or was not measured."""
    by_fault: TestsOfFaults | None = None
    """Which tests judge each of several faults; None if their fixes are not known one by one."""

    @property
    def valid(self) -> bool:
        """Whether every round held."""
        return self.standing is Standing.VALID


@runtime_checkable
class RecordsValidations(Protocol):
    """A benchmark that keeps the results of `stackrank validate --record` in its own files."""

    def to_record(self, task: Task) -> Task:
        """Return the task as it is validated for the record: without lists of tests that are written anew."""
        ...

    def record(self, validations: Sequence[Validation]) -> None:
        """Write the results of valid tasks into the benchmark's files."""
        ...


def validate(
    task: Task, new_sandbox: NewSandbox, rounds: int = 5, measure: Measure | None = None, say: Say = silent
) -> Validation:
    """Run the scorer on the task as given and on its known fix, `rounds` times. Raises SandboxError.

    `measure`: the function that measures how hard the task is; None: it is not measured. `say` gets a line from time
    to time while a long proof is made.

    A round scores both states exactly as an episode is scored: every test run is a new process on files that were
    put there for it. The first round's sandboxes are new; later rounds use them again, after everything written
    to the workspace and the temporary folders has been removed. Before the first round the visible tests run
    by themselves, as an agent sees them (if they show the bug at all: `Task.shows_bug`); before later rounds only
    if the scoring run does not include them.
    Every round has to fail as given, pass with the fix, and show the same outcomes as the first. If several faults
    share the workspace and each has a fix of its own, each is mended alone (`find_tests_of_faults`). In the end the
    task's contradictions are proved.
    """
    if task.is_composed:
        return _validate_parts(task, new_sandbox, rounds)
    if not task.fix:
        return try_once(task, new_sandbox)
    try:
        fix = _changes(task)
        assert fix is not None
    except PatchError as error:
        return Validation(task.id, Standing.INVALID, str(error))
    try:
        spec = spec_for(task, warm=False)
        with new_sandbox(spec) as first, new_sandbox(spec) as second:
            if not task.lists_from_elsewhere:
                sound = _rounds(task, fix, first, second, rounds)
                if not (sound.valid and any(part.task.fix != task.fix for part in task.parts)):
                    return _proved(task, sound, second, measure, say)
                sound, task = _by_fault(task, sound, second, rounds)
                return _proved(task, sound, second, measure, say)
            dropped = find_corrections(task, score_in(first, task, Changes()), score_in(second, task, fix))
            task = replace(task, dropped=dropped)
            if not task.must_pass:
                reason = f"with the fix, {task.fail_to_pass[0]} does not start to pass, nor does any other of its list"
                return Validation(task.id, Standing.INVALID, reason)
            sound = _rounds(task, fix, first, second, rounds, reuse=True)
            return replace(_proved(task, sound, second, measure, say), dropped=dropped)
    except Refused as error:
        return Validation(task.id, Standing.INVALID, str(error))


def try_once(task: Task, new_sandbox: NewSandbox) -> Validation:
    """Score the task as given and, if a fix is known, with its fix, once each. Raises SandboxError.

    This shows that the task can be played at all: it fails in the form in which it is judged. `validate` shows more.
    """
    if task.is_composed:
        return _validate_parts(task, new_sandbox, 1)
    try:
        fix = _changes(task)
        with new_sandbox(spec_for(task, warm=False)) as sandbox:
            given = score_in(sandbox, task, Changes(), fresh=True)
            if given.resolved:
                return Validation(task.id, Standing.INVALID, "its tests pass as given, so there is nothing to fix")
            if any(UNREPORTED in test for test in given.unfixed):
                return Validation(task.id, Standing.INVALID, given.unfixed[0])
            if fix is None:
                if reason := _changing_id(task, sandbox, Changes(), given):
                    return Validation(task.id, Standing.INVALID, reason)
                return Validation(task.id, Standing.UNPROVEN, _NO_FIX)
            fixed = score_in(sandbox, task, fix, fresh=True)
            reason = "" if fixed.resolved else _changing_id(task, sandbox, fix, fixed) or f"with the fix, {_why(fixed)}"
    except (PatchError, Refused) as error:
        return Validation(task.id, Standing.INVALID, str(error))
    if reason:
        return Validation(task.id, Standing.INVALID, reason, out_of_time=fixed.timed_out)
    return Validation(task.id, Standing.VALID)


def _by_fault(task: Task, sound: Validation, sandbox: Sandbox, rounds: int) -> tuple[Validation, Task]:
    """Find out which tests judge each fault, and compare with the lists of the task if it has some.

    Returns the task with the lists. Every fault needs a hidden test. Raises SandboxError.
    """
    tests = find_tests_of_faults(task, sandbox, rounds)
    for part in task.parts:
        own = tests.shown[part.name]
        reason = ""
        if not any(path_of(test) in task.hidden_files for test in own):
            reason = "no hidden test starts to pass when it alone is mended"
        elif task.fail_to_pass and (lost := sorted({*part.task.must_pass} - {*own})):
            reason = f"{lost[0]} does not start to pass when it alone is mended"
        elif task.fail_to_pass and (lost := sorted({*part.task.must_stay} - {*tests.kept})):
            reason = f"{lost[0]} does not go on passing whichever fault is mended"
        if reason:
            return Validation(task.id, Standing.INVALID, f"{part.name}: {reason}"), task
    listed = task if task.fail_to_pass else with_tests(task, tests)
    return replace(sound, by_fault=tests), listed


def _validate_parts(task: Task, new_sandbox: NewSandbox, rounds: int) -> Validation:
    """Validate a task with several faults: the visible tests of the whole, then each fault as a task of its own.

    A fault's task has the other faults too, unless it is confined to a folder of its own; so its hidden tests are seen
    to fail with it, and to pass when it alone is mended. Raises SandboxError.
    """
    reason = _visible_reason(task, new_sandbox) if task.shows_bug else ""
    for part in () if reason else task.parts:
        try:
            fix = _changes(part.task)
        except PatchError as error:
            return Validation(task.id, Standing.INVALID, f"{part.name}: {error}")
        if fix is None:
            return Validation(task.id, Standing.UNPROVEN, f"{part.name}: {_NO_FIX}")
        if (part.task.digest, rounds) in _SOUND:
            continue
        spec = spec_for(part.task, warm=False)
        with new_sandbox(spec) as first, new_sandbox(spec) as second:
            # Its visible tests are among those of the whole.
            result = _rounds(replace(part.task, shows_bug=False), fix, first, second, rounds)
        if not result.valid:
            return replace(result, task=task.id, reason=f"{part.name}: {result.reason}")
        _SOUND.add((part.task.digest, rounds))
    return Validation(task.id, Standing.INVALID if reason else Standing.VALID, reason)


def _visible_reason(task: Task, new_sandbox: NewSandbox) -> str:
    """Say why the visible tests of a task with several faults do not show all of them; empty if they do."""
    with new_sandbox(spec_for(task, warm=False)) as sandbox:
        sandbox.put(task.files)
        outcomes = outcomes_of(run_visible_tests(sandbox, task).state)
    failing = [test for test, outcome in outcomes.items() if outcome not in PASSED]
    silent = [part.name for part in task.parts if not any(t.startswith(f"{part.folder}/") for t in failing)]
    return f"the visible tests do not show {', '.join(silent[:3])}" if silent else ""


def _changes(task: Task) -> Changes | None:
    """Return what the known fix changes; None if no fix is known. Raises PatchError."""
    if not task.fix:
        return None
    fixed = apply_patch(task.files, task.fix)
    changed = {path: content for path, content in fixed.items() if task.files.get(path) != content}
    return Changes(files=changed, deleted=tuple(path for path in task.files if path not in fixed))


def _proved(task: Task, sound: Validation, sandbox: Sandbox, measure: Measure | None, say: Say) -> Validation:
    """Add a valid task's proof (see `env.scoring.prove`), and how hard the task is."""
    if not sound.valid:
        return sound
    proof = prove(task, sandbox, say)
    try:
        return replace(sound, proof=proof, measured=measure(task, sandbox) if measure else None)
    except SandboxError:  # the task keeps its proof; the next validation measures it
        return replace(sound, proof=proof)


def _rounds(task: Task, fix: Changes, first: Sandbox, second: Sandbox, rounds: int, reuse: bool = False) -> Validation:
    """Run the rounds. `first`: sandbox of the task as given; `second`: of the fixed task; `reuse`: neither is new."""
    stable: tuple[tuple[str, ...], tuple[str, ...]] | None = None
    alone = task.shows_bug
    for number in range(1, rounds + 1):

        def invalid(reason: str, number: int = number) -> Validation:
            return Validation(task.id, Standing.INVALID, f"round {number}: {reason}")

        visible: set[str] = set()
        if alone:
            first.put(task.files, fresh=reuse or number > 1)
            state = run_visible_tests(first, task).state
            if state["kind"] == "tests" and state["solved"]:
                return invalid("the visible tests pass as given")
            visible = set(outcomes_of(state))
        unfixed = score_in(first, task, Changes(), fresh=True)
        if unfixed.resolved:
            return invalid("the hidden tests pass as given")
        fixed = score_in(second, task, fix, fresh=reuse or number > 1)
        if not fixed.resolved:
            reason = _changing_id(task, second, fix, fixed) or f"with the fix, {_why(fixed)}"
            return replace(invalid(reason), out_of_time=fixed.timed_out)
        lists = _lists(unfixed, fixed)
        if stable is not None and lists != stable:
            odd = sorted(set(lists[0]) ^ set(stable[0]) or set(lists[1]) ^ set(stable[1]))
            reason = f"the tests that fail are not always the same ({', '.join(odd[:3])})"
            return replace(invalid(reason), out_of_time=unfixed.timed_out)
        stable = lists
        alone = alone and not (_same_run(task) or (visible and visible <= set(unfixed.tests)))
    fail_to_pass, pass_to_pass = stable or ((), ())
    return Validation(task.id, Standing.VALID, "", fail_to_pass, pass_to_pass)


def _same_run(task: Task) -> bool:
    return not task.hidden_files and task.score_command in (None, task.test_command)


def _changing_id(task: Task, sandbox: Sandbox, changes: Changes, score: Score) -> str:
    """Say which test that has to run was not found because its id is another one in each run; empty if none is.

    The files are scored once more if a test is missing while others of its function ran. Raises SandboxError.
    """

    def ran(score: Score) -> set[str]:
        return {test for test, outcome in score.tests.items() if outcome != "missing"}

    absent = [test for test in (*task.must_pass, *task.must_stay) if outcome_of(test, score.tests) == "missing"]
    functions = {function_of(test) for test in ran(score)}
    if not any(function_of(test) in functions for test in absent):
        return ""
    moved = ran(score) ^ ran(score_in(sandbox, task, changes, fresh=True))
    functions = {function_of(test) for test in (*moved, *filter(has_address, absent))}
    test = next((test for test in absent if function_of(test) in functions), "")
    return f"{test} has another id in each run: give its parameters ids that stay" if test else ""


def _why(fixed: Score) -> str:
    """Say which tests do not pass, and why: what the scorer noted, and the first failure."""
    tests = [*fixed.unfixed, *fixed.regressions]
    if fixed.timed_out or not tests:
        return "; ".join(fixed.notes) or "the test command fails"
    missing = all(outcome_of(test, fixed.tests) == "missing" for test in tests)
    sentence = f"{', '.join(tests[:3])}{', ...' if len(tests) > 3 else ''} {'does' if len(tests) == 1 else 'do'} not "
    sentence += "run" if missing and fixed.tests else "pass"
    reasons = [*fixed.notes, *(fixed.messages[test] for test in tests if fixed.messages.get(test))] or [
        line for line in map(str.strip, fixed.output.splitlines()) if line
    ][-1:]
    return sentence + (f" ({' '.join('; '.join(dict.fromkeys(reasons)).split())[:_MOST_REASON]})" if reasons else "")


def _lists(unfixed: Score, fixed: Score) -> tuple[tuple[str, ...], tuple[str, ...]]:
    good = [test for test, outcome in fixed.tests.items() if outcome in PASSED]
    was_good = {test for test, outcome in unfixed.tests.items() if outcome in PASSED}
    return tuple(t for t in good if t not in was_good), tuple(t for t in good if t in was_good)
