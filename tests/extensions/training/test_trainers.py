"""What opens the environment to trainers of others: adapters and the examples of the guide."""

from __future__ import annotations

import inspect
import json
import os
import subprocess
import sys
import typing
import warnings
from importlib.util import find_spec
from pathlib import Path

import pytest

from stackrank.env.actions import Observation
from stackrank.env.sandbox.base import SandboxError
from stackrank.env.tools import tool_set
from stackrank.extensions.training.rewards import TrainingError
from tests.fixtures.env import usable
from tests.support.model_servers import server_python
from tests.support.openai_server import OpenAIServer, says
from tests.support.waiting import missing

ROOT = Path(__file__).parents[3]
ADAPTERS = ("gymnasium", "openenv", "trl", "verifiers")
EXAMPLES = {"gymnasium_loop": "gymnasium", "vector_loop": "", "branch": ""}
"""Example -> the package that it needs."""


def needs(package: str) -> None:
    if package and find_spec(package) is None:
        missing(f"{package} is not installed: pip install 'stackrank[{package}]'")


@pytest.mark.parametrize("name", ADAPTERS)
def test_adapters_are_small(name: str) -> None:
    assert len((ROOT / "extensions" / "training" / f"{name}.py").read_text().splitlines()) <= 110


def test_gymnasium_has_nothing_to_say_against_it() -> None:
    needs("gymnasium")
    usable("bubblewrap")
    from gymnasium.utils.env_checker import check_env

    from stackrank.extensions.training.gymnasium import GymEnv

    env = GymEnv("bugs/shop-filters", sandbox="bubblewrap")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            check_env(env, skip_render_check=True)
        env.reset(options={"task": "bugs/vat-table"})
        observation, reward, terminated, truncated, info = env.step({"tool": 0, "arguments": "[1]"})
        assert (observation, reward, terminated, truncated) == (
            "The arguments have to be a JSON object.",
            0.0,
            False,
            False,
        )
        assert (info["task"], info["step"]) == ("bugs/vat-table", 1)
        path = '{"path": "tests/test_invoice.py"}'
        shown_text = env.step({"tool": env.tools.index("view"), "arguments": path})[0]
        assert shown_text in env.observation_space and "def test_" in shown_text
    finally:
        env.close()


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples_run(name: str) -> None:
    needs(EXAMPLES[name])
    usable("bubblewrap")
    file = ROOT / "docs" / "examples" / f"{name}.py"
    assert len(file.read_text().splitlines()) <= 15
    process = subprocess.run([sys.executable, file], capture_output=True, text=True, check=False)
    assert process.returncode == 0 and process.stdout, process.stderr


def test_trl_finds_the_tools_and_their_rewards() -> None:
    """As GRPOTrainer does: public functions of the class are tools, described by signature and docstring."""
    from stackrank.extensions.training.trl import environment_factory

    usable("bubblewrap")
    factory = environment_factory(tools="debug", rewards={"verdict": 1, "distance": 0.5}, count=1, sandbox="bubblewrap")
    env = factory()
    methods = {name for name, _ in inspect.getmembers(type(env), predicate=inspect.isfunction) if name[0] != "_"}
    assert methods == {*tool_set("debug").tools, "reset", "get_reward"}
    hints = typing.get_type_hints(env.view)
    assert (hints["path"], hints["start"], hints["return"]) == (str, int | None, str)
    signature = inspect.signature(env.view)
    assert signature.parameters["path"].default is inspect.Parameter.empty and "self" not in signature.parameters
    assert "\nArgs:\n    path: File" in (env.view.__doc__ or "")
    with pytest.raises(TrainingError, match="call reset first"):
        env.listdir()
    with pytest.raises(TrainingError, match="a column `task`"):
        env.reset(prompt=[])
    assert "Norrland" in env.reset(task="bugs/vat-table", prompt=[], environment="x")
    assert "def gross" in env.view("vat/invoice.py") or "vat" in env.listdir(path=".")
    fault_file = env._env.task.faults[0].file
    assert env.view(path=fault_file) and env.get_reward() > 0, "the step came nearer to the fault"
    with pytest.raises(TrainingError, match="over"):
        env.submit()
    env.reset(task="bugs/vat-table")
    assert env.get_reward() == 0


def test_trl_leaves_out_what_the_machine_lost() -> None:
    from stackrank.extensions.training.trl import ToolEnv

    class Lost(ToolEnv):
        _make = staticmethod(lambda _: LostEnv())  # type: ignore[assignment]

    env = Lost()
    assert env.reset(task="bugs/x") == "begun"
    with pytest.raises(SandboxError):
        env._step("view", {})
    assert env.get_reward() is None


class LostEnv:
    """An environment whose machine fails at the first step."""

    outcome = None

    def reset(self, task: str) -> tuple[Observation, dict[str, object]]:
        return Observation("begun"), {}

    def step(self, action: object) -> None:
        raise SandboxError("the machine failed")


def test_the_guide_begins_with_ten_lines_that_train() -> None:
    text = (ROOT / "docs" / "examples" / "trl_loop.py").read_text()
    _, _, lines = text.partition("\n\n")
    assert len(list(filter(None, lines.splitlines()))) <= 10
    guide = (ROOT / "docs" / "guide" / "training.md").read_text()
    assert guide.partition("```python\n")[2].startswith(text)


@pytest.mark.slow
@pytest.mark.exhaustive
def test_verifiers_plays_an_episode(tmp_path: Path) -> None:
    """By its own command line, as the example says, in an environment of its own."""
    usable("bubblewrap")
    python = server_python("verifiers")
    action = "```action\n%s\n```"
    mended = '        Region("NL2", 240, 60, ("food", "bread", "books"), ("bread-organic",)),'
    answers = ["What now?", action % "dance", action % f"rewrite vat/regions.py 24 24\n{mended}", action % "eval"]
    example = (ROOT / "docs" / "examples" / "verifiers_eval.toml").read_text()
    assert len(example.splitlines()) <= 15
    with OpenAIServer([says(messages) for messages in answers]) as server:
        config_text = example.replace("https://api.openai.com/v1", server.url).replace(', "bugs/shop-filters"', "")
        config = tmp_path / "eval.toml"
        config.write_text(config_text + 'sandbox = "bubblewrap"\n')
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"  # uv is there
        variables = {"OPENAI_API_KEY": "none", "PYTHONPATH": str(ROOT / "src"), "PATH": path}
        command = [python.with_name("vf-eval"), "@", config]
        process = subprocess.run(
            command, cwd=tmp_path, env={**os.environ, **variables}, capture_output=True, text=True, check=False
        )
        conversations = [messages["messages"] for messages in server.requests]
    assert process.returncode == 0, process.stdout + process.stderr
    (file,) = tmp_path.glob("outputs/*/traces.jsonl")
    (episode,) = map(json.loads, file.read_text().splitlines())
    (trace,) = episode["traces"]
    assert episode["ok"] and trace["task"]["data"]["name"] == "bugs/vat-table"
    assert trace["rewards"]["episode"]["score"] == pytest.approx(1.2), "all tests pass, and the verdict is resolved"
    assert [len(messages) for messages in conversations] == [2, 4, 6, 8] and "Norrland" in conversations[0][1][
        "content"
    ]
    assert (
        "contains no action" in conversations[1][-1]["content"] and "no tool 'dance'" in conversations[2][-1]["content"]
    )
