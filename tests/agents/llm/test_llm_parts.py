"""Parts of the llm agent: prices, history."""

from __future__ import annotations

import json
import tomllib
from datetime import date
from decimal import Decimal
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from stackrank.agents.episode.protocol import Briefing, SetupError
from stackrank.agents.episode.step import Usage
from stackrank.agents.llm import LlmAgent, history
from stackrank.agents.llm.endpoints import prices
from stackrank.agents.llm.endpoints.prices import find_price
from stackrank.env.actions import Observation
from stackrank.env.tools import tool_set
from tests.support.openai_server import call


def conversation(turns: int, size: int = 2000) -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = [{"role": "system", "content": "s"}, {"role": "user", "content": "task " * 100}]
    for number in range(turns):
        ids = [f"{number}a", f"{number}b"]
        calls = [
            {"id": call_id, "type": "function", "function": {"name": "view", "arguments": "{}"}} for call_id in ids
        ]
        messages.append({"role": "assistant", "content": None, "tool_calls": calls})
        messages += [
            {"role": "tool", "tool_call_id": call_id, "content": f"{call_id} " + "x" * size} for call_id in ids
        ]
    return messages


def pairs_hold(messages: list[dict[str, Any]]) -> bool:
    call_ids = [call["id"] for message in messages for call in message.get("tool_calls", [])]
    answered = [message["tool_call_id"] for message in messages if message["role"] == "tool"]
    return call_ids == answered


def test_a_conversation_that_fits_is_unchanged() -> None:
    messages = conversation(5)
    assert history.shrink(messages, history.estimate_tokens(messages)) is messages


@pytest.mark.parametrize("limit", [20_000, 10_000, 6_000, 3_000, 1_000])
def test_a_long_conversation_is_cut_from_the_middle(limit: int) -> None:
    messages = conversation(40)
    shorter = history.shrink(messages, limit)
    assert shorter[:2] == messages[:2]  # the task
    assert shorter[-3:] == messages[-3:]  # the last turn
    if history.estimate_tokens(messages[:2] + messages[-12:]) < limit:
        assert shorter[-12:] == messages[-12:]  # and some before it
    assert pairs_hold(shorter)
    least = history.estimate_tokens(messages[-3:]) + history.estimate_tokens(messages[:2])
    assert history.estimate_tokens(shorter) <= max(limit, least + 50)
    cut = [message for message in shorter if "omitted" in (message["content"] or "")]
    assert cut  # what was cut is said
    assert history.shrink(shorter, max(limit, least + 50)) is shorter  # and is not cut again at once
    assert all(message["content"] is None or "omitted" not in message["content"] for message in messages)


def test_long_answers_of_the_model_are_dropped_whole() -> None:
    messages = conversation(3, 10)
    messages[2]["content"] = "x" * 100_000
    assert history.shrink(messages, 10_000)[-3:] == messages[-3:]
    assert history.estimate_tokens(history.shrink(messages, 10_000)) < 1000


def test_prices(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("STACKRANK_PRICES", raising=False)
    assert find_price("no-such-model") is None
    listed_price = find_price("gpt-4.1")
    assert listed_price is not None and listed_price == find_price("gpt-4.1-2025-04-14") == find_price("openai/gpt-4.1")
    assert listed_price.of(1_000_000, 0, 0) == 2.0 and listed_price.of(1_000_000, 1_000_000, 0) == 0.5
    assert listed_price.of(3, 1, 2) == (2 * 2 + 0.5 + 2 * 8) / 1e6

    table = tmp_path / "prices.toml"
    table.write_text('[mine]\ndate = 2025-01-01\ninput = 1\noutput = 2\n["gpt-4.1"]\ninput = 9\noutput = 9\n')
    monkeypatch.setenv("STACKRANK_PRICES", str(table))
    mine, built_in = find_price("mine"), find_price("gpt-4.1")
    assert mine is not None and mine.of(10, 10, 0) == 10 / 1e6  # no cached price: the full one
    assert built_in is not None and built_in.output == 9
    assert find_price("gpt-4o") is not None

    configured = find_price("gpt-4.1", {"input": 0, "output": 0})
    assert configured is not None and configured.of(5, 0, 5) == 0.0


@pytest.mark.parametrize("text", ["[m]\ninput = 1\n", "[m]\ninput = 'much'\noutput = 1\n", "m = 3\n", "[m\n"])
def test_a_wrong_price_table(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, text: str) -> None:
    table = tmp_path / "wrong.toml"
    table.write_text(text)
    monkeypatch.setenv("STACKRANK_PRICES", str(table))
    with pytest.raises(SetupError, match=r"wrong\.toml"):
        find_price("m")


def test_requests_share_their_beginning_except_after_cuts(serve: Any) -> None:
    """Endpoints cache the beginning of a conversation, so much is cut at a time and the beginning seldom changes."""
    server = serve([call("view", path="a.py")])
    agent = LlmAgent(model="scripted", config={"context_tokens": 20_000})
    agent.begin(Briefing("t", "Mend it.", "pytest", tool_set("debug"), 200), Observation("1 failed"))
    cuts = 0
    for number in range(120):
        decision = agent.act(Observation(f"{number} " + "x" * 3000))
        cuts += "history_cut_to_tokens" in decision.exchanges[0].request
    changed = sum(
        later["messages"][: len(earlier["messages"])] != earlier["messages"]
        for earlier, later in pairwise(server.requests)
    )
    assert changed == cuts and 3 <= cuts <= 20
    assert all(request["messages"][:2] == server.requests[0]["messages"][:2] for request in server.requests)
    assert all({**request, "messages": 0} == {**server.requests[0], "messages": 0} for request in server.requests)
    assert max(len(json.dumps(request["messages"])) for request in server.requests) < 20_000 * 4


def test_every_price_is_dated_and_plausible() -> None:
    table = tomllib.loads((Path(prices.__file__).with_name("prices.toml")).read_text())
    for name, row in table.items():
        assert set(row) - {"cache_write"} == {"date", "input", "cached_input", "output"}, name
        assert row["input"] <= row.get("cache_write", row["input"]) < row["output"], name
        assert isinstance(row["date"], date) and row["date"] >= date(2024, 1, 1), name
        assert 0 < row["cached_input"] < row["input"] < row["output"] <= 200, name


def test_a_million_answers_cost_a_million_times_one() -> None:
    price = find_price("m", {"input": 0.15, "cached_input": 0.075, "output": 0.6})
    assert price is not None
    usage = Usage(cost_usd=price.of(7, 3, 11))
    total = Usage()
    for _ in range(1000):
        total += usage
    assert total.cost_usd == float((4 * Decimal("0.15") + 3 * Decimal("0.075") + 11 * Decimal("0.6")) / 1000)
