"""Trainers of others change the parameters of a tiny model on the CPU, in an environment of their own."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import textwrap
from pathlib import Path

import pytest

from stackrank.env.actions import Action
from stackrank.flows.runs.afterwards.export.exporter import find_exporter
from tests.extensions.training.test_export_models import kept
from tests.fixtures.agents import Scripted
from tests.fixtures.env import usable
from tests.support.model_servers import server_python

ROOT = Path(__file__).parents[3]
EXAMPLES = ROOT / "docs" / "examples"

pytestmark = [pytest.mark.slow, pytest.mark.exhaustive]

CHANGED = """
    import sys
    from safetensors.numpy import load_file  # importing torch takes seconds
    before, after = map(load_file, sys.argv[1:])
    assert before.keys() == after.keys() and any((before[name] != after[name]).any() for name in before)
"""


def trainer(folder: Path, *command: str | Path) -> str:
    """Run a program where the trainers are installed. Returns what it printed."""
    variables = {"PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{EXAMPLES}", "TRL_EXPERIMENTAL_SILENCE": "1"}
    process = subprocess.run(
        [server_python("trainers"), *command],
        cwd=folder,
        env={**os.environ, **variables, "HF_HUB_OFFLINE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert process.returncode == 0, (process.stdout + process.stderr)[-4000:]
    return process.stdout


def run_code(folder: Path, text: str, *arguments: str | Path) -> str:
    return trainer(folder, "-c", textwrap.dedent(text), *arguments)


@pytest.fixture(scope="module")
def untrained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a tiny model, whose words are calls of tools."""
    folder = tmp_path_factory.mktemp("untrained")
    run_code(folder, "import pathlib, train_grpo; train_grpo.save_tiny_model(pathlib.Path('model'))")
    return folder / "model"


@pytest.fixture
def model(untrained: Path, tmp_path: Path) -> Path:
    """A copy of the tiny model, in a folder of the test's own."""
    return shutil.copytree(untrained, tmp_path / "model")


def require_change(model: Path) -> None:
    (trained,) = model.parent.glob("trained/checkpoint-*/model.safetensors")
    run_code(model.parent, CHANGED, model / "model.safetensors", trained)


def test_the_example_of_grpo_trains_in_the_environment(tmp_path: Path) -> None:
    usable("bubblewrap")
    printed = trainer(tmp_path, EXAMPLES / "train_grpo.py", "--steps", "2", "--sandbox", "bubblewrap")
    assert "14 of 14 tensors of parameters changed" in printed and "mean reward by step:" in printed


def test_the_first_lines_of_the_guide_train(model: Path) -> None:
    trainer(model.parent, EXAMPLES / "trl_loop.py", model, "bugs/vat-table")
    require_change(model)


def test_sft_trains_on_an_export(model: Path) -> None:
    source, _ = kept(Scripted([Action("view", {"path": "cart.py"}), Action("submit", {})]))
    records = [json.dumps(record) + "\n" for record in find_exporter("chat").records(source)]
    (model.parent / "chat.jsonl").write_text("".join(records))
    trainer(model.parent, EXAMPLES / "train_sft.py", model, "chat.jsonl")
    require_change(model)


def test_grpo_gives_no_advantage_to_what_the_machine_lost(model: Path) -> None:
    """Rewards of a group: 1, 0, lost, 1. The baseline is the mean of the three others."""
    code = """
        import itertools, types
        from datasets import Dataset
        from trl import GRPOConfig, GRPOTrainer
        from stackrank.env.actions import Observation
        from stackrank.env.sandbox.base import SandboxError
        from stackrank.extensions.training.trl import ToolEnv

        class Env:
            made = itertools.count()
            def __init__(self): self.number = next(Env.made)
            def reset(self, task): return Observation("begun"), {}
            def step(self, action): raise AssertionError
            def settle(self):
                if self.number == 2:
                    raise SandboxError("the machine failed")
                return float(self.number != 1)

        class Tools(ToolEnv):
            _make = staticmethod(lambda task: Env())
            def eval(self) -> str:
                "Run the tests."
                return "seen"

        class Trainer(GRPOTrainer):
            def _generate_and_score_completions(self, inputs):
                scored = super()._generate_and_score_completions(inputs)
                print("advantages", *(round(value, 3) for value in scored["advantages"].tolist()))
                return scored

        rows = Dataset.from_dict({"task": ["x"], "prompt": [[{"role": "user", "content": "Fix it. "}]]})
        args = GRPOConfig(
            "out", max_steps=1, num_generations=4, per_device_train_batch_size=4, max_completion_length=8, bf16=False,
            use_cpu=True, report_to="none", save_strategy="no", scale_rewards="none",
        )
        Trainer("model", args=args, train_dataset=rows, environment_factory=Tools).train()
    """
    assert "advantages 0.333 -0.667 0.0 0.333" in run_code(model.parent, code)


def test_verl_learns_from_the_tokens_that_were_sampled(tmp_path: Path) -> None:
    """Its own loop, advantages and loss. The machine fails once: that rollout is played again, and has no reward."""
    usable("bubblewrap")
    assert "14 of 14 tensors of parameters changed" in trainer(tmp_path, Path(__file__).with_name("verl_rollouts.py"))


def test_skyrl_plays_an_episode(tmp_path: Path) -> None:
    usable("bubblewrap")
    action = "```action\n%s\n```"
    mended = '        Region("NL2", 240, 60, ("food", "bread", "books"), ("bread-organic",)),'
    script = Path(__file__).with_name("skyrl_rollout.py")

    def play(*answers: str) -> tuple[list[dict[str, str]], list[dict[str, object]]]:
        record = json.loads(trainer(tmp_path, script, json.dumps(answers)))
        return record["prompt"], record["steps"]

    prompt, steps = play("What now?", action % f"rewrite vat/regions.py 24 24\n{mended}", action % "eval")
    assert [message["role"] for message in prompt] == ["system", "user"] and "Norrland" in prompt[1]["content"]
    assert [step["done"] for step in steps] == [False, False, True]
    assert [step["reward"] for step in steps] == pytest.approx([0, 0, 1.2])
    assert "contains no action" in str(steps[0]["said"]) and not steps[-1]["said"]
    _, cut = play(*["What now?"] * 3, action % f"rewrite vat/regions.py 24 24\n{mended}")
    assert [step["reward"] for step in cut] == [0, 0, 0, 1], "the last turn is scored"
