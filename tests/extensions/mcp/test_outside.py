"""`stackrank mcp`: somebody else's program plays an episode, over a real client of the protocol's own package."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import httpx
import psutil
import pytest

from stackrank.db import queries
from stackrank.db.connection.engine import connect
from stackrank.env.benchmarks.registry import load_benchmark
from stackrank.env.patches import apply_patch
from stackrank.env.tools import tool_set
from stackrank.env.tools.base import schema
from tests.fixtures.calls import CommandLine, Result
from tests.fixtures.env import usable
from tests.support.waiting import missing, wait_for

try:
    import mcp_types
    from mcp import ClientSession
    from mcp.client.stdio import StdioServerParameters, stdio_client
    from mcp.client.streamable_http import streamable_http_client
    from mcp.shared._httpx_utils import create_mcp_http_client
except ImportError:
    missing("the package mcp is not installed")

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[3]
TASK = "vat-table"
COMMAND = [sys.executable, "-m", "stackrank.flows.cli.main", "mcp", TASK, "--sandbox", "bubblewrap"]


@pytest.fixture(autouse=True)
def _sandbox(database: str) -> None:
    usable("bubblewrap")
    connect().dispose()


def run(work: Callable[[], Coroutine[Any, Any, None]]) -> None:
    """Let a client do its work; the limit is for what never happens."""

    async def limited() -> None:
        with anyio.fail_after(600):
            await work()

    anyio.run(limited)


@asynccontextmanager
async def client(*options: str) -> AsyncIterator[ClientSession]:
    """A client that has started `stackrank mcp` itself, as an editor does."""
    server = StdioServerParameters(command=COMMAND[0], args=[*COMMAND[1:], *options], env=dict(os.environ), cwd=ROOT)
    implementation = mcp_types.Implementation(name="editor", version="7")
    async with stdio_client(server) as streams, ClientSession(*streams, client_info=implementation) as session:
        await session.initialize()
        yield session


def text(result: Any) -> str:
    return "\n".join(block.text for block in result.content)


def episode() -> Any:
    return queries.episode(connect(), 1)


def ended() -> Any:
    """The episode, once it has its verdict."""
    return wait_for(lambda: (row := episode())["verdict"] and row, "a verdict", every_s=0.2)


def find_server() -> psutil.Process:
    """The server that this process started."""
    children = [process for process in psutil.Process().children() if process.status() != psutil.STATUS_ZOMBIE]
    (server,) = [process for process in children if "stackrank.flows.cli.main" in process.cmdline()]
    return server


def fix() -> dict[str, str]:
    """The known fix as whole files."""
    task = next(task for task in load_benchmark("bugs").tasks() if task.id == TASK)
    fixed = apply_patch(task.files, task.fix)
    return {path: content.decode() for path, content in fixed.items() if task.files.get(path) != content}


def test_an_episode_over_standard_streams(stackrank: CommandLine) -> None:
    async def play() -> None:
        async with client() as session:
            listed = {tool.name: tool for tool in (await session.list_tools()).tools}
            assert set(listed) == {"task", *tool_set("debug").tools}
            for name in tool_set("debug").tools:
                assert listed[name].input_schema == schema(tool_set("debug").find(name))
            assert not queries.runs(connect())  # who only looks makes no run
            opening = text(await session.call_tool("task", {}))
            assert "Test command:" in opening and "vat/" in opening and "50 steps and 30 minutes" in opening
            prompt = await session.get_prompt("debug")
            assert [message.content.text for message in prompt.messages] == [opening]
            resource = await session.read_resource("stackrank://task")
            assert [part.text for part in resource.contents] == [opening]
            assert "42" in text(await session.call_tool("pdb", {"command": "p 6 * 7"}))
            wrong = await session.call_tool("view", {"page": 1})
            assert wrong.is_error and "Invalid arguments for view" in text(wrong)
            unknown = await session.call_tool("undo", {})
            assert unknown.is_error and "There is no tool 'undo'" in text(unknown)
            for path, content in fix().items():
                assert not (await session.call_tool("rewrite", {"path": path, "new_code": content})).is_error
            last = text(await session.call_tool("eval", {}))
            assert "(solved): resolved" in last and "passed" in last
            late = await session.call_tool("listdir", {})
            assert "is over" in text(late)

    run(play)
    row = ended()
    assert (row["verdict"], row["stop_reason"], row["entrant"]) == ("resolved", "solved", "outside/editor (debug)")
    (run_row,) = queries.runs(connect())
    assert (run_row["name"], run_row["tags"]) == (f"mcp-{TASK}", ["mcp"])
    wait_for(lambda: queries.runs(connect())[0]["status"] == "finished", "the end of the run")
    assert row["cost_usd"] is None  # nobody here knows what the client's model cost
    assert "same: all" in stackrank("replay", "1").out


def test_a_client_goes_back_to_an_earlier_step(stackrank: CommandLine) -> None:
    async def play() -> None:
        async with client("--tools", "debug-branch") as session:
            assert "branch" in {tool.name for tool in (await session.list_tools()).tools}
            await session.call_tool("rewrite", {"path": "new.py", "new_code": "x = 1\n"})
            assert "as it was after step 0" in text(await session.call_tool("branch", {"at": 0}))
            assert (await session.call_tool("view", {"path": "new.py"})).is_error
            assert (await session.call_tool("branch", {"at": 7})).is_error
            await session.call_tool("submit", {})

    run(play)
    row = ended()
    assert (row["steps"], row["stop_reason"], row["diff"]) == (5, "submitted", "")
    assert [row["parent"] for row in queries.steps(connect(), 1)] == [None, 0, 0, 2, 3, 4]
    assert [row["id"] for row in queries.episodes(connect(), 1)] == [1], "a branch is no attempt"
    assert "same: all" in stackrank("replay", "1").out


@pytest.mark.exhaustive
def test_an_episode_on_the_statement_alone() -> None:
    async def play() -> None:
        async with client("--statement-alone") as session:
            opening = text(await session.call_tool("task", {}))
            assert "There is no failing test that shows it" in opening and "tests/test_" not in opening
            for path, content in fix().items():
                await session.call_tool("rewrite", {"path": path, "new_code": content})
            assert "(submitted): resolved" in text(await session.call_tool("submit", {}))

    run(play)
    row = ended()
    assert queries.run(connect(), row["run"])["conditions"]["shows_failing_test"] is False


@pytest.mark.exhaustive
def test_limits_hold_and_the_verdict_comes_at_the_end() -> None:
    async def play() -> None:
        async with client("--steps", "2", "--tools", "view,eval", "--name", "ada") as session:
            first = text(await session.call_tool("listdir", {}))  # no such tool in this set
            assert "resolved" not in first
            second = text(await session.call_tool("eval", {}))
            assert "(step_limit): unresolved" in second

    run(play)
    row = ended()
    assert (row["stop_reason"], row["entrant"], row["steps"]) == ("step_limit", "outside/ada (view,eval)", 2)


@pytest.mark.exhaustive
def test_time_runs_out_while_the_client_thinks() -> None:
    async def play() -> None:
        async with client("--wall-s", "0.001") as session:
            assert "(time_limit): unresolved" in text(await session.call_tool("listdir", {}))

    run(play)
    assert ended()["stop_reason"] == "time_limit"


@pytest.mark.exhaustive
@pytest.mark.parametrize("signal_number", ["leaves", "killed"])
def test_what_a_client_did_before_it_vanished_is_scored(stackrank: CommandLine, signal_number: str) -> None:
    async def play() -> None:
        async with client() as session:
            for path, content in fix().items():
                await session.call_tool("rewrite", {"path": path, "new_code": content})
            if signal_number == "killed":
                server = find_server()
                server.send_signal(signal.SIGKILL)

    run(play)
    row = ended()
    assert (row["verdict"], row["stop_reason"]) == ("resolved", "agent_gave_up")
    assert "the client disconnected" in str(row["score"]["notes"])
    assert "same: all" in stackrank("replay", "1").out


@pytest.mark.exhaustive
def test_a_server_that_was_killed_itself_is_gone_on_with(stackrank: CommandLine, prefect_server: str) -> None:
    async def play() -> None:
        async with client() as session:
            for path, content in fix().items():
                await session.call_tool("rewrite", {"path": path, "new_code": content})
            server = find_server()
            server.children()[0].kill()

    run(play)
    assert stackrank("resume").status == 0
    row = episode()
    assert (row["verdict"], row["stop_reason"]) == ("resolved", "agent_gave_up")


@pytest.mark.exhaustive
def test_over_http(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STACKRANK_MCP_TOKEN", "s3cret")
    server = subprocess.Popen([*COMMAND, "--http", "--port", "0"], stderr=subprocess.PIPE, text=True, cwd=ROOT)
    try:
        assert server.stderr is not None
        lines: list[str] = []
        while not lines or "Authorization: Bearer $STACKRANK_MCP_TOKEN" not in lines[-1]:
            lines.append(server.stderr.readline())
            assert lines[-1], lines
        url = next(word for word in " ".join(lines).split() if word.startswith("http://127.0.0.1:"))
        wait_for(lambda: not refuses(url), "an answer")

        hello = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
        right = {"Authorization": "Bearer s3cret", "Accept": "application/json, text/event-stream"}
        for headers, status in (
            ({**right, "Authorization": "Bearer guess"}, 401),
            ({**right, "Authorization": ""}, 401),
            ({**right, "Host": "evil.example:80"}, 421),
            ({**right, "Origin": "http://evil.example"}, 403),
        ):
            assert httpx.post(url, json=hello, headers=headers, timeout=600).status_code == status

        @asynccontextmanager
        async def connected() -> AsyncIterator[ClientSession]:
            async with (
                create_mcp_http_client(headers={"Authorization": "Bearer s3cret"}) as web,
                streamable_http_client(url, http_client=web) as streams,
                ClientSession(streams[0], streams[1]) as session,
            ):
                await session.initialize()
                yield session

        async def look() -> None:
            async with connected() as session:
                assert (await session.list_tools()).tools

        async def play() -> None:
            async with connected() as session:
                await look()  # a session that plays nothing ends nothing, before the episode and within it
                assert "Test command:" in text(await session.call_tool("task", {}))
                for path, content in fix().items():
                    await session.call_tool("rewrite", {"path": path, "new_code": content})
                await look()
                foreign = {"Authorization": "Bearer s3cret", "Mcp-Session-Id": "guess"}
                assert httpx.delete(url, headers=foreign, timeout=600).status_code == 404
                assert not (await session.call_tool("listdir", {})).is_error
                assert not episode()["verdict"]

        run(look)
        run(play)  # the end of the session is the end of the episode
        row = ended()
        assert (row["verdict"], row["stop_reason"]) == ("resolved", "agent_gave_up")
        occupied = subprocess.run(
            [*COMMAND, "--http", "--port", url.rpartition(":")[2].partition("/")[0]],
            capture_output=True,
            text=True,
            cwd=ROOT,
        )
        assert occupied.returncode == 2 and "choose another --port" in occupied.stderr
    finally:
        server.send_signal(signal.SIGTERM)
        server.communicate()


def refuses(url: str) -> bool:
    """Whether nobody listens there yet."""
    try:
        httpx.get(url, timeout=600)
    except httpx.TransportError:
        return True
    return False


@pytest.mark.exhaustive
def test_bad_calls_are_one_sentence(stackrank: CommandLine) -> None:
    for options, message in {
        ("no-such-task",): "no-such-task",
        (TASK, "--tools", "nonsense"): "nonsense",
        (TASK, "--tools", "investigate"): "does not use investigate",
        (TASK, "--steps", "0"): "steps",
    }.items():
        # A process of its own, because the server goes on in a copy of the process that starts it.
        process = subprocess.run(
            [*COMMAND[:4], *options], stdin=subprocess.DEVNULL, capture_output=True, text=True, cwd=ROOT
        )
        result = Result(process.returncode, process.stdout, process.stderr)
        assert result.status == 2 and not result.out and message in result.sentence()
    result = stackrank("run", "--agent", "outside", "--limit", "1")
    assert result.status == 2 and "`stackrank mcp TASK`" in result.sentence()
