"""A synthetic database of the size that a team has after years: by default 100,000 episodes and 3,000,000 steps.

    python -m tests.bench.scenarios.big_database FILE [--episodes N] [--steps N]

Rows are written in bulk, past the store: what matters is their number and size, and that totals, milestones and
failure points agree with each other. The first episode has 1,001 steps, and a run of its own.
"""

from __future__ import annotations

import argparse
import json
import random
import time
from collections.abc import Iterator, Mapping
from datetime import timedelta
from functools import cache
from pathlib import Path
from typing import Any

from sqlalchemy import Engine, insert, select

from stackrank.db.connection.engine import connect
from stackrank.db.connection.transactions import EPISODE, RUN, STEP, TOOL_USE
from stackrank.db.texts import fold
from stackrank.db.totals import tallies
from stackrank.db.writes.store import Store
from stackrank.db.writes.tool_use import totals
from stackrank.host.wall_clock import now
from tests.dashboard.seed import CONDITIONS

TASKS, ENTRANTS, ATTEMPTS = 500, 10, 1
LONG_TRACE = 1_001
"""Steps of the first episode."""
FAILURES = (
    "never_reproduced",
    "never_localized",
    "localized_not_edited",
    "wrong_location",
    "wrong_fix",
)
RARE_TOOL = "undo"
"""What every thousandth episode used."""
_MODELS = ("qwen3-coder", "llama-3.3-70b", "deepseek-v3", "gpt-oss-120b", "mistral-large")
_TOOL_SETS = ("debug", "rewrite")
_SOURCE = "class Book:\n    def total(self, items):\n" + "".join(f"        x = {n}\n" for n in range(60))
_FILLING = "42        for item in items[1:]:\n" * 5
_INSERT = (
    f"INSERT INTO step ({', '.join(f'{chr(34)}{column.name}{chr(34)}' for column in STEP.columns)}) "
    f"VALUES ({', '.join('?' for _ in STEP.columns)})"
)

_USE = "INSERT INTO episode_tool (tool, episode_id) VALUES (?, ?)"


