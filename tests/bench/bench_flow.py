"""The overhead of an episode in a flow: `python -m tests.bench.bench_flow [EPISODES]`.

Episodes of one step without a sandbox are played through the flow, on a Prefect server and a SQLite file of their own.
Printed is the processor time of this process and of the server for each episode, and this process's memory: while the
first and the last quarter of the episodes are played, and at most, which is at the end, when the statistics are loaded.
Targets: ours below 40 ms, with the server below 100 ms, memory below 500 MB and flat.
"""

from __future__ import annotations

import json
import math
import os
import sys
import tempfile
import threading
import time
from typing import Any

import psutil

from stackrank.agents import registry
from stackrank.agents.episode.protocol import Agent, Briefing, Decision
from stackrank.env.actions import Action, Observation
from stackrank.env.scoring.judge import Score

ATTEMPTS = 100
DRAINED = 0.1
"""Share of a core below which the server has nothing left to write."""


class NoOp(Agent):
    """An agent that submits at once."""

    version = "1"

    def begin(self, briefing: Briefing, observation: Observation) -> None:
        """Ignore the briefing."""

    def act(self, observation: Observation) -> Decision:
        """Submit."""
        return Decision(Action("submit"))


class NoEnv:
    """An environment without a sandbox."""

    def __init__(self, task: Any, tools: Any, *_: Any, **__: Any) -> None:
        self.task = self.shown = task
        self.tools = tools
        self.over, self.score_ms, self.ends_when_solved, self.changes = "", 0.0, True, None

    def __enter__(self) -> NoEnv:
        return self

    def __exit__(self, *_: object) -> None:
        """There is nothing to close."""

    def reset(self) -> tuple[Observation, dict[str, Any]]:
        """An observation of usual size."""
        return Observation("x" * 4000), {}

    def step(self, action: Action) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """End the episode."""
        self.over = "submitted"
        return Observation("handed in"), 0.0, True, False, {}

    def score(self) -> Score:
        """Unresolved."""
        return Score(False)


def measure(episodes: int) -> dict[str, float]:
    """Play the episodes and print what they cost."""
    home = tempfile.mkdtemp(prefix="stackrank-bench-")
    os.environ |= {"STACKRANK_HOME": home, "STACKRANK_DATABASE_URL": f"sqlite:///{home}/bench.db"}
    os.environ["STACKRANK_ALLOW_LOCAL"] = "1"
    os.environ["PREFECT_PROFILES_PATH"] = f"{home}/none.toml"
    from stackrank.flows.services import prefect_server as server

    url = server.ensure_server(say=lambda message: print(message, file=sys.stderr))
    status = server.server_status()
    assert status is not None
    try:
        os.environ |= server.client_env(url) | {"PREFECT_LOGGING_LEVEL": "CRITICAL"}
        return _play(episodes, psutil.Process(status["pid"]))
    finally:
        server.stop_server()


def _play(episodes: int, server: psutil.Process) -> dict[str, float]:
    from stackrank.db import queries
    from stackrank.db.connection.engine import connect
    from stackrank.db.writes.store import Store
    from stackrank.flows.engine.evaluate import evaluate
    from stackrank.flows.runs.playing import episode
    from stackrank.flows.runs.preparing.prepared_run import check
    from stackrank.flows.runs.preparing.stored_run import create_run
    from stackrank.flows.runs.specification.spec import make_spec

    registry.BUILT_IN["noop"] = f"{__name__}:NoOp"
    episode.DebugEnv = NoEnv  # type: ignore[misc, assignment]
    attempts = min(ATTEMPTS, episodes)
    spec = {"limit": math.ceil(episodes / attempts), "attempts": attempts, "workers": 8, "sandbox": "local"}
    run_id = create_run(
        Store(connect()), check(make_spec({**spec, "entrants": [{"agent": "noop"}]}, "the benchmark"))
    ).id
    me, stop, memory = psutil.Process(), threading.Event(), []
    engine = connect()

    def watch() -> None:
        while not stop.wait(1.0):
            memory.append((queries.progress(engine, run_id)["done"], me.memory_info().rss / 2**20))

    threading.Thread(target=watch, daemon=True).start()
    started, ours, theirs = time.monotonic(), _cpu_s(me), _cpu_s(server)
    evaluate(run_id=run_id, label="bench")
    wall_s, ours = time.monotonic() - started, _cpu_s(me) - ours
    stop.set()
    used_before = _cpu_s(server)
    while True:
        time.sleep(5)
        used_now = _cpu_s(server)
        if used_now - used_before < 5 * DRAINED:
            break
        used_before = used_now
    counts = queries.run(connect(), run_id)
    assert (counts["unresolved"], counts["errors"]) == (counts["episodes_total"], 0), counts
    count = counts["episodes_total"]
    theirs = _cpu_s(server) - theirs
    playing = [mb for finished, mb in memory if 0 < finished < count]
    quarter = max(len(playing) // 4, 1)
    return {
        "episodes": count,
        "wall_s": round(wall_s, 1),
        "ours_ms": round(ours / count * 1000, 1),
        "server_ms": round(theirs / count * 1000, 1),
        "together_ms": round((ours + theirs) / count * 1000, 1),
        "memory_mb_first_quarter": round(max(playing[:quarter])),
        "memory_mb_last_quarter": round(max(playing[-quarter:])),
        "memory_mb_most": round(max(mb for _, mb in memory)),
    }


def _cpu_s(process: psutil.Process) -> float:
    times = process.cpu_times()
    return float(times.user + times.system)


if __name__ == "__main__":
    print(json.dumps(measure(int(sys.argv[1]) if len(sys.argv) > 1 else 5_000), indent=2))
