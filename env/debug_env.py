"""The environment: reset, step, score, close. The Gymnasium shape (https://gymnasium.farama.org/api/env/)."""

from __future__ import annotations

import time
from typing import Any

from pydantic import ValidationError

from env.actions import Action, Observation
from env.normalise import normalise
from env.sandbox.base import Refused, spec_for
from env.sandbox.client import Sandbox
from env.scoring import NewSandbox, Score, score
from env.task import Task
from env.tools import Bench, ToolError, ToolSet, find_tool
from env.tools.run_tests import run_visible_tests

INSTRUCTIONS = """\
{statement}

The program in the workspace does not behave as intended. Find the root cause and fix it; the bug may not be where it \
first appears. Tests are read-only, and further tests that you cannot see decide in the end.
Test command: {command}"""


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
    ) -> None:
        """`end_when_solved`: the episode ends by itself when `eval` shows every visible test passing.

        `rewards`: whether the step that ends the episode takes the verdict; without it, `score` has to be called.
        """
        self.task = task
        self.tools = tools
        self._new_sandbox = new_sandbox
        # Where visible tests show no bug, their success is no solution.
        self._end_when_solved = end_when_solved and task.shows_bug
        self._rewards = rewards
        self._bench: Bench | None = None
        self._score: Score | None = None
        self._over = ""
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
    def over(self) -> str:
        """Why the episode is over as far as the environment knows: `submitted`, `solved`, or empty."""
        return self._over

    def reset(self) -> tuple[Observation, dict[str, Any]]:
        """A fresh sandbox; the instructions and the failing tests' output. Raises SandboxError."""
        self.close()
        started = time.monotonic()
        self._over, self._score = "", None
        sandbox = self._new_sandbox(spec_for(self.task))
        self._bench = Bench(sandbox, self.task)
        sandbox.put(self.task.files)
        tests = run_visible_tests(sandbox, self.task)
        text = INSTRUCTIONS.format(statement=self.task.statement.strip(), command=self.task.test_command)
        text = normalise(f"{text}\n\n{tests.text}", sandbox.root)
        observation = Observation(text, True, tests.state, (time.monotonic() - started) * 1000)
        return observation, {"task": self.task.id, "tools": list(self.tools.tools)}

    def step(self, action: Action) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Carry out one action: (observation, reward, terminated, truncated, info).

        The reward is 1.0 when the episode ends here and its verdict is `resolved`, else 0.0; `truncated` is always
        False: budgets are the caller's. What an agent can mend is an observation that is not ok.
        Raises SandboxError when the infrastructure fails, RuntimeError when there is no episode going on.
        """
        if self._over:
            raise RuntimeError(f"the episode is over ({self._over}): call reset")
        bench = self._require_bench()
        started = time.monotonic()
        observation = self._carry_out(bench, action)
        env_ms = (time.monotonic() - started) * 1000
        text = normalise(observation.text, bench.sandbox.root)
        observation = Observation(text, observation.ok, observation.state, env_ms)
        if observation.ok:
            bench.counts[action.tool] = bench.counts.get(action.tool, 0) + 1
        if observation.state.get("submitted"):
            self._over = "submitted"
        elif action.tool == "eval" and observation.state.get("solved") and self._end_when_solved:
            self._over = "solved"
        reward = float(self.score().resolved) if self._over and self._rewards else 0.0
        return observation, reward, bool(self._over), False, {"over": self._over}

    def _carry_out(self, bench: Bench, action: Action) -> Observation:
        if action.tool not in self.tools.tools:
            return Observation(f"There is no tool {action.tool!r}. Tools: {', '.join(self.tools.tools)}.", False)
        locked = self.tools.locked(action.tool, bench.counts.get("rewrite", 0))
        if locked:
            return Observation(
                f"{action.tool} becomes available after {locked} more rewrite{'s' if locked > 1 else ''}.", False
            )
        tool = find_tool(action.tool)
        try:
            arguments = tool.arguments.model_validate(action.arguments)
        except ValidationError as error:
            problems = "; ".join(
                f"{'.'.join(map(str, each['loc'])) or 'arguments'}: {each['msg']}" for each in error.errors()
            )
            return Observation(f"The arguments of {action.tool} are wrong: {problems}.", False)
        try:
            return tool(bench, arguments)
        except (ToolError, Refused) as error:
            return Observation(f"{error}.", False)

    def score(self) -> Score:
        """The verdict on the files as they are now, taken in a fresh sandbox, once. Raises SandboxError."""
        if self._score is None:
            started = time.monotonic()
            changes = self._require_bench().sandbox.changes()
            self._score = score(self.task, changes, self._new_sandbox)
            self.score_ms = (time.monotonic() - started) * 1000
        return self._score

    def close(self) -> None:
        """End the sandbox. Returns at once; may be called twice."""
        if self._bench is not None:
            self._bench.sandbox.close()
            self._bench = None

    def _require_bench(self) -> Bench:
        if self._bench is None:
            raise RuntimeError("no episode is going on: call reset")
        return self._bench
