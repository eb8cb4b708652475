"""A plan before a run: what it is made of, and that it says so."""

from __future__ import annotations

from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest
import yaml

from stackrank import plugins
from stackrank.agents.random_agent import RandomAgent
from stackrank.db import queries
from stackrank.db.connection.engine import connect
from stackrank.db.stats.planning import ASSUMED, Spread, detectable_difference, needed_tasks, power, spread
from stackrank.db.writes.store import Store
from stackrank.flows.runs.preparing.plan import plan
from stackrank.flows.runs.preparing.prepared_run import check
from stackrank.flows.runs.preparing.stored_run import create_run
from stackrank.flows.runs.specification.spec import make_spec
from tests.fixtures.calls import CommandLine

ROOT = Path(__file__).parents[3]
TWO = [{"agent": "searcher", "tools": "rewrite"}, {"agent": "searcher", "tools": "debug"}]


class Searcher(RandomAgent):
    """An agent without a model that competes."""

    reference = False


@pytest.fixture(autouse=True)
def _searcher(monkeypatch: pytest.MonkeyPatch) -> None:
    point = EntryPoint("searcher", f"{__name__}:Searcher", "stackrank.agents")
    monkeypatch.setattr(plugins, "entry_points", lambda group: [point] if group == point.group else [])


def made(**spec: Any) -> Any:
    return make_spec({"benchmark": "bugs", "entrants": TWO, "sandbox": "bubblewrap", **spec}, "the test")


def played(solves: Any, **spec: Any) -> None:
    """A run whose episodes ended as `solves` says of the entrant's place, the task's place and the attempt."""
    store = Store(connect())
    run_id = create_run(store, check(made(**spec))).id
    store.start_run(run_id)
    episodes = queries.episodes(store.engine, run_id, limit=10_000)
    tasks, entrants = (sorted({row[name] for row in episodes}) for name in ("task", "entrant"))
    for row in episodes:
        won = solves(entrants.index(row["entrant"]), tasks.index(row["task"]), row["attempt"])
        verdict = "resolved" if won else "unresolved"
        store.finish_episode(row["id"], verdict=verdict, stop_reason="submitted", cost_usd=0.25, wall_s=36.0)
    store.end_run(run_id, "finished")


def test_the_example_is_planned_on_an_empty_database(stackrank: CommandLine) -> None:
    result = stackrank("plan", str(ROOT / "deploy" / "examples" / "paper.yaml"), "--detect", "5", "--json")
    document = result.json()
    assert result.status == 0 and document["detect"] == 0.05 and document["test"] == "permutation"
    assert document["variance"]["source"] == document["episode"]["source"] == "assumption"
    assert "Assumed" in document["variance"]["sentence"] and "150,000 tokens" in document["episode"]["sentence"]
    as_written = document["as_written"]
    assert (as_written["tasks"], as_written["attempts"], as_written["episodes"]) == (150, 3, 4500)
    assert as_written["usd"] > 0 and as_written["hours"] > 0 and 0 < as_written["power"] < 0.8 < 1
    assert document["pairs"] == 45 and document["alpha"] == pytest.approx(0.05 / 45)
    assert as_written["detectable"] > as_written["detectable_in_one_pair"] > 0.05
    assert document["cheapest"] is None and "too small" in document["advice"]
    people = stackrank("plan", str(ROOT / "deploy" / "examples" / "paper.yaml"))
    assert people.status == 0 and document["sentence"] in people.out and "no: there are 150" in people.out


def test_earlier_runs_say_what_was_assumed(database: str) -> None:
    # Half of the tasks are solved at the second attempt only, by both; the second entrant solves ten more.
    played(lambda entrant, task, attempt: task % 2 == attempt % 2 or (entrant == 1 and task < 10), limit=40, attempts=2)
    document = plan(connect(), made(limit=40, attempts=2, workers=4), 0.1)
    assert document["variance"]["source"] == document["episode"]["source"] == "runs"
    assert document["variance"]["entrants"] == ["searcher (debug)", "searcher (rewrite)"]
    assert document["episode"]["usd"] == [0.25, 0.25] and "earlier episodes" in document["episode"]["sentence"]
    as_written = document["as_written"]
    assert as_written["usd"] == 40 * 2 * 2 * 0.25 and as_written["hours"] == pytest.approx(40 * 2 * 2 * 36 / 4 / 3600)
    assert document["variance"]["within"] > 0 and "as written" in document["sentence"].lower()


