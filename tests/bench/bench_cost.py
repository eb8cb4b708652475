"""The processor time of one scripted episode by part, beside the floor of each part.

    python -m tests.bench.bench_cost [--rounds N] [--backend bubblewrap]

Milliseconds of a processor, not of a clock, so that other programs of the machine change little: this process by its
own account, what runs in a sandbox by its control group, what forks sandboxes by one too, the engine by its daemons and
the containers' shims (other people's containers count there too). Sandboxes are taken as from a pool that has
exactly those ready that the episode needs. Medians of some episodes.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import defaultdict
from pathlib import Path

import psutil
from rich.console import Console
from rich.table import Table

from stackrank.env.actions import Action
from stackrank.env.debug_env import DebugEnv
from stackrank.env.sandbox.base import Backend, SandboxError, SandboxSpec
from stackrank.env.sandbox.bubblewrap import cgroups
from stackrank.env.sandbox.bubblewrap.backend import BubblewrapBackend
from stackrank.env.sandbox.bubblewrap.cgroups import Cgroup, find_cgroup
from stackrank.env.sandbox.bubblewrap.mounts import system_mounts
from stackrank.env.sandbox.bubblewrap.start import isolation_arguments
from stackrank.env.sandbox.client import Sandbox
from stackrank.env.sandbox.docker.backend import DockerBackend
from stackrank.env.sandbox.factory import Factory
from stackrank.env.sandbox.python_env import ensure_sandbox_python
from stackrank.env.sandbox.registry import backend
from stackrank.env.sandbox.variables import FIXED_ENVIRONMENT
from stackrank.env.task import Limits
from tests.bench.bench_env import EVERYTHING, SCRIPT, TASK

MOST = {"bubblewrap": 500.0, "docker": 450.0}
"""Milliseconds that an episode may take, verdict included."""
SHIM = "containerd-shim-runc-v2"
DAEMONS = ("dockerd", "containerd", "docker-containerd", SHIM)
ENDS = "sandboxes: making and ending them"
GUESTS = "guests: interpreters and imports"
WARM = "a Python with pytest, ready to fork"
FIRST = "reset: files and first tests"
VERDICT = "the verdict's tests"
Costs = dict[str, float]


class Meter:
    """What the parts of one episode cost in one backend."""

    def __init__(self, kind: Backend) -> None:
        self.costs: Costs = defaultdict(float)
        self._kind = kind
        self._given: dict[Sandbox, float] = {}
        self._counted = self._measuring = 0.0

    def new_sandbox(self, spec: SandboxSpec) -> Sandbox:
        """As a pool makes one."""
        sandbox = Sandbox(self._kind, spec)
        started = self._used(sandbox)
        self.costs[GUESTS] += started
        if spec.warm:
            sandbox.prepare()
            self.costs[WARM] += self._used(sandbox) - started
        self._given[sandbox] = self._used(sandbox)
        end = sandbox.close

        def close() -> None:
            if sandbox in self._given:  # what is gone cannot be asked any more
                used_s = self._used(sandbox)
                self._counted += used_s
                if not spec.warm:
                    self.costs[VERDICT] += used_s - self._given[sandbox]
                del self._given[sandbox]
            end()

        sandbox.close = close  # type: ignore[method-assign]
        return sandbox

    def play(self) -> Costs:
        """Play the episode and say what each part used, in seconds."""
        ours = time.process_time()
        makers_s = self._makers_s()
        with DebugEnv(TASK, EVERYTHING, self.new_sandbox, end_when_solved=False) as env:
            env.reset()
            used_s = self._used(env.sandbox)
            self.costs[FIRST] += used_s - self._given[env.sandbox]
            for tool, arguments in SCRIPT[:-1]:
                env.step(Action(tool, dict(arguments)))
                previous_s, used_s = used_s, self._used(env.sandbox)
                self.costs[tool] += used_s - previous_s
            tool, arguments = SCRIPT[-1]
            assert env.step(Action(tool, dict(arguments)))[1] == 1.0
        for thread in threading.enumerate():
            if thread.name == "sandbox-close":
                thread.join()
        self.costs[ENDS] = self._makers_s() - makers_s
        if isinstance(self._kind, DockerBackend):
            self.costs[ENDS] -= self._counted  # the groups of berths count their sandboxes too
        self.costs["this process"] = time.process_time() - ours - self._measuring
        return self.costs

    # ---- what is asked only to measure, and is no part of an episode

    def _used(self, sandbox: Sandbox) -> float:
        started = time.thread_time()
        used_s = sandbox.used_s()
        self._measuring += time.thread_time() - started
        return used_s

    def _makers_s(self) -> float:
        started = time.thread_time()
        if isinstance(self._kind, BubblewrapBackend):
            used_s = sum(factory.used_s() for factory in FACTORIES.values())
        else:
            used_s = sum(map(_engine_s, psutil.process_iter(["name"])))
        self._measuring += time.thread_time() - started
        return used_s


def _engine_s(process: psutil.Process) -> float:
    """Seconds of a daemon of the engine, or of a container's shim with the control group of its container."""
    if process.info["name"] not in DAEMONS:
        return 0.0
    groups = [find_cgroup(child.pid, "docker") for child in process.children() if process.info["name"] == SHIM]
    return _used_by(process) + sum(group.used_s() for group in groups if group is not None)


