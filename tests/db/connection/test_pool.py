"""Threads that share a few connections."""

from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import pytest
from sqlalchemy import Connection, Engine, create_engine, exc, select

from stackrank.db.connection.pool import FairPool


@pytest.fixture
def single(tmp_path: Path) -> Iterator[Engine]:
    """A database with one connection."""
    engine = create_engine(
        f"sqlite:///{tmp_path / 'one.db'}", poolclass=FairPool, pool_size=1, max_overflow=0, pool_timeout=30
    )
    yield engine
    engine.dispose()


def waiting(engine: Engine) -> int:
    """How many threads wait for a connection."""
    return len(engine.pool._pool.turns)  # type: ignore[attr-defined]


def until_waiting(engine: Engine, count: int) -> None:
    """Wait until so many threads do."""
    while waiting(engine) < count:
        time.sleep(0.001)


def test_connections_are_given_in_order_of_request(single: Engine) -> None:
    served: list[int] = []

    def ask(number: int) -> None:
        with single.connect():
            served.append(number)

    with ThreadPoolExecutor(10) as threads:
        with single.connect():
            for number in range(10):
                threads.submit(ask, number)
                until_waiting(single, number + 1)
        ask(10)  # Whoever has just had it comes last, however quick it is.
    assert served == list(range(11))


def test_a_timed_out_thread_takes_no_connection(single: Engine) -> None:
    single.pool._timeout = 0.01  # type: ignore[attr-defined]
    with single.connect(), pytest.raises(exc.TimeoutError, match="QueuePool limit of size 1"):
        single.connect()
    assert waiting(single) == 0
    with single.connect():
        pass


def give_up(monkeypatch: pytest.MonkeyPatch, error: type[BaseException], held: Connection) -> None:
    """Let the next thread that waits give up with this error, just after it was handed the connection."""
    real = Future.result

    def at_the_last_moment(turn: Future[object], timeout: float | None = None) -> object:
        monkeypatch.setattr(Future, "result", real)
        held.close()
        raise error

    monkeypatch.setattr(Future, "result", at_the_last_moment)


def test_a_connection_returned_at_the_last_moment_is_used(single: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    give_up(monkeypatch, TimeoutError, single.connect())
    with single.connect() as connection:
        assert connection.scalar(select(1)) == 1
    with single.connect():
        pass


def test_an_interrupted_thread_passes_its_connection_on(single: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    give_up(monkeypatch, KeyboardInterrupt, single.connect())
    with pytest.raises(KeyboardInterrupt):
        single.connect()
    with single.connect():
        pass
