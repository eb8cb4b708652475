"""The verdict of an episode. This page is the threat model: what is claimed, by which means, and what is not.

The setting. An agent has changed files of a task, and may have meant to look right without being right. Its changes are
carried into a fresh copy of the task in a fresh sandbox, limited to files that it may edit (`carry_over`). Tests, other
files in their folders, and files that Python or pytest load by name stay as they were. Hidden tests and the known fix
are in no sandbox in which an agent's action runs. Then the tests run in one process with the changed code.

Within one process, code can do anything: find its observer, replace comparisons, write the report itself. So the
process is not trusted. What it cannot know is which answer is wanted (`blind`). For each test that decides there are
contradictions (`contradictions`): the same test with one expectation changed, proved to fail with the known fix and to
change nothing else (`prove`). A verdict takes two or three runs, each in a fresh sandbox; a random draw decides for
each hidden test in which runs it is contradicted. An episode is resolved if it passes every genuine test and fails
every contradicted one. No honest, deterministic program meets both `f(x) == 7` and `f(x) == 8`, so a test that passes
both ways proves that the outcome does not come from the program: the episode is `unresolved`, and `tampered`, with test
and change as evidence. (A wrong program may meet a contradiction; then its genuine test fails, and nobody has
tampered.)

What follows from it:

- A forged report, comparisons that always succeed, values read from the test's source, a process that ended early:
  each gives the same answer to the test and its contradiction, and is detected, however it was done.
- Guessing succeeds with a probability of two to the minus k, where k is the number of hidden units that were
  contradicted and that the bug makes fail. In other units the program as given is right, and tells a forger which
  answer is wanted. This k is `Score.sealed`. If it is small, a third run has other contradictions.
- An agent that repairs all tests but one, and leaves this one to chance, is right in half of the cases: per test, a
  verdict is as strong as a coin toss. k says how strong it is against an agent that repairs nothing.

A program that would be sealed runs once more, with hidden tests that do not say what they expect (`withheld`), and has
to answer as the known fix does. So nothing is gained by asking the tests which of several repairs is right.

What does not follow:

- Code that recognises a test's input and gives the wanted answer is not detected, if its author knew the answer. Nobody
  knows the answers of hidden tests; visible ones are contradicted too, which detects carelessness, and count nothing.
- A test without a written expectation has no contradiction. `stackrank tasks` counts such tests of a task. If all tests
  are like that, or results are read from printed output, a verdict is not verified, and `Score.unsealed` says why. Such
  a run looks for signs instead: tests that must fail (canaries), and calls of the reporter from changed files. They
  find the usual tricks and no more.
- If no fix is known, the program that passes takes its place (`own_reference`), and the list of tests comes from the
  program as given (`outline`). Tests that pass whatever they expect are evidence. Such a verdict is never sealed.
- Nor is one if the program as given answers withheld expectations as the fix does (`Proof.distinguishing`).
- Tests of relations (`"ab" in f(x)`) have no answer that could be asked for without saying what is wanted.
- Sandboxes that run at the same time can signal to each other, by load, caches, or locks on files that they share. To
  later ones they can leave no message in files; where that is not ensured (`Channel.shared`), no verdict is sealed.
- A command that is not pytest and tells no more than its exit status counts as one test, contradicted as a whole: a
  forger that always reports success is detected, and one that tosses a coin is right in a half or a quarter of the
  cases.
- A contradiction whose text gives it away (`!=` where a test would say `==`) detects forgers who do not look, and adds
  nothing to k.

A task with several faults gets one such verdict for each of them (`by_fault`).

Before all that, cheaper means make most attempts fail: pytest and the reporter are imported before the workspace is on
the path; results are taken from the exception that a test raised; report lines carry a keyed hash and a running number;
a skip or an expected failure counts only if the known fix showed it too. `Score.notes` says what was tried.
`Score.suspicious` lists machinery that a repair does not need, for people; it decides nothing.
"""

from __future__ import annotations

