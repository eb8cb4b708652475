"""What a specification means on this machine: tasks, entrants and sandboxes, all checked before anything starts."""

from __future__ import annotations

import hashlib
import json
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from typing import Any

from sqlalchemy import Engine

from agents.base import AgentFactory, SetupError
from agents.episode import Budget
from agents.registry import find_agent
from db import queries
from db.store import SavedBenchmark, Store
from env.benchmarks.base import Benchmark, BenchmarkError, digest
from env.benchmarks.git import CommitFiles
from env.benchmarks.registry import load_benchmark, select
from env.sandbox.base import Backend
from env.sandbox.registry import backend, default_backend
from env.task import Task
from env.tools import ToolSet, tool_set
from flows.host import capacity
from flows.output import say
from flows.prepare import prepare
from flows.spec import EntrantSpec, RunSpec, SpecError

MOST_SHOWN = 256 * 1024
"""Bytes of a task's files that are stored for the trace page."""
_NAMED = 3  # entrants that fit into a name


@dataclass(frozen=True)
class Entrant:
    """A checked entrant."""

    spec: EntrantSpec
    factory: AgentFactory
    tools: ToolSet
    digest: str


@dataclass(frozen=True)
class Plan:
    """A checked run."""

    spec: RunSpec
    benchmark: Benchmark
    all_tasks: tuple[Task, ...]
    tasks: tuple[Task, ...]
    entrants: tuple[Entrant, ...]
    backend: Backend
    budget: Budget
    left_out: Mapping[str, str] = field(default_factory=dict)
    """Tasks that would be played if they were sound: name -> why they are not."""


def make_plan(spec: RunSpec, engine: Engine | None = None) -> Plan:
    """Check everything that can be checked before the first episode.

    With `engine`, as for every new run, tasks that `stackrank validate` found invalid are left out unless the
    specification wants them. Raises SpecError for what the caller can mend, SandboxError when no sandbox can be made
    here.
    """
    try:
        benchmark = load_benchmark(spec.benchmark, spec.source)
        all_tasks = tuple(benchmark.tasks())
        invalid = invalid_tasks(engine, benchmark, all_tasks) if engine and not spec.include_invalid else {}
        entrants = tuple(make_entrant(each) for each in spec.entrants)
        wanted = _with_fixes(select(all_tasks, spec.tasks, None), entrants, bool(spec.tasks))
        left_out = {task.id: invalid[task.id] for task in wanted if task.id in invalid}
        tasks = tuple(select([task for task in wanted if task.id not in left_out], None, spec.limit))
    except (BenchmarkError, SetupError, ValueError) as error:
        raise SpecError(str(error)) from None
    if not tasks:
        reasons = "; ".join(f"{name}: {reason}" for name, reason in list(left_out.items())[:3])
        raise SpecError(f"every task chosen is invalid ({reasons}): --include-invalid plays them all the same")
    same: dict[str, Entrant] = {}
    for entrant in entrants:
        if (other := same.setdefault(entrant.digest, entrant)) is not entrant:
            raise SpecError(
                f"{other.spec.label} and {entrant.spec.label} are one entrant: agent, model, tools and settings "
                "are the same; leave one out (`attempts` lets it play several times)"
            )
    _check_prices(spec, entrants)
    capacity()  # a setting that is wrong is said now, and not by every episode
    chosen = backend(spec.sandbox) if spec.sandbox else default_backend()
    unbuilt = prepare(chosen, tasks, spec.workers, say)
    for name, reason in unbuilt.items():
        say(f"left out: {name}: {reason}")
    tasks = tuple(task for task in tasks if task.id not in unbuilt)
    if not tasks:
        raise SpecError(f"no task is left: {next(iter(unbuilt.values()), 'the benchmark is empty')}")
    if spec.runner == "dask" and find_spec("prefect_dask") is None:
        raise SpecError("runner: dask needs a package that is not there: pip install 'stackrank[dask]'")
    budget = Budget(steps=spec.steps, tokens=spec.tokens, cost_usd=spec.cost_usd, wall_s=spec.wall_s)
    return Plan(spec, benchmark, all_tasks, tasks, entrants, chosen, budget, left_out)


def _with_fixes(tasks: Sequence[Task], entrants: Sequence[Entrant], named: bool) -> list[Task]:
    """The tasks that every entrant can play; `named`: the caller named each. Raises SpecError."""
    needy = next((entrant.spec.label for entrant in entrants if entrant.factory.knows_fix), None)
    without = [task.id for task in tasks if not task.fix] if needy else []
    if without and (named or len(without) == len(tasks)):
        raise SpecError(f"{needy} needs known fixes, and {without[0]} has none: leave the task out, or give --fixes")
    for name in without:
        say(f"left out: {name}: it has no known fix, which {needy} needs")
    return [task for task in tasks if task.id not in without]


def _check_prices(spec: RunSpec, entrants: Sequence[Entrant]) -> None:
    """Raises SpecError for a limit in dollars that cannot be kept."""
    limits = {"budget_usd": spec.budget_usd, "cost_usd": spec.cost_usd}
    set_ones = [name for name, value in limits.items() if value is not None]
    for entrant in entrants if set_ones else ():
        if not entrant.factory.needs_model:
            continue
        agent = entrant.factory(model=entrant.spec.model, config=entrant.spec.config, task=None)
        for model in getattr(agent, "unpriced", ()):
            raise SpecError(
                f"{set_ones[0]} cannot be kept, because the price of the model {model} is unknown: give `price` in the "
                "config of its entrant, or a price table in STACKRANK_PRICES"
            )


