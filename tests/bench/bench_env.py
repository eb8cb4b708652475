"""The speed of the environment, beside floors measured in the same run.

    python -m tests.bench [--rounds N] [--backend docker] [--skip-episodes]

One table: each operation's median in each backend, the floor it is compared with, the ratio, the target of the design.
"""

from __future__ import annotations

import argparse
import gc
import os
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pexpect
import psutil
from rich.console import Console
from rich.table import Table

from stackrank.env.actions import Action
from stackrank.env.debug_env import DebugEnv
from stackrank.env.patterns import globs
from stackrank.env.sandbox.base import Backend, SandboxError, SandboxSpec
from stackrank.env.sandbox.bubblewrap.backend import BubblewrapBackend
from stackrank.env.sandbox.client import Sandbox
from stackrank.env.sandbox.docker import engine as docker
from stackrank.env.sandbox.pool import Pool
from stackrank.env.sandbox.python_env import ensure_sandbox_python
from stackrank.env.sandbox.registry import backend
from stackrank.env.task import Limits, Task
from stackrank.env.tools import ToolSet, tool_names

EVERYTHING = ToolSet("everything", tuple(tool_names()))
CART = b"""def total(items):
    result = 0
    for price in items:
        result += price
    return result - 1
"""
TESTS = b"""from cart import total


def test_total():
    assert total([1, 2, 3]) == 6
"""
TASK = Task(
    id="cart",
    benchmark="bench",
    statement="Totals are wrong.",
    files={
        "cart.py": CART,
        "tests/test_cart.py": TESTS,
        **{f"lib/module_{n}.py": CART * 20 for n in range(20)},
    },
    test_command="python -m pytest -q -p no:cacheprovider tests/test_cart.py",
    readonly=globs(("tests/**",)),
    limits=Limits(timeout_s=30),
)
SCRIPT: tuple[tuple[str, dict[str, object]], ...] = (
    ("view", {"path": "cart.py"}),
    ("eval", {}),
    ("pdb", {"command": "b cart.py:5"}),
    ("pdb", {"command": "c"}),
    ("pdb", {"command": "p result"}),
    ("rewrite", {"path": "cart.py", "start": 5, "end": 5, "new_code": "    return result"}),
    ("eval", {}),
    ("submit", {}),
)
NewSandbox = Callable[[SandboxSpec], Sandbox]


def median_ms(action: Callable[[], Any], rounds: int) -> float:
    """The median of some runs, in milliseconds."""
    times_ms = []
    for _ in range(rounds):
        started = time.perf_counter()
        action()
        times_ms.append((time.perf_counter() - started) * 1000)
    return statistics.median(times_ms)


def pdb_over_a_pty(rounds: int) -> float:
    """The floor for `p x`: pdb on a pseudo-terminal of this machine, without any sandbox."""
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder, "prog.py")
        script.write_text("x = 1\ny = 2\n")
        python = str(ensure_sandbox_python())
        child = pexpect.spawn(python, ["-m", "pdb", str(script)], echo=False, timeout=20)
        child.delaybeforesend = None
        child.expect_exact("(Pdb) ")
        child.sendline("n")
        child.expect_exact("(Pdb) ")

        def ask() -> None:
            child.sendline("p x")
            child.expect_exact("(Pdb) ")

        duration_ms = median_ms(ask, rounds)
        child.close(force=True)
    return duration_ms


