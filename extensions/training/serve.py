"""The server behind `stackrank serve-env`: each WebSocket is a session with an environment of its own.

A client that disconnects, even in the middle of a step, ends its own episode and nothing else.
"""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import itertools
import json
import logging
import secrets
import socket
from collections.abc import AsyncIterator, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Literal

import uvicorn
from fastapi import FastAPI, HTTPException, Request, WebSocket, WebSocketDisconnect
from fastapi.exceptions import RequestValidationError
from fastapi.middleware.trustedhost import TrustedHostMiddleware
from fastapi.responses import JSONResponse, PlainTextResponse
from pydantic import BaseModel, Field, ValidationError

import stackrank
from stackrank.env.actions import Observation
from stackrank.errors import InfrastructureError, UsageError
from stackrank.extensions.training import openenv
from stackrank.extensions.training.env import Info, TrainingEnv
from stackrank.extensions.training.env_maker import EnvMaker
from stackrank.extensions.training.openenv import WireAction, WireReset, WireState
from stackrank.extensions.training.rewards import TrainingError
from stackrank.storable import read_json
from stackrank.wording import count_of

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

log = logging.getLogger(__name__)
HOW = 'send {"type": "reset", "step", "state" or "close", "data": {...}}; GET /schema says what an action has'
MOST_WAITING = 256
"""Most messages of one client that may wait for their turn; a client that sends more does not read the answers."""

IDLE_S = 1800.0
"""How long a client may send nothing before its session ends."""
MOST_BODY = 1 << 20
"""The most bytes of a request's body."""


class Incoming(BaseModel):
    """A message from a client."""

    type: Literal["reset", "step", "state", "close"]
    data: dict[str, Any] = Field(default_factory=dict)


class Sessions:
    """The sessions of a server, and which tasks they may play."""

    def __init__(self, maker: EnvMaker, names: Sequence[str], limit: int, idle_s: float = IDLE_S) -> None:
        """`names`: the tasks that are served. `limit`: the greatest number of sessions at the same time.

        `idle_s`: seconds after which a session ends whose client sends nothing.
        """
        self.maker = maker
        self.names = tuple(names)
        self.most = limit
        self.idle_s = idle_s
        self.open = 0
        self.members: dict[str, Session] = {}
        """The sessions by their names."""
        self._order = itertools.cycle(self.names)

    def choose(self, reset: WireReset) -> str:
        """Return the task that a reset asks for. Raises TrainingError."""
        if reset.task is not None:
            if reset.task not in self.names:
                raise TrainingError(f"the task {reset.task!r} is not served here: choose from {_some(self.names)}")
            return reset.task
        return next(self._order) if reset.seed is None else self.names[reset.seed % len(self.names)]

    @contextlib.asynccontextmanager
    async def env(self) -> AsyncIterator[TrainingEnv]:
        """Provide an environment for one session. Raises TrainingError if the limit of sessions is reached."""
        if self.open >= self.most:
            raise TrainingError(
                f"{count_of(self.most, 'session is', 'sessions are')} open, which is the limit: try again later"
            )
        self.open += 1
        try:
            async with self.maker.env(self.names[0]) as env:
                yield env
        finally:
            self.open -= 1


