"""The tool that shows a failure, what led to it, and how the run differs from one that passes."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field
from typing_extensions import TypedDict

from stackrank.env.actions import Observation
from stackrank.env.sandbox.replies import BadReply, checked
from stackrank.env.tools.base import Arguments, Bench, ToolError
from stackrank.env.tools.debugging.following import (
    TEST,
    Run,
    Stopped,
    Where,
    ending,
    follow,
    frames_of,
    frames_text,
    joined,
    spot,
    state_of,
    values,
)
from stackrank.env.tools.editing.difference import difference
from stackrank.env.tools.shown import clipped

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
        description="frames: all frames with their local variables at the first failure. steps: the lines that ran "
        "before it, with the variables that changed. tree: who called whom. difference: where the run of the failing "
        "test first differs from that of a passing one.",
    )
    back: int = Field(
        0, ge=0, description="Frames: not at the failure, but so many lines (stops) before it; `steps` counts them."
    )
    test: str | None = Field(None, description=TEST)
    passing: str | None = Field(
        None, description="Difference: the test to compare with. Default: a test of the same file that passes."
    )


class Snapshot:
    """Shows a failure and what led to it."""

    name = "snapshot"
    version = "2"
    runs_program = True
    description = (
        "Run a test into its first failing assertion or exception and show all frames with their local variables; or "
        "the program some lines before (back), the last steps, the tree of calls, or the first difference from the "
        "run of a passing test."
    )
    arguments = SnapshotArguments

    def __call__(self, bench: Bench, arguments: SnapshotArguments) -> Observation:
        """Return what was asked for, and how the run ended."""
        if arguments.show == "difference":
            return difference(bench, arguments.test, arguments.passing)
        if arguments.show == "tree":
            return _tree(bench, arguments)
        if arguments.show == "steps" or arguments.back:
            return _back(bench, arguments)
        run = follow(bench, arguments.test, "", first_failure=True)
        return _frames(run)


def _frames(run: Run) -> Observation:
    frames = frames_of(run)
    parts = list(ending(run))
    if frames:
        parts.append("The frames, the outermost first:")
        parts.append(frames_text(frames, 2500))
        if _is_over(run):
            parts.append(
                "[what this line called has returned: `show: steps` and `back` show what ran before, `tree` all]"
            )
    elif run.failure is not None:
        parts.append("None of its frames is in the workspace.")
    elif not run.notes:
        parts.append("There is no failure to show.")
    if run.failure is not None:
        for cause in run.failure["causes"]:
            parts += [f"It came from {cause['error']}", frames_text(cause["frames"][-2:], 600)]
    return Observation(joined(parts, run), state=state_of(run, frames, _event(run)))


def _is_over(run: Run) -> bool:
    """Whether the failure shows nothing but an assertion of the test about a call that has returned."""
    failure = run.failure
    return (
        failure is not None
        and failure["assertion"]
        and len(failure["frames"]) == 1
        and "(" in failure["frames"][0]["source"]
    )


def _event(run: Run) -> str:
    return "interrupted" if run.interrupted else "failed"


class _Step(Where):
    number: int
    source: str
    changed: dict[str, str]


class _Moment(TypedDict):
    calls: int
    lines: int
    counted: bool
    tired: bool
    stops: list[_Step]


def _back(bench: Bench, arguments: SnapshotArguments) -> Observation:
    """Show the stops before the failure, or the frames at one of them: then the program runs again up to that stop."""
    wanted = max(STEPS, arguments.back)

    def run(**clock: int) -> tuple[Run, _Moment | None]:
        asked = {"from_call": 0, "from_line": 0, "keep": wanted + 1, "budget": BUDGET, "capture": 0}
        found = follow(bench, arguments.test, "steps", first_failure=True, **{**asked, **clock})
        return found, _moment(found)

    start = {"from_call": 0, "from_line": 0}
    found, moment = run(**start)
    if moment is not None and moment["tired"] and found.failure is not None:
        # There are too many lines to record each. If they could not even be counted, count those of the last calls;
        # then record the last lines.
        if not moment["counted"]:
            start["from_call"] = moment["calls"] - NEAR_CALLS if moment["calls"] > NEAR_CALLS else 0
            found, moment = run(**{**start, "from_line": NEVER})
        if moment is not None:
            start["from_line"] = max(moment["lines"] - wanted, 0)
            found, moment = run(**start, budget=wanted + BUDGET)
    if moment is None or not moment["stops"]:
        return _frames(found)
    if not arguments.back:
        return _steps(found, moment)
    target = moment["lines"] - arguments.back
    if target < 1:
        raise ToolError(f"only {moment['lines'] - 1} stops before the failure are known: back has to be less")
    again, _ = run(**start, capture=target)
    captured = again.first("captured", Stopped)
    if captured is None:
        raise ToolError("the program did not come there again: it does not run the same way twice")
    error = found.failure["error"].split("\n")[0] if found.failure else "the end of its time"
    parts = [f"{arguments.back} stops before {error}", "The frames, the outermost first:"]
    parts += [frames_text(captured["frames"], 3000), *(f"[{note}]" for note in again.notes)]
    return Observation(joined(parts, again), state=state_of(found, captured["frames"], "stopped"))


def _moment(run: Run) -> _Moment | None:
    found = run.failure["where"] if run.failure is not None else run.first("moment", dict[str, Any])
    try:
        return checked(_Moment, found) if found else None
    except BadReply:
        return None


def _steps(run: Run, moment: _Moment) -> Observation:
    stops = moment["stops"][-STEPS - 1 :]
    lines = []
    known: set[tuple[str, str]] = set()
    for step in stops:
        away = moment["lines"] - step["number"]
        told = {*known}
        changed = values(step["changed"], told)
        if len(changed) <= _MOST_CHANGED:  # otherwise some of the values are cut off
            known = told
        changed = clipped(changed, _MOST_CHANGED)
        lines.append(f"-{away}  {spot(step)}: {step['source']}" + (f"\n        {changed}" if changed else ""))
    head = "The last lines that ran; below each, the variables that had changed when it was about to run:"
    if run.failure is None:
        head = "Some of the lines that ran; below each, the variables that had changed when it was about to run:"
    parts = [*ending(run), head, *lines]
    return Observation(joined(parts, run), state=state_of(run, frames_of(run), _event(run)))


class _Row(Where):
    depth: int
    count: int
    recursive: int
    raised: int
    counted: int


class _Rows(TypedDict):
    rows: list[_Row]
    tired: bool


def _tree(bench: Bench, arguments: SnapshotArguments) -> Observation:
    run = follow(bench, arguments.test, "tree", first_failure=True, from_call=0)
    tree = run.first("tree", _Rows)
    rows = tree["rows"] if tree else []
    lines = []
    for row in rows:
        notes = [f"{row['count']} calls"] if row["count"] > 1 else []
        notes += [f"{row['recursive']} more inside itself"] if row["recursive"] else []
        if row["raised"]:
            notes.append(f"left by an exception {row['raised']} times" if row["raised"] > 1 else "left by an exception")
        if row["counted"]:
            notes.append(f"then {row['counted']} more, from here or elsewhere, which were only counted")
        told = f": {', '.join(notes)}" if notes else ""
        lines.append(f"{'  ' * row['depth']}{row['function']} ({row['file']}:{row['line']}){told}")
    if tree and tree["tired"]:
        lines.append("[what came after so many calls was not followed]")
    if len(lines) > MOST_ROWS:
        # The deepest rows are left out first.
        limit = sorted(row["depth"] for row in rows)[MOST_ROWS]
        kept = [line for line, row in zip(lines, rows, strict=False) if row["depth"] < max(limit, 1)][:MOST_ROWS]
        lines = [*kept, f"[{len(rows) - len(kept)} lines of the tree left out, the deepest ones]"]
    parts = [*ending(run), "Who called whom:" if lines else "Nothing in the workspace was called.", *lines]
    return Observation(joined(parts, run), state=state_of(run, frames_of(run), _event(run)))
