"""Leaderboards over runs, nights and tasks."""

from __future__ import annotations

from typing import Any, TypedDict

from stackrank.db.rows.columns import Json


class Standing(TypedDict):
    """An entrant on a leaderboard. `reference`: it is not ranked, but shown beside the others.

    Means, tokens, `cost_per_episode` and `cost_per_resolved` are over resolved and unresolved episodes; `cost_usd` is
    all that was spent, on errors and repeated tries too. A cost is None if a price is unknown, `rate` and its interval
    if nothing was counted. `all_attempts_rate`: share of the tasks of which every attempt was resolved. `tasks` of
    `tasks_total` were counted; each weighs the same in the rate. Ranks are ranges, because entrants tie if their paired
    difference may be chance.
    """

    entrant_id: int
    entrant: str
    agent: str
    agent_version: str
    model: str
    tools: str
    reference: bool
    episodes: int
    resolved: int
    sealed: int
    unresolved: int
    errors: int
    rate: float | None
    ci_low: float | None
    ci_high: float | None
    all_attempts_rate: float | None
    steps_mean: float | None
    tokens_in: int
    tokens_out: int
    cost_usd: float | None
    cost_per_episode: float | None
    cost_per_resolved: float | None
    cost_per_resolved_low: float | None
    cost_per_resolved_high: float | None
    wall_mean_s: float | None
    tasks: int
    tasks_total: int
    rank_low: int | None
    rank_high: int | None


class Ranked(Standing):
    """A row of a leaderboard. `apart`: why it has no rank; empty for the ranked. `partial` says that its rate is over
    tasks that are easier or harder than the whole board, else it is empty. `rate_errors_fail`, `rate_errors_pass`: the
    rate if all errors were failures, or successes. `warning` says that its errors may mislead, else it is empty.
    `errors_by_class`: {machine, endpoint, environment, ours: episodes}; a class without episodes is left out.
    """

    apart: str
    partial: str
    rate_errors_fail: float | None
    rate_errors_pass: float | None
    warning: str
    errors_by_class: dict[str, int]


class ScopeRun(TypedDict):
    """A run that a board is about. `date`: the day in UTC on which it was started."""

    run: int
    name: str
    status: str
    date: str


class Apart(TypedDict):
    """Runs that a board is not about, and why they are not pooled with its own."""

    why: str
    runs: list[int]


class Scoped(TypedDict):
    """What a board is about; `sentence` sums it all up.

    `version` is the digest of the benchmark. Of its `tasks` (without the invalid ones), `common_tasks` were played by
    all of the `entrants`, the number of ranked ones. `errors`: entrant -> episodes; `errors_are` says what they count
    as. `disputed_tasks` are disputed by people, and count unless `without_disputed` is set. `stopped`: the runs that
    left out episodes because their comparisons were decided. `apart`: see `Apart`.
    """

    sentence: str
    benchmark: str
    version: str
    conditions: Json
    conditions_digest: str
    series: str
    finished_only: bool
    runs: list[ScopeRun]
    tasks: int
    common_tasks: int
    entrants: int
    errors_are: str
    errors: dict[str, int]
    invalid_tasks: list[str]
    invalid_episodes: int
    invalid_usd: float
    disputed_tasks: list[str]
    without_disputed: bool
    stopped: list[int]
    apart: list[Apart]


class Board(TypedDict):
    """A leaderboard: what it is about, the entrants by rank, and below the line the entrants that are not ranked."""

    scope: Scoped
    entrants: list[Ranked]
    reference: list[Ranked]


class Failures(TypedDict):
    """How the episodes of an entrant ended: `failure_points` is name -> episodes. `shares` are those of `resolved` and
    of each failure point; they add up to 1. Each task weighs the same, however often it was played.
    """

    entrant_id: int
    entrant: str
    resolved: int
    unresolved: int
    errors: int
    failure_points: dict[str, int]
    shares: dict[str, float]


class Reliability(TypedDict):
    """pass@k and all-k of an entrant with their intervals, over the `tasks` with at least k attempts."""

    entrant_id: int
    entrant: str
    k: int
    tasks: int
    pass_at_k: float | None
    pass_low: float | None
    pass_high: float | None
    all_k: float | None
    all_low: float | None
    all_high: float | None


class OverNights(TypedDict):
    """An entrant over the nights of `fresh`: its `observed` rate, its equated `rate`, and its gap to fixed tasks."""

    entrant_id: int
    entrant: str
    nights: int
    tasks: int
    observed: float
    observed_low: float | None
    observed_high: float | None
    rate: float
    ci_low: float
    ci_high: float
    linked: bool
    fixed_tasks: int
    fixed_rate: float | None
    fixed_low: float | None
    fixed_high: float | None
    gap: float | None
    gap_low: float | None
    gap_high: float | None


class NightRow(TypedDict):
    """One night: its mean `difficulty` in logits, and the results of each entrant by its name."""

    night: str
    tasks: int
    difficulty: float
    rates: dict[str, dict[str, float | None]]


class Nights(TypedDict):
    """All nights that form one leaderboard."""

    conditions: str
    fixed: str
    entrants: list[OverNights]
    nights: list[NightRow]
    note: str


class BudgetCurve(TypedDict):
    """The share of an entrant's `counted` episodes resolved within each budget: [budget, share], by rising budget."""

    entrant_id: int
    entrant: str
    counted: int
    curve: list[list[float]]


class Funnel(TypedDict):
    """How many of an entrant's `counted` episodes reached each milestone. `debugger`: whether it has or used one.
    `shares`: the same in 0..1, where each task weighs the same, however often it was played.
    """

    entrant_id: int
    entrant: str
    debugger: bool
    counted: int
    reproduced: int
    localized: int
    breakpoint: int
    inspected: int
    edited: int
    improved: int
    solved: int
    resolved: int
    shares: dict[str, float]


class ToolUse(TypedDict):
    """How an entrant used a tool, over the `episodes` that used it; costs are those of model calls that chose it."""

    entrant_id: int
    entrant: str
    tool: str
    episodes: int
    calls: int
    searching: int
    diagnosing: int
    repairing: int
    failed: int
    tokens_in: int
    tokens_out: int
    env_ms: float
    cost_usd: float | None
    error_rate: float


class TaskRate(TypedDict):
    """A task and how many `entrants` played it. `flaky`: how many of them resolved it in some attempts only.

    `rate` is over all counted episodes; `suspect` says why the task may be defective, `disputed_by` who says so.
    """

    task: str
    task_id: int
    disputed_by: list[str]
    title: str
    category: str
    difficulty: str
    measured: dict[str, Any] | None
    valid: bool | None
    entrants: int
    resolved: int
    unresolved: int
    errors: int
    rate: float | None
    flaky: int
    suspect: str


class GridCell(TypedDict):
    """The results of one entrant on one task; `episode` is the one to show."""

    entrant_id: int
    entrant: str
    resolved: int
    unresolved: int
    errors: int
    episode: int


class GridRow(TaskRate):
    """A task with the results of each entrant; see `queries.grid`."""

    spread: float
    decisive: bool
    cells: list[GridCell]


class Failing(TypedDict):
    """What failed, and in how many `episodes`; `example` is the id of the newest of them."""

    what: str
    episodes: int
    example: int


class SetAside(Failing):
    """Episodes that say nothing about their entrant; `reason`: `infrastructure` or `defective task`."""

    reason: str
