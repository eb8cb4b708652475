"""`stackrank report`: a run as one HTML file that opens without a server. The numbers are those of every other view."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from itertools import combinations
from pathlib import Path
from typing import Any

import yaml
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from sqlalchemy import Engine

from db import queries
from db.engine import connect
from flows.output import percent, print_json, say

Row = dict[str, Any]
Column = tuple[str, Callable[[Row], str], str]
"""Heading, text of a row, and `n` for numbers."""
_TEMPLATES = Path(__file__).parents[1]
_MOST_PAIRS_OF = 8
"""So many entrants are compared pair by pair; of more, only the best."""
_COLORS = {
    "resolved": "green",
    "never_reproduced": "blue",
    "never_localized": "sky",
    "localized_not_edited": "sky",
    "wrong_location": "orange",
    "wrong_fix": "red",
    "regression": "red",
    "broke_syntax": "red",
    "looped": "pink",
    "malformed_actions": "pink",
    "out_of_budget": "pink",
}


def report(run: str, out: Path, as_json: bool) -> None:
    """Write the report of a run to a file."""
    text, run_id = render(connect(), run)
    out.write_text(text, encoding="utf-8")
    if as_json:
        print_json({"run": run_id, "file": str(out.absolute()), "bytes": len(text.encode())})
    else:
        say(f"run {run_id}: {out}")


def render(engine: Engine, ref: int | str) -> tuple[str, int]:
    """The report of a run, and the run's id. Raises `NotFound`."""
    run = queries.run(engine, ref)
    run_id = run["id"]
    board = queries.leaderboard(engine, run=run_id)
    best = [row["entrant_id"] for row in board if row["rate"] is not None][:_MOST_PAIRS_OF]
    # The better one of a pair is told against the other.
    pairs = queries.compare_all(engine, best[::-1], run=run_id) if len(best) > 1 else []
    assert len(pairs) == len(list(combinations(best, 2)))
    about = [f"run {run_id}", f"benchmark {run['benchmark']} ({run['benchmark_digest'][:12]})", run["status"]]
    about += [f"{name} {run[name]}" for name in ("owner", "project", "host", "leaderboard", "schedule") if run[name]]
    about += [f"started {run['started_at'][:16]} UTC"] if run["started_at"] else []
    about += [f"{run['wall_s']:.0f} s"] if run["wall_s"] is not None else []
    environment = Environment(
        loader=FileSystemLoader(_TEMPLATES), autoescape=True, undefined=StrictUndefined, trim_blocks=True
    )
    text = environment.get_template("report.html.j2").render(
        run={**run, "regressions": [{"sentence": "", "what": "", **one} for one in run["regressions"]]},
        about=about,
        board=board,
        pairs=pairs,
        tool_sets=queries.tool_sets(engine, run=run_id),
        changes=queries.changes(engine, run_id),
        failures=[_parts(row) for row in queries.failure_points(engine, run=run_id)],
        funnel=queries.funnel(engine, run=run_id),
        tools=queries.tool_use(engine, run=run_id),
        tasks=queries.task_rates(engine, run=run_id),
        aside=queries.set_aside(engine, run=run_id),
        notes=queries.notes(engine, run_id=run_id),
        spec=yaml.safe_dump(run["spec"], sort_keys=False, allow_unicode=True),
        columns=_COLUMNS,
        written=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
    )
    return text, run_id


def _parts(row: Row) -> Row:
    """The row with the pieces of its bar, from left to right."""
    total = max(1, row["resolved"] + row["unresolved"])
    known = list(_COLORS)
    names = sorted(row["failure_points"], key=lambda name: (known.index(name) if name in known else 99, name))
    parts, start = [], 0.0
    for name, count in [("resolved", row["resolved"]), *((name, row["failure_points"][name]) for name in names)]:
        words, share = name.replace("_", " "), count / total
        short = words if share > len(words) / 100 else ""
        color = _COLORS.get(name, "gray")
        parts.append({"name": words, "short": short, "count": count, "start": start, "share": share, "color": color})
        start += share
    return {**row, "parts": parts}


def _text(key: str) -> Callable[[Row], str]:
    return lambda row: "-" if row[key] is None else str(row[key])


def _share(key: str) -> Callable[[Row], str]:
    return lambda row: percent(row[key])


def _points(row: Row) -> str:
    return "-" if row["difference"] is None else f"{100 * row['difference']:+.1f}"


def _point_interval(row: Row) -> str:
    return "-" if row["ci_low"] is None else f"{100 * row['ci_low']:+.1f} to {100 * row['ci_high']:+.1f}"


