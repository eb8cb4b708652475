"""Resolves a specification on this machine: its tasks, entrants and sandboxes, checked before anything starts."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from importlib.util import find_spec
from typing import Any

from sqlalchemy import Engine

from stackrank.agents.episode.loop import Budget
from stackrank.agents.episode.protocol import Agent, Setup, SetupError
from stackrank.agents.registry import find_agent
from stackrank.db import queries
from stackrank.env.benchmarks.base import Benchmark, BenchmarkError
from stackrank.env.benchmarks.registry import load_benchmark, select
from stackrank.env.sandbox.base import Backend
from stackrank.env.sandbox.registry import chosen_backend
from stackrank.env.scoring.record import scorer_digest
from stackrank.env.statement_alone import statement_alone
from stackrank.env.task import Task
from stackrank.env.tools import ToolSet, tool_set
from stackrank.env.tools.server_plugin import server_plugin
from stackrank.env.tools.servers import Offer, ToolServer
from stackrank.flows.runs.playing.admission import capacity
from stackrank.flows.runs.specification.spec import EntrantSpec, RunSpec, SpecError
from stackrank.terms import DEBUGGERS
from stackrank.wording import one_of

"""The first `eval` that shows every visible test passing ends an episode."""


@dataclass(frozen=True)
class Entrant:
    """A checked entrant."""

    spec: EntrantSpec
    agent: type[Agent]
    setup: Setup
    tools: ToolSet
    tool_versions: Mapping[str, str]
    digest: str


@dataclass(frozen=True)
class CheckedRun:
    """A run that can be played on this machine: its specification, resolved here."""

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
        """The conditions that must be equal for episodes of two runs to be pooled; see `db.conditions`."""
        where = {
            "sandbox": self.backend.name,
            "scorer": scorer_digest(),
            "ends_when_solved": self.spec.ends_when_solved,
            "shows_failing_test": self.spec.shows_failing_test,
        }
        return {**asdict(self.budget), **where}


def check(spec: RunSpec, engine: Engine | None = None) -> CheckedRun:
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
        wanted = select(all_tasks, spec.tasks, None)
        left_out = _without_fix(wanted, entrants, bool(spec.tasks))
        if not spec.shows_failing_test:
            left_out |= _not_on_statement(wanted, bool(spec.tasks))
        wanted = [task for task in wanted if task.id not in left_out]
        invalid = {task.id: unsound[task.id] for task in wanted if task.id in unsound}
        tasks = tuple(select([task for task in wanted if task.id not in invalid], None, spec.limit))
    except (BenchmarkError, SetupError, ValueError) as error:
        raise SpecError(str(error)) from None
    if not tasks:
        reasons = "; ".join(f"{name}: {reason}" for name, reason in list(invalid.items())[:3])
        raise SpecError(f"every task chosen is invalid ({reasons}): --include-invalid plays them anyway")
    capacity()  # reports a wrong setting now, and not in every episode
    if spec.runner != "threads" and find_spec(f"prefect_{spec.runner}") is None:
        raise SpecError(
            f"runner: {spec.runner} needs a package that is not installed: pip install 'stackrank[{spec.runner}]'"
        )
    budget = Budget(steps=spec.steps, tokens=spec.tokens, cost_usd=spec.cost_usd, wall_s=spec.wall_s)
    backend = chosen_backend(spec.sandbox)
    return CheckedRun(spec, benchmark, all_tasks, tasks, entrants, backend, budget, invalid, left_out, idle)


def check_entrants(spec: RunSpec) -> tuple[tuple[Entrant, ...], dict[str, str]]:
    """Return the entrants that play, and the result of `idle_entrants` for the others. Needs no task.

    Raises SpecError if an entrant is unsound, or none plays.
    """
    idle = idle_entrants(spec)
    if len(idle) == len(spec.entrants) or (spec.stop and spec.stop.against in idle):
        raise SpecError(next(iter(idle.values())))
    try:
        entrants = tuple(make_entrant(each, spec.mcp) for each in spec.entrants if each.label not in idle)
    except (SetupError, ValueError) as error:
        raise SpecError(str(error)) from None
    require_different(entrants)
    _check_prices(spec, entrants)
    if any(entrant.tools.servers for entrant in entrants) and (problem := server_plugin().problem()):
        raise SpecError(problem)
    return entrants, idle


def idle_entrants(spec: RunSpec) -> dict[str, str]:
    """Return the valid entrants that are not played: label -> reason. Raises SpecError."""
    try:
        return {each.label: reason for each in spec.entrants if (reason := why_idle(each))}
    except (SetupError, ValueError) as error:
        raise SpecError(str(error)) from None


def require_different(entrants: Sequence[Entrant]) -> None:
    """Raises SpecError if two entrants are the same."""
    same: dict[str, Entrant] = {}
    for entrant in entrants:
        if (other := same.setdefault(entrant.digest, entrant)) is not entrant:
            raise SpecError(
                f"{other.spec.label} and {entrant.spec.label} are the same entrant: agent, model, tools and settings "
                "are equal; leave one out (`attempts` makes it play several times)"
            )


def needing_fix(entrants: Sequence[Entrant]) -> str | None:
    """Return the first entrant that can play only tasks with a known fix."""
    return next((entrant.spec.label for entrant in entrants if entrant.agent.knows_fix), None)


def _without_fix(tasks: Sequence[Task], entrants: Sequence[Entrant], named: bool) -> dict[str, str]:
    """Tasks that not every entrant can play: name -> reason. `named`: the caller named each task. Raises SpecError."""
    needy = needing_fix(entrants)
    without = [task.id for task in tasks if not task.fix] if needy else []
    if without and (named or len(without) == len(tasks)):
        raise SpecError(f"{needy} needs known fixes, and {without[0]} has none: leave the task out, or give --fixes")
    return dict.fromkeys(without, f"it has no known fix, which {needy} needs")


def _not_on_statement(tasks: Sequence[Task], named: bool) -> dict[str, str]:
    """Tasks whose failing tests cannot be withheld: name -> reason. `named`: as above. Raises SpecError."""
    found = {}
    for task in tasks:
        try:
            statement_alone(task)
        except BenchmarkError as error:
            found[task.id] = str(error)
    if found and (named or len(found) == len(tasks)):
        name, reason = next(iter(found.items()))
        raise SpecError(f"{name} cannot be played without showing its failing test: {reason}")
    return found


def _check_prices(spec: RunSpec, entrants: Sequence[Entrant]) -> None:
    """Raises SpecError for a limit in dollars that cannot be enforced."""
    limits = {"budget_usd": spec.budget_usd, "cost_usd": spec.cost_usd}
    set_ones = [name for name, value in limits.items() if value is not None]
    for entrant in entrants if set_ones else ():
        for model in entrant.setup.unpriced:
            raise SpecError(
                f"{set_ones[0]} cannot be enforced, because the price of the model {model} is unknown: set `price` in "
                "the config of its entrant, or name a price table in STACKRANK_PRICES"
            )


def invalid_tasks(engine: Engine, benchmark: Benchmark, tasks: Sequence[Task]) -> dict[str, str]:
    """Return the tasks that `stackrank validate` found invalid in their current version: name -> reason."""
    known = queries.validations(engine, benchmark.name)
    found = {task.id: known.get((task.id, task.digest)) for task in tasks}
    return {name: row["invalid_reason"] for name, row in found.items() if row and row["valid"] is False}


def why_idle(spec: EntrantSpec) -> str:
    """Return why a valid entrant is not played; empty if it is. Raises SetupError, ValueError.

    The entrant could not play at all, or it would play as if it had no debugger, so that its results would be mistaken
    for the value of its debugging tools.
    """
    agent, tools = find_agent(spec.agent), tool_set(spec.tools)
    if lacking := [name for name in agent.needs_tools if name not in tools.tools]:
        return f"the agent {spec.agent} cannot play without {', '.join(lacking)}"
    if not tools.debuggers or not agent.debuggers.isdisjoint(tools.debuggers):
        return ""
    used = [name for name in DEBUGGERS if name in agent.debuggers]
    return f"the agent {spec.agent} does not use {one_of(tools.debuggers)}, but {one_of(used) if used else 'none'}"


def make_entrant(
    spec: EntrantSpec, servers: Mapping[str, ToolServer] | None = None, offers: Sequence[Offer] = ()
) -> Entrant:
    """Return an entrant with its identity: with another agent, model, settings or tools it is another entrant.

    `servers`: the MCP servers that the run describes; `offers`: what the entrant's servers offer, once that is known.
    The identity is complete only then. Raises SetupError, ValueError.
    """
    agent = find_agent(spec.agent)
    tools = tool_set(spec.tools).with_offers(offers)
    if unknown := [name for name in tools.servers if name not in (servers or {})]:
        raise SetupError(
            f"the tools {spec.tools!r} name the MCP server {unknown[0]!r}, which the run does not describe: put it "
            f"under `mcp:` in the specification{', or choose ' + one_of(list(servers)) if servers else ''}"
        )
    if tools.servers and not agent.uses_servers:
        names = ", ".join(tools.servers)
        raise SetupError(f"the agent {spec.agent} calls no tools of MCP servers: leave {names} out of {spec.tools!r}")
    if agent.needs_model and not spec.model:
        raise SetupError(f"the agent {spec.agent} needs a model: name one with --model")
    if spec.model and not agent.needs_model:
        raise SetupError(f"the agent {spec.agent} uses no model: leave out --model {spec.model}")
    if agent.only_tools not in ("", spec.tools):
        raise SetupError(
            f"the agent {spec.agent} brings its own tools, and uses none of {spec.tools!r}: leave out the tools"
        )
    setup = agent.configure(model=spec.model, config=spec.config)
    tools = replace(tools, installed=setup.installed)
    versions = {name: tools.version(name) for name in tools.reachable}
    identity: dict[str, Any] = {
        "agent": spec.agent,
        "version": agent.version,
        "model": spec.model,
        "tools": [tools.tools, tools.after_rewrites, *(["must parse"] if tools.must_parse else [])],
        "config": dict(setup.identity),
        "tool_versions": versions,
    }
    if tools.servers and servers:
        identity["mcp"] = {name: servers[name].identity() for name in tools.servers}
        identity["offers"] = {offer.name: offer.identity() for offer in offers}
    text = json.dumps(identity, sort_keys=True, default=list)
    return Entrant(spec, agent, setup, tools, versions, hashlib.sha256(text.encode()).hexdigest()[:16])
