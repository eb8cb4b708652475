"""Recorded requests equal the bodies that the server received, byte for byte, in every API."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from itertools import pairwise
from typing import Any

import pytest

from stackrank.agents.episode.protocol import Decision, MalformedAction
from stackrank.agents.episode.step import Step
from stackrank.agents.llm.endpoints.recorded_requests import RecordedRequest, recorded_requests, token_ids
from stackrank.agents.llm.scripted.token_fields import ScriptedTokens
from tests.agents.llm.test_llm_recall import stored
from tests.agents.llm.test_verbatim import APIS, SCRIPT, agent, play_steps, serve
from tests.support.openai_server import Fault, OpenAIServer, call, says

TOO_LONG = Fault.status(400, "This model's maximum context length is 100 tokens", code="context_length_exceeded")


def rows(steps: Sequence[Step]) -> list[dict[str, Any]]:
    return [{"index": step.index, "exchanges": [asdict(exchange) for exchange in step.exchanges]} for step in steps]


def recorded(decided: Sequence[Decision | MalformedAction]) -> list[RecordedRequest]:
    return list(recorded_requests(rows(stored(decided))))


def received(server: OpenAIServer, faults: Sequence[int] = ()) -> list[str]:
    """The bodies that were answered, as text; keys in the order they came in."""
    bodies = [dict(body) for number, body in enumerate(server.requests) if number not in faults]
    for body in bodies:
        body.pop("stream", None)
        body.pop("stream_options", None)
    return [json.dumps(body) for body in bodies]


def sent(requests: Sequence[RecordedRequest]) -> list[str]:
    return [json.dumps(request.body) for request in requests]


@pytest.mark.parametrize(
    "config",
    [
        {},
        {"stream": True},
        {"verbatim": False},
        {"syntax": "text"},
        {"temperature": 0.5, "max_tokens": 900, "parallel_tool_calls": False, "extra_body": {"x": {"y": "é😀"}}},
        {"reasoning_effort": "high", "seed": 3},
    ],
    ids=lambda config: "-".join(config) or "plain",
)
@pytest.mark.parametrize("api", APIS)
def test_requests_are_those_that_were_received(
    monkeypatch: pytest.MonkeyPatch, api: str, config: dict[str, Any]
) -> None:
    action_text = "```action\nview a.py\n```"
    texts = [says(f"{action_text}\nok: true", reasoning="Hm."), says("No action."), says(action_text)]
    with serve(monkeypatch, texts if config.get("syntax") else SCRIPT) as server:
        requests = recorded(play_steps(agent(api=api, **config), 12))
        assert sent(requests) == received(server) and len(requests) > 10
    assert {request.api for request in requests} == {api} and not any(request.cut for request in requests)


@pytest.mark.parametrize("api", APIS)
def test_a_history_that_was_cut(monkeypatch: pytest.MonkeyPatch, api: str) -> None:
    with serve(monkeypatch, SCRIPT) as server:
        requests = recorded(play_steps(agent(api=api, context_tokens=6000), 24))
        assert sent(requests) == received(server)
    assert sum(request.cut for request in requests) >= 2


@pytest.mark.parametrize("cut_off", [1, 3, 8, 9, 12])
@pytest.mark.parametrize("api", APIS)
def test_a_history_that_was_cut_twice_and_continued(monkeypatch: pytest.MonkeyPatch, api: str, cut_off: int) -> None:
    """The estimate cuts, the endpoint refuses even that, and then the episode is resumed."""
    script = [*SCRIPT[:9], TOO_LONG, *SCRIPT[9:]]
    config = {"api": api, "context_tokens": 3000}
    with serve(monkeypatch, script) as server:
        past = stored(play_steps(agent(**config), cut_off))
        resumed = agent(**config)
        resumed.recall(past)
        requests = recorded(play_steps(resumed, 16))
        assert server.asked == len(requests) + 1
        assert sent(requests) == received(server, faults=[9])


@pytest.mark.parametrize("api", APIS)
def test_each_request_continues_the_previous_one_and_its_answer(monkeypatch: pytest.MonkeyPatch, api: str) -> None:
    with serve(monkeypatch, SCRIPT):
        requests = recorded(play_steps(agent(api=api), 12))
    for preceding, following in pairwise(requests):
        beginning = [*preceding.messages, *preceding.answer_messages()]
        assert json.dumps(following.messages[: len(beginning)]) == json.dumps(beginning)


def test_exchanges_in_foreign_forms_are_skipped() -> None:
    exchange = {"model": "m", "usage": {}, "conversation": ""}
    steps = [
        {"index": 1, "exchanges": [{**exchange, "request": {"prompt": "x"}, "answer": {"choices": []}}]},
        {"index": 2, "exchanges": [{**exchange, "request": {"messages": []}, "answer": {"text": "y"}}]},
    ]
    assert list(recorded_requests(steps)) == []


def test_token_ids() -> None:
    priced = {"content": [{"token": "token_id:7", "logprob": -0.5}, {"token": "token_id:9", "logprob": -1.0}]}
    ids = {"completion_token_ids": [7, 9], "logprobs": [-0.5, -1.0]}
    assert token_ids({"choices": [{"logprobs": priced}]}) == ids
    logprobs = {"content": [{"token": "a", "logprob": -0.5}]}
    answer = {"prompt_token_ids": [1], "choices": [{"logprobs": logprobs, "token_ids": [3]}]}
    assert token_ids(answer) == {"prompt_token_ids": [1], "completion_token_ids": [3], "logprobs": [-0.5]}
    assert token_ids({"choices": [{"logprobs": logprobs}]}) == {"logprobs": [-0.5]}
    meta = {"output_token_logprobs": [[-0.5, 7, None], [-1.0, 9, "b"]]}
    assert token_ids({"choices": [{"meta_info": meta}]}) == ids, "SGLang"
    numbered = {"content": [{"token": "a", "id": 7, "logprob": -0.5}, {"token": "b", "id": 9, "logprob": -1.0}]}
    assert token_ids({"choices": [{"logprobs": numbered}]}) == ids, "llama.cpp"
    assert token_ids({"content": []}) == token_ids({"choices": [{"logprobs": None}]}) == {}


def test_token_ids_of_a_stream(monkeypatch: pytest.MonkeyPatch) -> None:
    call = {"index": 0, "id": "c", "type": "function", "function": {"name": "eval", "arguments": "{}"}}
    pieces = [
        {"delta": {"role": "assistant"}, "token_ids": [1], "logprobs": {"content": [{"token": "a", "logprob": -1.0}]}},
        {"delta": {"tool_calls": [call]}, "token_ids": [2, 3], "logprobs": None},
        {
            "delta": {},
            "finish_reason": "tool_calls",
            "token_ids": [4],
            "logprobs": {"content": [{"token": "b", "logprob": -2.0}]},
        },
    ]
    lines = [{"prompt_token_ids": [9, 9], "choices": []}, *({"choices": [event]} for event in pieces)]
    events = "".join(f"data: {json.dumps(event)}\n\n" for event in lines) + "data: [DONE]\n\n"
    with serve(monkeypatch, [Fault(200, events.encode(), {"Content-Type": "text/event-stream"})]):
        (request,) = recorded(play_steps(agent(stream=True), 1))
    ids = {"prompt_token_ids": [9, 9], "completion_token_ids": [1, 2, 3, 4]}
    assert token_ids(request.answer) == ids, "two log-probabilities for four tokens belong to nobody knows which"


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("asked", [{"return_token_ids": True, "logprobs": True}, {"logprobs": True}])
def test_tokens_of_the_scripted_server(monkeypatch: pytest.MonkeyPatch, asked: dict[str, Any], stream: bool) -> None:
    tokens = ScriptedTokens(prompt=(1, 2), answer=(7, 9), logprobs=(-0.5, -1.0))
    with serve(monkeypatch, [call("eval").with_(tokens=tokens), says("é")]):
        first, second = recorded(play_steps(agent(stream=stream, extra_body=asked), 2))
    prompt = {"prompt_token_ids": [1, 2]} if "return_token_ids" in asked else {}
    assert token_ids(first.answer) == {**prompt, "completion_token_ids": [7, 9], "logprobs": [-0.5, -1.0]}
    written = bytes(token_ids(second.answer)["completion_token_ids"]).decode()
    assert json.loads(written)["content"] == "é", "one token for each byte"
