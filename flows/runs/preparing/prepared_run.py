"""A run that is ready to be played on this machine: its specification checked, and its environments built."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from importlib.util import find_spec
from typing import Any

from sqlalchemy import Engine

from stackrank.agents.episode.loop import Budget
from stackrank.agents.episode.protocol import EndpointDown, SetupError
from stackrank.db import queries
from stackrank.db.writes.conditions import OWN_LIMIT
from stackrank.db.writes.store import Store
from stackrank.env.benchmarks.base import Benchmark, BenchmarkError, TaskByTask
from stackrank.env.benchmarks.registry import load_benchmark, select
from stackrank.env.sandbox.base import Backend, Say
from stackrank.env.sandbox.registry import chosen_backend
from stackrank.env.scoring.digest import scorer_digest
from stackrank.env.statement_alone import statement_alone
from stackrank.env.task import Task
from stackrank.flows.runs.preparing.endpoints import find_silent_endpoints
from stackrank.flows.runs.preparing.entrants import Entrant, add_server_tools, check_entrants, needing_fix
from stackrank.flows.runs.preparing.environments import build_environments
from stackrank.flows.runs.preparing.first_check import explain, try_unvalidated
from stackrank.flows.runs.specification.spec import RunSpec, SpecError
from stackrank.settings import settings

_OWN = ("steps", "tokens")
"""The limits that a task may set itself."""


@dataclass(frozen=True)
class PreparedRun:
    """A run that can be played on this machine: its specification, resolved here. `build` completes it."""

    spec: RunSpec
    benchmark: Benchmark
    all_tasks: tuple[Task, ...]
    tasks: tuple[Task, ...]
    """The tasks to play."""
    entrants: tuple[Entrant, ...]
    backend: Backend
    budget: Budget
    """Limits of an episode."""
    invalid: Mapping[str, str] = field(default_factory=dict)
    """Tasks that are not played because `stackrank validate` found them invalid: name -> why."""
    left_out: Mapping[str, str] = field(default_factory=dict)
    """Tasks that are not played for other reasons: name -> reason."""
    idle: Mapping[str, str] = field(default_factory=dict)
    """Entrants that are not played because they would not use their debugging tools: name -> reason."""

    @property
    def conditions(self) -> dict[str, Any]:
        """The conditions that must be equal for episodes of two runs to be pooled; see `db.writes.conditions`."""
        setting = {
            "sandbox": self.backend.name,
            "scorer": scorer_digest(),
            "ends_when_solved": self.spec.ends_when_solved,
            "shows_failing_test": self.spec.shows_failing_test,
            "shows_failure_state": self.spec.shows_failure_state,
        }
        return {**limits_of(self.spec, self.all_tasks), **setting}

    def budget_of(self, task: Task) -> Budget:
        """Return the limits of an episode on a task: those of the run, and where it has none, the task's own."""
        unset = [name for name in _OWN if getattr(self.spec, name) is None]
        return replace(self.budget, **{name: limit for name in unset if (limit := getattr(task, name)) is not None})

    @cached_property
    def silent_endpoints(self) -> Mapping[str, EndpointDown]:
        """Entrants whose endpoint does not answer: digest -> error. Asked once. Raises SetupError, EndpointError."""
        return find_silent_endpoints(self.entrants)


def limits_of(spec: RunSpec, tasks: Sequence[Task]) -> dict[str, Any]:
    """Return the limits of a run's episodes as its conditions name them. `tasks`: all of the benchmark."""
    own = {name: OWN_LIMIT for name in _OWN if getattr(spec, name) is None and any(getattr(t, name) for t in tasks)}
    return {**asdict(_budget(spec)), **own}


def _budget(spec: RunSpec) -> Budget:
    budget = Budget(tokens=spec.tokens, cost_usd=spec.cost_usd, wall_s=spec.wall_s)
    return budget if spec.steps is None else replace(budget, steps=spec.steps)


def check(spec: RunSpec, engine: Engine | None = None) -> PreparedRun:
    """Check everything that can be checked without changing anything. Nothing is built, written or printed.

    With `engine`, as for every new run, tasks that `stackrank validate` found invalid are left out unless the
    specification includes them. Raises SpecError for problems that the caller can fix, SandboxError if no sandbox can
    be made here.
    """
    try:
        benchmark = load_benchmark(spec.benchmark, spec.source)
        all_tasks = tuple(benchmark.tasks())
        unsound = invalid_tasks(engine, benchmark, all_tasks) if engine and not spec.include_invalid else {}
        entrants, idle = check_entrants(spec)
        selected = select(all_tasks, spec.tasks, None)
        left_out = _without_fix(selected, entrants, bool(spec.tasks))
        if not spec.shows_failing_test:
            left_out |= _not_on_statement(selected, bool(spec.tasks))
        selected = [task for task in selected if task.id not in left_out]
        invalid = {task.id: unsound[task.id] for task in selected if task.id in unsound}
        tasks = tuple(select([task for task in selected if task.id not in invalid], None, spec.limit))
    except (BenchmarkError, SetupError, ValueError) as error:
        raise SpecError(str(error)) from None
    if not tasks:
        raise SpecError(f"every task chosen is invalid ({explain(invalid)}): --include-invalid plays them anyway")
    settings()  # reports a wrong setting now, and not in every episode
    if spec.runner != "threads" and find_spec(f"prefect_{spec.runner}") is None:
        raise SpecError(
            f"runner: {spec.runner} needs a package that is not installed: pip install 'stackrank[{spec.runner}]'"
        )
    backend = chosen_backend(spec.sandbox)
    return PreparedRun(spec, benchmark, all_tasks, tasks, entrants, backend, _budget(spec), invalid, left_out, idle)


