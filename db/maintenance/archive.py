"""Export runs as Parquet files, so that pandas, R and other programs can read them and they can be deleted here."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlalchemy import Engine, Select, TypeDecorator, select

from stackrank.db import queries
from stackrank.db.connection.engine import HEAD
from stackrank.db.connection.errors import DatabaseError
from stackrank.db.connection.transactions import (
    BENCHMARK,
    CHANGE,
    ENTRANT,
    EPISODE,
    FAULT_VERDICT,
    LABEL,
    NOTE,
    RUN,
    STEP,
    TASK,
    TOOL_USE,
    VERDICTS,
)
from stackrank.db.maintenance.prune import of_runs
from stackrank.db.queries import Scope
from stackrank.db.queries.reading import open_connection
from stackrank.db.texts import Packed
from stackrank.terms import Verdict
from stackrank.wording import count_of

if TYPE_CHECKING:
    import pyarrow as pa

_AT_ONCE = 1_000
Rows = Iterable[dict[str, Any]]


def archive(engine: Engine, runs: Sequence[int], folder: Path) -> dict[str, int]:
    """Write these runs into a new folder, and return how many rows each file has.

    Each table becomes a file with the same columns; JSON is written as text, steps with their blobs filled in.
    `responses.parquet` is the response matrix: a row for each task, entrant and attempt. The folder gets its final
    name once all rows are in it and counted. Raises DatabaseError, OSError.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise DatabaseError(f"{folder} already exists and is not empty: name a new folder.")
    part = folder.with_name(f"{folder.name}.part")
    part.mkdir(parents=True)  # fails if another archive is being written there
    row_counts: dict[str, int] = {}
    try:
        for name, query in _tables(runs).items():
            row_counts[name] = _write(part / f"{name}.parquet", query, _rows(engine, query))
        steps = select(STEP).where(_in_runs(STEP, runs))
        row_counts["steps"] = _write(part / "steps.parquet", steps, _steps(engine, runs))
        scopes = {run: queries.describe_scope(engine, Scope(run=run))["sentence"] for run in runs}
        summary = {"schema": HEAD, "runs": list(runs), "scopes": scopes, "rows": row_counts}
        (part / "archive.json").write_text(json.dumps(summary, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        part.replace(folder)
    finally:
        for file in part.glob("*") if part.exists() else ():
            file.unlink()
        if part.exists():
            part.rmdir()
    return row_counts


def _in_runs(table: Any, runs: Sequence[int]) -> Any:
    condition = of_runs(table, runs)
    assert condition is not None
    return condition


def _tables(runs: Sequence[int]) -> dict[str, Select[Any]]:
    """Return the query for each file but that of the steps, which are read episode by episode."""
    episodes = _in_runs(EPISODE, runs)
    tables = {
        "runs": RUN,
        "episodes": EPISODE,
        "verdicts": VERDICTS,
        "fault_verdicts": FAULT_VERDICT,
        "notes": NOTE,
        "labels": LABEL,
        "tool_use": TOOL_USE,
    }
    referenced = {
        "benchmarks": (BENCHMARK, BENCHMARK.c.id, select(RUN.c.benchmark_id).where(_in_runs(RUN, runs))),
        "tasks": (TASK, TASK.c.id, select(EPISODE.c.task_id).where(episodes)),
        "entrants": (ENTRANT, ENTRANT.c.id, select(EPISODE.c.entrant_id).where(episodes)),
        "changes": (CHANGE, CHANGE.c.digest, select(VERDICTS.c.change).where(_in_runs(VERDICTS, runs))),
    }
    queries_by_file: dict[str, Select[Any]] = {
        name: select(table).where(_in_runs(table, runs)).order_by(*table.primary_key) for name, table in tables.items()
    }
    queries_by_file |= {
        name: select(table).where(key.in_(keys)).order_by(key) for name, (table, key, keys) in referenced.items()
    }
    outcome = (
        "verdict",
        "mended",
        "faults_total",
        "failure_point",
        "steps",
        "tokens_in",
        "tokens_out",
        "cost_usd",
        "wall_s",
    )
    queries_by_file["responses"] = (
        select(
            BENCHMARK.c.name.label("benchmark"),
            # Pool runs only if version and conditions are equal; boards count only valid tasks.
            BENCHMARK.c.digest.label("version"),
            RUN.c.conditions_digest.label("conditions"),
            RUN.c.name.label("run"),
            TASK.c.name.label("task"),
            TASK.c.valid.label("task_valid"),
            ENTRANT.c.name.label("entrant"),
            EPISODE.c.attempt,
            # None for an error, which says nothing about the entrant.
            (EPISODE.c.verdict == Verdict.RESOLVED).label("resolved"),
            *(EPISODE.c[name] for name in outcome),
            *(EPISODE.c[name] for name in ("run_id", "task_id", "entrant_id")),
            EPISODE.c.id.label("episode_id"),
        )
        .join_from(EPISODE, TASK, TASK.c.id == EPISODE.c.task_id)
        .join(ENTRANT, ENTRANT.c.id == EPISODE.c.entrant_id)
        .join(RUN, RUN.c.id == EPISODE.c.run_id)
        .join(BENCHMARK, BENCHMARK.c.id == RUN.c.benchmark_id)
        .where(episodes, EPISODE.c.counted, EPISODE.c.verdict != "")
        .order_by(EPISODE.c.run_id, EPISODE.c.task_id, EPISODE.c.entrant_id, EPISODE.c.attempt)
    )
    return queries_by_file


def _rows(engine: Engine, query: Select[Any]) -> Iterator[dict[str, Any]]:
    with open_connection(engine) as connection:
        for row in connection.execution_options(yield_per=_AT_ONCE).execute(query).mappings():
            values = dict(row)
            if "resolved" in values and values.get("verdict") == Verdict.ERROR:
                values["resolved"] = None
            yield values


def _steps(engine: Engine, runs: Sequence[int]) -> Iterator[dict[str, Any]]:
    with open_connection(engine) as connection:
        episodes = connection.scalars(select(EPISODE.c.id).where(_in_runs(EPISODE, runs)).order_by(EPISODE.c.id)).all()
    for episode in episodes:
        yield from queries.full_steps(engine, episode)


def _write(path: Path, query: Select[Any], rows: Rows) -> int:
    """Write the rows in groups, so that memory use does not grow with their number, and return that number."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    columns = {column.name: column for column in query.selected_columns}
    schema = pa.schema([(name, _kind(column)) for name, column in columns.items()])
    count = 0
    with pq.ParquetWriter(path, schema, compression="zstd") as writer:
        group: list[dict[str, Any]] = []
        for row in rows:
            group.append({name: _plain(value) for name, value in row.items()})
            count += 1
            if len(group) == _AT_ONCE:
                writer.write_table(pa.Table.from_pylist(group, schema))
                group = []
        if group or not count:
            writer.write_table(pa.Table.from_pylist(group, schema))
    if (stored := pq.ParquetFile(path).metadata.num_rows) != count:
        raise DatabaseError(
            f"Of {count_of(count, 'row')} {stored} are in {path.name}, so nothing was archived: try again."
        )
    return count


def _kind(column: Any) -> pa.DataType:
    import pyarrow as pa

    kinds: dict[type, pa.DataType] = {
        int: pa.int64(),
        float: pa.float64(),
        bool: pa.bool_(),
        bytes: pa.binary(),
        datetime: pa.timestamp("us", "UTC"),
    }
    # Packed columns hold texts or JSON, which is written as text.
    if isinstance(column.type, Packed):
        return pa.string()
    column_type = column.type.impl_instance if isinstance(column.type, TypeDecorator) else column.type
    return kinds.get(column_type.python_type, pa.string())


def _plain(value: Any) -> Any:
    return json.dumps(value) if isinstance(value, dict | list) else value
