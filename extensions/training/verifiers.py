"""Episodes as tasks of verifiers (https://github.com/PrimeIntellect-ai/verifiers); the taskset's id is `stackrank`.

Episodes are conversations in text (`dialogue`), and share one pool of sandboxes.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import verifiers.v1 as vf

from stackrank.extensions.training.dialogue import Dialogue
from stackrank.extensions.training.env_maker import EnvMaker, every_task


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
        options = ("tools", "rewards", "steps", "sandbox", "path", "count")
        self._maker = EnvMaker(**{name: getattr(config.taskset, name) for name in options})
        self._dialogue = Dialogue(self._maker)

    async def stop(self) -> None:
        """End the sandboxes."""
        self._maker.pool.close()

    async def run(self, task: Any, agents: Any) -> None:
        """Play one episode. Raises SandboxError if the machine failed, so that this does not count as a result."""
        async with self._maker.env(task.data.name) as env:
            observation, _ = await env.areset()
            system, first = self._dialogue.open(observation)
            async with agents.player.interaction(task.with_system_prompt(system)) as talk:
                reply = await talk.turn(first)
                while not reply.terminated:
                    transition = await self._dialogue.aact(env, reply.last_reply)
                    if transition.terminated or transition.truncated:
                        break
                    reply = await talk.turn(self._dialogue.show(transition.observation))
            talk.trace.record_reward("episode", await env.asettle())
