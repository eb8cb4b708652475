"""A small realistic database written through the store: three entrants, twenty tasks, debugger sessions."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from sqlalchemy import Engine, func, select, update

from stackrank.db import stats
from stackrank.db.connection.transactions import EPISODE, RUN
from stackrank.db.models.runs import Step
from stackrank.db.writes.store import SavedBenchmark, Store
from stackrank.patches.writing import file_diff
from stackrank.terms import FAILURE_POINTS
from tests.support.episodes import create_episodes, start

WORDS = [
    "account-transfer",
    "cave-adventure",
    "download-manager",
    "dungeon-path",
    "file-sync",
    "growing-histogram",
    "island-roads",
    "kalah-pits",
    "ledger-round",
    "matrix-walk",
    "page-cache",
    "parser-stack",
    "poll-runoff",
    "queue-retry",
    "report-totals",
    "route-planner",
    "shelf-sort",
    "snake-moves",
    "tax-table",
    "word-wrap",
]
_AT_ONCE = 8
CATEGORIES = ("logic", "state", "boundary", "types")
HOSTILE = "<script>document.title='owned'</script><img src=x onerror=alert(1)> $x^2$ :red[red] `tick` **bold** [a](b)"
SOURCE = """from decimal import Decimal

x = 1


class Book:
    \"""What was bought.\"""

    def __init__(self):
        self.items = []

    def total(self, items):
        result = 0
        for item in items[1:]:
            result += item.price
        return result
"""
FIX = file_diff("core.py", SOURCE.encode(), SOURCE.replace("items[1:]", "items").encode())
_WRONG = "        for item in items[2:]:"
_TEST = "def test_total():\n    assert Book().total([40, 12]) == 52\n"
_EDITS = {
    "": ("core.py", 14, "        for item in items:", FIX),
    "wrong_location": (
        "core.py",
        3,
        "x = 2",
        file_diff("core.py", SOURCE.encode(), SOURCE.replace("x = 1", "x = 2").encode()),
    ),
    "tampered": (
        "tests/test_core.py",
        2,
        "    assert True",
        file_diff("tests/test_core.py", _TEST.encode(), b"def test_total():\n    assert True\n"),
    ),
} | dict.fromkeys(
    ("wrong_fix", "regression"),
    (
        "core.py",
        14,
        _WRONG,
        file_diff("core.py", SOURCE.encode(), SOURCE.replace("        for item in items[1:]:", _WRONG).encode()),
    ),
)
"""Failure point -> the path, line, code and change of the edit that leads there; no edit without one."""
FAILURES = {
    "never_reproduced": (),
    "never_localized": ("reproduced",),
    "out_of_budget": ("reproduced", "localized"),
    "wrong_location": ("reproduced", "localized", "breakpoint", "inspected"),
    "wrong_fix": ("reproduced", "localized", "breakpoint", "inspected", "edited"),
    "regression": ("reproduced", "localized", "breakpoint", "inspected", "edited", "improved"),
}
TAMPERED = {"tampered": ("reproduced", "localized")}
"""Failure point -> the milestones that an episode reached which failed there."""
# name, tools, chance to resolve, steps, price of a million tokens
ENTRANTS = (
    ("qwen3-coder / debug", "qwen3-coder", "debug", 0.72, (7, 14), 0.6),
    ("qwen3-coder / rewrite", "qwen3-coder", "rewrite", 0.55, (4, 9), 0.6),
    ("llama-3.3-70b / debug", "llama-3.3-70b", "debug", 0.34, (8, 20), None),
)

STEP_LIMIT = 20
CONDITIONS: dict[str, Any] = {
    "steps": STEP_LIMIT, "tokens": None, "cost_usd": None, "wall_s": 1800.0, "malformed": 5, "repeats": 8,
    "sandbox": "docker", "scorer": "3f2a91c07b5d4e68", "ends_when_solved": True, "shows_failing_test": True,
    "shows_failure_state": False,
}  # fmt: skip


