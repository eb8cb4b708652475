"""The agent that acts at random."""

from __future__ import annotations

import pytest

from stackrank.agents.episode.loop import Budget
from stackrank.agents.episode.protocol import Briefing, SetupError
from stackrank.agents.episode.step import Step
from stackrank.agents.random_agent import RandomAgent
from stackrank.env.actions import Action, Observation
from stackrank.env.tools import find_tool, tool_set
from stackrank.terms import StopReason
from tests.fixtures.agents import play_real
from tests.fixtures.env import cart

pytestmark = pytest.mark.slow  # by its time


def played(seed: int, tools: str = "bash-debug", steps: int = 40, attempt: int = 1) -> tuple[StopReason, list[Step]]:
    outcome, recorded = play_real(cart(), RandomAgent(), tools, Budget(steps=steps, repeats=None), seed, attempt)
    assert outcome.score is not None
    return outcome.stop_reason, recorded


def test_the_random_agent_has_no_settings() -> None:
    with pytest.raises(SetupError, match="luck"):
        RandomAgent(config={"luck": 7})


@pytest.mark.exhaustive
def test_a_seed_decides_everything() -> None:
    runs = [[(step.action, step.observation.text) for step in played(seed)[1]] for seed in (3, 3, 4)]
    assert runs[0] == runs[1] != runs[2]
    other_attempt = [(step.action, step.observation.text) for step in played(3, attempt=2)[1]]
    assert other_attempt != runs[0], "a second attempt that repeats the first tells nothing"


def test_it_reads_edits_and_debugs() -> None:
    """Most of its calls are valid, and it never uses a tool that it does not have."""
    steps = [step for seed in range(2) for step in played(seed)[1][1:]]
    tool_names = {step.action.tool for step in steps if step.action}
    assert {"view", "rewrite", "pdb", "eval"} <= tool_names
    edits = [step for step in steps if step.action and step.action.tool == "rewrite"]
    assert all(step.observation.ok and step.observation.state["edited"] == "cart.py" for step in edits)
    assert any("nothing changed" not in step.observation.text for step in edits)
    assert sum(step.observation.ok for step in steps) > len(steps) * 0.8


@pytest.mark.exhaustive
@pytest.mark.parametrize("tool", ["trace", "calls", "snapshot"])
def test_it_uses_what_takes_the_place_of_the_debugger(tool: str) -> None:
    steps = [step for seed in range(2) for step in played(seed, tool)[1][1:]]
    observations = [step.observation for step in steps if step.action and step.action.tool == tool]
    assert any(observation.ok and observation.state["kind"] == "followed" for observation in observations)


def test_an_episode_without_a_submission_ends_by_its_budget() -> None:
    reasons = {played(seed, "rewrite", steps=8)[0] for seed in range(2)}
    assert StopReason.STEP_LIMIT in reasons


@pytest.mark.parametrize("tools", ["submit", "rewrite,submit", "debug5"])
def test_a_small_tool_set_before_anything_was_seen(tools: str) -> None:
    """Arguments are always valid for their tools, and a locked tool is not used."""
    agent = RandomAgent()
    agent.begin(Briefing("t", "", "", tool_set(tools), 50), Observation(""))
    for _ in range(100):
        action: Action = agent.act(Observation("")).action
        find_tool(action.tool).arguments.model_validate(action.arguments)
        assert action.tool != "pdb"
