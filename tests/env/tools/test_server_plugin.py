"""The plug-in that connects tool servers, where it is missing or broken."""

from __future__ import annotations

from importlib.metadata import EntryPoint

import pytest

from stackrank import plugins
from stackrank.env.tools import tool_set
from stackrank.env.tools.server_plugin import GROUP, server_plugin
from stackrank.env.tools.servers import Offer, ToolServer
from stackrank.errors import PluginError

OFFER = Offer("other", ToolServer(command=["x"]), "1", ({"name": "echo", "inputSchema": {"type": "object"}},))


@pytest.mark.parametrize(
    ("points", "sentence"),
    [
        ([], "MCP servers need a plug-in 'mcp' .*none is installed: reinstall stackrank"),
        ([EntryPoint("mcp", "stackrank.extensions.hidden:McpServers", GROUP)], "the plug-in 'mcp' .*No module named"),
    ],
)
def test_a_missing_plugin_is_named_once_a_server_is_used(
    monkeypatch: pytest.MonkeyPatch, points: list[EntryPoint], sentence: str
) -> None:
    monkeypatch.setattr(plugins, "entry_points", lambda group: points)
    tools = tool_set("view+other")
    assert tools.with_offers([]).tools == tools.tools
    with pytest.raises(PluginError, match=sentence):
        server_plugin()
    with pytest.raises(PluginError, match=sentence):
        tools.with_offers([OFFER])
