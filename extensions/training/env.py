"""Episodes for a training program: reset, step, score and close, and the same for `async` code."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from types import TracebackType
from typing import Any, NamedTuple, ParamSpec, TypeVar

from stackrank.agents.episode.protocol import Decision, MalformedAction
from stackrank.agents.episode.referee import Outcome, Referee
from stackrank.agents.episode.step import Step
from stackrank.agents.episode.workspace import append_workspace
from stackrank.env.actions import Action, Observation
from stackrank.env.debug_env import DebugEnv
from stackrank.env.sandbox.pool import Pool
from stackrank.env.scoring.judge import Score
from stackrank.env.task import Task
from stackrank.env.tools import ToolSet
from stackrank.env.tools.branch import StepsDiffer
from stackrank.extensions.training.pool_share import PoolShare
from stackrank.extensions.training.rewards import Tally, Term, TrainingError
from stackrank.extensions.training.rules import EpisodeRules
from stackrank.flows.runs.playing.sandboxes import SandboxLease
from stackrank.terms import StopReason, Verdict

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")
Info = dict[str, Any]
Act = Action | Mapping[str, Any] | str
"""An action; or `{"tool": NAME, "arguments": {...}}`; or a tool's name, with its arguments as keywords."""


class BranchError(TrainingError):
    """An episode cannot be branched, because its steps come out differently when they are repeated."""


class Transition(NamedTuple):
    """The result of one step, in Gymnasium's order."""

    observation: Observation
    reward: float
    terminated: bool
    """Whether the episode ended because of what was done in it."""
    truncated: bool
    """Whether the episode ended because of a limit."""
    info: Info
    """`task`, `step`, `milestones` (reached so far), `distance` (of this step), `rewards` (by term); and `stop_reason`,
    `verdict` and `failure_point`, which are empty until the episode ends. The same actions give the same info."""


