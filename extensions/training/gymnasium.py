"""Gymnasium: `GymEnv` is an episode as a `gymnasium.Env` (`pip install 'stackrank[gymnasium]'`).

An action is the number of a tool and its arguments as a JSON object; an observation is the text that an agent reads.
If a policy writes something other than a JSON object, that is not an action, but still costs a step.
"""

from __future__ import annotations

import copy
import json
import string
from typing import Any, SupportsFloat, TypedDict

import gymnasium
from gymnasium import spaces

from stackrank.extensions.training.env_maker import make

MOST_TEXT = 1 << 20
"""Most characters of an observation or of arguments."""
MOST_SAMPLED = 64


class AnyText(spaces.Text):
    """Any text up to a length. Samples are printable ASCII: random Unicode would be no better."""

    def __init__(self) -> None:
        super().__init__(max_length=MOST_SAMPLED, min_length=0, charset=string.printable)

    def contains(self, x: Any) -> bool:
        """Whether `x` is a text of at most MOST_TEXT characters."""
        return isinstance(x, str) and len(x) <= MOST_TEXT


class GymAction(TypedDict):
    """What a policy chooses."""

    tool: int
    """Index into `GymEnv.tools`."""
    arguments: str
    """A JSON object."""


class GymEnv(gymnasium.Env[str, GymAction]):
    """One environment of `stackrank.make`, whose keywords it takes.

    `reset(options={"task": "bugs/..."})` switches to another task. Nothing in an episode is random, so a seed changes
    nothing but `np_random`.
    """

    metadata: dict[str, Any] = {"render_modes": []}  # noqa: RUF012  as Gymnasium has it

    def __init__(self, task: str, **keywords: Any) -> None:
        """Raises TrainingError, BenchmarkError, SandboxError, as `stackrank.make` does."""
        self.env = make(task, **keywords)
        self.tools = self.env.tools.tools
        self.observation_space = AnyText()
        self.action_space = spaces.Dict({"tool": spaces.Discrete(len(self.tools)), "arguments": AnyText()})

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[str, dict[str, Any]]:
        """Begin an episode. Raises TrainingError, BenchmarkError, SandboxError."""
        super().reset(seed=seed)
        observation, info = self.env.reset((options or {}).get("task"))
        return observation.text, info

    def step(self, action: GymAction) -> tuple[str, SupportsFloat, bool, bool, dict[str, Any]]:
        """Carry out one action. Raises TrainingError, SandboxError."""
        try:
            arguments = json.loads(action["arguments"] or "{}")
        except json.JSONDecodeError:
            arguments = None
        if isinstance(arguments, dict):
            transition = self.env.step({"tool": self.tools[action["tool"]], "arguments": arguments})
        else:
            transition = self.env.refuse("The arguments have to be a JSON object.", output=action["arguments"])
        return (
            transition.observation.text,
            transition.reward,
            transition.terminated,
            transition.truncated,
            transition.info,
        )

    def branch(self, at: int | None = None) -> GymEnv:
        """Return another environment that stands where this one stood after a step. See `TrainingEnv.branch`."""
        branch = copy.copy(self)
        branch.env = self.env.branch(at)
        return branch

    def close(self) -> None:
        """End the sandboxes."""
        self.env.close()
