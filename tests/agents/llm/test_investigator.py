"""The investigator: a second model with the debugger and its own budget and conversation."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any

import pytest

from stackrank.agents.episode.loop import Budget, Outcome, play
from stackrank.agents.episode.protocol import EndpointError, SetupError
from stackrank.agents.episode.step import Step
from stackrank.agents.llm import LlmAgent
from stackrank.agents.registry import find_agent
from stackrank.agents.replay import Replay
from stackrank.env.actions import Action, Observation
from stackrank.env.debug_env import DebugEnv
from stackrank.env.sandbox.client import Sandbox
from stackrank.env.tools import tool_set
from stackrank.env.tools.debugging.pdb import Pdb
from stackrank.flows.runs.preparing.entrants import make_entrant
from stackrank.flows.runs.specification.spec import EntrantSpec
from stackrank.terms import Milestone, StopReason
from tests.fixtures.agents import CART, FakeEnv, play_fake, play_real
from tests.fixtures.env import cart, usable
from tests.support.openai_server import Entry, Fault, ScriptedReply, call, calls, says

LARGE, SMALL = {"input": 10.0, "output": 20.0}, {"input": 1.0, "output": 2.0}
ASK = call("investigate", question="Why is total 5?")
LOOK = call("pdb", command="b cart.py:5\nc\np result")
TELL = call("answer", text="total() returns result - 1 at cart.py:5; result is 6 there.")
FIX = call("rewrite", path="cart.py", new_code="    return result", start=5)
SUBMIT = call("submit")


def make(model: str = "small", price: Any = SMALL, **limits: Any) -> LlmAgent:
    config = {"price": price, "retry_s": 0.0}
    investigator = {"model": model, "config": config if model else {}, **limits}
    return LlmAgent(model="large", config={"price": LARGE, "retry_s": 0.0, "investigator": investigator})


def scripted(serve: Any, large: Iterable[Entry], small: Iterable[Entry], **options: Any) -> Any:
    """An endpoint with a script for each of the two models; the last entry is repeated."""
    scripts = {"small": iter(small), "large": iter(large)}
    last: dict[str, Entry] = {}

    def answer(request: dict[str, Any]) -> Entry:
        model = request["model"]
        last[model] = next(scripts[model], last.get(model, says("")))
        return last[model]

    return serve(answer, **options)


def play_quickly(agent: LlmAgent, budget: Budget | None = None, **options: Any) -> tuple[Outcome, list[Step]]:
    """Play without tools: an answer's observation is its text, and `submit` ends the episode."""

    def answer(action: Action) -> Observation:
        text = str(action.arguments.get("text", f"did {action.tool} {action.arguments}"))
        return Observation(text, state={"over": "submitted"} if action.tool == "submit" else {})  # type: ignore[arg-type]

    env = FakeEnv(CART, answer)
    env.tools = tool_set("investigate")
    return play_fake(env, agent, budget, **options)


def tools_of(steps: Iterable[Step]) -> list[str]:
    return [step.action.tool if step.action else "" for step in steps][1:]


def asked(server: Any, model: str) -> list[dict[str, Any]]:
    return [request for request in server.requests if request["model"] == model]


def test_a_question_is_answered_with_the_debugger(serve: Any) -> None:
    server = scripted(
        serve,
        [ASK.with_(tokens_in=1001), FIX.with_(tokens_in=2003), SUBMIT],
        [LOOK.with_(tokens_in=307, tokens_reasoning=5), TELL.with_(tokens_in=401)],
    )
    outcome, steps = play_real(CART, make(), tools="investigate")
    assert outcome.score is not None and outcome.score.resolved
    assert tools_of(steps) == ["investigate", "pdb", "answer", "rewrite", "submit"]
    assert "b cart.py:5" in str(steps[2].action) and steps[2].observation.state["kind"] == "debugger"
    # The answer is what the model that asked sees, as the result of its call.
    result = asked(server, "large")[1]["messages"][-1]
    assert result["role"] == "tool" and result["content"] == steps[3].observation.text
    assert result["content"].startswith("total() returns result - 1 at cart.py:5")
    # Neither sees what the other one said; both have the tools that are theirs.
    first = asked(server, "small")[0]
    assert "Why is total 5?" in first["messages"][1]["content"] and cart().statement in first["messages"][1]["content"]
    names = {
        model: {tool["function"]["name"] for tool in asked(server, model)[0]["tools"]} for model in ("large", "small")
    }
    assert names["small"] == {"view", "listdir", "grep", "eval", "pdb", "answer"}
    assert names["large"] == {"view", "listdir", "grep", "eval", "investigate", "rewrite", "submit"}
    # Booked by model, to the last digit; the steps count like any other.
    large, small = outcome.by_model["large"], outcome.by_model["small"]
    assert (small.tokens_in, small.tokens_reasoning, large.tokens_in) == (708, 5, 3104)
    assert small.cost_usd == (708 + 20 * 2) / 1e6 and outcome.usage == large + small and outcome.steps == 5
    assert {exchange.conversation for step in steps for exchange in step.exchanges} == {"", "investigator 1"}
    # What it showed is credited to the steps that showed it, and what it says to none.
    assert outcome.diagnosis.milestones == {Milestone.REPRODUCED: 2}


