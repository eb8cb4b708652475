"""Asks the entrants' MCP servers, once before the first episode, what they offer: it is part of their identity."""

from __future__ import annotations

from dataclasses import replace

from stackrank.agents.episode.protocol import SetupError
from stackrank.env.sandbox.base import Backend, BuildError, Refused, Say, spec_for
from stackrank.env.sandbox.client import Sandbox
from stackrank.env.task import Task
from stackrank.env.tools.server_plugin import server_plugin
from stackrank.env.tools.servers import Offer, ToolServer, ToolServerFailed
from stackrank.flows.runs.preparing.check import CheckedRun, make_entrant, require_different
from stackrank.flows.runs.specification.spec import SpecError


def ask_servers(run: CheckedRun, say: Say) -> CheckedRun:
    """Return the run with complete entrants: installs, starts and asks their servers in a sandbox of the first task.

    Raises SpecError if a server cannot be installed, does not start, or offers something unusable. Raises SandboxError.
    """
    used = dict.fromkeys(name for entrant in run.entrants for name in entrant.tools.servers)
    if not used:
        return run
    offers = {name: _ask(run.backend, run.tasks[0], name, run.spec.mcp[name], say) for name in used}
    try:
        entrants = tuple(
            make_entrant(each.spec, run.spec.mcp, [offers[name] for name in each.tools.servers])
            for each in run.entrants
        )
    except (SetupError, ValueError) as error:
        raise SpecError(str(error)) from None
    require_different(entrants)
    return replace(run, entrants=entrants)


def _ask(backend: Backend, task: Task, name: str, server: ToolServer, say: Say) -> Offer:
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