@dataclass
class Seeded:
    """The ids of the rows that were written."""

    benchmark: SavedBenchmark
    entrants: dict[str, int] = field(default_factory=dict)
    runs: list[int] = field(default_factory=list)
    episodes: list[int] = field(default_factory=list)
    hostile: int = 0
    live_run: int = 0


def seed(engine: Engine, *, runs: int = 3, live: bool = True, tasks: int = 20, attempts: int = 1) -> Seeded:
    """Fill the database. The last run is going on when `live`; the first episode of the first run is hostile."""
    store = Store(engine)
    dice = random.Random(7)
    benchmark = store.save_benchmark(
        name="bugs",
        digest="b1",
        license="MIT",
        source="built in",
        tasks=[_task(n) for n in range(tasks)],
        rates={
            "digest": "b0",
            "measured_on": "2026-11-26",
            "false_accepts": _error_rate(1, 200, tasks),
            "false_rejects": _error_rate(0, 200, tasks),
        },
    )
    contents = Seeded(benchmark)
    for name, model, tools, *_ in ENTRANTS:
        tool_list = ["view", "rewrite", "eval", "grep"] + (["pdb"] if tools == "debug" else [])
        contents.entrants[name] = store.save_entrant(
            digest=name, name=name, agent="tool_calls", agent_version="1", model=model, tools=tools, tool_list=tool_list
        )
    for number in range(runs):
        going = live and number == runs - 1
        run_id = store.create_run(
            name="nightly",
            benchmark_id=benchmark.id,
            spec={
                "benchmark": "bugs",
                "attempts": attempts,
                "seed": number,
                "entrants": [
                    {"agent": "tool_calls", "model": model, "tools": tools} for _, model, tools, *_ in ENTRANTS
                ],
            },
            seed=number,
            tags=["nightly", "demo"],
            owner="ada",
            project="debuggers",
            leaderboard="nightly",
            conditions=CONDITIONS,
            versions={"stackrank": "0.1.0", "python": "3.11", "failure_points": FAILURE_POINTS},
            host="worker-1",
        )
        contents.runs.append(run_id)
        cells = [
            (task, entrant, attempt)
            for task in benchmark.task_ids.values()
            for entrant in contents.entrants.values()
            for attempt in range(1, attempts + 1)
        ]
        ids = create_episodes(store, run_id, cells, "docker")
        store.start_run(run_id)
        for position, ((_, entrant, _), episode_id) in enumerate(ids.items()):
            contents.episodes.append(episode_id)
            if going and position >= len(ids) * 2 // 3:
                if position < len(ids) * 2 // 3 + 3:
                    start(store, episode_id)
                continue
            entrant_index = list(contents.entrants.values()).index(entrant)
            hostile = not contents.hostile
            contents.hostile = contents.hostile or episode_id
            _play(store, episode_id, ENTRANTS[entrant_index], dice, hostile=hostile)
        if going:
            contents.live_run = run_id
            store.heartbeat(run_id)
        else:
            store.end_run(run_id, "finished")
        _begin_earlier(engine, run_id, nights=runs - 1 - number)
    return contents


def _begin_earlier(engine: Engine, run_id: int, *, nights: int) -> None:
    """Let a run have taken as long as its episodes, of which so many were played at a time, so many nights ago."""
    with engine.begin() as connection:
        of_run = select(func.sum(EPISODE.c.wall_s)).where(EPISODE.c.run_id == run_id)
        before = timedelta(seconds=(connection.scalar(of_run) or 0.0) / _AT_ONCE)
        started, ended = connection.execute(select(RUN.c.started_at, RUN.c.ended_at).where(RUN.c.id == run_id)).one()
        earlier = timedelta(days=nights)
        ends = {} if ended is None else {"ended_at": ended - earlier}
        times = {"started_at": started - before - earlier, **ends}
        connection.execute(update(RUN).where(RUN.c.id == run_id).values(times))


