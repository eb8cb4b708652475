"""What each released version wrote opens with this one, and gives the same answers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine

from stackrank.db.connection.engine import HEAD, connect, revision_of
from stackrank.db.maintenance.copy import counts
from stackrank.db.totals.counters import differences
from stackrank.flows.runs.specification.spec import make_spec, read_spec
from tests.db import released


@pytest.fixture(scope="module", params=released.VERSIONS)
def version(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def engine(version: str, tmp_path_factory: pytest.TempPathFactory) -> Engine:
    return connect(released.restore(tmp_path_factory.mktemp("released") / "x.db", version))


def is_same(stored: Any, answer: Any) -> bool:
    """Whether an answer has everything that it had, and possibly more columns. Numbers may differ by rounding."""
    if isinstance(stored, dict):
        return isinstance(answer, dict) and all(
            name in answer and is_same(stored[name], answer[name]) for name in stored
        )
    if isinstance(stored, list):
        return isinstance(answer, list) and len(stored) == len(answer) and all(map(is_same, stored, answer))
    return bool(stored == (pytest.approx(answer, rel=1e-6) if isinstance(stored, float) else answer))


def test_a_released_database_has_the_newest_schema_once_it_is_opened(engine: Engine) -> None:
    with engine.connect() as connection:
        assert revision_of(connection) == HEAD
        assert differences(connection) == {}


@pytest.mark.parametrize("question", released.QUESTIONS)
def test_a_released_database_gives_the_same_answers(engine: Engine, version: str, question: str) -> None:
    answer = released.stored_answers(version)[question]
    assert answer and is_same(answer, released.ask(engine, question))


def test_opening_a_released_database_twice_changes_nothing(version: str, tmp_path: Path) -> None:
    url = released.restore(tmp_path / "x.db", version)
    first, second = (counts(connect(url)) for _ in range(2))
    assert first == second and first["episode"] > 5


def test_a_released_specification_runs(version: str) -> None:
    """The file has every field of its version; the run in the database has the defaults of its version."""
    spec = read_spec(released.FOLDER / version / "specification.yaml", {})
    assert [entrant.label for entrant in spec.entrants] == ["coder, debugger", "random (rewrite)", "random (debug)"]
    stored = released.stored_answers(version)["run"]["spec"]
    assert make_spec(stored, "the database").benchmark == "bugs"
