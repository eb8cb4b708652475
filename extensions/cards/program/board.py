"""The sums of each entrant on each task, ranks, and the comparisons of pairs."""

from __future__ import annotations

import math
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from stackrank.extensions.cards.program.facts import add_columns
from stackrank.extensions.cards.program.formulas import (
    ALPHA,
    FINEST,
    MIN_SHARED,
    flip_interval,
    flip_p,
    holm,
    is_whole,
    tango,
)


class Board:
    """The sums of each entrant on each task, and the tables that follow from them."""

    def __init__(self, facts: dict[str, pd.DataFrame]) -> None:
        self.facts, rules = facts, facts["rules"].set_index("rule").value
        runs, labels, tasks = facts["runs"], facts["labels"], facts["tasks"]
        self.draws, self.seed = int(rules["draws"]), int(rules["seed"])
        self.all = add_columns(facts["episodes"], rules["errors"] == "as-failures")
        self.without_disputed = rules["without_disputed"] == "true"
        disputed = set(labels.task[(labels.episode == "") & (labels.disputes == "true")])
        self.invalid = tasks.task[(tasks.version == rules["version"]) & (tasks.valid == "false")]
        is_left_out = tasks.task.isin(disputed if self.without_disputed else [])
        valid = tasks.task[(tasks.version == rules["version"]) & (tasks.valid != "false") & ~is_left_out]
        self.valid = list(valid)
        self.disputed = tasks.task[tasks.task.isin(disputed) & (tasks.version == rules["version"])]
        self.pooled = self.all[self.all.run.isin(runs.run[runs.pooled == "true"])]
        in_cells = self.pooled[self.pooled.task.isin(self.valid)]
        played = set(in_cells.entrant)
        self.entrants = [entrant for entrant in facts["entrants"].entrant if entrant in played]
        self.keys = [task for task in self.valid if task in set(in_cells.task)]
        sums = in_cells.drop(columns="run").groupby(["entrant", "task"]).sum()
        every = pd.MultiIndex.from_product([self.entrants, self.keys])
        cells = sums.reindex(every).fillna(0.0)
        shape = len(self.entrants), len(self.keys)
        self.cells = {name: cells[name].to_numpy().reshape(shape) for name in cells}
        self.names = facts["entrants"].set_index("entrant").name
        self.reference = set(facts["entrants"].entrant[facts["entrants"].reference == "true"])
        self.rows = [place for place, entrant in enumerate(self.entrants) if entrant not in self.reference]
        self.rank()

    def rank(self) -> None:
        """Find who is ranked, on which tasks, and which differences are no chance."""
        counted = self.cells["counted"]
        rows = [row for row in self.rows if counted[row].any()]
        self.ranked: list[int] = []
        self.board_tasks = np.zeros(len(self.keys), bool)
        self.pairs: dict[tuple[int, int], dict[str, Any]] = {}
        if rows:
            played = (counted[rows] > 0).astype(int)
            shared = played @ played.T
            enough = (shared >= MIN_SHARED * shared.diagonal()[:, None]) & (shared > 0)
            together = enough[int((enough * shared).sum(axis=1).argmax())]
            self.ranked = [row for row, is_in in zip(rows, together, strict=True) if is_in]
            self.board_tasks = 2 * played[together].sum(axis=0) >= max(1, together.sum())
        for pair in combinations(self.ranked, 2):
            if (counted[pair[0]] * counted[pair[1]]).any():
                self.pairs[pair] = self.compare(*pair)
        for row, p_value in zip(
            self.pairs.values(), holm([row["p_value"] for row in self.pairs.values()]), strict=True
        ):
            row["p_holm"] = p_value
        # Ranks are ranges: only a clear difference puts one entrant above another.
        self.ranks = {row: [1, len(self.ranked)] for row in self.ranked}
        for (first, second), row in self.pairs.items():
            if row["p_holm"] < ALPHA:
                above, below = (second, first) if row["difference"] > 0 else (first, second)
                self.ranks[below][0] += 1
                self.ranks[above][1] -= 1

    def tasks_of(self, row: int) -> Any:
        """Return the tasks that a row of the board is about: the ranked ones, or all of an entrant without a rank."""
        is_apart = row in self.rows and row not in self.ranked
        return np.ones(len(self.keys), bool) if is_apart or not self.board_tasks.any() else self.board_tasks

    def compare(self, first: int, second: int) -> dict[str, Any]:
        """Compare two entrants on the tasks that both counted."""
        (r1, r2), (n1, n2) = (self.cells[name][[first, second]] for name in ("share", "counted"))
        both = (n1 > 0) & (n2 > 0)
        gaps, attempts = r2[both] / n2[both] - r1[both] / n1[both], {int(n) for n in (*n1[both], *n2[both])}
        better, worse = int((gaps > 0).sum()), int((gaps < 0).sum())
        whole = is_whole(np.concatenate([r1[both], r2[both]]))
        single = attempts == {1} and whole
        if single:
            p_value = float(stats.binomtest(better, better + worse).pvalue) if better + worse else 1.0
            low, high = tango(better, worse, len(gaps), p_value)
        else:
            p_value = flip_p(gaps, math.lcm(*attempts) if whole else FINEST)
            low, high = flip_interval(gaps, p_value, self.draws, self.seed, whole)
        return {
            "first": self.entrants[first],
            "second": self.entrants[second],
            "tasks": len(gaps),
            "difference": float(gaps.mean()),
            "ci_low": low,
            "ci_high": high,
            "p_value": p_value,
            "p_holm": None,
            "test": "mcnemar" if single else "permutation",
            "only_first": worse,
            "only_second": better,
        }