class Session:
    """The session of one client."""

    def __init__(self, sessions: Sessions, env: TrainingEnv) -> None:
        self._sessions = sessions
        self._env = env
        self._name = secrets.token_urlsafe(12)
        self._state = WireState(session=self._name)
        sessions.members[self._name] = self

    async def aclose(self) -> None:
        """End the episode."""
        self._sessions.members.pop(self._name, None)
        await self._env.aclose()

    async def answer(self, text: str) -> str | None:
        """Return the answer to a message, as JSON; None if the client disconnects."""
        try:
            reply = await self._dispatch(text)
            return None if reply is None else json.dumps(reply)
        except Exception:
            log.exception("the message of a client could not be answered")
            message = "the server failed unexpectedly (its log has the error): call reset to start another episode"
            return json.dumps(_error(message, "INTERNAL_ERROR"))

    async def _dispatch(self, text: str) -> dict[str, Any] | None:
        try:
            message = Incoming.model_validate_json(text)
            if message.type == "close":
                return None
            return await self._execute(message)
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            field = ".".join(map(str, first["loc"])) or "the message"
            return _error(f"{field}: {first['msg']}: {HOW}", "VALIDATION_ERROR")
        except (UsageError, InfrastructureError) as error:
            return _error(" ".join(str(error).split()), "EXECUTION_ERROR")

    async def _execute(self, message: Incoming) -> dict[str, Any]:
        if message.type == "state":
            return {"type": "state", "data": self._state.model_dump()}
        if message.type == "reset":
            reset = WireReset.model_validate(message.data)
            observation, info = await self._begin(reset)
            self._state = WireState(
                episode_id=reset.episode_id, step_count=info["step"], task=info["task"], session=self._name
            )
            data = openenv.answer(observation, info, reward=None, is_done=False)
        else:
            action = WireAction.model_validate(message.data)
            transition = await self._env.astep({"tool": action.tool, "arguments": action.arguments})
            self._state.step_count = transition.info["step"]
            is_over = transition.terminated or transition.truncated
            data = openenv.answer(
                transition.observation,
                transition.info,
                reward=transition.reward,
                is_done=is_over,
                truncated=transition.truncated,
            )
        return {"type": "observation", "data": data}

    async def _begin(self, reset: WireReset) -> tuple[Observation, Info]:
        if reset.branch is None:
            return await self._env.areset(self._sessions.choose(reset))
        if (parent := self._sessions.members.get(reset.branch)) is None:
            raise TrainingError(f"there is no session {reset.branch!r}: name one as its `state` does, while it is open")
        made = asyncio.ensure_future(parent._env.abranch(reset.at))
        try:
            branch = await asyncio.shield(made)
        except asyncio.CancelledError:  # the client has gone, but its branch is still being made
            made.add_done_callback(_close_branch)
            raise
        left, self._env = self._env, branch
        await left.aclose()
        return branch.look()


def _close_branch(made: asyncio.Future[TrainingEnv]) -> None:
    if not made.cancelled() and made.exception() is None:
        asyncio.get_running_loop().run_in_executor(None, made.result().close)


class _RefuseBrowsers:
    """Refuses requests that a web page sends from somebody's browser."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "lifespan" and any(name == b"origin" for name, _ in scope["headers"]):
            if scope["type"] == "websocket":
                await send({"type": "websocket.close", "code": 1008})
            else:
                await PlainTextResponse("requests from web pages are refused\n", 403)(scope, receive, send)
            return
        await self._app(scope, receive, send)


class _LimitBodies:
    """Refuses requests whose body is too large, before it is read into memory."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        size = 0

        async def limited() -> Message:
            nonlocal size
            message = await receive()
            size += len(message.get("body", b""))
            if size > MOST_BODY:
                raise HTTPException(413, f"the body has more than {MOST_BODY >> 20} MB")
            return message

        await self._app(scope, limited if scope["type"] == "http" else receive, send)


