"""Episodes by words: what means nothing first, then what holds, and texts of steps, on both databases; and places."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from sqlalchemy import Engine, event

from stackrank.db import queries
from stackrank.db.connection.engine import connect
from stackrank.db.models.runs import Step
from stackrank.db.search import Word, parse
from stackrank.db.writes.store import Store
from stackrank.errors import UsageError
from tests.bench.scenarios.big_database import fill
from tests.dashboard.seed import Seeded
from tests.support.episodes import start


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("entrnt:x", "there is no field 'entrnt'; choose entrant, model"),
        ("AssertionError", "'AssertionError' is not a milestone (reproduced, localized"),
        ("AssertionError", 'text:"AssertionError" searches for a text'),
        ('text:"Assertion', "is not closed"),
        ('text:"a"b', "is not a search term"),
        ("steps>many", "'many' is not a number; write, for instance, steps>20"),
        ("steps>-1", "'-1' is not a number"),
        ("entrant>x", "only steps, cost, tokens, seconds or attempt can be compared; write entrant:x"),
        ("verdict:solved", "'solved' does not exist; choose resolved, unresolved or error"),
        ("failure:wrong_fix,nonsense", "'nonsense' does not exist"),
        ("entrant:", "entrant needs a value, as in entrant:name"),
        ('text:""', "text needs a value"),
        ("steps>", "steps needs a value, as in steps>20"),
        ("step:x", "write the number of one step, as in step:12"),
        ("step:1,2", "write the number of one step"),
        ("step>3", "can be compared; write step:3"),
        ("-", "'-' is not a milestone"),
        (",", "is not a search term"),
        ("tool:a,,b", "is not a search term"),
        ("x" * 5_000, "...' is not a milestone"),
    ],
)
def test_invalid_queries_raise_one_sentence(query: str, message: str) -> None:
    with pytest.raises(UsageError) as raised:
        parse(query)
    assert message in str(raised.value) and "\n" not in str(raised.value)


def test_a_query_is_split_into_words() -> None:
    assert parse(" \t\n") == []
    assert parse('entrant:"a / b",c -breakpoint steps>=20 -tool:pdb "x y" cost=0.5') == [
        Word("entrant", ":", ("a / b", "c")),
        Word("breakpoint", negated=True),
        Word("steps", ">=", ("20",)),
        Word("tool", ":", ("pdb",), negated=True),
        Word("text", ":", ("x y",)),
        Word("cost", ":", ("0.5",)),
    ]


@pytest.fixture
def played(store: Store, matrix: SimpleNamespace) -> dict[str, int]:
    """Three episodes that ended, and three that have not started; name -> id."""
    first, second, third = list(matrix.episodes.values())[:3]
    long = "no such thing\n" * 300  # stored once for all steps that have it
    for episode in (first, second, third):
        start(store, episode)
        store.add_step(Step(episode_id=episode, index=0, observation=f"{long}E   AssertionError: 100% of_it"))
    ran = {"tool": "pdb", "arguments": {"command": "p Ärger", "nested": [{"deep": "needle one"}]}}
    store.add_step(Step(episode_id=first, index=1, **ran, milestones=["localized", "breakpoint"]))
    store.add_step(Step(episode_id=second, index=1, tool="view", thought=f"{long} look at the ÜBERTRAG"))
    ends: list[dict[str, Any]] = [
        {"verdict": "resolved", "stop_reason": "solved", "steps": 30, "cost_usd": 0.25},
        {"verdict": "unresolved", "stop_reason": "step_limit", "failure_point": "wrong_fix", "steps": 12},
        {"verdict": "unresolved", "stop_reason": "submitted", "steps": 5, "cost_usd": 1.5},
    ]
    for episode, end in zip((first, second, third), ends, strict=True):
        store.finish_episode(episode, **end)
    return {"first": first, "second": second, "third": third}


ALL = {"first", "second", "third"}


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("", ALL),
        ("breakpoint", {"first"}),
        ("-breakpoint", {"second", "third"}),
        ("tool:pdb,view", {"first", "second"}),
        ("-tool:pdb", {"second", "third"}),
        ("verdict:unresolved -failure:wrong_fix", {"third"}),
        ("failure:unknown", {"third"}),
        ("failure:wrong_fix,unknown", {"second", "third"}),
        ("stop:solved,submitted", {"first", "third"}),
        ("steps>=12 steps<30", {"second"}),
        ("steps:12,5", {"second", "third"}),
        ("cost>1", {"third"}),
        ("-cost>1", {"first", "second"}),
        ("entrant:ON task:t0", {"first"}),
        ("task:%", set()),
        ("model:m1 tools:debug run:r", {"first", "third"}),
        ("tag:none", set()),
        ("text:assertionerror", set()),
        ("text:assertionerror step:0", ALL),
        ('"100% OF_IT" step:0', ALL),
        ('text:"of%it"', set()),
        ("text:ärger", {"first"}),
        ("text:übertrag -text:needle", {"second"}),
        ('text:"needle one" text:AssertionError step:0', {"first"}),
        ("text:needle,übertrag", {"first", "second"}),
        ("-text:needle verdict:unresolved", {"second", "third"}),
        ("text:command", set()),
        ("step:1", {"first", "second"}),
        ("-step:1", {"third"}),
        ("step:99", set()),
    ],
)
def test_matching_episodes(store: Store, played: dict[str, int], query: str, expected: set[str]) -> None:
    result = queries.search(store.engine, query, "r", status="done")
    assert [row["id"] for row in result["episodes"]] == sorted(played[name] for name in expected)
    assert result["following"] is None


def test_a_hit_points_to_the_requested_step(store: Store, played: dict[str, int]) -> None:
    result = queries.search(store.engine, "step:0 text:needle", newest_first=True)
    assert result["hits"] == {played["first"]: {"step": 0, "excerpt": ("no such thing " * 30)[:150]}}
    assert queries.search(store.engine, "-step:1")["hits"] == {}


def test_hits_name_the_first_step_and_paging_continues(store: Store, played: dict[str, int]) -> None:
    result = queries.search(store.engine, "text:needle text:p")
    assert result["hits"] == {played["first"]: {"step": 1, "excerpt": "needle one"}}
    result = queries.search(store.engine, "text:übertrag")
    assert result["hits"] == {played["second"]: {"step": 1, "excerpt": "look at the ÜBERTRAG"}}
    ids, after_id = [], None
    for _ in range(3):
        part = queries.search(store.engine, "step:0 text:Assertion", newest_first=True, limit=1, after_id=after_id)
        ids += [row["id"] for row in part["episodes"]]
        assert part["hits"][ids[-1]]["step"] == 0
        after_id = part["following"]
    assert ids == sorted(played.values(), reverse=True) and after_id is None


def test_a_search_out_of_time_returns_where_to_continue(
    store: Store, played: dict[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.modules["stackrank.db.queries.episodes.search"], "_BATCH", 1)
    result = queries.search(store.engine, "text:übertrag", status="done", seconds=0)
    assert (result["episodes"], result["looked_at"], result["following"]) == ([], 1, played["first"])
    result = queries.search(store.engine, "text:übertrag", status="done", seconds=0, after_id=result["following"])
    assert [row["id"] for row in result["episodes"]] == [played["second"]]


def found(engine: Engine, text: str) -> list[tuple[str, str]]:
    """The page and the name of each place."""
    return [(place["page"], place["name"]) for place in queries.find_places(engine, text)]


def test_everything_is_found_by_any_part_of_its_name(seeded: tuple[Engine, Seeded]) -> None:
    engine, contents = seeded
    assert found(engine, "COUNT-TR")[0] == ("task", "account-transfer")
    assert ("episodes", "llama-3.3-70b / debug") in found(engine, "ama")
    assert found(engine, "qwen3-coder / Debug")[0] == ("episodes", "qwen3-coder / debug"), "exactly that before others"
    nightly = queries.find_places(engine, "nightl")
    assert [place["query"]["id"] for place in nightly if place["page"] == "run"] == contents.runs[::-1]
    assert {place["page"] for place in nightly} == {"run", "episode"}, "episodes of these runs"
    (_, *others) = episodes = queries.find_places(engine, "word-w llama")
    assert others and {(place["page"], place["name"]) for place in episodes} == {
        ("episode", "word-wrap: llama-3.3-70b / debug")
    }
    numbers = [place["query"]["id"] for place in episodes]
    assert numbers == sorted(numbers, reverse=True)
    for place in queries.find_places(engine, "llama"):
        if place["page"] == "episodes":
            rows = queries.search(engine, place["query"]["ep_query"], limit=500)["episodes"]
            assert rows and {row["entrant"] for row in rows} == {place["name"]}


@pytest.mark.parametrize(
    "text", ["", "  ", "no-such-thing", "account llama nobody", "%", "_", "'", '"', "\0", "a" * 5000]
)
def test_what_nothing_is_called_is_not_found(seeded: tuple[Engine, Seeded], text: str) -> None:
    assert found(seeded[0], text) == []


def test_queries_find_episodes(seeded: tuple[Engine, Seeded]) -> None:
    engine, _ = seeded
    resolved = queries.find_places(engine, "entrant:rewrite verdict:resolved")
    assert len(resolved) == 5
    for place in resolved:
        row = queries.episode(engine, place["query"]["id"])
        assert (row["verdict"], row["tools"]) == ("resolved", "rewrite") and place["about"].endswith(", resolved")
    assert found(engine, "-breakpoint") and found(engine, "steps>9999") == []
    assert found(engine, 'entrant:rewrite text:"passed"') == [], "texts are left to the page of episodes"
    for wrong in ("verdict:good", 'task:"open', "nothing:1"):
        with pytest.raises(UsageError):
            queries.find_places(engine, wrong)


def test_no_step_is_read(seeded: tuple[Engine, Seeded]) -> None:
    engine, _ = seeded
    statements: list[str] = []
    event.listen(engine, "before_cursor_execute", lambda *call: statements.append(call[2]))
    for text in ("account", "word llama nightly", "-breakpoint", 'text:"passed"', "tool:pdb"):
        queries.find_places(engine, text)
    assert statements and not [text for text in statements if "FROM step" in text or "blob" in text]


@pytest.mark.exhaustive
def test_places_of_a_large_database(tmp_path: Path) -> None:
    engine = connect(f"sqlite:///{tmp_path}/large.db")
    fill(engine, episodes=25_000, steps=1_000)
    (row,) = queries.episodes(engine, limit=1)
    places = queries.find_places(engine, f"{row['task']} {row['entrant']}")
    assert places and all(place["name"] == f"{row['task']}: {row['entrant']}" for place in places)
