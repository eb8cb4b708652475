"""The rows that the database gives and takes, as types: what a name may hold is checked, and a typing error is found.

They are JSON as they are: times are texts, ISO 8601 in UTC. What the columns mean stands at the tables in `models`.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any, NotRequired, TypedDict

Json = dict[str, Any]


class Benchmark(TypedDict):
    """One version of a benchmark."""

    id: int
    name: str
    digest: str
    license: str
    source: str
    tasks_total: int
    created_at: str | None
    validated_at: str | None
    tasks_valid: int | None


class TaskListed(TypedDict):
    """A task without its long texts."""

    id: int
    benchmark_id: int
    name: str
    title: str
    category: str
    difficulty: str
    digest: str
    tags: list[str]
    faults: list[Json]
    measured: dict[str, Any] | None
    tests_deciding: int | None
    tests_covered: int | None
    valid: bool | None
    invalid_reason: str
    validated_rounds: int
    validated_at: str | None


class Task(TaskListed):
    """A task with all its columns and its benchmark's name."""

    statement: str
    fix: str
    files: dict[str, str]
    audit: dict[str, Any] | None
    benchmark: str


class Entrant(TypedDict):
    """An agent, its model and its tools. `called`: as the specification calls it; `name` is no other entrant's."""

    id: int
    digest: str
    name: str
    called: str
    reference: bool
    agent: str
    agent_version: str
    model: str
    tools: str
    tool_list: list[str]
    tool_versions: dict[str, str]
    config: Json
    created_at: str | None


class Progress(TypedDict):
    """How far a run is, in episodes.

    `done` ones have a verdict, `sealed` ones are resolved, `retried` ones are tries that do not count, and `not_played`
    ones were not needed any more.
    `errors_by_class`: as in `Ranked`.
    """

    done: int
    resolved: int
    sealed: int
    unresolved: int
    errors: int
    errors_by_class: dict[str, int]
    running: int
    pending: int
    not_played: int
    retried: int
    cost_usd: float | None


class Outage(TypedDict):
    """An endpoint that does not answer, for which its entrants wait."""

    since: str
    probes: int
    """How often it was asked again."""
    probe: int
    """The episode that asked last."""
    entrants: list[int]
    error: str


class RunListed(Progress):
    """A run, its benchmark's name, how long it has taken, and how far it is."""

    id: int
    name: str
    benchmark_id: int
    benchmark: str
    benchmark_digest: str
    status: str
    reason: str
    leaderboard: str
    series: str
    conditions: Json
    conditions_digest: str
    owner: str
    project: str
    tags: list[str]
    seed: int
    episodes_total: int
    schedule: str
    regressions: list[Json]
    outages: dict[str, Outage] | None
    taken_up: int
    prefect_flow_run_id: str
    host: str
    created_at: str | None
    started_at: str | None
    ended_at: str | None
    heartbeat_at: str | None
    wall_s: float | None


class Run(RunListed):
    """A run with what it was made from; `entrants` have id, name, model, agent and tools."""

    spec: Json
    versions: Json
    entrants: list[Json]


class EpisodeListed(TypedDict):
    """An episode, with the names of its task, entrant and run; no diff, no score."""

    id: int
    run_id: int
    task_id: int
    entrant_id: int
    attempt: int
    try_number: int
    counted: bool
    status: str
    verdict: str
    sealed: int
    stop_reason: str
    failure_point: str
    failure_step: int | None
    tampered: bool
    steps: int
    tokens_in: int
    tokens_out: int
    tokens_cached: int
    tokens_reasoning: int
    cost_usd: float | None
    env_ms: float
    model_ms: float
    score_ms: float
    wall_s: float
    tests_passed: int
    tests_failed: int
    error: str
    error_class: str
    at_reproduced: int | None
    at_localized: int | None
    at_breakpoint: int | None
    at_inspected: int | None
    at_edited: int | None
    at_improved: int | None
    at_solved: int | None
    sandbox: str
    tags: list[str]
    claimed_by: str
    alive_at: str | None
    interruptions: int
    replayed: str
    replayed_at: str | None
    started_at: str | None
    ended_at: str | None
    task: str
    entrant: str
    model: str
    tools: str
    run: str


