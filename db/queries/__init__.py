"""Read queries. They return plain dictionaries that can be serialized as JSON, never ORM objects.

Every function raises `DatabaseError` if the database fails, and `NotFound` if the reference does not exist.
"""

from stackrank.db.queries.boards.abilities import abilities
from stackrank.db.queries.boards.grid import grid
from stackrank.db.queries.boards.nights import nights
from stackrank.db.queries.boards.reliability import budget_curves, reliability
from stackrank.db.queries.boards.scope import Scope
from stackrank.db.queries.boards.scoped import apart_sentence, scope_of
from stackrank.db.queries.boards.spent import By
from stackrank.db.queries.boards.standings import (
    best_per_dollar,
    board,
    failure_points,
    leaderboard,
    rate_history,
    run_summary,
)
from stackrank.db.queries.boards.task_board import task_board, task_rates
from stackrank.db.queries.boards.tool_sets import side_by_side, tool_sets, tool_use
from stackrank.db.queries.catalogue import (
    audits,
    benchmark,
    benchmarks,
    entrants,
    resolved_by,
    task,
    tasks,
    validations,
)
from stackrank.db.queries.comparisons.changes import changes
from stackrank.db.queries.comparisons.compare import compare, compare_all, compare_categories
from stackrank.db.queries.comparisons.effort import effort, effort_sentence
from stackrank.db.queries.comparisons.gate import gate
from stackrank.db.queries.comparisons.regressions import regressions
from stackrank.db.queries.comparisons.run_pair import pair_sentence, run_pair
from stackrank.db.queries.comparisons.stopping import finished, stopping
from stackrank.db.queries.episodes.episodes import episode, episodes, examples, neighbours, whole_episodes
from stackrank.db.queries.episodes.funnel import funnel, labelled_otherwise, set_aside
from stackrank.db.queries.episodes.pauses import pauses
from stackrank.db.queries.episodes.search import hits_in, search
from stackrank.db.queries.episodes.steps import (
    actions,
    answered_steps,
    before,
    edits,
    exchanges,
    last_step,
    shown_steps,
    step,
    step_outline,
    step_text,
    steps,
    steps_of,
    task_files,
    whole_steps,
)
from stackrank.db.queries.episodes.time_spent import queue_age_s, time_of, time_spent
from stackrank.db.queries.episodes.verdicts import change, verdicts, verdicts_again
from stackrank.db.queries.health import health
from stackrank.db.queries.labels import disputed, labels, views
from stackrank.db.queries.notes import notes
from stackrank.db.queries.proposals import OPEN, proposal, proposals, rejected_changes
from stackrank.db.queries.runs import (
    LATEST,
    outages,
    paused,
    played_in,
    progress,
    run,
    run_of_flow,
    runs,
    tasks_of_run,
)
from stackrank.db.queries.totals import totals

__all__ = [
    "LATEST",
    "OPEN",
    "By",
    "Scope",
    "abilities",
    "actions",
    "answered_steps",
    "apart_sentence",
    "audits",
    "before",
    "benchmark",
    "benchmarks",
    "best_per_dollar",
    "board",
    "budget_curves",
    "change",
    "changes",
    "compare",
    "compare_all",
    "compare_categories",
    "disputed",
    "edits",
    "effort",
    "effort_sentence",
    "entrants",
    "episode",
    "episodes",
    "examples",
    "exchanges",
    "failure_points",
    "finished",
    "funnel",
    "gate",
    "grid",
    "health",
    "hits_in",
    "labelled_otherwise",
    "labels",
    "last_step",
    "leaderboard",
    "neighbours",
    "nights",
    "notes",
    "outages",
    "pair_sentence",
    "paused",
    "pauses",
    "played_in",
    "progress",
    "proposal",
    "proposals",
    "queue_age_s",
    "rate_history",
    "regressions",
    "rejected_changes",
    "reliability",
    "resolved_by",
    "run",
    "run_of_flow",
    "run_pair",
    "run_summary",
    "runs",
    "scope_of",
    "search",
    "set_aside",
    "shown_steps",
    "side_by_side",
    "step",
    "step_outline",
    "step_text",
    "steps",
    "steps_of",
    "stopping",
    "task",
    "task_board",
    "task_files",
    "task_rates",
    "tasks",
    "tasks_of_run",
    "time_of",
    "time_spent",
    "tool_sets",
    "tool_use",
    "totals",
    "validations",
    "verdicts",
    "verdicts_again",
    "views",
    "whole_episodes",
    "whole_steps",
]