def fill(engine: Engine, *, episodes: int, steps: int) -> None:
    """Fill an empty database: whole runs of 500 tasks x 10 entrants, and about `steps` steps in all."""
    store = Store(engine)
    benchmark = store.save_benchmark(
        name="bugs", digest="big", license="MIT", source="synthetic", tasks=[_task(n) for n in range(TASKS)]
    )
    entrants = [
        store.save_entrant(
            digest=f"e{n}",
            name=f"{_MODELS[n // 2]} / {_TOOL_SETS[n % 2]}",
            agent="tool_calls",
            model=_MODELS[n // 2],
            tools=_TOOL_SETS[n % 2],
            tool_list=["view", "rewrite", "eval", "grep", *(["pdb"] if _has_debugger(n) else [])],
        )
        for n in range(ENTRANTS)
    ]
    mean = steps / episodes - 1
    limit = max(5, round(1.25 * mean))
    limits = _limits(limit)
    cells = [(task, entrant) for task in benchmark.task_ids.values() for entrant in entrants]

    def create_run(name: str, seed: int, limits: Mapping[str, Any], **series: Any) -> int:
        return store.create_run(
            name=name,
            benchmark_id=benchmark.id,
            spec={
                "benchmark": "bugs",
                "seed": seed,
                **limits,
                "entrants": [
                    {"agent": "tool_calls", "model": _MODELS[number // 2], "tools": _TOOL_SETS[number % 2]}
                    for number in range(ENTRANTS)
                ],
            },
            conditions=CONDITIONS | limits,
            versions={"stackrank": "0.1.0", "python": "3.11"},
            owner="ada",
            **series,
        )

    # The long trace is in no series, where its tokens and cost would stand out from all others.
    runs = [create_run("long-trace", 0, _limits(LONG_TRACE - 1))]
    nights = range(-(-(episodes - 1) // len(cells)))
    series = {"leaderboard": "nightly", "tags": ["nightly"]}
    runs += [create_run(f"nightly-{night:03}", night, limits, **series) for night in nights]
    remaining, dice = episodes, random.Random(11)
    debugging = {entrant for n, entrant in enumerate(entrants) if _has_debugger(n)}
    first_day = now() - timedelta(days=len(runs))
    for number, run in enumerate(runs):
        at = first_day + timedelta(days=number)
        part = cells[: remaining if number else 1]
        rows = [
            _episode(dice, run, task, entrant, (mean, limit), at, debugs=entrant in debugging) for task, entrant in part
        ]
        remaining -= len(part)
        if number == 0:
            rows[0] |= _spent(LONG_TRACE - 1) | {
                "failure_step": LONG_TRACE - 2,
                "verdict": "unresolved",
                "stop_reason": "submitted",
                "failure_point": "wrong_fix",
                "at_reproduced": 1,
                "at_localized": 1,
                "at_edited": LONG_TRACE - 2,
                "at_improved": None,
                "at_solved": None,
            }
        fields = {
            "status": "finished",
            "episodes_total": len(rows),
            "started_at": at,
            "ended_at": at + timedelta(hours=2),
        }
        with engine.begin() as connection:
            connection.execute(insert(EPISODE), rows)
            connection.execute(RUN.update().where(RUN.c.id == run).values(fields))
            tallies.keep(connection, run)
    _add_steps(engine, debugging)


def _add_steps(engine: Engine, debugging: set[int]) -> None:
    """Give every episode its steps. Those of episodes that are alike in all that matters are copied by the database."""
    columns = (EPISODE.c.id, EPISODE.c.steps, EPISODE.c.entrant_id, EPISODE.c.verdict)
    with engine.connect() as connection:
        played = connection.execute(select(*columns).order_by(EPISODE.c.id)).tuples().all()
    examples: dict[tuple[int, bool, bool], int] = {}
    copies = [
        (episode, examples.setdefault((last, entrant in debugging, verdict == "resolved"), episode))
        for episode, last, entrant, verdict in played
    ]
    first, end = copies[0][0], copies[-1][0] + 1
    others = ", ".join(f'"{column.name}"' for column in STEP.columns if column.name != "episode_id")
    with engine.connect() as connection:
        for (last, debugs, solved), episode in examples.items():
            connection.exec_driver_sql(_INSERT, list(_steps(episode, last, debugs=debugs, solved=solved)))
            tools = {_tool(n, last, debugs=debugs) for n in range(1, last + 1)}
            connection.exec_driver_sql(_USE, [(tool, episode) for tool in tools])
        connection.exec_driver_sql("CREATE TEMP TABLE copy (id INTEGER PRIMARY KEY, example INTEGER)")
        connection.exec_driver_sql("INSERT INTO copy VALUES (?, ?)", [pair for pair in copies if pair[0] != pair[1]])
        for start in range(first, end, 20_000):
            part = (start, start + 19_999)
            connection.exec_driver_sql(
                f"INSERT INTO step (episode_id, {others}) SELECT copy.id, {others} FROM copy "
                "JOIN step ON step.episode_id = copy.example WHERE copy.id BETWEEN ? AND ?",
                part,
            )
            connection.exec_driver_sql(
                "INSERT INTO episode_tool (tool, episode_id) SELECT tool, copy.id FROM copy "
                "JOIN episode_tool ON episode_tool.episode_id = copy.example WHERE copy.id BETWEEN ? AND ?",
                part,
            )
            uses = totals(EPISODE.c.id.between(*part))
            connection.execute(insert(TOOL_USE).from_select([column.name for column in uses.selected_columns], uses))
            connection.commit()
        rare = [(RARE_TOOL, episode) for episode in range(first, end) if episode % 1_000 == 0]
        connection.exec_driver_sql(_USE, rare or [(RARE_TOOL, first)])
        connection.commit()


def _limits(steps: int) -> dict[str, Any]:
    """Return the limits that an episode of so many steps reaches."""
    most = _spent(steps)
    return {"steps": steps, "tokens": most["tokens_in"] + most["tokens_out"], "cost_usd": round(most["cost_usd"], 4)}


def _has_debugger(entrant: int) -> bool:
    return _TOOL_SETS[entrant % 2] == "debug"


def _tool(n: int, last: int, *, debugs: bool) -> str:
    if n == 0:
        return ""
    usual = "view" if n % 3 == 1 else "pdb" if debugs else "grep"
    return {last: "eval", last - 1: "rewrite"}.get(n, usual)


def _steps(episode: int, last: int, *, debugs: bool, solved: bool) -> Iterator[tuple[Any, ...]]:
    """The steps of an episode, as rows of the table."""
    for n in range(last + 1):
        tool = _tool(n, last, debugs=debugs)
        observation = _packed(f"Observation {n} of episode {episode}: {_FILLING}")
        thought, arguments, state = _common(tool, n, solved and n == last)
        at_fault = tool == "pdb" and n == 2
        distance = "line" if at_fault else ("", "file", "function", "line")[n % 4]
        row = {
            "episode_id": episode, "index": n, "tool": tool, "arguments": arguments, "thought": thought,
            "observation": observation, "ok": n % 13 != 5, "state": state, "env_ms": 35.0, "model_ms": 1500.0,
            "tokens_in": 900 + 300 * n, "tokens_out": 120, "tokens_cached": 0, "tokens_reasoning": 0,
            "cost_usd": 0.002, "exchanges": b"", "milestones": b"", "distance": distance,
            "distance_lines": 0 if at_fault else n % 30 if distance else None, "created_at": None,
        }  # fmt: skip
        yield tuple(row[column.name] for column in STEP.columns)


@cache
def _common(tool: str, n: int, solved: bool) -> tuple[bytes, bytes, bytes]:
    """Thought, arguments and state of a step of this kind."""
    arguments: dict[str, Any] = {"command": f"p items[{n}]"} if tool == "pdb" else {"path": "core.py"}
    breakpoints = [{"file": "core.py", "line": 14}]
    state: dict[str, Any] = {
        "file": "core.py",
        "line": 14 if n == 2 else 3 + n % 40,
        "function": "Book.total",
        "depth": 2 + n % 5,
    }
    state |= {"locals": {"items": "[1, 2]"}, "breakpoints": breakpoints}
    if tool in ("", "eval"):
        arguments = {}
        tests = {"passed": 5, "failed": 0} if solved else {"passed": 3, "failed": 2}
        ids = {"t.py::a": "passed" if solved else "failed"}
        state = {"tests": {**tests, "ids": ids}, "solved": solved, "exit": 0 if solved else 1}
    elif tool == "rewrite":
        arguments = {"path": "core.py", "start": 14, "end": 14, "new_code": f"        y = {n}"}
        state = {"edited": "core.py", "lines": [14, 14]}
    elif tool == "grep":
        arguments, state = {"pattern": "total"}, {}
    elif tool == "view":
        state = {"path": "core.py", "lines": [1, 40]}
    return _packed(f"The sum leaves out an item; look at number {n}."), _packed(arguments), _packed(state)


def _packed(value: Any) -> bytes:
    return fold(value, None).packed


def _task(number: int) -> dict[str, Any]:
    return {
        "name": f"task-{number:03}",
        "title": f"Task {number}",
        "statement": "The sum leaves out the first item. Find out why and fix it.",
        "category": ("logic", "state", "boundary", "types")[number % 4],
        "difficulty": ("easy", "medium", "hard")[number % 3],
        "digest": f"d{number}",
        "files": {"core.py": _SOURCE},
        "faults": [{"file": "core.py", "functions": ["Book.total"], "lines": [14]}],
        "fix": "--- a/core.py\n+++ b/core.py\n@@ -14 +14 @@\n-        x = 11\n+        x = 12\n",
    }


def _spent(steps: int) -> dict[str, Any]:
    """Return what an episode of so many steps spent: the sums over its steps, the reset among them."""
    rows = steps + 1
    return {
        "steps": steps,
        "tokens_in": 900 * rows + 150 * steps * rows,
        "tokens_out": 120 * rows,
        "cost_usd": 0.002 * rows,
    }


def _episode(
    dice: random.Random, run: int, task: int, entrant: int, length: tuple[float, int], at: Any, *, debugs: bool
) -> dict[str, Any]:
    mean, limit = length
    steps = min(limit, max(4, round(dice.gauss(mean, mean / 4))))
    draw = dice.random()
    verdict = "error" if draw < 0.02 else "resolved" if draw < 0.2 + 0.06 * (entrant % 10) else "unresolved"
    failed = verdict == "unresolved"
    point = dice.choice(FAILURES) if failed else ""
    if failed and steps == limit and point != "wrong_fix":
        point = "out_of_budget"
    is_reproduced = point != "never_reproduced"
    is_localized = is_reproduced and point != "never_localized"
    is_edited = point in ("", "wrong_fix")
    return _spent(steps) | {
        "run_id": run,
        "task_id": task,
        "entrant_id": entrant,
        "attempt": 1,
        "try_number": 1,
        "counted": True,
        "status": "done",
        "verdict": verdict,
        "stop_reason": {"error": "error", "resolved": "solved"}.get(
            verdict, "step_limit" if steps == limit else "submitted"
        ),
        "failure_point": point,
        "failure_step": steps - 1 if failed else None,
        "tampered": False,
        "tokens_cached": 0,
        "tokens_reasoning": 0,
        "usage": {},
        "env_ms": 35.0 * steps,
        "model_ms": 1500.0 * steps,
        "score_ms": 400.0,
        "wall_s": 1.6 * steps,
        "tests_passed": 3 if failed else 5,
        "tests_failed": 2 if failed else 0,
        "error": "The sandbox did not answer within 60 s." if verdict == "error" else "",
        "diff": "--- a/core.py\n+++ b/core.py\n@@ -14 +14 @@\n-        x = 11\n+        x = 12\n",
        "score": {"tests": {"t.py::a": "failed" if failed else "passed"}, "notes": []},
        "at_reproduced": 1 if is_reproduced else None,
        "at_localized": 1 if is_localized else None,
        "at_breakpoint": 2 if is_localized and debugs else None,
        "at_inspected": 2 if is_localized and debugs else None,
        "at_edited": steps - 1 if is_edited else None,
        "at_improved": None if failed else steps,
        "at_solved": None if failed else steps,
        "sandbox": "docker",
        "tags": [],
        "claimed_by": "",
        "interruptions": 0,
        "replayed": "",
        "created_at": at,
        "started_at": at,
        "ended_at": at + timedelta(seconds=1.6 * steps),
    }


def main() -> None:
    """Make the file and say how long it took."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("--episodes", type=int, default=100_000)
    parser.add_argument("--steps", type=int, default=3_000_000)
    options = parser.parse_args()
    started = time.monotonic()
    fill(connect(f"sqlite:///{options.file}"), episodes=options.episodes, steps=options.steps)
    print(json.dumps({"seconds": round(time.monotonic() - started), "bytes": options.file.stat().st_size}))


if __name__ == "__main__":
    main()