def build(run: PreparedRun, say: Say) -> PreparedRun:
    """Build the environments of a run's tasks, and ask its MCP servers for their tools.

    Returns the run without the tasks whose environment cannot be built. `say` gets a line before each long wait, and
    the notes about the benchmark's data. Raises SpecError if no task is left, SandboxError.
    """
    for note in run.benchmark.notes if isinstance(run.benchmark, TaskByTask) else ():
        say(note)
    spec, backend = run.spec, run.backend
    unbuilt = build_environments(backend, run.tasks, spec.workers, say)
    tasks = _without(run.tasks, unbuilt)
    entrants = add_server_tools(run.entrants, spec.mcp, backend, tasks[0], say)
    for prefixes in sorted({entrant.tools.prefixes for entrant in entrants if entrant.tools.prefixes}, key=str):
        unbuilt |= build_environments(backend, tasks, spec.workers, say, prefixes)
    tasks = _without(tasks, unbuilt)
    return replace(run, tasks=tasks, entrants=entrants, left_out={**run.left_out, **unbuilt})


def prepare(spec: RunSpec, say: Say, engine: Engine) -> PreparedRun:
    """Check the specification of a new run, and build what it needs on this machine: see `check` and `build`.

    Tasks that were never validated are tried once (`try_unvalidated`).
    """
    return _tried(build(check(spec, engine), say), engine, say)


def _tried(run: PreparedRun, engine: Engine, say: Say) -> PreparedRun:
    """Return a new run without tasks that turn out to be invalid when they are first tried."""
    spec = run.spec
    arguments = (run.benchmark, run.all_tasks, run.tasks, run.backend, spec.workers, say)
    invalid = try_unvalidated(Store(engine), *arguments)
    if not invalid or spec.include_invalid:
        return run
    tasks = tuple(task for task in run.tasks if task.id not in invalid)
    if not tasks:
        raise SpecError(f"every task chosen is invalid ({explain(invalid)}): --include-invalid plays them anyway")
    return replace(run, tasks=tasks, invalid={**run.invalid, **invalid})


def _without(tasks: Sequence[Task], unbuilt: Mapping[str, str]) -> tuple[Task, ...]:
    """Return the tasks that can be played. Raises SpecError if there is none."""
    playable = tuple(task for task in tasks if task.id not in unbuilt)
    if not playable:
        raise SpecError(f"no task is left: {next(iter(unbuilt.values()), 'the benchmark is empty')}")
    return playable


def _without_fix(tasks: Sequence[Task], entrants: Sequence[Entrant], are_named: bool) -> dict[str, str]:
    """Return tasks without a fix that an entrant needs: name -> reason. `are_named`: each by the caller."""
    fix_user = needing_fix(entrants)
    unfixed = [task.id for task in tasks if not task.fix] if fix_user else []
    if unfixed and (are_named or len(unfixed) == len(tasks)):
        raise SpecError(f"{fix_user} needs known fixes, and {unfixed[0]} has none: leave the task out, or give --fixes")
    return dict.fromkeys(unfixed, f"it has no known fix, which {fix_user} needs")


def _not_on_statement(tasks: Sequence[Task], are_named: bool) -> dict[str, str]:
    """Return tasks whose failing tests cannot be withheld: name -> reason. Raises SpecError."""
    reasons = {}
    for task in tasks:
        try:
            statement_alone(task)
        except BenchmarkError as error:
            reasons[task.id] = str(error)
    if reasons and (are_named or len(reasons) == len(tasks)):
        name, reason = next(iter(reasons.items()))
        raise SpecError(f"{name} cannot be played without showing its failing test: {reason}")
    return reasons


def invalid_tasks(engine: Engine, benchmark: Benchmark, tasks: Sequence[Task]) -> dict[str, str]:
    """Return the tasks that `stackrank validate` found invalid in their current version: name -> reason."""
    validations = queries.validations(engine, benchmark.name)
    task_rows = {task.id: validations.get((task.id, task.digest)) for task in tasks}
    return {name: row["invalid_reason"] for name, row in task_rows.items() if row and row["valid"] is False}
