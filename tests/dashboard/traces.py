"""Trajectories for the tests of the episode page."""

from __future__ import annotations

from typing import Any

from sqlalchemy import insert

from stackrank.db.connection.transactions import STEP
from stackrank.db.models.runs import Step
from stackrank.db.writes.store import Store
from stackrank.host.wall_clock import now
from tests.dashboard.seed import HOSTILE, SOURCE
from tests.support.episodes import create_episodes, start

EVIL = f"{HOSTILE}\x1b[31mred\x1b[0m \u202egnp.exe \x00 end"
"""Markup, an escape sequence, a turned direction of text, and a NUL."""


def new_episode(store: Store, *, files: dict[str, str] | None = None, name: str = "traced") -> int:
    """An episode that has started, of a task and an entrant of its own."""
    fault = {"file": "core.py", "functions": ["Book.total"], "lines": [14]}
    task = {"name": name, "files": {"core.py": SOURCE} if files is None else files, "faults": [fault]}
    benchmark = store.save_benchmark(name=name, digest=name, license="", source="", tasks=[task])
    entrant = store.save_entrant(digest=name, name=f"entrant of {name}", agent="a")
    run = store.create_run(name=f"run of {name}", benchmark_id=benchmark.id, spec={})
    (episode,) = create_episodes(store, run, [(benchmark.task_ids[name], entrant, 1)]).values()
    store.start_run(run)
    start(store, episode)
    return episode


def add_many(store: Store, episode: int, steps: int, first: int = 0) -> None:
    """Steps in bulk, as a debugger session has them."""
    rows = []
    for index in range(first, first + steps):
        state: dict[str, Any] = {"path": "core.py", "lines": [1, 17]}
        tool = ("pdb", "pdb", "view", "pdb", "eval")[index % 5] if index else ""
        if tool == "pdb":
            state = {"file": "core.py", "line": 10 + index % 7, "function": "Book.total", "depth": 2 + index % 3}
            state |= {"breakpoints": [{"file": "core.py", "line": 14}], "locals": {"items": "[1, 2]"}}
        elif tool in ("eval", ""):
            state = {"tests": {"passed": 3 + (index > steps // 2), "failed": 2, "ids": {}}, "solved": False, "exit": 1}
        rows.append(
            {
                "episode_id": episode,
                "index": index,
                "tool": tool,
                "arguments": {"command": f"p items[{index}]"} if tool == "pdb" else {"path": "core.py"},
                "thought": f"Thought number {index}.",
                "observation": f"Observation number {index}.\n" * 3,
                "ok": index % 17 != 3,
                "state": state,
                "distance": ("line", "function", "file", "")[index % 4],
                "created_at": now(),
            }
        )
    with store.engine.begin() as connection:
        connection.execute(insert(STEP), rows)


def finish(store: Store, episode: int, *, steps: int, failure_step: int | None = None, **fields: Any) -> None:
    """End the episode, unresolved."""
    fields.setdefault("milestones", {"reproduced": 0, "localized": min(2, steps)})
    store.finish_episode(
        episode,
        verdict="unresolved",
        stop_reason="step_limit",
        failure_point="wrong_fix",
        failure_step=steps if failure_step is None else failure_step,
        steps=steps,
        **fields,
    )


def add_evil(store: Store, episode: int) -> None:
    """Four steps that try to break the page: markup everywhere, and a line of 5 MB."""
    store.add_step(Step(episode_id=episode, index=0, observation="starts", state={"tests": HOSTILE, "solved": EVIL}))
    odd: dict[str, Any] = {"file": EVIL, "line": 1, "function": EVIL, "depth": 2, "source": [EVIL], "exception": EVIL}
    odd |= {"stack": [{"file": EVIL, "function": EVIL}, EVIL], "breakpoints": [{"file": EVIL, "line": 1}, EVIL]}
    content = {"thought": EVIL, "observation": EVIL, "state": {**odd, "locals": {EVIL: EVIL}}}
    store.add_step(
        Step(episode_id=episode, index=1, tool=EVIL[:200], arguments={EVIL: EVIL, "new_code": EVIL}, **content)
    )
    tests = {"passed": 1, "failed": 1, "ids": {EVIL: EVIL}}
    answer = {"text": EVIL + "y" * 30_000}
    store.add_step(
        Step(
            episode_id=episode,
            index=2,
            tool="bash",
            arguments={"command": EVIL + "a" * 5_000_000},
            thought=EVIL,
            observation=EVIL + "x" * 5_000_000,
            state={"tests": tests, "solved": False, "exit": 1},
            exchanges=[{"model": EVIL, "request": {"messages": [EVIL]}, "answer": answer, "usage": {}}],
        )
    )
    edit = {"path": "core.py", "start": 14, "end": 14, "new_code": EVIL}
    edited = {"edited": "core.py", "lines": [14, 14]}
    store.add_step(Step(episode_id=episode, index=3, tool="rewrite", arguments=edit, observation="done", state=edited))
    finish(store, episode, steps=3, diff=EVIL, error=EVIL)
