"""The tool that shows a failure, what led to it, and how the run differs from one that passes."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from stackrank.env.actions import Observation
from stackrank.env.sandbox.replies.records import Before, Captured, Moment, Tree
from stackrank.env.tools.base import Arguments, Bench, ToolError
from stackrank.env.tools.debugging.following import (
    TEST,
    Run,
    describe_end,
    follow,
    format_place,
    format_variables,
    frames_of,
    frames_of_cause,
    frames_text,
    join_parts,
    state_of,
)
from stackrank.env.tools.editing.difference import compare_runs
from stackrank.env.tools.shown import clip
from stackrank.wording import count_of

STEPS = 12
"""How many stops before a failure are shown."""
BUDGET = 200
"""How many lines are recorded with their variables before it is known which ones matter; others are counted."""
NEAR_CALLS = 20
"""If not all lines before a failure can be counted, the lines of this many last calls are."""
NEVER = 10**12
"""The number of a line that no run reaches."""
MOST_ROWS = 40
_MOST_CHANGED = 300


class SnapshotArguments(Arguments):
    """What to show of the failure."""

    show: Literal["frames", "steps", "tree", "difference"] = Field(
        "frames",
        description="frames: at the failure, with their local variables. steps: the lines that ran before it, with "
        "the variables that changed. tree: who called whom. difference: where the run first differs from that of a "
        "passing test.",
    )
    back: int = Field(0, ge=0, description="Frames: this many lines before the failure; `steps` counts them.")
    test: str | None = Field(None, description=TEST)
    passing: str | None = Field(
        None, description="Difference: the passing test to compare with. Default: the most similar."
    )


class Snapshot:
    """Shows a failure and what led to it."""

    name = "snapshot"
    version = "2"
    runs_program = True
    description = "Run a test into its first failure, and show the program there or what led to it."
    arguments = SnapshotArguments

    def __call__(self, bench: Bench, arguments: SnapshotArguments) -> Observation:
        """Return what was asked for, and how the run ended."""
        if arguments.show == "difference":
            return compare_runs(bench, arguments.test, arguments.passing)
        if arguments.show == "tree":
            return _tree(bench, arguments)
        if arguments.show == "steps" or arguments.back:
            return _before_failure(bench, arguments)
        run = follow(bench, arguments.test, "", first_failure=True)
        return _frames(run)


def _frames(run: Run) -> Observation:
    frames = frames_of(run)
    parts = list(describe_end(run))
    if frames:
        parts.append("The frames, outermost first:")
        parts.append(frames_text(frames, 2500))
        if _is_over(run):
            parts.append(
                "[the call in this line has returned: `show: steps` and `back` show the lines before, `tree` all calls]"
            )
    elif run.failure is not None:
        parts.append("None of its frames is in the workspace.")
    elif not run.notes and run.outcomes and {*run.outcomes.values()} <= {"passed", "skipped", "xfailed"}:
        parts.append("Nothing failed.")
    if run.failure is not None:
        for cause in run.failure.causes:
            parts += [f"It was caused by {cause.error}", frames_text(frames_of_cause(run.failure, cause), 600)]
    return Observation(join_parts(parts, run), state=state_of(run, frames, _event(run)))


def _is_over(run: Run) -> bool:
    """Whether the failure shows nothing but an assertion of the test about a call that has returned."""
    failure = run.failure
    return failure is not None and failure.assertion and len(failure.frames) == 1 and "(" in failure.frames[0].source


def _event(run: Run) -> str:
    return "interrupted" if run.interrupted else "failed"


def _before_failure(bench: Bench, arguments: SnapshotArguments) -> Observation:
    """Show the stops before the failure, or the frames at one of them: then the program runs again up to that stop."""
    steps = max(STEPS, arguments.back)

    def run(**clock: int) -> tuple[Run, Before | None]:
        options = {"from_call": 0, "from_line": 0, "keep": steps + 1, "budget": BUDGET, "capture": 0}
        report = follow(bench, arguments.test, "steps", first_failure=True, **{**options, **clock})
        return report, _moment(report)

    start = {"from_call": 0, "from_line": 0}
    report, moment = run(**start)
    if moment is not None and moment.tired and report.failure is not None:
        # There are too many lines to record each. If they could not even be counted, count those of the last calls;
        # then record the last lines.
        if not moment.counted:
            start["from_call"] = moment.calls - NEAR_CALLS if moment.calls > NEAR_CALLS else 0
            report, moment = run(**{**start, "from_line": NEVER})
        if moment is not None:
            start["from_line"] = max(moment.lines - steps, 0)
            report, moment = run(**start, budget=steps + BUDGET)
    if moment is None or not moment.stops:
        return _frames(report)
    if not arguments.back:
        return _steps(report, moment)
    target = moment.lines - arguments.back
    if target < 1:
        raise ToolError(
            f"only {count_of(moment.lines - 1, 'line')} before the failure are known: give a smaller `back`"
        )
    repeat, _ = run(**start, capture=target)
    captured = repeat.first(Captured)
    if captured is None:
        raise ToolError("the program did not reach that stop again: it does not run the same way twice")
    error = report.error.split("\n")[0] if report.failure else "the time limit"
    parts = [f"{count_of(arguments.back, 'line')} before {error}", "The frames, outermost first:"]
    parts += [frames_text(captured.frames, 3000), *(f"[{note}]" for note in repeat.notes)]
    return Observation(join_parts(parts, repeat), state=state_of(report, captured.frames, "stopped"))


def _moment(run: Run) -> Before | None:
    return run.failure.where if run.failure is not None else run.first(Moment)


def _steps(run: Run, moment: Before) -> Observation:
    stops = moment.stops[-STEPS - 1 :]
    lines = []
    seen_values: set[tuple[str, str]] = set()
    for step in stops:
        distance = moment.lines - step.number
        new_seen = {*seen_values}
        changed = format_variables(step.changed, new_seen)
        if len(changed) <= _MOST_CHANGED:  # otherwise some of the values are cut off
            seen_values = new_seen
        changed = clip(changed, _MOST_CHANGED)
        lines.append(f"-{distance}  {format_place(step)}: {step.source}" + (f"\n        {changed}" if changed else ""))
    head = "The last lines that ran; below each, the variables that had changed when it was about to run:"
    if run.failure is None:
        head = "Some of the lines that ran; below each, the variables that had changed when it was about to run:"
    parts = [*describe_end(run), head, *lines]
    return Observation(join_parts(parts, run), state=state_of(run, frames_of(run), _event(run)))


def _tree(bench: Bench, arguments: SnapshotArguments) -> Observation:
    run = follow(bench, arguments.test, "tree", first_failure=True, from_call=0)
    tree = run.first(Tree)
    rows = tree.rows if tree else ()
    lines = []
    for row in rows:
        notes = [f"{count_of(row.count, 'call')}"] if row.count > 1 else []
        notes += [f"{row.recursive} more inside itself"] if row.recursive else []
        if row.raised:
            notes.append(f"raised an exception {row.raised} times" if row.raised > 1 else "raised an exception")
        if row.counted:
            notes.append(f"then {row.counted} more from any caller, which were only counted")
        notes_text = f": {', '.join(notes)}" if notes else ""
        lines.append(f"{'  ' * row.depth}{row.function} ({row.file}:{row.line}){notes_text}")
    if tree and tree.tired:
        lines.append("[later calls were not followed]")
    if len(lines) > MOST_ROWS:
        # The deepest rows are left out first.
        limit = sorted(row.depth for row in rows)[MOST_ROWS]
        visible = [line for line, row in zip(lines, rows, strict=False) if row.depth < max(limit, 1)][:MOST_ROWS]
        lines = [*visible, f"[{count_of(len(rows) - len(visible), 'line')} of the tree omitted, the deepest ones]"]
    parts = [*describe_end(run), "Who called whom:" if lines else "Nothing in the workspace was called.", *lines]
    return Observation(join_parts(parts, run), state=state_of(run, frames_of(run), _event(run)))
