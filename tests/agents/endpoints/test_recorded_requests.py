"""What an export says was sent, against the bodies that the server received: byte for byte, in every API."""

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
from tests.agents.llm.test_llm_recall import stored
from tests.agents.llm.test_verbatim import APIS, SCRIPT, agent, go_on, serve
from tests.support.openai_server import Fault, OpenAIServer, says

TOO_LONG = Fault.status(400, "This model's maximum context length is 100 tokens", code="context_length_exceeded")


def rows(steps: Sequence[Step]) -> list[dict[str, Any]]:
    return [{"index": step.index, "exchanges": [asdict(each) for each in step.exchanges]} for step in steps]


def recorded(decided: Sequence[Decision | MalformedAction]) -> list[RecordedRequest]:
    return list(recorded_requests(rows(stored(decided))))


def received(server: OpenAIServer, faults: Sequence[int] = ()) -> list[str]:
    """The bodies that were answered, as text; keys in the order they came in."""
    bodies = [dict(each) for number, each in enumerate(server.requests) if number not in faults]
    for body in bodies:
        body.pop("stream", None)
        body.pop("stream_options", None)
    return [json.dumps(body) for body in bodies]


def sent(asked: Sequence[RecordedRequest]) -> list[str]:
    return [json.dumps(each.body) for each in asked]


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
    said = "```action\nview a.py\n```"
    texts = [says(f"{said}\nok: true", reasoning="Hm."), says("No action."), says(said)]
    with serve(monkeypatch, texts if config.get("syntax") else SCRIPT) as server:
        asked = recorded(go_on(agent(api=api, **config), 12))
        assert sent(asked) == received(server) and len(asked) > 10
    assert {each.api for each in asked} == {api} and not any(each.cut for each in asked)


@pytest.mark.parametrize("api", APIS)
def test_a_history_that_was_cut(monkeypatch: pytest.MonkeyPatch, api: str) -> None:
    with serve(monkeypatch, SCRIPT) as server:
        asked = recorded(go_on(agent(api=api, context_tokens=6000), 24))
        assert sent(asked) == received(server)
    assert sum(each.cut for each in asked) >= 2


@pytest.mark.parametrize("cut_off", [1, 3, 8, 9, 12])
@pytest.mark.parametrize("api", APIS)
def test_cut_twice_and_gone_on_with(monkeypatch: pytest.MonkeyPatch, api: str, cut_off: int) -> None:
    """The estimate cuts, the endpoint refuses even that, and then the episode is resumed."""
    script = [*SCRIPT[:9], TOO_LONG, *SCRIPT[9:]]
    config = {"api": api, "context_tokens": 3000}
    with serve(monkeypatch, script) as server:
        past = stored(go_on(agent(**config), cut_off))
        again = agent(**config)
        again.recall(past)
        asked = recorded(go_on(again, 16))
        assert server.asked == len(asked) + 1
        assert sent(asked) == received(server, faults=[9])


@pytest.mark.parametrize("api", APIS)
def test_the_answer_is_how_the_next_question_goes_on(monkeypatch: pytest.MonkeyPatch, api: str) -> None:
    with serve(monkeypatch, SCRIPT):
        asked = recorded(go_on(agent(api=api), 12))
    for before, after in pairwise(asked):
        begun = [*before.messages, *before.answered()]
        assert json.dumps(after.messages[: len(begun)]) == json.dumps(begun)


def test_what_others_recorded_is_left_out() -> None:
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
    named = {"content": [{"token": "a", "logprob": -0.5}]}
    answer = {"prompt_token_ids": [1], "choices": [{"logprobs": named, "token_ids": [3]}]}
    assert token_ids(answer) == {"prompt_token_ids": [1], "completion_token_ids": [3], "logprobs": [-0.5]}
    assert token_ids({"choices": [{"logprobs": named}]}) == {"logprobs": [-0.5]}
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
    lines = [{"prompt_token_ids": [9, 9], "choices": []}, *({"choices": [each]} for each in pieces)]
    events = "".join(f"data: {json.dumps(each)}\n\n" for each in lines) + "data: [DONE]\n\n"
    with serve(monkeypatch, [Fault(200, events.encode(), {"Content-Type": "text/event-stream"})]):
        (asked,) = recorded(go_on(agent(stream=True), 1))
    ids = {"prompt_token_ids": [9, 9], "completion_token_ids": [1, 2, 3, 4], "logprobs": [-1.0, -2.0]}
    assert token_ids(asked.answer) == ids
