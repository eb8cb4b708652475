"""Going back to an earlier step, from which the episode goes on: it branches there.

The environment carries out the steps that led there again, in a fresh sandbox, and compares each with its record.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol, cast

from pydantic import Field

from stackrank import lines
from stackrank.env.actions import Action, Observation
from stackrank.env.sandbox.client import Changes
from stackrank.env.sandbox.replies.workspace import Footprint
from stackrank.env.state import BranchState, State
from stackrank.env.tools.base import Arguments, Bench, ToolError
from stackrank.errors import StackrankError
from stackrank.terms import StopReason

_MOST_PIDS = 1000
"""More process ids than this are not used up one by one."""


class PastStep(NamedTuple):
    """A step as the environment remembers it."""

    action: Action | None
    """None: the reset, or a step in which nothing was done."""
    observation: Observation


class Repeater(Protocol):
    """The part of `DebugEnv` that repeats steps."""

    @property
    def over(self) -> StopReason | None:
        """Why the episode is over; None if it is not."""
        ...

    def step(self, action: Action) -> tuple[Observation, float, bool, bool, Any]:
        """Carry out one action."""
        ...


class StepsDiffer(StackrankError):
    """An episode cannot be branched, because a step comes out differently when it is repeated."""

    def __init__(self, index: int, difference: str) -> None:
        super().__init__(
            f"step {index} cannot be repeated: {difference}. A step that depends on the clock, on chance or on a "
            "network comes out differently each time"
        )


def line_to(history: Sequence[PastStep], at: int) -> list[int]:
    """Return the indices of the steps that led to step `at`, without the branches that were left on the way.

    The reset comes first. Calls of `branch` are left out, whether they went back or not.
    """
    states = [step.observation.state for step in history]
    branches = {index: state["at"] for index, state in enumerate(states) if state["kind"] == "branch"}
    line = sorted(index for span in lines.line_to(branches, at) for index in span)
    return [index for index in line if (action := history[index].action) is None or action.tool != Branch.name]


def pid_if_clean(before: Footprint, after: Footprint) -> int | None:
    """Return the last process id that programs used, if they left nothing else behind; None if they did.

    Then a new sandbox in which so many process ids are used up is as if they had run there.
    """
    is_clean = before.left == after.left != "" and 0 <= after.pid - before.pid <= _MOST_PIDS
    return after.pid if is_clean else None


def repeat_line(env: Repeater, first: Observation, history: Sequence[PastStep], at: int) -> None:
    """Carry out in a new environment what led to step `at`, and compare. Raises StepsDiffer, SandboxError.

    `first`: what the reset of the new environment showed.
    """
    for index in line_to(history, at):
        action, past = history[index]
        if index and action is None:
            continue
        observation = env.step(action)[0] if action else first
        if (past.repeatable_text, past.ok) != (observation.repeatable_text, observation.ok):
            raise StepsDiffer(index, "its observation differs")
        if past.state.get("diff", "") != observation.state.get("diff", ""):
            raise StepsDiffer(index, "it changes files differently")
        if env.over:
            raise StepsDiffer(index, f"the episode is over after it ({env.over})")


def compare_workspaces(index: int, past: Changes, repeated: Changes) -> None:
    """Raise StepsDiffer if the workspaces differ in something that no observation has shown."""
    paths = {*past.files, *repeated.files, *past.deleted, *repeated.deleted}
    differing = sorted(
        path
        for path in paths
        if past.files.get(path) != repeated.files.get(path) or (path in past.deleted) != (path in repeated.deleted)
    )
    if differing:
        raise StepsDiffer(index, f"it or a step before it writes {', '.join(differing[:3])} with another content")


def describe_return(at: int, past: PastStep, before: Bench, after: Bench) -> Observation:
    """Return the observation of going back to step `at` from the bench `before`."""
    state = {**after.changes_since(before), **BranchState(kind="branch", at=at)}
    name = f" ({past.action.tool})" if past.action else ""
    return Observation(f"Everything is as it was after step {at}{name}.", state=cast(State, state))


class BranchArguments(Arguments):
    """Where to go back to."""

    at: int = Field(ge=0, description="The step to go back to. Every call is a step; your first one is step 1.")


class Branch:
    """Goes back to an earlier step."""

    name = "branch"
    version = "1"
    description = (
        "Go back to how everything was after an earlier step, to continue from there in another way: the files, the "
        "debugger, and what runs in the terminal. `at=0` goes back to the beginning. You can go back to any step, also "
        "to one that you have left by going back."
    )
    arguments = BranchArguments

    def __call__(self, bench: Bench, arguments: BranchArguments) -> Observation:
        """Always raises ToolError: it is `DebugEnv` that goes back, because a bench has no history."""
        raise ToolError("there is no history here to go back in")
