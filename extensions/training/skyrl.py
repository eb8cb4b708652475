"""Episodes as environments of SkyRL (https://github.com/NovaSky-AI/SkyRL): `register()`, then `env_class: stackrank`.

Episodes are conversations in text (`dialogue`). The row of a task needs `task` among its extra columns; SkyRL asks the
model with the row's prompt, and the environment adds the task to it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import skyrl_gym
from skyrl_gym.envs.base_text_env import BaseTextEnv

from stackrank.extensions.training.dialogue import shared_dialogue
from stackrank.extensions.training.rewards import TrainingError

ID = "stackrank"
Messages = list[dict[str, str]]


def register(**options: Any) -> None:
    """Make the environment known to SkyRL under the name `stackrank`. The options are those of `EnvMaker`.

    Call it in the process that plays the rollouts. Raises as `stackrank.make` does, when the first episode begins.
    """
    keywords = {"options": json.dumps(options, sort_keys=True)}
    skyrl_gym.register(id=ID, entry_point=f"{__name__}:EpisodeTextEnv", kwargs=keywords)


class EpisodeTextEnv(BaseTextEnv):
    """Plays one episode. The rewards of its steps are those of the environment.

    An infrastructure failure raises SandboxError: SkyRL has no rollout without a reward, so the batch must be repeated.
    """

    def __init__(self, env_config: Any = None, extras: Mapping[str, Any] | None = None, options: str = "{}") -> None:
        """`extras`: the columns of the row, with `task`. Raises TrainingError, BenchmarkError."""
        super().__init__()
        row = extras or {}
        if not row.get("task"):
            raise TrainingError("the row names no task: give the data a column `task`, such as 'bugs/vat-table'")
        self._dialogue = shared_dialogue(options)
        self._env = self._dialogue.maker.env(row["task"])
        self.max_turns = row.get("max_turns", self._dialogue.maker.rules.budget.steps)

    def init(self, prompt: Messages) -> tuple[Messages, dict[str, Any]]:
        """Begin the episode. Returns the prompt with the task."""
        observation, info = self._env.reset()
        system, first = self._dialogue.open(observation)
        return [{"role": "system", "content": system}, *prompt, {"role": "user", "content": first}], info

    def step(self, action: str) -> dict[str, Any]:
        """Carry out the model's answer. Raises SandboxError."""
        self.turns += 1
        earned = self._env.earned
        transition = self._dialogue.act(self._env, action)
        is_done = transition.terminated or transition.truncated or self.turns >= self.max_turns
        reward = (self._env.settle() if is_done else self._env.earned) - earned
        observations = [] if is_done else [{"role": "user", "content": self._dialogue.show(transition.observation)}]
        return {"observations": observations, "reward": reward, "done": is_done, "metadata": transition.info}

    def close(self) -> None:
        """End the sandbox."""
        self._env.close()
