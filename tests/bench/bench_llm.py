"""The throughput of an endpoint that many episodes use at once: `python -m tests.bench.bench_llm`.

Tools take no time here, and the endpoint answers after SECONDS, from a process of its own. Ideal is TURNS x SECONDS.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import time
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.connection import Connection
from typing import Any

from stackrank.agents.episode.loop import Budget
from stackrank.agents.llm import LlmAgent
from stackrank.env.actions import Observation
from tests.fixtures.agents import FakeEnv, play_fake
from tests.fixtures.env import make_task
from tests.support.openai_server import OpenAIServer, call, says

OBSERVATION = "x" * 4000


def serve(seconds: float, pipe: Connection) -> None:
    """Answer until told to end."""
    with OpenAIServer(lambda _: call("view", path="a.py").with_(delay_s=seconds)) as server:
        pipe.send(server.url)
        pipe.recv()
        pipe.send(server.max_concurrent)


def measure(episodes: int, turns: int, seconds: float) -> dict[str, float]:
    """Wall clock and processor time of that many episodes at the same time."""
    ours, theirs = multiprocessing.get_context("spawn").Pipe()
    server = multiprocessing.get_context("spawn").Process(target=serve, args=(seconds, theirs), daemon=True)
    server.start()
    os.environ["OPENAI_BASE_URL"] = ours.recv()

    def one(_: int) -> None:
        env = FakeEnv(make_task({"a.py": ""}), lambda action: Observation(OBSERVATION))
        agent: Any = LlmAgent(model="scripted")
        play_fake(env, agent, Budget(steps=turns, repeats=None))

    LlmAgent(model="scripted")  # the package is imported once
    started, processor_s = time.monotonic(), time.process_time()
    with ThreadPoolExecutor(episodes) as threads:
        list(threads.map(one, range(episodes)))
    wall_s, cpu_s = time.monotonic() - started, time.process_time() - processor_s
    ours.send("end")
    at_once = ours.recv()
    server.join()
    return {
        "wall_s": wall_s,
        "of_ideal": turns * seconds / wall_s,
        "cpu_ms_per_question": cpu_s / episodes / turns * 1000,
        "max_concurrent": at_once,
    }


def garbage(turns: int) -> float:
    """Seconds that an episode takes whose model answers nothing but nonsense."""
    with OpenAIServer([says("?" * 500)]) as server:
        os.environ["OPENAI_BASE_URL"] = server.url
        agent: Any = LlmAgent(model="scripted")
        started = time.monotonic()
        play_fake(FakeEnv(make_task({"a.py": ""})), agent, Budget(steps=2 * turns, malformed=turns))
        return time.monotonic() - started


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--episodes", type=int, default=64)
    parser.add_argument("--turns", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=1.0)
    options = parser.parse_args()
    for name, value in measure(options.episodes, options.turns, options.seconds).items():
        print(f"{name:>20}: {value:.3f}")
    print(f"{'garbage, 50 turns, s':>20}: {garbage(50):.3f}")
