"""The speed of the dashboard over a large database, beside an empty Streamlit application.

    python -m tests.bench.bench_dashboard [--database FILE] [--episodes N] [--steps N] [--rounds N]

Without --database a synthetic one is made first (`tests.bench.scenarios.big_database`), in about two minutes. One
table: what was measured, in a real Chromium with a fresh profile each time, and the target. Ends with 1 where a
target is missed.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
from playwright.sync_api import Browser, Page, sync_playwright
from rich.console import Console
from rich.table import Table
from sqlalchemy import Engine

from stackrank.dashboard.launch import HEALTH, command
from stackrank.db import queries
from stackrank.db.connection.engine import connect
from stackrank.db.queries import Scope
from tests.bench.scenarios.big_database import RARE_TOOL, fill
from tests.dashboard.browsing import ARGUMENTS, DRAWN, find_browser, opens_for_certain

PAGES = {
    "overview": "/",
    "leaderboard": "/leaderboard",
    "compare": "/compare",
    "tool sets": "/tool_sets",
    "failure points": "/failures",
    "runs": "/runs",
    "run": "/run?id=2",
    "episodes": "/episodes",
    "episodes, filtered": "/episodes?ep_verdict=unresolved&ep_tool=pdb",
    "tasks": "/tasks",
    "tasks, decisive": "/tasks?tk_show=decisive",
    "proposals": "/proposals",
    "run against run": "/against?a=2&b=3",
    "task": "/task?id=1",
    "diverge": "/diverge?a=1&b=11",
    "trace of 30 steps": "/episode?id=11",
}
IDLE = '[data-testid="stApp"][data-test-script-state="notRunning"]'
QUIET = f"""() => document.querySelector('{IDLE}') && !document.querySelector('[data-testid="stSkeleton"]')
    && !document.querySelector('[data-stale="true"]') && document.querySelector('[data-testid="stMain"] h1')
    && ({DRAWN})()"""

KEYS = """async count => {
    const roots = [...document.querySelectorAll("*")].map(each => each.shadowRoot)
    const root = roots.find(each => each?.querySelector(".grid"))
    const parts = ["h2", ".body", ".line.current", ".stack"]
    const shown = () => parts.map(part => root.querySelector(part)?.textContent).join()
    const taken = []
    for (let at = 0; at < count; at++) {
        const before = shown()
        const started = performance.now()
        document.dispatchEvent(new KeyboardEvent("keydown", { key: "j" }))
        if (shown() === before) throw new Error("the key changed nothing")
        await new Promise(painted => requestAnimationFrame(() => setTimeout(painted)))
        taken.push(performance.now() - started)
        await new Promise(quiet => setTimeout(quiet, 200))
    }
    return taken
}"""
"""Presses j so many times: the milliseconds until source, stack, values and texts of the next step are painted."""


@dataclass(frozen=True)
class Result:
    """One row of the table; seconds, milliseconds or megabytes, as the name says."""

    name: str
    value: float
    limit: float

    @property
    def kept(self) -> bool:
        """Whether the target is met."""
        return self.value <= self.limit


def fastest(work: Callable[[], Any], rounds: int = 9) -> float:
    """The least seconds of processor time of some rounds: SQLite works in this process, whatever else goes on."""
    seconds = []
    for _ in range(rounds):
        started = time.process_time()
        work()
        seconds.append(time.process_time() - started)
    return min(seconds)


def questions(engine: Engine) -> list[Result]:
    """The questions behind pages, in milliseconds of processor time."""
    queries_by_page: dict[str, tuple[float, Callable[[], Any]]] = {
        "leaderboard of a run": (100, lambda: queries.leaderboard(engine, Scope(run=1))),
        "leaderboard of 10 runs": (100, lambda: queries.leaderboard(engine, Scope(last=10))),
        "leaderboard of all runs": (100, lambda: queries.leaderboard(engine)),
        "failure points of all runs": (200, lambda: queries.failure_points(engine)),
        "funnel of all runs": (200, lambda: queries.funnel(engine)),
        "a page of episodes": (100, lambda: queries.episodes(engine, newest_first=True, limit=100)),
        "episodes by a common tool": (200, lambda: queries.episodes(engine, tool="pdb", newest_first=True)),
        "episodes by a rare tool": (200, lambda: queries.episodes(engine, tool=RARE_TOOL, newest_first=True)),
        "episodes by a tool nobody used": (200, lambda: queries.episodes(engine, tool="none", newest_first=True)),
        "1,001 steps at a glance": (100, lambda: queries.step_outline(engine, 1, limit=None)),
        "one step": (10, lambda: queries.step(engine, 1, 900)),
        "edits up to step 1,000": (100, lambda: queries.edits(engine, 1, 1_000)),
    }
    return [
        Result(f"question: {name}, ms", 1000 * fastest(work), limit) for name, (limit, work) in queries_by_page.items()
    ]


@contextlib.contextmanager
def served(url: str, script: Path | None = None) -> Iterator[tuple[str, psutil.Process]]:
    """The dashboard over a database, or a script in its place: its address and its process."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    argv, environment = command(port=port, database_url=url)
    if script is not None:
        argv[argv.index("run") + 1] = str(script)
    with tempfile.TemporaryDirectory() as folder:
        process = subprocess.Popen(
            argv, env=environment, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL
        )
        try:
            address = f"http://127.0.0.1:{port}"
            for _ in range(400):
                with contextlib.suppress(OSError), urllib.request.urlopen(address + HEALTH, timeout=5):
                    break
                time.sleep(0.25)
            yield address, psutil.Process(process.pid)
        finally:
            process.terminate()
            process.wait(20)


