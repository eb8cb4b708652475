"""Write to the database. Every method is one short transaction, and safe to call from several threads."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from sqlalchemy import (
    JSON,
    ColumnElement,
    Connection,
    bindparam,
    case,
    column,
    func,
    insert,
    literal,
    or_,
    select,
    true,
    update,
)

from stackrank.db.connection.partitions import make_room
from stackrank.db.connection.transactions import (
    BENCHMARK,
    BLOB,
    EPISODE,
    EPISODE_TOOL,
    FAULT_VERDICT,
    PACKED,
    RUN,
    STEP,
    TASK,
    InsertOnce,
    clean,
    new_id,
)
from stackrank.db.models.runs import Episode, Run, Step, Task
from stackrank.db.queries.episodes.steps import steps
from stackrank.db.texts import Blobs, fold
from stackrank.db.totals import tallies
from stackrank.db.writes import conditions as conditions_of
from stackrank.db.writes.claims import Claims, check_claim
from stackrank.db.writes.entrants import Entrants
from stackrank.db.writes.outages import Outages
from stackrank.db.writes.run_life import RunLife
from stackrank.db.writes.tool_use import store_tool_use
from stackrank.db.writes.validations import RESULT, Validations
from stackrank.db.writes.verdicts import Kept, Verdicts
from stackrank.host.wall_clock import now
from stackrank.terms import EpisodeStatus, Milestone, Verdict

EpisodeKey = tuple[int, int, int]
"""(task id, entrant id, attempt); attempts count from 1."""
_PART = 20_000
"""How many episodes of a new run one transaction stores, so that others can write in between."""


_VALIDATION = {*RESULT, "audit"}
_TASK_COLUMNS = {column.name for column in TASK.columns} - {"id", "benchmark_id"} - _VALIDATION


@dataclass(frozen=True, slots=True)
class SavedBenchmark:
    """A benchmark's row and its tasks' rows."""

    id: int
    task_ids: dict[str, int]


class Store(RunLife, Claims, Outages, Entrants, Validations, Verdicts):
    """Writes to the database behind `engine`, as returned by `db.connection.engine.connect`.

    A transaction that meets a lock, a deadlock or a lost connection is tried again, `attempts` times in all. After
    that, and for every other failure of the database, the methods raise `DatabaseError`; for an id that does not exist
    `NotFound`; for an invalid call `ValueError`.
    """

    def save_benchmark(
        self,
        *,
        name: str,
        digest: str,
        license: str,
        source: str,
        tasks: Sequence[Mapping[str, Any]],
        rates: Mapping[str, Any] | None = None,
    ) -> SavedBenchmark:
        """Store one version of a benchmark and its tasks, or update their rows; calling it again does no harm.

        The keys of a task are the columns of `Task`. A task keeps its validation, or takes over that of the same task
        in an earlier version. Tasks stored earlier stay. `rates`: how often verdicts are wrong, in the form of
        `Benchmark.rates`; None leaves them as they are.
        """
        for task in tasks:
            if unknown := sorted(set(task) - _TASK_COLUMNS):
                raise ValueError(f"unknown task columns {unknown}: use {sorted(_TASK_COLUMNS)}")
        names = [task["name"] for task in tasks]
        if len(set(names)) < len(names):
            raise ValueError(f"benchmark {name!r} has two tasks with one name")
        rows = [
            Task(benchmark_id=0, **task).model_dump(exclude={"id", "benchmark_id"}, warnings=False) for task in tasks
        ]

        def work(connection: Connection) -> SavedBenchmark:
            origin: dict[str, Any] = {"license": license, "source": source}
            if rates is not None:
                origin["rates"] = dict(rates)
            row = {"name": name, "digest": digest, **origin, "tasks_total": 0, "created_at": now()}
            benchmark_id = self._upsert(connection, BENCHMARK, clean(row), key=("name", "digest"), change=tuple(origin))
            statement = self._insert(TASK)
            changed = {column: statement.excluded[column] for column in _TASK_COLUMNS - {"name"}}
            # A machine that has not measured a task does not overwrite what another one has measured.
            unknown_here = statement.excluded["measured"].is_(None) & TASK.c.measured.is_not(None)
            for result in ("measured", "difficulty"):
                changed[result] = case((unknown_here, TASK.c[result]), else_=statement.excluded[result])
            if rows:
                connection.execute(
                    statement.on_conflict_do_update(index_elements=["benchmark_id", "name"], set_=changed),
                    [clean({**row, "benchmark_id": benchmark_id}) for row in rows],
                )
            saved = connection.execute(select(TASK.c.name, TASK.c.id).where(TASK.c.benchmark_id == benchmark_id))
            task_ids = {row.name: row.id for row in saved}
            total = update(BENCHMARK).where(BENCHMARK.c.id == benchmark_id).values(tasks_total=len(task_ids))
            connection.execute(total)
            self._carry_over(connection, name, benchmark_id)
            return SavedBenchmark(id=benchmark_id, task_ids=task_ids)

        return self._write(work)

    def create_run(
        self,
        *,
        name: str,
        benchmark_id: int,
        spec: Mapping[str, Any],
        seed: int = 0,
        tags: Sequence[str] = (),
        owner: str = "",
        project: str = "",
        leaderboard: str = "",
        conditions: Mapping[str, Any] | None = None,
        versions: Mapping[str, Any] | None = None,
        host: str = "",
        schedule: str = "",
        prefect_flow_run_id: str = "",
        cells: Iterable[EpisodeKey] = (),
        sandbox: str = "",
    ) -> int:
        """Store a pending run and return its id. Names may repeat; a name refers to its latest run.

        `conditions`: in the form of `db.writes.conditions`; fields left out are unknown. `cells`: its episodes, which
        are pending. Many of them are stored in several transactions; a run that is cut off in between has fewer
        episodes than its `episodes_total` says.
        """
        distinct_cells = list(dict.fromkeys(cells))
        under = conditions_of.complete(conditions)
        run = Run(
            name=name,
            benchmark_id=benchmark_id,
            spec=dict(spec),
            seed=seed,
            tags=list(tags),
            owner=owner,
            project=project,
            leaderboard=leaderboard,
            series=leaderboard or schedule or str(spec.get("name") or ""),
            conditions=under,
            conditions_digest=conditions_of.digest(under),
            versions=dict(versions or {}),
            host=host,
            schedule=schedule,
            prefect_flow_run_id=prefect_flow_run_id,
            created_at=now(),
            episodes_total=len(distinct_cells),
        )
        row = clean(run.model_dump(exclude={"id"}))

        def work(connection: Connection) -> int:
            run_id = new_id(connection.execute(insert(RUN).values(row)))
            _insert_episodes(connection, run_id, distinct_cells[:_PART], sandbox)
            return run_id

        self._write(lambda connection: make_room(connection, len(distinct_cells)), write=False)
        run_id = self._write(work)
        for start in range(_PART, len(distinct_cells), _PART):
            part = distinct_cells[start : start + _PART]
            self._write(partial(_insert_episodes, run_id=run_id, cells=part, sandbox=sandbox))
        return run_id

    def record_conditions(self, run_id: int, conditions: Mapping[str, Any]) -> None:
        """Record that a run continues under these conditions. A field that differs from before gets both values."""

        def work(connection: Connection) -> None:
            query = select(RUN.c.conditions).where(RUN.c.id == run_id).with_for_update(key_share=True)
            stored = connection.scalar(query) or {}
            now_under = conditions_of.merge(stored, conditions_of.complete(conditions))
            if now_under != stored:
                values = {"conditions": now_under, "conditions_digest": conditions_of.digest(now_under)}
                self._update(connection, RUN, run_id, clean(values))

        self._write(work)

    def save_regressions(self, run_id: int, regressions: Sequence[Mapping[str, Any]]) -> None:
        """Store what got worse since the leaderboard's previous run."""
        row = clean({"regressions": [dict(regression) for regression in regressions]})
        self._write(lambda connection: self._update(connection, RUN, run_id, row))

    def add_step(self, step: Step, *, by: str | None = None) -> None:
        """Append one step, which is committed when this returns. Raises `ValueError` if another step has its index.

        The same step may be stored again. The episode's row gets the milestones that this step is the first to reach.
        `by`: the worker that has to hold the claim; otherwise raises `ClaimLost`.
        """
        episode_id, index = step.episode_id, step.index
        milestones = {f"at_{name}": index for name in step.milestones}
        unpacked = clean({**step.model_dump(), "created_at": now()})
        blobs: Blobs = {}
        row = unpacked | {name: fold(unpacked[name], blobs) for name in PACKED}

        def work(connection: Connection) -> bool:
            check_claim(connection, episode_id, by)
            # After a lost connection nobody knows whether the step was committed. If it was, it is found below.
            if connection.scalar(_ADD_STEP, row) is None:
                return False
            if blobs:
                run_id = connection.scalar(_RUN_OF, {"one": episode_id})
                # Sorted, so that two writers of the same blobs do not wait for each other.
                rows = [{"run_id": run_id, "digest": digest, "content": blobs[digest]} for digest in sorted(blobs)]
                connection.execute(_ADD_BLOB, rows)
            if step.tool:
                connection.execute(_ADD_TOOL, {"tool": row["tool"], "episode_id": episode_id})
            if milestones:
                self._update(connection, EPISODE, episode_id, milestones)
            return True

        if not self._write(work):
            (stored,) = steps(self.engine, episode_id, first=index, limit=1)
            if (stored["tool"], stored["arguments"], stored["observation"]) != tuple(
                unpacked[name] for name in ("tool", "arguments", "observation")
            ):
                raise ValueError(f"episode {episode_id} already has another step {index}")

    def finish_episode(
        self,
        episode_id: int,
        *,
        verdict: str,
        stop_reason: str,
        failure_point: str = "",
        failure_step: int | None = None,
        tampered: bool = False,
        sealed: int = 0,
        mended: int | None = None,
        faults_total: int = 1,
        unverified: bool = False,
        steps: int = 0,
        tokens_in: int = 0,
        tokens_out: int = 0,
        tokens_cached: int = 0,
        tokens_reasoning: int = 0,
        cost_usd: float | None = None,
        usage: Mapping[str, Any] | None = None,
        env_ms: float = 0.0,
        model_ms: float = 0.0,
        score_ms: float = 0.0,
        wall_s: float = 0.0,
        machine_load: float | None = None,
        tests_passed: int = 0,
        tests_failed: int = 0,
        error: str = "",
        diff: str = "",
        score: Mapping[str, Any] | None = None,
        milestones: Mapping[Milestone, int] | None = None,
        record: Mapping[str, Any] | None = None,
        change: Kept | None = None,
        by_fault: Sequence[Mapping[str, Any]] = (),
        by: str | None = None,
    ) -> None:
        """Write verdict, failure point and totals. Raises `ValueError` if the episode already has another verdict.

        `mended` of the task's `faults_total` faults are mended; None: all of them if it is resolved, otherwise none.
        `by_fault`: the verdict on each of several faults, as columns of `FaultVerdict`.
        `record`: the verdict of record, as columns of `VerdictRecord`; `change`: the change that it is about. `by`: the
        worker that has to hold the claim; otherwise raises `ClaimLost`.
        """
        values = {
            name: value
            for name, value in locals().items()
            if name not in ("self", "episode_id", "milestones", "record", "change", "by_fault", "by")
        }
        if mended is None:
            values["mended"] = faults_total if verdict == Verdict.RESOLVED else 0
        values |= {"score": dict(score or {}), "usage": dict(usage or {})}
        if milestones is not None:
            values |= {f"at_{name}": milestones.get(name) for name in Milestone}
        row = clean({**values, "verdict": Verdict(verdict), "status": EpisodeStatus.DONE, "ended_at": now()})

        def work(connection: Connection) -> None:
            tallies.forget_tally_of(connection, episode_id)
            check_claim(connection, episode_id, by)
            if connection.execute(_FINISH, {**row, "one": episode_id, "same": verdict}).rowcount == 0:
                self._exists(connection, EPISODE, episode_id)
                raise ValueError(f"episode {episode_id} already has another verdict")
            if record is not None:
                self._add_verdict(connection, episode_id, record, of_record=True, change=change)
            for fault in by_fault:
                connection.execute(InsertOnce(FAULT_VERDICT), clean({**fault, "episode_id": episode_id}))
            store_tool_use(connection, episode_id)

        self._write(work)


