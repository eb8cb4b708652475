"""The agents by name. Other packages add theirs under the entry point group `stackrank.agents`."""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import entry_points
from typing import Any

from stackrank.agents.episode.protocol import Agent, SetupError

# By name, so that listing agents imports none of them (the OpenAI package alone takes a second).
BUILT_IN = {
    "oracle": "stackrank.agents.oracle:Oracle",
    "repair": "stackrank.extensions.repair:Repair",
    "llm": "stackrank.agents.llm:LlmAgent",
    "seeker": "stackrank.agents.llm.seeker:Seeker",
    "command": "stackrank.agents.command:CommandAgent",
    "random": "stackrank.agents.random_agent:RandomAgent",
    "replay": "stackrank.agents.replay:Replay",
    "human": "stackrank.agents.human:Human",
    "outside": "stackrank.agents.outside:Outside",
}


def agent_names() -> list[str]:
    """Return the names of all agents."""
    return [*BUILT_IN, *(point.name for point in entry_points(group="stackrank.agents"))]


def find_agent(name: str) -> type[Agent]:
    """Return the agent of that name. Raises SetupError if there is none, or if a plug-in's is not an `Agent` class."""
    found: Any = None
    if name in BUILT_IN:
        module, _, attribute = BUILT_IN[name].partition(":")
        found = getattr(import_module(module), attribute)
    for point in entry_points(group="stackrank.agents", name=name):
        found = found or point.load()
    if found is None:
        raise SetupError(f"there is no agent {name!r}: choose one of {', '.join(agent_names())}")
    if not (isinstance(found, type) and issubclass(found, Agent)):
        raise SetupError(
            f"the agent {name} is not a subclass of stackrank.agents.episode.protocol.Agent: "
            f"change {found.__module__} accordingly"
        )
    return found
