"""What is asked. Plain dictionaries that are JSON as they are; no objects of the mapper leave this package.

Every function raises `DatabaseError` when the database fails, and `NotFound` for a reference that means nothing.
"""

from db.queries.boards import failure_points, leaderboard, rate_history, run_summary
from db.queries.catalogue import benchmark, benchmarks, entrants, task, tasks
from db.queries.compare import changes, compare
from db.queries.episodes import episode, episodes, neighbours
from db.queries.runs import progress, run, run_of_flow, runs
from db.queries.steps import (
    actions,
    before,
    edits,
    exchanges,
    last_step,
    step,
    step_outline,
    step_text,
    steps,
    task_files,
)

__all__ = [
    "actions",
    "before",
    "benchmark",
    "benchmarks",
    "changes",
    "compare",
    "edits",
    "entrants",
    "episode",
    "episodes",
    "exchanges",
    "failure_points",
    "last_step",
    "leaderboard",
    "neighbours",
    "progress",
    "rate_history",
    "run",
    "run_of_flow",
    "run_summary",
    "runs",
    "step",
    "step_outline",
    "step_text",
    "steps",
    "task",
    "task_files",
    "tasks",
]
