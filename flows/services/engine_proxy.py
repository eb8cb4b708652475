"""A proxy in front of a Docker engine's socket, for workers. `env.sandbox.docker.policy` says what it allows.

Each connection carries one request, which is parsed and written again, so that the engine reads nothing unchecked.
Bytes pass unread only after the engine has confirmed that the connection is a stream.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Callable, Coroutine
from pathlib import Path
from typing import Any

import h11

from stackrank.env.sandbox.docker import policy
from stackrank.env.sandbox.docker.policy import Allowed, NoContainer, NotAllowed
from stackrank.errors import NotReady

_CHUNK = 1 << 16
_Headers = list[tuple[bytes, bytes]]
_Role = type[h11.CLIENT] | type[h11.SERVER]


class _Peer:
    """One end of a connection, read and written as HTTP events."""

    def __init__(self, role: _Role, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.http = h11.Connection(role, max_incomplete_event_size=_CHUNK)
        self.reader, self.writer = reader, writer

    async def event(self) -> object:
        """Return the next event. Raises h11.RemoteProtocolError."""
        while (event := self.http.next_event()) is h11.NEED_DATA:
            self.http.receive_data(await self.reader.read(_CHUNK))
        return event

    async def send(self, event: h11.Event) -> None:
        self.writer.write(self.http.send(event) or b"")
        await self.writer.drain()

    async def chunks(self) -> AsyncIterator[bytes]:
        """Yield the body of the message whose head was read."""
        while isinstance(event := await self.event(), h11.Data):
            yield bytes(event.data)
        if not isinstance(event, h11.EndOfMessage):
            raise ConnectionError("the message is incomplete")

    async def body(self) -> bytes:
        """Return the whole body. Raises NotAllowed if it is too large."""
        data = b""
        async for chunk in self.chunks():
            data += chunk
            if len(data) > policy.LARGEST_BODY:
                raise NotAllowed(f"the body has more than {policy.LARGEST_BODY >> 20} MB")
        return data


class EngineProxy:
    """Listens for one engine's clients, and passes on the requests that are allowed."""

    def __init__(self, engine: Path, allowed: Allowed, say: Callable[[str], None] = lambda _: None) -> None:
        """`engine`: the engine's socket. `say` gets a line for each refused request."""
        self._engine, self._allowed, self._say = engine, allowed, say

    async def serve(self, listen: Path, ready: Callable[[], None] = lambda: None) -> None:
        """Listen, until cancelled, on a socket that its user and group may use. Raises NotReady."""
        try:
            listen.unlink(missing_ok=True)
            server = await asyncio.start_unix_server(self._connection, listen, limit=_CHUNK)
            listen.chmod(0o660)
        except OSError as error:
            raise NotReady(f"Cannot listen on {listen} ({error.strerror}): name a path in a folder you own.") from None
        async with server:
            ready()
            await server.serve_forever()

    async def _connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        client = _Peer(h11.SERVER, reader, writer)
        try:
            event = await client.event()
            if isinstance(event, h11.Request):
                await self._answer(client, event)
        except NotAllowed as refused:
            self._say(f"refused: {refused}")
            prefix = "" if isinstance(refused, NoContainer) else "refused by the engine proxy: "
            await _reply(client, refused.status, f"{prefix}{refused}")
        except h11.RemoteProtocolError as error:
            await _reply(client, 400, f"not valid HTTP: {error}")
        except OSError as error:  # the connection to the engine failed, or the client is gone
            await _reply(client, 503, f"the engine does not answer the proxy ({error})")
        finally:
            writer.close()

    async def _answer(self, client: _Peer, head: h11.Request) -> None:
        request = policy.parse_request(head.method.decode(), head.target.decode("latin-1"), self._allowed)
        container = request.container and policy.owned_container(await self._inspect(request), request.call)
        headers: _Headers = [(b"host", b"docker")]
        data = b""
        if request.call.body == "archive":
            headers += [(b"content-type", b"application/x-tar"), (b"transfer-encoding", b"chunked")]
        elif request.call.body:
            data = await client.body()
            if request.call.body == "config":
                data = policy.check_config(data)
            else:
                data = policy.check_container(data, self._allowed)
            headers += [(b"content-type", b"application/json"), (b"content-length", str(len(data)).encode())]
        elif await client.body():
            raise NotAllowed(f"{request.call.method} {request.path} has no body")
        if request.path == "/images/create":
            headers += [(name, value) for name, value in head.headers if name == b"x-registry-auth"]
        if request.call.hijacks:
            headers += [(b"connection", b"Upgrade"), (b"upgrade", b"tcp"), (b"content-length", b"0")]
        else:
            headers.append((b"connection", b"close"))
        async with self._upstream() as engine:
            await engine.send(h11.Request(method=head.method, target=request.target(container), headers=headers))
            if request.call.body == "archive":
                async for chunk in client.chunks():
                    await engine.send(h11.Data(data=chunk))
            elif data:
                await engine.send(h11.Data(data=data))
            await engine.send(h11.EndOfMessage())
            if request.call.hijacks:
                await _stream(client, engine)
            else:
                # Further input of the client is not read; the request ends when the client disconnects.
                await _until_first_ends(_forward(engine.reader, client.writer), client.reader.read(1))

    async def _inspect(self, request: policy.Request) -> dict[str, object]:
        async with self._upstream() as engine:
            headers = [(b"host", b"docker"), (b"connection", b"close")]
            target = f"/containers/{request.container}/json"
            await engine.send(h11.Request(method=b"GET", target=request.version + target, headers=headers))
            await engine.send(h11.EndOfMessage())
            response = await engine.event()
            body = b"".join([chunk async for chunk in engine.chunks()])
        if not isinstance(response, h11.Response) or response.status_code != 200:
            raise NoContainer(f"No such container: {request.container}")
        document: dict[str, object] = json.loads(body)
        return document

    @contextlib.asynccontextmanager
    async def _upstream(self) -> AsyncIterator[_Peer]:
        reader, writer = await asyncio.open_unix_connection(self._engine)
        try:
            yield _Peer(h11.CLIENT, reader, writer)
        finally:
            writer.close()