def _error_rate(errors: int, changes: int, tasks: int) -> dict[str, Any]:
    rate = stats.rate([1.0] * errors + [0.0] * (changes - errors), [1] * changes)
    counts = {"changes": changes, "errors": errors, "tasks": tasks, "authors": 1}
    return {**counts, "rate": rate.rate, "low": rate.low, "high": rate.high}


def _task(number: int) -> dict[str, Any]:
    name = WORDS[number] if number < len(WORDS) else f"task-{number:03}"
    module = name.split("-")[0]
    buggy_line, fixed_line = "        for item in items[1:]:", "        for item in items:"
    return {
        "name": name,
        "title": name.replace("-", " ").capitalize(),
        "statement": f"Running `python -m pytest -q` fails: `{module}` leaves out the first item.\n"
        "Find out why and fix it.",
        "category": CATEGORIES[number % len(CATEGORIES)],
        "difficulty": ("easy", "medium", "hard")[number % 3],
        "digest": f"d{number}",
        "tags": ["python"],
        "files": {"core.py": SOURCE},
        "faults": [{"file": "core.py", "functions": ["Book.total"], "lines": [14]}],
        "fix": f"--- a/core.py\n+++ b/core.py\n@@ -12,5 +12,5 @@\n     def total(self, items):\n"
        f"         result = 0\n-{buggy_line}\n+{fixed_line}\n             result += item.price\n"
        "         return result\n",
    }


def _play(store: Store, episode_id: int, entrant: tuple[Any, ...], dice: random.Random, *, hostile: bool) -> None:
    _, _, tools, chance, (fewest, longest), price = entrant
    start(store, episode_id)
    length = dice.randint(fewest, longest)
    resolved = dice.random() < chance
    spent = [_spent(dice) for _ in range(length)]
    error = dice.random() < 0.04 and not hostile
    verdict = "error" if error else "resolved" if resolved else "unresolved"
    end = dice.choice(["agent_gave_up", "submitted"]) if verdict == "unresolved" else ""
    point = "" if verdict != "unresolved" else dice.choice(list(FAILURES))
    tampered = verdict == "unresolved" and episode_id % 5 == 0
    point = "tampered" if tampered else point
    if point == "out_of_budget":
        more = random.Random(episode_id)
        spent += [_spent(more) for _ in range(STEP_LIMIT - length)]
        length = STEP_LIMIT
    stop = "error" if error else "solved" if resolved else "step_limit" if length == STEP_LIMIT else end
    cost, tokens = 0.0, [0, 0]
    failing = {"passed": 3, "failed": 2, "ids": {"tests/test_core.py::test_total": "failed"}}
    store.add_step(
        Step(
            episode_id=episode_id,
            index=0,
            observation="FAILED tests/test_core.py::test_total - assert 40 == 52\n2 failed, 3 passed in 0.11s",
            state={"kind": "tests", "tests": failing},
            env_ms=310.0,
        )
    )
    for index in range(1, length + 1):
        step = _step(index, length, tools, "" if resolved else point or "never_localized", failing)
        if hostile and index == 2:
            step |= {"thought": HOSTILE, "observation": HOSTILE + "\n" + "x" * 30_000, "arguments": {"code": HOSTILE}}
        tokens_in, tokens_out, env_ms, model_ms = spent[index - 1]
        token_counts = (tokens_in + 400 * index, tokens_out)
        paid = None if price is None else (token_counts[0] + 4 * token_counts[1]) * price / 1e6
        tokens = [tokens[0] + token_counts[0], tokens[1] + token_counts[1]]
        cost += paid or 0.0
        store.add_step(
            Step(
                episode_id=episode_id,
                index=index,
                tokens_in=token_counts[0],
                tokens_out=token_counts[1],
                cost_usd=paid,
                env_ms=env_ms,
                model_ms=model_ms,
                **step,
            )
        )
    store.finish_episode(
        episode_id,
        verdict=verdict,
        stop_reason=stop,
        failure_point=point,
        tampered=tampered,
        sealed=12 if verdict == "resolved" and episode_id % 3 else 0,
        failure_step=None if verdict != "unresolved" else length - 1,
        steps=length,
        tokens_in=tokens[0],
        tokens_out=tokens[1],
        cost_usd=None if price is None else cost,
        env_ms=900.0,
        model_ms=1500.0 * length,
        score_ms=420.0,
        wall_s=2.1 * length,
        tests_passed=5 if resolved else 3,
        tests_failed=0 if resolved else 2,
        error="The sandbox did not answer within 60 s." if error else "",
        diff="--- a/core.py\n+++ b/core.py\n@@ -14 +14 @@\n-    for item in items[1:]:\n+    for item in items:\n",
        score={
            "tests": {"tests/test_core.py::test_total": "passed" if resolved else "failed"},
            "notes": ["tests/test_core.py::test_total passed with a wrong expectation"] if episode_id % 5 == 0 else [],
            "unsealed": "" if episode_id % 3 else "its tests are visible",
            "suspicious": [{"file": "core.py", "line": 3, "what": "reads its callers' frames"}]
            if episode_id % 4 == 0
            else [],
        },
        milestones=_milestones(length, tools, point, resolved=resolved),
    )