class Episode(EpisodeListed):
    """All about an episode, its task, its entrant and its run. `milestones`: name -> the step that reached it."""

    diff: str
    score: Json
    usage: Json
    created_at: str | None
    task_title: str
    statement: str
    category: str
    difficulty: str
    faults: list[Json]
    fix: str
    agent: str
    agent_version: str
    tool_list: list[str]
    run_status: str
    prefect_flow_run_id: str
    benchmark: str
    milestones: dict[str, int]


class VerdictListed(TypedDict):
    """One verdict on an episode's work, without its tests. `of_record`: the one that it was played with."""

    id: int
    episode_id: int
    of_record: bool
    task_digest: str
    workspace: str
    change: str
    scorer: str
    environment: str
    resolved: bool
    tampered: bool
    sealed: int
    unsealed: str
    created_at: str | None


class VerdictAgain(VerdictListed):
    """A verdict that was taken again, whose it is, and what the episode was `played` with."""

    task: str
    entrant: str
    played: str


class Verdict(VerdictListed):
    """A verdict with the outcome of each test and what the scorer noted."""

    tests: dict[str, str]
    notes: list[str]


class Claimed(TypedDict):
    """An episode that a worker may play; with interruptions it has steps already."""

    id: int
    task_id: int
    entrant_id: int
    attempt: int
    try_number: int
    interruptions: int


class Claim(TypedDict):
    """Who plays an episode, and when they were last heard of."""

    id: int
    claimed_by: str
    alive_at: datetime | None


class Interrupted(TypedDict):
    """A run that goes on, or should."""

    id: int
    name: str
    host: str
    schedule: str
    prefect_flow_run_id: str
    heartbeat_at: datetime | None
    spec: Json


class TimeSpent(TypedDict):
    """Where the time of an episode went, in seconds; all but `queued_s` add up to `total_s`."""

    episode: int
    entrant: str
    queued_s: float
    """Before it began, while others were played."""
    total_s: float
    waited_s: float
    """For its endpoint: limits, and tries that failed."""
    model_s: float
    sandbox_s: float
    """What its tools took."""
    tests_s: float
    """The verdict."""
    rest_s: float


class Played(TypedDict):
    """Which run of which database it is, and whether it is over."""

    over: bool
    created_at: str


class Ended(TypedDict):
    """A run that ended; `taken_up`: how often a supervisor went on with it since."""

    id: int
    schedule: str
    ended_at: datetime
    taken_up: int
    spec: Json


class Standing(TypedDict):
    """An entrant on a leaderboard. `reference`: it is not ranked, but shown beside the others.

    Means, tokens, `cost_per_episode` and `cost_per_resolved` are over resolved and unresolved episodes; `cost_usd` is
    all that was spent, on errors and repeated tries too. A cost is None when a price is unknown, `rate` and its
    interval when nothing was counted. `all_attempts_rate`: share of the tasks of which every attempt was resolved.
    `tasks` of `tasks_total` were counted; each weighs the same in the rate. Ranks are ranges: entrants whose paired
    difference may be chance tie.
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
    """A row of a leaderboard. `apart`: why it has no rank; empty for the ranked. `partial`: that its rate is over tasks
    that are easier or harder than all of the board, else empty. `rate_errors_fail` and `rate_errors_pass`: the rate
    were all errors failures, or successes. `warning`: that its errors may mislead, else empty. `errors_by_class`:
    {machine, endpoint, environment, ours: episodes}; a class without episodes is left out.
    """

    apart: str
    partial: str
    rate_errors_fail: float | None
    rate_errors_pass: float | None
    warning: str
    errors_by_class: dict[str, int]


class ScopeRun(TypedDict):
    """A run that a board is about. `date`: the day in UTC that it was started on."""

    run: int
    name: str
    status: str
    date: str


class Apart(TypedDict):
    """Runs that a board is not about, and why they are not pooled with its own."""

    why: str
    runs: list[int]


class Scoped(TypedDict):
    """What a board is about; `sentence` says it all.

    `version` is the digest of the benchmark. Of its `tasks` (without the invalid ones), `common_tasks` were played by
    all of the `entrants`, which are those that are ranked. `errors`: entrant -> episodes, and what they
    count as. `disputed_tasks` are those that people dispute, which count unless `without_disputed`. `stopped`: the runs
    that left out episodes because they were decided. `apart`: see `Apart`.
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
    """A leaderboard: what it is about, the entrants by rank, and below the line those that are not ranked."""

    scope: Scoped
    entrants: list[Ranked]
    reference: list[Ranked]