FACTORIES: dict[Factory, Cgroup] = {}
"""A control group for each, in which the processes that it forks stay until they get their sandbox's."""


def watch_factories(kind: BubblewrapBackend) -> None:
    """Count what those that are there use."""
    for factory in kind.factories.all():
        group = cgroups.make_cgroup(Limits(memory_mb=1 << 14, pids=1 << 12, cpus=64))
        assert group is not None, "processor time is counted by control groups, which this user may not make"
        group.add(factory.pid)
        FACTORIES[factory] = group


def _children_s() -> float:
    used_s = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used_s.ru_utime + used_s.ru_stime


def _used_by(process: psutil.Process) -> float:
    """Seconds of a process and of those that it waited for."""
    return sum(process.cpu_times()[:4])


def floors(rounds: int) -> Costs:
    """The least that parts could cost, in seconds: the programs alone, outside sandboxes of ours."""
    python = str(ensure_sandbox_python())
    bwrap = ["bwrap", "--unshare-user", *isolation_arguments(TASK.limits.disk_mb), *system_mounts(Path(python)), "--"]
    with tempfile.TemporaryDirectory() as folder:
        for name, content in {**TASK.files, "cart.py": TASK.files["cart.py"].replace(b" - 1", b"")}.items():
            file = Path(folder, name)
            file.parent.mkdir(exist_ok=True)
            file.write_bytes(content)

        def alone(command: list[str]) -> float:
            times = []
            for _ in range(rounds):
                used_before = _children_s()
                environment = {"PATH": os.environ["PATH"], **FIXED_ENVIRONMENT}
                subprocess.run(command, cwd=folder, env=environment, capture_output=True, check=True)
                times.append(_children_s() - used_before)
            return statistics.median(times)

        tests = alone([python, *TASK.test_command.split()[1:]])
        return {
            ENDS: 2 * alone([*bwrap, "true"]),
            GUESTS: 2 * alone([python, "-I", "-S", "-c", "pass"]),
            WARM: alone([python, "-c", "import pytest"]),
            FIRST: tests,
            "eval": 2 * tests,
            VERDICT: tests,
        }


FLOORS = {
    ENDS: "`bwrap true`, twice",
    GUESTS: "`python -I -S -c pass`, twice",
    WARM: "`python -c 'import pytest'`",
    FIRST: "`python -m pytest` alone",
    "eval": "`python -m pytest` alone, twice",
    VERDICT: "`python -m pytest` alone",
}


def report(costs: dict[str, Costs], least: Costs) -> bool:
    """Print the table; whether both targets were met."""
    table = Table(title="CPU-milliseconds of one scripted episode, verdict included")
    for name in ("part", *costs, "floor", "what the floor is"):
        table.add_column(name, justify="left" if name in ("part", "what the floor is") else "right")

    def shown(seconds: float | None) -> str:
        return "" if seconds is None else f"{seconds * 1000:.1f}"

    for part in next(iter(costs.values())):
        cells = [shown(costs[part]) for costs in costs.values()]
        table.add_row(part, *cells, shown(least.get(part)), FLOORS.get(part, ""))
    sums = {name: sum(costs.values()) * 1000 for name, costs in costs.items()}
    marks = [f"{total:.0f}{'' if total <= MOST[name] else ' !'}" for name, total in sums.items()]
    table.add_row("all", *marks, "", "target: " + ", ".join(f"{name} {MOST[name]:g}" for name in costs))
    Console(width=130).print(table)
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}; `!`: target missed")
    return all(total <= MOST[name] for name, total in sums.items())


def middle(episodes: list[Costs]) -> Costs:
    """Of each part the median."""
    return {part: statistics.median(episode[part] for episode in episodes) for part in episodes[0]}


def main(arguments: list[str] | None = None) -> int:
    """Measure and print. Exit status 1 when a target was missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--backend", action="append", choices=sorted(MOST))
    options = parser.parse_args(arguments)
    costs: dict[str, Costs] = {}
    for name in options.backend or sorted(MOST):
        try:
            kind = backend(name)
        except SandboxError as error:
            print(f"{name} is left out: {error}", file=sys.stderr)
            continue
        Meter(kind).play()  # what is done once for a process
        if isinstance(kind, BubblewrapBackend):
            watch_factories(kind)
        costs[name] = middle([Meter(kind).play() for _ in range(options.rounds)])
    return 0 if report(costs, floors(options.rounds)) else 1


if __name__ == "__main__":
    sys.exit(main())
