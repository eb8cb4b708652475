"""Train a model on what `stackrank export RUN --format chat` wrote: `train_sft.py MODEL FILE`."""

import json
import sys
from pathlib import Path

import torch
from datasets import Dataset
from trl import SFTConfig, SFTTrainer

model, file = sys.argv[1:]
records = [json.loads(line) for line in Path(file).read_text().splitlines()]
rows = Dataset.from_list([{name: record[name] for name in ("messages", "tools")} for record in records])
args = SFTConfig("trained", assistant_only_loss=True, max_length=None, bf16=torch.cuda.is_available())
SFTTrainer(model, args=args, train_dataset=rows).train()