def test_an_entrant_that_never_played_costs_as_its_model_does_elsewhere(database: str) -> None:
    played(lambda entrant, task, attempt: entrant == task % 2, limit=20)
    entrants = [*TWO, {"agent": "searcher", "tools": "debug5"}, {"agent": "llm", "model": "gpt-4.1", "tools": "debug"}]
    document = plan(connect(), made(entrants=entrants, limit=20), 0.1)
    assert document["episode"]["usd"][:3] == [0.25] * 3 and document["episode"]["source"] == "assumption"
    assert document["episode"]["usd"][3] > 0
    unknown = plan(connect(), made(entrants=[*TWO, {"agent": "llm", "model": "of-our-own", "tools": "debug"}]), 0.1)
    assert unknown["as_written"]["usd"] is None and "at an unknown cost" in unknown["sentence"]


def test_reference_entrants_are_paid_for_and_not_compared(database: str) -> None:
    document = plan(connect(), made(entrants=[*TWO, {"agent": "oracle", "tools": "rewrite"}], limit=10), 0.1)
    assert document["pairs"] == 1 and document["as_written"]["episodes"] == 30
    against = plan(
        connect(),
        made(
            entrants=[*TWO, {"agent": "searcher", "tools": "debug5"}],
            stop={"decided": 0.05, "against": "searcher (debug)"},
            limit=10,
        ),
        0.1,
    )
    assert against["pairs"] == 2


def test_the_advice_follows_from_where_the_variance_is(database: str) -> None:
    sufficient = plan(connect(), made(attempts=10), 0.2)
    assert sufficient["advice"] == "The run is large enough." and sufficient["as_written"]["power"] > 0.8
    more_tasks = plan(connect(), made(limit=20, attempts=3), 0.15)
    assert more_tasks["cheapest"]["tasks"] > 20 and "More tasks help" in more_tasks["advice"]
    more_attempts = plan(connect(), made(), 0.1)
    assert more_attempts["cheapest"]["attempts"] > 1 and "More attempts help" in more_attempts["advice"]


@pytest.mark.parametrize(
    ("spec", "flags", "words"),
    [
        ({"entrants": TWO[:1]}, [], ["two that are not reference"]),
        ({"benchmark": "nothing"}, [], ["nothing"]),
        ({"tasks": ["no-such-task"]}, [], ["no-such-task"]),
        ({}, ["--attempts", "0"], ["attempts"]),
    ],
)
def test_a_bad_call_is_one_sentence(
    stackrank: CommandLine, tmp_path: Path, spec: dict[str, Any], flags: list[str], words: list[str]
) -> None:
    file = tmp_path / "spec.yaml"
    file.write_text(yaml.safe_dump({"benchmark": "bugs", "entrants": TWO, **spec}))
    result = stackrank("plan", str(file), *flags)
    assert result.status == 2
    for word in words:
        assert word in result.sentence()


def test_needed_tasks_have_the_power_and_fewer_have_not() -> None:
    for attempts in (1, 3):
        for gap in (0.05, 0.1, 0.3):
            tasks = needed_tasks(gap, attempts, ASSUMED, 0.05)
            assert power(gap, tasks, attempts, ASSUMED, 0.05) >= 0.795
            assert power(gap, max(1, tasks * 9 // 10), attempts, ASSUMED, 0.05) < 0.8
            smallest = detectable_difference(tasks, attempts, ASSUMED, 0.05)
            assert smallest == pytest.approx(gap, rel=0.03)


def test_so_few_tasks_detect_nothing() -> None:
    assert detectable_difference(3, 1, ASSUMED, 0.05) is None
    assert detectable_difference(3, 5, ASSUMED, 0.05) is None
    assert power(1.0, 6, 1, ASSUMED, 0.05) == pytest.approx(1.0)
    assert power(0.5, 1000, 3, Spread(0.0, 0.0), 0.05) == pytest.approx(1.0)


def test_single_attempts_say_no_more_than_the_sum() -> None:
    single = [((n % 2, 1), ((n // 2) % 2, 1)) for n in range(40)]
    estimate = spread([single])
    assert estimate is not None and estimate.assumed_split and estimate.between == estimate.within > 0
    assert spread([single[:9]]) is None and spread([]) is None
    # Attempts that never differ leave no chance; tasks that never differ leave no skill.
    settled = [((3 * (n % 2), 3), (3 * ((n + 1) % 2), 3)) for n in range(40)]
    assert spread([settled]) == Spread(pytest.approx(40 / 39), 0.0)
    shaky = spread([[((1, 2), (1, 2))] * 40])
    assert shaky is not None and shaky.between == 0.0 and shaky.within == pytest.approx(1.0)
