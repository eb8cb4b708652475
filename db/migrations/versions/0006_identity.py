"""The names of benchmarks in a family, the conditions and the series of runs, and the versions of entrants and tools.

What older versions did not store is derived from what they did: the name of a benchmark from its source, limits from
the specification, the sandbox from the episodes, the scorer from the verdicts of record. The rest is unknown.
"""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from pathlib import PurePosixPath
from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

UNKNOWN = "unknown"
FAMILIES = ("repo", "swebench", "swebench-debug")
"""Benchmarks that are many sets, and whose rows had the name of the family."""
REFERENCES = ("oracle", "replay", "human", "random")
LIMITS = ("steps", "tokens", "cost_usd", "wall_s")
ALWAYS = {"malformed": 5, "repeats": 8, "ends_when_solved": True}
"""The same in every version before this one."""
TABLES: dict[str, tuple[str, ...]] = {
    "benchmark": ("id", "name", "source"),
    "entrant": ("id", "name", "digest", "agent", "agent_version", "model", "tool_list", "config"),
    "run": ("id", "benchmark_id", "leaderboard", "schedule", "spec"),
}


def upgrade() -> None:
    text, flag = sa.String(), sa.Boolean()
    op.add_column("entrant", sa.Column("called", text, nullable=False, server_default=""))
    op.add_column("entrant", sa.Column("reference", flag, nullable=False, server_default=sa.false()))
    op.add_column("entrant", sa.Column("tool_versions", sa.JSON(), nullable=False, server_default="{}"))
    op.add_column("run", sa.Column("series", text, nullable=False, server_default=""))
    op.add_column("run", sa.Column("conditions", sa.JSON(), nullable=False, server_default="{}"))
    op.add_column("run", sa.Column("conditions_digest", text, nullable=False, server_default=""))
    op.create_index(op.f("ix_run_series"), "run", ["series"], unique=False)
    op.create_index(op.f("ix_entrant_called"), "entrant", ["called"], unique=False)
    runs = rows("run")
    name_sets(runs)
    name_entrants()
    say_conditions(runs)


def table(name: str, *more: sa.ColumnClause[Any]) -> sa.TableClause:
    kinds: dict[str, Any] = {"spec": sa.JSON(), "config": sa.JSON(), "tool_list": sa.JSON(), "id": sa.Integer()}
    return sa.table(name, *(sa.column(each, kinds.get(each, sa.String())) for each in TABLES[name]), *more)


def rows(name: str) -> list[dict[str, Any]]:
    found = table(name)
    return [dict(row) for row in op.get_bind().execute(sa.select(found).order_by(found.c.id)).mappings()]


def name_sets(runs: list[dict[str, Any]]) -> None:
    benchmark = table("benchmark")
    for row in rows("benchmark"):
        paths = {str(run["spec"].get("path") or "") for run in runs if run["benchmark_id"] == row["id"]} - {""}
        name = set_name(row["name"], row["source"], sorted(paths))
        op.execute(benchmark.update().where(benchmark.c.id == row["id"]).values(name=name))


def set_name(family: str, source: str, paths: list[str]) -> str:
    if family == "bugs" and paths:
        return f"bugs/{PurePosixPath(paths[0]).name}"
    if family not in FAMILIES:
        return family
    # A data set of the hub is stored as it was named, `owner/name`; of a file, only its own name was kept.
    own = next((path for path in paths if not path.startswith("/")), source) if family != "repo" else source
    for ending in (".jsonl", ".json", ".parquet"):
        own = own.removesuffix(ending)
    return f"{family}/{own or UNKNOWN}"


def name_entrants() -> None:
    """An entrant that others of the same name came after gets a name that says how it differs from the newest."""
    entrant = table(
        "entrant",
        sa.column("called", sa.String()),
        sa.column("reference", sa.Boolean()),
        sa.column("tool_versions", sa.JSON()),
    )
    newest = {row["name"]: row for row in rows("entrant")}
    taken = set(newest)
    for row in rows("entrant"):
        name, last = row["name"], newest[row["name"]]
        if row["id"] != last["id"]:
            differs = [f"version {row['agent_version']}"] if row["agent_version"] != last["agent_version"] else []
            differs += [row["model"]] if row["model"] != last["model"] else []
            differs += ["other tools"] if row["tool_list"] != last["tool_list"] else []
            differs += ["other settings"] if row["config"] != last["config"] or not differs else []
            name = f"{row['name']}, {', '.join(differs)}"
            name = f"{name} {row['digest'][:6]}" if name in taken else name
            taken.add(name)
        values: dict[str, Any] = {"name": name, "called": row["name"], "reference": row["agent"] in REFERENCES}
        values["tool_versions"] = dict.fromkeys(row["tool_list"], "1")
        op.execute(entrant.update().where(entrant.c.id == row["id"]).values(values))


def say_conditions(runs: list[dict[str, Any]]) -> None:
    run = table(
        "run",
        sa.column("series", sa.String()),
        sa.column("conditions", sa.JSON()),
        sa.column("conditions_digest", sa.String()),
    )
    sandboxes = values_of("SELECT DISTINCT run_id, sandbox FROM episode WHERE counted")
    scorers = values_of(
        "SELECT DISTINCT episode.run_id, verdicts.scorer FROM episode "
        "LEFT JOIN verdicts ON verdicts.episode_id = episode.id AND verdicts.of_record "
        "WHERE episode.counted AND episode.verdict IN ('resolved', 'unresolved')"
    )
    for row in runs:
        spec = row["spec"]
        known = {name: spec.get(name, UNKNOWN) for name in LIMITS}
        known |= ALWAYS if "steps" in spec else dict.fromkeys(ALWAYS, UNKNOWN)
        known |= {"sandbox": one(sandboxes[row["id"]]), "scorer": one(scorers[row["id"]])}
        values: dict[str, Any] = {
            "series": row["leaderboard"] or row["schedule"] or str(spec.get("name") or ""),
            "conditions": {name: plain(value) for name, value in known.items()},
        }
        text = json.dumps(values["conditions"], sort_keys=True)
        values["conditions_digest"] = hashlib.sha256(text.encode()).hexdigest()[:12]
        op.execute(run.update().where(run.c.id == row["id"]).values(values))


def values_of(query: str) -> dict[int, set[str]]:
    found: dict[int, set[str]] = defaultdict(set)
    for run_id, value in op.get_bind().execute(sa.text(query)):
        found[run_id].add(value or UNKNOWN)
    return found


def one(values: set[str]) -> str:
    return UNKNOWN if UNKNOWN in values or not values else " + ".join(sorted(values))


def plain(value: Any) -> Any:
    return int(value) if isinstance(value, float) and value.is_integer() else value


def downgrade() -> None:
    op.execute("UPDATE entrant SET name = called")
    for family in ("bugs", *FAMILIES):
        op.execute(f"UPDATE benchmark SET name = '{family}' WHERE name LIKE '{family}/%'")
    op.drop_index(op.f("ix_entrant_called"), "entrant")
    op.drop_index(op.f("ix_run_series"), "run")
    for name in ("called", "reference", "tool_versions"):
        op.drop_column("entrant", name)
    for name in ("series", "conditions", "conditions_digest"):
        op.drop_column("run", name)
