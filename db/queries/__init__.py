"""What is asked. Plain dictionaries that are JSON as they are; no objects of the mapper leave this package.

Every function raises `DatabaseError` when the database fails, and `NotFound` for a reference that means nothing.
"""

from db.queries.boards import failure_points, leaderboard, rate_history, run_summary
from db.queries.catalogue import benchmark, benchmarks, entrants, task, tasks
from db.queries.compare import changes, compare
from db.queries.episodes import episode, episodes, last_step, neighbours, step_outline, steps
from db.queries.runs import progress, run, runs

__all__ = [
    "benchmark",
    "benchmarks",
    "changes",
    "compare",
    "entrants",
    "episode",
    "episodes",
    "failure_points",
    "last_step",
    "leaderboard",
    "neighbours",
    "progress",
    "rate_history",
    "run",
    "run_summary",
    "runs",
    "step_outline",
    "steps",
    "task",
    "tasks",
]
