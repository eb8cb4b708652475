"""The plug-in of the core that connects MCP servers."""

from __future__ import annotations

from collections.abc import Sequence

from stackrank.env.sandbox.client import Sandbox
from stackrank.env.state import Spoken
from stackrank.env.tools.servers import Offer, ToolServer
from stackrank.extensions.mcp import messages
from stackrank.extensions.mcp.connection import Connection
from stackrank.extensions.mcp.offers import recorded_offer
from stackrank.extensions.mcp.tools import McpTool


class McpServers:
    """Implements `stackrank.env.tools.server_plugin.ServerPlugin`."""

    def problem(self) -> str | None:
        """Return why MCP servers cannot be used on this machine; None if they can."""
        return None if messages.installed() else messages.MISSING

    def connect(self, sandbox: Sandbox, name: str, server: ToolServer, expected: Offer | None = None) -> Connection:
        """Return a connection that is not open yet."""
        return Connection(sandbox, name, server, expected)

    def tools_of(self, offer: Offer) -> tuple[McpTool, ...]:
        """Return the tools of an offer. Raises ValueError if the name of one is too long for models."""
        return tuple(McpTool(offer, description) for description in offer.tools)

    def recorded_offer(self, name: str, server: ToolServer, spoken: Sequence[Spoken]) -> Offer:
        """Return a server's offer from the lines recorded at an episode's reset. Raises ValueError."""
        return recorded_offer(name, server, spoken)
