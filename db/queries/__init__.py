"""What is asked. Plain dictionaries that are JSON as they are; no objects of the mapper leave this package.

Every function raises `DatabaseError` when the database fails, and `NotFound` for a reference that means nothing.
"""

from db.queries.boards import failure_points, leaderboard, rate_history, run_summary
from db.queries.catalogue import benchmark, benchmarks, entrants, task, tasks, validations
from db.queries.changes import changes
from db.queries.compare import compare, compare_all, compare_categories
from db.queries.episodes import episode, episodes, examples, neighbours
from db.queries.funnel import funnel, set_aside
from db.queries.health import health
from db.queries.notes import notes
from db.queries.regressions import regressions
from db.queries.reliability import budget_curves, reliability
from db.queries.runs import progress, run, run_of_flow, runs, tasks_of_run
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
from db.queries.task_board import task_board, task_rates
from db.queries.tool_sets import tool_sets, tool_use
from db.queries.totals import totals

__all__ = [
    "actions",
    "before",
    "benchmark",
    "benchmarks",
    "budget_curves",
    "changes",
    "compare",
    "compare_all",
    "compare_categories",
    "edits",
    "entrants",
    "episode",
    "episodes",
    "examples",
    "exchanges",
    "failure_points",
    "funnel",
    "health",
    "last_step",
    "leaderboard",
    "neighbours",
    "notes",
    "progress",
    "rate_history",
    "regressions",
    "reliability",
    "run",
    "run_of_flow",
    "run_summary",
    "runs",
    "set_aside",
    "step",
    "step_outline",
    "step_text",
    "steps",
    "task",
    "task_board",
    "task_files",
    "task_rates",
    "tasks",
    "tasks_of_run",
    "tool_sets",
    "tool_use",
    "totals",
    "validations",
]
