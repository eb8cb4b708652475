"""The published tables, each computed from the sums of the board."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import special, stats

from stackrank.extensions.cards.program.board import Board
from stackrank.extensions.cards.program.facts import CLASSES, shown
from stackrank.extensions.cards.program.fit import Fit
from stackrank.extensions.cards.program.formulas import MIN_SHARED, cost_interval, holm, mean_outcome, mean_share

Rows = list[dict[str, Any]]
LEVELS = ("easiest third", "middle third", "hardest third")
MAX_ATTEMPTS = 10
COUNTS = ("resolved", "sealed", "unverified", "unresolved", "faults_mended", "faults")


def derive(board: Board) -> dict[str, Rows]:
    """Return the rows of each published table."""
    return {
        "board": standings(board),
        "pairs": list(board.pairs.values()),
        "reliability": reliability(board),
        **abilities(board),
        "costs": costs(board),
        "left_out": left_out(board),
        "scope": scope(board),
    }


def standings(board: Board) -> Rows:
    """Return the leaderboard: a row per entrant."""
    leads, balance = mean_leads(board), error_balance(board)
    done = int((board.cells["done"].sum(axis=0) > 0).sum())
    rows: Rows = []
    for row, entrant in enumerate(board.entrants):
        everywhere = {name: float(values[row].sum()) for name, values in board.cells.items()}
        tasks = {name: values[row][board.tasks_of(row)] for name, values in board.cells.items()}
        sums = {name: float(values.sum()) for name, values in tasks.items()}
        played = tasks["counted"] > 0
        resolved, counted, scored = tasks["resolved"][played], tasks["counted"][played], sums["scored"]
        rate, low, high = mean_outcome(tasks["share"][played], counted)
        is_priced = scored > 0 and sums["priced"] == scored
        cost: tuple[float | None, ...] = (None,) * 3
        if is_priced:
            cost = cost_interval(tasks["cost"][played], resolved)
        ended = (tasks["scored"] + tasks["errors"])[tasks["done"] > 0]
        failed = tasks["share"][tasks["done"] > 0] / ended
        passed = (tasks["share"] + tasks["errors"])[tasks["done"] > 0] / ended
        ranks = board.ranks.get(row, (None, None))
        whole = {name: int(sums[name]) for name in COUNTS}
        rows.append(
            {
                **whole,
                **{name: int(everywhere[name]) for name in ("errors", *CLASSES)},
                **dict(zip(("ci_low", "ci_high", "rank_low", "rank_high"), (low, high, *ranks), strict=True)),
                "entrant": entrant,
                "name": board.names[entrant],
                "reference": entrant in board.reference,
                "lead": leads.get(row),
                "rate": rate,
                "rate_errors_fail": float(failed.mean()) if len(ended) else None,
                "rate_errors_pass": float(passed.mean()) if len(ended) else None,
                "errors_p": balance.get(row),
                "all_attempts_rate": float((resolved == counted).mean()) if len(counted) else None,
                "tasks": len(counted),
                "tasks_total": done,
                "episodes": int(sums["resolved"] + sums["unresolved"] + everywhere["errors"]),
                "steps_mean": sums["steps"] / scored if scored else None,
                "wall_mean_s": sums["wall_s"] / scored if scored else None,
                "tokens_in": int(sums["tokens_in"]),
                "tokens_out": int(sums["tokens_out"]),
                "cost_usd": None if everywhere["unpriced"] else everywhere["spent"],
                "cost_per_episode": sums["cost"] / scored if is_priced else None,
                **{f"cost_per_resolved{end}": value for end, value in zip(("", "_low", "_high"), cost, strict=True)},
            }
        )
    return rows


def mean_leads(board: Board) -> dict[int, float]:
    """Return how far each ranked entrant is ahead, as a mean over the others, on the tasks that both played."""
    rows = board.ranked
    resolved, counted = (board.cells[name][rows][:, board.board_tasks] for name in ("share", "counted"))
    played = (counted > 0).astype(float)
    shared = played @ played.T
    sums = np.divide(resolved, counted, out=np.zeros(counted.shape), where=counted > 0) @ played.T
    rates = np.divide(sums, shared, out=np.zeros(shared.shape), where=shared > 0)
    meets = (shared > 0) & ~np.eye(len(rows), dtype=bool)
    ahead = ((rates - rates.T) * meets).sum(axis=1) / np.maximum(1, meets.sum(axis=1))
    return dict(zip(rows, ahead.tolist(), strict=True))


def error_balance(board: Board) -> dict[int, float]:
    """Test whether each entrant has as many errors as the others on the same tasks (exact, Mantel and Haenszel)."""
    errors = board.cells["errors"][board.rows].astype(int)
    episodes = (board.cells["scored"] + board.cells["errors"])[board.rows].astype(int)
    if not errors.any() or len(errors) < 2:
        return {}
    p_values = []
    for own, of in zip(errors, episodes, strict=True):
        observed, least, chances = 0, 0, np.ones(1)
        for a, n, total, size in zip(own, of, errors.sum(axis=0), episodes.sum(axis=0), strict=True):
            if 0 < total < size and 0 < n < size:
                low, high = max(0, n - (size - total)), min(total, n)
                observed, least = observed + a, least + low
                chances = np.convolve(chances, stats.hypergeom.pmf(np.arange(low, high + 1), size, total, n))
        place = observed - least
        p_values.append(min(1.0, 2 * max(1e-20, min(chances[: place + 1].sum(), chances[place:].sum()))))
    return dict(zip(board.rows, holm(p_values), strict=True))


def reliability(board: Board) -> Rows:
    """Return pass@k (Chen et al. 2021) and all-k (Yao et al. 2024) of each entrant."""
    rows: Rows = []
    for row, entrant in enumerate(board.entrants):
        resolved, counted = (board.cells[name][row][board.tasks_of(row)] for name in ("resolved", "counted"))
        c, n = resolved[counted > 0], counted[counted > 0]
        for k in range(1, int(min(MAX_ATTEMPTS, max(n, default=0))) + 1):
            tasks, tries, done = int((n >= k).sum()), n[n >= k], c[n >= k]
            if tasks < MIN_SHARED * len(n):
                break
            ways = special.comb(tries, k)
            passes = mean_share(1 - special.comb(tries - done, k) / ways, tries)
            holds = mean_share(special.comb(done, k) / ways, tries)
            cells = zip(
                ("pass_at_k", "pass_low", "pass_high", "all_k", "all_low", "all_high"), (*passes, *holds), strict=True
            )
            rows.append({"entrant": entrant, "k": k, "tasks": tasks, **dict(cells)})
    return rows


def abilities(board: Board) -> dict[str, Rows]:
    """Return the tables of the model: abilities, difficulties, rates by difficulty, and how well it predicts."""
    counted = board.cells["counted"]
    rows = [row for row in board.rows if counted[row].any()]
    columns = np.flatnonzero(counted[rows].any(axis=0)) if rows else np.array([], int)
    tables: dict[str, Rows] = {"abilities": [], "difficulties": [], "levels": [], "calibration": []}
    if not len(columns):
        return tables
    r, n = (board.cells[name][rows][:, columns] for name in ("share", "counted"))
    shares = np.divide(r, n, out=np.zeros(n.shape), where=n > 0)
    categories = board.facts["tasks"].set_index("task").category
    keys = [board.keys[column] for column in columns]
    fit = Fit(r, n, [categories[key] for key in keys])
    of_entrants, of_tasks, calibration = fit.estimates()
    names = ("ability", "ability_low", "ability_high", "rate", "ci_low", "ci_high", "infit", "outfit", "linked")
    for place, (row, cells) in enumerate(zip(rows, of_entrants, strict=True)):
        seen = {"observed": float(shares[place][n[place] > 0].mean()), "tasks": int((n[place] > 0).sum())}
        tables["abilities"].append({"entrant": board.entrants[row], **dict(zip(names, cells, strict=True)), **seen})
    for place, (key, cells) in enumerate(zip(keys, of_tasks, strict=True)):
        seen = {"entrants": int((n[:, place] > 0).sum())}
        tables["difficulties"].append(
            {"task": key, **dict(zip(("difficulty", "low", "high"), cells, strict=True)), **seen}
        )
    order = sorted(range(len(keys)), key=lambda place: round(float(of_tasks[place][0]), 9))
    for third, level in enumerate(LEVELS):
        part = order[third * len(order) // 3 : (third + 1) * len(order) // 3]
        for place, row in enumerate(rows):
            played = [index for index in part if n[place, index]]
            rate = float(shares[place][played].mean()) if played else None
            tables["levels"].append(
                {"level": level, "entrant": board.entrants[row], "tasks": len(played), "rate": rate}
            )
    for place, (predicted, observed, episodes) in enumerate(calibration):
        fifth = {"fifth": place + 1, "predicted": float(predicted), "observed": float(observed)}
        tables["calibration"].append({**fifth, "episodes": int(episodes)})
    return tables


def costs(board: Board) -> Rows:
    """Return what each entrant spent in each run, those that the board leaves out included."""
    sums = board.all.drop(columns="task").groupby(["run", "entrant"], sort=False).sum().reset_index()
    names = ("errors", "repeated", "unpriced", "tokens_in", "tokens_out")
    money = {"cost_usd": "spent", "errors_usd": "error_usd", "repeated_usd": "repeated_usd"}
    return [
        {
            "run": row["run"],
            "entrant": row["entrant"],
            "episodes": int(row["done"]),
            **{name: int(row[name]) for name in names},
            **{name: float(row[column]) for name, column in money.items()},
        }
        for row in sums.to_dict("records")
    ]


def left_out(board: Board) -> Rows:
    """Return what the board's rates leave out, and why: runs, tasks, entrants, errors, tries, episodes in progress."""
    runs, pooled, everything = board.facts["runs"], board.pooled, board.all
    excluded = "excluded" if board.without_disputed else "disputed, still counted"
    rows = [
        _omitted("run", run, why, everything[everything.run == run])
        for run, why in zip(runs.run, runs.why, strict=True)
        if why
    ]
    rows += [_omitted("invalid task", task, "validation failed", pooled[pooled.task == task]) for task in board.invalid]
    rows += [_omitted("disputed task", task, excluded, pooled[pooled.task == task]) for task in board.disputed]
    for column in np.flatnonzero(~board.board_tasks) if board.ranked else ():
        task = board.keys[column]
        why = "fewer than half of the ranked entrants played it"
        rows.append(_omitted("task without ranks", task, why, pooled[pooled.task == task]))
    for row in board.rows:
        entrant, of_board = board.entrants[row], pooled[pooled.entrant == board.entrants[row]]
        if row not in board.ranked:
            shared = int((board.cells["counted"][row][board.board_tasks] > 0).sum())
            ranked_on = int(board.board_tasks.sum())
            why = f"played few of the tasks that the others are ranked on ({shared} of {ranked_on})"
            rows.append(_omitted("entrant without a rank", entrant, why, of_board))
    for entrant in board.entrants:
        of_board = pooled[(pooled.entrant == entrant) & pooled.task.isin(board.valid)]
        for what, name, why in (
            ("errors", "errors", "infrastructure failed"),
            ("repeated tries", "repeated", "tried again"),
        ):
            if of_board[name].any():
                rows.append(_omitted(f"{what} of an entrant", entrant, why, of_board[of_board[name] > 0]))
    opened = board.facts["episodes"]
    opened = opened[opened.counted & (opened.verdict == "") & opened.run.isin(runs.run[runs.pooled == "true"])]
    for (run, status), part in opened.groupby(["run", "status"], sort=False):
        rows.append(
            _omitted(f"episodes that are {status}", run, "no verdict", everything[:0]) | {"episodes": len(part)}
        )
    return rows


