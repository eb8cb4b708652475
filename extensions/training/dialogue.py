"""Episodes as a conversation in text, for trainers whose policies answer in text: the environment plays the user.

An answer contains one action in a fenced block, as with `syntax: text` of the agent `llm`. One without costs a step.
"""

from __future__ import annotations

import atexit
import json
from functools import lru_cache

from stackrank.agents.llm import prompting
from stackrank.agents.llm.endpoints.endpoint import Reply
from stackrank.agents.llm.syntaxes.syntax import BadCall
from stackrank.agents.llm.syntaxes.text import FencedText
from stackrank.env.actions import Action, Observation
from stackrank.extensions.training.env import TrainingEnv, Transition
from stackrank.extensions.training.env_maker import EnvMaker


class Dialogue:
    """How a policy is asked, and how its answers are read. One serves all episodes of a maker."""

    def __init__(self, maker: EnvMaker) -> None:
        """`maker`: makes the environments, whose tools and rules the prompts describe."""
        self.maker = maker
        self._tools, self._rules = maker.tools, maker.rules
        self._syntax = FencedText([self._tools.find(name) for name in self._tools.tools])

    def open(self, observation: Observation) -> tuple[str, str]:
        """Return the message of the system and the first one of the user. `observation`: what `reset` returned."""
        return self._prompt("system", observation), self._prompt("task", observation)

    def show(self, observation: Observation) -> str:
        """Return the user's message after a step."""
        content: str = self._syntax.write_result(None, observation)["content"]
        return content

    def act(self, env: TrainingEnv, output: str) -> Transition:
        """Carry out a policy's answer. Raises as `TrainingEnv.step` does."""
        action = self._read(output)
        return env.step(action) if isinstance(action, Action) else env.refuse(action, output)

    async def aact(self, env: TrainingEnv, output: str) -> Transition:
        """As `act`."""
        action = self._read(output)
        return await (env.astep(action) if isinstance(action, Action) else env.arefuse(action, output))

    def _read(self, output: str) -> Action | str:
        """Return the action in an answer, or the correction if there is none."""
        reply = Reply(output)
        try:
            for call in self._syntax.find_calls(reply):
                return self._syntax.read_action(call)[0]
            return self._syntax.correct_missing_call(reply)
        except BadCall as error:
            return str(error)

    def _prompt(self, name: str, observation: Observation) -> str:
        budget = self._rules.budget
        run = {"max_steps": budget.steps, "max_tokens": None, "ends_when_solved": self._rules.ends_when_solved}
        values = {"syntax": self._syntax.write_help(), "observation": self._syntax.write_opening(observation)}
        return prompting.render(name, **prompting.describe_start(self._tools, observation.state), **run, **values)


@lru_cache(maxsize=8)
def shared_dialogue(options: str) -> Dialogue:
    """Return the dialogue of all rollouts of a process, with one pool of sandboxes, which ends with the process.

    `options`: those of `EnvMaker`, as a JSON object. Raises as `stackrank.make` does.
    """
    maker = EnvMaker(**json.loads(options))
    atexit.register(maker.pool.close)
    return Dialogue(maker)
