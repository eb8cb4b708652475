"""Episodes as an agent loop of verl (https://github.com/verl-project/verl), registered as `stackrank`.

Episodes are conversations in text (`dialogue`). The model's tokens are kept as they were sampled, and only they are in
the mask. In verl's configuration:

    actor_rollout_ref.rollout.agent.agent_loop_config_path: a file with
        - name: stackrank
          _target_: stackrank.extensions.training.verl.EpisodeLoop
          options: {rewards: {verdict: 1.0, tests: 0.2}}
"""

from __future__ import annotations

import json
from typing import Any
from uuid import uuid4

from verl.experimental.agent_loop.agent_loop import AgentLoopBase, AgentLoopMetrics, AgentLoopOutput

from stackrank.env.sandbox.base import SandboxError
from stackrank.extensions.training.dialogue import shared_dialogue
from stackrank.extensions.training.env import TrainingEnv

ATTEMPTS = 3
"""How often a rollout is played until the machine does not fail in it."""


class EpisodeLoop(AgentLoopBase):
    """Plays the rollout of one row, whose column `task` names the task."""

    def __init__(self, *arguments: Any, options: dict[str, Any] | None = None, **keywords: Any) -> None:
        """`options`: those of `EnvMaker`. Raises as `stackrank.make` does."""
        super().__init__(*arguments, **keywords)
        self._dialogue = shared_dialogue(json.dumps(dict(options or {}), sort_keys=True))

    async def run(self, sampling_params: dict[str, Any], **row: Any) -> AgentLoopOutput:
        """Play one episode. If the machine fails, it is played again, because verl has no rollout without a reward.

        Raises SandboxError if the machine failed ATTEMPTS times.
        """
        for attempt in range(ATTEMPTS):
            try:
                async with self._dialogue.maker.env(row["task"]) as env:
                    return await self._play(env, sampling_params)
            except SandboxError:
                if attempt == ATTEMPTS - 1:
                    raise
        raise AssertionError

    async def _play(self, env: TrainingEnv, sampling_params: dict[str, Any]) -> AgentLoopOutput:
        observation, _ = await env.areset()
        system, first = self._dialogue.open(observation)
        messages = [{"role": "system", "content": system}, {"role": "user", "content": first}]
        tokens = await self.ct_build_initial_tokens(messages)
        prompt = list(tokens)
        mask: list[int] = []
        logprobs: list[float] = []
        request, turns = uuid4().hex, 0
        while True:
            room = self.rollout_config.response_length - len(mask)
            if room <= 0:
                break
            answer = await self.server_manager.generate(
                request_id=request, prompt_ids=tokens, sampling_params={**sampling_params, "max_tokens": room}
            )
            turns += 1
            merged, mask, logprobs = await self.ct_merge_assistant_token(
                tokens, answer.token_ids, mask, logprobs, assistant_logprobs=answer.log_probs
            )
            tokens = merged.token_ids
            output = self.tokenizer.decode(answer.token_ids, skip_special_tokens=True)
            transition = await self._dialogue.aact(env, output)
            if transition.terminated or transition.truncated:
                break
            said = [*messages, {"role": "assistant", "content": output}]
            messages = [*said, {"role": "user", "content": self._dialogue.show(transition.observation)}]
            merged, mask, logprobs = await self.ct_merge_context_msg(said, messages, tokens, mask, logprobs)
            tokens = merged.token_ids
        response = tokens[len(prompt) :]
        length = self.rollout_config.response_length
        return AgentLoopOutput(
            prompt_ids=prompt,
            response_ids=response[:length],
            response_mask=mask[:length],
            response_logprobs=logprobs[:length] if any(logprobs) else None,
            reward_score=await env.asettle(),
            num_turns=2 * turns,
            metrics=AgentLoopMetrics(),
        )
