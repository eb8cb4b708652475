"""The speed of the training interface: a single environment, its branches, a vector, and the WebSocket server.

    python -m tests.bench.bench_training [--steps N] [--sizes 1 8 64] [--sandbox NAME]

A step is a `view`. The server may add MOST_ADDED_MS to the median step of the facade in the same run. A branch may take
MOST_TIMES_ITS_STEPS as long as the steps that it repeats. After each vector is closed, none of its processes and
threads may be left.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
import threading
import time
from pathlib import Path

import psutil
from websockets.sync.client import connect

import stackrank
from tests.support.model_servers import served
from tests.support.waiting import wait_for

MOST_ADDED_MS = 2.0
MOST_TIMES_ITS_STEPS = 1.67
BRANCHED_AT = 30
BRANCHES = 9
PAUSE_S = 0.5
"""Between branches, as a policy thinks: meanwhile, the next sandbox is started and its episode is begun."""
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


def branching(sandbox: str | None) -> tuple[float, float]:
    """Median milliseconds of a branch after BRANCHED_AT steps in a paused program, and of these steps together."""
    with stackrank.make(TASK, steps=BRANCHED_AT + 1, sandbox=sandbox) as env:
        env.reset()
        started = time.perf_counter()
        env.step("pdb", command="b vat/rates.py:10\nc")
        for number in range(BRANCHED_AT - 1):
            env.step(view(number))
        steps_ms = (time.perf_counter() - started) * 1000
        times = []
        for _ in range(BRANCHES):
            time.sleep(PAUSE_S)
            started = time.perf_counter()
            with env.branch():
                times.append((time.perf_counter() - started) * 1000)
    return statistics.median(times), steps_ms


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
    branch_ms, steps_ms = branching(options.sandbox)
    good = good and branch_ms <= MOST_TIMES_ITS_STEPS * steps_ms
    target = f"{branch_ms / steps_ms:.2f} times as long, target: at most {MOST_TIMES_ITS_STEPS}"
    print(f"branch: {branch_ms:.0f} ms after {BRANCHED_AT} steps that took {steps_ms:.0f} ms together ({target})")
    for size in options.sizes:
        reset_s, rate = vector(size, max(options.steps // size, 5), options.sandbox)
        print(f"vector of {size}: all reset in {reset_s:.1f} s, {rate:.0f} steps a second, nothing left behind")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
