"""A model learns by GRPO: `pip install trl vllm`, and a machine with a GPU."""

from datasets import Dataset
from trl import GRPOConfig, GRPOTrainer

import stackrank
from stackrank.extensions.training.trl import environment_factory

tasks = stackrank.task_names("bugs")[::2]
rows = {"task": tasks, "prompt": [[{"role": "user", "content": "Fix this program. "}]] * len(tasks)}
envs = environment_factory(tools="debug", rewards={"verdict": 1, "tests": 0.2})
args = GRPOConfig(use_vllm=True, max_completion_length=8192)
GRPOTrainer("Qwen/Qwen3-4B", args=args, train_dataset=Dataset.from_dict(rows), environment_factory=envs).train()
