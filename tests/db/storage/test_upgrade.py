"""Upgrades: a later version of stackrank, which has one more migration, opens a database of this version."""

from __future__ import annotations

import shutil
import threading
from pathlib import Path

import pytest
from alembic.config import Config
from sqlalchemy import inspect, text

from stackrank.db import queries
from stackrank.db.connection import engine as engine_module
from stackrank.db.connection.engine import HEAD, connect, revision_of
from stackrank.db.connection.errors import DatabaseError
from tests.dashboard.seed import seed
from tests.postgres import Cluster

LATER = f"{int(HEAD) + 1:04}"
MIGRATION = f"""
import sqlalchemy as sa
from alembic import op
from stackrank.db.migrations.checks import set_check

revision, down_revision = "{LATER}", "{HEAD}"


def upgrade():
    op.add_column("run", sa.Column("mood", sa.String(), nullable=False, server_default="calm"))
    set_check("run", "status", "status IN ('pending', 'running', 'finished', 'cancelled', 'failed', 'paused')")
"""


@pytest.fixture
def become_later(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> pytest.MonkeyPatch:
    """Add the migration of a later version to this process."""
    folder = tmp_path / "migrations"
    source = Path(engine_module.__file__).parents[1] / "migrations"
    shutil.copytree(source, folder, ignore=shutil.ignore_patterns("__pycache__"))  # others compile there
    (folder / "versions" / f"{LATER}_moods.py").write_text(MIGRATION)

    def later_config() -> Config:
        config = Config()
        config.set_main_option("script_location", str(folder))
        config.set_main_option("path_separator", "os")
        return config

    monkeypatch.setattr(engine_module, "HEAD", LATER)
    monkeypatch.setattr(engine_module, "alembic_config", later_config)
    return monkeypatch


def schema(url: str) -> str | None:
    with connect(url, migrate=False).connect() as connection:
        return revision_of(connection)


@pytest.fixture(params=["sqlite", "postgresql"])
def seeded(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The address of a database of this version, with episodes."""
    url = f"sqlite:///{tmp_path / 'x.db'}"
    if request.param == "postgresql":
        url = request.getfixturevalue("postgres").create("migrated")
    engine = connect(url)
    seed(engine, runs=1, live=False, tasks=4)
    engine.dispose()
    return str(url)


def test_rows_rules_and_triggers_outlive_an_upgrade(seeded: str, request: pytest.FixtureRequest) -> None:
    engine = connect(seeded)
    answers = queries.leaderboard(engine), queries.episodes(engine, limit=1000)
    engine.dispose()
    request.getfixturevalue("become_later")
    engine = connect(seeded, upgrade=True)
    assert (queries.leaderboard(engine), queries.episodes(engine, limit=1000)) == answers
    with engine.begin() as connection:
        connection.execute(text("UPDATE run SET status = 'paused'"))
        assert connection.scalar(text("SELECT mood FROM run")) == "calm"
        episodes = connection.scalar(text("SELECT count(*) FROM episode"))
        assert connection.scalar(text("SELECT sum(episodes) FROM counter")) == episodes
    names = {check["name"] for check in inspect(engine).get_check_constraints("run")}
    assert names == {"ck_run_status", "ck_run_counts"}
    engine.dispose()


def test_rows_that_break_a_new_rule_are_named(seeded: str, become_later: pytest.MonkeyPatch, tmp_path: Path) -> None:
    file = tmp_path / "migrations" / "versions" / f"{LATER}_moods.py"
    file.write_text(MIGRATION.replace("'finished', ", ""))
    with pytest.raises(DatabaseError, match=r"1 row of the table run break a rule.*status IN"):
        connect(seeded, upgrade=True)
    assert schema(seeded) == HEAD, "nothing has changed"


def test_postgresql_is_upgraded_only_on_request(postgres: Cluster, become_later: pytest.MonkeyPatch) -> None:
    url = postgres.create("migrated")
    with pytest.raises(DatabaseError, match=rf"schema {HEAD} .* `stackrank db upgrade`") as refused:
        connect(url)
    assert "s3cret" not in str(refused.value)
    assert schema(url) == HEAD
    become_later.setenv("STACKRANK_AUTO_MIGRATE", "1")
    connect(url).dispose()
    assert schema(url) == LATER


def test_several_processes_upgrade_at_once(seeded: str, become_later: pytest.MonkeyPatch) -> None:
    errors: list[BaseException] = []

    def upgrade() -> None:
        try:
            connect(seeded, upgrade=True).dispose()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=upgrade) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == [] and schema(seeded) == LATER
