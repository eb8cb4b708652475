"""The scripted endpoint as a command."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from stackrank.agents.episode.protocol import SetupError
from stackrank.agents.llm import LlmAgent
from stackrank.agents.llm.scripted.script import Player, read_script
from stackrank.env.actions import Observation
from tests.fixtures.agents import FakeEnv, play_fake
from tests.fixtures.calls import interruptible
from tests.fixtures.env import make_task
from tests.support.openai_server import OpenAIServer

pytestmark = pytest.mark.slow  # by its time

ROOT = Path(__file__).parents[3]
SCRIPT = """
models: [one, other]
conversations:
  - when: '"model": "other"'
    answers: [{say: "no call"}]
  - answers:
      - {say: "Let me see.", calls: [{tool: view, arguments: {path: a.py}}, {tool: eval}], tokens_in: 17}
      - {calls: [{tool: view, arguments: "{oops"}], faults: [429, dropped, 500]}
      - {calls: [{tool: submit}]}
"""


def play(url: str, model: str, api: str) -> list[str]:
    def answer(action: object) -> Observation:
        return Observation("seen", state={"over": "submitted"} if action.tool == "submit" else {})  # type: ignore[attr-defined]

    agent = LlmAgent(model=model, config={"base_url": url, "api": api})
    _, steps = play_fake(FakeEnv(make_task({"a.py": ""}), answer), agent)
    return [step.action.tool if step.action else "" for step in steps[1:]]


@pytest.mark.parametrize("api", ["chat", "responses"])
def test_each_conversation_gets_the_script_from_its_beginning(tmp_path: Path, api: str) -> None:
    file = tmp_path / "script.yaml"
    file.write_text(SCRIPT)
    player = Player(read_script(file))
    with OpenAIServer(player) as server:
        for _ in range(2):
            assert play(server.url, "one", api) == ["view", "eval", "", "submit"]
        assert play(server.url, "other", api) == [""] * 5
    assert player.counts == {"answers": 11, "429": 2, "dropped": 2, "500": 2}


def test_a_share_of_the_requests_fails(tmp_path: Path) -> None:
    player = Player(read_script(None), fail=0.3)
    answers = [player({"model": "demo", "messages": []}) for _ in range(300)]
    assert 60 < sum(hasattr(answer, "code") for answer in answers) < 120


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("conversations: []", "conversations"),
        ("conversations: [{answers: [{sya: x}]}]", "conversations.0.answers.0.sya"),
        ("conversations: [{answers: [{faults: [lost]}]}]", "faults"),
        ("[", "cannot be read"),
    ],
)
def test_a_wrong_script(tmp_path: Path, text: str, hint: str) -> None:
    file = tmp_path / "script.yaml"
    file.write_text(text)
    with pytest.raises(SetupError, match=hint):
        read_script(file)


def test_the_command() -> None:
    command = [sys.executable, "-m", "stackrank.flows.cli.main", "demo-endpoint", "--port", "0"]
    with subprocess.Popen(
        command,
        cwd=ROOT,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=interruptible,
    ) as process:
        assert process.stderr is not None
        line = process.stderr.readline()
        url = next(word for word in line.split() if word.startswith("http://127.0.0.1:"))
        assert httpx.get(f"{url}/models").json()["data"][0]["id"] == "demo"
        body = {"model": "demo", "messages": [{"role": "user", "content": "x"}]}
        answer = httpx.post(f"{url}/chat/completions", json=body).json()
        assert answer["choices"][0]["message"]["tool_calls"][0]["function"]["name"] == "listdir"
        process.send_signal(signal.SIGINT)
        assert "asked 1 times: 1 x answers" in process.stderr.read()
    assert process.returncode == 0


def test_the_example() -> None:
    with OpenAIServer(Player(read_script(ROOT / "deploy" / "examples" / "demo-endpoint.yaml"))) as server:
        assert play(server.url, "demo", "chat") == ["listdir", "pdb", "grep", *[""] * 4, "submit"]
