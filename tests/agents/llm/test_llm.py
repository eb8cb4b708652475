"""The llm agent against a scripted endpoint; where it acts, in a real sandbox."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest

from stackrank.agents.episode.loop import Budget
from stackrank.agents.episode.protocol import (
    Briefing,
    MalformedAction,
    SetupError,
)
from stackrank.agents.llm import LlmAgent
from stackrank.env.actions import Observation
from stackrank.env.tools import tool_set
from stackrank.terms import StopReason
from tests.agents.episode_setup import make, started
from tests.fixtures.agents import CART, FakeEnv, play_fake, play_real
from tests.fixtures.env import cart
from tests.support.openai_server import ScriptedReply, call, calls, says

# ---- what is no action


def test_malformed_is_corrected_in_place(serve: Any) -> None:
    """Every kind of malformed answer costs its tokens, is corrected precisely, and stays in the conversation."""
    server = serve(
        [
            ScriptedReply(calls=(("view", '{"path": "cart.py"'),)),
            ScriptedReply(calls=(("rewind", "{}"),)),
            ScriptedReply(calls=(("view", "[1]"),)),
            says("I think the bug is in cart.py."),
            says("Well", finish_reason="length"),
            ScriptedReply(),
            ScriptedReply(refusal="I can not help with that."),
            ScriptedReply(calls=(("", ""),)),
            call("eval"),
        ]
    )
    agent, observation = started(), Observation("1 failed")
    corrections = []
    for _ in range(8):
        with pytest.raises(MalformedAction) as caught:
            agent.act(observation)
        corrections.append(str(caught.value))
        assert (caught.value.usage.tokens_in, caught.value.usage.tokens_out) == (100, 10)
        assert caught.value.usage.cost_usd == 100 * 2e-6 + 10 * 8e-6
        observation = Observation(str(caught.value))
    assert agent.act(observation).action.tool == "eval"
    hints = ["not valid JSON", "no tool 'rewind'", "JSON object", "calls no tool", "cut off", "calls no tool"]
    for hint, correction in zip([*hints, "calls no tool", "no tool ''"], corrections, strict=True):
        assert hint in correction and len(correction) < 400
    messages = server.requests[-1]["messages"]
    assert [m["role"] for m in messages[2:]] == ["assistant", "tool"] * 3 + ["assistant", "user"] * 4 + [
        "assistant",
        "tool",
    ]
    assert [m["content"] for m in messages[3::2]] == corrections
    for message in messages:  # servers refuse a history that is not valid JSON
        for tool_call in message.get("tool_calls", []):
            json.loads(tool_call["function"]["arguments"])
            assert tool_call["function"]["name"]


def test_endless_garbage_ends_as_malformed(serve: Any) -> None:
    server = serve([says("??????")])
    outcome, steps = play_fake(FakeEnv(cart()), make())
    assert outcome.stop_reason is StopReason.MALFORMED_ACTIONS
    assert outcome.diagnosis.failure_point == "malformed_actions"
    assert server.asked == 5 == len(steps) - 1


def test_several_calls_one_of_them_wrong(serve: Any) -> None:
    """Calls of one answer are carried out in order; a wrong one does not prevent the others."""
    bad = ScriptedReply(calls=(("view", "{"),))
    server = serve([calls(call("view", path="cart.py"), bad, call("eval")), call("submit")])
    outcome, steps = play_real(CART, make())
    assert [step.action.tool if step.action else "" for step in steps[1:]] == ["view", "", "eval", "submit"]
    assert server.asked == 2
    results = [m for m in server.requests[1]["messages"] if m["role"] == "tool"]
    assert [m["tool_call_id"] for m in results] == ["call_1_0", "call_1_1", "call_1_2"]
    assert "def total" in results[0]["content"]
    assert "not valid JSON" in results[1]["content"]
    assert "1 failed" in results[2]["content"] or "2 failed" in results[2]["content"]
    # The answer is paid for once.
    assert [step.usage.tokens_in for step in steps] == [0, 100, 0, 0, 100]
    assert outcome.stop_reason is StopReason.SUBMITTED


def test_the_steps_left_are_told_from_the_middle_on(serve: Any) -> None:
    server = serve([call("view", path="cart.py")])
    outcome, _ = play_fake(FakeEnv(cart()), make(), Budget(steps=4, repeats=None))
    assert outcome.stop_reason is StopReason.STEP_LIMIT
    results = [message["content"] for message in server.requests[-1]["messages"] if message["role"] == "tool"]
    assert [text.rpartition("\n")[2] for text in results[1:]] == ["[steps left: 2]", "[steps left: 1]"]
    assert "steps left" not in results[0]


# ---- a whole episode


def test_debugs_with_pdb_and_resolves(serve: Any) -> None:
    server = serve(
        [
            call("view", path="cart.py").with_(content="Let me look.", tokens_in=1201, tokens_out=17),
            call("pdb", command="b cart.py:5\nc\np result").with_(tokens_in=1502, tokens_cached=1201, tokens_out=23),
            calls(
                call("pdb", command="p result - 1"),
                call("rewrite", path="cart.py", new_code="    return result", start=5),
            ).with_(tokens_in=1807, tokens_cached=1502, tokens_out=61, tokens_reasoning=40),
            call("submit").with_(tokens_in=2111, tokens_cached=1807, tokens_out=5),
        ]
    )
    agent = make(temperature=0.2, max_tokens=500, reasoning_effort="low", extra_body={"top_k": 5})
    outcome, steps = play_real(CART, agent, seed=6, attempt=2)
    assert outcome.score is not None and outcome.score.resolved
    assert outcome.stop_reason is StopReason.SUBMITTED
    assert [step.action.tool for step in steps if step.action] == ["view", "pdb", "pdb", "rewrite", "submit"]
    assert steps[1].thought == "Let me look."
    assert steps[3].observation.ok and "5" in steps[3].observation.text
    # What it cost, to the last digit.
    assert outcome.usage.tokens_in == 1201 + 1502 + 1807 + 2111
    assert outcome.usage.tokens_out == 17 + 23 + 61 + 5
    assert outcome.usage.tokens_cached == 1201 + 1502 + 1807
    fresh = outcome.usage.tokens_in - outcome.usage.tokens_cached
    exact = (fresh * 2.0 + outcome.usage.tokens_cached * 0.5 + outcome.usage.tokens_out * 8.0) / 1e6
    assert outcome.usage.cost_usd is not None and math.isclose(outcome.usage.cost_usd, exact, rel_tol=1e-12)
    # What was asked.
    first, last = server.requests[0], server.requests[-1]
    assert (first["model"], first["temperature"], first["seed"], first["top_k"]) == ("scripted", 0.2, 7, 5)
    assert (first["max_tokens"], first["reasoning_effort"]) == (500, "low")
    assert {tool["function"]["name"] for tool in first["tools"]} == set(tool_set("debug").tools)
    assert "debugger" in first["messages"][0]["content"] and "2 failed" in first["messages"][1]["content"]
    assert last["messages"][: len(first["messages"])] == first["messages"]  # the cache of the beginning holds
    assert server.headers[0]["authorization"] == "Bearer sk-test-planted-key-1234"


def test_the_prompt_knows_the_tool_set(serve: Any) -> None:
    server = serve([call("eval")])
    started("rewrite").act(Observation(""))
    started("debug5").act(Observation(""))
    started(prompts={"system": "Steps: {{ max_steps }}", "task": "T: {{ observation }}"}).act(Observation(""))
    without, later, custom = (request["messages"] for request in server.requests)
    assert "debugger" not in without[0]["content"]
    assert "pdb: becomes available after 5 successful rewrites" in later[0]["content"]
    assert [message["content"] for message in custom] == ["Steps: 50", "T: 1 failed"]


def test_every_interface_to_a_running_program_is_recommended_alike(serve: Any) -> None:
    server = serve([call("eval")])
    for tools in ("debug", "trace", "calls", "snapshot", "investigate"):
        started(tools).act(Observation(""))
    for request, advice in zip(
        server.requests,
        ("the debugger", "with `trace`", "with `calls`", "with `snapshot`", "`investigate`"),
        strict=True,
    ):
        assert (
            advice in request["messages"][0]["content"]
            and "Where reading does not decide" in request["messages"][0]["content"]
        )
        for tool in request["tools"]:
            assert "null" not in str(tool) and "anyOf" not in str(tool), (
                "an argument is left out, and not given as null"
            )


@pytest.mark.parametrize("ends", [True, False])
def test_the_prompt_says_what_a_green_eval_means(serve: Any, ends: bool) -> None:
    server = serve([call("eval")])
    agent = make()
    briefing = Briefing("t", "Mend it.", "pytest", tool_set("rewrite"), 50, ends_when_solved=ends)
    agent.begin(briefing, Observation("1 failed"))
    agent.act(Observation(""))
    (request,) = server.requests
    prompt = request["messages"][0]["content"]
    assert ("that passes ends the episode" in prompt) is ends and ("then `submit`" in prompt) is not ends


def test_templates_may_calculate_and_their_errors_are_reported(serve: Any) -> None:
    serve([call("eval")])
    started(prompts={"system": "{{ max_steps // 2 }} {{ tools[0].name }}"})
    for wrong in ("{{ max_steps / 0 }}", "{{ max_steps + statement }}", "{{ nonsense }}", "{% for %}"):
        with pytest.raises(SetupError, match="the template of the system prompt is wrong"):
            started(prompts={"system": wrong})


def test_tokens_of_a_model_count_and_unknown_prices_stay_unknown(serve: Any) -> None:
    server = serve([call("listdir"), call("view", path="cart.py"), call("grep", pattern="total")])
    outcome, steps = play_fake(FakeEnv(cart()), make(), Budget(tokens=220))
    assert outcome.stop_reason is StopReason.TOKEN_LIMIT
    assert len(steps) == 3 and outcome.usage.tokens_in + outcome.usage.tokens_out == 220
    # A model that is not told its limit cannot plan for it.
    assert "You have 220 tokens for all requests" in server.requests[0]["messages"][0]["content"]
    assert server.requests[1]["messages"][-1]["content"].endswith("\n[tokens left: 110]")
    unknown = LlmAgent(model="nobody-knows", config={})
    outcome, _ = play_fake(FakeEnv(cart()), unknown, Budget(steps=2))
    assert outcome.usage.cost_usd is None
