"""The fixed vocabularies, which are the same in code, in tables, on the command line and on pages."""

from __future__ import annotations

from enum import StrEnum


class Verdict(StrEnum):
    """The result of an episode. `error`: the infrastructure failed, and no rate counts the episode."""

    RESOLVED = "resolved"
    UNRESOLVED = "unresolved"
    ERROR = "error"


class ErrorClass(StrEnum):
    """Who is responsible for an `error`. Never the entrant: what an entrant causes ends as `unresolved`."""

    MACHINE = "machine"
    """The operator's machines: a sandbox, the database, the interpreter, a worker that was killed or cancelled."""
    ENDPOINT = "endpoint"
    """The model's provider, and the network on the way to it."""
    ENVIRONMENT = "environment"
    """What the operator set up: the environment of a task, the configuration of an agent."""
    OURS = "ours"
    """A bug of stackrank."""


class RunStatus(StrEnum):
    """The state of a run."""

    PENDING = "pending"
    RUNNING = "running"
    FINISHED = "finished"
    CANCELLED = "cancelled"
    FAILED = "failed"

    @property
    def ended(self) -> bool:
        """Whether nothing more will happen to the run by itself."""
        return self not in (RunStatus.PENDING, RunStatus.RUNNING)


class ActKind(StrEnum):
    """What an operator does to a run, beside cancelling it."""

    PAUSE = "pause"
    RESUME = "resume"
    SET = "set"
    RETRY = "retry"


class EpisodeStatus(StrEnum):
    """The state of an episode; only `done` ones have a verdict."""

    PENDING = "pending"
    RUNNING = "running"
    DONE = "done"
    NOT_PLAYED = "not_played"
    """The run was decided without this episode: see `stop` in the specification."""


class Decision(StrEnum):
    """What a run has decided about two of its entrants; it holds however often you look."""

    AHEAD = "ahead"
    """The second is better."""
    BEHIND = "behind"
    EQUAL = "equal"
    """The difference is within the requested margin."""
    OPEN = "open"


class GateOutcome(StrEnum):
    """The answer of `stackrank compare --max-drop`."""

    NOT_WORSE = "not_worse"
    WORSE = "worse"
    UNKNOWN = "unknown"
    """Whether the candidate is worse is not known yet."""


class ErrorsAre(StrEnum):
    """How a rate counts errors."""

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
    """The conversation did not fit into the model's context, not even after it was cut."""
    AGENT_GAVE_UP = "agent_gave_up"
    REFUSED = "refused"
    """The model's endpoint refused to go on with the conversation because of what is in it."""
    MALFORMED_ACTIONS = "malformed_actions"
    SANDBOX_LOST = "sandbox_lost"
    """The last action killed its sandbox, and did so again in a new one; or a server of the entrant spoils it."""
    CANCELLED = "cancelled"
    DECIDED = "decided"
    """The episode was not played, because every comparison that it would have been part of was decided."""
    ERROR = "error"

    @property
    def is_limit(self) -> bool:
        """Whether the episode reached one of its limits."""
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
"""Version of the rules for milestones and failure points: another version may judge the same steps differently."""
HISTORY_CUT = "history_cut_to_tokens"
"""In a recorded request to a model: it holds all messages, because the history was cut to this many tokens before."""
UNKNOWN = "unknown"
"""Stands for the failure point of an unresolved episode that has none on record."""


class Milestone(StrEnum):
    """What an episode's steps can reach, in this order if all goes well. The reset's observation reaches none."""

    REPRODUCED = "reproduced"
    """A step saw the program, or one of its tests, fail."""
    LOCALIZED = "localized"
    """A step saw a line of the fault, or one close to it."""
    BREAKPOINT = "breakpoint"
    """A breakpoint was set in a faulty function."""
    INSPECTED = "inspected"
    """The debugger paused in a faulty function."""
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
    """The result of a test."""

    __test__ = False  # pytest would take this class for a test because of its name

    MISSING = "missing"
    """The test was collected but never finished."""
    UNSEEN = "unseen"
    """The verdict was settled before the test had run as its author wrote it."""
    PASSED = "passed"
    XFAILED = "xfailed"
    SKIPPED = "skipped"
    FAILED = "failed"


class DecisionKind(StrEnum):
    """A person's reaction to a proposed fix."""

    APPROVED = "approved"
    REJECTED = "rejected"
    COMMENT = "comment"
    """A remark that decides nothing."""


class Label(StrEnum):
    """A label that people give to a task or an episode."""

    DISPUTED = "disputed"
    BENCHMARK_BUG = "benchmark_bug"
    """Its tests, its fix or its files are wrong."""
    UNCLEAR_STATEMENT = "unclear_statement"
    FLAKY = "flaky"
    WRONG_VERDICT = "wrong_verdict"
    EXPLOIT = "exploit"
    """The episode was resolved by other means than a repair."""
    INSTRUCTIVE = "instructive"
    """Worth showing to others."""

    @property
    def disputes(self) -> bool:
        """Whether a task with this label says little about entrants."""
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

DEBUGGERS = ("pdb", "inspect", "trace", "calls", "snapshot", "investigate", "debug")
"""The tools that show what a program does while it runs. Comparisons of tool sets are about these."""