def test_claims_of_an_investigation_are_not_evidence(serve: Any) -> None:
    scripted(serve, [ASK, SUBMIT], [TELL])
    outcome, _ = play_real(CART, make(), tools="investigate")
    assert outcome.diagnosis.milestones == {}


def test_by_default_it_has_the_entrants_own_model(serve: Any) -> None:
    served = iter([ASK, LOOK, TELL, ASK, TELL, FIX, SUBMIT])
    server = serve(lambda _: next(served))
    outcome, steps = play_quickly(LlmAgent(model="one", config={"price": LARGE}))
    assert set(outcome.by_model) == {"one"}
    assert len(server.requests[4]["messages"]) == 2, "each investigation is a conversation of its own"
    assert [exchange.conversation for step in steps for exchange in step.exchanges][1:5] == [
        *["investigator 1"] * 2, "", "investigator 2",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("limits", "reply", "reason"),
    [
        ({"steps": 2}, LOOK, "the steps are used up"),
        ({"tokens": 210}, LOOK, "the tokens are used up"),
        ({"cost_usd": 0.0002}, LOOK, "the cost limit is reached"),
        ({}, says("Hm."), "3 answers in a row contained no valid action"),
        ({}, call("answer", text=" "), "3 answers in a row contained no valid action"),
        ({}, call("answer", text="x" * 4000), "3 answers in a row contained no valid action"),
        ({}, call("rewrite", path="cart.py", new_code=""), "3 answers in a row contained no valid action"),
    ],
)
def test_a_budget_that_is_spent(serve: Any, limits: Any, reply: ScriptedReply, reason: str) -> None:
    """It is informed, asked once more, and then the entrant continues without an answer."""
    server = scripted(serve, [ASK, FIX, SUBMIT], [reply.with_(content="So far: result is 6.")])
    outcome, steps = play_quickly(make(**limits))
    assert outcome.stop_reason is StopReason.SUBMITTED
    (answer,) = [step for step in steps if step.action and step.action.tool == "answer"]
    assert answer.observation.text.startswith(f"[the investigator gave no answer: {reason}]")
    assert "So far: result is 6." in answer.observation.text
    assert answer.observation.text == asked(server, "large")[1]["messages"][-1]["content"]
    if limits:
        assert reason in asked(server, "small")[-1]["messages"][-1]["content"] and len(asked(server, "small")) <= 4
    assert outcome.usage.tokens_in == 100 * server.asked


def test_repeated_steps_end_only_the_investigation(serve: Any) -> None:
    server = scripted(serve, [ASK, FIX, SUBMIT], [LOOK.with_(content="So far: result is 6.")])
    outcome, steps = play_quickly(make(steps=20))
    assert outcome.stop_reason is StopReason.SUBMITTED
    assert tools_of(steps) == ["investigate", *["pdb"] * 7, "answer", "rewrite", "submit"]
    text = steps[9].observation.text
    assert "it repeated the same step 7 times in a row" in text and "So far: result is 6." in text
    assert len(asked(server, "small")) == 7


def test_calls_that_a_spent_budget_leaves_are_answered(serve: Any) -> None:
    """Endpoints refuse a conversation in which a call has no result."""
    server = scripted(serve, [ASK, FIX, SUBMIT], [calls(call("listdir"), LOOK, LOOK), TELL])
    _, steps = play_quickly(make(steps=1))
    assert tools_of(steps) == ["investigate", "listdir", "answer", "rewrite", "submit"]
    results = [message for message in asked(server, "small")[1]["messages"] if message["role"] == "tool"]
    assert len(results) == 3 and results[1]["content"] == results[2]["content"] == "Not carried out."


def test_an_investigation_leaves_half_of_the_steps(serve: Any) -> None:
    server = scripted(serve, [ASK, FIX, SUBMIT], [LOOK])
    _, steps = play_quickly(make(steps=100), budget=Budget(steps=10, repeats=None))
    assert tools_of(steps) == ["investigate", *["pdb"] * 4, "answer", "rewrite", "submit"]
    assert "You have 4 steps" in asked(server, "small")[0]["messages"][0]["content"]


def test_the_episodes_limits_hold(serve: Any) -> None:
    scripted(serve, [ASK], [LOOK])
    outcome, _ = play_quickly(make(), budget=Budget(tokens=250))
    assert outcome.stop_reason is StopReason.TOKEN_LIMIT and outcome.usage.tokens_in == 300


def test_an_endpoint_that_fails_is_no_failure_of_the_entrant(serve: Any) -> None:
    scripted(serve, [ASK], [Fault.status(500)])
    with pytest.raises(EndpointError):
        play_quickly(make())


def test_a_refusal_becomes_the_answer_of_the_investigation(serve: Any) -> None:
    refused = Fault.status(400, "flagged", code="content_policy_violation")
    server = scripted(serve, [ASK, SUBMIT], [LOOK, refused])
    outcome, steps = play_quickly(make())
    assert outcome.stop_reason is StopReason.SUBMITTED
    assert "refused the conversation" in steps[3].observation.text
    assert steps[3].observation.text == asked(server, "large")[1]["messages"][-1]["content"]


