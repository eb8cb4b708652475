"""A model server that answers from a script: for trying things out without a model, and for tests.

    with OpenAIServer([call("view", path="a.py"), Fault.status(429, retry_after=0.1), call("submit")]) as server:
        ...  # OPENAI_BASE_URL = server.url
    assert server.asked == 3

A script is a list, from which each request takes the next entry, or a function of the request that returns an entry.
After the end of a list the last entry is repeated. The server speaks Chat Completions, Responses and Anthropic's
Messages, each at its own path, with or without streaming.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from stackrank.agents.llm.scripted.answers import Entry, Fault, Script
from stackrank.agents.llm.scripted.dialects import dialect_of, stream
from stackrank.agents.llm.scripted.token_fields import add_tokens


class OpenAIServer:
    """Serves until it is closed. Safe to ask from many threads."""

    def __init__(
        self,
        script: Script,
        *,
        key: str | None = None,
        skip: int = 0,
        models: Sequence[str] | int = ("scripted",),
        port: int = 0,
        verbatim: bool = False,
        stream_only: bool = False,
        refuses_null: bool = False,
    ) -> None:
        """`key`: requests without it are refused with 401. `skip`: this many entries count as already taken.

        `models`: the models that the server lists, or the HTTP status that a request for the list gets. `port`: on the
        loopback address; 0: any free one. `verbatim`: a request that changes an earlier answer gets 400, as from
        thinking models. `stream_only`: a request for anything but a stream gets 400. `refuses_null`: a message whose
        content is null gets the error of llama-cpp-python's server. Raises OSError.
        """
        self._known_answers: set[str] | None = set() if verbatim else None
        self._stream_only = stream_only
        self._refuses_null = refuses_null
        self._models = models
        self.listed = 0
        """How often the list of models was asked for."""
        self._script = script
        self._skip = skip
        self._lock = threading.Lock()
        self._key = key
        self.paths: list[str] = []
        self.requests: list[dict[str, Any]] = []
        """The bodies of the requests, in the order they came."""
        self.headers: list[dict[str, str]] = []
        self.times: list[float] = []
        self.now = 0
        """Requests that are being answered."""
        self.max_concurrent = 0
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            # Head and body are sent separately: the body would wait 40 ms for the head to be acknowledged.
            disable_nagle_algorithm = True

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                server._answer(self, body)

            def do_GET(self) -> None:
                server._list(self)

            def log_message(self, *_: Any) -> None:
                """Log nothing."""

        self._http = ThreadingHTTPServer(("127.0.0.1", port), Handler)
        self._http.daemon_threads = True
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True)

    def __enter__(self) -> OpenAIServer:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    @property
    def url(self) -> str:
        """The base URL."""
        return f"http://127.0.0.1:{self._http.server_address[1]}/v1"

    @property
    def asked(self) -> int:
        """How many requests came, including those that got a fault."""
        return len(self.requests)

    def _answer(self, http: BaseHTTPRequestHandler, body: dict[str, Any]) -> None:
        with self._lock:
            self.requests.append(body)
            self.paths.append(http.path)
            self.headers.append({name.lower(): value for name, value in http.headers.items()})
            self.times.append(time.monotonic())
            self.now += 1
            self.max_concurrent = max(self.max_concurrent, self.now)
            number = len(self.requests) + self._skip
            entry = self._entry(http, body, number)
        time.sleep(entry.delay_s)
        with self._lock:
            # Before the answer is sent: a quick client sends its next request before this thread goes on.
            self.now -= 1
        with suppress(BrokenPipeError, ConnectionResetError):  # the client has stopped waiting
            self._send(http, entry, body, number)

    def _list(self, http: BaseHTTPRequestHandler) -> None:
        self.listed += 1
        body: dict[str, Any]
        if self._refuses(http):
            code, body = 401, {"error": {"message": "Incorrect API key provided"}}
        elif isinstance(self._models, int):
            code, body = self._models, {"error": {"message": "no list"}}
        else:
            code, body = 200, {"object": "list", "data": [{"id": name, "object": "model"} for name in self._models]}
        data = json.dumps(body).encode()
        http.send_response(code)
        http.send_header("Content-Length", str(len(data)))
        http.end_headers()
        http.wfile.write(data)

    def _refuses(self, http: BaseHTTPRequestHandler) -> bool:
        """Return whether the request lacks the key, in OpenAI's, Azure's or Anthropic's header."""
        bearer = http.headers.get("Authorization", "").removeprefix("Bearer ")
        keys = (bearer, http.headers.get("api-key"), http.headers.get("x-api-key"))
        return self._key is not None and self._key not in keys

    def _entry(self, http: BaseHTTPRequestHandler, body: dict[str, Any], number: int) -> Entry:
        if self._refuses(http):
            return Fault.status(401, f"Incorrect API key provided: {http.headers.get('Authorization')}")
        dialect = dialect_of(http.path)
        if dialect is None:
            return Fault.status(404, f"no such path: {http.path}")
        if self._stream_only and not body.get("stream"):
            return Fault.status(400, "This model only supports stream mode, please enable the stream parameter.")
        if self._refuses_null and any(message.get("content", "") is None for message in body.get("messages", ())):
            return Fault.status(
                500, "1 validation error: {'loc': ('body', 'messages', 2, 'AssistantMessage', 'content')}"
            )
        if self._known_answers is not None and not self._known_answers.issuperset(dialect.answers_in(body)):
            return Fault.status(400, "The `reasoning_content` in the thinking mode must be passed back to the API.")
        if callable(self._script):
            return self._script(body)
        return self._script[min(number, len(self._script)) - 1]

    def _send(self, http: BaseHTTPRequestHandler, entry: Entry, request: dict[str, Any], number: int) -> None:
        if isinstance(entry, Fault) and not entry.code:
            http.close_connection = True
            return
        if isinstance(entry, Fault):
            code, data, headers = entry.code, entry.body, dict(entry.headers)
        else:
            dialect = dialect_of(http.path)
            assert dialect is not None
            body = dialect.body(entry, str(request.get("model", "")), number)
            if "choices" in body:
                add_tokens(body, request, entry.tokens)
            if self._known_answers is not None:
                self._known_answers.update(dialect.answers_of(body))
            code, data, headers = 200, json.dumps(body).encode(), {}
            if request.get("stream"):
                data, headers = stream(dialect.events(body)), {"Content-Type": "text/event-stream"}
        length = len(data)
        if isinstance(entry, Fault) and entry.claimed_length is not None:
            length = entry.claimed_length
            http.close_connection = True
        http.send_response(code)
        for name, value in {"Content-Type": "application/json", "Content-Length": str(length), **headers}.items():
            http.send_header(name, value)
        http.end_headers()
        http.wfile.write(data)
