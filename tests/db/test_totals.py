"""Totals that are asked again and again are those of all episodes, whatever happens to runs in between."""

from __future__ import annotations

from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from sqlalchemy import update

from stackrank.db import queries
from stackrank.db.columns import now
from stackrank.db.store import Store
from stackrank.db.transactions import RUN

HOW: dict[str, Any] = {"causes": ("the sandbox",), "seconds": (5.0, 60.0)}


def play(store: Store, run: int, verdicts: str) -> None:
    store.start_run(run)
    for number, verdict in enumerate(verdicts):
        claim = store.claim_next(run, "w")
        assert claim is not None
        if verdict == "e":
            store.fail_episode(claim["id"], stop_reason="error", error="the sandbox: gone")
            store.try_again(claim["id"])
            continue
        about = {"tokens_in": 10 + number, "tokens_out": 1, "wall_s": 4.0 + number, "cost_usd": 0.5}
        kind = "resolved" if verdict == "r" else "unresolved"
        store.finish_episode(claim["id"], verdict=kind, stop_reason="submitted", **about)


def end(store: Store, run: int) -> None:
    store.end_run(run, "finished")
    with store.engine.connect().execution_options(write=True) as connection, connection.begin():
        connection.execute(update(RUN).where(RUN.c.id == run).values(ended_at=now() - timedelta(hours=2)))


def test_they_are_those_of_all_episodes(store: Store, matrix: SimpleNamespace) -> None:
    kept = queries.Totals(store.engine, **HOW)

    def check() -> None:
        assert kept.now() == queries.totals(store.engine, **HOW)

    check()
    play(store, matrix.run, "rue")
    check()
    end(store, matrix.run)
    check()
    more = [store.create_run(name="m", benchmark_id=matrix.benchmark.id, spec={}, cells=matrix.cells) for _ in range(3)]
    for run, verdicts in zip(more, ("rr", "uer", "u"), strict=True):
        play(store, run, verdicts)
        check()
    end(store, more[1])
    check()
    play(store, matrix.run, "r")  # it goes on again
    check()
    end(store, matrix.run)
    store.cancel_run(more[0], "by ada")
    check()


def test_what_ended_is_added_up_once(store: Store, matrix: SimpleNamespace, monkeypatch: pytest.MonkeyPatch) -> None:
    play(store, matrix.run, "rru")
    end(store, matrix.run)
    asked: list[list[int]] = []
    add_up = queries.Totals._sum

    def spy(self: queries.Totals, runs: list[int]) -> Any:
        asked.append(runs)
        return add_up(self, runs)

    monkeypatch.setattr(queries.Totals, "_sum", spy)
    kept = queries.Totals(store.engine, **HOW)
    assert kept.now() == kept.now()
    assert asked == [[matrix.run], [], []]
