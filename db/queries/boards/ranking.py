"""Who ranks where, who cannot be ranked with the others, and whose errors may mislead."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any, NamedTuple

from stackrank.db import stats
from stackrank.db.totals.sums import Cells, Sums, TaskKey
from stackrank.wording import count_of, p_is, percent

_MIN_RATE_GAP = 0.01
"""A part of the tasks counts as equally hard as the whole if the others' rates on both differ by less than this."""


@dataclass(frozen=True, slots=True)
class Ranking:
    """The ranks of a board. `tasks`: the tasks that entrants are ranked on. The board is about these only, or about
    all tasks if nobody is ranked."""

    ranks: dict[int, tuple[int, int]] = field(default_factory=dict)
    unranked: dict[int, str] = field(default_factory=dict)
    """Entrant -> why it has no rank."""
    tasks: frozenset[TaskKey] = frozenset()
    leads: dict[int, float] = field(default_factory=dict)
    """Entrant -> its mean lead over the other ranked entrants, paired by task, in -1..1."""
    partial_warnings: dict[int, str] = field(default_factory=dict)
    """Entrant -> a warning that its counted tasks are easier or harder than all tasks of the board."""

    def board_cells(self, entrant_id: int, cells: Cells) -> Cells:
        """Return those of an entrant's sums that the board is about: all of them if the entrant is unranked."""
        if entrant_id in self.unranked or not self.tasks or cells.keys() <= self.tasks:
            return cells
        return {key: cells[key] for key in cells if key in self.tasks}


def ranked_entrants(cells: Mapping[int, Cells]) -> list[int]:
    """Return those of these entrants that `rank_entrants` ranks with each other."""
    rankable = _rankable_field(cells)
    return [entrant_id for entrant_id, is_ranked in zip(rankable.entrants, rankable.ranked, strict=True) if is_ranked]


def rank_entrants(cells: Mapping[int, Cells]) -> Ranking:
    """Rank these entrants by their paired differences, corrected over the board: see `stats.rank_ranges`."""
    rankable = _rankable_field(cells)
    unranked = {
        entrant_id: "It has no counted episodes, so it is not ranked."
        for entrant_id in cells
        if entrant_id not in rankable.entrants
    }
    if not rankable.entrants:
        return Ranking(unranked=unranked)
    tasks = {key for key, is_included in zip(rankable.keys, rankable.is_board_task, strict=True) if is_included}
    ranked_ids = [
        entrant_id for entrant_id, is_included in zip(rankable.entrants, rankable.ranked, strict=True) if is_included
    ]
    for entrant_id in rankable.entrants:
        if entrant_id not in ranked_ids:
            shared = sum(key in cells[entrant_id] and cells[entrant_id][key].counted > 0 for key in tasks)
            unranked[entrant_id] = (
                f"It played {shared} of the {count_of(len(tasks), 'task')} that the others are ranked on, too "
                "few to be ranked."
            )
    resolved, counted = rankable.resolved[rankable.ranked], rankable.counted[rankable.ranked]
    ranges = stats.rank_ranges(resolved, counted)
    leads, others_rates = stats.mean_leads(resolved[:, rankable.is_board_task], counted[:, rankable.is_board_task])
    partial_warnings = {
        entrant_id: f"Its rate covers {played} of the board's {count_of(len(tasks), 'task')}. The others resolved "
        f"{percent(rate_on_played)} of those tasks and {percent(rate_on_all)} of all tasks."
        for entrant_id, (played, rate_on_played, rate_on_all) in zip(ranked_ids, others_rates, strict=True)
        if played < len(tasks) and abs(rate_on_played - rate_on_all) >= _MIN_RATE_GAP
    }
    return Ranking(
        dict(zip(ranked_ids, ranges, strict=True)),
        unranked,
        frozenset(tasks),
        dict(zip(ranked_ids, leads, strict=True)),
        partial_warnings,
    )


class _RankedField(NamedTuple):
    """The entrants with a counted task, which of them are ranked together, and on which of the tasks."""

    entrants: list[int]
    keys: list[TaskKey]
    resolved: Any
    counted: Any
    ranked: list[bool]
    is_board_task: list[bool]