class Failures(TypedDict):
    """How the episodes of an entrant ended: `failure_points` is name -> episodes. `shares`: of `resolved` and of each
    failure point, each task weighing the same however often it was played; they add up to 1.
    """

    entrant_id: int
    entrant: str
    resolved: int
    unresolved: int
    errors: int
    failure_points: dict[str, int]
    shares: dict[str, float]


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
    differ. `differs` says {setting: [first's, second's]}. The `errors` of the two are those on all tasks, shared or
    not. `sentence` says it all, `warning` that errors may mislead; `p_holm` is corrected over all pairs of the board,
    which `holm_sentence` says where there are several; it is None where there was no test, so are
    `cluster_low` and `cluster_high` where no `clusters` (categories, repositories) are above the tasks;
    `cluster_sentence` says them.
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


class ToolSetRow(TypedDict):
    """A tool set of one agent and model beside others. Differences (0..1) are to the tool set `base`, paired by task.

    `base` is empty in the row of the base itself, whose differences are None. Means are over counted episodes; a cost
    is None when a price is unknown. `gained` and `lost`: tasks that went better, and worse.
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
    tokens_mean: float | None
    cost_per_episode: float | None
    cost_per_resolved: float | None


class Difference(TypedDict):
    """An entrant's rate before and now over `tasks`. Rates are in 0..1, the interval is for this entrant alone.

    `p_value` is Holm's, over the entrants. `sure`: it is below 0.05.
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
    """How an entrant differs from the earlier runs of the series: its last `runs` from the `baseline` runs before.

    `before` is the newest run of the baseline.
    """

    entrant_id: int
    entrant: str
    before: int
    runs: int
    baseline: int


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


class Ability(TypedDict):
    """An entrant in the model of `stats.abilities`: in logits, and as the `rate` that it would have on all tasks.

    `observed` is its rate on the `tasks` that it played. `infit` and `outfit` are near 1 where the model fits. Without
    `linked`, no chain of common tasks joins it to the others, and only what tasks are like on the whole does.
    """

    entrant_id: int
    entrant: str
    ability: float
    ability_low: float
    ability_high: float
    rate: float
    ci_low: float
    ci_high: float
    observed: float
    tasks: int
    tasks_total: int
    infit: float
    outfit: float
    linked: bool


class Difficulty(TypedDict):
    """A task in the same model, in logits; `entrants` have played it."""

    task: str
    task_id: int
    category: str
    difficulty: float
    low: float
    high: float
    entrants: int


class Level(TypedDict):
    """The rate of an entrant on a third of the tasks: easy, middling or hard, by measured difficulty."""

    entrant_id: int
    entrant: str
    level: str
    tasks: int
    rate: float | None


class Calibrated(TypedDict):
    """A fifth of what entrants did, by the chance that the model gives them from what the others did."""

    predicted: float
    observed: float
    episodes: int


class Abilities(TypedDict):
    """The whole model. `spread`: standard deviation of the difficulties; `clusters`: what the intervals hold over."""

    entrants: list[Ability]
    tasks: list[Difficulty]
    levels: list[Level]
    calibration: list[Calibrated]
    spread: float | None
    clusters: int
    note: str


class OverNights(TypedDict):
    """An entrant over the nights of `fresh`: what was seen, what is equated (`rate`), and the gap to fixed tasks."""

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
    """One night: its mean `difficulty` in logits, and what each entrant did, by its name."""

    night: str
    tasks: int
    difficulty: float
    rates: dict[str, dict[str, float | None]]


class Nights(TypedDict):
    """All nights that are one leaderboard."""

    conditions: str
    fixed: str
    entrants: list[OverNights]
    nights: list[NightRow]
    note: str


