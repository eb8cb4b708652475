"""Comparisons of two entrants or two runs, and what a difference decides."""

from __future__ import annotations

from typing import Any, TypedDict

from stackrank.db.rows.boards import Standing


class ComparedTask(TypedDict):
    """A task that both of two entrants played."""

    task: str
    task_id: int
    category: str
    difficulty: str
    first_resolved: int
    first_counted: int
    second_resolved: int
    second_counted: int
    difference: float
    flaky: bool


class Comparison(TypedDict):
    """Two entrants on the tasks that both played.

    `difference` (second - first) is in 0..1, `uplift` is relative: 0.12 is a rate 12% higher than the first's.
    `only_first` and `only_second` name the tasks on which one did better, `flaky` those where attempts of one entrant
    differ. `differs` is {setting: [first's, second's]}. The `errors` of the two are those on all tasks, shared or not.
    `sentence` sums it up, `warning` says whether errors may mislead. `p_holm` is corrected over all pairs of the board,
    and None without a test; `holm_sentence` states it if there are several pairs. `cluster_low` and `cluster_high` are
    None unless `clusters` (categories, repositories) group the tasks; `cluster_sentence` states them.
    """

    first: Standing
    second: Standing
    tasks: int
    difference: float | None
    ci_low: float | None
    ci_high: float | None
    uplift: float | None
    uplift_low: float | None
    uplift_high: float | None
    p_value: float | None
    p_holm: float | None
    holm_sentence: str
    test: str
    detectable: float | None
    only_first: list[str]
    only_second: list[str]
    flaky: list[str]
    by_task: list[ComparedTask]
    differs: dict[str, list[Any]]
    clusters: int
    cluster_low: float | None
    cluster_high: float | None
    cluster_sentence: str
    sentence: str
    warning: str


class Effort(TypedDict):
    """What two entrants need to resolve a task, `by` steps, tokens or dollars, over the `tasks` that both played.

    `first` and `second` are means over tasks. An episode that did not resolve its task counts as the whole `budget`:
    what a run allows, else the most that an episode of the two took. `saved` (first - second) has a 95% interval and a
    p-value, for this pair alone.
    """

    first_id: int
    second_id: int
    by: str
    budget: float
    tasks: int
    first: float | None
    second: float | None
    saved: float | None
    low: float | None
    high: float | None
    p_value: float | None


class ToolSetRow(TypedDict):
    """A tool set of one agent and model, and its differences (0..1) to the tool set `base`, paired by task.

    `base` is empty in the row of the base itself, whose differences are None. Means are over counted episodes; a cost
    is None if a price is unknown. `gained` and `lost`: how many tasks went better, and worse.
    `steps_saved`: see `Effort`.
    """

    entrant_id: int
    entrant: str
    agent: str
    model: str
    tools: str
    base: str
    tasks: int
    episodes: int
    errors: int
    rate: float | None
    ci_low: float | None
    ci_high: float | None
    difference: float | None
    difference_low: float | None
    difference_high: float | None
    p_value: float | None
    p_holm: float | None
    gained: int | None
    lost: int | None
    steps_mean: float | None
    steps_saved: float | None
    steps_saved_low: float | None
    steps_saved_high: float | None
    tokens_mean: float | None
    cost_per_episode: float | None
    cost_per_resolved: float | None


class Difference(TypedDict):
    """An entrant's rate before and now over `tasks`. Rates are in 0..1, the interval is for this entrant alone.

    `p_value` is corrected by Holm over the entrants. `sure`: whether it is below 0.05.
    """

    tasks: int
    rate_before: float
    rate: float
    difference: float
    ci_low: float
    ci_high: float
    p_value: float
    sure: bool


class Change(Difference):
    """How an entrant has changed within a series: its last `runs` runs against the `baseline` runs before them.

    `before` is the newest run of the baseline.
    """

    entrant_id: int
    entrant: str
    before: int
    runs: int
    baseline: int


class DecidedPair(TypedDict):
    """Two entrants in a run that ends when its comparisons are decided. Differences are fractions, second less first.

    `decision`: a value of `terms.Decision`. The interval and the p-values hold at all times together.
    """

    first_id: int
    first: str
    second_id: int
    second: str
    tasks: int
    difference: float | None
    ci_low: float
    ci_high: float
    p_value: float
    p_corrected: float
    p_equal: float
    decision: str
    sentence: str


class Stopping(TypedDict):
    """A run that ends when its comparisons are decided; `open` is how many are not.

    `saved_usd` and `saved_s`: what episodes that were not played would have cost and taken, at their entrants' means.
    """

    alpha: float
    equal_within: float | None
    pairs: list[DecidedPair]
    open: int
    not_played: int
    episodes_total: int
    saved_usd: float | None
    saved_s: float
    sentence: str


class Gate(TypedDict):
    """Whether a candidate is worse than a reference by more than a margin, in fractions: candidate less reference.

    `outcome`: a value of `terms.GateOutcome`. `baseline` and `run`: the runs of the two, None if both are in one scope.
    `lost` and `won`: the tasks on which the candidate does worse and better. `errors`: those of either, which are not
    counted. `warning` says that the answer depends on them, or that the candidate left out tasks of the reference.
    """

    outcome: str
    max_drop: float
    reference: str
    candidate: str
    baseline: int | None
    run: int | None
    tasks: int
    difference: float | None
    ci_low: float | None
    ci_high: float | None
    p_value: float | None
    test: str
    more_tasks: int | None
    lost: list[str]
    won: list[str]
    errors: list[int]
    warning: str
    sentence: str
