"""Mutated answers: the agent acts, is corrected, or ends with a reason, for every answer of a server."""

from __future__ import annotations

import copy
import json
import random
from collections import Counter
from typing import Any

import pytest

from stackrank.agents.episode.protocol import Briefing, EndpointError, GaveUp, MalformedAction, SetupError
from stackrank.agents.llm import LlmAgent
from stackrank.agents.llm.endpoints.transport import Transport
from stackrank.agents.llm.scripted.answers import (
    ScriptedReply,
    build_completion,
    build_message,
    build_response,
    call,
    calls,
)
from stackrank.agents.llm.scripted.dialects import DIALECTS
from stackrank.env.actions import Observation
from stackrank.env.tools import tool_set

ANSWERS = 10_000
pytestmark = pytest.mark.slow
BRIEFING = Briefing("t", "Mend it.", "pytest", tool_set("debug"), 50)
REPLIES = (
    calls(call("view", path="a.py"), call("eval")).with_(reasoning="Hm.", content="So.", tokens_cached=3),
    ScriptedReply(content="No call.", finish_reason="length", tokens_reasoning=4),
    ScriptedReply(refusal="No."),
)
BODIES = {"chat": build_completion, "responses": build_response, "messages": build_message}
ODD: tuple[Any, ...] = (
    *(None, True, -1, 0, 1e308, 10**400, "", "x", "\ud800", "\0", [], {}, [[]], [None], {"a": None}),
    *({"type": "text"}, {"type": "function_call"}, {"type": "tool_use"}, "{", '"{}"', "null", "[1]", "9" * 5000),
)


def mutated(dice: random.Random, value: Any) -> Any:
    """The same JSON with one place changed."""
    places: list[tuple[Any, Any]] = []

    def walk(part: Any) -> None:
        for key, child in part.items() if isinstance(part, dict) else enumerate(part):
            places.append((part, key))
            if isinstance(child, dict | list):
                walk(child)

    walk(value)
    part, key = dice.choice(places)
    mutation = dice.randrange(4)
    if mutation == 0:
        del part[key]
    elif mutation == 1 and isinstance(part, list):
        part.insert(key, copy.deepcopy(dice.choice([part[key], *ODD])))
    elif mutation == 2 and isinstance(part, dict):
        part[str(dice.choice(ODD))[:20]] = part.pop(key)
    else:
        part[key] = copy.deepcopy(dice.choice(ODD))
    return value


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("api", list(BODIES))
def test_mutated_answers_never_crash_the_agent(monkeypatch: pytest.MonkeyPatch, api: str, stream: bool) -> None:
    dice = random.Random(f"{api} {stream}")
    dialect = DIALECTS[list(BODIES).index(api)]
    kinds: Counter[str] = Counter()

    def body() -> Any:
        answer: Any = BODIES[api](dice.choice(REPLIES), "m", dice.randrange(9))
        if stream:
            answer = [event for _, event in dialect.events(answer) if isinstance(event, dict)]
        for _ in range(dice.randrange(4)):
            answer = mutated(dice, answer) if answer else answer
        return answer

    monkeypatch.setattr(Transport, "ask", lambda *_: json.dumps(body()))
    monkeypatch.setattr(Transport, "stream", lambda *_: body())
    config = {"api": api, "stream": stream, "retry_s": 0, "base_url": "http://127.0.0.1:9", "syntax": "tools"}
    request_count = 0
    while request_count < ANSWERS // 6:
        config["syntax"] = dice.choice(["tools", "text"])
        agent = LlmAgent(model="m", config=config)
        observation = Observation("It fails.")
        agent.begin(BRIEFING, observation)
        for _ in range(6):
            request_count += 1
            try:
                agent.act(observation)
                kinds["acted"] += 1
            except MalformedAction as error:
                kinds["corrected"] += 1
                assert str(error)
            except (EndpointError, GaveUp, SetupError) as error:
                kinds[type(error).__name__] += 1
                assert "\n" not in str(error) and len(str(error)) < 1000
                break
            json.dumps(agent._dialogue._conversation._messages).encode()
    assert kinds["acted"] and kinds["corrected"] and kinds["EndpointError"], kinds
