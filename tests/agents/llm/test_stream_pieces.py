"""Streamed answers in the pieces that providers and routers send."""

from __future__ import annotations

import json
import socket
import threading
import time
from contextlib import suppress
from typing import Any

import pytest

from stackrank.agents.episode.protocol import EndpointDown, EndpointError
from stackrank.env.actions import Action
from tests.agents.endpoints.test_quirks import ARGUMENTS, END, A, B, arguments_piece, chat, delta, function_piece
from tests.agents.llm.test_verbatim import APIS, agent, play_steps, serve
from tests.support.openai_server import call
from tests.support.session import sample
from tests.support.waiting import run_out

HALVES = ARGUMENTS[:8], ARGUMENTS[8:]


@pytest.mark.parametrize(
    ("choices", "actions"),
    [
        pytest.param(  # Gemini
            [
                delta(id="1", function=function_piece()),
                delta(id="2", function=function_piece("view", '{"path": "b.py"}')),
            ],
            [A, B],
            id="no index, a call in each piece",
        ),
        pytest.param(  # routers before Gemini
            [
                delta(index=0, id=str(n), function=function_piece("view", json.dumps(part.arguments)))
                for n, part in enumerate((A, B))
            ],
            [A, B],
            id="every call at index 0",
        ),
        pytest.param(
            [delta(index=0, id="", function=function_piece("view", json.dumps(part.arguments))) for part in (A, B)],
            [A, B],
            id="every call at index 0 without an id",
        ),
        pytest.param(
            [
                delta(id="1", function=function_piece("view", "")),
                *(delta(function=arguments_piece(part)) for part in HALVES),
            ],
            [A],
            id="neither index nor id in later pieces",
        ),
        pytest.param(  # SGLang
            [
                delta(id="1", function=arguments_piece(HALVES[0])),
                delta(id="1", function={"name": "view", "arguments": ""}),
                delta(id="1", function=arguments_piece(HALVES[1])),
            ],
            [A],
            id="no index, the name after the arguments",
        ),
        pytest.param(  # DashScope
            [
                delta(index=0, id="1", function=function_piece("view", "")),
                *(delta(index=0, id="", function=arguments_piece(h)) for h in HALVES),
            ],
            [A],
            id="empty ids in later pieces",
        ),
        pytest.param(  # mlx
            [
                delta(index=0, id="1", function=function_piece("view", "")),
                *(delta(index=0, id=h, function=arguments_piece(h)) for h in HALVES),
            ],
            [A],
            id="another id in each piece",
        ),
        pytest.param(
            [
                {"delta": {"tool_calls": [{"index": 1, "id": "2", "function": function_piece("view", "")}]}},
                {"delta": {"tool_calls": [{"index": 0, "id": "1", "function": function_piece("view", "")}]}},
                delta(index=1, function=arguments_piece('{"path": ')),
                delta(index=0, function=arguments_piece(ARGUMENTS)),
                delta(index=1, function=arguments_piece('"b.py"}')),
            ],
            [B, A],
            id="calls in turns",
        ),
        pytest.param(  # Perplexity
            [
                delta(index=0, id="1", function=function_piece()),
                {**END, "message": {"role": "assistant", "content": ""}},
            ],
            [A],
            id="the message so far beside each piece",
        ),
        pytest.param(
            [{"message": {"tool_calls": [{"id": "1", "function": function_piece()}]}, "finish_reason": "tool_calls"}],
            [A],
            id="one message and no pieces",
        ),
        pytest.param(  # Bedrock
            [
                delta(index=0, id="1", function=function_piece("view", "{}")),
                delta(index=0, function=arguments_piece(ARGUMENTS)),
            ],
            [A],
            id="an empty object before the arguments",
        ),
        pytest.param(  # NousResearch/hermes-agent#35718, vercel/ai#15888
            [
                delta(index=0, id="1", function=function_piece("view", "")),
                *(delta(index=0, function=arguments_piece(ARGUMENTS[:end])) for end in range(1, len(ARGUMENTS) + 1)),
            ],
            [A],
            id="all arguments so far in each piece",
        ),
        pytest.param(  # elizaOS/eliza#16973, anomalyco/opencode#17339
            [
                delta(index=0, id="1", function=function_piece("view", "")),
                *(delta(index=0, function=arguments_piece(text)) for text in (*HALVES, ARGUMENTS)),
            ],
            [A],
            id="all arguments once more at the end",
        ),
        pytest.param(  # vllm-project/vllm#44098, vllm-project/vllm-ascend#8178
            [
                delta(index=0, id="1", type="function", function=function_piece("view", HALVES[0])),
                delta(index=0, id="1", type="function", function=function_piece("view", HALVES[1])),
                delta(index=0, id="1", type="function", function=function_piece("view", "")),
            ],
            [A],
            id="id, type and name in each piece",
        ),
        pytest.param(
            [delta(index=0, function=function_piece()), delta(index=0, function=function_piece())],
            [A],
            id="the whole call once more, without an id",
        ),
        pytest.param(  # anomalyco/opencode#43328, sgl-project/sglang#35542, Effect-TS/effect#8333
            [
                delta(index=0, id="1", type="function", function=function_piece("view", None)),
                *(delta(index=0, id=None, type=None, function={"name": None, "arguments": part}) for part in HALVES),
                delta(index=0, id=None, type=None, function=None),
                {"delta": {"role": None, "content": None, "tool_calls": None}},
                {"delta": None},
            ],
            [A],
            id="null for what does not change",
        ),
        pytest.param(
            [
                delta(index=0, id="1", function=function_piece("vi", "")),
                delta(index=0, function={"name": "ew"}),
                delta(index=0, function=arguments_piece(ARGUMENTS)),
            ],
            [A],
            id="a name in two pieces",
        ),
        pytest.param(  # ollama/ollama#15457, BerriAI/litellm#33678, BerriAI/litellm#37792
            [delta(index=0, id=f"{n}", function=function_piece("view", p.arguments)) for n, p in enumerate((A, B))],
            [A, B],
            id="every call at index 0, with an object for its arguments",
        ),
        pytest.param(  # ggml-org/llama.cpp#27966
            [
                delta(index=n, id="1", function=function_piece("view", json.dumps(p.arguments)))
                for n, p in enumerate((A, B))
            ],
            [A, B],
            id="the same id for each call",
        ),
        pytest.param(
            [delta(id="1", function=function_piece("view", json.dumps(part.arguments))) for part in (A, B)],
            [A, B],
            id="the same id for each call, and no index",
        ),
        pytest.param(
            [delta(index=0, id="1", function={"name": "view", "parameters": {"path": "a.py"}})],
            [A],
            id="parameters for arguments",
        ),
        pytest.param(
            [delta(index=0, id="1", name="view", arguments=ARGUMENTS)],
            [A],
            id="no function around name and arguments",
        ),
    ],
)
def test_calls_in_pieces(monkeypatch: pytest.MonkeyPatch, choices: list[dict[str, Any]], actions: list[Action]) -> None:
    with serve(monkeypatch, [chat(*choices, END), call("submit")]) as server:
        decided = play_steps(agent(stream=True), len(actions) + 1)
        sent = server.requests[-1]["messages"][2]["tool_calls"]
    assert [taken_call.action for taken_call in decided[:-1]] == actions  # type: ignore[union-attr]
    assert [json.loads(taken_call["function"]["arguments"]) for taken_call in sent] == [
        taken_call.arguments for taken_call in actions
    ]
    ids = [taken_call["id"] for taken_call in sent]
    assert all(ids) and len(set(ids)) == len(ids) and server.requests[-1]["messages"][3]["tool_call_id"] == ids[0]