def visit(browser: Browser, address: str) -> tuple[float, Page]:
    """A fresh visitor opens a page: seconds until it stands still, and the page. Raises where it shows an exception."""
    page = browser.new_context(viewport={"width": 1440, "height": 900}).new_page()
    page.set_default_timeout(120_000)
    opens_for_certain(page)
    page.add_init_script("window.partsFed = 0; addEventListener('stackrank-fed', () => window.partsFed++)")
    started = time.perf_counter()
    page.goto(address)
    page.wait_for_function(QUIET, polling=25)
    seconds = time.perf_counter() - started
    if page.locator('[data-testid="stException"]').count():
        raise RuntimeError(f"{address} shows an exception")
    return seconds, page


def opened(browser: Browser, address: str) -> float:
    """The seconds of opening a page once."""
    seconds, page = visit(browser, address)
    page.context.close()
    return seconds


def trace(browser: Browser, address: str, rounds: int) -> list[Result]:
    """The trace of 1,001 steps: opening it, in seconds, and going from step to step, in milliseconds."""
    first, changed = [], []
    for _ in range(rounds):
        started = time.perf_counter()
        _, page = visit(browser, f"{address}/episode?id=1&step=500")
        page.locator('.row[aria-selected="true"]').wait_for()
        first.append(time.perf_counter() - started)
        page.wait_for_function("window.partsFed >= 3")  # the chunks of steps around this one
        changed += page.evaluate(KEYS, 10)
        page.context.close()
    return [
        Result("trace of 1,001 steps: opened, s", min(first), 3.0),
        Result("trace of 1,001 steps: from the key to the painted step, ms", statistics.median(changed), 50),
    ]


def pages(browser: Browser, folder: Path, full: str, rounds: int) -> list[Result]:
    """Every page over the full database against an empty application, in turn: the fastest of each."""
    floors: list[float] = []
    times: dict[str, list[float]] = {name: [] for name in PAGES}
    empty = folder / "empty.py"
    empty.write_text('import streamlit as st\n\nst.title("Empty")\n', encoding="utf-8")
    with served(full, empty) as (bare, _), served(full) as (address, process):
        for path in PAGES.values():
            opened(browser, address + path)
        for _ in range(rounds):
            for name, path in PAGES.items():
                floors.append(opened(browser, bare))
                times[name].append(opened(browser, address + path))
        floor = min(floors)
        results = [Result("page: an empty application, s", floor, float("inf"))]
        results += [Result(f"page: {name}, s", min(seconds), 1.5 * floor + 1) for name, seconds in times.items()]
        results += trace(browser, address, rounds)
        memory = process.memory_info().rss + sum(child.memory_info().rss for child in process.children(recursive=True))
        results.append(Result("memory of the server, MB", memory / 2**20, 500))
    return results


def report(results: list[Result]) -> int:
    """Print the table; 1 where a target is missed."""
    table = Table("measured", "value", "target", title=f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors")
    for result in results:
        style = "" if result.kept else "bold red"
        target = "" if result.limit == float("inf") else f"{result.limit:.2f}"
        table.add_row(result.name, f"{result.value:.2f}", target, style=style)
    Console(width=110).print(table)
    return int(not all(result.kept for result in results))


def main() -> int:
    """Measure and print; 1 where a target is missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--database", type=Path)
    parser.add_argument("--episodes", type=int, default=100_000)
    parser.add_argument("--steps", type=int, default=3_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--questions", action="store_true", help="Only the questions, without a browser.")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="stackrank-bench-") as folder:
        file = options.database or Path(folder) / "big.db"
        engine = connect(f"sqlite:///{file}")
        if options.database is None:
            fill(engine, episodes=options.episodes, steps=options.steps)
        results = questions(engine)
        if options.questions:
            return report(results)
        with sync_playwright() as play:
            browser = play.chromium.launch(executable_path=find_browser(), args=ARGUMENTS)
            results += pages(browser, Path(folder), f"sqlite:///{file}", options.rounds)
            browser.close()
    return report(results)


if __name__ == "__main__":
    sys.exit(main())
