"""Reads from an episode's record what its servers offered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from stackrank.env.state import Spoken
from stackrank.extensions.mcp import messages
from stackrank.extensions.mcp.server import McpServer, Offer


def recorded_offers(names: Sequence[str], servers: Mapping[str, Any], spoken: Sequence[Spoken]) -> list[Offer]:
    """Return what the servers of these names offered when an episode began. `spoken`: the lines of its reset.

    `servers`: the run's specification of each server. Raises ValueError if the record does not tell.
    """
    return [_offer(name, McpServer.model_validate(servers[name]), spoken) for name in names]


def _offer(name: str, server: McpServer, spoken: Sequence[Spoken]) -> Offer:
    asked: dict[Any, str] = {}
    version = ""
    tools: list[messages.Message] = []
    for each in spoken:
        message = messages.read(each["line"].encode()) if each["server"] == name else None
        if message is None:
            continue
        if each["sent"]:
            asked[message.get("id")] = message.get("method", "")
        elif "method" not in message and "result" in message:
            method = asked.get(message.get("id"))
            if method == "initialize":
                version = messages.version_of(message["result"])
            elif method == "tools/list":
                tools += messages.tools_of(message["result"])[0]
    chosen = tuple(tool for tool in tools if server.tools is None or tool["name"] in server.tools)
    if not chosen:
        raise ValueError(f"the record does not say what the MCP server {name} offered")
    return Offer(name, server, version, chosen)
