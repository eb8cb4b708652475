"""A database of the version before the package was renamed opens, is upgraded and gives the same answers."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine

from stackrank.db import queries
from stackrank.db.connection.engine import HEAD, connect, revision_of
from stackrank.db.queries import Scope
from tests.db.storage import old

QUESTIONS: dict[str, Callable[[Engine], Any]] = {
    "runs": lambda engine: queries.runs(engine),
    "leaderboard": lambda engine: queries.leaderboard(engine, Scope(finished_only=False)),
    "leaderboard-1": lambda engine: queries.leaderboard(engine, Scope(run=old.FINISHED)),
    "episodes-1": lambda engine: queries.episodes(engine, old.FINISHED),
    "episodes-2": lambda engine: queries.episodes(engine, old.CUT_OFF),
    "compare": lambda engine: queries.compare(engine, "oracle (debug)", "repair (debug)", Scope(run=old.FINISHED)),
}


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Engine:
    return connect(old.restore(tmp_path_factory.mktemp("old") / "stackrank.db"))


STATISTICS = {
    *("rate", "ci_low", "ci_high", "rank_low", "rank_high", "sentence", "detectable"),
    *("p_value", "p_holm", "uplift_low", "uplift_high"),
}
"""Worked out otherwise since: tasks weigh the same, tests and intervals belong together, ranks are paired."""


def kept(before: Any, now: Any) -> Any:
    """`now` without what the old version did not have; the statistics may differ, and may not be lost."""
    if isinstance(before, dict):
        assert all(
            (before[name] is None) == (now[name] is None) for name in (STATISTICS - {"detectable"}) & before.keys()
        )
        return {name: value if name in STATISTICS else kept(value, now[name]) for name, value in before.items()}
    if isinstance(before, list) and isinstance(now, list) and len(before) == len(now):
        return [kept(one, other) for one, other in zip(before, now, strict=True)]
    if isinstance(before, float):
        return before if now == pytest.approx(before, rel=1e-4, abs=1e-9) else now
    return now


def test_it_has_the_newest_schema_once_it_was_opened(engine: Engine) -> None:
    with engine.connect() as connection:
        assert revision_of(connection) == HEAD


@pytest.mark.parametrize("question", QUESTIONS)
def test_the_answers_are_the_same(engine: Engine, question: str) -> None:
    before, now = old.answers()[question], json.loads(json.dumps(QUESTIONS[question](engine), default=str))
    assert before and (isinstance(before, dict) or len(before) == len(now))
    if question == "runs":  # the one that was cut off counts as running, so its seconds go on
        assert before[0].pop("wall_s") < now[0].pop("wall_s")
    if question.startswith("leaderboard"):  # the oracle was ranked, and had the best rate
        assert [row.pop("rank_low") for row in now] == [1, None] and [row.pop("rank_high") for row in now] == [1, None]
        before = [{name: row[name] for name in row if "rank" not in name} for row in reversed(before)]
    assert kept(before, now) == before


def test_steps_and_their_texts_are_there(engine: Engine) -> None:
    for episode in queries.episodes(engine, old.FINISHED):
        steps = queries.steps(engine, episode["id"])
        assert [step["index"] for step in steps] == list(range(episode["steps"] + 1))
        assert "FAILED" in steps[0]["observation"] or "failed" in steps[0]["observation"]


def test_opening_it_twice_changes_nothing(tmp_path: Path) -> None:
    url = old.restore(tmp_path / "stackrank.db")
    first, second = (queries.episodes(connect(url), limit=1000) for _ in range(2))
    assert first == second and len(first) == 14


def test_an_old_error_gets_its_class_and_an_old_verdict_no_record(tmp_path: Path) -> None:
    url = old.restore(file := tmp_path / "stackrank.db")
    texts = {
        "the sandbox: gone": "machine", "the model's endpoint: 500": "endpoint",
        "the environment: no pip": "environment", "stackrank itself: KeyError": "ours",
        "it was cut off 9 times": "machine",
    }  # fmt: skip
    with closing(sqlite3.connect(file)) as connection:
        numbers = [row[0] for row in connection.execute("SELECT id FROM episode WHERE verdict <> '' AND run_id = 1")]
        for number, error in zip(numbers, texts, strict=False):
            connection.execute("UPDATE episode SET verdict = 'error', error = ? WHERE id = ?", (error, number))
        connection.commit()
    engine = connect(url)
    rows = queries.episodes(engine, old.FINISHED, limit=1000)
    assert len(numbers) > len(texts)
    assert {row["error"]: row["error_class"] for row in rows if row["verdict"] == "error"} == texts
    assert {row["error_class"] for row in rows if row["verdict"] != "error"} == {""}
    assert queries.verdicts(engine, numbers[-1]) == []
    classes = {"machine": 2, "endpoint": 1, "environment": 1, "ours": 1}
    assert queries.run(engine, old.FINISHED)["errors_by_class"] == classes
    board = [row["errors_by_class"] for row in queries.leaderboard(engine, Scope(run=old.FINISHED))]
    assert {name: sum(each.get(name, 0) for each in board) for name in classes} == classes


SECRETS = {
    "base_url": "https://me:hunter2@models.example:8443/v1?api_key=hunter2&team=a%20b",
    "extra_body": {"api_key": "hunter2", "route": {"authorization": "Bearer hunter2"}, "tags": ["sk-hunter2", "fast"]},
    "api_key_env": "TEAM_KEY", "api_key_file": "/run/secrets/key", "temperature": 0.5, "seed": None,
}  # fmt: skip
MASKED = {
    **SECRETS,
    "base_url": "https://models.example:8443/v1?team=a+b",
    "extra_body": {
        "api_key": "$MASKED_SECRET", "route": {"authorization": "$MASKED_SECRET"}, "tags": ["$MASKED_SECRET", "fast"],
    },
}  # fmt: skip


def test_secrets_that_an_old_version_stored_are_masked(tmp_path: Path) -> None:
    url = old.restore(file := tmp_path / "stackrank.db")
    with closing(sqlite3.connect(file)) as connection:
        (stored,) = connection.execute("SELECT spec FROM run WHERE id = ?", (old.FINISHED,)).fetchone()
        spec = {**json.loads(stored), "webhook": "https://hooks.example/services/T0/hunter2"}
        spec["entrants"] = [{**each, "config": SECRETS} for each in spec["entrants"]]
        connection.execute("UPDATE run SET spec = ? WHERE id = ?", (json.dumps(spec), old.FINISHED))
        connection.execute("UPDATE entrant SET config = ? WHERE id = 1", (json.dumps(SECRETS),))
        (untouched,) = connection.execute("SELECT spec FROM run WHERE id = ?", (old.CUT_OFF,)).fetchone()
        connection.commit()
    engine = connect(url)
    found = queries.run(engine, old.FINISHED)["spec"]
    assert [each["config"] for each in found["entrants"]] == [MASKED] * len(spec["entrants"])
    assert found == {**spec, "webhook": "$STACKRANK_WEBHOOK", "entrants": found["entrants"]}
    assert queries.run(engine, old.CUT_OFF)["spec"] == json.loads(untouched), "where there is none, nothing changes"
    with engine.connect() as connection:
        dump = "\n".join(connection.connection.dbapi_connection.iterdump())  # type: ignore[union-attr]
    assert "hunter2" not in dump


@pytest.mark.parametrize("webhook", ["", "$SLACK", "https://hooks.example/?key=$SLACK"])
def test_an_address_that_names_its_secret_stays(webhook: str, tmp_path: Path) -> None:
    url = old.restore(file := tmp_path / "stackrank.db")
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("UPDATE run SET spec = json_set(spec, '$.webhook', ?)", (webhook,))
        connection.commit()
    engine = connect(url)
    assert [queries.run(engine, run)["spec"]["webhook"] for run in (old.FINISHED, old.CUT_OFF)] == [webhook] * 2