def _rankable_field(cells: Mapping[int, Cells]) -> _RankedField:
    keys, played = _count_matrix(cells)
    counts = played.counted > 0
    has_episodes, is_played = counts.any(axis=1), counts.any(axis=0)
    entrants = [entrant_id for entrant_id, is_included in zip(cells, has_episodes, strict=True) if is_included]
    resolved, counted = (sums[has_episodes][:, is_played] for sums in (played.resolved, played.counted))
    is_ranked, is_board_task = stats.ranked_together(counted) if entrants else ([], [])
    return _RankedField(
        entrants,
        [key for key, is_included in zip(keys, is_played, strict=True) if is_included],
        resolved,
        counted,
        is_ranked,
        is_board_task,
    )


def error_balance(cells: Mapping[int, Cells]) -> dict[int, float]:
    """Return the p-value, corrected over the board, of each entrant for as many errors as the others on equal tasks.

    Empty if nobody has an error, or if there is nobody to compare with.
    """
    _, played = _count_matrix(cells)
    has_errors = (played.errors > 0).any(axis=0)
    if not has_errors.any() or len(cells) < 2:
        return {}
    return dict(
        zip(cells, stats.error_balance(played.errors[:, has_errors], played.episodes[:, has_errors]), strict=True)
    )


def error_warnings(cells: Mapping[int, Cells]) -> dict[int, str]:
    """Return a warning for each entrant with more or fewer errors than chance explains, given the others' errors."""
    balance = error_balance(cells)
    _, played = _count_matrix(cells)
    warnings: dict[int, str] = {}
    for row, (entrant_id, p) in enumerate(balance.items()):
        error_count = played.errors[row].sum()
        # Without an error of its own, nothing about its rate is in doubt.
        if p >= stats.ALPHA or not error_count:
            continue
        bounds = stats.error_bounds([sums.outcome for sums in cells[entrant_id].values()])
        assert bounds is not None
        episode_count = sum(sums.done for sums in cells[entrant_id].values())
        rates = played.errors.sum(axis=0) / played.episodes.sum(axis=0).clip(min=1)
        comparison = "more than" if error_count > (rates * played.episodes[row]).sum() else "fewer than"
        warnings[entrant_id] = (
            f"{error_count} of {count_of(episode_count, 'episode')} ended in an error, {comparison} the others' "
            "on the same tasks "
        )
        warnings[entrant_id] += f"({p_is(p)}); its rate is {percent(bounds[0])} with errors counted as failures, "
        warnings[entrant_id] += f"{percent(bounds[1])} as successes."
    return warnings


def p_values(cells: Mapping[int, Cells]) -> dict[frozenset[int], float]:
    """Return the p-value of each pair of these entrants with a task in common, as `compare` computes it."""
    ids, (_, played) = list(cells), _count_matrix(cells)
    by_index = stats.pair_p_values(played.resolved, played.counted)
    return {frozenset((ids[first], ids[second])): p for (first, second), p in by_index.items()}


class _EpisodeCounts(NamedTuple):
    """Numbers of episodes of each entrant (row) on each task (column), defined as in `Sums`."""

    resolved: Any
    counted: Any
    errors: Any
    episodes: Any


_COUNTS = attrgetter("mended", "scored", "errors", "failed_errors")


def _count_matrix(cells: Mapping[int, Cells]) -> tuple[list[TaskKey], _EpisodeCounts]:
    """Return the tasks in the order of their keys, and the entrants' numbers of episodes on them."""
    import numpy

    keys, no_episodes = sorted(set().union(*cells.values())), Sums()
    counts = numpy.array(
        [[_COUNTS(tasks.get(key, no_episodes)) for key in keys] for tasks in cells.values()], dtype=float
    )
    mended = counts.reshape(len(cells), len(keys), 4)[:, :, 0]
    scored, errors, failed = numpy.moveaxis(counts.reshape(len(cells), len(keys), 4)[:, :, 1:].astype(int), 2, 0)
    return keys, _EpisodeCounts(mended, scored + failed, errors, scored + errors)
