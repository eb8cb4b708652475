"""Offers an episode over MCP to any client: over standard input and output, or over HTTP on this machine."""

from __future__ import annotations

import asyncio
import hmac
import ipaddress
import signal
from collections.abc import Callable, Iterator, MutableSet, Set
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

from stackrank.env.actions import Action, Observation
from stackrank.env.sandbox.base import Say
from stackrank.env.tools.base import schema
from stackrank.errors import NotReady, UsageError
from stackrank.extensions.mcp import messages
from stackrank.extensions.mcp.outside_run import Client, OutsideGame
from stackrank.host.listening import listen, shown

if TYPE_CHECKING:
    import mcp_types
    from mcp.server.context import ServerRequestContext
    from mcp.server.lowlevel import Server
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    Context = ServerRequestContext[Any]

TASK_TOOL = "task"
PROMPT = "debug"
RESOURCE = "stackrank://task"
SESSION = "mcp-session-id"
"""The header that names a session over HTTP."""
INSTRUCTIONS = """\
These tools are one debugging episode: a Python program in a sandbox does not behave as intended, and you find the \
root cause and fix it. Call `{task}` first: it shows the problem, the failing tests and the files, and costs no step. \
The workspace is reached by these tools only, not by tools of your own. Every other call is one of {steps} steps. \
Tests are read-only, and further tests that you cannot see decide in the end. Call `submit` when the fix is complete; \
the verdict comes when the episode is over."""


def serve_stdio(game: OutsideGame) -> None:
    """Serve until standard input ends, and wait for the verdict. Raises NotReady."""
    server = _server(game, set())
    import anyio
    from mcp.server.stdio import stdio_server

    async def serve() -> None:
        loop = asyncio.get_running_loop()
        async with stdio_server() as (reader, writer), anyio.create_task_group() as tasks:
            with _ended_by_signal(lambda: loop.call_soon_threadsafe(tasks.cancel_scope.cancel)):
                await server.run(reader, writer, server.create_initialization_options())

    _serve_until_left(game, partial(anyio.run, serve))


def serve_http(game: OutsideGame, host: str, port: int, token: str, say: Say) -> None:
    """Serve at `http://HOST:PORT/mcp` until interrupted, and wait for the verdict.

    `token`: every request has to carry it; if it is empty, `say` gets a new one. Raises NotReady, and UsageError for an
    address that cannot be listened on, or that no request can name.
    """
    players: set[str] = set()
    server = _server(game, players)
    import secrets

    import uvicorn
    from mcp.server.transport_security import TransportSecuritySettings

    listening = listen(host, port)
    address, port = listening.getsockname()[:2]
    if ipaddress.ip_address(address).is_unspecified:
        listening.close()
        raise UsageError(
            f"--host {host} stands for all addresses of this machine, but requests must name the one that they use: "
            "give the name or the address that the client uses"
        )
    names = {shown(host), shown(address), *(["localhost"] if ipaddress.ip_address(address).is_loopback else ())}
    # A web page in a browser must not reach the server by a host name that the page's owner points to this machine.
    guard = TransportSecuritySettings(
        allowed_hosts=[f"{name}:{port}" for name in names], allowed_origins=[f"http://{name}:{port}" for name in names]
    )
    new = "" if token else secrets.token_urlsafe(24)
    app = server.streamable_http_app(transport_security=guard, session_idle_timeout=None)
    guarded = _Guarded(app, game, token or new, players)
    config = uvicorn.Config(guarded, log_level="warning", access_log=False, timeout_graceful_shutdown=2)
    say(f"serving MCP at http://{shown(address)}:{port}/mcp (Ctrl-C stops it); every request needs the header")
    say(f"  Authorization: Bearer {new or '$STACKRANK_MCP_TOKEN'}")
    _serve_until_left(game, partial(uvicorn.Server(config).run, sockets=[listening]))


def _serve_until_left(game: OutsideGame, serve: Callable[[], None]) -> None:
    """Serve, and wait for the verdict even if this process is told to end: what was done still counts."""
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda *_: _end())
    try:
        serve()
    finally:
        game.leave()
        game.wait()


def _nothing() -> None:
    """Do nothing: there is nothing left to end."""


_end: Callable[[], object] = _nothing


@contextmanager
def _ended_by_signal(end: Callable[[], object]) -> Iterator[None]:
    """Within this context, a signal calls `end`."""
    global _end
    _end = end
    try:
        yield
    finally:
        _end = _nothing


