"""Runs an entrant's own program, and passes on its questions to a model, one at a time, in lines of JSON.

There is no network in a sandbox. The program finds a model's endpoint at an address of the sandbox itself, where this
relay listens; the reader of its standard output answers. It is started as `python -c`, so it imports nothing of ours.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Dict, Optional
from urllib.parse import unquote

PORT = 8377
"""The port is the same in every sandbox, because programs show addresses; if it is taken, another one is used."""
TAIL = 8 << 10
"""Bytes of the program's output that are kept."""
DRAIN_S = 1.0
"""How long the program's output may take to arrive after its end."""
LONGEST_VARIABLE = 100_000
"""The most bytes of a task that goes into the environment: Linux allows 128 KiB. The file always has the whole task."""
PASSED_ON = ("anthropic-beta", "openai-beta")
"""Headers that say which fields a question may have, and so are part of it."""
CHARACTERS_PER_TOKEN = 3.5
CANNOT_RUN = 126
"""The status of a shell whose command cannot be executed."""


class Relay(ThreadingHTTPServer):
    """The endpoint that the program sees."""

    daemon_threads = True
    one_at_a_time = threading.Lock()
    model = ""

    def ask(self, path: str, body: str, headers: Dict[str, str]) -> Dict[str, Any]:
        """Pass a question on, and wait for its answer: `status`, `type` and `body`."""
        with self.one_at_a_time:
            tell({"path": path, "body": body, "headers": headers})
            line = sys.stdin.readline()
            if not line:
                os._exit(1)
            answer: Dict[str, Any] = json.loads(line)
            return answer


class Handler(BaseHTTPRequestHandler):
    """Handles the program's questions."""

    server: Relay
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_POST(self) -> None:
        """Answer as the model does."""
        try:
            body = self.read_body().decode("utf-8", "replace")
        except (ValueError, OverflowError):
            self.close_connection = True  # nobody knows where the next question would begin
            self.send_error(400, "the Content-Length of the request is not a number")
            return
        if self.path.partition("?")[0].endswith("/messages/count_tokens"):  # an estimate needs no answer from outside
            self.send(200, "application/json", json.dumps({"input_tokens": int(len(body) / CHARACTERS_PER_TOKEN)}))
            return
        headers = {name: self.headers[name] for name in PASSED_ON if self.headers[name]}
        answer = self.server.ask(self.path, body, headers)
        self.send(answer["status"], answer["type"], answer["body"])

    def do_HEAD(self) -> None:
        """Answer that the endpoint exists, which some programs ask first."""
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def do_GET(self) -> None:
        """Answer which models there are: only one."""
        path = unquote(self.path.partition("?")[0]).rstrip("/")
        model = {"id": self.server.model, "object": "model", "created": 0, "owned_by": "entrant"}
        if path == "/v1/models":
            self.send(200, "application/json", json.dumps({"object": "list", "data": [model]}))
        elif path == "/v1/models/" + self.server.model:
            self.send(200, "application/json", json.dumps(model))
        else:
            self.send_error(404, "not found: use /v1/chat/completions, /v1/responses or /v1/messages")

    def read_body(self) -> bytes:
        """Return the question. Raises ValueError if its length cannot be read."""
        if "chunked" not in self.headers.get("Transfer-Encoding", "").lower():
            return self.read_bytes(int(self.headers.get("Content-Length") or 0))
        parts = []
        while True:
            size = int(self.rfile.readline(1000).partition(b";")[0], 16)
            if size == 0:
                break
            parts.append(self.read_bytes(size))
            self.rfile.readline(1000)
        while self.rfile.readline(1000).strip():
            pass  # trailers
        return b"".join(parts)

    def read_bytes(self, size: int) -> bytes:
        """Read `size` bytes. Raises ValueError if the number is negative."""
        if size < 0:
            raise ValueError(size)
        return self.rfile.read(size)

    def send(self, status: int, kind: str, text: str) -> None:
        """Send an answer."""
        data = text.encode("utf-8", "replace")
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def send_error(self, code: int, message: Optional[str] = None, explain: Optional[str] = None) -> None:
        """Refuse in the form that programs expect of a model's endpoint."""
        text = message or "this request is not supported"
        error = {"message": text, "type": "invalid_request_error", "code": None}
        self.send(int(code), "application/json", json.dumps({"type": "error", "error": error}))

    def log_message(self, *arguments: Any) -> None:
        """Log nothing."""


class Tail(threading.Thread):
    """Reads the program's output, and keeps its end."""

    def __init__(self, fd: int) -> None:
        super().__init__(daemon=True)
        self._fd = fd
        self._kept = b""

    def run(self) -> None:
        """Read until nobody can write any more."""
        while True:
            data = os.read(self._fd, 1 << 16)
            if not data:
                return
            self._kept = (self._kept + data)[-TAIL:]

    def text(self) -> str:
        """Return the end of the output."""
        return self._kept.decode("utf-8", "replace")


def tell(record: Dict[str, Any]) -> None:
    """Write one message as a line of JSON."""
    sys.stdout.write(json.dumps(record) + "\n")
    sys.stdout.flush()


def listen() -> Relay:
    """Start to listen for questions."""
    try:
        return Relay(("127.0.0.1", PORT), Handler)
    except OSError:
        return Relay(("127.0.0.1", 0), Handler)


def folder() -> str:
    """Make a new folder for the program's files."""
    path = os.path.join(tempfile.gettempdir(), "agent")
    try:
        os.mkdir(path)
    except OSError:
        path = tempfile.mkdtemp(prefix="agent-")
    return path


def main() -> None:
    """Read what to run, run it, and report how it ended."""
    setup = json.loads(sys.stdin.readline())
    server = listen()
    server.model = setup["model"]
    threading.Thread(target=server.serve_forever, daemon=True).start()
    place = folder()
    for name, text in {**setup["files"], "task.md": setup["task"]}.items():
        with open(os.path.join(place, name), "w", encoding="utf-8") as file:
            file.write(text)
    root = "http://127.0.0.1:%d" % server.server_address[1]
    env = {**os.environ, "OPENAI_BASE_URL": root + "/v1", "OPENAI_API_BASE": root + "/v1", "OPENAI_API_KEY": "none"}
    env.update(ANTHROPIC_BASE_URL=root, ANTHROPIC_API_KEY="none")
    env.update(setup["env"], AGENT_DIR=place, AGENT_MODEL=setup["model"])
    if len(setup["task"].encode("utf-8", "replace")) <= LONGEST_VARIABLE:
        env["AGENT_TASK"] = setup["task"]
    env.pop("RELAY", None)
    try:
        child = subprocess.Popen(
            ["/bin/sh", "-c", setup["command"]],
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
    except (OSError, ValueError) as error:  # a command or a variable that is too long, or holds a NUL
        tell({"ended": CANNOT_RUN, "output": str(error)})
        return
    assert child.stdout is not None
    output = Tail(child.stdout.fileno())
    output.start()
    status = child.wait()
    output.join(DRAIN_S)  # processes that it left running may hold its output open forever
    tell({"ended": status, "output": output.text()})


if __name__ == "__main__":
    main()