def _spent(dice: random.Random) -> tuple[int, int, float, float]:
    """Return tokens in and out, and milliseconds of the environment and the model."""
    return dice.randint(900, 2500), dice.randint(40, 300), dice.uniform(2, 400), dice.uniform(600, 3000)


def _milestones(length: int, tools: str, point: str, *, resolved: bool) -> dict[str, int]:
    steps = {"reproduced": 1, "localized": 2, "edited": length - 1, "improved": length, "solved": length}
    if tools == "debug":
        steps |= {"breakpoint": 2, "inspected": 3}
    return {name: step for name, step in steps.items() if resolved or name in (FAILURES | TAMPERED).get(point, ())}


def _step(index: int, length: int, tools: str, point: str, failing: dict[str, Any]) -> dict[str, Any]:
    """Return a step of an episode that ends at this failure point; without one it repairs the fault."""
    resolved = not point
    if index == length:
        tests = {"passed": 5, "failed": 0, "ids": {"tests/test_core.py::test_total": "passed"}} if resolved else failing
        return {
            "tool": "eval",
            "thought": "Run the tests again.",
            "observation": "5 passed in 0.09s" if resolved else "2 failed, 3 passed in 0.10s",
            "state": {"kind": "tests", "tests": tests, "exit": 0 if resolved else 1},
        }
    if index == length - 1 and (edit := _EDITS.get(point)):
        path, line, new_code, diff = edit
        return {
            "tool": "rewrite",
            "arguments": {"path": path, "start": line, "end": line, "new_code": new_code},
            "thought": "The slice drops the first item.",
            "observation": f"Rewrote {path}, line {line}.",
            "state": {"kind": "edit", "edited": path, "lines": [line, line], "diff": diff},
        }
    if tools == "debug" and index > 1:
        command = ("b core.py:14", "c", "p items", "n", "w")[(index - 2) % 5]
        return {
            "tool": "pdb",
            "arguments": {"command": command},
            "thought": "Stop where the sum is made and look at the items.",
            "observation": f"> core.py(14)total()\n-> for item in items[1:]:\n(Pdb) {command}",
            "state": {
                "kind": "debugger",
                "file": "core.py",
                "line": (13, 14, 14, 15, 15)[(index - 2) % 5],
                "function": "Book.total",
                "depth": 2 + index % 2,
                "locals": {"items": "[Item(12), Item(40)]", "result": "0"},
                "breakpoints": [{"file": "core.py", "line": 14}],
            },
        }
    return {
        "tool": "view" if index % 2 else "grep",
        "arguments": {"path": "core.py"} if index % 2 else {"pattern": "total"},
        "thought": "Look at the code under test.",
        "observation": "12     def total(self, items):\n13         result = 0\n14         for item in items[1:]:\n",
        "state": {"kind": "shown", "path": "core.py", "lines": [1, 40]},
        "ok": index != 3,
    }
