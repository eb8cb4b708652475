"""A busy team on one machine, for an hour: `python -m tests.bench.scenarios.team [--minutes 60] [--home FOLDER]`.

A server, a worker, a dashboard and metrics go on all the time. A schedule starts a run every minute, whose model is
worse every ten minutes, so that alerts are sent. Between them people play runs, which are killed and resumed, paused,
retuned and cancelled; pages are opened in a browser, metrics are read, and what is older than ten minutes is pruned.

Printed is a table of what must not grow: medians of each quarter, and what is left at the end. The exit status is 1
where a command failed, an episode is lost or doubled, a counter is wrong, or memory or descriptors grow by more than a
fifth from the second quarter to the last.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections import Counter
from pathlib import Path
from typing import Any

import psutil
from playwright.sync_api import Error as PlaywrightError
from playwright.sync_api import sync_playwright
from rich.console import Console
from rich.table import Table
from sqlalchemy import func, select

from stackrank.agents.llm.scripted.answers import Entry, call
from stackrank.agents.llm.scripted.server import OpenAIServer
from stackrank.db import queries
from stackrank.db.connection.engine import connect
from stackrank.db.connection.transactions import EPISODE
from stackrank.db.totals import counters
from stackrank.env.benchmarks.registry import load_benchmark
from stackrank.env.patches import apply_patch
from tests.bench.bench_dashboard import PAGES, opened
from tests.dashboard.browsing import ARGUMENTS, find_browser
from tests.flows.engine.test_reporting import Chat

STACKRANK = [sys.executable, "-m", "stackrank.flows.cli.main"]
TASKS = 6
KEPT_DAYS = 10 / 24 / 60
SPEC = {"benchmark": "bugs", "sandbox": "bubblewrap", "workers": 1, "steps": 6}
SPEC |= {"entrants": [{"agent": "llm", "model": "scripted", "tools": "rewrite"}]}


class Model:
    """Fixes its tasks with one edit; in every other ten minutes it submits without one."""

    def __init__(self) -> None:
        self._edits: dict[str, tuple[str, str]] = {}
        self.tasks: list[str] = []
        for task in load_benchmark("bugs").tasks():
            fixed = apply_patch(task.files, task.fix)
            changed = [(path, data.decode()) for path, data in fixed.items() if task.files.get(path) != data]
            if len(changed) == 1 and len(self.tasks) < TASKS:
                self._edits[task.statement.strip()] = changed[0]
                self.tasks.append(task.id)

    def __call__(self, request: dict[str, Any]) -> Entry:
        messages = request["messages"]
        text = json.dumps(messages, ensure_ascii=False).replace("\\n", "\n").replace('\\"', '"')
        path, code = next(edit for statement, edit in self._edits.items() if statement in text)
        is_first = not any(message["role"] == "assistant" for message in messages)
        is_worse = int(time.time() // 600) % 2
        return call("rewrite", path=path, new_code=code) if is_first and not is_worse else call("submit")


class Team:
    """What people do, one act after the other."""

    def __init__(self, spec: Path, dashboard: str, metrics: str) -> None:
        self._spec, self._dashboard, self._metrics = spec, dashboard, metrics
        self.done: Counter[str] = Counter()
        self.problems: list[str] = []
        self.acts = [self.kill, self.look, self.retune, self.look, self.cancel, self.look, self.prune]

    def command(self, *arguments: str) -> None:
        """Call a command; one that fails is a problem."""
        answer = subprocess.run([*STACKRANK, *arguments], capture_output=True, text=True, check=False)
        self.done[arguments[0]] += 1
        if answer.returncode:
            self.problems.append(
                f"{' '.join(arguments)}: {answer.returncode} {(answer.stderr or answer.stdout)[-300:]}"
            )

    def _started(self) -> tuple[subprocess.Popen[bytes], str]:
        """A run that a person has started, some seconds later."""
        name = f"by-hand-{self.done['run']}"
        command = [*STACKRANK, "run", str(self._spec), "--name", name]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while not queries.runs(connect(), name=name):
            time.sleep(0.5)
        time.sleep(random.uniform(1, 5))
        self.done["run"] += 1
        return process, name

    def kill(self) -> None:
        process, run = self._started()
        process.kill()
        process.wait()
        self.command("resume", run)

    def retune(self) -> None:
        process, run = self._started()
        if process.poll() is None:
            self.command("pause", run, "--why", "the provider throttles")
            self.command("set", run, "workers=2")
            self.command("why", run)
            self.command("resume", run)
        process.wait()

    def cancel(self) -> None:
        process, run = self._started()
        self.command("cancel", run)
        process.wait()
        self.command("resume", run)

    def prune(self) -> None:
        self.command("db", "prune", "--older-than", str(KEPT_DAYS))
        self.command("gc")

    def look(self) -> None:
        for name in ("leaderboard", "runs", "episodes", "doctor"):
            self.command(name)
        with urllib.request.urlopen(self._metrics, timeout=600) as answer:
            self.done["metrics"] += len(answer.read()) > 0
        with sync_playwright() as play:
            browser = play.chromium.launch(executable_path=find_browser(), args=ARGUMENTS)
            for path in random.sample([path for path in PAGES.values() if "=" not in path], 3):
                try:
                    opened(browser, self._dashboard + path)
                except (PlaywrightError, RuntimeError) as error:
                    self.problems.append(f"{path}: {error}")
                self.done["pages"] += 1
            browser.close()


def measure(home: Path, temporary: Path, processes: dict[str, psutil.Process]) -> dict[str, float]:
    """What must not grow, now."""
    sizes: dict[str, float] = {}
    for name, process in processes.items():
        sizes[f"{name}: memory, MB"] = process.memory_full_info().uss / 2**20
        sizes[f"{name}: descriptors"] = process.num_fds()
        sizes[f"{name}: threads"] = process.num_threads()
    sizes["temporary files"] = sum(1 for _ in temporary.rglob("*"))
    for name, pattern in (("results", "stackrank.db*"), ("Prefect", "prefect/prefect.db*"), ("logs", "*.log")):
        sizes[f"{name}, MB"] = sum(file.stat().st_size for file in home.glob(pattern)) / 2**20
    sizes["runs stored"] = len(queries.runs(connect(), limit=100_000))
    return sizes


def soak(home: Path, minutes: float) -> tuple[list[tuple[float, dict[str, float]]], dict[str, Any]]:
    """Let the team work, and return samples with their times, and what was done and counted."""
    temporary, chat, model, samples = home / "tmp", Chat(), Model(), list[tuple[float, dict[str, float]]]()
    temporary.mkdir(parents=True, exist_ok=True)
    (spec := home / "team.json").write_text(json.dumps({**SPEC, "tasks": model.tasks}))
    with OpenAIServer(model) as endpoint:
        os.environ |= {"STACKRANK_HOME": str(home), "TMPDIR": str(temporary), "STACKRANK_WEBHOOK": chat.url}
        os.environ |= {"OPENAI_BASE_URL": endpoint.url, "OPENAI_API_KEY": "none"}
        services = json.loads(subprocess.check_output([*STACKRANK, "up", "--port", "0", "--json"]))
        metrics = subprocess.Popen([*STACKRANK, "metrics", "--port", "9464"], stdout=subprocess.DEVNULL)
        names = ("prefect-server", "worker", "dashboard")
        pids = {name: json.loads((home / f"{name}.json").read_text())["pid"] for name in names}
        processes = {name: psutil.Process(pid) for name, pid in (pids | {"metrics": metrics.pid}).items()}
        team = Team(spec, services["dashboard"].rstrip("/"), "http://127.0.0.1:9464/metrics")
        try:
            team.command("schedule", "add", str(spec), "--every", "60", "--name", "nightly")
            began = time.monotonic()
            while (passed := time.monotonic() - began) < minutes * 60:
                team.acts[len(samples) % len(team.acts)]()
                samples.append((passed / 60, measure(home, temporary, processes)))
                time.sleep(max(0.0, 20 - (time.monotonic() - began - passed)))
            team.command("schedule", "remove", "nightly")
            while queries.runs(connect(), status=["pending", "running"]):
                time.sleep(2)
            team.command("gc")
            samples.append((minutes, measure(home, temporary, processes)))
        finally:
            metrics.terminate()
            subprocess.run([*STACKRANK, "down"], check=False)
    cell = (EPISODE.c.run_id, EPISODE.c.task_id, EPISODE.c.entrant_id, EPISODE.c.attempt)
    twice = select(EPISODE.c.run_id).where(EPISODE.c.counted).group_by(*cell).having(func.count() > 1)
    lost = sum(
        run["episodes_total"] - run["resolved"] - run["unresolved"] for run in queries.runs(connect(), limit=9_999)
    )
    with connect().connect() as connection:
        doubled, wrong = len(connection.execute(twice).all()), len(counters.differences(connection))
    outcome = {"lost": lost, "doubled": doubled, "wrong_counters": wrong, "problems": team.problems}
    return samples, outcome | {"alerts": len(chat.told), "done": team.done}


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--home", type=Path, help="A new folder. Default: one that is removed at the end.")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="stackrank-team-") as folder:
        samples, outcome = soak(options.home or Path(folder), options.minutes)
    table = Table("", *(f"quarter {n}" for n in range(1, 5)), "at the end", title=f"{options.minutes:.0f} minutes")
    grown = []
    for name in samples[0][1]:
        quarters: list[list[float]] = [[] for _ in range(4)]
        for at, sizes in samples[:-1]:
            quarters[min(3, int(4 * at / options.minutes))].append(sizes[name])
        medians = [statistics.median(quarter or [0]) for quarter in quarters]
        if name.endswith(("memory, MB", "descriptors")) and medians[3] > 1.2 * medians[1]:
            grown.append(name)
        table.add_row(name, *(f"{value:,.0f}" for value in (*medians, samples[-1][1][name])))
    Console(width=120).print(table)
    print(json.dumps({**outcome, "grown": grown}, indent=2))
    bad = ("lost", "doubled", "wrong_counters", "problems")
    return 1 if grown or any(outcome[name] for name in bad) else 0


if __name__ == "__main__":
    sys.exit(main())