def make_app(sessions: Sessions, names: Iterable[str] = ()) -> FastAPI:
    """Make the application, which closes the pool of sandboxes when it ends.

    `names`: the host names that requests may use for this machine; empty: any.
    """

    @contextlib.asynccontextmanager
    async def life(_: FastAPI) -> AsyncIterator[None]:
        yield
        await asyncio.to_thread(sessions.maker.pool.close)

    app = FastAPI(title="stackrank", version=openenv.PROTOCOL, lifespan=life, docs_url=None, redoc_url=None)
    app.add_middleware(_LimitBodies)
    app.add_middleware(_RefuseBrowsers)
    if hosts := list(names):
        # A web page must not reach the server by a host name that the page's owner points to this machine.
        app.add_middleware(TrustedHostMiddleware, allowed_hosts=hosts, www_redirect=False)

    @app.exception_handler(RequestValidationError)
    async def refuse(_: Request, error: RequestValidationError) -> JSONResponse:
        # Without the input: it may be large, and hold numbers that JSON does not have.
        problems = [{"loc": problem["loc"], "msg": problem["msg"]} for problem in error.errors()[:10]]
        return JSONResponse({"detail": problems}, 422)

    @app.get("/health")
    async def health() -> dict[str, str]:
        return {"status": "healthy"}

    @app.get("/metadata")
    async def metadata() -> dict[str, Any]:
        return {
            "name": "stackrank",
            "description": (stackrank.__doc__ or "").partition("\n")[0],
            "tasks": len(sessions.names),
        }

    @app.get("/schema")
    async def schema() -> dict[str, Any]:
        return openenv.schemas(sessions.maker.tools)

    @app.post("/mcp")
    async def mcp(request: Request) -> dict[str, Any]:
        try:
            message = read_json(await request.body())
        except ValueError as error:
            raise HTTPException(400, f"the body is {error}") from None
        return openenv.mcp_answer(message, sessions.maker.tools)

    # Each HTTP request is a separate session, as in OpenEnv: it can look at a task, but an episode needs a WebSocket.
    @app.post("/reset")
    async def reset(wire: WireReset) -> dict[str, Any]:
        try:
            async with sessions.env() as env:
                observation, info = await env.areset(sessions.choose(wire))
        except (UsageError, InfrastructureError) as error:
            raise HTTPException(400 if isinstance(error, UsageError) else 503, " ".join(str(error).split())) from None
        return openenv.answer(observation, info, reward=None, is_done=False)

    @app.post("/step")
    async def step(action: WireAction) -> dict[str, Any]:
        raise HTTPException(409, f"{action.tool}: an HTTP request has no episode; play over /ws")

    @app.get("/state")
    async def state() -> WireState:
        return WireState()

    @app.websocket("/ws")
    async def session(socket: WebSocket) -> None:
        await socket.accept()
        try:
            async with sessions.env() as env:
                await _serve(socket, Session(sessions, env), sessions.idle_s)
        except TrainingError as error:
            with contextlib.suppress(*_GONE):
                await socket.send_json(_error(str(error), "CAPACITY_REACHED"))
        with contextlib.suppress(*_GONE):
            await socket.close()

    return app


_GONE = (WebSocketDisconnect, RuntimeError)
"""What sending to a client raises that has closed the connection, which many do after their last message."""


async def _serve(socket: WebSocket, session: Session, idle_s: float) -> None:
    """Answer messages one after another, and keep listening, to notice a client that disconnects during a step."""
    waiting: asyncio.Queue[str] = asyncio.Queue(MOST_WAITING)

    async def listen() -> None:
        async for text in socket.iter_text():
            if waiting.full():
                message = f"{MOST_WAITING} messages are queued, the limit: read the answers before you send more"
                await socket.send_json(_error(message, "CAPACITY_REACHED"))
                return
            waiting.put_nowait(text)

    async def speak() -> None:
        try:
            while (reply := await session.answer(await asyncio.wait_for(waiting.get(), idle_s))) is not None:
                await socket.send_text(reply)
        except TimeoutError:
            message = f"this session ended, because it received nothing for {idle_s:g} s: connect again"
            await socket.send_json(_error(message, "IDLE"))

    tasks = [asyncio.create_task(listen()), asyncio.create_task(speak())]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        await session.aclose()
        for task in tasks:
            task.cancel()
        for result in await asyncio.gather(*tasks, return_exceptions=True):
            # A client may also disconnect while an answer is being sent to it.
            if isinstance(result, Exception) and not isinstance(result, _GONE):
                log.error("a session ended unexpectedly", exc_info=result)
        await session.aclose()  # it may have become a branch meanwhile


def serve(sessions: Sessions, listening: socket.socket, names: Iterable[str]) -> None:
    """Serve until interrupted. `names`: the names by which the user called the machine when saying where to listen."""
    loopback = ipaddress.ip_address(listening.getsockname()[0]).is_loopback
    app = make_app(sessions, {*names, "localhost"} if loopback else ())
    config = uvicorn.Config(app, log_level="warning", ws_per_message_deflate=False)
    uvicorn.Server(config).run(sockets=[listening])


def _error(message: str, code: str) -> dict[str, Any]:
    return {"type": "error", "data": {"message": message, "code": code}}


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
