"""The agent `best-of-n`: it branches where samples diverge, and submits the line with the best visible tests."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from stackrank.agents.episode.loop import Budget, Outcome, play
from stackrank.agents.episode.protocol import SetupError
from stackrank.agents.episode.step import Step
from stackrank.db import queries
from stackrank.db.connection.engine import connect
from stackrank.env.debug_env import DebugEnv
from stackrank.env.sandbox.client import Sandbox
from stackrank.env.tools import tool_set
from stackrank.extensions.training.best_of_n import BestOfN
from tests.fixtures.calls import CommandLine
from tests.fixtures.env import cart, usable
from tests.fixtures.playing import play_run
from tests.support.openai_server import Entry, OpenAIServer, call, says

Serve = Callable[..., OpenAIServer]
WORSE, BETTER, BEST = (f"def total(items):\n    return {value}\n" for value in ("None", "0", "sum(items)"))
TEST = """
from cart import total

def test_none():
    assert total([]) == 0

def test_two():
    assert total([1, 2]) == 3
"""


def rewrite(code: str) -> Entry:
    return call("rewrite", path="cart.py", new_code=code)


def samples(*turns: tuple[Entry, ...]) -> Callable[[dict[str, Any]], Entry]:
    """A model whose samples after n answers are `turns[n]` in order, the last of them again and again."""
    asked: Counter[int] = Counter()

    def answer(request: dict[str, Any]) -> Entry:
        turn = min(sum(message["role"] == "assistant" for message in request["messages"]), len(turns) - 1)
        asked[turn] += 1
        return turns[turn][min(asked[turn], len(turns[turn])) - 1]

    return answer


def run(past: list[Step] | None = None, **config: Any) -> tuple[Outcome, list[Step]]:
    """Play with at most three lines. Returns (outcome, the steps that were not past)."""
    recorded: list[Step] = []
    kind = usable("bubblewrap")
    task = cart({"cart.py": "def total(items):\n    return 1\n", "tests/test_cart.py": TEST})
    tools = tool_set("debug-branch")
    with DebugEnv(task, tools, lambda spec: Sandbox(kind, spec), end_when_solved=False) as env:
        agent = BestOfN(model="gpt-4.1-mini", config=config)
        outcome = play(env, agent, budget=Budget(steps=30), record=recorded.append, past=past or ())
    return outcome, recorded


def taken(steps: list[Step]) -> list[str]:
    return [
        f"{step.action.tool} {step.action.arguments.get('at', '')}".strip() if step.action else "" for step in steps[1:]
    ]


def test_it_needs_a_model_and_more_than_one_line() -> None:
    with pytest.raises(SetupError, match="name one with --model"):
        BestOfN.configure(model="", config={})
    with pytest.raises(SetupError, match="invalid at lines"):
        BestOfN.configure(model="m", config={"lines": 1})


def test_the_line_with_the_best_visible_tests_is_submitted(serve: Serve) -> None:
    server = serve(
        samples((call("view", path="cart.py"),), tuple(map(rewrite, (WORSE, BEST, BETTER))), (call("submit"),))
    )
    outcome, steps = run()
    assert taken(steps) == ["view", "rewrite", "eval", "branch 1", "rewrite", "eval", "submit"], (
        "the third is not needed"
    )
    assert outcome.score is not None and outcome.score.resolved
    # Three samples of the first step, three of the second, and one answer in either line.
    assert len(server.requests) == 8 == sum(len(step.exchanges) for step in steps)
    assert outcome.usage.tokens_in == sum(exchange.usage.tokens_in for step in steps for exchange in step.exchanges)
    assert "branch" not in str(server.requests[0]["tools"]), "the model has no say in it"


def test_it_goes_back_to_an_earlier_line_that_was_better(serve: Serve) -> None:
    serve(samples((rewrite(BETTER), rewrite(WORSE), rewrite(BETTER)), (call("submit"),)))
    outcome, steps = run()
    assert taken(steps) == ["rewrite", "eval", "branch 0", "rewrite", "eval", "branch 2", "submit"]
    assert outcome.score is not None and "return 0" in outcome.score.diff


def test_equal_samples_and_answers_without_an_action_open_no_line(serve: Serve) -> None:
    serve(samples((says("Hm."), call("eval"), call("eval")), (rewrite(BEST),), (call("submit"),)))
    outcome, steps = run()
    assert taken(steps) == ["eval", "rewrite", "submit"]
    assert outcome.score is not None and outcome.score.resolved


def test_an_interrupted_episode_goes_on_without_asking_again(serve: Serve) -> None:
    turns = ((call("view", path="cart.py"),), tuple(map(rewrite, (WORSE, BETTER, BEST))), (call("submit"),))
    serve(samples(*turns))
    whole, steps = run()
    for cut in (2, 5, 8):
        server = serve(samples((), *turns[1:]) if cut > 2 else samples(*turns))
        again, rest = run(past=steps[:cut])
        assert taken(steps[:cut]) + taken([steps[0], *rest]) == taken(steps)
        assert again.usage.tokens_in == whole.usage.tokens_in
        assert len(server.requests) == sum(len(step.exchanges) for step in rest)


@pytest.mark.slow
def test_a_run_counts_its_episode_once_and_exports_each_line(
    stackrank: CommandLine, serve: Serve, tmp_path: Path
) -> None:
    server = serve(samples((call("listdir"),), (call("eval"), call("view", path="vat/rates.py")), (call("submit"),)))
    entrant = {"agent": "best-of-n", "model": "gpt-4.1-mini", "tools": "debug-branch", "config": {"lines": 2}}
    run_id = play_run(entrants=[entrant], tasks=["vat-table"], steps=20)
    (episode,) = queries.episodes(connect(), run_id)
    steps = queries.steps(connect(), episode["id"], exchanges=True)
    assert [step["tool"] for step in steps][1:] == ["listdir", "eval", "branch", "view", "eval", "branch", "submit"]
    assert [step["parent"] for step in steps] == [None, 0, 1, 1, 3, 4, 2, 6]
    assert episode["tokens_in"] == sum(step["tokens_in"] for step in steps) > 0
    assert len(server.requests) == sum(len(step["exchanges"]) for step in steps)
    (cell,) = stackrank("leaderboard", "--run", str(run_id), "--json").json()["entrants"]
    assert cell["episodes"] == 1 and cell["tokens_in"] == episode["tokens_in"]
    lines = stackrank("export", str(run_id), "--format", "chat").out.splitlines()
    chats = [record for line in lines if (record := json.loads(line))["answers"]]
    answers = [[message for message in chat["messages"] if message.get("tool_calls")] for chat in chats]
    called = [[answer["tool_calls"][0]["function"]["name"] for answer in line] for line in answers]
    assert ["listdir", "eval", "submit"] in called and ["listdir", "view", "submit"] in called
    assert sum(len(chat["answers"]) for chat in chats) == len(server.requests)
    assert stackrank("export", str(run_id), "--format", "atif", "--out", str(tmp_path / "atif")).status == 0
    assert stackrank("replay", str(episode["id"])).status == 0
