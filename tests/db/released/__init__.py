"""A small database of each released version, and the answers that the version gave about it.

`make.py` makes them. Code that is not about released versions does not belong here.
"""

from __future__ import annotations

import gzip
import json
import sqlite3
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from sqlalchemy import Engine

from stackrank.db import queries
from stackrank.db.queries import Scope

FOLDER = Path(__file__).parent
VERSIONS = sorted(path.name for path in FOLDER.iterdir() if (path / "database.sql.gz").exists())
FINISHED, CUT_OFF = 1, 2
"""The runs of each database."""
FIRST, SECOND = "oracle (debug)", "repair (debug)"
QUESTIONS: Mapping[str, Callable[[Engine], Any]] = {
    "runs": lambda engine: queries.runs(engine),
    "run": lambda engine: queries.run(engine, FINISHED),
    "leaderboard": lambda engine: queries.leaderboard(engine, Scope(finished_only=False)),
    "compare": lambda engine: queries.compare(engine, FIRST, SECOND, Scope(run=FINISHED)),
    "failure_points": lambda engine: queries.failure_points(engine),
    "tool_use": lambda engine: queries.tool_use(engine),
    "episodes": lambda engine: queries.episodes(engine, limit=1000),
    "tasks": lambda engine: queries.tasks(engine, 1),
    "task": lambda engine: queries.task(engine, 1),
    "labels": lambda engine: queries.task_board(engine, 1)["labels"],
    "views": lambda engine: queries.views(engine, "episodes"),
    "notes": lambda engine: queries.notes(engine, run_id=CUT_OFF),
    "steps": lambda engine: [
        queries.steps(engine, row["id"], exchanges=True) for row in queries.episodes(engine, limit=1000)
    ],
    "verdicts": lambda engine: [queries.verdicts(engine, row["id"]) for row in queries.episodes(engine, limit=1000)],
}
"""What a version is asked about its database."""
GOES_ON = {"wall_s"}
"""Columns whose values depend on the time at which they are asked for, as long as a run is not over."""


def restore(file: Path, version: str = VERSIONS[-1] if VERSIONS else "") -> str:
    """Write the database of a version to `file` and return its URL."""
    dump = gzip.decompress((FOLDER / version / "database.sql.gz").read_bytes()).decode()
    with closing(sqlite3.connect(file)) as connection:
        connection.executescript(dump)
    return f"sqlite:///{file}"


def stored_answers(version: str) -> dict[str, Any]:
    """Return the answers of a version about its database: question -> answer."""
    answers: dict[str, Any] = json.loads(gzip.decompress((FOLDER / version / "answers.json.gz").read_bytes()))
    return answers


def ask(engine: Engine, question: str) -> Any:
    """Return today's answer as JSON gives it, without what goes on."""
    return without_clock(json.loads(json.dumps(QUESTIONS[question](engine), default=str)))


def without_clock(answer: Any) -> Any:
    """Return an answer without the columns that change with time for runs that are not over."""
    if isinstance(answer, list):
        return [without_clock(part) for part in answer]
    if not isinstance(answer, dict):
        return answer
    is_going_on = answer.get("status") == "running"
    return {name: without_clock(part) for name, part in answer.items() if not (is_going_on and name in GOES_ON)}
