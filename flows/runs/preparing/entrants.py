"""The entrants of a run, checked, with their identity."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from stackrank.agents.episode.protocol import Agent, Setup, SetupError
from stackrank.agents.registry import find_agent
from stackrank.env.sandbox.base import Backend, BuildError, GuestBug, Refused, Say, spec_for
from stackrank.env.sandbox.client import Sandbox
from stackrank.env.task import Task
from stackrank.env.tools import ToolSet, tool_set
from stackrank.env.tools.server_plugin import server_plugin
from stackrank.env.tools.servers import Offer, ToolServer, ToolServerFailed
from stackrank.flows.runs.specification.spec import EntrantSpec, RunSpec, SpecError
from stackrank.terms import DEBUGGERS
from stackrank.wording import one_of


@dataclass(frozen=True)
class Entrant:
    """A checked entrant."""

    spec: EntrantSpec
    agent: type[Agent]
    setup: Setup
    tools: ToolSet
    tool_versions: Mapping[str, str]
    digest: str


def check_entrants(spec: RunSpec) -> tuple[tuple[Entrant, ...], dict[str, str]]:
    """Return the entrants that play, and the result of `idle_entrants` for the others. Needs no task.

    Raises SpecError if an entrant is unsound, or none plays.
    """
    idle = idle_entrants(spec)
    if len(idle) == len(spec.entrants) or (spec.stop and spec.stop.against in idle):
        raise SpecError(next(iter(idle.values())))
    try:
        entrants = tuple(
            make_entrant(entrant_spec, spec.mcp) for entrant_spec in spec.entrants if entrant_spec.label not in idle
        )
    except (SetupError, ValueError) as error:
        raise SpecError(str(error)) from None
    require_different(entrants)
    _check_prices(spec, entrants)
    if any(entrant.tools.servers for entrant in entrants) and (problem := server_plugin().problem()):
        raise SpecError(problem)
    return entrants, idle


def idle_entrants(spec: RunSpec) -> dict[str, str]:
    """Return the valid entrants that are not played: label -> reason. Raises SpecError."""
    try:
        return {entrant_spec.label: reason for entrant_spec in spec.entrants if (reason := why_idle(entrant_spec))}
    except (SetupError, ValueError) as error:
        raise SpecError(str(error)) from None


def require_different(entrants: Sequence[Entrant]) -> None:
    """Raise SpecError if two entrants are the same."""
    by_digest: dict[str, Entrant] = {}
    for entrant in entrants:
        if (twin := by_digest.setdefault(entrant.digest, entrant)) is not entrant:
            raise SpecError(
                f"{twin.spec.label} and {entrant.spec.label} are the same entrant: agent, model, tools and settings "
                "are equal; leave one out (`attempts` makes it play several times)"
            )


def needing_fix(entrants: Sequence[Entrant]) -> str | None:
    """Return the first entrant that can play only tasks with a known fix."""
    return next((entrant.spec.label for entrant in entrants if entrant.agent.knows_fix), None)


def _check_prices(spec: RunSpec, entrants: Sequence[Entrant]) -> None:
    """Raise SpecError for a limit in dollars that cannot be enforced."""
    limits = {"budget_usd": spec.budget_usd, "cost_usd": spec.cost_usd}
    dollar_limits = [name for name, value in limits.items() if value is not None]
    for entrant in entrants if dollar_limits else ():
        for model in entrant.setup.unpriced:
            raise SpecError(
                f"{dollar_limits[0]} cannot be enforced, because the price of the model {model} is unknown: set "
                "`price` in the config of its entrant, or name a price table in STACKRANK_PRICES"
            )


def why_idle(spec: EntrantSpec) -> str:
    """Return why a valid entrant is not played; empty if it is. Raises SetupError, ValueError.

    The entrant could not play at all, or it would play as if it had no debugger, so that its results would be mistaken
    for the value of its debugging tools.
    """
    agent, tools = find_agent(spec.agent), tool_set(spec.tools)
    if lacking := [name for name in agent.needs_tools if name not in tools.tools]:
        return f"the agent {spec.agent} cannot play without {', '.join(lacking)}"
    if not tools.debuggers or not agent.debuggers.isdisjoint(tools.debuggers):
        return ""
    usable = [name for name in DEBUGGERS if name in agent.debuggers]
    return f"the agent {spec.agent} does not use {one_of(tools.debuggers)}, but {one_of(usable) if usable else 'none'}"


def make_entrant(
    spec: EntrantSpec, servers: Mapping[str, ToolServer] | None = None, offers: Sequence[Offer] = ()
) -> Entrant:
    """Return an entrant with its identity: with another agent, model, settings or tools it is another entrant.

    `servers`: the MCP servers that the run describes; `offers`: what the entrant's servers offer, once that is known.
    The identity is complete only then. Raises SetupError, ValueError.
    """
    agent = find_agent(spec.agent)
    tools = tool_set(spec.tools).with_offers(offers)
    if unknown := [name for name in tools.servers if name not in (servers or {})]:
        raise SetupError(
            f"the tools {spec.tools!r} name the MCP server {unknown[0]!r}, which the run does not describe: put it "
            f"under `mcp:` in the specification{', or choose ' + one_of(list(servers)) if servers else ''}"
        )
    if tools.servers and not agent.uses_servers:
        names = ", ".join(tools.servers)
        raise SetupError(f"the agent {spec.agent} calls no tools of MCP servers: leave {names} out of {spec.tools!r}")
    if agent.needs_model and not spec.model:
        raise SetupError(f"the agent {spec.agent} needs a model: name one with --model")
    if spec.model and not agent.needs_model:
        raise SetupError(f"the agent {spec.agent} uses no model: leave out --model {spec.model}")
    if agent.only_tools not in ("", spec.tools):
        raise SetupError(f"the agent {spec.agent} has its own tools and ignores {spec.tools!r}: leave out the tools")
    setup = agent.configure(model=spec.model, config=spec.config)
    tools = replace(tools, installed=setup.installed)
    versions = {name: tools.version(name) for name in tools.reachable}
    identity: dict[str, Any] = {
        "agent": spec.agent,
        "version": agent.version,
        "model": spec.model,
        "tools": [tools.tools, tools.after_rewrites, *(["must parse"] if tools.must_parse else [])],
        "config": dict(setup.identity),
        "tool_versions": versions,
    }
    if tools.servers and servers:
        identity["mcp"] = {name: servers[name].identity() for name in tools.servers}
        identity["offers"] = {offer.name: offer.identity() for offer in offers}
    text = json.dumps(identity, sort_keys=True, default=list)
    return Entrant(spec, agent, setup, tools, versions, hashlib.sha256(text.encode()).hexdigest()[:16])


def add_server_tools(
    entrants: Sequence[Entrant], servers: Mapping[str, ToolServer], backend: Backend, task: Task, say: Say
) -> tuple[Entrant, ...]:
    """Return the entrants with the tools of their MCP servers, which are part of their identity.

    Installs, starts and asks each server once, in a sandbox of `task`. Raises SpecError if a server cannot be
    installed, does not start, or offers something unusable; SandboxError.
    """
    names = dict.fromkeys(name for entrant in entrants for name in entrant.tools.servers)
    if not names:
        return tuple(entrants)
    offers = {name: _ask_server(backend, task, name, servers[name], say) for name in names}
    try:
        complete = tuple(
            make_entrant(entrant.spec, servers, [offers[name] for name in entrant.tools.servers])
            for entrant in entrants
        )
    except (SetupError, ValueError) as error:
        raise SpecError(str(error)) from None
    require_different(complete)
    return complete


def _ask_server(backend: Backend, task: Task, name: str, server: ToolServer, say: Say) -> Offer:
    prefixes = (server.prefix,) if server.prefix else ()
    spec = replace(spec_for(task, warm=False), prefixes=prefixes)
    try:
        backend.prepare(spec, say)
    except BuildError as error:
        raise SpecError(f"the MCP server {name} cannot be installed: {error}") from None
    with Sandbox(backend, spec) as sandbox:
        try:
            sandbox.put(task.files)
            return server_plugin().connect(sandbox, name, server).open()
        except (ToolServerFailed, Refused) as error:
            raise SpecError(f"{error}; correct it under `mcp:` in the specification") from None
        except GuestBug as fault:
            raise SpecError(f"the MCP server {name} cannot be used: it disturbs the sandbox ({fault})") from None
