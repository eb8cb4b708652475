"""The record of requests to a model, and how an interrupted episode continues from it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import pytest

from stackrank.agents.episode.protocol import Briefing, Decision, MalformedAction
from stackrank.agents.episode.step import Exchange, Step, Usage
from stackrank.agents.llm import LlmAgent
from stackrank.env.actions import Observation
from stackrank.env.tools import tool_set
from tests.support.openai_server import Fault, ScriptedReply, call, calls, says

PRICE = {"input": 2.0, "cached_input": 0.5, "output": 8.0}
SCRIPT = [
    call("view", path="a.py").with_(content="Let me look.", tokens_in=301, tokens_out=17),
    calls(call("grep", pattern="x"), ScriptedReply(calls=(("view", "{"),)), call("eval")).with_(
        tokens_cached=64, tokens_in=411
    ),
    says("Now what?").with_(tokens_in=555, tokens_out=7, tokens_reasoning=3),
    call("listdir"),
    call("pdb", command="c").with_(tokens_reasoning=5),
    call("submit"),
]
BRIEFING = Briefing("t", "Mend it.", "pytest", tool_set("debug"), 50, 7, 7)


def answers(number: int) -> Observation:
    return Observation(f"observation {number} " + "x" * 2000)


def play(agent: LlmAgent, steps: int) -> list[Decision | MalformedAction]:
    """Return the decisions; each gets an observation with its number."""
    observation = answers(0)
    agent.begin(BRIEFING, observation)
    decided: list[Decision | MalformedAction] = []
    for number in range(1, steps + 1):
        try:
            decided.append(agent.act(observation))
            observation = answers(number)
        except MalformedAction as error:
            decided.append(error)
            observation = Observation(str(error), False)
    return decided


def stored(decided: Sequence[Decision | MalformedAction]) -> list[Step]:
    """The steps, after their way through the database."""
    past = [Step(0, None, answers(0))]
    for number, decision in enumerate(decided, 1):
        rows = json.loads(json.dumps([asdict(exchange) for exchange in decision.exchanges]))
        exchanges = tuple(Exchange(**{**row, "usage": Usage(**row["usage"])}) for row in rows)
        if isinstance(decision, MalformedAction):
            past.append(Step(number, None, Observation(str(decision), False), exchanges=exchanges))
        else:
            past.append(Step(number, decision.action, answers(number), exchanges=exchanges))
    return past


def shape(decision: Decision | MalformedAction) -> Any:
    content = str(decision) if isinstance(decision, MalformedAction) else (decision.action, decision.thought)
    return content, decision.usage, decision.exchanges


def make(**config: Any) -> LlmAgent:
    return LlmAgent(model="scripted", config={"price": PRICE, "retry_s": 60.0, "temperature": 0.5, **config})


@pytest.mark.parametrize("cut_off", range(1, 8))
@pytest.mark.parametrize("api", ["chat", "responses"])
def test_a_conversation_continues_after_an_interruption(serve: Any, cut_off: int, api: str) -> None:
    """Only new requests are sent, and they equal those of an uninterrupted episode."""
    undisturbed = serve(SCRIPT)
    uninterrupted = play(make(api=api), 8)

    past = stored(uninterrupted[:cut_off])
    asked_before = sum(len(step.exchanges) for step in past)
    server = serve(SCRIPT, skip=asked_before)
    agent = make(api=api)
    agent.recall(past)
    resumed = play(agent, 8)

    assert [shape(decision)[0] for decision in resumed] == [shape(decision)[0] for decision in uninterrupted]
    assert [shape(decision) for decision in resumed[:cut_off]] == [
        shape(decision) for decision in uninterrupted[:cut_off]
    ]
    assert server.asked == undisturbed.asked - asked_before
    assert server.requests == undisturbed.requests[asked_before:]


def test_a_cut_history_is_cut_equally_after_an_interruption(serve: Any) -> None:
    """Also if the endpoint reported that the conversation was too long."""
    too_long = Fault.status(400, "This model's maximum context length is 10 tokens", code="context_length_exceeded")
    views = [call("view", path=f"{number}.py") for number in range(20)]
    undisturbed = serve([*views[:7], too_long, *views[7:]])
    uninterrupted = play(make(context_tokens=8000), 20)
    cut = [
        exchange
        for decision in uninterrupted
        for exchange in decision.exchanges
        if "history_cut_to_tokens" in exchange.request
    ]
    assert len(cut) == 2
    assert all(exchange.request["messages"][0]["role"] == "system" for exchange in cut)

    server = serve([*views[:7], too_long, *views[7:]], skip=20)
    agent = make(context_tokens=8000)
    agent.recall(stored(uninterrupted[:19]))
    resumed = play(agent, 20)
    assert server.asked == 1
    assert server.requests == undisturbed.requests[-1:]
    assert [shape(decision)[0] for decision in resumed] == [shape(decision)[0] for decision in uninterrupted]


@pytest.mark.parametrize("syntax", ["tools", "text"])
def test_exchanges_hold_what_went_over_the_wire(serve: Any, syntax: str) -> None:
    """Put together, they are the requests; no key or header is in them."""
    replies = [says(f"So:\n```action\nview {number}.py\n```\nIt will show") for number in range(3)]
    server = serve(replies if syntax == "text" else SCRIPT)
    decided = play(make(syntax=syntax), 3)
    exchanges = [exchange for decision in decided for exchange in decision.exchanges]
    assert len(exchanges) == server.asked
    messages: list[Any] = []
    tools: list[Any] = []
    for exchange, request in zip(exchanges, server.requests, strict=True):
        messages += exchange.request["messages"]
        tools = exchange.request.get("tools", tools)
        assert messages == request["messages"] and tools == request.get("tools", [])
        assert exchange.request["temperature"] == 0.5 and exchange.request["seed"] == 7
        assert exchange.model == "scripted" and exchange.answer["object"] == "chat.completion"
    assert ("tools" in exchanges[0].request) == (syntax == "tools")
    assert "tools" not in exchanges[1].request
    assert "planted" not in repr(exchanges) and "uthorization" not in repr(exchanges)


def test_what_an_exchange_cost(serve: Any) -> None:
    serve(SCRIPT)
    decided = play(make(), 8)
    assert [len(decision.exchanges) for decision in decided] == [1, 1, 0, 0, 1, 1, 1, 1]
    for decision in decided:
        assert decision.usage == sum((exchange.usage for exchange in decision.exchanges), Usage())
    first, second, third = (decided[number].usage for number in (0, 1, 4))
    assert (first.tokens_in, first.tokens_out, first.tokens_reasoning) == (301, 17, 0)
    assert (second.tokens_in, second.tokens_cached) == (411, 64)
    assert (third.tokens_in, third.tokens_out, third.tokens_reasoning) == (555, 7, 3)
    assert third.cost_usd == (555 * 2 + 7 * 8) / 1e6


def test_sums_of_costs_are_exact() -> None:
    total = sum((Usage(cost_usd=0.1) for _ in range(30)), Usage())
    assert total.cost_usd == 3.0
    assert (total + Usage(cost_usd=None)).cost_usd is None
