"""The facts of a card: tables of everything that its board is about or leaves out, without people, hosts and texts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from sqlalchemy import Engine, select

from stackrank.db.connection.transactions import BENCHMARK, ENTRANT, EPISODE, RUN, TASK
from stackrank.db.queries import labels
from stackrank.db.queries.boards.pooling import PooledRun, explain_exclusion, fetch_conditions
from stackrank.db.queries.boards.scope import Selection
from stackrank.db.queries.reading import fetch
from stackrank.db.stats.flips import DRAWS, SEED
from stackrank.terms import Label

Rows = Iterable[Mapping[str, Any]]
_EPISODE = (
    *("attempt", "counted", "status", "verdict", "sealed", "unverified", "mended", "faults_total"),
    *(
        "stop_reason",
        "failure_point",
        "tampered",
        "steps",
        "tokens_in",
        "tokens_out",
        "tokens_cached",
        "tokens_reasoning",
        "cost_usd",
        "wall_s",
        "error_class",
    ),
    *("interruptions", "started_at", "ended_at"),
)


def fact_tables(selection: Selection) -> Iterator[tuple[str, Rows]]:
    """Yield the name and the rows of each table of facts. `selection` has at least one run."""
    engine, lead = selection.engine, selection.pooled[0]
    conditions = fetch_conditions(engine, (*selection.pooled, *selection.excluded))
    excluded = {run.id: explain_exclusion(run, lead, conditions) for run in selection.excluded}
    every = sorted((*selection.pooled, *selection.excluded), key=lambda run: run.id)
    own = [run for run in every if run.benchmark == lead.benchmark]
    run_ids = [run.id for run in own]
    tasks = _tasks(engine, sorted({run.benchmark_id for run in own}), lead.benchmark_id)
    yield "rules", _rules(selection, lead)
    yield "runs", _runs(engine, every, lead, excluded)
    yield "conditions", _values({run.conditions_digest: conditions[run.conditions_digest] for run in own}, "conditions")
    query = select(RUN.c.id, RUN.c.versions).where(RUN.c.id.in_(run_ids)).order_by(RUN.c.id)
    yield "versions", _values({row["id"]: row["versions"] for row in fetch(engine, query)}, "run")
    yield "tasks", tasks
    yield "entrants", _entrants(selection, run_ids)
    episodes = _episodes(engine, run_ids)
    yield "labels", _labels(engine, tasks, {row["episode"] for row in episodes})
    yield "episodes", episodes


def _rules(selection: Selection, lead: PooledRun) -> Rows:
    scope = selection.scope
    asked = {
        "benchmark": lead.benchmark,
        "version": lead.version,
        "conditions": lead.conditions_digest,
        "errors": str(scope.errors),
        "without_disputed": scope.without_disputed,
        "finished_only": scope.finished_only,
        "series": scope.series or "",
        "tags": " ".join([scope.tags] if isinstance(scope.tags, str) else scope.tags),
        "draws": DRAWS,
        "seed": SEED,
    }
    return [{"rule": name, "value": value} for name, value in asked.items()]


def _runs(engine: Engine, runs: Sequence[PooledRun], lead: PooledRun, excluded: Mapping[int, str]) -> Rows:
    """Return a row per run. Of a run of another benchmark, nothing but its number is anybody's business."""
    columns = (RUN.c[name] for name in ("id", "seed", "episodes_total", "started_at", "ended_at"))
    facts = {row["id"]: row for row in fetch(engine, select(*columns))}
    rows = []
    for run in runs:
        is_own = run.benchmark == lead.benchmark
        shown = {
            "name": run.name,
            "status": run.status,
            "version": run.version,
            "conditions": run.conditions_digest,
            **{name: facts[run.id][name] for name in ("seed", "episodes_total", "started_at", "ended_at")},
        }
        why = excluded.get(run.id, "") if is_own else "another benchmark"
        row = {name: value if is_own else "" for name, value in shown.items()}
        rows.append({"run": run.id, "pooled": run.id not in excluded, "why": why, **row})
    return rows


def _values(documents: Mapping[Any, Mapping[str, Any]], subject: str) -> Rows:
    return [
        {subject: of, "name": name, "value": value}
        for of, document in documents.items()
        for name, value in document.items()
    ]


def _tasks(engine: Engine, benchmark_ids: Sequence[int], lead_id: int) -> list[dict[str, Any]]:
    """Return the tasks of these versions: the board's own first, in the order in which intervals draw them."""
    names = ("id", "name", "digest", "benchmark_id", "category", "difficulty", "valid", "invalid_reason")
    query = select(*(TASK.c[name] for name in names), BENCHMARK.c.digest.label("version")).join(BENCHMARK)
    found = fetch(engine, query.where(TASK.c.benchmark_id.in_(benchmark_ids)))
    ordered = sorted(found, key=lambda row: (row["benchmark_id"] != lead_id, row["name"], row["digest"]))
    columns = ("name", "digest", "version", "category", "difficulty", "valid")
    return [{"task": row["id"], **{name: row[name] for name in columns}} for row in ordered]


def _entrants(selection: Selection, run_ids: Sequence[int]) -> Rows:
    """Return the entrants of these runs. Of their settings, only numbers and switches are shown: texts may be secrets,
    addresses or prompts. The digest covers all of them."""
    played = select(EPISODE.c.entrant_id).where(EPISODE.c.run_id.in_(run_ids)).distinct()
    of_board = list(selection.cells())
    place = {entrant_id: number for number, entrant_id in enumerate(of_board)}
    names = ("name", "digest", "reference", "agent", "agent_version", "model", "tools", "tool_list", "tool_versions")
    found = fetch(selection.engine, select(ENTRANT).where(ENTRANT.c.id.in_(played)).order_by(ENTRANT.c.id))
    return [
        {
            "entrant": row["id"],
            **{name: row[name] for name in names},
            "settings": {name: value for name, value in row["config"].items() if isinstance(value, int | float)},
        }
        for row in sorted(found, key=lambda row: place.get(row["id"], len(place)))
    ]


def _labels(engine: Engine, tasks: Sequence[Mapping[str, Any]], episodes: Collection[int]) -> Rows:
    """Return the labels of these tasks and episodes, without who set them and why."""
    ids = defaultdict(list)
    for row in tasks:
        ids[row["name"], row["digest"]].append(row["task"])
    rows = []
    for label in labels(engine):
        facts = {"label": label["label"], "disputes": Label(label["label"]).disputes, "created_at": label["created_at"]}
        if label["episode_id"] in episodes:
            rows.append({"task": "", "episode": label["episode_id"], **facts})
        elif label["episode_id"] is None:
            rows += [{"task": task, "episode": "", **facts} for task in ids.get((label["task"], label["digest"]), ())]
    return rows


def _episodes(engine: Engine, run_ids: Sequence[int]) -> list[dict[str, Any]]:
    columns = [EPISODE.c[name] for name in _EPISODE]
    ids = [EPISODE.c[f"{name}_id"].label(name) for name in ("run", "entrant", "task")]
    query = select(EPISODE.c.id.label("episode"), *ids, EPISODE.c.try_number.label("try"), *columns)
    return fetch(engine, query.where(EPISODE.c.run_id.in_(run_ids)).order_by(EPISODE.c.id))