import functools
import threading
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from stackrank.env.patches import PatchError, apply_patch, make_diff
from stackrank.env.sandbox.base import (
    GuestBug,
    MachineBusy,
    PreparationFailed,
    Refused,
    SandboxClosed,
    SandboxError,
    SandboxSpec,
    spec_for,
)
from stackrank.env.sandbox.client import Changes, Sandbox
from stackrank.env.sandbox.guest.core.messages import message
from stackrank.env.scoring.blind import Sightings, plan, why_not_sealable
from stackrank.env.scoring.by_fault.parts import proof_of_fault, score_parts, score_shared
from stackrank.env.scoring.carry_over import Work, carry_over
from stackrank.env.scoring.judge import KEPT_CAP, Run, Score, run_tests, shortcomings, signs
from stackrank.env.scoring.proof import Contradiction, Proof, contradicted, find_proof, save_proof
from stackrank.env.scoring.prove import prove
from stackrank.env.scoring.withheld.answers import differing, repeated
from stackrank.env.scoring.withheld.questions import withhold
from stackrank.env.scoring.without_fix.own_reference import OwnReference
from stackrank.env.suspicious import find_suspicious
from stackrank.env.task import Task

NewSandbox = Callable[[SandboxSpec], Sandbox]

_proving: defaultdict[str, threading.Lock] = defaultdict(threading.Lock)


Guard = Callable[[Callable[[], Score]], Score]
"""Carries out the verdict on one fault; may repeat it, and say what comes of an error."""


def score(task: Task, changes: Changes, new_sandbox: NewSandbox, guard: Guard = lambda judge_one: judge_one()) -> Score:
    """Return the verdict on an agent's changes. Raises SandboxError, which the changes may have caused (see
    `DebugEnv.judge`); PreparationFailed and MachineBusy, which they have not caused.

    `guard` is asked for each fault with a folder of its own, so that none can spoil the verdicts on the others.
    """
    if task.is_composed:
        return score_parts(task, changes, lambda part, own: guard(lambda: score(part, own, new_sandbox)))
    return guard(lambda: _score_workspace(task, changes, new_sandbox))


def _score_workspace(task: Task, changes: Changes, new_sandbox: NewSandbox) -> Score:
    """Return the verdict on a task whose faults share a workspace, or that has one fault."""
    whole = _whole(task, changes, new_sandbox)
    if not task.parts:
        return whole

    @functools.cache
    def shared_proof() -> Proof | None:
        # One proof serves all faults. Without a known fix, each is judged by what the program itself shows.
        return _proved(task, new_sandbox) if task.fix else find_proof(task)

    def proof_of(own: Task) -> Proof | None:
        proof = shared_proof()
        return proof_of_fault(proof, task, own) if proof else None

    def judge_tests(own: Task) -> Score:
        proof = proof_of(own)
        return _whole(replace(own, proof=proof.dump() if proof else ""), changes, new_sandbox)

    def strength_of(own: Task) -> int:
        proof = proof_of(own)
        return plan(own, proof, proof.contradictions).strength if proof else 0

    return score_shared(task, whole, judge_tests, strength_of)


def _whole(task: Task, changes: Changes, new_sandbox: NewSandbox) -> Score:
    """Return the verdict on a task as if it had one fault."""
    work = carry_over(task, changes)
    proof = find_proof(task)
    if proof is None and task.fix:
        outcome = _plain(task, work, new_sandbox)
        if not outcome.resolved:
            return outcome
    if proof is None:
        proof = _proved(task, new_sandbox)
    if task.fix or not proof.cases:
        return _blind(task, work, proof, new_sandbox)
    return _by_itself(task, work, proof, new_sandbox)


def score_in(sandbox: Sandbox, task: Task, changes: Changes, fresh: bool = False) -> Score:
    """Score trusted changes by one run, in a sandbox in which no agent has acted.

    `fresh`: the sandbox is cleared first.
    """
    work = carry_over(task, changes)
    run = run_tests(sandbox, task, {**work.files, **task.hidden_files}, fresh=fresh)
    return _Verdict(task, work, None).after(run, ())


