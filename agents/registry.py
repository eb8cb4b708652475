"""The agents by name: the built-in ones, and those that packages add under the entry point group `stackrank.agents`."""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from stackrank.agents.episode.protocol import Agent, SetupError

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
    return list(dict.fromkeys([*BUILT_IN, *(plug_in.name for plug_in in entry_points(group=_GROUP))]))


def find_agent(name: str) -> type[Agent]:
    """Return the agent of that name; a built-in agent comes before a plug-in of the same name.

    Raises SetupError if there is none, or if a plug-in cannot be imported or is not an `Agent` class.
    """
    if name in BUILT_IN:
        module, _, attribute = BUILT_IN[name].partition(":")
        agent: type[Agent] = getattr(import_module(module), attribute)
        return agent
    for plug_in in entry_points(group=_GROUP, name=name):
        return _load(plug_in)
    raise SetupError(f"there is no agent {name!r}: choose one of {', '.join(agent_names())}")


def _load(plug_in: EntryPoint) -> type[Agent]:
    try:
        agent: Any = plug_in.load()
    except Exception as error:  # a third-party module may raise anything
        package = plug_in.dist.name if plug_in.dist else plug_in.module
        raise SetupError(
            f"the plug-in for the agent {plug_in.name} ({plug_in.value}) cannot be imported "
            f"({type(error).__name__}: {error}): reinstall the package {package} with its dependencies, or remove it"
        ) from error
    if not (isinstance(agent, type) and issubclass(agent, Agent)):
        raise SetupError(
            f"the agent {plug_in.name} is not a subclass of stackrank.agents.episode.protocol.Agent: "
            f"change {plug_in.value} in the package that provides it"
        )
    return agent
