"""The changes that are on record: conditions, versions and the settings of an entrant."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from stackrank.db.queries.comparisons.compare import differences
from stackrank.db.queries.explanation.findings import CauseKind, Finding, Link, episode_link, run_link, shared_start
from stackrank.db.queries.explanation.sides import PlayedEpisode, Side
from stackrank.db.queries.runs import RunRow
from stackrank.db.writes import conditions
from stackrank.terms import FailurePoint, StopReason
from stackrank.wording import count_of, words

Mark = Callable[[PlayedEpisode], bool]
LIMIT_MARKS: dict[str, Mark] = {
    "steps": lambda row: row["stop_reason"] == StopReason.STEP_LIMIT,
    "tokens": lambda row: row["stop_reason"] == StopReason.TOKEN_LIMIT,
    "cost_usd": lambda row: row["stop_reason"] == StopReason.COST_LIMIT,
    "wall_s": lambda row: row["stop_reason"] == StopReason.TIME_LIMIT,
    "malformed": lambda row: row["stop_reason"] == StopReason.MALFORMED_ACTIONS,
    "repeats": lambda row: row["failure_point"] == FailurePoint.LOOPED,
}
"""Limit -> whether an episode shows that it reached the limit."""
_VERSIONS = {"stackrank": 0.2, "python": 0.2, "pytest": 0.25, "openai": 0.1, "docker": 0.1, "prefect": 0.02}
_SETTINGS: dict[str, tuple[CauseKind, float]] = {
    "agent": (CauseKind.AGENT, 0.8),
    "agent_version": (CauseKind.AGENT, 0.5),
    "model": (CauseKind.MODEL, 0.8),
    "tools": (CauseKind.TOOLS, 0.1),
    "tool_list": (CauseKind.TOOLS, 0.55),
    "tool_versions": (CauseKind.TOOLS, 0.4),
    "config.prompts": (CauseKind.PROMPT, 0.65),
    "config.temperature": (CauseKind.SAMPLING, 0.6),
    "config.top_p": (CauseKind.SAMPLING, 0.45),
    "config.seed": (CauseKind.SAMPLING, 0.05),
    "config.context_tokens": (CauseKind.CONTEXT, 0.35),
    "config.max_tokens": (CauseKind.ANSWER_LENGTH, 0.35),
    "config.base_url": (CauseKind.ENDPOINT, 0.4),
    "config.provider": (CauseKind.ENDPOINT, 0.4),
    "config.price": (CauseKind.SETTINGS, 0.01),
}
"""Setting -> the kind of cause that a change of it is, and how strongly the change alone speaks for it."""
_OTHER_SETTING = (CauseKind.SETTINGS, 0.4)
_LONG = 60


def declared(side: Side, before: RunRow, run: RunRow) -> Iterator[Finding]:
    """Yield what the records of the two runs say has changed for an entrant."""
    both = [run_link(before["id"]), run_link(run["id"])]
    yield from _conditions(side, before, run, both)
    for name, weight in _VERSIONS.items():
        old, new = (each["versions"].get(name) for each in (before, run))
        if old is not None and new is not None and old != new:
            yield Finding(CauseKind.VERSIONS, f"{name} {old} -> {new}.", weight, both)
    for name, (old, new) in differences(side.earlier, side.entrant).items():
        kind, weight = _SETTINGS.get(name, _OTHER_SETTING)
        traces = [episode_link(f"Now: {row['task']}", row["id"]) for row in side.newly_failing[:1]]
        yield Finding(kind, f"{side.entrant['name']}: {_difference(name, old, new)}.", weight, [*both, *traces])


def _conditions(side: Side, before: RunRow, run: RunRow, both: list[Link]) -> Iterator[Finding]:
    for name, (new, old) in conditions.differences(run["conditions"], before["conditions"]).items():
        text = f"{conditions.label(name, new)} instead of {conditions.in_sentence(name, old)}"
        if mark := LIMIT_MARKS.get(name):
            rise = side.rise(mark)
            hit = [row for row in side.newly_failing if mark(row)]
            of = f"{len(hit)} of {count_of(len(side.newly_failing), 'newly failing episode')}"
            sentence = f"The limit is {text}: {of} of {side.entrant['name']} ended at it."
            links = [episode_link(f"Ended at the limit: {row['task']}", row["id"]) for row in hit[:3]]
            is_lower = _as_number(new) < _as_number(old)
            yield Finding(
                CauseKind.LIMITS, sentence, 0.2 + 0.75 * rise.explained if is_lower else 0.05, [*both, *links]
            )
        elif name == "scorer":
            rise = side.rise(lambda row: row["at_solved"] is not None)
            passed = sum(row["at_solved"] is not None for row in side.newly_failing)
            sentence = (
                f"The scorer changed, {str(old)[:8]} -> {str(new)[:8]}: in {passed} of "
                f"{count_of(len(side.newly_failing), 'newly failing episode')} of {side.entrant['name']} the visible "
                "tests had passed."
            )
            yield Finding(CauseKind.SCORER, sentence, 0.5 + 0.45 * rise.explained, both)
        else:
            yield Finding(CauseKind.CONDITIONS, f"The conditions differ: {text}.", 0.45, both)


def _as_number(limit: Any) -> float:
    return float(limit) if isinstance(limit, int | float) else math.inf


def _difference(name: str, old: Any, new: Any) -> str:
    """Say how a setting changed; of a mapping, only what differs in it."""
    called = words(name.removeprefix("config."))
    if isinstance(old, Mapping) or isinstance(new, Mapping):
        sides: list[Mapping[str, Any]] = [value if isinstance(value, Mapping) else {} for value in (old, new)]
        parts = [
            f"{key} {_short_pair(sides[0].get(key), sides[1].get(key))}"
            for key in dict.fromkeys([*sides[0], *sides[1]])
            if sides[0].get(key) != sides[1].get(key)
        ]
        return f"{called}: {', '.join(parts)}"
    if isinstance(old, list) and isinstance(new, list):
        gone, added = ([str(item) for item in one if item not in other] for one, other in ((old, new), (new, old)))
        parts = [f"{word} {', '.join(items)}" for word, items in (("without", gone), ("with", added)) if items]
        return f"{called}: {' and '.join(parts) or 'in another order'}"
    return f"{called} {_short_pair(old, new)}"


def _short_pair(old: Any, new: Any) -> str:
    """Return both values, and of long texts the part where they begin to differ."""
    texts = [" ".join(("not set" if value is None else str(value)).split()) for value in (old, new)]
    if max(map(len, texts)) > _LONG:
        start = max(0, shared_start(*texts) - _LONG // 3)
        end = start + _LONG
        texts = [f"{'...' * (start > 0)}{text[start:end]}{'...' * (len(text) > end)}" for text in texts]
    return " -> ".join(texts)