@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("piece", sample([b": still here\n\n", b"event: ping\ndata: {}\n\n", b" "], [b" "]))
def test_a_server_that_sends_only_keep_alive_messages(
    monkeypatch: pytest.MonkeyPatch, api: str, stream: bool, piece: bytes
) -> None:
    with Endless(piece) as port:
        serve(monkeypatch, [call("eval")])
        url = f"http://127.0.0.1:{port}"
        # Whoever takes each piece for an answer would wait until this test's own time is up.
        with pytest.raises((EndpointError, EndpointDown), match="took more than"):
            play_steps(agent(api=api, stream=stream, base_url=url, request_timeout_s=run_out(0.5), retry_s=0), 1)


class Endless:
    """A server that sends a piece ten times a second without end."""

    def __init__(self, piece: bytes) -> None:
        self._piece = piece
        self._socket = socket.create_server(("127.0.0.1", 0))

    def __enter__(self) -> int:
        threading.Thread(target=self._serve, daemon=True).start()
        return int(self._socket.getsockname()[1])

    def __exit__(self, *_: object) -> None:
        self._socket.close()

    def _serve(self) -> None:
        with suppress(OSError):
            while True:
                connection, _ = self._socket.accept()
                threading.Thread(target=self._drip, args=(connection,), daemon=True).start()

    def _drip(self, connection: socket.socket) -> None:
        with suppress(OSError), connection:
            connection.recv(1 << 16)
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n")
            while True:
                connection.sendall(self._piece)
                time.sleep(0.1)


def test_pieces_that_end_anywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """Comments, line ends of every kind, and TCP packets that end within a character."""
    content = "é😀\u2028x"
    pieces = [
        {"choices": [{"delta": {"content": content}}]},
        {"choices": [delta(index=0, id="1", function=function_piece())]},
    ]
    text = "".join(
        f": hi\r\ndata: {json.dumps(event, ensure_ascii=False)}\r\n\r\n" for event in [*pieces, {"choices": [END]}]
    )
    data = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n" + text.encode()

    def serve_once(server: socket.socket) -> None:
        connection, _ = server.accept()
        with connection:
            request = b""
            while not request.endswith(b"}"):
                request += connection.recv(1 << 16)
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            for n in range(len(data)):
                connection.sendall(data[n : n + 1])

    with socket.create_server(("127.0.0.1", 0)) as server:
        threading.Thread(target=serve_once, args=(server,), daemon=True).start()
        serve(monkeypatch, [call("eval")])
        decided = play_steps(agent(stream=True, base_url=f"http://127.0.0.1:{server.getsockname()[1]}", retry_s=0), 1)[
            0
        ]
    assert decided.action == A and decided.thought == content
