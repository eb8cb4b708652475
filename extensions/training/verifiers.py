"""Episodes as tasks of verifiers (https://github.com/PrimeIntellect-ai/verifiers); the taskset's id is `stackrank`.

The environment plays the user: its turns are the observations, and an answer holds one action in a fenced block, as
with `syntax: text` of the agent `llm`. An answer without one costs a step. All episodes share one pool of sandboxes.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import verifiers.v1 as vf

from stackrank.agents.llm import prompting
from stackrank.agents.llm.endpoints.endpoint import Reply
from stackrank.agents.llm.syntaxes.syntax import BadCall
from stackrank.agents.llm.syntaxes.text import FencedText
from stackrank.env.actions import Observation
from stackrank.extensions.training.env import TrainingEnv, Transition
from stackrank.extensions.training.env_maker import EnvMaker, every_task
from stackrank.extensions.training.rewards import Term


class EpisodeConfig(vf.TasksetConfig):
    """`[env.taskset]`: which tasks are played, and how; see `stackrank.make`."""

    tasks: list[str] = ["bugs"]  # noqa: RUF012  pydantic copies it
    """Names of tasks and benchmarks."""
    tools: str = "debug"
    rewards: dict[str, float] = {"verdict": 1.0}  # noqa: RUF012
    steps: int = 50
    sandbox: str | None = None
    path: str | None = None
    count: int = 8
    """How many episodes run at the same time."""


class EpisodeTask(vf.Task[vf.TaskData]):
    """A row: its `name` is the task as `stackrank.make` takes it. The environment records its reward."""


class EpisodeTaskset(vf.Taskset[EpisodeTask, EpisodeConfig]):
    """The tasks by name."""

    def load(self) -> Iterator[EpisodeTask]:
        """Yield the tasks. Raises TrainingError, BenchmarkError for an unknown name."""
        for name in every_task(self.config.tasks, path=self.config.path):
            yield EpisodeTask(vf.TaskData(name=name), self.config.task)


class EpisodeEnvConfig(vf.EnvConfig):
    """`[env]`: one player, a plain conversation on this machine unless another harness is named."""

    player: vf.AgentConfig = vf.AgentConfig(harness={"id": "null"}, runtime={"type": "subprocess"})


class EpisodeEnv(vf.Env[EpisodeEnvConfig]):
    """Plays an episode for each task. The reward `episode` is what the steps earned, including the verdict."""

    def __init__(self, config: EpisodeEnvConfig) -> None:
        """Start nothing yet. Raises as `stackrank.make` does."""
        super().__init__(config)
        self._own: Any = config.taskset
        options = ("tools", "rewards", "steps", "sandbox", "path", "count")
        self._maker = EnvMaker(**{name: getattr(self._own, name) for name in options})
        self._syntax = FencedText([self._maker.tools.find(name) for name in self._maker.tools.tools])

    async def stop(self) -> None:
        """End the sandboxes."""
        self._maker.pool.close()

    async def run(self, task: Any, agents: Any) -> None:
        """Play one episode. Raises SandboxError if the machine failed, so that this does not count as a result."""
        async with self._maker.env(task.data.name) as env:
            observation, _ = await env.areset()
            async with agents.player.interaction(task.with_system_prompt(self._prompt("system", observation))) as talk:
                reply, earned = await talk.turn(self._prompt("task", observation)), 0.0
                while not reply.terminated:
                    transition = await self._step(env, reply.last_reply)
                    earned += transition.reward
                    if transition.terminated or transition.truncated:
                        break
                    reply = await talk.turn(self._syntax.write_result(None, transition.observation)["content"])
            if env.outcome is None:
                earned += self._own.rewards.get(Term.VERDICT, 0.0) * (await env.ascore()).resolved
            talk.trace.record_reward("episode", earned)

    async def _step(self, env: TrainingEnv, output: str) -> Transition:
        reply = Reply(output)
        try:
            for call in self._syntax.find_calls(reply):
                return await env.astep(self._syntax.read_action(call)[0])
            return await env.arefuse(self._syntax.correct_missing_call(reply), output)
        except BadCall as error:
            return await env.arefuse(str(error), output)

    def _prompt(self, name: str, observation: Observation) -> str:
        run = {"max_steps": self._own.steps, "ends_when_solved": True}
        values = {"syntax": self._syntax.write_help(), "observation": self._syntax.write_opening(observation)}
        return prompting.render(name, **prompting.describe_start(self._maker.tools, observation.state), **run, **values)
