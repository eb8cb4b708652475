"""Train a tiny model from random weights by GRPO on a CPU, until it repairs a bug: a few minutes.

    train_grpo.py [--steps N] [--sandbox NAME]

Each word of the model's vocabulary is a whole call of a tool, and every other word is unknown to it. So a model with
10,000 random parameters acts from the start; the environment and the trainer are those of a large model. It needs
`pip install 'stackrank[trl]'`.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Sequence
from pathlib import Path

import torch
from datasets import Dataset
from tokenizers import AddedToken, Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import WhitespaceSplit
from transformers import PreTrainedTokenizerFast, Qwen3Config, Qwen3ForCausalLM
from trl import GRPOConfig, GRPOTrainer
from trl.chat_template_utils import qwen3_chat_template

from stackrank.extensions.training.trl import environment_factory

TASK = "bugs/vat-table"
LINES = {
    24: '        Region("NL2", 240, 60, ("food", "bread", "books"), ("bread-organic",)),',
    25: '        Region("OL3", 200, 60, ("books", "books-audio"), ()),',
}
CALLS = [
    {"name": "view", "arguments": {"path": "vat/invoice.py"}},
    {"name": "view", "arguments": {"path": "vat/regions.py"}},
    *(
        {"name": "rewrite", "arguments": {"path": "vat/regions.py", "start": line, "end": line, "new_code": code}}
        for line, code in LINES.items()
    ),
    {"name": "listdir", "arguments": {}},
    {"name": "eval", "arguments": {}},
]
WORDS = [f"<tool_call>\n{json.dumps(call)}\n</tool_call>" for call in CALLS]
END = "<|im_end|>"


def save_tiny_model(folder: Path, actions: Sequence[str] = WORDS) -> None:
    """Write a model with random weights and its tokenizer, whose words are the actions."""
    words = ["<unk>", "<pad>", END, "<|im_start|>"]
    tokenizer = Tokenizer(WordLevel({word: number for number, word in enumerate(words)}, unk_token="<unk>"))
    tokenizer.pre_tokenizer = WhitespaceSplit()
    tokenizer.add_special_tokens([AddedToken(word) for word in words])
    tokenizer.add_tokens([AddedToken(action, normalized=False) for action in actions])
    wrapped = PreTrainedTokenizerFast(tokenizer_object=tokenizer, unk_token="<unk>", pad_token="<pad>", eos_token=END)
    wrapped.chat_template = qwen3_chat_template
    torch.manual_seed(1)
    config = Qwen3Config(
        vocab_size=len(wrapped),
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=1,
        num_attention_heads=2,
        num_key_value_heads=1,
        head_dim=16,
        max_position_embeddings=8192,
        eos_token_id=wrapped.eos_token_id,
        pad_token_id=wrapped.pad_token_id,
        tie_word_embeddings=False,
    )
    model = Qwen3ForCausalLM(config)
    # An action ends the model's turn, as END does.
    model.generation_config.eos_token_id = [wrapped.eos_token_id, *wrapped.convert_tokens_to_ids(list(actions))]
    model.save_pretrained(folder)
    wrapped.save_pretrained(folder)


def train(folder: Path, *, steps: int, sandbox: str | None) -> list[float]:
    """Train the model in a folder. Returns the mean reward of each step, at most 1.5."""
    rows = {"task": [TASK], "prompt": [[{"role": "user", "content": "Fix this program. "}]]}
    envs = environment_factory(tools="eval,view,listdir,rewrite", rewards={"verdict": 1, "tests": 0.5}, sandbox=sandbox)
    args = GRPOConfig(
        str(folder / "trained"),
        max_steps=steps,
        learning_rate=0.01,
        lr_scheduler_type="constant",
        per_device_train_batch_size=8,
        num_generations=8,
        max_completion_length=1024,
        max_tool_calling_iterations=6,
        logging_steps=1,
        report_to="none",
        save_strategy="no",
        use_cpu=True,
        bf16=False,
        disable_tqdm=True,
    )
    trainer = GRPOTrainer(str(folder), args=args, train_dataset=Dataset.from_dict(rows), environment_factory=envs)
    before = {name: value.detach().clone() for name, value in trainer.model.named_parameters()}
    trainer.train()
    changed = sum(not torch.equal(before[name], value) for name, value in trainer.model.named_parameters())
    print(f"{changed} of {len(before)} tensors of parameters changed")
    trainer.save_model()
    return [entry["reward"] for entry in trainer.state.log_history if "reward" in entry]


def main() -> None:
    """Make the model, train it, and print what it earned."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=12)
    parser.add_argument("--sandbox")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        save_tiny_model(Path(scratch))
        rewards = train(Path(scratch), steps=options.steps, sandbox=options.sandbox)
    print("mean reward by step:", " ".join(f"{reward:.2f}" for reward in rewards))


if __name__ == "__main__":
    main()