def _uplift(row: Row) -> str:
    if row["uplift"] is None:
        return "-"
    most = "no upper end" if row["uplift_high"] is None else f"{100 * row['uplift_high']:+.0f}%"
    return f"{100 * row['uplift']:+.0f}% ({100 * row['uplift_low']:+.0f}% to {most})"


def _p(key: str) -> Callable[[Row], str]:
    return lambda row: "-" if row[key] is None else f"{row[key]:.2g}"


def _cost(key: str) -> Callable[[Row], str]:
    return lambda row: "-" if row[key] is None else f"${row[key]:.4g}"


def _mean(key: str) -> Callable[[Row], str]:
    return lambda row: "-" if row[key] is None else f"{row[key]:.1f}"


def _rank(row: Row) -> str:
    low, high = row["rank_low"], row["rank_high"]
    return "-" if low is None else str(low) if low == high else f"{low}-{high}"


def _counts(keys: Sequence[str]) -> list[Column]:
    return [(key.replace("_", " "), _text(key), "n") for key in keys]


_PAIRED: list[Column] = [
    ("points", _points, "n"),
    ("95% interval", _point_interval, ""),
    ("relative", _uplift, ""),
]
_COLUMNS: dict[str, list[Column]] = {
    "board": [
        ("rank", _rank, ""),
        ("entrant", _text("entrant"), ""),
        ("rate", _share("rate"), "n"),
        ("95% interval", lambda row: f"{percent(row['ci_low'])} to {percent(row['ci_high'])}", ""),
        ("every attempt", _share("all_attempts_rate"), "n"),
        ("tasks", lambda row: f"{row['tasks']}/{row['tasks_total']}", "n"),
        *_counts(["resolved", "unresolved", "errors"]),
        ("steps", _mean("steps_mean"), "n"),
        ("cost", _cost("cost_usd"), "n"),
        ("cost per resolved", _cost("cost_per_resolved"), "n"),
    ],
    "pairs": [
        ("entrant", lambda row: row["second"]["entrant"], ""),
        ("against", lambda row: row["first"]["entrant"], ""),
        *_PAIRED,
        ("p (Holm)", _p("p_holm"), "n"),
        ("tasks", _text("tasks"), "n"),
    ],
    "tool_sets": [
        ("agent and model", lambda row: f"{row['second']['agent']} {row['second']['model']}", ""),
        ("without", lambda row: row["first"]["tools"], ""),
        ("with", lambda row: row["second"]["tools"], ""),
        *_PAIRED,
        ("p (Holm)", _p("p_holm"), "n"),
        ("gained", lambda row: ", ".join(row["only_second"]), ""),
        ("lost", lambda row: ", ".join(row["only_first"]), ""),
    ],
    "changes": [
        ("entrant", _text("entrant"), ""),
        ("before", _share("rate_before"), "n"),
        ("now", _share("rate"), "n"),
        *_PAIRED,
        ("p (Holm)", _p("p_value"), "n"),
        ("tasks", _text("tasks"), "n"),
    ],
    "failures": [
        ("entrant", _text("entrant"), ""),
        *_counts(["resolved", "unresolved", "errors"]),
        ("failure points", lambda row: ", ".join(f"{p['name']} {p['count']}" for p in row["parts"][1:]), ""),
    ],
    "funnel": [
        ("entrant", _text("entrant"), ""),
        *_counts(["counted", "reproduced", "localized", "inspected", "edited", "improved", "resolved"]),
    ],
    "tools": [
        ("entrant", _text("entrant"), ""),
        ("tool", _text("tool"), ""),
        *_counts(["episodes", "calls", "searching", "diagnosing", "repairing"]),
        ("error rate", _share("error_rate"), "n"),
        ("cost", _cost("cost_usd"), "n"),
    ],
    "tasks": [
        ("task", _text("task"), ""),
        ("category", _text("category"), ""),
        ("rate", _share("rate"), "n"),
        *_counts(["resolved", "unresolved", "errors", "flaky"]),
        ("suspected defect", _text("suspect"), ""),
    ],
    "aside": [("reason", _text("reason"), ""), ("what", _text("what"), ""), *_counts(["episodes", "example"])],
    "notes": [
        ("author", _text("author"), ""),
        ("when", lambda row: row["created_at"][:16], ""),
        ("episode", _text("episode_id"), "n"),
        ("step", _text("step_index"), "n"),
        ("note", _text("body"), ""),
    ],
}
