"""The seeker: two models, one brief."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

from stackrank.agents.episode.loop import Budget
from stackrank.agents.episode.protocol import Briefing, SetupError
from stackrank.agents.episode.step import Step
from stackrank.agents.llm.seeker import Seeker
from stackrank.env.actions import Observation
from stackrank.env.tools import tool_set
from stackrank.terms import StopReason
from tests.fixtures.agents import CART, FakeEnv, play_fake, play_real
from tests.fixtures.env import cart
from tests.support.openai_server import Entry, ScriptedReply, call, calls, says

SMALL = {"input": 1.0, "output": 2.0}
LARGE = {"input": 10.0, "output": 20.0}


def make(**config: Any) -> Seeker:
    settings = {"seeker_model": "small", "seeker": {"price": SMALL}, "price": LARGE, "retry_s": 60.0, **config}
    return Seeker(model="large", config=settings)


def scripted(serve: Any, small: list[Entry], large: list[Entry]) -> Any:
    """An endpoint with a script for each of the two models; the last entry is repeated."""
    scripts = {"small": iter(small), "large": iter(large)}
    last: dict[str, Entry] = {}

    def answer(request: dict[str, Any]) -> Entry:
        model = request["model"]
        last[model] = next(scripts[model], last.get(model, says("")))
        return last[model]

    return serve(answer)


BRIEF = call("brief", files="cart.py", text="total() subtracts one at line 5; it has to return result.")
FIX = call("rewrite", path="cart.py", new_code="    return result", start=5)


def test_seeks_with_pdb_writes_a_brief_and_the_coder_resolves(serve: Any) -> None:
    looks = calls(call("view", path="cart.py"), call("pdb", command="b cart.py:5\nc\np result"))
    server = scripted(
        serve,
        [
            looks.with_(tokens_in=1001, tokens_out=31),
            BRIEF.with_(tokens_in=2003, tokens_out=57, tokens_reasoning=20),
        ],
        [FIX.with_(tokens_in=701, tokens_out=41), call("submit").with_(tokens_in=803, tokens_out=3)],
    )
    outcome, steps = play_real(CART, make())
    assert outcome.score is not None and outcome.score.resolved
    assert outcome.stop_reason is StopReason.SUBMITTED
    # The brief is no step; showing the coder the file is.
    assert [step.action.tool if step.action else "" for step in steps[1:]] == [
        "view",
        "pdb",
        "view",
        "rewrite",
        "submit",
    ]
    assert steps[3].thought.startswith("total() subtracts")
    # Booked by model, to the last digit.
    assert set(outcome.by_model) == {"small", "large"}
    small, large = outcome.by_model["small"], outcome.by_model["large"]
    assert (small.tokens_in, small.tokens_out, small.tokens_reasoning) == (3004, 88, 20)
    assert (large.tokens_in, large.tokens_out) == (1504, 44)
    assert small.cost_usd == (3004 * 1 + 88 * 2) / 1e6 and large.cost_usd == (1504 * 10 + 44 * 20) / 1e6
    assert outcome.usage == small + large
    # What each of them knows.
    requests_by_model = {
        name: [request for request in server.requests if request["model"] == name] for name in ("small", "large")
    }
    tools = {
        name: {tool["function"]["name"] for tool in requests[0]["tools"]}
        for name, requests in requests_by_model.items()
    }
    assert tools == {
        "small": {"eval", "view", "listdir", "grep", "pdb", "brief"},
        "large": {"rewrite", "eval", "submit", "ask"},
    }
    prompt = requests_by_model["large"][0]["messages"][1]["content"]
    assert cart().statement.strip() in prompt and "total() subtracts one at line 5" in prompt
    assert "def total" in prompt and "2 failed" not in prompt and "(Pdb)" not in prompt


def test_the_coder_asks_again_once(serve: Any) -> None:
    """Both models continue their own conversations; there is no brief for a second question."""
    ask = call("ask", question="What is in result?")
    server = scripted(
        serve,
        [BRIEF, call("pdb", command="b cart.py:5\nc\np result"), call("brief", files="cart.py:1-3", text="It is 5.")],
        [ask, ask, FIX, call("submit")],
    )
    outcome, steps = play_real(CART, make(briefs=2))
    assert outcome.score is not None and outcome.score.resolved
    played = [step.action.tool if step.action else "" for step in steps[1:]]
    assert played == ["view", "pdb", "view", "", "rewrite", "submit"]
    assert "No more briefs" in steps[4].observation.text
    assert [len(step.exchanges) for step in steps] == [0, 1, 2, 1, 2 - 1, 1, 1]
    small = [request for request in server.requests if request["model"] == "small"]
    assert "What is in result?" in small[1]["messages"][-1]["content"]
    large = [request for request in server.requests if request["model"] == "large"]
    answer = large[1]["messages"][-1]
    assert answer["role"] == "tool" and "It is 5." in answer["content"] and "lines 1 to 3" in answer["content"]
    for requests in (small, large):
        for earlier, later in pairwise(requests):
            assert later["messages"][: len(earlier["messages"])] == earlier["messages"]


def test_with_one_brief_there_is_no_tool_ask(serve: Any) -> None:
    server = scripted(serve, [BRIEF], [FIX, call("submit")])
    play_fake(FakeEnv(cart()), make(briefs=1), Budget(steps=3))
    assert all(tool["function"]["name"] != "ask" for tool in server.requests[-1]["tools"])


@pytest.mark.parametrize(
    ("brief", "hint"),
    [
        (call("brief", files="cart.py", text="x" * 201), "201 characters; the limit is 200"),
        (call("brief", files="a b c", text="x"), "names 3 files; the limit is 2"),
        (call("brief", files="", text="x"), "needs a text and the files"),
        (call("brief", files="cart.py"), "needs a text and the files"),
        (call("rewrite", path="cart.py", new_code=""), "no tool 'rewrite'"),
        (ScriptedReply(content="I know."), "calls no tool"),
    ],
)
def test_an_invalid_brief_is_malformed(serve: Any, brief: ScriptedReply, hint: str) -> None:
    server = scripted(serve, [brief], [])
    outcome, steps = play_fake(FakeEnv(cart()), make(brief_chars=200, brief_files=2))
    assert outcome.stop_reason is StopReason.MALFORMED_ACTIONS
    assert hint in steps[1].observation.text
    assert all(request["model"] == "small" for request in server.requests) and server.asked == 5
    assert outcome.usage.tokens_in == 500


def test_the_seekers_share_of_the_steps(serve: Any) -> None:
    scripted(serve, [call("listdir"), call("view", path="cart.py"), call("eval"), BRIEF], [FIX, call("submit")])
    _, steps = play_fake(FakeEnv(cart()), make(seeker_steps=0.34), Budget(steps=6, repeats=None))
    assert [step.action.tool if step.action else "" for step in steps[1:]] == [
        "listdir",
        "view",
        "",
        "view",
        "rewrite",
        "submit",
    ]
    assert "steps are used up" in steps[3].observation.text


def test_a_local_seeker_that_writes_text(serve: Any) -> None:
    """The two may have different endpoints and syntaxes."""
    local = serve(
        [
            says("```action\nview cart.py\n```"),
            says("```action\nbrief cart.py\nLine 5 is wrong:\nit has to return result.\n```"),
        ]
    )
    remote = serve([FIX, call("submit")])
    outcome, _ = play_real(CART, make(seeker={"base_url": local.url, "syntax": "text"}))
    assert outcome.score is not None and outcome.score.resolved
    assert (local.asked, remote.asked) == (2, 2)
    assert "brief" in local.requests[0]["messages"][0]["content"] and "tools" not in local.requests[0]
    assert "it has to return result" in remote.requests[0]["messages"][1]["content"]
    assert outcome.by_model["small"].cost_usd is None  # the coder's price is not the seeker's


def test_recalls_both_conversations(serve: Any) -> None:
    small = [call("view", path="cart.py"), BRIEF, call("eval"), BRIEF]
    large = [call("ask", question="Why?"), FIX, call("submit")]

    def play(agent: Seeker, steps: int) -> list[Any]:
        observation = Observation("1 failed")
        agent.begin(Briefing("t", "Mend it.", "pytest", tool_set("debug"), 50, 0), observation)
        decided = []
        for number in range(steps):
            decided.append(agent.act(observation))
            observation = Observation(f"observation {number}")
        return decided

    undisturbed = scripted(serve, small, large)
    uninterrupted = play(make(), 6)
    assert [decision.action.tool for decision in uninterrupted] == ["view", "view", "eval", "view", "rewrite", "submit"]
    past = [
        Step(n, decision.action, Observation(""), exchanges=decision.exchanges)
        for n, decision in enumerate(uninterrupted[:3])
    ]
    server = scripted(serve, small[3:], large[1:])
    agent = make()
    agent.recall(past)
    resumed = play(agent, 6)
    assert [decision.action for decision in resumed] == [decision.action for decision in uninterrupted]
    assert resumed[:3] == uninterrupted[:3]
    assert server.asked == undisturbed.asked - sum(len(decision.exchanges) for decision in past)


def test_missing_settings_and_tools(serve: Any) -> None:
    serve([says("")])
    with pytest.raises(SetupError, match="seeker_model"):
        Seeker(model="large", config={})
    with pytest.raises(SetupError, match="--model"):
        Seeker(model="", config={"seeker_model": "small"})
    with pytest.raises(SetupError, match="temperatur"):
        make(seeker={"temperatur": 1})
    with pytest.raises(SetupError, match=r"prompts\.system"):
        make(prompts={"system": "x"})
    with pytest.raises(SetupError, match="rewrite"):
        play_real(CART, make(), tools="view,eval")
