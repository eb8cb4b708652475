"""Third-party tools: each tool of an MCP server becomes a tool of the entrant."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from pydantic import ConfigDict, create_model

from stackrank.env.actions import Observation
from stackrank.env.state import ServerState
from stackrank.env.tools.base import Arguments, Bench, ToolError
from stackrank.env.tools.servers import Offer

# The function names that every model interface accepts.
_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")


class McpArguments(Arguments):
    """The arguments that a server's schema asks for; the server itself checks them."""

    model_config = ConfigDict(extra="allow")


class McpTool:
    """Calls one tool of a server."""

    def __init__(self, offer: Offer, definition: Mapping[str, Any]) -> None:
        """`definition`: the tool as the server describes it. Raises ValueError if its name is too long for models."""
        self.offer = offer
        self._tool = str(definition["name"])
        self.name = f"{offer.name}_{re.sub(r'[^a-zA-Z0-9_-]', '_', self._tool)}"
        if not _NAME.fullmatch(self.name):
            raise ValueError(
                f"the tool {self._tool!r} of the MCP server {offer.name} would be called {self.name}, but models "
                "accept at most 64 characters: select other tools with `tools`, or give the server a shorter name"
            )
        self.version = offer.version
        self.description = str(definition.get("description") or definition.get("title") or "")
        self.arguments: type[Arguments] = create_model("McpArguments", __base__=McpArguments)
        self.arguments.given_schema = definition["inputSchema"]

    def __call__(self, bench: Bench, arguments: McpArguments) -> Observation:
        """Return the server's answer as text; it is not ok if the server says that its tool failed."""
        parameters = arguments.model_extra or {}
        try:
            json.dumps(parameters, allow_nan=False)
        except ValueError:
            raise ToolError("the arguments contain a number that JSON does not have") from None
        server = bench.servers[self.offer.name]
        answer = server.call(self._tool, parameters, bench.task.limits.timeout_s)
        text = answer.text.encode("utf-8", "replace").decode().replace("\0", "\ufffd")
        text = self.offer.server.mask_varying(text)
        state = ServerState(kind="server", server=self.offer.name, tool=self._tool)
        if answer.events is not None:
            state["debug_events"] = answer.events
        return Observation(text if text.strip() else "[no output]", answer.ok, state)
