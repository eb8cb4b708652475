"""A step of GRPO by verl's own parts on a CPU: its agent loop, its advantages, its loss. It runs where verl is."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import numpy as np
import torch
from omegaconf import OmegaConf
from train_grpo import LINES, save_tiny_model
from transformers import AutoModelForCausalLM, AutoTokenizer
from verl.experimental.agent_loop.agent_loop import AgentLoopOutput, DictConfigWrap
from verl.trainer.ppo.core_algos import compute_grpo_outcome_advantage, compute_policy_loss_vanilla
from verl.utils.dataset.rl_dataset import RLHFDataset
from verl.workers.config import ActorConfig
from verl.workers.rollout.replica import TokenOutput

from stackrank.env.sandbox.base import SandboxError
from stackrank.extensions.training.verl import EpisodeLoop

ROLLOUTS = 6
ACTIONS = [f"```action\nrewrite vat/regions.py {line} {line}\n{code}\n```" for line, code in LINES.items()]


class Sampler:
    """Generates as verl's client of a model server does, by the model itself."""

    def __init__(self, model: Any) -> None:
        self._model = model

    async def generate(self, request_id: str, *, prompt_ids: list[int], sampling_params: dict[str, Any]) -> TokenOutput:
        ended = self._model.generate(
            torch.tensor([prompt_ids]),
            do_sample=True,
            max_new_tokens=min(4, sampling_params["max_tokens"]),
            return_dict_in_generate=True,
            output_logits=True,
        )
        tokens = ended.sequences[0, len(prompt_ids) :].tolist()
        logprobs = [row[0].log_softmax(-1)[token].item() for row, token in zip(ended.logits, tokens, strict=True)]
        return TokenOutput(token_ids=tokens, log_probs=logprobs)


def pad(rows: list[list[float]]) -> torch.Tensor:
    width = max(map(len, rows))
    return torch.tensor([[*row, *[0] * (width - len(row))] for row in rows])


def logprobs_of(model: Any, output: AgentLoopOutput) -> torch.Tensor:
    tokens = torch.tensor([output.prompt_ids + output.response_ids])
    logits = model(tokens).logits[0, len(output.prompt_ids) - 1 : -1].log_softmax(-1)
    return logits.gather(1, tokens[0, len(output.prompt_ids) :, None])[:, 0]


async def play(model: Any, tokenizer: Any) -> list[AgentLoopOutput]:
    config = OmegaConf.create({"actor_rollout_ref": {"rollout": {"prompt_length": 4096, "response_length": 1024}}})
    loop = EpisodeLoop(
        DictConfigWrap(config),
        Sampler(model),
        tokenizer,
        None,
        RLHFDataset,
        DictConfigWrap(OmegaConf.create({})),
        options={"tools": "debug", "steps": 3, "sandbox": "bubblewrap", "rewards": {"verdict": 1.0}},
    )
    await lose_first_attempt(loop)
    return [await loop.run({}, task="bugs/vat-table") for _ in range(ROLLOUTS)]


async def lose_first_attempt(loop: EpisodeLoop) -> None:
    """Let the machine fail once, in the middle of the first rollout."""
    act, failures = loop._dialogue.aact, [SandboxError("the machine failed")]

    async def fail_once(*arguments: Any) -> Any:
        if failures:
            raise failures.pop()
        return await act(*arguments)

    loop._dialogue.aact = fail_once  # type: ignore[method-assign]


def main() -> None:
    save_tiny_model(Path("model"), ACTIONS)
    model, tokenizer = AutoModelForCausalLM.from_pretrained("model"), AutoTokenizer.from_pretrained("model")
    outputs = asyncio.run(play(model, tokenizer))
    for output in outputs:
        ours = logprobs_of(model, output).tolist()
        sampled = zip(output.response_mask, output.response_logprobs or [], ours, strict=True)
        assert all(abs(then - now) < 1e-4 for written, then, now in sampled if written), "the tokens are those sampled"
    mask = pad([output.response_mask for output in outputs]).float()
    rewards = torch.zeros_like(mask)
    rewards[:, 0] = torch.tensor([output.reward_score for output in outputs])
    advantages, _ = compute_grpo_outcome_advantage(rewards, mask, index=np.zeros(ROLLOUTS, dtype=int))
    logprobs = torch.nn.utils.rnn.pad_sequence([logprobs_of(model, output) for output in outputs], batch_first=True)
    actor = ActorConfig(strategy="fsdp", ppo_micro_batch_size_per_gpu=1, rollout_n=ROLLOUTS)
    loss, _ = compute_policy_loss_vanilla(logprobs.detach(), logprobs, advantages, mask, config=actor)
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01, weight_decay=0)
    before = [value.detach().clone() for value in model.parameters()]
    loss.backward()
    optimizer.step()
    changed = sum(not torch.equal(old, new) for old, new in zip(before, model.parameters(), strict=True))
    assert len({output.reward_score for output in outputs}) == 2, "one of the two lines is the fix"
    print("rewards", [output.reward_score for output in outputs], "sampled", mask.sum(1).tolist())
    print(f"{changed} of {len(before)} tensors of parameters changed")


if __name__ == "__main__":
    main()
