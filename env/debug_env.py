"""The environment: reset, step, score, close, as in Gymnasium (https://gymnasium.farama.org/api/env/)."""

from __future__ import annotations

import copy
import logging
from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeVar, cast

from stackrank.env.actions import Action, Observation, refusal
from stackrank.env.instructions import instructions
from stackrank.env.normalise import normalise
from stackrank.env.sandbox.base import (
    BadReply,
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
from stackrank.env.scoring.judge import Score
from stackrank.env.scoring.verdict import NewSandbox, score
from stackrank.env.state import State, outcomes_of
from stackrank.env.statement_alone import statement_alone
from stackrank.env.task import Task
from stackrank.env.tools import Bench, ToolError, ToolSet
from stackrank.env.tools.base import read_arguments
from stackrank.env.tools.branch import (
    Branch,
    PastStep,
    StepsDiffer,
    compare_workspaces,
    describe_return,
    line_to,
    pid_if_clean,
    repeat_line,
)
from stackrank.env.tools.debugging.investigate import restore_workspace
from stackrank.env.tools.run_tests import run_visible_tests
from stackrank.env.tools.server_plugin import server_plugin
from stackrank.env.tools.servers import ToolServerFailed, open_connection
from stackrank.env.tools.shown import cap, requested_limit, tidy_output
from stackrank.errors import InfrastructureError, StackrankError
from stackrank.host import awake
from stackrank.terms import StopReason

_TAKEN_OVER = "A program in the sandbox took the place of stackrank's own"
_NO_SERVER = "A tool server of this entrant cannot be used"

log = logging.getLogger(__name__)
Result = TypeVar("Result")


class SandboxLost(StackrankError):
    """A program in a sandbox brought the sandbox down, and did so again in a new one."""


class DebugEnv:
    """One episode on one task. Not thread-safe."""

    def __init__(
        self,
        task: Task,
        tools: ToolSet,
        new_sandbox: NewSandbox,
        *,
        end_when_solved: bool = True,
        rewards: bool = True,
        shows_failing_test: bool = True,
        shows_failure_state: bool = False,
        branches: bool = False,
    ) -> None:
        """`end_when_solved`: the episode ends by itself when `eval` shows every visible test passing.

        `shows_failing_test`: if False, or if no test of the task is visible, the agent has only the statement
        (`statement_alone`); raises BenchmarkError.
        `shows_failure_state`: whether the reset and each failing `eval` also show frames, variables and causes.
        `branches`: whether it will be branched, as with the tool `branch`: its reset then looks at what its tests left.
        `rewards`: whether the step that ends the episode takes the verdict; if False, `score` has to be called.
        """
        self.task = task
        self._statement_view = statement_alone(task) if not (shows_failing_test and task.test_command) else None
        self.shown = task if self._statement_view is None else self._statement_view.task
        """The task as the agent sees it."""
        self.tools = tools.for_toolchain(task.toolchain) if task.toolchain else tools
        self._new_sandbox = new_sandbox
        self.ends_when_solved = end_when_solved and self.shown.shows_bug
        """Whether an `eval` that shows every visible test passing ends the episode: not if none shows the bug."""
        self._rewards = rewards
        self._shows_failure_state = shows_failure_state
        self.branches = branches or Branch.name in tools.tools
        self._bench: Bench | None = None
        self._score: Score | None = None
        self._over: StopReason | None = None
        self._history: list[PastStep] = []
        """The steps so far, the reset first."""
        self._last_pid: int | None = None
        """The last process id after the tests of the reset; None if nobody looked, or if they left something else."""
        self._failures: list[str] = []
        """How tools failed unexpectedly, each in a sentence."""
        self.changes: Changes | None = None
        self.score_ms = 0.0

    def __enter__(self) -> DebugEnv:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def sandbox(self) -> Sandbox:
        """The episode's sandbox. Raises RuntimeError before `reset`."""
        return self._require_bench().sandbox

    @property
    def spec(self) -> SandboxSpec:
        """What kind of sandbox the episode takes, for its beginning and for each branch."""
        return replace(spec_for(self.task), prefixes=self.tools.prefixes)

    @property
    def over(self) -> StopReason | None:
        """Why the episode is over, if the environment ended it: `submitted`, `solved`, `sandbox_lost`; else None."""
        return self._over

    def reset(self) -> tuple[Observation, dict[str, Any]]:
        """Start a fresh sandbox; return instructions and the tests' output.

        Raises SandboxError, PreparationFailed. If a server of the entrant fails or takes the guest's place, the episode
        is over.
        """
        observation = self._begin()
        self._history = [PastStep(None, observation)]
        return observation, {"task": self.task.id, "tools": list(self.tools.tools)}

    def _begin(self, past: Observation | None = None) -> Observation:
        """Reset, or repeat the reset that showed `past`. Then tests that left nothing behind do not run again."""
        self.close()
        started = awake.now()
        self._over, self._score, self.changes = None, None, None
        self._history, self._failures = [], []
        try:
            bench = self._open_bench()
            if past is not None and self._last_pid is not None:
                bench.sandbox.use_pids(self._last_pid)
                bench.outcomes = outcomes_of(past.state)
                return past
            tests = self._run_first_tests(bench)
        except ToolServerFailed as fault:
            return self._end_by(fault, _NO_SERVER)
        except GuestBug as fault:
            if not self.tools.offers:  # nothing of the entrant runs yet
                raise PreparationFailed(f"the episode of {self.task.id} could not be prepared: {fault}") from None
            return self._end_by(fault, _TAKEN_OVER)
        output = tidy_output(tests.text)  # as `eval` shows it
        told = instructions(self.task.statement, self.shown, self.tools.tools, self._statement_view)
        text = normalise("\n\n".join(filter(None, (told, output))), bench.sandbox.root)
        env_ms = (awake.now() - started) * 1000
        return Observation(text, True, tests.state, env_ms).with_failure_state(bench.sandbox.root)

    def step(self, action: Action) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Carry out one action: (observation, reward, terminated, truncated, info).

        The reward is 1.0 if the episode ends here and its verdict is `resolved`, else 0.0; `truncated` is always
        False, because the caller sets the budgets. Errors that the agent can correct are observations that are not ok.
        Raises SandboxError if the infrastructure fails, RuntimeError if no episode is in progress.
        """
        if self._over:
            raise RuntimeError(f"the episode is over ({self._over}): call reset")
        self._require_bench()
        started = awake.now()
        observation, max_chars = self._act(action)
        bench = self._require_bench()
        env_ms = (awake.now() - started) * 1000
        # Every observation of a tool passes through here, and only here.
        text = cap(normalise(observation.text, bench.sandbox.root), max_chars)
        observation = Observation(text, observation.ok, observation.state, env_ms)
        observation = observation.with_failure_state(bench.sandbox.root)
        if observation.ok:
            bench.counts[action.tool] = bench.counts.get(action.tool, 0) + 1
        if observation.state["kind"] == "submitted":
            self._over = StopReason.SUBMITTED
        elif action.tool == "eval" and self._is_end(bench, observation.state):
            self._over = StopReason.SOLVED
        self._history.append(PastStep(action, observation))
        reward = float(self.score().resolved) if self._over and self._rewards else 0.0
        return observation, reward, bool(self._over), False, {"over": self._over or ""}

    def skip(self, observation: Observation) -> None:
        """Count a step in which nothing is done, because the agent's output is not an action."""
        self._history.append(PastStep(None, observation))

    def branch(self, at: int, new_sandbox: NewSandbox | None = None) -> DebugEnv:
        """Return another environment that stands where this one stood after step `at`, which exists; 0 is the reset.

        The steps that led there are carried out again in a fresh sandbox and compared; after the last step, also the
        workspaces. `new_sandbox`: where the other one takes its sandboxes from, if not from where this one does.
        Raises StepsDiffer if a step comes out differently, SandboxError.
        """
        other = copy.copy(self)
        other._bench, other._new_sandbox = None, new_sandbox or self._new_sandbox
        try:
            first = other._begin(self._history[0].observation)
            other._history = [PastStep(None, first)]
            repeat_line(other, first, self._history, at)
            if self._bench is not None and at == len(self._history) - 1:
                compare_workspaces(at, self.sandbox.changes(), other.sandbox.changes())
        except BaseException:
            other.close()
            raise
        other._history = self._history[: at + 1]
        return other

    def _go_back(self, at: int) -> Observation:
        """Stand where the episode stood after step `at`."""
        if at > (last := len(self._history) - 1):
            return Observation(f"There is no step {at} to go back to: the last one was step {last}.", False)
        try:
            branch = self.branch(at)
        except StepsDiffer as error:
            return Observation(f"Cannot go back: {error}. Nothing has changed.", False)
        before, after = self._require_bench(), branch._require_bench()
        if after.investigation is not None:
            branch.close()
            return Observation(f"Cannot go back to step {at}: it is part of an investigation.", False)
        self.close()
        self._bench, self._failures = after, branch._failures
        return describe_return(at, self._history[at], before, after)

    def _is_end(self, bench: Bench, tests: State) -> bool:
        """Whether this run of the tests ends the episode; during an investigation nothing does."""
        return self.ends_when_solved and bench.investigation is None and tests["kind"] == "tests" and tests["solved"]

    def _open_bench(self) -> Bench:
        sandbox = self._new_sandbox(self.spec)
        own_test = self._statement_view.own_test if self._statement_view is not None else ""
        self._bench = Bench(sandbox, self.shown, must_parse=self.tools.must_parse, own_test=own_test)
        self._bench.shows_failure_state = self._shows_failure_state
        try:
            sandbox.put(self.shown.files)
        except (Refused, GuestBug) as error:  # no agent has touched these files
            raise PreparationFailed(f"the files of {self.task.id} cannot be written into a sandbox: {error}") from None
        for offer in self.tools.offers:
            connection = server_plugin().connect(sandbox, offer.name, offer.server, offer)
            self._bench.servers[offer.name] = connection
            open_connection(connection)
        return self._bench

    def _run_first_tests(self, bench: Bench) -> Observation:
        if self._statement_view is not None and not self._statement_view.runs:
            return Observation("")
        before = bench.sandbox.footprint() if self.branches and not self.tools.offers else None
        tests = run_visible_tests(bench.sandbox, self.shown, shows_state=self._shows_failure_state)
        self._last_pid = pid_if_clean(before, bench.sandbox.footprint()) if before is not None else None
        # What the tests leave behind does not count as a change by the first action.
        spoken = bench.with_changes(tests).state.get("spoken")
        return replace(tests, state=cast(State, {**tests.state, "spoken": spoken})) if spoken else tests

    def _act(self, action: Action) -> tuple[Observation, int | None]:
        """Carry out an action, whatever it does to its sandbox. Raises SandboxError if the machine is at fault.

        Returns the observation, and how many characters of it the agent asked for.
        """
        try:
            return self._retry_if_lost(lambda: self._carry_out(self._require_bench(), action))
        except SandboxLost as lost:
            return self._end_by(lost, "This action crashed the sandbox twice"), None
        except ToolServerFailed as failed:  # it does not start in the sandbox that replaces a lost one
            return self._end_by(failed, _NO_SERVER), None
        except BadReply as reply:  # nothing in this sandbox can be believed any more
            return self._end_by(reply, _TAKEN_OVER), None

    def _end_by(self, fault: StackrankError, reason: str) -> Observation:
        """End the episode, unresolved: what ran in the sandbox is at fault."""
        self._over = StopReason.SANDBOX_LOST
        self._score = Score(resolved=False, notes=(str(fault),))
        return Observation(f"{reason}, so the episode is over: {fault}.", False)

    def _retry_if_lost(self, work: Callable[[], Result], *, in_episode: bool = True) -> Result:
        """Return the result of `work` in a sandbox; if the sandbox is lost, try once more in a new one.

        A sandbox is lost through the machine or through what runs in it, and a lost sandbox cannot say which. So a
        trial decides: work that loses two sandboxes in a row, while a third one starts, is itself at fault. Then this
        raises SandboxLost, and SandboxError if the machine is at fault. `in_episode`: the sandbox is the episode's
        own, and the past actions are repeated in the new one.
        """
        try:
            return work()
        except (MachineBusy, SandboxClosed):
            raise
        except SandboxError as error:
            log.warning("a sandbox was lost and is replaced: %s", error)
        if in_episode:
            counts = self._require_bench().counts
            self.close()
            self._open_bench().counts.update(counts)
        try:
            if in_episode:
                self._run_first_tests(self._require_bench())
                for index in line_to(self._history, len(self._history) - 1):
                    if past := self._history[index].action:
                        self._carry_out(self._require_bench(), past)
            return work()
        except (MachineBusy, SandboxClosed):
            raise
        except SandboxError as error:
            self._new_sandbox(spec_for(self.task)).end()
            raise SandboxLost(str(error)) from None

    def _carry_out(self, bench: Bench, action: Action) -> tuple[Observation, int | None]:
        rewrites, investigating = bench.counts.get("rewrite", 0), bench.investigation is not None
        if reason := self.tools.why_unavailable(action.tool, rewrites, investigating=investigating):
            return Observation(reason, False), None
        tool = self.tools.find(action.tool)
        try:
            arguments = read_arguments(tool, action.arguments)
        except ToolError as error:
            return refusal(error), None
        if isinstance(tool, Branch):
            return self._go_back(arguments.at), None

        def act() -> Observation:
            note = bench.restore_readonly() if getattr(tool, "runs_program", False) else ""
            try:
                observation = tool(bench, arguments)
            except (ToolError, Refused) as error:
                observation = refusal(error)
            return replace(observation, text=note + observation.text)

        observation = self._guard(action, act)
        return self._guard(action, lambda: bench.with_changes(observation)), requested_limit(arguments)

    def _guard(self, action: Action, work: Callable[[], Observation]) -> Observation:
        """Return the observation of `work`; if a bug keeps it from one, an observation that says so.

        What it was given brings the bugs of a tool out, or those of the guest, and that comes from the entrant.
        """
        try:
            return work()
        except (BadReply, InfrastructureError, OSError, MemoryError, SystemError):
            raise
        except Exception as bug:
            log.exception("%s failed on %s", action.tool, self.task.id)
            self._failures.append(f"{action.tool} failed unexpectedly: {type(bug).__name__}: {str(bug)[-300:]}")
            return Observation(f"{action.tool} failed unexpectedly.", False)

    def score(self) -> Score:
        """Return the verdict on the files as they are now, taken once, in fresh sandboxes. Raises SandboxError.

        The episode's sandbox ends before the first of them starts.
        """
        if self._score is None:
            started = awake.now()
            try:
                if self.changes is None:
                    changes = self._retry_if_lost(self._final_changes)
                    # What the agent left running could tell the program in one test run about another.
                    self.sandbox.end()
                    self.changes = changes
                score = self.judge(self.changes)
                self._score = replace(score, notes=(*score.notes, *dict.fromkeys(self._failures)))
            except (SandboxLost, ToolServerFailed, Refused, GuestBug) as error:
                self._score = _unscorable(error)
            self.score_ms = (awake.now() - started) * 1000
        return self._score

    def _final_changes(self) -> Changes:
        bench = self._require_bench()
        restore_workspace(bench)  # the episode may have ended during an investigation
        changes = bench.sandbox.changes()
        return changes if self._statement_view is None else self._statement_view.for_verdict(changes)

    def judge(self, changes: Changes) -> Score:
        """Return the verdict on these changes, taken in fresh sandboxes; needs no `reset`. Raises SandboxError."""
        return score(self.task, changes, self._new_sandbox, self._judge_despite_loss)

    def _judge_despite_loss(self, judge_one: Callable[[], Score]) -> Score:
        try:
            return self._retry_if_lost(judge_one, in_episode=False)
        except (SandboxLost, Refused, GuestBug) as error:
            return _unscorable(error)

    def close(self) -> None:
        """End the sandbox. Returns at once; may be called twice."""
        if self._bench is not None:
            self._bench.sandbox.close()
            self._bench = None

    def _require_bench(self) -> Bench:
        if self._bench is None:
            raise RuntimeError("no episode is in progress: call reset")
        return self._bench


def _unscorable(error: Exception) -> Score:
    return Score(resolved=False, notes=(f"nothing could be scored: {error}",))
