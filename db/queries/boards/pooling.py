"""Which runs may be pooled: those of one benchmark version under equal conditions. Others are listed with a reason."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from sqlalchemy import Engine, Select, select
from sqlalchemy.sql import ColumnElement

from stackrank.db.connection.errors import NotComparable
from stackrank.db.connection.transactions import BENCHMARK, ENTRANT, EPISODE, RUN
from stackrank.db.queries.reading import tuples
from stackrank.db.writes import conditions
from stackrank.storable import storable_text
from stackrank.terms import RunStatus


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


def _runs() -> Select[Any]:
    r, b = RUN.c, BENCHMARK.c
    about = (r.id, r.name, r.status, r.benchmark_id, b.name, b.digest, r.conditions_digest, r.started_at, r.created_at)
    return select(*about).join(BENCHMARK).order_by(r.id.desc())


def runs_where(engine: Engine, *asked: ColumnElement[bool]) -> list[PooledRun]:
    """Return the runs that meet these conditions, newest first."""
    return [PooledRun(*row) for row in tuples(engine, _runs().where(*asked))]


def leading(engine: Engine, asked: Sequence[ColumnElement[bool]], *, finished_only: bool) -> PooledRun | None:
    """Return the run that sets the benchmark version and conditions of a board: the newest finished one.

    A run in which only reference entrants played leads only if there is no other. Unless `finished_only`, an unfinished
    run leads if none has finished.
    """
    of_reference = select(ENTRANT.c.id).where(ENTRANT.c.reference)
    counted = select(1).where(EPISODE.c.run_id == RUN.c.id, EPISODE.c.counted)
    competing = counted.where(EPISODE.c.entrant_id.not_in(of_reference)).exists()
    finished = RUN.c.status == RunStatus.FINISHED
    wanted: list[list[ColumnElement[bool]]] = [[finished, competing], [finished]]
    if not finished_only:
        wanted += [[counted.where(EPISODE.c.verdict != "").exists()], []]
    for more in wanted:
        if found := tuples(engine, _runs().where(*asked, *more).limit(1)):
            return PooledRun(*found[0])
    return None


def require_one_kind(engine: Engine, runs: Sequence[PooledRun]) -> None:
    """Raise NotComparable if the runs, which were named individually, may not be pooled."""
    other = next((run for run in runs if run.kind != runs[0].kind), None)
    if other is not None:
        named = ", ".join(str(run.id) for run in runs)
        why = why_apart(other, runs[0], conditions_of(engine, runs))
        raise NotComparable(
            f"Runs {named} cannot be pooled: run {other.id} has {why}. Ask for one of them, or for runs that are alike."
        )


def conditions_of(engine: Engine, runs: Iterable[PooledRun]) -> dict[str, dict[str, Any]]:
    """Return the conditions of these runs: digest -> conditions."""
    newest: dict[str, int] = {}
    for run in runs:
        newest.setdefault(run.conditions_digest, run.id)
    query = select(RUN.c.conditions_digest, RUN.c.conditions).where(RUN.c.id.in_(list(newest.values())))
    return {digest: dict(found) for digest, found in tuples(engine, query)}


def why_apart(run: PooledRun, lead: PooledRun, known: Mapping[str, Mapping[str, Any]]) -> str:
    """Say why a run is not pooled with another: the first of benchmark, version, conditions and status that differs."""
    if run.benchmark != lead.benchmark:
        return f"another benchmark, {run.benchmark}"
    if run.version != lead.version:
        return f"another version, {run.version[:8]}"
    if run.conditions_digest != lead.conditions_digest:
        differ = conditions.differences(known[run.conditions_digest], known[lead.conditions_digest])
        return f"other conditions ({run.conditions_digest[:8]}), {conditions.describe_differences(differ)}"
    return f"not finished but {run.status}"


def benchmark_names(engine: Engine, ref: str) -> list[str]:
    """Return the name of the benchmark that `ref` means: its whole name, or one part of it that only one set has.

    [] if there is none. Raises NotComparable if several sets match.
    """
    wanted = storable_text(ref)
    names = [row[0] for row in tuples(engine, select(BENCHMARK.c.name).distinct().order_by(BENCHMARK.c.name))]
    if wanted in names:
        return [wanted]
    family, own = f"{wanted}/", f"/{wanted}"
    found = [name for name in names if name.startswith(family) or name.endswith(own)]
    if len(found) > 1:
        raise NotComparable(f"{ref} is {len(found)} sets, which are not pooled: name one of {', '.join(found)}.")
    return found
