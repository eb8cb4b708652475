"""Proof that a task is what it says: it fails as given and passes with its fix."""

from __future__ import annotations

from dataclasses import dataclass

from env.patches import PatchError, apply_patch
from env.sandbox.base import SandboxSpec
from env.sandbox.client import Changes, Sandbox
from env.scoring import NewSandbox, Score, score
from env.task import Task
from env.tools.run_tests import run_visible_tests


@dataclass(frozen=True, slots=True)
class Validation:
    """The result for one task."""

    task: str
    valid: bool
    reason: str = ""
    """Why it is not valid, one sentence."""
    fail_to_pass: tuple[str, ...] = ()
    """Tests of the scoring run that failed as given and pass with the fix, in every round."""
    pass_to_pass: tuple[str, ...] = ()


def validate(task: Task, new_sandbox: NewSandbox, rounds: int = 3) -> Validation:
    """Play the scorer on the task as given and on its known fix, `rounds` times. Raises SandboxError."""
    if not task.fix:
        return Validation(task.id, False, "no fix is known, so nothing can be proved")
    try:
        fixed = apply_patch(task.files, task.fix)
    except PatchError as error:
        return Validation(task.id, False, str(error))
    changed = {path: content for path, content in fixed.items() if task.files.get(path) != content}
    deleted = tuple(path for path in task.files if path not in fixed)
    stable: tuple[tuple[str, ...], tuple[str, ...]] | None = None
    for number in range(1, rounds + 1):
        # What is given is what the agent sees: one sandbox serves both runs, the visible one first.
        solved: list[bool] = []

        def visible_first(spec: SandboxSpec, solved: list[bool] = solved) -> Sandbox:
            sandbox = new_sandbox(spec)
            try:
                sandbox.put(task.files)
                solved.append(bool(run_visible_tests(sandbox, task).state["solved"]))
            except BaseException:
                sandbox.close()
                raise
            return sandbox

        given = score(task, Changes(), visible_first)
        if any(solved) and task.shows_bug:
            return Validation(task.id, False, f"round {number}: the visible tests pass as given")
        if given.resolved:
            return Validation(task.id, False, f"round {number}: the hidden tests pass as given")
        cured = score(task, Changes(files=changed, deleted=deleted), new_sandbox)
        if not cured.resolved:
            return Validation(task.id, False, f"round {number}: with the fix, {_why(cured)}")
        lists = _lists(given, cured)
        if stable is not None and lists != stable:
            return Validation(task.id, False, f"round {number}: the tests that fail are not always the same")
        stable = lists
    fail_to_pass, pass_to_pass = stable or ((), ())
    return Validation(task.id, True, "", fail_to_pass, pass_to_pass)


def _why(cured: Score) -> str:
    tests = [*cured.unfixed, *cured.regressions]
    if tests:
        return f"{', '.join(tests[:3])} {'does' if len(tests) == 1 else 'do'} not pass"
    return "; ".join(cured.notes) or "the test command fails"


def _lists(given: Score, cured: Score) -> tuple[tuple[str, ...], tuple[str, ...]]:
    good = [test for test, outcome in cured.tests.items() if outcome in ("passed", "xfailed")]
    was_good = {test for test, outcome in given.tests.items() if outcome in ("passed", "xfailed")}
    return tuple(t for t in good if t not in was_good), tuple(t for t in good if t in was_good)
