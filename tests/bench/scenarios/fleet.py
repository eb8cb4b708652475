"""Load of a fleet of workers on PostgreSQL: `python -m tests.bench.scenarios.fleet --workers 200 --episodes 100000`.

With `--played 900000` so many of them are over before workers begin: what the rest of a very large run is like.
Episodes have no sandbox and take no time: workers claim them, write one step and the verdict, and keep their claims, as
real ones do. Each process holds 25 workers, which share its connections. Printed is one JSON document: claims a second
(all of them on this machine, so the server's share is below it), how long a claim took, connections, memory, the
database's growth, how long repeated queries take, what was lost or doubled, and claims a
second of processes that do nothing else; and the table of ceilings, each beside what it was in November 2026. The exit
status is 1 where an episode was lost or doubled, or a counter is not what the episodes sum up to.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from itertools import product
from statistics import quantiles
from typing import Any

import psutil
from sqlalchemy import func, insert, select, text, update

from stackrank.db import queries
from stackrank.db.connection.engine import connect, separate_pool
from stackrank.db.connection.retries import with_patience
from stackrank.db.connection.transactions import EPISODE, STEP
from stackrank.db.models.runs import Step
from stackrank.db.totals import counters
from stackrank.db.writes.store import Store
from stackrank.flows.runs.playing.session import PATIENCE_S
from stackrank.flows.runs.specification.spec import RunSpec
from tests.postgres import Cluster, cluster

PER_PROCESS = 25
TASKS, ENTRANTS = 500, 4
BEAT_S = 2.0
CLAIMED = 5_000
"""Episodes of the run that processes only claim."""
CLAIMING = 8
"""These processes. They begin together: one that still imports modules would be measured too."""
BEFORE = {
    "episodes an hour for one Prefect server": 84_000.0,
    "episodes created a second": 4_200.0,
    "claims a second": 174.0,
    "questions a second about progress": 1000 / 180,
    "questions a second about the budget": 1000 / 151,
    "scrapes of /metrics a second": 1000 / 700,
}
"""What could be done before, at 200,000 episodes; claims: by eight processes that did nothing else."""
PREFECT_S = 0.043
"""Processor time of the Prefect server for each flow run or task run."""


def make_run(store: Store, episodes: int) -> int:
    """A run of so many episodes."""
    tasks = [{"name": f"t{n}", "digest": f"d{n}"} for n in range(TASKS)]
    benchmark = store.save_benchmark(name="fleet", digest="f", license="", source="", tasks=tasks)
    entrants = [store.save_entrant(digest=f"e{n}", name=f"entrant-{n}", agent="a") for n in range(ENTRANTS)]
    attempts = range(1, -(-episodes // (TASKS * ENTRANTS)) + 1)
    cells = [(task, entrant, n) for n, task, entrant in product(attempts, benchmark.task_ids.values(), entrants)]
    return store.create_run(
        name="fleet", benchmark_id=benchmark.id, spec={"benchmark": "fleet"}, cells=cells[:episodes]
    )


def play(store: Store, episode: int, by: str) -> None:
    """Play an episode that was claimed: one step, and the verdict."""
    store.add_step(Step(episode_id=episode, index=0, tool="", observation="1 failed"), by=by)
    store.finish_episode(episode, verdict="resolved", stop_reason="submitted", wall_s=1.0, cost_usd=0.01, by=by)


def play_before(store: Store, run: int, episodes: int) -> None:
    """Let so many episodes of a run be over: one is played, and the others become what it is, many in a statement."""
    claim = store.claim_next(run, "before") if episodes else None
    if claim is None:
        return
    like = EPISODE.c.id == claim["id"]
    with store.engine.connect() as connection:
        claimed_row = connection.execute(select(EPISODE).where(like)).mappings().one()
        play(store, claim["id"], "before")
        played_row = connection.execute(select(EPISODE).where(like)).mappings().one()
        waiting = select(EPISODE.c.id).where(EPISODE.c.run_id == run, EPISODE.c.status == "pending")
        pending_ids = list(connection.scalars(waiting.order_by(EPISODE.c.id).limit(episodes - 1)))
    became = {name: value for name, value in played_row.items() if value != claimed_row[name]}
    copied = [column for column in STEP.c if column.name != "episode_id"]
    for start in range(0, len(pending_ids), CLAIMED):
        part = EPISODE.c.id.between(pending_ids[start], pending_ids[start : start + CLAIMED][-1]) & ~like
        step = STEP.c.episode_id == claim["id"]
        steps = select(EPISODE.c.id, *copied).select_from(EPISODE.join(STEP, step)).where(part)
        with store.engine.begin() as connection:
            connection.execute(update(EPISODE).where(part).values(became))
            connection.execute(insert(STEP).from_select(["episode_id", *(column.name for column in copied)], steps))


def work(url: str, run: int, names: list[str], results: Any) -> None:
    """Workers of one process, until nothing is left. Tells how long each claim took, and the memory at the end."""
    store = Store(with_patience(connect(url, migrate=False), PATIENCE_S))
    heart = Store(separate_pool(store.engine))
    claims: list[float] = []
    stop = threading.Event()
    held: dict[str, int] = {}

    def worker(name: str) -> None:
        while True:
            started = time.perf_counter()
            claim = store.claim_next(run, name)
            claims.append(time.perf_counter() - started)
            if claim is None:
                return
            held[name] = claim["id"]
            play(store, claim["id"], name)

    def beat() -> None:
        while not stop.wait(BEAT_S):
            for name, episode in list(held.items()):
                heart.keep_claims([episode], name)
            heart.heartbeat(run)

    threading.Thread(target=beat, daemon=True).start()
    with ThreadPoolExecutor(len(names)) as pool:
        list(pool.map(worker, names))  # raises what a worker raised
    stop.set()
    results.put((claims, psutil.Process().memory_info().rss))


def only_claim(url: str, run: int, name: str, ready: Any) -> None:
    """A worker that does nothing but claim, once the others are ready too, until nothing is left."""
    store = Store(connect(url, migrate=False))
    store.claims(run)
    ready.wait(PATIENCE_S)
    while store.claim_next(run, name) is not None:
        pass


def claims_per_s(url: str, store: Store, episodes: int) -> float:
    """Claims a second of processes that do nothing else, from the first claim on, as the database has it."""
    run = make_run(store, episodes)
    spawn = multiprocessing.get_context("spawn")
    ready = spawn.Barrier(CLAIMING)
    processes = [spawn.Process(target=only_claim, args=(url, run, f"claims-{n}", ready)) for n in range(CLAIMING)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
        if process.exitcode:
            raise RuntimeError("a process that claims failed: see above")
    alive = select(func.extract("epoch", func.max(EPISODE.c.alive_at) - func.min(EPISODE.c.alive_at)))
    with store.engine.connect() as connection:
        return episodes / float(connection.scalar(alive.where(EPISODE.c.run_id == run)) or 0.0)


def timed(ask: Callable[[], object]) -> float:
    """Milliseconds that a question takes."""
    began = time.perf_counter()
    ask()
    return round((time.perf_counter() - began) * 1000, 1)


def processor_s(server: Cluster) -> float:
    """Processor time that PostgreSQL has taken."""
    leader = psutil.Process(int((server.folder / "data" / "postmaster.pid").read_text().split()[0]))
    total = 0.0
    for process in (leader, *leader.children()):
        with suppress(psutil.NoSuchProcess):
            times = process.cpu_times()
            total += times.user + times.system + times.children_user + times.children_system
    return total


def ceilings(measured: dict[str, Any]) -> list[dict[str, Any]]:
    """The table: what, before, now, how many times as much. A Prefect server is asked once for each shard."""
    questions_ms = measured["questions_ms"]["after"]
    shard = int(RunSpec.model_fields["shard_size"].default)
    current = {
        "episodes an hour for one Prefect server": 3600 / PREFECT_S * shard,
        "episodes created a second": measured["episodes"] / max(measured["created_s"], 0.1),
        "claims a second": measured["only_claims_per_s"],
        "questions a second about progress": 1000 / questions_ms["progress"],
        "questions a second about the budget": 1000 / questions_ms["budget"],
        "scrapes of /metrics a second": 1000 / questions_ms["metrics"],
    }
    return [
        {
            "what": name,
            "before": round(earlier, 1),
            "now": round(current[name], 1),
            "times": round(current[name] / earlier, 1),
        }
        for name, earlier in BEFORE.items()
    ]


def repeated(store: Store, run: int) -> dict[str, float]:
    """The milliseconds of the queries that are repeated while a run is in progress."""
    return {
        "progress": timed(lambda: queries.progress(store.engine, run)),
        "budget": timed(lambda: store.spent_usd(run)),
        "claims": timed(lambda: store.claims(run)),
        "metrics": timed(lambda: queries.totals(store.engine)),
        "queue_age": timed(lambda: queries.queue_age_s(store.engine)),
    }


def measure(workers: int, episodes: int, played: int = 0) -> dict[str, Any]:
    """Play a run of so many episodes, of which some are over, by so many workers on a PostgreSQL of its own."""
    spawn = multiprocessing.get_context("spawn")
    with cluster() as server:
        url = server.create()
        store = Store(connect(url))
        size = select(func.pg_database_size(func.current_database()))
        connections = text("SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()")

        def ask(query: Any) -> int:
            with store.engine.connect() as connection:
                return int(connection.scalar(query) or 0)

        began, empty = time.monotonic(), ask(size)
        run = make_run(store, episodes)
        created_s = time.monotonic() - began
        store.start_run(run)
        play_before(store, run, played)
        remaining = episodes - played
        times_before = repeated(store, run)
        queue = spawn.Queue()
        names = [f"worker-{n}" for n in range(workers)]
        groups = [names[start : start + PER_PROCESS] for start in range(0, workers, PER_PROCESS)]
        processes = [spawn.Process(target=work, args=(url, run, group, queue)) for group in groups]
        began, processor = time.monotonic(), processor_s(server)
        for process in processes:
            process.start()
        most_connections = 0
        results: list[tuple[list[float], int]] = []
        while len(results) < len(processes):
            most_connections = max(most_connections, ask(connections))
            while not queue.empty():
                results.append(queue.get())
            if any(process.exitcode for process in processes):
                raise RuntimeError("a process of workers failed: see above")
            time.sleep(0.2)
        played_s, processor = time.monotonic() - began, processor_s(server) - processor
        for process in processes:
            process.join()
        times_after = repeated(store, run)
        store.end_run(run, "finished")
        counts = queries.progress(store.engine, run)
        rows = ask(select(func.count()).select_from(EPISODE).where(EPISODE.c.run_id == run))
        claims = [seconds for durations, _ in results for seconds in durations]
        cuts = quantiles(claims, n=20)
        with store.engine.connect() as connection:
            wrong = counters.differences(connection)
        report: dict[str, Any] = {
            "workers": workers,
            "episodes": episodes,
            "played_before": played,
            "created_s": round(created_s, 1),
            "played_s": round(played_s, 1),
            "claims_per_s": round(remaining / played_s, 1),
            "claim_ms": {"median": round(cuts[9] * 1000, 1), "95%": round(cuts[18] * 1000, 1)},
            "postgresql_ms_per_episode": round(processor / remaining * 1000, 2),
            "connections": most_connections,
            "memory_mb": {"processes": len(results), "largest": max(rss for _, rss in results) >> 20},
            "bytes_per_episode": (ask(size) - empty) // episodes,
            "questions_ms": {"before": times_before, "after": times_after},
            "lost": episodes - counts["resolved"],
            "doubled": rows - episodes,
            "wrong_counters": len(wrong),
        }
        report["only_claims_per_s"] = round(claims_per_s(url, store, CLAIMED), 1)
        return {**report, "ceilings": ceilings(report)}


def main(arguments: list[str] | None = None) -> int:
    """Print what was measured."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workers", type=int, default=200)
    parser.add_argument("--episodes", type=int, default=100_000)
    parser.add_argument("--played", type=int, default=0, help="so many of them are over before workers begin")
    report = measure(**vars(parser.parse_args(arguments)))
    print(json.dumps(report, indent=2))
    return 1 if report["lost"] or report["doubled"] or report["wrong_counters"] else 0


if __name__ == "__main__":
    sys.exit(main())
