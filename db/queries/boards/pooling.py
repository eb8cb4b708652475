"""Which runs may be pooled: those of one benchmark version under equal conditions. Others are listed with a reason."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from sqlalchemy import Engine, Select, select
from sqlalchemy.sql import ColumnElement

from stackrank.db.connection.errors import NotComparable
from stackrank.db.connection.transactions import BENCHMARK, ENTRANT, EPISODE, RUN
from stackrank.db.queries.reading import fetch_tuples
from stackrank.db.writes import conditions
from stackrank.storable import storable_text
from stackrank.terms import RunStatus
from stackrank.wording import count_of


class PooledRun(NamedTuple):
    """What decides whether a run is pooled with another one, and what boards show about it."""

    id: int
    name: str
    status: str
    benchmark_id: int
    benchmark: str
    version: str
    """The benchmark's digest."""
    conditions_digest: str
    started_at: Any
    created_at: Any

    @property
    def kind(self) -> tuple[int, str]:
        """Equal for runs that may be pooled."""
        return self.benchmark_id, self.conditions_digest


def _select_runs() -> Select[Any]:
    r, b = RUN.c, BENCHMARK.c
    columns = (
        r.id,
        r.name,
        r.status,
        r.benchmark_id,
        b.name,
        b.digest,
        r.conditions_digest,
        r.started_at,
        r.created_at,
    )
    return select(*columns).join(BENCHMARK).order_by(r.id.desc())


def fetch_runs(engine: Engine, *run_conditions: ColumnElement[bool]) -> list[PooledRun]:
    """Return the runs that meet these conditions, newest first."""
    return [PooledRun(*row) for row in fetch_tuples(engine, _select_runs().where(*run_conditions))]


def find_leading_run(
    engine: Engine, run_conditions: Sequence[ColumnElement[bool]], *, finished_only: bool = False
) -> PooledRun | None:
    """Return the run that sets the benchmark version and conditions of a board: the newest finished one.

    A run in which only reference entrants played leads only if there is no other. Unless `finished_only`, an unfinished
    run leads if no other one has finished.
    """
    of_reference = select(ENTRANT.c.id).where(ENTRANT.c.reference)
    counted = select(1).where(EPISODE.c.run_id == RUN.c.id, EPISODE.c.counted)
    competing = counted.where(EPISODE.c.entrant_id.not_in(of_reference)).exists()
    finished = RUN.c.status == RunStatus.FINISHED
    played = EPISODE.c.verdict != ""
    unfinished: list[list[ColumnElement[bool]]] = [
        [competing, counted.where(played, EPISODE.c.entrant_id.not_in(of_reference)).exists()]
    ]
    preferences: list[list[ColumnElement[bool]]] = [[finished, competing]]
    preferences += [] if finished_only else unfinished
    preferences.append([finished])
    if not finished_only:
        preferences += [[counted.where(played).exists()], []]
    for extra_conditions in preferences:
        if rows := fetch_tuples(engine, _select_runs().where(*run_conditions, *extra_conditions).limit(1)):
            return PooledRun(*rows[0])
    return None


def require_poolable(engine: Engine, runs: Sequence[PooledRun]) -> None:
    """Raise NotComparable if these runs, each chosen by its id or name, may not be pooled."""
    odd_run = next((run for run in runs if run.kind != runs[0].kind), None)
    if odd_run is not None:
        run_ids = ", ".join(str(run.id) for run in runs)
        reason = explain_exclusion(odd_run, runs[0], fetch_conditions(engine, runs))
        raise NotComparable(
            f"Runs {run_ids} cannot be pooled (run {odd_run.id}: {reason}). Choose runs of the same benchmark version "
            "under the same conditions."
        )


def fetch_conditions(engine: Engine, runs: Iterable[PooledRun]) -> dict[str, dict[str, Any]]:
    """Return the conditions of these runs: digest -> conditions."""
    newest: dict[str, int] = {}
    for run in runs:
        newest.setdefault(run.conditions_digest, run.id)
    query = select(RUN.c.conditions_digest, RUN.c.conditions).where(RUN.c.id.in_(list(newest.values())))
    return {digest: dict(document) for digest, document in fetch_tuples(engine, query)}


def explain_exclusion(run: PooledRun, lead: PooledRun, conditions_by_digest: Mapping[str, Mapping[str, Any]]) -> str:
    """Return why a run is not pooled with another: the first of benchmark, version, conditions and status to differ."""
    if run.benchmark != lead.benchmark:
        return f"different benchmark {run.benchmark}"
    if run.version != lead.version:
        return f"different version {run.version[:8]}"
    if run.conditions_digest != lead.conditions_digest:
        changed = conditions.differences(
            conditions_by_digest[run.conditions_digest], conditions_by_digest[lead.conditions_digest]
        )
        return f"different conditions {run.conditions_digest[:8]}: {conditions.describe_differences(changed)}"
    return f"status {run.status}"


def benchmark_names(engine: Engine, ref: str) -> list[str]:
    """Return the name of the benchmark that `ref` means: its full name, or its first or last part if that is unique.

    [] if there is none. Raises NotComparable if several benchmarks match.
    """
    name = storable_text(ref)
    names = [row[0] for row in fetch_tuples(engine, select(BENCHMARK.c.name).distinct().order_by(BENCHMARK.c.name))]
    if name in names:
        return [name]
    prefix, suffix = f"{name}/", f"/{name}"
    matches = [name for name in names if name.startswith(prefix) or name.endswith(suffix)]
    if len(matches) > 1:
        raise NotComparable(
            f"{ref} matches {count_of(len(matches), 'benchmark')}, which cannot be pooled: choose one of "
            f"{', '.join(matches)}."
        )
    return matches