class BudgetCurve(TypedDict):
    """The share of its `counted` episodes that an entrant had resolved: [budget, share], the budgets rising."""

    entrant_id: int
    entrant: str
    counted: int
    curve: list[list[float]]


class Funnel(TypedDict):
    """How many of an entrant's `counted` episodes reached each milestone. `debugger`: whether it has or used one.
    `shares`: the same in 0..1, each task weighing the same however often it was played.
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
    """How an entrant used a tool, over the `episodes` that did; costs are of the model calls that chose the tool."""

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
    """A task that `entrants` played. `flaky`: how many of them resolved it at some attempts only.

    `rate` is of all counted episodes; `suspect` says why the task may be defective, `disputed_by` which people say so.
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
    """What one entrant made of one task; `episode` shows it."""

    entrant_id: int
    entrant: str
    resolved: int
    unresolved: int
    errors: int
    episode: int


class GridRow(TaskRate):
    """A task with what each entrant made of it; see `queries.grid`."""

    spread: float
    decisive: bool
    cells: list[GridCell]


class Failing(TypedDict):
    """What failed in some `episodes`; `example` is the id of the newest of them."""

    what: str
    episodes: int
    example: int


class SetAside(Failing):
    """Episodes that say nothing about their entrant; `reason`: `infrastructure` or `defective task`."""

    reason: str


class Stalled(TypedDict):
    """A run that should go on and is silent."""

    id: int
    name: str
    heartbeat_at: str | None


class Health(TypedDict):
    """How the infrastructure held in the newest `runs`.

    `done`: episodes with a verdict; `retried`: tries that were repeated; `interruptions`: how often an episode was cut
    off and continued; `reasons`: the commonest errors.
    """

    runs: int
    done: int
    errors: int
    error_rate: float | None
    retried: int
    interruptions: int
    stalled: list[Stalled]
    reasons: list[Failing]


class Step(TypedDict):
    """One action and its observation. `exchanges` are there where they were asked for."""

    index: int
    tool: str
    arguments: Json
    thought: str
    observation: str
    ok: bool
    state: Json
    env_ms: float
    model_ms: float
    tokens_in: int
    tokens_out: int
    tokens_cached: int
    tokens_reasoning: int
    cost_usd: float | None
    milestones: list[str]
    distance: str
    distance_lines: int | None
    investigation: int | None
    """The step that asked, where this one is part of an investigation."""
    exchanges: NotRequired[list[Json]]


class Note(TypedDict):
    """What a member of the team wrote."""

    id: int
    run_id: int
    episode_id: int | None
    step_index: int | None
    author: str
    body: str
    created_at: str | None


class LabelGiven(TypedDict):
    """A label that somebody gave a task (`episode_id` None) or an episode; `digest` is the task's."""

    id: int
    task_id: int
    task: str
    digest: str
    episode_id: int | None
    label: str
    given: bool
    person: str
    reason: str
    created_at: str | None


class View(TypedDict):
    """The filters of a page that somebody kept under a name; `address` is what stands behind the question mark."""

    id: int
    page: str
    name: str
    address: str
    person: str
    created_at: str | None


class DecidedPair(TypedDict):
    """Two entrants in a run that ends when its comparisons are decided; fractions, the second less the first.

    `decision`: of `terms.Decision`. The interval and the p-values hold at all times together.
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
    """A run that ends when its comparisons are decided: `open` ones are not.

    `saved_usd` and `saved_s`: what the episodes that were not played would have cost, at the mean of their entrants.
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
    """Whether a candidate is worse than a reference by more than a margin; fractions, the candidate less the reference.

    `outcome`: of `terms.GateOutcome`. `baseline` and `run`: the runs of the two, None where both play in one scope.
    `lost` and `won`: the tasks on which the candidate does worse and better. `errors`: of either, which nothing counts;
    `warning`: that the answer rests on that, or that the candidate left out tasks of the reference.
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


class EpisodeMean(TypedDict):
    """What an episode of an entrant cost and took on average; `cost_usd` None where a price is unknown.

    `same_limits`: 1 where the runs had the limits that were asked for.
    """

    id: int
    called: str
    agent: str
    model: str
    wall_s: float
    cost_usd: float | None
    episodes: int
    same_limits: int
