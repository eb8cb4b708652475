"""The speed of the training interface: a single environment, its branches, a vector, and the WebSocket server.

    python -m tests.bench.bench_training [--steps N] [--sizes 1 8 64] [--sandbox NAME]

A step is a `view`. The server may add MOST_ADDED_MS to the median step of the facade in the same run. A branch may take
MOST_TIMES_ITS_STEPS as long as the steps that it repeats, also the first one of an environment, one right after
another, and that of the tool `branch`. After each vector is closed, none of its processes and threads may be left.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
from websockets.sync.client import connect

import stackrank
from stackrank.env.actions import Action
from stackrank.env.benchmarks.base import Source
from stackrank.env.debug_env import DebugEnv
from stackrank.env.sandbox.pool import Pool
from stackrank.env.sandbox.registry import chosen_backend
from stackrank.env.tools import tool_set
from stackrank.extensions.training.env_maker import find_task
from tests.support.model_servers import served
from tests.support.waiting import wait_for

MOST_ADDED_MS = 2.0
MOST_TIMES_ITS_STEPS = {"bubblewrap": 1.67, "docker": 4.17}
"""At most 100 ms and 250 ms, where the steps took 60 ms."""
BRANCHED_AT = 30
ROUNDS = 7
BRANCHES = 3
"""Branches after the first in each round, without a pause between them."""
TASK = "bugs/vat-table"


def facade_and_server(steps: int, sandbox: str | None) -> tuple[float, float]:
    """Median milliseconds of a step in this process and of one through the server, taken in turns."""
    command: list[str | Path] = [
        sys.executable,
        "-m",
        "stackrank.flows.cli.main",
        "serve-env",
        TASK,
        "--port",
        "{port}",
    ]
    command += ["--steps", str(steps + 1), *(["--sandbox", sandbox] if sandbox else [])]
    seconds: tuple[list[float], list[float]] = ([], [])
    with (
        stackrank.make(TASK, steps=steps + 1, sandbox=sandbox) as env,
        tempfile.TemporaryDirectory() as folder,
        served("serve-env", command, Path(folder), "/health") as url,
        connect(url.replace("http", "ws") + "/ws", compression=None) as socket,
    ):

        def ask(kind: str, data: dict[str, object]) -> None:
            socket.send(json.dumps({"type": kind, "data": data}))
            answer = json.loads(socket.recv())
            assert answer["type"] == "observation", answer

        env.reset()
        ask("reset", {})
        for number in range(steps):
            action = view(number)
            for step, times in zip((lambda: env.step(action), lambda: ask("step", action)), seconds, strict=True):  # noqa: B023
                started = time.perf_counter()
                step()
                times.append((time.perf_counter() - started) * 1000)
    return statistics.median(seconds[0]), statistics.median(seconds[1])


def view(number: int) -> dict[str, object]:
    """A step; no two in a row are alike."""
    return {"tool": "view", "arguments": {"path": "tests/test_invoice.py", "start": number % 9 + 1}}


def paused_program() -> Iterator[dict[str, object]]:
    """BRANCHED_AT steps, which lead to a paused program."""
    yield {"tool": "pdb", "arguments": {"command": "b vat/rates.py:10\nc"}}
    yield from map(view, range(BRANCHED_AT - 1))


def ms_of(action: Callable[[], object]) -> float:
    """How long it takes."""
    started = time.perf_counter()
    action()
    return (time.perf_counter() - started) * 1000


def branching(sandbox: str | None) -> dict[str, list[float]]:
    """What was measured in each round: the steps' milliseconds, and how many times as long the branches took."""
    times: dict[str, list[float]] = {"steps": [], "first branch": [], "next branch": []}
    for _ in range(ROUNDS):
        with stackrank.make(TASK, steps=BRANCHED_AT + 1, sandbox=sandbox) as env:
            env.reset()
            steps_ms = ms_of(lambda: [env.step(action) for action in paused_program()])
            times["steps"].append(steps_ms)
            for number in range(1 + BRANCHES):
                name = "next branch" if number else "first branch"
                times[name].append(ms_of(lambda: env.branch().close()) / steps_ms)
    return times


def going_back(sandbox: str | None) -> dict[str, list[float]]:
    """The same for the tool `branch`, in an episode such as a run plays."""
    times: dict[str, list[float]] = {"steps": [], "tool, first": [], "tool, next": []}
    task = find_task(TASK, Source())
    for _ in range(ROUNDS):
        with (
            Pool(chosen_backend(sandbox)) as pool,
            DebugEnv(task, tool_set("debug-branch"), pool.take, end_when_solved=False) as env,
        ):
            pool.expect(env.spec)
            env.reset()
            actions = [Action(str(action["tool"]), action["arguments"]) for action in paused_program()]  # type: ignore
            steps_ms = ms_of(lambda: [env.step(action) for action in actions])  # noqa: B023
            times["steps"].append(steps_ms)

            def go_back() -> None:
                observation = env.step(Action("branch", {"at": BRANCHED_AT}))[0]
                assert observation.ok, observation.text

            for number in range(1 + BRANCHES):
                times["tool, next" if number else "tool, first"].append(ms_of(go_back) / steps_ms)
    return times


def left() -> int:
    """Processes and threads of environments."""
    threads = [thread for thread in threading.enumerate() if thread.name.startswith(("stackrank-", "sandbox-pool"))]
    return len(psutil.Process().children(recursive=True)) + len(threads)


def vector(size: int, steps: int, sandbox: str | None) -> tuple[float, float]:
    """(seconds of all resets at once, steps a second)."""
    remaining = left()
    with stackrank.make_vec(TASK, size, steps=steps + 1, sandbox=sandbox) as envs:
        started = time.perf_counter()
        assert not [info["error"] for _, info in envs.reset() if "error" in info]
        reset_s = time.perf_counter() - started
        started = time.perf_counter()
        for number in range(steps):
            envs.step([view(number)] * size)
        rate = size * steps / (time.perf_counter() - started)
    wait_for(lambda: left() <= remaining, lambda: f"{left() - remaining} processes and threads are left")
    return reset_s, rate


def main(arguments: list[str] | None = None) -> int:
    """Measure and print. Exit status 1 if a target was missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--sizes", type=int, nargs="*", default=[1, 8, 64])
    parser.add_argument("--sandbox")
    options = parser.parse_args(arguments)
    alone, served_ms = facade_and_server(options.steps, options.sandbox)
    good = served_ms - alone <= MOST_ADDED_MS
    print(f"facade: {alone:.2f} ms a step, {1000 / alone:.0f} steps a second")
    print(f"server: {served_ms:.2f} ms a step, {served_ms - alone:+.2f} (target: at most +{MOST_ADDED_MS:g})")
    most_times = MOST_TIMES_ITS_STEPS[chosen_backend(options.sandbox).name]
    for measured in (branching(options.sandbox), going_back(options.sandbox)):
        steps_ms = statistics.median(measured.pop("steps"))
        print(f"{BRANCHED_AT} steps that lead to a paused program: {steps_ms:.0f} ms")
        for name, ratios in measured.items():
            ratio = statistics.median(ratios)
            good = good and ratio <= most_times
            print(f"{name}: {ratio:.2f} times as long as these steps (target: at most {most_times})")
    for size in options.sizes:
        reset_s, rate = vector(size, max(options.steps // size, 5), options.sandbox)
        print(f"vector of {size}: all reset in {reset_s:.1f} s, {rate:.0f} steps a second, nothing left behind")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
