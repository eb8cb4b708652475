"""Agents `llm` that ask the scripted model, and their first briefing."""

from __future__ import annotations

from typing import Any

from stackrank.agents.episode.protocol import Briefing
from stackrank.agents.llm import LlmAgent
from stackrank.env.actions import Observation
from stackrank.env.tools import tool_set

PRICE = {"input": 2.0, "cached_input": 0.5, "output": 8.0}


def make(**config: Any) -> LlmAgent:
    """An agent whose model has a price."""
    return LlmAgent(model="scripted", config={"price": PRICE, "retry_s": 60.0, **config})


def started(tools: str = "debug", seed: int = 0, **config: Any) -> LlmAgent:
    """The same, after its first observation."""
    return begun(make(**config), tools, seed)


def unpriced(**config: Any) -> LlmAgent:
    """An agent whose model has no price, after its first observation."""
    return begun(LlmAgent(model="scripted", config={"retry_s": 60.0, **config}), "debug", 3)


def begun(agent: LlmAgent, tools: str, seed: int) -> LlmAgent:
    """The agent, after its first observation."""
    agent.begin(Briefing("t", "Mend it.", "pytest", tool_set(tools), 50, seed, seed), Observation("1 failed"))
    return agent
