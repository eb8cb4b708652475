"""The closed vocabularies: what is said the same way in code, tables, on the command line and on pages."""

from __future__ import annotations

from enum import StrEnum


class Verdict(StrEnum):
    """What an episode came to. `error`: the infrastructure failed, and no rate counts the episode."""

    RESOLVED = "resolved"
    UNRESOLVED = "unresolved"
    ERROR = "error"


class ErrorClass(StrEnum):
    """Whose part of the world an `error` came from. None is the entrant's: what that causes is `unresolved`."""

    MACHINE = "machine"
    """The operator's machines: a sandbox, the database, the interpreter, a worker that was killed or cancelled."""
    ENDPOINT = "endpoint"
    """The model's provider, and the way there."""
    ENVIRONMENT = "environment"
    """What the operator set up: the environment of a task, the configuration of an agent."""
    OURS = "ours"
    """A fault of stackrank."""


class RunStatus(StrEnum):
    """Where a run is in its life."""

    PENDING = "pending"
    RUNNING = "running"
    FINISHED = "finished"
    CANCELLED = "cancelled"
    FAILED = "failed"

    @property
    def ended(self) -> bool:
        """Whether nothing more will happen to the run by itself."""
        return self not in (RunStatus.PENDING, RunStatus.RUNNING)


class EpisodeStatus(StrEnum):
    """Where an episode is in its life; only `done` ones have a verdict."""

    PENDING = "pending"
    RUNNING = "running"
    DONE = "done"
    NOT_PLAYED = "not_played"
    """The run knew what it was asked without it: see `stop` in the specification."""


class Decision(StrEnum):
    """What a run knows of two of its entrants, however often it was looked at."""

    AHEAD = "ahead"
    """The second is better."""
    BEHIND = "behind"
    EQUAL = "equal"
    """The difference is within the margin that was asked for."""
    OPEN = "open"


class GateOutcome(StrEnum):
    """What `stackrank compare --max-drop` answers."""

    NOT_WORSE = "not_worse"
    WORSE = "worse"
    UNKNOWN = "unknown"
    """It is not known yet."""


class ErrorsAre(StrEnum):
    """What errors count as in a rate."""

    LEFT_OUT = "left-out"
    AS_FAILURES = "as-failures"


class StopReason(StrEnum):
    """Why an episode ended."""

    SUBMITTED = "submitted"
    SOLVED = "solved"
    STEP_LIMIT = "step_limit"
    TOKEN_LIMIT = "token_limit"
    COST_LIMIT = "cost_limit"
    TIME_LIMIT = "time_limit"
    CONTEXT_LIMIT = "context_limit"
    """The conversation did not fit into the model's context, not even when it was cut."""
    AGENT_GAVE_UP = "agent_gave_up"
    REFUSED = "refused"
    """The model's endpoint refused to go on with the conversation because of what is in it."""
    MALFORMED_ACTIONS = "malformed_actions"
    SANDBOX_LOST = "sandbox_lost"
    """The last action ended its sandbox, and did so again in a new one."""
    CANCELLED = "cancelled"
    DECIDED = "decided"
    """It was not played: every comparison that it would have been part of was decided."""
    ERROR = "error"

    @property
    def is_limit(self) -> bool:
        """Whether the episode used up what it was given."""
        return self.endswith("_limit")


class FailurePoint(StrEnum):
    """Where an unresolved episode went wrong first, in the order of an episode's course."""

    NEVER_REPRODUCED = "never_reproduced"
    NEVER_LOCALIZED = "never_localized"
    LOCALIZED_NOT_EDITED = "localized_not_edited"
    WRONG_LOCATION = "wrong_location"
    WRONG_FIX = "wrong_fix"
    REGRESSION = "regression"
    BROKE_SYNTAX = "broke_syntax"
    LOOPED = "looped"
    MALFORMED_ACTIONS = "malformed_actions"
    OUT_OF_BUDGET = "out_of_budget"
    BROKE_SANDBOX = "broke_sandbox"
    TAMPERED = "tampered"


FAILURE_POINTS = "2"
"""Version of how milestones and failure points are worked out: another one may give the same steps others."""
UNKNOWN = "unknown"
"""Stands for the failure point of an unresolved episode that has none on record."""


class Milestone(StrEnum):
    """What an episode's steps reach, in this order if all goes well. What the reset shows reaches nothing."""

    REPRODUCED = "reproduced"
    """The program was seen to fail: a test of it, or itself."""
    LOCALIZED = "localized"
    """The fault was seen: a line of it, or one close to it."""
    BREAKPOINT = "breakpoint"
    """A breakpoint was set in a faulty function."""
    INSPECTED = "inspected"
    """The debugger paused there."""
    EDITED = "edited"
    """The fault was edited."""
    IMPROVED = "improved"
    """More tests pass than before."""
    SOLVED = "solved"
    """The visible tests pass."""


class Distance(StrEnum):
    """How near a step came to the known fault, nearest first."""

    LINE = "line"
    FUNCTION = "function"
    FILE = "file"
    ELSEWHERE = "elsewhere"


class TestOutcome(StrEnum):
    """What a test came to."""

    __test__ = False  # not a test, whatever pytest thinks of the name

    MISSING = "missing"
    """It was collected and never finished."""
    UNSEEN = "unseen"
    """The verdict was settled before it had run as its author wrote it."""
    PASSED = "passed"
    XFAILED = "xfailed"
    SKIPPED = "skipped"
    FAILED = "failed"


class DecisionKind(StrEnum):
    """What somebody said of a proposed fix."""

    APPROVED = "approved"
    REJECTED = "rejected"
    COMMENT = "comment"
    """It decides nothing."""


class Label(StrEnum):
    """What people say of a task or of an episode."""

    DISPUTED = "disputed"
    BENCHMARK_BUG = "benchmark_bug"
    """Its tests, its fix or its files are wrong."""
    UNCLEAR_STATEMENT = "unclear_statement"
    FLAKY = "flaky"
    WRONG_VERDICT = "wrong_verdict"
    EXPLOIT = "exploit"
    """Resolved by other means than a repair."""
    INSTRUCTIVE = "instructive"
    """Worth to be shown to others."""

    @property
    def disputes(self) -> bool:
        """Whether a task with it says little about entrants."""
        return self in (Label.DISPUTED, Label.BENCHMARK_BUG, Label.UNCLEAR_STATEMENT, Label.FLAKY)


STAGES = (
    Milestone.REPRODUCED,
    Milestone.LOCALIZED,
    Milestone.INSPECTED,
    Milestone.EDITED,
    Milestone.IMPROVED,
    Verdict.RESOLVED,
)
"""The stages of the funnel, in order: milestones, and the verdict at the end."""

DEBUGGERS = ("pdb", "trace", "calls", "snapshot", "investigate")
"""The tools that show what a program does while it runs, which comparisons of tool sets are about."""
