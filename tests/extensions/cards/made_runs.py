"""Runs that were made, not played: everything that a board can meet, at random."""

from __future__ import annotations

import random
from typing import Any

from sqlalchemy import Engine, insert

from stackrank.db.connection.transactions import EPISODE, RUN, TASK
from stackrank.db.writes.store import Store
from stackrank.host.wall_clock import now
from tests.db.storage.test_identity import KNOWN

ODD_NAMES = ("=1+1", "NaN", "a,b\n'c\"", " | *x* ")
"""Names of entrants that a table may spoil."""


def make_runs(
    engine: Engine,
    seed: int,
    *,
    runs: int = 3,
    tasks: int = 14,
    entrants: int = 4,
    attempts: int = 1,
    faults: int = 1,
    with_others: bool = True,
) -> None:
    """Fill an empty database with finished runs, and with runs that boards leave out. `faults`: those of each task."""
    dice, store = random.Random(seed), Store(engine)
    rows = [{"name": f"t{n:03}", "digest": f"d{n}", "category": f"c{n % 11}"} for n in range(tasks)]
    for version in ("v1", "v2"):
        benchmark = store.save_benchmark(name="bugs", digest=version, license="", source="", tasks=rows)
    other = store.save_benchmark(name="private", digest="p", license="", source="", tasks=rows[:2])
    chances = [dice.random() for _ in range(entrants)]
    ids = [
        store.save_entrant(
            digest=f"e{n}",
            name=ODD_NAMES[n] if n < len(ODD_NAMES) else f"entrant {n}",
            agent="a",
            model="m",
            config={"temperature": 0.5, "base_url": "https://inside.example", "key": "secret"},
            reference=n == entrants - 1 and n > 1,
        )
        for n in range(entrants)
    ]
    kinds = [("finished", benchmark, KNOWN)] * runs
    if with_others:
        kinds = [("finished", other, KNOWN), ("cancelled", benchmark, KNOWN), *kinds]
        kinds.insert(1, ("finished", benchmark, {**KNOWN, "steps": 3}))
    for status, saved, conditions in kinds:
        run = store.create_run(
            name="r", benchmark_id=saved.id, spec={}, conditions=conditions, versions={"stackrank": "1"}
        )
        episodes = []
        for task in saved.task_ids.values():
            ease = dice.random()
            for place, entrant in enumerate(ids):
                if place == 1 and dice.random() < 0.1:
                    continue  # not every entrant plays every task
                chance = (ease + chances[place]) / 2
                for attempt in range(1, attempts + 1):
                    key = {"run_id": run, "task_id": task, "entrant_id": entrant, "attempt": attempt}
                    episodes += _tries(dice, key, chance, priced=place != 2, faults=faults)
        with engine.begin() as connection:
            connection.execute(insert(EPISODE), episodes)
            ended = {"status": status, "episodes_total": len(episodes), "started_at": now(), "ended_at": now()}
            connection.execute(RUN.update().where(RUN.c.id == run).values(ended))
    with engine.begin() as connection:
        of_task = TASK.c.benchmark_id == benchmark.id
        connection.execute(TASK.update().where(of_task, TASK.c.name == "t000").values(valid=False))


def _tries(
    dice: random.Random, key: dict[str, Any], chance: float, *, priced: bool, faults: int
) -> list[dict[str, Any]]:
    rows = []
    for number in (1, 2) if dice.random() < 0.05 else (1,):
        rows.append(
            _episode(dice, chance, priced=priced, faults=faults) | key | {"try_number": number, "counted": False}
        )
    return [*rows[:-1], rows[-1] | {"counted": True}]


def _episode(dice: random.Random, chance: float, *, priced: bool, faults: int) -> dict[str, Any]:
    is_error, tokens = dice.random() < 0.06, dice.randrange(90_000)
    verdict = "error" if is_error else "resolved" if dice.random() < chance else "unresolved"
    mended = sum(dice.random() < chance for _ in range(faults - 1))
    mended = {"resolved": faults, "unresolved": mended}.get(verdict, 0)
    return {
        "status": "done",
        "verdict": verdict,
        "mended": mended,
        "faults_total": faults,
        "error": "endpoint: refused" if is_error else "",
        "error_class": dice.choice(["machine", "endpoint", "environment", "ours"]) if is_error else "",
        "sealed": 12 if verdict == "resolved" and dice.random() < 0.7 else 0,
        "steps": dice.randrange(1, 50),
        "tokens_in": tokens,
        "tokens_out": tokens // 9,
        "cost_usd": tokens / 3e5 if priced else None,
        "wall_s": 300 * dice.random(),
        "failure_point": "wrong_fix" if verdict == "unresolved" else "",
        "stop_reason": "error" if is_error else "submitted",
        "claimed_by": "worker at inside.example",
        "usage": {},
        "score": {},
        "diff": "",
        "tags": [],
    }
