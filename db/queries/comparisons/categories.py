"""Compares two entrants within each category of tasks."""

from __future__ import annotations

from collections.abc import Sequence

from stackrank.db import stats
from stackrank.db.queries.comparisons.compare import ComparedTask, scores_of
from stackrank.db.queries.reading import Row


def compare_categories(by_task: Sequence[ComparedTask]) -> list[Row]:
    """Compare within each category: rows of category, tasks, difference, p_value and p_holm, with their intervals.

    `by_task`: from a comparison. The correction is over the categories.
    """
    categories = sorted({row["category"] for row in by_task})
    scores = [scores_of([row for row in by_task if row["category"] == category]) for category in categories]
    alone = [stats.paired_difference(*sides) for sides in scores]
    p_values = [difference.p_value for difference in alone if difference.p_value is not None]
    levels = stats.holm_levels(p_values)
    corrected = [stats.paired_difference(*sides, alpha=level) for sides, level in zip(scores, levels, strict=True)]
    return [
        {
            "category": category,
            "tasks": difference.tasks,
            "difference": difference.difference,
            "ci_low": difference.low,
            "ci_high": difference.high,
            "p_value": difference.p_value,
            "p_holm": p_holm,
            "holm_low": at_level.low,
            "holm_high": at_level.high,
        }
        for category, difference, p_holm, at_level in zip(
            categories, alone, stats.holm(p_values), corrected, strict=True
        )
    ]
