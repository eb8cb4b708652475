"""The tables of a card: which columns they have, how numbers are shown, and reading the facts."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

FACTS = {
    "rules": "rule value",
    "runs": "run name status pooled why version conditions episodes_total",
    "tasks": "task name digest version category valid",
    "entrants": "entrant name reference",
    "labels": "task episode label disputes",
    "episodes": "episode run entrant task attempt try counted status verdict sealed unverified mended "
    "faults_total steps tokens_in tokens_out cost_usd wall_s error_class",
}
"""The tables of facts, with the columns that are needed here."""
RULES = {"benchmark", "version", "errors", "without_disputed", "draws", "seed"}
CLASSES = ("machine", "endpoint", "environment", "ours")
COSTS = "cost_usd.6 cost_per_episode.6 cost_per_resolved.6 cost_per_resolved_low.6 cost_per_resolved_high.6"
PUBLISHED = {
    "board": "entrant| name reference rank_low rank_high lead.6 rate.6 ci_low.6 ci_high.6 rate_errors_fail.6 "
    "rate_errors_pass.6 errors_p.6 all_attempts_rate.6 tasks tasks_total episodes resolved sealed unverified "
    "faults_mended faults "
    f"unresolved errors {' '.join(CLASSES)} steps_mean.6 wall_mean_s.6 tokens_in tokens_out {COSTS}",
    "pairs": "first second| tasks difference.6 ci_low.6 ci_high.6 p_value.6 p_holm.6 test only_first only_second",
    "reliability": "entrant k| tasks pass_at_k.6 pass_low.6 pass_high.6 all_k.6 all_low.6 all_high.6",
    "abilities": "entrant| ability.4 ability_low.4 ability_high.4 rate.4 ci_low.4 ci_high.4 observed.6 tasks infit.4 "
    "outfit.4 linked",
    "difficulties": "task| difficulty.4 low.4 high.4 entrants",
    "levels": "level entrant| tasks rate.6",
    "calibration": "fifth| predicted.4 observed.6 episodes",
    "costs": "run entrant| episodes errors repeated unpriced tokens_in tokens_out cost_usd.6 errors_usd.6 "
    "repeated_usd.6",
    "left_out": "what number| why episodes resolved unresolved errors cost_usd.6",
    "scope": "quantity| value",
}
"""The published tables: columns that identify a row, `|`, and the others, each with the decimals that it shows."""


def shown(value: Any, decimals: int | None = None) -> str:
    """Return a value as the tables show it. Numbers keep 12 digits, so that no rounding error decides a half."""
    if value is None or (isinstance(value, float) and not math.isfinite(value)):
        return ""
    if decimals is None:
        return str(value).lower() if isinstance(value, bool | np.bool_) else str(value)
    number = Decimal(f"{value:.12g}").quantize(Decimal(1).scaleb(-decimals), ROUND_HALF_UP)
    return f"{number if number else abs(number):f}"


def shown_rows(table: str, rows: Iterable[Mapping[str, Any]]) -> dict[tuple[str, ...], dict[str, str]]:
    """Return rows as a published table shows them: the cells that identify a row -> column -> cell."""
    keys, _, others = PUBLISHED[table].partition("|")
    columns = {name: int(digits) if digits else None for name, _, digits in (c.partition(".") for c in others.split())}
    return {
        tuple(shown(row[key]) for key in keys.split()): {name: shown(row[name], d) for name, d in columns.items()}
        for row in rows
    }


def read(folder: Path, table: str) -> pd.DataFrame:
    """Read a table as texts. Raises ValueError if it is missing, or lacks a column."""
    try:
        frame = pd.read_csv(folder / f"{table}.csv", dtype=str, keep_default_na=False, encoding="utf-8")
    except (OSError, ValueError) as error:
        raise ValueError(f"{table}.csv cannot be read: {error}") from error
    columns = FACTS[table] if table in FACTS else " ".join(c.partition(".")[0] for c in heads(table))
    if absent := set(columns.split()).difference(frame.columns):
        raise ValueError(f"{table}.csv has no column {sorted(absent)[0]}")
    return frame


def heads(table: str) -> list[str]:
    """Return the columns of a published table, with their decimals."""
    return PUBLISHED[table].replace("|", " ").split()


def number(cell: str, column: str) -> float:
    """Return a cell of episodes.csv as a number; NaN if it is empty. Raises ValueError."""
    try:
        return float(cell) if cell else math.nan
    except ValueError as error:
        raise ValueError(f"episodes.csv says {cell!r} for {column}: it is not a number") from error


def read_facts(folder: Path) -> dict[str, pd.DataFrame]:
    """Read the tables of facts, with numbers as numbers. Raises ValueError if they contradict each other."""
    facts = {table: read(folder, table) for table in FACTS}
    episodes = facts["episodes"]
    if absent := RULES - set(facts["rules"].rule):
        raise ValueError(f"rules.csv has no rule {sorted(absent)[0]}")
    for name in ("sealed", "mended", "faults_total", "steps", "tokens_in", "tokens_out", "cost_usd", "wall_s"):
        episodes[name] = [number(cell, name) for cell in episodes[name]]
    for name in ("counted", "unverified"):
        if odd := set(episodes[name]) - {"true", "false"}:
            raise ValueError(f"episodes.csv says {odd.pop()!r} for {name}: only true and false have a meaning")
        episodes[name] = episodes[name] == "true"
    for name in ("episode", "run", "task", "entrant"):
        table = facts[f"{name}s"]
        if table[name].duplicated().any():
            raise ValueError(f"{name}s.csv has {name} {table[name][table[name].duplicated()].iloc[0]} twice")
        if name != "episode" and (unknown := set(episodes[name]) - set(table[name])):
            raise ValueError(f"episodes.csv names {name} {unknown.pop()}, which {name}s.csv does not have")
    of_verdict = ["run", "task", "entrant", "attempt"]
    if episodes[episodes.counted].duplicated(of_verdict).any():
        raise ValueError("episodes.csv counts an attempt twice")
    pooled = facts["runs"][facts["runs"].pooled == "true"]
    if len(pooled[["version", "conditions"]].drop_duplicates()) > 1:
        raise ValueError("runs.csv pools runs of different versions or under different conditions")
    return facts


def add_columns(episodes: pd.DataFrame, as_failures: bool) -> pd.DataFrame:
    """Return what each episode adds to the sums of its entrant and task; repeated tries add only what they cost."""
    e, no_error, no_price = episodes, episodes.verdict != "error", episodes.cost_usd.isna()
    scored, error = e.counted & e.verdict.isin(["resolved", "unresolved"]), e.counted & (e.verdict == "error")
    spends = ~e.counted | scored | error
    sums = e[["run", "entrant", "task"]].assign(
        resolved=scored & (e.verdict == "resolved"),
        share=(e.mended / e.faults_total).where(e.verdict != "resolved", 1.0).where(scored, 0.0),
        faults_mended=e.mended.where(scored, 0.0),
        faults=e.faults_total.where(scored, 0.0),
        sealed=scored & (e.verdict == "resolved") & (e.sealed > 0),
        unverified=scored & e.unverified,
        unresolved=scored & (e.verdict == "unresolved"),
        scored=scored,
        errors=error,
        done=scored | error,
        counted=scored | (error & as_failures),
        **{name: e[name].where(scored, 0.0) for name in ("steps", "tokens_in", "tokens_out", "wall_s")},
        cost=e.cost_usd.where(scored, 0.0).fillna(0.0),
        priced=scored & ~no_price,
        spent=e.cost_usd.where(spends, 0.0).fillna(0.0),
        error_usd=e.cost_usd.where(error, 0.0).fillna(0.0),
        repeated_usd=e.cost_usd.where(~e.counted, 0.0).fillna(0.0),
        unpriced=spends & no_price & (no_error | (e.tokens_in + e.tokens_out > 0)),
        repeated=~e.counted,
        **{name: error & (e.error_class == name) for name in CLASSES},
    )
    return sums.astype(dict.fromkeys(sums.columns[3:], float))[spends.to_numpy()]