def _proved(task: Task, new_sandbox: NewSandbox) -> Proof:
    """Make the proof of a task that has none yet, once on this machine. Raises PreparationFailed, MachineBusy."""
    with _proving[task.digest]:
        proof = find_proof(task)
        if proof is None:
            with (
                _preparing(message(f"could not prove the contradictions of {task.id}")),
                new_sandbox(spec_for(task, warm=False)) as sandbox,
            ):
                proof = prove(task, sandbox)
            save_proof(task, proof)
        return proof


@contextmanager
def _preparing(problem: str) -> Iterator[None]:
    """Turn errors that are not the agent's fault into PreparationFailed; those that say whose they are pass through."""
    try:
        yield
    except (MachineBusy, PreparationFailed, SandboxClosed):
        raise
    except (PatchError, SandboxError, GuestBug, Refused) as error:
        raise PreparationFailed(f"{problem}: {error}") from error


def _plain(task: Task, work: Work, new_sandbox: NewSandbox, proof: Proof | None = None) -> Score:
    """Return the verdict from one run without contradictions."""
    return _score_once(task, work, new_sandbox, proof)[0]


def _score_once(task: Task, work: Work, new_sandbox: NewSandbox, proof: Proof | None) -> tuple[Score, Run]:
    """Return the verdict from one run without contradictions, and the run."""
    run = _run(task, {**work.files, **task.hidden_files}, new_sandbox, work.changed)
    verdict = _Verdict(task, work, proof if proof and proof.deciding else None)
    return replace(verdict.after(run, ()), unsealed=proof.reason if proof else ""), run


def _by_itself(task: Task, work: Work, known: Proof, new_sandbox: NewSandbox) -> Score:
    """Return the verdict on a task without a fix. `known`: what the task as given shows."""
    outcome, run = _score_once(task, work, new_sandbox, known)
    if not outcome.resolved:
        return outcome
    reference = OwnReference(task, known, work.files, run, lambda files: _run(task, files, new_sandbox))
    proof = reference.proof()
    if evidence := reference.evidence():
        notes = (*outcome.notes, *evidence)
        return replace(outcome, resolved=False, tampered=True, unsealed="", notes=notes)
    contradictions = proof.contradictions
    if contradictions and not any(contradiction.path in task.hidden_files for contradiction in contradictions):
        # Nothing is drawn at random: the two runs of a blind verdict are the ones that were made.
        return replace(outcome, verified=not all(contradiction.telling for contradiction in contradictions))
    outcome = _blind(task, work, proof, new_sandbox)
    return replace(outcome, unsealed=known.reason) if outcome.resolved else outcome


def _blind(task: Task, work: Work, proof: Proof, new_sandbox: NewSandbox) -> Score:
    """Return the verdict from two or three runs. The first run settles most verdicts other than resolved."""
    files = {**work.files, **task.hidden_files}
    original = {**task.files, **task.hidden_files}
    usable = [
        contradiction
        for contradiction in proof.contradictions
        if files.get(contradiction.path) == original[contradiction.path]
    ]
    if not usable:
        return _plain(task, work, new_sandbox, proof)
    verdict = _Verdict(task, work, proof)
    draw = plan(task, proof, usable)
    for contradictions in draw.runs:
        run = _run(task, contradicted(files, contradictions), new_sandbox)
        outcome = verdict.after(run, contradictions)
        if verdict.settled(outcome):
            return outcome
    # A test that only ever fails, added to a command that tells no more than its status, can be told from the others.
    outcome = replace(outcome, verified=not all(contradiction.telling for contradiction in usable))
    if reason := why_not_sealable(task, replace(proof, contradictions=tuple(usable))):
        return replace(outcome, unsealed=reason)
    if run.shared:
        return replace(outcome, unsealed=message(f"a sandbox can leave messages to later ones: {run.shared}"))
    if tests_differing := _differing(task, proof, files, new_sandbox):
        tests = ", ".join(tests_differing[:3])
        reason = message(f"its answers differ from the known fix when expected values are hidden ({tests})")
        return replace(outcome, unsealed=reason)
    return replace(outcome, sealed=draw.strength)


