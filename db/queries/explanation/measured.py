"""The changes that show in what the episodes did: errors, times, tools, and tasks whose result changes by itself."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from statistics import fmean, median
from typing import TypedDict

from sqlalchemy import Engine, select

from stackrank.db.connection.transactions import TOOL_USE
from stackrank.db.queries.explanation.findings import CauseKind, Finding, Link, episode_link
from stackrank.db.queries.explanation.sides import PlayedEpisode, Side, counted, key_of
from stackrank.db.queries.reading import fetch
from stackrank.db.totals.sums import TaskKey
from stackrank.terms import ErrorClass, StopReason, Verdict
from stackrank.wording import count_of, duration, mean, percent, whole

SLOWER = 1.3
"""A time counts as longer from this ratio on."""
_FAILING_SHARE = 0.5
"""A tool failed an episode if at least this share of its calls failed, and two of them."""
_FEW_TASKS = 0.15
"""At most this share of an entrant's tasks is called flaky; if more results vary, that is the entrant's chance."""
_LEAST_NIGHTS = 4


class _ToolCalls(TypedDict):
    episode_id: int
    tool: str
    calls: int
    failed: int


def measured(engine: Engine, side: Side) -> Iterator[Finding]:
    """Yield what the episodes of an entrant show to be different from before."""
    yield from _errors(side)
    yield from _times(side)
    yield from _tools(engine, side)
    yield from _flaky(side)
    rise = side.rise(lambda row: row["stop_reason"] == StopReason.MALFORMED_ACTIONS)
    if rise.explained:
        text = f"malformed actions ended {percent(rise.now)} of its episodes unresolved, before {percent(rise.before)}"
        yield Finding(
            CauseKind.MALFORMED_ANSWERS,
            f"{side.entrant['name']}: {text}.",
            0.45 * rise.explained,
            _examples(side.newly_failing, lambda row: row["stop_reason"] == StopReason.MALFORMED_ACTIONS),
        )


def _examples(rows: Sequence[PlayedEpisode], is_marked: Callable[[PlayedEpisode], bool]) -> list[Link]:
    return [episode_link(f"{row['task']}", row["id"]) for row in rows if is_marked(row)][:3]


def _errors(side: Side) -> Iterator[Finding]:
    if not side.has_many_errors:
        return
    rows = [row for row in side.now if row["verdict"] == Verdict.ERROR]
    by_class = Counter(row["error_class"] for row in rows)
    error_class, most = by_class.most_common(1)[0]
    kind = CauseKind.MACHINE if error_class == ErrorClass.MACHINE else CauseKind.ERRORS
    heads = Counter(row["error"].partition(":")[0].strip() for row in rows if row["error_class"] == error_class)
    rates = f"{percent(side.error_rise.before)} -> {percent(side.error_rise.now)}"
    by = f"{most} of {len(rows)} by the {error_class or 'infrastructure'}: {heads.most_common(1)[0][0][:120]}"
    # Errors are in no rate; so they explain the night to the extent that the rate did not fall as well.
    strength = 0.95 if not side.is_clearly_worse else 0.5
    yield Finding(
        kind,
        f"{side.entrant['name']}: errors in {rates} of its episodes, {by}.",
        strength,
        _examples(rows, lambda row: row["error_class"] == error_class),
    )


def _times(side: Side) -> Iterator[Finding]:
    """Yield slower answers and slower tools, as far as episodes ran out of time because of them."""
    now, before = counted(side.now), counted(side.before)
    times = {name: (_per_step(before, name), _per_step(now, name)) for name in ("model_ms", "env_ms", "tokens_out")}
    ratios = {name: new / old if old else 1.0 for name, (old, new) in times.items()}
    extra = {name: max(0.0, times[name][1] - times[name][0]) for name in ("model_ms", "env_ms")}
    total = sum(extra.values())
    is_late: Callable[[PlayedEpisode], bool] = lambda row: row["stop_reason"] == StopReason.TIME_LIMIT  # noqa: E731
    late = side.rise(is_late)
    hit = [row for row in side.newly_failing if is_late(row)]
    ended = f"{len(hit)} of {count_of(len(side.newly_failing), 'newly failing episode')} ran out of time"
    name = side.entrant["name"]
    if ratios["model_ms"] >= SLOWER:
        # A model that writes more takes longer on the same endpoint.
        by_length = min(1.0, max(0.0, ratios["tokens_out"] - 1) / (ratios["model_ms"] - 1))
        share = late.explained * extra["model_ms"] / total
        text = f"{name}: an answer takes {_seconds(times['model_ms'])}; {ended}."
        yield Finding(CauseKind.ENDPOINT, text, max(0.12, 0.9 * share * (1 - by_length)), _examples(hit, is_late))
        if by_length > 0.5:
            tokens = " -> ".join(whole(value) for value in times["tokens_out"])
            text = f"{name}: an answer has {tokens} tokens, so it takes longer; {ended}."
            yield Finding(CauseKind.SETTINGS, text, 0.4 * share * by_length, _examples(hit, is_late))
    verdicts = [median([row["score_ms"] for row in rows] or [0.0]) for rows in (before, now)]
    if ratios["env_ms"] >= SLOWER and verdicts[1] >= SLOWER * verdicts[0] > 0:
        share = late.explained * extra["env_ms"] / total
        load, certainty = _load(before, now)
        text = (
            f"{name}: the tools of a step take {_seconds(times['env_ms'])}, and a verdict "
            f"{duration(verdicts[0] / 1000)} -> {duration(verdicts[1] / 1000)}, {load}; {ended}."
        )
        yield Finding(CauseKind.MACHINE, text, max(0.2, certainty * share), _examples(hit, is_late))


def _load(before: Sequence[PlayedEpisode], now: Sequence[PlayedEpisode]) -> tuple[str, float]:
    """Say whether the machine was busier than before, and how certain it is that slow tools are due to that."""
    known = [[row["machine_load"] for row in rows if row["machine_load"] is not None] for rows in (before, now)]
    if not all(known):
        return "so the machine was probably busy", 0.8
    loads = [median(values) for values in known]
    rise = " -> ".join(mean(load) for load in loads)
    if loads[1] >= max(1.0, SLOWER * loads[0]):
        return f"because the machine was busy: load per processor {rise}", 0.95
    return f"although the machine was not busier: load per processor {rise}", 0.6


def _seconds(pair: tuple[float, float]) -> str:
    return " -> ".join(duration(milliseconds / 1000) for milliseconds in pair)


def _per_step(rows: Sequence[PlayedEpisode], name: str) -> float:
    """Return the median over episodes of a value per step."""
    values = [float(row[name]) / row["steps"] for row in rows if row["steps"]]  # type: ignore[literal-required]
    return median(values) if values else 0.0


def _tools(engine: Engine, side: Side) -> Iterator[Finding]:
    """Yield the tools that fail more often than before, and those that are no longer used."""
    now, before = counted(side.now), counted(side.before)
    columns = [TOOL_USE.c[name] for name in ("episode_id", "tool", "calls", "failed")]
    runs, entrants = ({row[name] for row in (*now, *before)} for name in ("run_id", "entrant_id"))
    query = select(*columns).where(TOOL_USE.c.run_id.in_(runs), TOOL_USE.c.entrant_id.in_(entrants))
    calls: dict[str, dict[int, _ToolCalls]] = defaultdict(dict)
    for use in fetch(engine, query, _ToolCalls):
        calls[use["tool"]][use["episode_id"]] = use
    for tool, by_episode in sorted(calls.items()):

        def is_broken(row: PlayedEpisode, by_episode: dict[int, _ToolCalls] = by_episode) -> bool:
            use = by_episode.get(row["id"])
            return use is not None and use["failed"] >= 2 and use["failed"] >= _FAILING_SHARE * use["calls"]

        def is_unused(row: PlayedEpisode, by_episode: dict[int, _ToolCalls] = by_episode) -> bool:
            # An episode that was cut off may just not have come to it.
            return row["id"] not in by_episode and not StopReason(row["stop_reason"]).is_limit

        name = side.entrant["name"]
        uses = [[by_episode[row["id"]] for row in rows if row["id"] in by_episode] for rows in (before, now)]
        failed = [_failure_rate(side_uses) for side_uses in uses]
        rise = side.rise(is_broken)
        if rise.explained and failed[1] - failed[0] > 0.1:
            text = f"{name}: {percent(failed[0])} -> {percent(failed[1])} of the calls of {tool} failed"
            yield Finding(
                CauseKind.TOOLS, f"{text}.", 0.3 + 0.6 * rise.explained, _examples(side.newly_failing, is_broken)
            )
        used = [fmean(row["id"] in by_episode for row in rows) if rows else 0.0 for rows in (before, now)]
        rise = side.rise(is_unused)
        if rise.explained and used[0] - used[1] > 0.3:
            text = f"{name}: {percent(used[0])} -> {percent(used[1])} of its episodes used {tool}"
            yield Finding(CauseKind.TOOLS, f"{text}.", 0.25 * rise.explained, _examples(side.newly_failing, is_unused))


def _failure_rate(uses: Sequence[_ToolCalls]) -> float:
    calls = sum(use["calls"] for use in uses)
    return sum(use["failed"] for use in uses) / calls if calls else 0.0


def _flaky(side: Side) -> Iterator[Finding]:
    """Yield the few tasks whose result has changed from night to night while nothing else did."""
    results: dict[TaskKey, list[bool]] = defaultdict(list)
    for row in counted(side.before):
        results[key_of(row)].append(row["verdict"] == Verdict.RESOLVED)
    varying = {
        key: values for key, values in results.items() if len(values) >= _LEAST_NIGHTS and 0 < sum(values) < len(values)
    }
    lost = {key: drop for key, drop in side.drops.items() if drop > 0}
    share = sum(drop for key, drop in lost.items() if key in varying) / (sum(lost.values()) or 1.0)
    if not share or len(varying) > max(2, _FEW_TASKS * len(results)):
        return
    names = [
        f"{key[0]} ({sum(varying[key])} of {len(varying[key])} times)"
        for key in sorted(lost, key=lambda key: -lost[key])
        if key in varying
    ]
    text = f"{side.entrant['name']} resolved {', '.join(names[:3])} in earlier nights without any change"
    rows = [row for row in side.newly_failing if key_of(row) in varying]
    strength = (0.3 if side.is_clearly_worse else 0.95) * share**2
    yield Finding(CauseKind.FLAKY_TASKS, f"{text}.", strength, _examples(rows, lambda row: True))