async def _reply(client: _Peer, status: int, message: str) -> None:
    """Answer in the form in which the engine reports errors."""
    body = json.dumps({"message": message}).encode()
    headers = [(b"content-type", b"application/json"), (b"connection", b"close")]
    with contextlib.suppress(OSError):  # the client may be gone
        client.writer.write(_head(status, [*headers, (b"content-length", str(len(body)).encode())]) + body)
        await client.writer.drain()


def _head(status: int, headers: _Headers) -> bytes:
    lines = [b"HTTP/1.1 %d -" % status, *(name + b": " + value for name, value in headers)]
    return b"\r\n".join(lines) + b"\r\n\r\n"


async def _stream(client: _Peer, engine: _Peer) -> None:
    """Pass bytes in both directions, once the engine has accepted the connection as a stream."""
    answer = await engine.event()
    if not isinstance(answer, h11.InformationalResponse) or answer.status_code != 101:
        body = b"".join([chunk async for chunk in engine.chunks()]) if isinstance(answer, h11.Response) else b""
        status = answer.status_code if isinstance(answer, h11.Response) else 502
        await _reply(client, status, body.decode("utf-8", "replace").strip() or "the engine did not attach")
        return
    client.writer.write(_head(101, [(b"connection", b"Upgrade"), (b"upgrade", b"tcp")]) + engine.http.trailing_data[0])
    engine.writer.write(client.http.trailing_data[0])
    await asyncio.gather(_forward(engine.reader, client.writer), _forward(client.reader, engine.writer))


async def _forward(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Pass on everything until one end closes, and tell the other end."""
    with contextlib.suppress(OSError):
        while data := await reader.read(_CHUNK):
            writer.write(data)
            await writer.drain()
    with contextlib.suppress(OSError):
        writer.write_eof()


async def _until_first_ends(*coroutines: Coroutine[Any, Any, object]) -> None:
    """Return when the first coroutine ends, and cancel the others."""
    tasks = [asyncio.ensure_future(coroutine) for coroutine in coroutines]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