def _omitted(what: str, number: Any, why: str, episodes: Any) -> dict[str, Any]:
    sums = {name: int(episodes[name].sum()) for name in ("resolved", "unresolved", "errors")}
    return {
        "what": what,
        "number": number,
        "why": why,
        "episodes": len(episodes),
        **sums,
        "cost_usd": float(episodes.spent.sum()),
    }


def scope(board: Board) -> Rows:
    """Return how much the board is about."""
    counted = board.cells["counted"]
    competing = board.rows or list(range(len(board.entrants)))
    invalid = board.pooled[board.pooled.task.isin(board.invalid)]
    values = {
        "runs": int((board.facts["runs"].pooled == "true").sum()),
        "entrants": len(competing),
        "tasks": len(board.valid),
        "common_tasks": int((counted[competing] > 0).all(axis=0).sum()) if competing else 0,
        "errors": int(board.cells["errors"].sum()),
        "invalid_tasks": int(invalid.task[invalid.done + invalid.repeated > 0].nunique()),
        "invalid_episodes": int(invalid.done.sum()),
        "invalid_usd": shown(float(invalid.spent.sum()), 6),
        "disputed_tasks": int(board.disputed.isin(set(board.pooled.task)).sum()),
    }
    return [{"quantity": name, "value": value} for name, value in values.items()]
