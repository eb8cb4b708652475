"""Who ranks where, who cannot be ranked with the others, and whose errors may mislead."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any, NamedTuple

from stackrank.db import stats
from stackrank.db.totals.sums import Cells, Sums, TaskKey
from stackrank.wording import p_is, percent

_HARDER = 0.01
"""A part of the tasks counts as equally hard as the whole if the others' rates on both differ by less than this."""


@dataclass(frozen=True, slots=True)
class Places:
    """The ranks of a board. `tasks`: the tasks that entrants are ranked on. The board is about these only, or about
    all tasks if nobody is ranked."""

    ranks: dict[int, tuple[int, int]] = field(default_factory=dict)
    apart: dict[int, str] = field(default_factory=dict)
    """Entrant -> why it has no rank."""
    tasks: frozenset[TaskKey] = frozenset()
    leads: dict[int, float] = field(default_factory=dict)
    """Entrant -> its mean lead over the other ranked entrants, paired by task, in -1..1."""
    partial: dict[int, str] = field(default_factory=dict)
    """Entrant -> a warning that its counted tasks are easier or harder than all tasks of the board."""

    def on_board(self, one: int, cells: Cells) -> Cells:
        """Return those of an entrant's sums that the board is about: all of them if the entrant is apart."""
        if one in self.apart or not self.tasks or cells.keys() <= self.tasks:
            return cells
        return {key: cells[key] for key in cells if key in self.tasks}


def ranked(cells: Mapping[int, Cells]) -> list[int]:
    """Return those of these entrants that `places` ranks with each other."""
    field = _together(cells)
    return [one for one, is_in in zip(field.entrants, field.ranked, strict=True) if is_in]


def places(cells: Mapping[int, Cells]) -> Places:
    """Rank these entrants by their paired differences, corrected over the board: see `stats.rank_ranges`."""
    field = _together(cells)
    apart = {one: "It has no counted episode, so no rank." for one in cells if one not in field.entrants}
    if not field.entrants:
        return Places(apart=apart)
    tasks = {key for key, is_in in zip(field.keys, field.chosen, strict=True) if is_in}
    together = [one for one, is_in in zip(field.entrants, field.ranked, strict=True) if is_in]
    for one in field.entrants:
        if one not in together:
            shared = sum(key in cells[one] and cells[one][key].counted > 0 for key in tasks)
            apart[one] = (
                f"It played {shared} of the {len(tasks)} tasks that the others are ranked on: too few for a rank."
            )
    resolved, counted = field.resolved[field.ranked], field.counted[field.ranked]
    ranges = stats.rank_ranges(resolved, counted)
    leads, elsewhere = stats.leads(resolved[:, field.chosen], counted[:, field.chosen])
    partial = {
        one: f"Its rate is over {played} of the board's {len(tasks)} tasks: the others resolved {percent(there)} of "
        f"those, and {percent(everywhere)} of all."
        for one, (played, there, everywhere) in zip(together, elsewhere, strict=True)
        if played < len(tasks) and abs(there - everywhere) >= _HARDER
    }
    return Places(
        dict(zip(together, ranges, strict=True)),
        apart,
        frozenset(tasks),
        dict(zip(together, leads, strict=True)),
        partial,
    )


class _Field(NamedTuple):
    """The entrants with a counted task, which of them are ranked together, and on which of the tasks."""

    entrants: list[int]
    keys: list[TaskKey]
    resolved: Any
    counted: Any
    ranked: list[bool]
    chosen: list[bool]


def _together(cells: Mapping[int, Cells]) -> _Field:
    keys, played = _matrix(cells)
    counts = played.counted > 0
    some, hit = counts.any(axis=1), counts.any(axis=0)
    entrants = [one for one, is_in in zip(cells, some, strict=True) if is_in]
    resolved, counted = (sums[some][:, hit] for sums in (played.resolved, played.counted))
    ranked, chosen = stats.ranked_together(counted) if entrants else ([], [])
    return _Field(
        entrants, [key for key, is_in in zip(keys, hit, strict=True) if is_in], resolved, counted, ranked, chosen
    )


def error_warnings(cells: Mapping[int, Cells]) -> dict[int, str]:
    """Return a warning for each entrant with more or fewer errors than chance explains, given the others' errors."""
    _, played = _matrix(cells)
    hit = (played.errors > 0).any(axis=0)
    if not hit.any() or len(cells) < 2:
        return {}
    found: dict[int, str] = {}
    errors, done = played.errors[:, hit], played.done[:, hit]
    for row, (one, p) in enumerate(zip(cells, stats.error_balance(errors, done), strict=True)):
        own = errors[row].sum()
        # Without an error of its own, nothing about its rate is in doubt.
        if p >= stats.ALPHA or not own:
            continue
        bounds = stats.error_bounds([sums.outcome for sums in cells[one].values()])
        assert bounds is not None
        everything = sum(sums.done for sums in cells[one].values())
        expected = (errors.sum(axis=0) / done.sum(axis=0) * done[row]).sum()
        than = "more than" if errors[row].sum() > expected else "fewer than"
        found[one] = f"{own} of {everything} episodes ended in an error, {than} the others' on the same tasks "
        found[one] += f"({p_is(p)}); its rate is {percent(bounds[0])} with errors counted as failures, "
        found[one] += f"{percent(bounds[1])} as successes."
    return found


def p_values(cells: Mapping[int, Cells]) -> dict[frozenset[int], float]:
    """Return the p-value of each pair of these entrants with a task in common, as `compare` computes it."""
    ids, (_, played) = list(cells), _matrix(cells)
    found = stats.pair_p_values(played.resolved, played.counted)
    return {frozenset((ids[first], ids[second])): p for (first, second), p in found.items()}


class _Played(NamedTuple):
    """Numbers of episodes of each entrant (row) on each task (column), defined as in `Sums`."""

    resolved: Any
    counted: Any
    errors: Any
    done: Any


_COUNTS = attrgetter("resolved", "unresolved", "errors", "failed_errors")


def _matrix(cells: Mapping[int, Cells]) -> tuple[list[TaskKey], _Played]:
    """Return the tasks in the order of their keys, and the entrants' numbers of episodes on them."""
    import numpy

    keys, none = sorted(set().union(*cells.values())), Sums()
    found = numpy.array([[_COUNTS(tasks.get(key, none)) for key in keys] for tasks in cells.values()], dtype=int)
    resolved, unresolved, errors, failed = numpy.moveaxis(found.reshape(len(cells), len(keys), 4), 2, 0)
    return keys, _Played(resolved, resolved + unresolved + failed, errors, resolved + unresolved + errors)