def _differing(task: Task, proof: Proof, files: Mapping[str, bytes], new_sandbox: NewSandbox) -> list[str]:
    """Return the tests that the program fails to answer as the fix does if they do not say what they expect."""
    withheld = withhold(task)
    run = _run(task, {**files, **withheld}, new_sandbox)
    answers = run.report.answers if run.report else {}
    if not differing(proof.answers, answers):
        return []
    # Before a difference counts against the program: answers that the fix does not give on this machine do not count.
    with _preparing(message(f"could not run the known fix of {task.id}")):
        fixed = {**apply_patch(task.files, task.fix), **task.hidden_files, **withheld}
        report = _run(task, fixed, new_sandbox).report
    return list(differing(repeated(proof.answers, report.answers if report else {}), answers))


def _run(task: Task, files: Mapping[str, bytes], new_sandbox: NewSandbox, suspects: list[str] | None = None) -> Run:
    """Run the tests in a fresh sandbox. Raises MachineBusy if it is the machine's fault that they did not end.

    On a busy machine, code that hangs waits for processors too, but no agent may get an error by hanging. So a trial
    decides: code hangs if it does not end twice, while the same tests end in between without the agent's work.
    """

    def once(files: Mapping[str, bytes], **options: Any) -> Run:
        with new_sandbox(spec_for(task, warm=False)) as sandbox:
            return run_tests(sandbox, task, files, **options)

    try:
        return once(files, suspects=suspects)
    except MachineBusy as busy:
        try:
            without = apply_patch(task.files, task.fix)
        except PatchError:
            without = dict(task.files)
        if once({**without, **task.hidden_files}).result.timed_out:
            raise busy from None  # nothing can be told from tests that never end
    return once(files, suspects=suspects, excuse=False)


class _Verdict:
    """Combines the runs of one verdict to a score."""

    def __init__(self, task: Task, work: Work, proof: Proof | None) -> None:
        self._task, self._work = task, work
        self._excused = proof.excused if proof else None
        self._cases = proof.cases if proof else None
        self._seen = Sightings()
        self._wall_ms = 0.0
        self._outputs: list[str] = []
        self._diff = make_diff(work.given, work.files)
        self._suspicious = find_suspicious(work.given, work.files)
        self._notes: list[str] = list(work.notes)
        self._tried: list[str] = list(work.attempts)

    def settled(self, outcome: Score) -> bool:
        """Whether a further run could neither improve the score nor change what it says about the failure."""
        if outcome.resolved:
            return False
        unseen = any(self._seen.outcomes.get(test) == "unseen" for test in self._task.must_pass)
        if self._seen.denied and not (outcome.unfixed or outcome.regressions or self._seen.evidence):
            return False  # only a run with the original tests shows whether the program is wrong or forges
        return bool(outcome.unfixed or outcome.timed_out or self._seen.evidence or not unseen)

    def after(self, run: Run, contradictions: Sequence[Contradiction]) -> Score:
        """Return the score after one more run, not sealed yet."""
        task, report, result = self._task, run.report, run.result
        self._seen.add(run, contradictions)
        self._wall_ms += result.wall_ms
        self._tried += signs(run)
        if result.timed_out:
            self._notes.append(message(f"the tests did not end within {task.limits.timeout_s:g} s"))
        unfixed, regressions = shortcomings(task, run, self._seen.outcomes, self._excused, self._cases)
        evidence = [*(report.suspicions if report else ()), *self._seen.evidence]
        resolved = not (unfixed or regressions or evidence or self._seen.denied or result.timed_out)
        errors = report.collect_errors if report else ()
        output = result.output[-KEPT_CAP:]
        if contradictions:
            tests = ", ".join(test for contradiction in contradictions for test in contradiction.tests)
            output = message(f"[Expectations were changed on purpose, so these tests have to fail: {tests}]\n{output}")
        return Score(
            resolved=resolved,
            tests=dict(self._seen.outcomes) if report else {},
            unfixed=unfixed,
            regressions=regressions,
            # A refused change that made no difference is only a note.
            tampered=bool(evidence or (self._tried and not resolved)),
            timed_out=result.timed_out,
            notes=tuple(dict.fromkeys([*self._notes, *self._tried, *evidence, *errors])),
            suspicious=self._suspicious,
            diff=self._diff,
            output=output,
            wall_ms=self._wall_ms,
            messages=report.messages if report else {},
        )
