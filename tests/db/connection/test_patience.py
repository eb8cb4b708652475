"""Waiting for a database that cannot take a question at the moment."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import Engine, QueuePool, create_engine, select, true
from sqlalchemy.exc import TimeoutError

from stackrank.db.connection.retries import retry_transient, with_patience


@pytest.fixture
def narrow(tmp_path: Path) -> Iterator[Engine]:
    """A database with one connection, for which nobody waits long."""
    engine = create_engine(
        f"sqlite:///{tmp_path / 'one.db'}", poolclass=QueuePool, pool_size=1, max_overflow=0, pool_timeout=0.02
    )
    yield engine
    engine.dispose()


def test_a_run_waits_for_free_connections(narrow: Engine) -> None:
    tried = threading.Semaphore(0)

    def ask() -> bool:
        tried.release()
        with narrow.connect() as connection:
            return bool(connection.scalar(select(true())))

    with narrow.connect() as held:
        with pytest.raises(TimeoutError):
            retry_transient(narrow, ask, attempts=1)

        def give_back() -> None:
            for _ in range(4):  # the one above, and three in vain
                tried.acquire()
            held.close()

        giver = threading.Thread(target=give_back)
        giver.start()
        assert retry_transient(with_patience(narrow, 600), ask, attempts=1)
        giver.join()
