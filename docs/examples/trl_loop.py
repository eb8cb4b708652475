"""Train a model by GRPO on tasks: `trl_loop.py Qwen/Qwen3-0.6B bugs/vat-table bugs/shop-filters`."""

import sys

import torch
from datasets import Dataset
from trl import GRPOConfig, GRPOTrainer

from stackrank.extensions.training.trl import environment_factory

model, *tasks = sys.argv[1:]
rows = {"task": tasks, "prompt": [[{"role": "user", "content": "Fix this program. "}]] * len(tasks)}
envs = environment_factory(tools="debug", rewards={"verdict": 1, "tests": 0.2})
args = GRPOConfig("trained", max_completion_length=8192, bf16=torch.cuda.is_available())
GRPOTrainer(model, args=args, train_dataset=Dataset.from_dict(rows), environment_factory=envs).train()
