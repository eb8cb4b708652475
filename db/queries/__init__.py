"""Queries that read, and the types of their rows, which are plain dictionaries for JSON. Writes belong elsewhere.

Times are ISO 8601 strings in UTC; `models` documents the columns. Every function raises `DatabaseError` if the database
fails, and `NotFound` if the reference does not exist.
"""

from stackrank.db.queries.acts import acts, describe_act, describe_pause, directions
from stackrank.db.queries.boards.abilities import abilities
from stackrank.db.queries.boards.consumption import EffortUnit
from stackrank.db.queries.boards.failures import failure_points, failures_sentence
from stackrank.db.queries.boards.grid import decisive_tasks, grid
from stackrank.db.queries.boards.nights import nights
from stackrank.db.queries.boards.reliability import budget_curves, reliability
from stackrank.db.queries.boards.scope import Scope, task_tags
from stackrank.db.queries.boards.scope_choices import pulse, scope_choices, usual_benchmark
from stackrank.db.queries.boards.scope_description import describe_scope, exclusion_sentence, scope_in_short
from stackrank.db.queries.boards.standings import (
    MENDED,
    best_per_dollar,
    board,
    has_several_faults,
    leaderboard,
    outcome_of,
    rate_history,
    run_summary,
)
from stackrank.db.queries.boards.task_board import task_board, task_rates
from stackrank.db.queries.boards.tool_sets import debugger_pairs, side_by_side, tool_sets, tool_use
from stackrank.db.queries.boards.tool_worth import phase_sentence, tool_worth, tools_headline
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
from stackrank.db.queries.comparisons.across import compare_across, varying_conditions
from stackrank.db.queries.comparisons.categories import compare_categories
from stackrank.db.queries.comparisons.changes import changes
from stackrank.db.queries.comparisons.compare import (
    compare,
    compare_all,
    describe_alone,
    evidence,
    headline,
)
from stackrank.db.queries.comparisons.effort import effort, effort_claim, effort_sentence, spending
from stackrank.db.queries.comparisons.gate import gate
from stackrank.db.queries.comparisons.regressions import regressions
from stackrank.db.queries.comparisons.run_pair import pair_sentence, run_pair
from stackrank.db.queries.comparisons.stopping import decided_entrants, stopping
from stackrank.db.queries.episodes.episodes import episode, episodes, examples, full_episodes, neighbours
from stackrank.db.queries.episodes.funnel import (
    excluded_episodes,
    excluded_shares,
    funnel,
    funnel_sentence,
    runs_with_other_analysis,
)
from stackrank.db.queries.episodes.in_progress import in_progress
from stackrank.db.queries.episodes.pauses import pauses
from stackrank.db.queries.episodes.search import asks_for_text, count_matches, find_hits, search
from stackrank.db.queries.episodes.steps import (
    actions,
    branches,
    count_model_steps,
    display_steps,
    edits,
    exchanges,
    full_steps,
    last_step,
    last_step_with,
    step,
    step_outline,
    step_text,
    steps,
    steps_of,
    task_files,
)
from stackrank.db.queries.episodes.story import Clause, story, story_summary, story_text
from stackrank.db.queries.episodes.time_spent import queue_age_s, split_time, time_spent
from stackrank.db.queries.episodes.verdicts import rescored_verdicts, stored_change, verdicts
from stackrank.db.queries.explanation.night import explain_night, night_before
from stackrank.db.queries.front_page import front_page, leader_sentence
from stackrank.db.queries.health import health
from stackrank.db.queries.labels import disputed, labels, views
from stackrank.db.queries.notes import notes
from stackrank.db.queries.places import find_places
from stackrank.db.queries.previous import Change, against_previous
from stackrank.db.queries.proposals import OPEN, proposal, proposals, rejected_changes
from stackrank.db.queries.runs import (
    LATEST,
    describe_outages,
    outages,
    progress,
    run,
    run_of_flow,
    run_state,
    runs,
    tasks_of_run,
)
from stackrank.db.queries.totals import totals

__all__ = [
    "LATEST",
    "MENDED",
    "OPEN",
    "Change",
    "Clause",
    "EffortUnit",
    "Scope",
    "abilities",
    "actions",
    "acts",
    "against_previous",
    "asks_for_text",
    "audits",
    "benchmark",
    "benchmarks",
    "best_per_dollar",
    "board",
    "branches",
    "budget_curves",
    "changes",
    "compare",
    "compare_across",
    "compare_all",
    "compare_categories",
    "count_matches",
    "count_model_steps",
    "debugger_pairs",
    "decided_entrants",
    "decisive_tasks",
    "describe_act",
    "describe_alone",
    "describe_outages",
    "describe_pause",
    "describe_scope",
    "directions",
    "display_steps",
    "disputed",
    "edits",
    "effort",
    "effort_claim",
    "effort_sentence",
    "entrants",
    "episode",
    "episodes",
    "evidence",
    "examples",
    "exchanges",
    "excluded_episodes",
    "excluded_shares",
    "exclusion_sentence",
    "explain_night",
    "failure_points",
    "failures_sentence",
    "find_hits",
    "find_places",
    "front_page",
    "full_episodes",
    "full_steps",
    "funnel",
    "funnel_sentence",
    "gate",
    "grid",
    "has_several_faults",
    "headline",
    "health",
    "in_progress",
    "labels",
    "last_step",
    "last_step_with",
    "leader_sentence",
    "leaderboard",
    "neighbours",
    "night_before",
    "nights",
    "notes",
    "outages",
    "outcome_of",
    "pair_sentence",
    "pauses",
    "phase_sentence",
    "progress",
    "proposal",
    "proposals",
    "pulse",
    "queue_age_s",
    "rate_history",
    "regressions",
    "rejected_changes",
    "reliability",
    "rescored_verdicts",
    "resolved_by",
    "run",
    "run_of_flow",
    "run_pair",
    "run_state",
    "run_summary",
    "runs",
    "runs_with_other_analysis",
    "scope_choices",
    "scope_in_short",
    "search",
    "side_by_side",
    "spending",
    "split_time",
    "step",
    "step_outline",
    "step_text",
    "steps",
    "steps_of",
    "stopping",
    "stored_change",
    "story",
    "story_summary",
    "story_text",
    "task",
    "task_board",
    "task_files",
    "task_rates",
    "task_tags",
    "tasks",
    "tasks_of_run",
    "time_spent",
    "tool_sets",
    "tool_use",
    "tool_worth",
    "tools_headline",
    "totals",
    "usual_benchmark",
    "validations",
    "varying_conditions",
    "verdicts",
    "views",
]
