"""Soak test with killed workers: `python -m tests.bench.scenarios.soak --minutes 10 [--kill-every 20]`.

Three series of runs are played by four processes on one PostgreSQL; whenever a run is over, the next of its series is
made. Episodes have no sandbox and take some tenths of a second; the driver and the claims are the real ones. Every so
often one of the processes is killed, and another takes its place. At the end everything is played to its end.

Printed is one JSON document; the exit status is 1 where an episode was lost or doubled, a counter is wrong, or the
memory of a process that was never killed grew by more than a fifth.
"""

from __future__ import annotations

import argparse
import json
import math
import multiprocessing
import os
import random
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil
from sqlalchemy import func, select

from stackrank.db import queries
from stackrank.db.connection.engine import connect
from stackrank.db.connection.transactions import EPISODE, STEP
from stackrank.db.models.runs import Step
from stackrank.db.totals import counters
from stackrank.db.writes.claims import ClaimedEpisode
from stackrank.db.writes.store import Store
from stackrank.flows.runs.playing.driver import Driver, OnEnd
from stackrank.flows.runs.playing.session import Session, join_run, leave_run
from stackrank.terms import RunStatus
from tests.fixtures.playing import make_run
from tests.postgres import cluster

SERIES = ("nightly", "hourly", "weekly")
PROCESSES = 4
STEPS = 3
SPEC: dict[str, Any] = {"limit": 10, "attempts": 5, "workers": 4, "entrants": [{"agent": "random"}]}
SPEC |= {"sandbox": "bubblewrap"}


def simulated(session: Session, claim: ClaimedEpisode, on_end: OnEnd) -> None:
    """An episode without a sandbox. One that was cut off goes on after its last step."""

    def play() -> None:
        store, token = session.store, session.claims.token
        try:
            last = queries.last_step(store.engine, claim["id"])
            for index in range(0 if last is None else last + 1, STEPS):
                time.sleep(random.uniform(0.02, 0.2))
                store.add_step(Step(episode_id=claim["id"], index=index, observation="1 failed"), by=token)
            store.finish_episode(
                claim["id"], verdict="resolved", stop_reason="submitted", steps=STEPS - 1, cost_usd=0.01, by=token
            )
        except Exception as error:  # of whatever kind: the driver decides what it means
            on_end(error)
        else:
            on_end(None)

    threading.Thread(target=play, daemon=True).start()


def next_of(store: Store, series: str, until: float) -> int | None:
    """The run of a series that goes on, made where there is none; None when it is time to end."""
    going = queries.runs(store.engine, status=[RunStatus.PENDING, RunStatus.RUNNING], leaderboard=series, limit=1)
    if going:
        return going[0]["id"]
    return None if time.time() >= until else make_run(**SPEC, leaderboard=series)


def work(deadline: Any, memory: Any) -> None:
    """Play whatever goes on, 20 episodes of a series after another, until it is time and nothing is left."""
    store = Store(connect())
    is_unfinished = True
    while is_unfinished:
        is_unfinished = False
        for series in random.sample(SERIES, len(SERIES)):
            if (run := next_of(store, series, deadline.value)) is None:
                continue
            is_unfinished = True
            session = join_run(run)
            try:
                session.start_run()
                Driver(
                    session, lambda claim, on_end, session=session: simulated(session, claim, on_end), limit=20
                ).run()  # type: ignore[misc]
            finally:
                leave_run(run)
            counts = queries.progress(store.engine, run)
            if not counts["pending"] + counts["running"]:
                store.end_run(run, RunStatus.FINISHED)
        memory.put((os.getpid(), psutil.Process().memory_info().rss))


@contextmanager
def environment(url: str, folder: Path) -> Iterator[None]:
    """A database and a home of its own, for this process and those that it starts."""
    saved = dict(os.environ)
    os.environ |= {"STACKRANK_DATABASE_URL": url, "STACKRANK_HOME": str(folder)}
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(saved)


def soak(seconds: float, kill_every_s: float) -> dict[str, Any]:
    """Play, kill, and count."""
    spawn = multiprocessing.get_context("spawn")
    memory = spawn.Queue()
    sizes: dict[int, list[int]] = {}
    with cluster() as server, tempfile.TemporaryDirectory() as folder, environment(server.create(), Path(folder)):
        store, kills = Store(connect()), 0
        # Time counts from the first run: how long processes take to start depends on the machine.
        deadline = spawn.Value("d", math.inf)

        def started() -> Any:
            process = spawn.Process(target=work, args=(deadline, memory))
            process.start()
            return process

        # The first is never killed: its memory is watched.
        processes = [started() for _ in range(PROCESSES)]
        following = math.inf
        while any(process.is_alive() for process in processes):
            time.sleep(0.2)
            while not memory.empty():
                pid, size = memory.get()
                sizes.setdefault(pid, []).append(size)
            if deadline.value == math.inf and queries.runs(store.engine, limit=1):
                deadline.value, following = time.time() + seconds, time.time() + kill_every_s
            if following <= time.time() < deadline.value:
                number = random.randrange(1, PROCESSES)
                processes[number].kill()
                processes[number].join()
                processes[number] = started()
                kills, following = kills + 1, time.time() + kill_every_s
        failed = [process.exitcode for process in processes if process.exitcode]
        return {**_counted(store), "kills": kills, "failed_processes": len(failed), "memory_growth": _growth(sizes)}


def _counted(store: Store) -> dict[str, Any]:
    runs = queries.runs(store.engine, limit=100_000)
    twice = select(EPISODE.c.run_id).where(EPISODE.c.counted)
    twice = twice.group_by(EPISODE.c.run_id, EPISODE.c.task_id, EPISODE.c.entrant_id, EPISODE.c.attempt)
    steps = select(STEP.c.episode_id).group_by(STEP.c.episode_id).having(func.count() != STEPS)
    with store.engine.connect() as connection:
        doubled = len(connection.execute(twice.having(func.count() > 1)).all())
        wrong = len(connection.execute(steps).all())
        counted = len(counters.differences(connection))
    return {
        "runs": len(runs),
        "unfinished_runs": sum(run["status"] != RunStatus.FINISHED for run in runs),
        "episodes": sum(run["episodes_total"] for run in runs),
        "interruptions": queries.health(store.engine, runs=100_000)["interruptions"],
        "lost": sum(run["episodes_total"] - run["resolved"] for run in runs),
        "doubled": doubled + wrong,
        "wrong_counters": counted,
    }


def _growth(sizes: dict[int, list[int]]) -> float:
    """By what share the process that lived longest grew after its first quarter."""
    longest = max(sizes.values(), key=len, default=[])
    quarter = longest[len(longest) // 4 :]
    return round(quarter[-1] / quarter[0] - 1, 3) if len(quarter) > 1 else 0.0


def main(arguments: list[str] | None = None) -> int:
    """Print what was counted."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--kill-every", type=float, default=20.0, help="seconds")
    options = parser.parse_args(arguments)
    outcome = soak(options.minutes * 60, options.kill_every)
    print(json.dumps(outcome, indent=2))
    bad = ("lost", "doubled", "wrong_counters", "unfinished_runs", "failed_processes")
    return 1 if any(outcome[name] for name in bad) or outcome["memory_growth"] > 0.2 else 0


if __name__ == "__main__":
    sys.exit(main())
