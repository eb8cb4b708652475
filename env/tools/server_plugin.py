"""What an extension that connects tool servers provides, under the entry point group `stackrank.tool_servers`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from stackrank.env.sandbox.client import Sandbox
from stackrank.env.state import Spoken
from stackrank.env.tools.base import Tool
from stackrank.env.tools.servers import Offer, ServerConnection, ToolServer
from stackrank.errors import PluginError
from stackrank.plugins import load_plugin

GROUP = "stackrank.tool_servers"
MCP = "mcp"
"""The plug-in for the servers under `mcp:` in a specification."""


class ServerTool(Tool, Protocol):
    """A tool that calls a tool server."""

    @property
    def offer(self) -> Offer:
        """The offer that the tool is part of."""
        ...


class ServerPlugin(Protocol):
    """Connects servers that speak one protocol. The entry point names a class, which is created without arguments."""

    def problem(self) -> str | None:
        """Return why servers cannot be used on this machine, with the remedy; None if they can."""
        ...

    def connect(
        self, sandbox: Sandbox, name: str, server: ToolServer, expected: Offer | None = None
    ) -> ServerConnection:
        """Return a connection that is not open yet. `expected`: the only offer that is accepted; None: any."""
        ...

    def tools_of(self, offer: Offer) -> Sequence[ServerTool]:
        """Return the tools of an offer. Raises ValueError if a name cannot be used."""
        ...

    def recorded_offer(self, name: str, server: ToolServer, spoken: Sequence[Spoken]) -> Offer:
        """Return a server's offer from the lines recorded at a reset. Raises ValueError if they contain none."""
        ...


def server_plugin() -> ServerPlugin:
    """Return the plug-in that connects MCP servers. Raises PluginError if it is missing."""
    plugin = load_plugin(GROUP, MCP)
    if plugin is None:
        raise PluginError(
            f"MCP servers need a plug-in {MCP!r} (entry point group {GROUP}), and none is installed: reinstall "
            "stackrank, or leave the servers out of the run"
        )
    connector: ServerPlugin = plugin()
    return connector