def measure(kind: Backend, rounds: int) -> dict[str, float]:
    """Medians of every operation in one backend, in milliseconds."""
    medians: dict[str, float] = {}
    few_rounds = max(rounds // 20, 3)
    cold_rounds = max(rounds // 4, 3)
    spec = SandboxSpec(limits=TASK.limits)

    def cold() -> None:
        with Sandbox(kind, spec) as sandbox:
            sandbox.put(TASK.files)

    medians["new sandbox"] = median_ms(lambda: Sandbox(kind, spec).close(), cold_rounds)
    medians["new sandbox with files"] = median_ms(cold, cold_rounds)
    with Pool(kind, size=1) as pool:
        pooled: list[float] = []
        for _ in range(few_rounds):
            pool.expect(spec)
            wait_for(pool, 1)
            started = time.perf_counter()
            sandbox = pool.take(spec)
            sandbox.put(TASK.files)
            pooled.append((time.perf_counter() - started) * 1000)
            sandbox.close()
        medians["pooled sandbox with files"] = statistics.median(pooled)
        wait_for(pool, 1)
        with DebugEnv(TASK, EVERYTHING, pool.take, end_when_solved=False) as env:
            medians["pooled reset with its tests"] = env.reset()[0].env_ms
            medians |= operations(env, rounds, few_rounds)
            closing = env.sandbox.close
        started = time.perf_counter()
        closing()
        closed = []
        for _ in range(few_rounds):
            sandbox = pool.take(spec)
            started = time.perf_counter()
            sandbox.close()
            closed.append((time.perf_counter() - started) * 1000)
        medians["close"] = statistics.median(closed)
    return medians


def operations(env: DebugEnv, rounds: int, few_rounds: int) -> dict[str, float]:
    """Medians of the tools in one episode."""

    def act(tool: str, **arguments: object) -> Callable[[], None]:
        def run() -> None:
            observation = env.step(Action(tool, dict(arguments)))[0]
            assert observation.ok, observation.text

        return run

    medians = {"channel round trip": median_ms(env.sandbox.ping, rounds)}
    medians["bare pytest"] = median_ms(lambda: env.sandbox.run(TASK.test_command, 30), few_rounds)
    medians["eval"] = median_ms(act("eval"), few_rounds)
    for tool, arguments in (
        ("view", {"path": "cart.py"}),
        ("listdir", {}),
        ("grep", {"pattern": "result"}),
        ("bash", {"command": "true"}),
    ):
        medians[tool] = median_ms(act(tool, **arguments), rounds)
    stops = []
    for _ in range(few_rounds):
        act("pdb", command="q")()
        started = time.perf_counter()
        act("pdb", command="b cart.py:4\nc")()
        stops.append((time.perf_counter() - started) * 1000)
        act("pdb", command="cl 1")() if _ < few_rounds - 1 else None
    medians["first pdb stop"] = statistics.median(stops)
    medians["p x"] = median_ms(act("pdb", command="p result"), rounds)
    medians["c"] = median_ms(act("pdb", command="c"), 2)
    act("pdb", command="restart\nc")()
    medians["n"] = median_ms(act("pdb", command="n"), 4)
    texts = iter(f"    return result - {number}" for number in range(10**6))
    edit = median_ms(lambda: act("rewrite", path="cart.py", start=5, end=5, new_code=next(texts))(), rounds)
    medians["rewrite"] = edit
    return medians


def wait_for(pool: Pool, count: int) -> None:
    """Until so many sandboxes are ready."""
    deadline = time.monotonic() + 60
    while pool.waiting() < count:
        assert time.monotonic() < deadline, "the pool does not fill"
        time.sleep(0.005)


def play_one(new_sandbox: NewSandbox) -> None:
    """The scripted episode, verdict included."""
    with DebugEnv(TASK, EVERYTHING, new_sandbox, end_when_solved=False) as env:
        env.reset()
        reward = 0.0
        for tool, arguments in SCRIPT:
            reward = env.step(Action(tool, dict(arguments)))[1]
        assert reward == 1.0


def episodes_per_minute(kind: Backend, workers: int, seconds: float) -> float:
    """How many scripted episodes are through in a minute."""
    with Pool(kind, size=2) as pool, ThreadPoolExecutor(workers) as threads:
        play_one(pool.take)
        until = time.perf_counter() + seconds
        counted = threading.Lock()
        played = [0]

        def work() -> None:
            while time.perf_counter() < until:
                play_one(pool.take)
                with counted:
                    played[0] += 1

        started = time.perf_counter()
        for future in [threads.submit(work) for _ in range(workers)]:
            future.result()
        return played[0] / (time.perf_counter() - started) * 60


def memory_per_episode(kind: Backend, count: int = 8) -> float:
    """Megabytes of this process that each further open episode takes."""
    process = psutil.Process(os.getpid())
    open_ones: list[DebugEnv] = []

    def begin() -> None:
        env = DebugEnv(TASK, EVERYTHING, lambda spec: Sandbox(kind, spec))
        env.reset()
        env.step(Action("pdb", {"command": "b cart.py:4\nc"}))
        open_ones.append(env)

    begin()
    gc.collect()
    rss_before = process.memory_info().rss
    for _ in range(count):
        begin()
    gc.collect()
    grown = process.memory_info().rss - rss_before
    for env in open_ones:
        env.close()
    return grown / count / 2**20


def memory_of_open(kind: Backend, count: int = 64) -> float:
    """Megabytes of all processes of so many open sandboxes; memory that several share is counted once."""
    spec = SandboxSpec(limits=TASK.limits)
    with ExitStack() as stack:
        opened = [stack.enter_context(Sandbox(kind, spec)) for _ in range(count)]
        for sandbox in opened:
            sandbox.put(TASK.files)
        if kind.name == "docker":
            engine = docker.client().api
            firsts = [engine.inspect_container(sandbox.name)["State"]["Pid"] for sandbox in opened]
        else:
            firsts = [int(sandbox.name.rpartition("-")[2]) for sandbox in opened]
        if isinstance(kind, BubblewrapBackend):
            firsts += [factory.pid for factory in kind.factories.all()]
        processes: dict[int, psutil.Process] = {}
        for process in map(psutil.Process, firsts):
            processes |= {member.pid: member for member in (process, *process.children(recursive=True))}
        return float(sum(process.memory_full_info().pss for process in processes.values()) / 2**20)


EPISODES = {"bubblewrap": 200.0, "docker": 120.0}
"""At least so many a minute with two workers."""
OPEN_MB = 1024.0
"""At most so much memory of 64 open sandboxes."""

# operation -> (what it is compared with, at most so many times that, at most so many milliseconds, by backend)
TARGETS: dict[str, tuple[str, float | None, float | dict[str, float] | None]] = {
    "channel round trip": ("", None, None),
    "new sandbox": ("", None, {"bubblewrap": 15, "docker": 200}),
    "new sandbox with files": ("", None, None),
    "pooled sandbox with files": ("", None, 30),
    "pooled reset with its tests": ("bare pytest", None, 120),
    "first pdb stop": ("bare pytest", None, None),
    "p x": ("pdb over a pty", 3, {"docker": 1}),
    "n": ("pdb over a pty", None, None),
    "c": ("pdb over a pty", None, None),
    "view": ("channel round trip", None, 5),
    "listdir": ("channel round trip", None, 5),
    "grep": ("channel round trip", None, 5),
    "rewrite": ("channel round trip", None, 5),
    "bash": ("channel round trip", None, 5),
    "bare pytest": ("", None, None),
    "eval": ("bare pytest", 0.5, None),
    "close": ("", None, 10),
}


def report(
    results: dict[str, dict[str, float]],
    floor: float,
    rates: dict[str, list[float]],
    memory: dict[str, float],
    opened: dict[str, float],
) -> bool:
    """Print the table; whether every target was met."""
    table = Table(title=f"medians in ms; pdb over a pty of this machine: {floor:.2f} ms")
    table.add_column("operation")
    for name in results:
        table.add_column(name, justify="right")
        table.add_column("ratio", justify="right")
    table.add_column("target")
    met = True
    for operation, (against, times, limit) in TARGETS.items():
        row = [operation]
        for name, medians in results.items():
            value = medians[operation]
            limit_ms = limit.get(name) if isinstance(limit, dict) else limit
            base = floor if against == "pdb over a pty" else medians.get(against)
            ratio = value / base if base else None
            good = (times is None or ratio is None or ratio <= times) and (limit_ms is None or value <= limit_ms)
            met = met and good
            row += [f"{value:.2f}{'' if good else ' !'}", f"{ratio:.2f}" if ratio else ""]
        goals = [f"<= {times:g} x {against}"] if times else [f"(x {against})"] if against else []
        if isinstance(limit, dict):
            goals += [f"<= {limit_ms:g} ms ({name})" for name, limit_ms in limit.items()]
        elif limit:
            goals += [f"<= {limit:g} ms"]
        row.append("; ".join(goals))
        table.add_row(*row)
    for index, workers in enumerate((1, 2, 4)):
        if rates:
            row = [f"episodes a minute, {workers} workers"]
            for name in results:
                good = workers != 2 or rates[name][index] >= EPISODES.get(name, 0)
                met = met and good
                row += [f"{rates[name][index]:.0f}{'' if good else ' !'}", f"{rates[name][index] / 16:.1f}"]
            least = ", ".join(f">= {least:g} ({name})" for name, least in EPISODES.items())
            table.add_row(*row, least if workers == 2 else "(x debug-gym's 16)")
    row = ["MB of 64 open sandboxes"]
    for name in results:
        met = met and opened[name] <= OPEN_MB
        row += [f"{opened[name]:.0f}{'' if opened[name] <= OPEN_MB else ' !'}", ""]
    table.add_row(*row, f"<= {OPEN_MB:g}")
    row = ["MB of this process, each further episode"]
    for name in results:
        met = met and memory[name] <= 2
        row += [f"{memory[name]:.2f}{'' if memory[name] <= 2 else ' !'}", ""]
    table.add_row(*row, "<= 2")
    Console(width=130).print(table)
    load = os.getloadavg()[0]
    peak = psutil.Process().memory_info().rss / 2**20
    print(f"{os.cpu_count()} cores, load {load:.1f}, {peak:.0f} MB in this process; `!`: target missed")
    return met


def main(arguments: list[str] | None = None) -> int:
    """Measure and print. Exit status 1 when a target was missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--backend", action="append", choices=["docker", "bubblewrap", "local"])
    parser.add_argument("--skip-episodes", action="store_true")
    parser.add_argument("--seconds", type=float, default=15, help="for each number of workers")
    options = parser.parse_args(arguments)
    kinds: list[Backend] = []
    for name in options.backend or ["docker", "bubblewrap"]:
        try:
            kinds.append(backend(name))
        except SandboxError as error:
            print(f"{name} is left out: {error}", file=sys.stderr)
    floor = pdb_over_a_pty(options.rounds)
    results = {kind.name: measure(kind, options.rounds) for kind in kinds}
    memory = {kind.name: memory_per_episode(kind) for kind in kinds}
    opened = {kind.name: memory_of_open(kind) for kind in kinds}
    rates: dict[str, list[float]] = {}
    if not options.skip_episodes:
        rates = {kind.name: [episodes_per_minute(kind, n, options.seconds) for n in (1, 2, 4)] for kind in kinds}
    return 0 if report(results, floor, rates, memory, opened) else 1
