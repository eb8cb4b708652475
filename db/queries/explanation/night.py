"""Explains a red night: which tasks flipped, at which milestone their episodes now fail, and what likely caused it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TypedDict

from sqlalchemy import Engine

from stackrank.db.queries.comparisons.changes import RateDifference, changes
from stackrank.db.queries.comparisons.claims import corrected_p
from stackrank.db.queries.comparisons.run_pair import Flip, RunPair, pair_sentence, run_pair
from stackrank.db.queries.explanation.declared import declared
from stackrank.db.queries.explanation.findings import Cause, CauseKind, Finding, rank, run_link
from stackrank.db.queries.explanation.measured import measured
from stackrank.db.queries.explanation.requests import asked
from stackrank.db.queries.explanation.sides import PlayedEpisode, Side, like_nights, read_episodes, read_sides
from stackrank.db.queries.explanation.sides import night_before as find_night_before
from stackrank.db.queries.runs import run as find_run
from stackrank.terms import Milestone, Verdict
from stackrank.wording import count_of, p_is, percent

_STAGES = (
    (Milestone.REPRODUCED, "never saw the failure"),
    (Milestone.LOCALIZED, "never saw the fault"),
    (Milestone.EDITED, "never edited the fault"),
    (Milestone.SOLVED, "edited the fault, but never passed the visible tests"),
)
_PASSED = "passed the visible tests, but not the verdict"
NAMED = 0.25
"""A cause is named as the likely one from this strength on."""
_LIKELY = 0.6
_CHANCE_IF_CLEAR = 0.12
_MOST_NAMES = 2
"""More entrants than this are counted, not named."""


class FailingTask(Flip):
    """A task that is resolved less often than before, and where the episode that shows it fails."""

    fails: str
    failure_point: str
    stop_reason: str


class Stage(TypedDict):
    """How far unresolved episodes came: how many that newly fail now, and which share of the episodes before."""

    fails: str
    now: int
    share_before: float


class NightExplanation(TypedDict):
    """Why a run is worse than an earlier one. `causes`: the likeliest first; empty if nothing is worse.

    `worse`: whether the corrected test, or the share of errors, says so. `baseline`: the earlier runs that show what is
    usual. `difference` says who is worse, `why` names the likeliest cause, or says that it may be chance.
    """

    run: int
    before: int
    baseline: list[int]
    worse: bool
    difference: str
    why: str
    fails: str
    causes: list[Cause]
    stages: list[Stage]
    tasks: list[FailingTask]
    pair: RunPair


def night_before(engine: Engine, run: int | str) -> int | None:
    """Return the run that a run of a series is compared with, the newest good one before; None if there is none."""
    return find_night_before(engine, find_run(engine, run))


def explain_night(engine: Engine, before: int | str, run: int | str) -> NightExplanation:
    """Say what made a run worse than an earlier one, with the evidence. Raises `NotFound` for an unknown run.

    Of the tasks that both have, episodes are compared with those of the earlier run and of up to nine runs like it. A
    cause is the likelier, the more it alone speaks for a loss (a changed prompt more than a new version of Python), and
    the more of the loss its traces show (all newly failing episodes ended at the lowered limit). If the corrected test
    does not tell the nights apart, chance is one of the causes.
    """
    pair = run_pair(engine, before, run)
    old, new = find_run(engine, pair["first"]), find_run(engine, pair["second"])
    baseline = like_nights(engine, old)
    against_past = changes(engine, new["id"]) if old["conditions_digest"] == new["conditions_digest"] else []
    rows = [row for row in against_past if row["before"] == old["id"]] or pair["entrants"]
    by_name: dict[str, RateDifference] = {row["entrant"]: row for row in (*pair["entrants"], *rows)}
    sides = read_sides(engine, new, baseline, by_name)
    concerned = [side for side in sides if side.is_clearly_worse or side.has_many_errors]
    is_worse = bool(concerned)
    concerned = concerned or [side for side in sides if side.drop > 0]
    causes = rank(
        (
            side.entrant["name"],
            max(side.drop, side.error_rise.explained),
            [
                *declared(side, old, new),
                *measured(engine, side),
                *asked(engine, side, new["id"], old["id"]),
                *_chance(side, pair),
            ],
        )
        for side in concerned
    )
    stages = _stages(concerned)
    return {
        "run": new["id"],
        "before": old["id"],
        "baseline": baseline,
        "worse": is_worse,
        "difference": _difference(pair_sentence(rows, pair["worse"], pair["better"]), concerned),
        "why": _why(causes, is_worse),
        "fails": _stages_sentence(stages, _whose(concerned, is_worse), len(baseline)),
        "causes": causes,
        "stages": stages,
        "tasks": _failing_tasks(engine, pair["worse"]),
        "pair": pair,
    }


def _chance(side: Side, pair: RunPair) -> list[Finding]:
    """Say how well chance alone explains what an entrant lost."""
    if side.has_many_errors and not side.is_clearly_worse:
        return []
    change = side.change
    p_value = change["p_value"] if change is not None else 1.0
    strength = _CHANCE_IF_CLEAR if side.is_clearly_worse else 0.5 + 0.3 * p_value
    names = (side.entrant["called"], side.entrant["name"])
    worse, better = (sum(flip["entrant"] in names for flip in flips) for flips in (pair["worse"], pair["better"]))
    tested = corrected_p(change["p_alone"], p_value, change["family"], "entrant") if change else p_is(p_value)
    text = (
        f"{side.entrant['name']}: such a difference comes up by chance with {tested}; since the run before it "
        f"resolves {count_of(worse, 'task')} less often and {better} more often."
    )
    return [Finding(CauseKind.CHANCE, text, strength, [run_link(pair["second"])])]


def _difference(rates: str, sides: Sequence[Side]) -> str:
    errors = [
        f"{side.entrant['name']}: errors in {percent(side.error_rise.before)} -> {percent(side.error_rise.now)} of its "
        "episodes."
        for side in sides
        if side.has_many_errors
    ]
    return " ".join([*errors, rates])


def _why(causes: Sequence[Cause], is_worse: bool) -> str:
    if not causes:
        return ""
    best = causes[0]
    if best["kind"] is CauseKind.CHANCE and not is_worse:
        return "This may well be chance."
    if best["kind"] is CauseKind.FLAKY_TASKS and not is_worse:
        return f"This may well be chance: {best['sentences'][0]}"
    if best["kind"] is CauseKind.CHANCE or best["strength"] < NAMED:
        return "No change that is on record explains it."
    word = "The likeliest cause" if best["strength"] >= _LIKELY else "A possible cause"
    return f"{word if is_worse else f'If it is more than chance, {word.lower()}'}: {best['sentences'][0]}"


def _stage_of(row: PlayedEpisode) -> str:
    """Say which milestone an episode did not reach first."""
    reached = {milestone for milestone, _ in _STAGES if row[f"at_{milestone}"] is not None}  # type: ignore[literal-required]
    if Milestone.SOLVED in reached:
        return _PASSED
    # An edit of the fault counts for more than how it was found.
    stages = _STAGES[-1:] if Milestone.EDITED in reached else _STAGES
    return next(text for milestone, text in stages if milestone not in reached)


def _stages(sides: Sequence[Side]) -> list[Stage]:
    failing = [row for side in sides for row in side.newly_failing]
    before = [row for side in sides for row in side.before if row["verdict"] != Verdict.ERROR]
    now = Counter(map(_stage_of, failing))
    earlier = Counter(_stage_of(row) for row in before if row["verdict"] == Verdict.UNRESOLVED)
    return [
        {"fails": text, "now": now[text], "share_before": earlier[text] / len(before) if before else 0.0}
        for text in (*(text for _, text in _STAGES), _PASSED)
        if now[text]
    ]


def _whose(sides: Sequence[Side], is_worse: bool) -> str:
    if len(sides) <= _MOST_NAMES:
        return " and ".join(side.entrant["name"] for side in sides)
    entrants = count_of(len(sides), "entrant")
    return entrants if is_worse else f"the {entrants} that lost most"  # others may have lost, too


def _stages_sentence(stages: Sequence[Stage], whose: str, runs: int) -> str:
    if not stages:
        return ""
    total = sum(stage["now"] for stage in stages)
    most_first = sorted(stages, key=lambda stage: -stage["now"])
    parts = [f"{stage['now']} {stage['fails']}" for stage in most_first]
    tasks = f"on tasks that are resolved less often than in the {'run' if runs == 1 else 'runs'} before"
    return f"Of {count_of(total, 'failing episode')} of {whose} {tasks}: {'; '.join(parts)}."


def _failing_tasks(engine: Engine, flips: Sequence[Flip]) -> list[FailingTask]:
    episodes = read_episodes(engine, [flip["episode"] for flip in flips])
    return [
        {
            **flip,
            "fails": _stage_of(row),
            "failure_point": row["failure_point"],
            "stop_reason": row["stop_reason"],
        }
        for flip in flips
        for row in [episodes[flip["episode"]]]
    ]