def test_a_text_model_investigates(serve: Any) -> None:
    local = serve([says("```action\npdb\nb cart.py:5\nc\n```"), says("```action\nanswer\nIt subtracts one.\n```")])
    remote = serve([ASK, FIX, SUBMIT])
    investigator = {"model": "small", "config": {"base_url": local.url, "syntax": "text"}}
    outcome, steps = play_quickly(LlmAgent(model="large", config={"investigator": investigator}))
    assert (local.asked, remote.asked) == (2, 3)
    assert steps[3].observation.text == "It subtracts one."
    assert outcome.by_model["small"].cost_usd is None  # the entrant's price is not its


def told_by(step: Step) -> str:
    """A step's action and observation, without the endpoint's port."""
    return re.sub(r"127\.0\.0\.1:\d+", "", f"{step.action} {step.observation.text}")


def cut(serve: Any, past: list[Step], large: list[Entry], small: list[Entry]) -> tuple[Outcome, list[Step], Any]:
    """Continue an episode after its first steps, with the rest of two scripts."""
    server = scripted(serve, large, small)
    outcome, recorded = play_quickly(make(steps=3), past=past)
    return outcome, recorded, server


def test_an_investigation_continues_after_any_interruption(serve: Any) -> None:
    """Also within an investigation, and after one that a refusal ended; no request is sent twice."""
    large: list[Entry] = [ASK, ASK, calls(ASK, FIX), SUBMIT]
    refused = Fault.status(400, "flagged", code="content_policy_violation")
    small: list[Entry] = [calls(LOOK, call("view", path="cart.py")), TELL, LOOK, refused, says("Hm."), LOOK, LOOK, LOOK]
    uninterrupted = scripted(serve, large, small)
    outcome, steps = play_quickly(make(steps=3))
    assert tools_of(steps) == [
        *("investigate", "pdb", "view", "answer"), *("investigate", "pdb", "answer"),
        *("investigate", "", "pdb", "pdb", "answer", "rewrite", "submit"),
    ]  # fmt: skip
    for at in range(2, len(steps)):
        past = steps[:at]
        answer_counts = {
            model: sum(exchange.model == model for step in past for exchange in step.exchanges)
            for model in ("large", "small")
        }
        refusals = at > 7
        resumed, new_steps, server = cut(
            serve, past, large[answer_counts["large"] :], small[answer_counts["small"] + refusals :]
        )
        assert server.asked == uninterrupted.asked - sum(answer_counts.values()) - refusals
        assert list(map(told_by, new_steps)) == list(map(told_by, steps[at:])), at
        assert (resumed.usage.tokens_in, resumed.usage.cost_usd) == (outcome.usage.tokens_in, outcome.usage.cost_usd)


def test_replays(serve: Any) -> None:
    scripted(serve, [ASK, ASK, FIX, SUBMIT], [LOOK, says("Hm."), TELL])
    _, steps = play_real(CART, make(), tools="investigate")
    kind = usable("bubblewrap")
    replayed: list[Step] = []
    with DebugEnv(CART, tool_set("investigate"), lambda spec: Sandbox(kind, spec)) as env:
        play(
            env, Replay(config={"episode": 1}), budget=Budget(), record=replayed.append, find_recording=lambda _: steps
        )
    assert [(step.action, step.observation.text) for step in replayed[1:]] == [
        (step.action, step.observation.text) for step in steps[1:]
    ]


@pytest.fixture
def digest(serve: Any) -> Callable[..., str]:
    serve([says("")])

    def of(**investigator: Any) -> str:
        config = {"investigator": investigator} if investigator else {}
        return make_entrant(EntrantSpec(agent="llm", model="large", config=config)).digest

    return of


def test_the_investigator_is_part_of_the_entrants_identity(
    digest: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    default_digest = digest()
    assert len({default_digest, digest(model="small"), digest(model="other"), digest(steps=3)}) == 4
    assert digest(config={"request_timeout_s": 9}) == digest(config={"request_timeout_s": 10})
    assert digest(config={"temperature": 1}) != digest(config={"temperature": 0})
    monkeypatch.setattr(Pdb, "version", "99")
    assert digest() != default_digest, "its tools are part of it too"


def test_errors_in_the_investigators_settings(serve: Any) -> None:
    serve([says("")])
    for investigator, message in (
        ({"modle": "x"}, "modle"),
        ({"steps": 0}, "investigator.steps"),
        ({"config": {"temperatur": 1}}, "temperatur"),
        ({"config": {"prompts": {"investigator": "x"}}}, "prompts.investigator"),
    ):
        with pytest.raises(SetupError, match=message):
            find_agent("llm").configure(model="large", config={"investigator": investigator})
    overrides = {"prompts": {"investigator": "Answer {{ question }}"}, "investigator": {"model": "small"}}
    setup = find_agent("llm").configure(model="large", config={"price": LARGE, **overrides})
    assert setup.unpriced == ("small",) and len(setup.endpoints) == 2