class TrainingEnv:
    """Plays episodes under the rules of a run: the same tools, limits, stop reasons and verdict.

    The last step of an episode determines its verdict, whatever ended it. Only one thread at a time may use this, but
    any may call `close`. `areset`, `astep`, `ascore`, `aclose` and `async with` do the same without blocking the event
    loop.
    """

    def __init__(
        self,
        task: Task,
        tools: ToolSet,
        pool: Pool | PoolShare,
        find_task: Callable[[str], Task],
        rules: EpisodeRules,
        *,
        owns_pool: bool = True,
    ) -> None:
        """Start nothing yet. `stackrank.make` explains the arguments.

        `owns_pool`: `close` closes the pool as well, unless a branch still uses it.
        """
        self.task = task
        self.tools = tools
        self.outcome: Outcome | None = None
        """How the last episode ended, with its verdict and its failure point; None while an episode is in progress."""
        self.earned = 0.0
        """The sum of the rewards of the episode so far. In a branch, it includes the steps before it."""
        self.branched_from: int | None = None
        """The step of another environment at which this one began as its branch; None if it did not."""
        self._find_task = find_task
        self._rules = rules
        self._share = (pool if isinstance(pool, PoolShare) else PoolShare(pool, closes=owns_pool)).hold()
        self._lent = SandboxLease(self._share.pool)
        self._env: DebugEnv | None = None
        self._referee: Referee | None = None
        self._tally: Tally | None = None
        self._closed = False
        self._thread: ThreadPoolExecutor | None = None

    @property
    def name(self) -> str:
        """The task's name, as `make` takes it."""
        return f"{self.task.benchmark.partition('/')[0]}/{self.task.id}"

    def reset(self, task: str | None = None) -> tuple[Observation, Info]:
        """Begin an episode, on another task if one is named. Returns the instructions, with the failing tests and the
        list of files, and the info.

        An episode in progress ends without a verdict. Raises TrainingError, BenchmarkError, SandboxError.
        """
        self._require_open()
        if task is not None:
            self.task = self._find_task(task)
        first_observation = self._begin()
        return first_observation, self._info(dict.fromkeys(map(str, self._rules.weights), 0.0))

    def branch(self, at: int | None = None) -> TrainingEnv:
        """Return another environment, independent of this one, that stands where this one stood after step `at`.

        `at`: 0 is the reset; None means the last step so far. The steps are carried out again in a fresh sandbox, and
        each observation is compared with the one of then; a paused program, a terminal and what runs in the background
        come to the same point. `branched_from` is `at`. A branch goes on when this environment is closed; close it too.

        Raises BranchError if a step came out differently, as one that depends on the clock, on chance or on a network
        may. Raises TrainingError if there is no such step, or if it ended the episode. Raises SandboxError.
        """
        self._require_open()
        if self._referee is None or self._env is None:
            raise TrainingError("no episode is in progress: call reset first")
        steps = list(self._referee.steps)
        last = len(steps) - 1 if self.outcome is None else len(steps) - 2
        if at is None:
            at = last
        if isinstance(at, bool) or not isinstance(at, int) or not 0 <= at <= last:
            raise TrainingError(f"at is {at!r}: this episode can be branched at steps 0 to {last}")
        copy = TrainingEnv(self.task, self.tools, self._share, self._find_task, self._rules)
        copy.branched_from = at
        try:
            copy._stand_after(steps[: at + 1], self._env.branch(at, copy._lent.new))
        except BaseException as error:
            copy.close()
            if isinstance(error, StepsDiffer):
                raise BranchError(f"this episode cannot be branched: {error}") from None
            raise
        return copy

    def _begin(self) -> Observation:
        """Begin an episode. Returns the first observation."""
        self._leave()
        self.outcome, self.earned = None, 0.0
        self._env = env = DebugEnv(
            self.task,
            self.tools,
            self._lent.new,
            end_when_solved=self._rules.ends_when_solved,
            shows_failing_test=self._rules.shows_failing_test,
            shows_failure_state=self._rules.shows_failure_state,
            rewards=False,
            branches=True,
        )
        if self._share.closes:  # a pool for this environment and its branches alone: one of them will need the next one
            self._share.pool.expect(env.spec)
        referee = Referee(env, self._rules.budget)
        observation = self._guarded(referee.reset)
        self._referee, self._tally = referee, Tally(self._rules.weights, referee.tracker)
        referee.pause()
        return append_workspace(env.shown, observation)

    def _stand_after(self, past: Sequence[Step], env: DebugEnv) -> None:
        """Go on with an episode of another environment. `env`: stands after the last of these steps."""
        self._env = env
        self._referee = referee = Referee(env, self._rules.budget, past=past)
        referee.recall(past[0])
        self._tally = tally = Tally(self._rules.weights, referee.tracker)
        for step in past[1:]:
            referee.recall(step)
            self.earned += sum(tally.of(step, False).values())
        referee.pause()

    def look(self) -> tuple[Observation, Info]:
        """Return the last observation and the info again, as in a new branch. Raises TrainingError."""
        last = self._require_episode().steps[-1]
        return last.observation, self._info(dict.fromkeys(map(str, self._rules.weights), 0.0))

    def step(self, action: Act, /, **arguments: Any) -> Transition:
        """Carry out one action, such as `step("view", path="cart.py")`.

        A mistake that an agent can correct (an unknown tool, wrong arguments) gives an observation that is not ok.
        Raises TrainingError if no episode is in progress, or if this is not an action. Raises SandboxError if the
        machine failed: the episode is then lost, and says nothing about the policy.
        """
        decision = Decision(self.check_action(action, **arguments))
        return self._after(self._guarded(self._require_episode().carry_out, decision))

    def check_action(self, action: Act, /, **arguments: Any) -> Action:
        """Return the action that `step` would carry out, without doing so. Raises TrainingError as `step` does."""
        self._require_episode()
        return read_action(action, arguments)

    def check_task(self, task: str | None) -> None:
        """Check a task without starting it. Raises TrainingError, BenchmarkError if `reset` would not take it."""
        self._require_open()
        if task is not None:
            self._find_task(task)

    def refuse(self, message: str, output: str = "") -> Transition:
        """Count a policy's answer without an action as a step. `message`: the correction, which the policy sees next.

        Several such answers in a row end the episode, as in a run. Raises as `step` does.
        """
        return self._after(self._guarded(self._require_episode().refuse, MalformedAction(message, output=output)))

    def score(self) -> Score:
        """Return the verdict. This ends an episode in progress, as if the agent had given up. Raises as `step` does."""
        self._require_open()
        if self.outcome is None:
            self._end(self._require_episode(), StopReason.AGENT_GAVE_UP)
            assert self.outcome is not None and self.outcome.score is not None
            self.earned += self._rules.weights.get(Term.VERDICT, 0.0) * self.outcome.score.resolved
        assert self.outcome is not None and self.outcome.score is not None
        return self.outcome.score

    def settle(self) -> float:
        """Return what the episode earned; one in progress is scored first, if its verdict is rewarded. Raises as `step`
        does.
        """
        if self.outcome is None:
            self._require_episode()
            if self._rules.weights.get(Term.VERDICT):
                self.score()
        return self.earned

    def close(self) -> None:
        """End everything that was started, including what another thread is waiting for. May be called twice."""
        was_closed, self._closed = self._closed, True
        self._lent.end()
        if not was_closed:
            self._share.leave()
        if self._thread is not None:
            self._thread.shutdown(wait=True)
            self._thread = None
        self._referee = None

    def __enter__(self) -> TrainingEnv:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # ---- for async code

    async def areset(self, task: str | None = None) -> tuple[Observation, Info]:
        """As `reset`."""
        return await self._soon(self.reset, task)

    async def abranch(self, at: int | None = None) -> TrainingEnv:
        """As `branch`, between two steps."""
        return await self._soon(self.branch, at)

    async def astep(self, action: Act, /, **arguments: Any) -> Transition:
        """As `step`."""
        return await self._soon(self.step, action, **arguments)

    async def arefuse(self, message: str, output: str = "") -> Transition:
        """As `refuse`."""
        return await self._soon(self.refuse, message, output)

    async def ascore(self) -> Score:
        """As `score`."""
        return await self._soon(self.score)

    async def asettle(self) -> float:
        """As `settle`."""
        return await self._soon(self.settle)

    async def aclose(self) -> None:
        """As `close`."""
        await asyncio.to_thread(self.close)

    async def __aenter__(self) -> TrainingEnv:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    async def _soon(
        self, work: Callable[Parameters, Result], *args: Parameters.args, **kwargs: Parameters.kwargs
    ) -> Result:
        self._require_open()
        if self._thread is None:  # its own thread: asyncio's are too few for many environments
            self._thread = ThreadPoolExecutor(1, thread_name_prefix="stackrank-env")
        return await asyncio.wrap_future(self._thread.submit(work, *args, **kwargs))

    # ---- inside

    def _after(self, observation: Observation) -> Transition:
        referee, tally = self._require_episode(), self._tally
        assert tally is not None
        reason = referee.stop_reason()
        if reason is not None:
            self._end(referee, reason)
        score = self.outcome.score if self.outcome else None
        rewards = tally.of(referee.steps[-1], bool(score and score.resolved))
        self.earned += sum(rewards.values())
        limit = reason is not None and reason.is_limit
        referee.pause()
        return Transition(
            observation, sum(rewards.values()), reason is not None and not limit, limit, self._info(rewards)
        )

    def _end(self, referee: Referee, reason: StopReason) -> None:
        self.outcome = self._guarded(referee.finish, reason)
        self._leave()

    def _leave(self) -> None:
        """End the sandbox of the last episode, but keep what is known about the episode."""
        if self._env is not None:
            self._env.close()

    def _guarded(
        self, work: Callable[Parameters, Result], *args: Parameters.args, **kwargs: Parameters.kwargs
    ) -> Result:
        """Return what `work` returns; if it fails, the episode is lost."""
        try:
            return work(*args, **kwargs)
        except BaseException:
            self._referee = None
            self._leave()
            self._require_open()
            raise

    def _require_open(self) -> None:
        if self._closed:
            raise TrainingError("the environment is closed: create a new one")

    def _require_episode(self) -> Referee:
        self._require_open()
        if self.outcome is not None:
            raise TrainingError(f"the episode is over ({self.outcome.stop_reason}): call reset")
        if self._referee is None:
            raise TrainingError("no episode is in progress: call reset first")
        return self._referee

    def _info(self, rewards: dict[str, float]) -> Info:
        assert self._referee is not None
        last, outcome = self._referee.steps[-1], self.outcome
        resolved = bool(outcome and outcome.score and outcome.score.resolved)
        return {
            "task": self.name,
            "step": last.index,
            "milestones": [str(milestone) for milestone in self._referee.tracker.reached],
            "distance": str(last.progress.distance or ""),
            "rewards": rewards,
            "stop_reason": str(outcome.stop_reason) if outcome else "",
            "verdict": str(Verdict.RESOLVED if resolved else Verdict.UNRESOLVED) if outcome else "",
            "failure_point": str(outcome.diagnosis.failure_point or "") if outcome else "",
        }


def read_action(action: object, arguments: Mapping[str, Any]) -> Action:
    """Read an action from the arguments of `step`. Raises TrainingError."""
    if isinstance(action, str):
        return Action(action, dict(arguments))
    if isinstance(action, Action) and not arguments:
        return action
    if isinstance(action, Mapping) and not arguments and action.keys() <= {"tool", "arguments"}:
        tool, tool_arguments = action.get("tool"), action.get("arguments", {})
        if isinstance(tool, str) and isinstance(tool_arguments, Mapping):
            return Action(tool, dict(tool_arguments))
    raise TrainingError(
        f"{action!r:.200} is not an action: give a tool's name and its arguments, as in step('view', path='cart.py'), "
        "or {'tool': 'view', 'arguments': {'path': 'cart.py'}}"
    )
