"""The verdict on a task with several faults: each is judged by its own hidden tests, and sealed by itself.

A fault with a folder of its own is judged as a task of its own, in sandboxes of its own: only the changes in its folder
are carried over, and only its tests run. So a fault that hangs, or that somebody tried to forge, says nothing about the
others, and the verdict on a fault is the one that its task would have got alone.

Faults that share a workspace are groups of the tests that have to start passing. All tests run, as for a task with one
fault; if they leave the episode unresolved, each fault whose own tests passed is judged again, by these alone. Tests
that have to go on passing guard all faults: if one of them fails, nothing is mended.

A fault to which an entrant changed nothing is not mended, because validation has seen its tests fail as given.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from stackrank.env.patches import make_diff
from stackrank.env.sandbox.client import Changes
from stackrank.env.sandbox.guest.core.messages import message
from stackrank.env.scoring.carry_over import carry_over
from stackrank.env.scoring.judge import FaultScore, Score
from stackrank.env.scoring.proof import Proof
from stackrank.env.task import Part, Task

_MOST_NOTES = 20
JudgeOne = Callable[[Task, Changes], Score]
"""Gives the verdict on one fault."""
JudgeTests = Callable[[Task], Score]
"""Gives the verdict on the fault that the tests of a task show."""
StrengthOf = Callable[[Task], int]
"""Says in bits how strongly a verdict on that fault is sealed."""
_UNTOLD = message("no hidden test of this fault has an expectation that can be changed unnoticed")


def with_faults(task: Task, groups: Mapping[str, Sequence[str]]) -> Task:
    """Return a task whose `fail_to_pass` shows several faults that share its workspace: name -> its tests.

    With fewer than two groups, the task is returned as it is.
    """
    parts = (Part(name, "", replace(task, fail_to_pass=tuple(tests))) for name, tests in groups.items())
    return replace(task, parts=tuple(parts)) if len(groups) > 1 else task


def score_shared(task: Task, whole: Score, judge_one: JudgeTests, strength_of: StrengthOf) -> Score:
    """Return a verdict with that on each fault. `whole`: the verdict on the task as if it had one. Raises what
    `judge_one` raises, which is asked about the faults that may be mended although the task is not resolved."""
    is_void = bool(whole.regressions) or whole.tampered or whole.timed_out
    failing = {*whole.unfixed}
    faults = []
    for part in task.parts:
        own = replace(part.task, dropped=task.dropped)
        if not own.must_pass:
            continue  # none of its tests counts on this machine
        if whole.resolved:
            sealed = strength_of(own) if whole.sealed else 0
            faults.append(FaultScore(part.name, True, sealed, "" if sealed else whole.unsealed or _UNTOLD))
        elif is_void or not failing.isdisjoint(own.must_pass):
            faults.append(FaultScore(part.name, False))
        else:
            score = judge_one(own)
            faults.append(FaultScore(part.name, score.resolved, score.sealed, score.unsealed))
    return replace(whole, faults=tuple(faults))


def proof_of_fault(proof: Proof, task: Task, own: Task) -> Proof:
    """Return the part of a task's proof that holds while other faults are not mended. `own`: the fault as a task.

    With the known fix, it is the same program; only what the tests of other faults show is left out.
    """
    others = {*task.must_pass} - {*own.must_pass}
    answers = {test: asked for test, asked in proof.answers.items() if test not in others}
    return replace(
        proof,
        digest=own.digest,
        contradictions=tuple(change for change in proof.contradictions if others.isdisjoint(change.tests)),
        answers=answers,
        distinguishing=proof.distinguishing if not answers.keys().isdisjoint(own.must_pass) else 0,
    )


def score_parts(task: Task, changes: Changes, judge_one: JudgeOne) -> Score:
    """Return the verdict on a task whose faults have folders of their own. Raises what `judge_one` raises.

    It is resolved if every fault is mended. Ids of tests and paths in messages begin with the folder of their fault.
    """
    work = carry_over(task, changes)
    scores = [(part, _judge(part, changes, judge_one)) for part in task.parts]
    faults = tuple(FaultScore(part.name, score.resolved, score.sealed, score.unsealed) for part, score in scores)
    resolved = all(fault.mended for fault in faults)
    unsealed = next((f"{fault.name}: {fault.unsealed}" for fault in faults if fault.unsealed), "")
    notes = [f"{part.name}: {note}" for part, score in scores for note in score.notes]
    return Score(
        resolved=resolved,
        tests={_within(part, test): outcome for part, score in scores for test, outcome in score.tests.items()},
        unfixed=tuple(_within(part, test) for part, score in scores for test in score.unfixed),
        regressions=tuple(_within(part, test) for part, score in scores for test in score.regressions),
        tampered=any(score.tampered for _, score in scores),
        timed_out=any(score.timed_out for _, score in scores),
        notes=(*notes, *_elsewhere(task, changes)),
        verified=resolved and all(score.verified for _, score in scores),
        sealed=min(fault.sealed for fault in faults) if resolved else 0,
        unsealed=unsealed if resolved else "",
        suspicious=tuple(
            {**sign, "file": _within(part, sign["file"])} for part, score in scores for sign in score.suspicious
        ),
        diff=make_diff(work.given, work.files),
        output="\n\n".join(f"[{part.name}]\n{score.output}" for part, score in scores if score.output),
        wall_ms=sum(score.wall_ms for _, score in scores),
        messages={_within(part, test): text for part, score in scores for test, text in score.messages.items()},
        faults=faults,
    )


def _judge(part: Part, changes: Changes, judge_one: JudgeOne) -> Score:
    own = _own_changes(part, changes)
    if not (own.files or own.deleted or own.skipped):
        return Score(resolved=False)
    return judge_one(part.task, own)


def _own_changes(part: Part, changes: Changes) -> Changes:
    """Return the changes in the folder of a part, with paths relative to it."""
    inside = f"{part.folder}/"

    def own(paths: Iterable[str]) -> tuple[str, ...]:
        return tuple(path.removeprefix(inside) for path in paths if path.startswith(inside))

    files = {path.removeprefix(inside): content for path, content in changes.files.items() if path.startswith(inside)}
    return Changes(files, own(changes.deleted), own(changes.skipped))


def _elsewhere(task: Task, changes: Changes) -> tuple[str, ...]:
    """Say which changes belong to no fault, so that nothing judges them."""
    folders = tuple(f"{part.folder}/" for part in task.parts)
    paths = [path for path in (*changes.files, *changes.deleted) if not path.startswith(folders)]
    return tuple(message(f"not carried over: {path} belongs to no fault") for path in paths[:_MOST_NOTES])


def _within(part: Part, path: str) -> str:
    return f"{part.folder}/{path}"
