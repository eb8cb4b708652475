"""llama-cpp-python's server with a tiny model of random weights: nonsense, made valid by grammars."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from stackrank.agents.episode.loop import Budget, Outcome
from stackrank.agents.episode.protocol import AccessError, SetupError
from stackrank.agents.episode.step import Step
from stackrank.agents.llm import LlmAgent
from stackrank.env.actions import Observation
from stackrank.terms import StopReason
from tests.agents.llm.test_verbatim import KEYS
from tests.fixtures.agents import CART, FakeEnv, play_fake, play_real
from tests.support.model_servers import served, server_python

pytestmark = [pytest.mark.exhaustive, pytest.mark.slow]

MAKES_MODEL = Path(__file__).parents[2] / "support" / "tiny_model.py"
KEY = "sk-llama-key-1234"
CONTEXT = 12_000
"""In tokens of one character each. An episode's first request has about half as many."""
ANY_CALL = {"verbatim": False, "extra_body": {"tool_choice": "auto"}}
VIEW = {
    "verbatim": False,
    "extra_body": {"tool_choice": {"type": "function", "function": {"name": "view"}}},
}
TEXT = {
    "syntax": "text",
    "extra_body": {"grammar": r'root ::= "```action\n" ("eval" | "listdir" | "view cart.py") "\n```"'},
}


@pytest.fixture(scope="module")
def llama(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("llama")
    python = server_python("llama-cpp")
    subprocess.run([python, MAKES_MODEL, folder / "tiny.gguf"], check=True, timeout=300)
    options = ["--model", "tiny.gguf", "--model_alias", "tiny", "--api_key", KEY, "--n_ctx", str(CONTEXT)]
    options += ["--chat_format", "chatml-function-calling", "--n_threads", "1", "--host", "127.0.0.1"]
    with served(
        "llama", [python, "-m", "llama_cpp.server", *options, "--port", "{port}"], folder, "/v1/models"
    ) as root:
        yield root


@pytest.fixture(autouse=True)
def _asked(llama: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in KEYS:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("OPENAI_BASE_URL", f"{llama}/v1")
    monkeypatch.setenv("OPENAI_API_KEY", KEY)


def played(steps: int = 4, real: bool = False, answer_text: str = "", **config: Any) -> tuple[Outcome, list[Step]]:
    """Play an episode, which never ends in an error. `answer_text`: the text of a fake environment's observations."""
    config = {"max_tokens": 150, "seed": 11, "retry_s": 60.0, **config}
    agent, budget = LlmAgent(model="tiny", config=config), Budget(steps=steps, malformed=3)
    if real:
        LlmAgent.configure(model="tiny", config=config).check()
        outcome, recorded = play_real(CART, agent, budget=budget)
    else:
        outcome, recorded = play_fake(FakeEnv(CART, lambda action: Observation(answer_text)), agent, budget)
    assert outcome.stop_reason is not StopReason.ERROR and outcome.score is not None, outcome
    return outcome, recorded


def called(steps: list[Step]) -> list[str]:
    return [step.action.tool for step in steps if step.action]


@pytest.mark.parametrize("stream", [False, True])
def test_text_that_is_no_call_ends_as_malformed(stream: bool) -> None:
    """Without `tool_choice` this server does not tell the model about tools."""
    outcome, steps = played(stream=stream)
    assert outcome.stop_reason is StopReason.MALFORMED_ACTIONS and len(steps) == 4
    assert steps[1].usage.tokens_in > 0 and steps[1].usage.estimated is stream, "its streams count no tokens"


@pytest.mark.parametrize("stream", [False, True])
def test_an_episode_of_calls(stream: bool) -> None:
    """A grammar makes each answer a call that the tool's schema allows; one that is cut off is not valid JSON."""
    outcome, steps = played(real=not stream, stream=stream, **VIEW)
    assert outcome.stop_reason in (StopReason.STEP_LIMIT, StopReason.MALFORMED_ACTIONS)
    assert all("tool_calls" in str(exchange.answer) for step in steps for exchange in step.exchanges)
    assert set(called(steps)) == {"view"}


@pytest.mark.parametrize("stream", [False, True])
def test_calls_of_any_tool(stream: bool) -> None:
    """The model chooses between a message and a tool; here this server leaves most calls in the text."""
    outcome, _ = played(stream=stream, **ANY_CALL)
    assert outcome.stop_reason in (StopReason.STEP_LIMIT, StopReason.MALFORMED_ACTIONS, StopReason.SUBMITTED)


@pytest.mark.parametrize("stream", [False, True])
def test_an_episode_of_text(stream: bool) -> None:
    """Each answer is an action as the text syntax has it."""
    outcome, steps = played(real=stream, stream=stream, **TEXT)
    assert outcome.stop_reason is StopReason.STEP_LIMIT
    assert len(called(steps)) == 4 and set(called(steps)) <= {"eval", "listdir", "view"}


def test_a_conversation_longer_than_the_context() -> None:
    """The server answers 400; the conversation is cut, and the episode continues."""
    outcome, steps = played(answer_text="It is as it is. " * 200, **TEXT)
    assert outcome.stop_reason in (StopReason.STEP_LIMIT, StopReason.CONTEXT_LIMIT), outcome
    assert any("history_cut_to_tokens" in exchange.request for step in steps for exchange in step.exchanges)


def test_a_first_question_longer_than_the_context() -> None:
    outcome, _ = played(prompts={"task": "x" * CONTEXT * 3}, **TEXT)
    assert outcome.stop_reason is StopReason.CONTEXT_LIMIT, outcome


def test_calls_without_the_setting_that_they_need(llama: str) -> None:
    """This server rejects the null content that comes with its own calls."""
    with pytest.raises(SetupError, match="verbatim: false"):
        played(**{**VIEW, "verbatim": True})


def test_a_wrong_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-another-key-1234")
    with pytest.raises(AccessError, match="rejected the key: check the environment variable OPENAI_API_KEY"):
        LlmAgent.configure(model="tiny", config={}).check()
