"""Which agents there are. Other packages add theirs by the entry point group `stackrank.agents`."""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import entry_points
from typing import cast

from agents.base import AgentFactory, SetupError

# By name, so that listing agents imports none of them (the OpenAI package alone takes a second).
BUILT_IN = {
    "oracle": "agents.oracle:Oracle",
    "repair": "agents.repair:Repair",
    "llm": "agents.llm:LlmAgent",
    "seeker": "agents.llm.seeker:Seeker",
    "random": "agents.random_agent:RandomAgent",
    "replay": "agents.replay:Replay",
    "human": "agents.human:Human",
}


def agent_names() -> list[str]:
    """The names of all agents."""
    return [*BUILT_IN, *(point.name for point in entry_points(group="stackrank.agents"))]


def find_agent(name: str) -> AgentFactory:
    """The agent of that name. Raises SetupError with a sentence that lists those there are."""
    if name in BUILT_IN:
        module, _, attribute = BUILT_IN[name].partition(":")
        return cast(AgentFactory, getattr(import_module(module), attribute))
    for point in entry_points(group="stackrank.agents", name=name):
        return cast(AgentFactory, point.load())
    raise SetupError(f"there is no agent {name!r}: choose one of {', '.join(agent_names())}")
