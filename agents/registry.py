"""The agents by name: the built-in ones, and those that packages add under the entry point group `stackrank.agents`."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from stackrank.agents.episode.protocol import Agent, SetupError
from stackrank.plugins import load_plugin, plugin_names

# By name, so that listing agents imports none of them (the OpenAI package alone takes a second).
BUILT_IN = {
    "oracle": "stackrank.agents.oracle:Oracle",
    "llm": "stackrank.agents.llm:LlmAgent",
    "seeker": "stackrank.agents.llm.seeker:Seeker",
    "command": "stackrank.agents.command:CommandAgent",
    "random": "stackrank.agents.random_agent:RandomAgent",
    "replay": "stackrank.agents.replay:Replay",
    "human": "stackrank.agents.human:Human",
    "outside": "stackrank.agents.outside:Outside",
}
_GROUP = "stackrank.agents"


def agent_names() -> list[str]:
    """Return the names of all agents, the built-in ones first."""
    return list(dict.fromkeys([*BUILT_IN, *plugin_names(_GROUP)]))


def find_agent(name: str) -> type[Agent]:
    """Return the agent of that name; a built-in agent comes before a plug-in of the same name.

    Raises SetupError if there is none, or if a plug-in's is not an `Agent` class. Raises PluginError if a plug-in
    cannot be loaded.
    """
    agent: Any
    if name in BUILT_IN:
        module, _, attribute = BUILT_IN[name].partition(":")
        agent = getattr(import_module(module), attribute)
    else:
        agent = load_plugin(_GROUP, name)
    if agent is None:
        raise SetupError(f"there is no agent {name!r}: choose one of {', '.join(agent_names())}")
    if not (isinstance(agent, type) and issubclass(agent, Agent)):
        raise SetupError(
            f"the agent {name} is not a subclass of stackrank.agents.episode.protocol.Agent: "
            f"change {agent.__module__} accordingly"
        )
    return agent