# Built once, with their values as parameters, because building these takes longer than running them.
_ADD_STEP = InsertOnce(STEP).returning(STEP.c.index)
_ADD_BLOB, _ADD_TOOL = InsertOnce(BLOB), InsertOnce(EPISODE_TOOL)
_RUN_OF = select(EPISODE.c.run_id).where(EPISODE.c.id == bindparam("one"))
_FINISH = update(EPISODE).where(
    EPISODE.c.id == bindparam("one"), or_(EPISODE.c.verdict == "", EPISODE.c.verdict == bindparam("same"))
)


def _insert_episodes(connection: Connection, run_id: int, cells: Sequence[EpisodeKey], sandbox: str) -> None:
    """Insert all episodes in one statement, so that the database counts them once and need not parse each of them."""
    if not cells:
        return
    common = Episode(run_id=run_id, task_id=0, entrant_id=0, sandbox=sandbox, created_at=now())
    row = {name: value for name, value in clean(common.model_dump(exclude={"id"})).items() if value is not None}
    cells_json = json.dumps(cells)
    if connection.dialect.name == "postgresql":
        cell: Any = func.json_array_elements(literal(cells_json).cast(JSON)).table_valued(
            column("value", JSON), name="cell"
        )
        key = [cell.c.value[index].as_integer() for index in range(3)]
    else:
        cell = func.json_each(cells_json).table_valued("value", name="cell")
        key = [func.json_extract(cell.c.value, f"$[{index}]") for index in range(3)]
    values = row | dict(zip(("task_id", "entrant_id", "attempt"), key, strict=True))
    columns = [
        value if isinstance(value, ColumnElement) else literal(value, EPISODE.c[name].type)
        for name, value in values.items()
    ]
    # Without WHERE, SQLite parses ON CONFLICT as a part of the SELECT.
    connection.execute(InsertOnce(EPISODE).from_select(list(values), select(*columns).select_from(cell).where(true())))
