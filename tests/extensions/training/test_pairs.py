"""Preference pairs, from conversations that a database holds."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import update

from stackrank.db import queries
from stackrank.db.connection.engine import connect
from stackrank.db.connection.transactions import DECISION
from stackrank.db.decision_seal import DecisionRefused
from stackrank.db.models.runs import Step
from stackrank.db.writes.store import Store
from stackrank.extensions.training.exports.pairs import pairs
from stackrank.flows.runs.afterwards.export.export import export
from stackrank.flows.runs.afterwards.export.source import ExportSource
from stackrank.terms import DecisionKind, StopReason
from tests.dashboard.seed import seed
from tests.support.episodes import create_episodes, start
from tests.support.shop import FIX, OTHER_FIX, SECOND_FIX, evidence, proposal_row

Said = tuple[str, str]
"""What a model said, and what it heard then."""


def played(store: Store, episode: int, opening: str, turns: Sequence[Said], verdict: str, tools: str = "eval") -> None:
    """An episode whose model says a word a step."""
    new: list[dict[str, Any]] = [{"role": "user", "content": opening}]
    start(store, episode)
    store.add_step(Step(episode_id=episode, index=0, observation=opening))
    for index, (word, answer) in enumerate(turns, 1):
        request = {"model": "m", **({"tools": [_tool(tools)]} if index == 1 else {}), "messages": new}
        message = {"role": "assistant", "content": word}
        usage = {"tokens_in": 1, "tokens_out": 1, "cost_usd": None}
        exchange = {"model": "m", "request": request, "answer": {"choices": [{"message": message}]}, "usage": usage}
        exchanges = [{**exchange, "conversation": "", "reasoning": ""}]
        step = Step(episode_id=episode, index=index, thought=word, observation=answer, exchanges=exchanges)
        store.add_step(step)
        new = [message, {"role": "user", "content": answer}]
    store.finish_episode(episode, verdict=verdict, stop_reason=StopReason.SUBMITTED, steps=len(turns))


def _tool(name: str) -> dict[str, Any]:
    return {"type": "function", "function": {"name": name, "description": "", "parameters": {}}}


LOOK: Said = ("look", "a file")


@pytest.mark.usefixtures("database")
def test_pairs() -> None:
    engine = connect()
    seeded, store = seed(engine, runs=1, live=False), Store(engine)
    tasks, entrants = list(seeded.benchmark.task_ids.values()), list(seeded.entrants.values())
    run = store.create_run(name="pairs", benchmark_id=seeded.benchmark.id, spec={"steps": 9})
    cells = [(task, entrant, attempt) for task in tasks[:2] for entrant in entrants[:2] for attempt in (1, 2)]
    ids = list(create_episodes(store, run, cells, "local").values())
    played(store, ids[0], "mend it", [LOOK, ("think", "so"), ("fix", "green")], "resolved")
    played(store, ids[1], "mend it", [LOOK, ("guess", "red")], "unresolved")  # goes another way than the first
    played(store, ids[2], "mend it", [("look", "another file"), ("fix", "green")], "resolved")  # saw something else
    played(store, ids[3], "Mend it!", [LOOK, ("guess", "red")], "unresolved", tools="pdb")  # was asked something else
    played(store, ids[4], "the other task", [LOOK], "resolved")
    played(store, ids[5], "the other task", [LOOK], "error")
    records = list(pairs(ExportSource(engine, queries.run(engine, run), {})))
    summaries = [(message["kind"], message["chosen_episode"], message["rejected_episode"]) for message in records]
    assert summaries == [("outcome", ids[0], ids[1]), ("action", ids[0], ids[1]), ("outcome", ids[2], ids[3])]
    outcome, action, unrelated = records
    assert [message["content"] for message in outcome["prompt"]] == ["mend it"]
    assert [message["content"] for message in outcome["chosen"]] == ["look", "a file", "think", "so", "fix"]
    assert [message["content"] for message in outcome["rejected"]] == ["look", "a file", "guess"]
    assert [message["content"] for message in action["prompt"]] == ["mend it", "look", "a file"]
    assert [action["chosen"], action["rejected"]] == [
        [{"role": "assistant", "content": "think"}],
        [{"role": "assistant", "content": "guess"}],
    ]
    assert unrelated["prompt"] == [] and unrelated["rejected"][0]["content"] == "Mend it!"
    assert unrelated["tools"] == [_tool("eval")] and unrelated["rejected_tools"] == [_tool("pdb")]
    assert "rejected_tools" not in outcome and json.dumps(records)


@pytest.mark.usefixtures("database")
def test_what_people_decided_counts_for_more_than_a_verdict(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STACKRANK_HOME", str(tmp_path))
    engine = connect()
    seeded, store = seed(engine, runs=1, live=False), Store(engine)
    task, entrant = next(iter(seeded.benchmark.task_ids.values())), next(iter(seeded.entrants.values()))
    run = store.create_run(name="fix", benchmark_id=seeded.benchmark.id, spec={"steps": 9})
    ids = list(create_episodes(store, run, [(task, entrant, n) for n in range(1, 6)], "local").values())
    verdicts = ("resolved", "resolved", "resolved", "unresolved", "resolved")
    for number, (episode, verdict) in enumerate(zip(ids, verdicts, strict=True)):
        played(store, episode, "mend it", [LOOK, (f"answer {number}", "ran")], verdict)

    def told() -> list[tuple[str, int, int, str]]:
        records = pairs(ExportSource(engine, queries.run(engine, run), {}))
        return [
            (message["kind"], message["chosen_episode"], message["rejected_episode"], message["reason"])
            for message in records
            if message["kind"] != "action"
        ]

    assert told() == [("outcome", ids[0], ids[3], "")]
    diffs = {ids[1]: FIX, ids[2]: OTHER_FIX, ids[4]: SECOND_FIX}
    rows = [
        proposal_row(run, entrant, message, diff=diff, evidence=evidence(episodes=[message]))
        for message, diff in diffs.items()
    ]
    proposals = pytest.importorskip("stackrank.extensions.fix.decisions").Proposals(engine)
    numbers = proposals.propose(rows)
    for number, kind in zip(numbers, ("approved", "rejected"), strict=False):
        digest = queries.proposal(engine, number)["digest"]
        proposals.decide(number, DecisionKind(kind), digest=digest, reason="Too clever.", person="ann")
    good, wrong, reason = ids[1], ids[2], "Too clever."
    assert told() == [("outcome", good, wrong, reason), ("outcome", good, ids[3], ""), ("change", good, wrong, reason)]
    change = list(pairs(ExportSource(engine, queries.run(engine, run), {})))[-1]
    assert (change["chosen"][0]["content"], change["rejected"][0]["content"]) == (FIX, OTHER_FIX)
    assert change["prompt"][0]["content"] == queries.task(engine, task)["statement"]
    assert export(engine, queries.run(engine, run), "pairs", tmp_path / "pairs.parquet", {}) == 5
    assert queries.rejected_changes(engine, "other") == {}
    name, benchmark = queries.task(engine, task)["name"], queries.benchmark(engine, seeded.benchmark.id)["name"]
    assert queries.rejected_changes(engine, benchmark) == {name: [OTHER_FIX]}
    with engine.connect().execution_options(write=True) as connection, connection.begin():
        connection.execute(update(DECISION).values(reason="Very good."))
    with pytest.raises(DecisionRefused, match="does not have the seal"):
        told()