class _Guarded:
    """Admits requests that carry the token, and notices when the client that plays ends its session."""

    def __init__(self, app: ASGIApp, game: OutsideGame, token: str, players: Set[str]) -> None:
        """`players`: the sessions that have called a tool."""
        self._app = app
        self._game = game
        self._players = players
        self._expected = f"Bearer {token}".encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            token = dict(scope["headers"]).get(b"authorization", b"")
            if not hmac.compare_digest(token, self._expected):
                from starlette.responses import Response

                explanation = "the token is missing or wrong: send the header Authorization: Bearer TOKEN\n"
                await Response(explanation, 401, {"WWW-Authenticate": "Bearer"})(scope, receive, send)
                return
        statuses: list[int] = []

        async def watched(message: Message) -> None:
            if message["type"] == "http.response.start":
                statuses.append(message["status"])
            await send(message)

        await self._app(scope, receive, watched)
        if scope["type"] == "http" and scope["method"] == "DELETE" and statuses == [200]:
            session = dict(scope["headers"]).get(SESSION.encode(), b"").decode("latin-1")
            if session in self._players:
                self._game.leave()


def _server(game: OutsideGame, players: MutableSet[str]) -> Server[Any]:
    """Make the MCP server of an episode. Raises NotReady if a package is missing.

    `players`: the HTTP sessions that call a tool are added to it.
    """
    if not messages.installed():
        raise NotReady(messages.MISSING)
    import anyio
    import mcp_types as types
    from mcp.server.lowlevel import Server
    from mcp.shared.exceptions import MCPError

    def tools() -> list[mcp_types.Tool]:
        task_tool = types.Tool(
            name=TASK_TOOL,
            description="The problem, the failing tests and the files. Costs no step.",
            input_schema={"type": "object", "properties": {}, "additionalProperties": False},
        )
        tools = [game.tools.find(name) for name in game.tools.tools]
        definitions = [
            types.Tool(name=tool.name, description=tool.description, input_schema=schema(tool)) for tool in tools
        ]
        return [*([] if TASK_TOOL in game.tools.tools else [task_tool]), *definitions]

    async def in_thread(work: Any, *arguments: Any) -> Any:
        return await anyio.to_thread.run_sync(work, *arguments)

    async def list_tools(context: Context, params: Any) -> mcp_types.ListToolsResult:
        return types.ListToolsResult(tools=tools())

    async def call_tool(context: Context, params: mcp_types.CallToolRequestParams) -> mcp_types.CallToolResult:
        if context.request is not None:
            players.add(context.request.headers.get(SESSION, ""))
        if params.name == TASK_TOOL and TASK_TOOL not in game.tools.tools:
            observation = Observation(await in_thread(game.opening, _client(context)))
        else:
            observation = await in_thread(game.act, _client(context), Action(params.name, dict(params.arguments or {})))
        return types.CallToolResult(
            content=[types.TextContent(type="text", text=observation.text)], is_error=not observation.ok
        )

    async def list_prompts(context: Context, params: Any) -> mcp_types.ListPromptsResult:
        return types.ListPromptsResult(prompts=[types.Prompt(name=PROMPT, description="Begin the episode.")])

    async def get_prompt(context: Context, params: mcp_types.GetPromptRequestParams) -> mcp_types.GetPromptResult:
        if params.name != PROMPT:
            raise MCPError(types.INVALID_PARAMS, f"there is no prompt {params.name!r}: there is {PROMPT}")
        text = await in_thread(game.opening, _client(context))
        message = types.PromptMessage(role="user", content=types.TextContent(type="text", text=text))
        return types.GetPromptResult(messages=[message])

    async def list_resources(context: Context, params: Any) -> mcp_types.ListResourcesResult:
        resource = types.Resource(name="task", uri=RESOURCE, description="The first message.", mime_type="text/plain")
        return types.ListResourcesResult(resources=[resource])

    async def read_resource(
        context: Context, params: mcp_types.ReadResourceRequestParams
    ) -> mcp_types.ReadResourceResult:
        if str(params.uri) != RESOURCE:
            raise MCPError(types.INVALID_PARAMS, f"there is no resource {params.uri}: there is {RESOURCE}")
        text = await in_thread(game.opening, _client(context))
        return types.ReadResourceResult(
            contents=[types.TextResourceContents(uri=RESOURCE, mime_type="text/plain", text=text)]
        )

    return Server(
        "stackrank",
        version="1",
        instructions=INSTRUCTIONS.format(task=TASK_TOOL, steps=game.steps),
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        on_list_prompts=list_prompts,
        on_get_prompt=get_prompt,
        on_list_resources=list_resources,
        on_read_resource=read_resource,
    )


def _client(context: Context) -> Client:
    """Return the name and the version that the client gave."""
    params = context.session.client_params
    if params is None:
        return Client()
    return Client(*(" ".join(text.split())[:100] for text in (params.client_info.name, params.client_info.version)))
