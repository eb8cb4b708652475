"""Whatever an MCP server of the entrant says, the episode is stored with a verdict."""

from __future__ import annotations

from pathlib import Path

import pytest

from stackrank.env.actions import Action
from stackrank.env.sandbox.base import SandboxSpec
from stackrank.env.sandbox.client import Sandbox
from stackrank.env.tools import tool_set
from stackrank.env.tools.servers import ToolServer
from stackrank.extensions.mcp.connection import Connection
from tests.fixtures.env import cart, usable
from tests.support.guests.cases import World, assert_harmless
from tests.support.guests.recorded_guest import record

SERVER = ToolServer(command=["python3", "-c", Path(__file__).with_name("mcp_server.py").read_text(encoding="utf-8")])
ACTIONS = [Action(f"other_{name}", {"text": "hello"}) for name in ("echo", "fail", "refuse", "ask", "announce", "data")]
FEW, MANY = 40, 400


@pytest.mark.parametrize("cases", [FEW, pytest.param(MANY, marks=pytest.mark.exhaustive)])
def test_lies_of_a_server(cases: int, tmp_path: Path) -> None:
    with Sandbox(usable("bubblewrap"), SandboxSpec()) as sandbox:
        sandbox.put({})
        offer = Connection(sandbox, "other", SERVER).open()
    tools = tool_set("bash+other").with_offers([offer])
    task = cart()
    scenes = record(task, tools, ACTIONS, usable("bubblewrap"))
    assert_harmless(World(tmp_path, task, tools, cases), scenes, cases, 1)