def invalid_tasks(engine: Engine, benchmark: Benchmark, tasks: Sequence[Task]) -> dict[str, str]:
    """The tasks that `stackrank validate` found invalid as they are now: name -> reason."""
    known = queries.validations(engine, benchmark.name)
    found = {task.id: known.get((task.id, task.digest)) for task in tasks}
    return {name: row["invalid_reason"] for name, row in found.items() if row and row["valid"] is False}


def make_entrant(spec: EntrantSpec) -> Entrant:
    """An entrant with its identity: a change of agent, model, settings or tools makes another one."""
    factory = find_agent(spec.agent)
    tools = tool_set(spec.tools)
    if factory.needs_model and not spec.model:
        raise SetupError(f"the agent {spec.agent} needs a model: name one with --model")
    if spec.model and not factory.needs_model:
        raise SetupError(f"the agent {spec.agent} uses no model: leave out --model {spec.model}")
    if not factory.knows_fix:
        # Made once to hear what is missing (a key, a setting) before any sandbox is started.
        factory(model=spec.model, config=spec.config, task=None)
    relevant = getattr(factory, "identity", dict)
    identity = {
        "agent": spec.agent,
        "version": factory.version,
        "model": spec.model,
        "tools": [tools.tools, tools.after_rewrites],
        "config": relevant(spec.config),
    }
    text = json.dumps(identity, sort_keys=True, default=list)
    return Entrant(spec, factory, tools, hashlib.sha256(text.encode()).hexdigest()[:16])


def save_benchmark(store: Store, benchmark: Benchmark, tasks: tuple[Task, ...]) -> SavedBenchmark:
    """The benchmark's rows; calling it again is free."""
    return store.save_benchmark(
        name=benchmark.name,
        digest=digest(tasks),
        license=benchmark.license,
        source=benchmark.source,
        tasks=[_task_row(task) for task in tasks],
    )


def _task_row(task: Task) -> dict[str, Any]:
    return {
        "name": task.id,
        "title": task.title,
        "statement": task.statement,
        "category": task.category,
        "difficulty": task.difficulty,
        "digest": task.digest,
        "tags": list(task.tags),
        "faults": [
            {"file": fault.file, "functions": list(fault.functions), "lines": list(fault.lines)}
            for fault in task.faults
        ],
        "fix": task.fix,
        "files": shown_files(task),
    }


def shown_files(task: Task) -> dict[str, str]:
    """The texts among a task's files that a trace shows, up to MOST_SHOWN bytes: faulty ones, Python, others."""
    faulty = {fault.file for fault in task.faults}
    shown: dict[str, str] = {}
    left = MOST_SHOWN
    # Of a whole repository, the faulty files and no others.
    files = task.files.read(faulty) if isinstance(task.files, CommitFiles) else task.files
    for path in sorted(files, key=lambda path: (path not in faulty, not path.endswith(".py"), path)):
        content = files[path]
        if len(content) > left or b"\0" in content:
            continue
        try:
            shown[path] = content.decode()
        except UnicodeDecodeError:
            continue
        left -= len(content)
    return shown


def save_run(store: Store, plan: Plan, *, schedule: str = "", flow_run_id: str = "") -> int:
    """The run with all its episodes, pending. Returns the run's id.

    `schedule`: the deployment that starts it; `flow_run_id`: the Prefect flow run that makes it.
    """
    spec = plan.spec
    saved = save_benchmark(store, plan.benchmark, plan.all_tasks)
    name = f"{spec.name or schedule or spec.benchmark}-{datetime.now():%Y-%m-%d-%H%M}"
    if spec.name and not schedule:
        name = spec.name
    entrants = [save_entrant(store, entrant) for entrant in plan.entrants]
    # Task by task, all entrants and attempts of one next to each other: a run that is cut off compares fairly.
    cells = [
        (saved.task_ids[task.id], entrant, attempt)
        for task in plan.tasks
        for attempt in range(1, spec.attempts + 1)
        for entrant in entrants
    ]
    return store.create_run(
        name=name,
        benchmark_id=saved.id,
        spec=spec.model_dump(mode="json"),
        seed=spec.seed,
        tags=spec.tags,
        owner=spec.owner,
        project=spec.project,
        leaderboard=spec.leaderboard,
        versions=versions(),
        host=platform.node(),
        schedule=schedule,
        prefect_flow_run_id=flow_run_id,
        cells=cells,
        sandbox=plan.backend.name,
    )


def run_label(board: str, start: datetime, entrants: Sequence[str]) -> str:
    """What a run is called in Prefect: `LEADERBOARD 2026-01-31 03:00 · ENTRANT, ENTRANT +3`."""
    shown = ", ".join(entrants[:_NAMED]) + (f" +{len(entrants) - _NAMED}" if len(entrants) > _NAMED else "")
    return f"{board} {start:%Y-%m-%d %H:%M} · {shown}"


def label_of(run: Mapping[str, Any]) -> str:
    """`run_label` of a run's row, as `db.queries.run` gives it."""
    start = datetime.fromisoformat(run["created_at"]).astimezone()
    return run_label(run["leaderboard"] or run["name"], start, [each["name"] for each in run["entrants"]])


def save_entrant(store: Store, entrant: Entrant) -> int:
    """The entrant's row; calling it again is free."""
    return store.save_entrant(
        digest=entrant.digest,
        name=entrant.spec.label,
        agent=entrant.spec.agent,
        agent_version=entrant.factory.version,
        model=entrant.spec.model,
        tools=entrant.tools.name,
        tool_list=entrant.tools.tools,
        config=entrant.spec.config,
    )


def versions() -> dict[str, str]:
    """The versions that a result depends on."""
    found = {"python": platform.python_version()}
    for package in ("stackrank", "prefect", "openai", "docker", "pytest"):
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found
