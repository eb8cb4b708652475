"""Compares two entrants within each category of tasks."""

from __future__ import annotations

from collections.abc import Sequence

from stackrank.db import stats
from stackrank.db.queries.comparisons.compare import ComparedTask, intervals_at
from stackrank.db.queries.reading import Row


def compare_categories(by_task: Sequence[ComparedTask]) -> list[Row]:
    """Compare within each category: rows of category, tasks, difference, p_value and p_holm, with their intervals.

    `by_task`: from a comparison. The correction is over the categories.
    """
    category_rows: list[Row] = []
    for category in sorted({row["category"] for row in by_task}):
        tasks = [row for row in by_task if row["category"] == category]
        first_scores = [(row["first_resolved"], row["first_counted"]) for row in tasks]
        second_scores = [(row["second_resolved"], row["second_counted"]) for row in tasks]
        difference = stats.paired_difference(first_scores, second_scores)
        numbers = {
            "difference": difference.difference,
            "ci_low": difference.low,
            "ci_high": difference.high,
            "p_value": difference.p_value,
        }
        category_rows.append({"category": category, "tasks": difference.tasks, **numbers})
    p_values = [row["p_value"] for row in category_rows]
    for row, p_value, level in zip(category_rows, stats.holm(p_values), stats.holm_levels(p_values), strict=True):
        intervals = intervals_at([task for task in by_task if task["category"] == row["category"]], level)
        row |= {"p_holm": p_value, "holm_low": intervals["holm_low"], "holm_high": intervals["holm_high"]}
    return category_rows
