"""A run as one HTML file that opens without a server. Its numbers are the same as in every other view."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import yaml
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from sqlalchemy import Engine

from stackrank import wording
from stackrank.db import queries
from stackrank.db.queries import Scope
from stackrank.terms import STAGES, FailurePoint, Verdict

Row = Mapping[str, Any]
Column = tuple[str, Callable[[Row], str], str]
"""Heading, function that returns a row's text, and `n` for numbers."""
_MOST_PAIRS_OF = 8
"""Most entrants that are compared pair by pair: the best ones."""
_COLORS: dict[str, str] = {
    Verdict.RESOLVED: "green",
    FailurePoint.NEVER_REPRODUCED: "blue",
    FailurePoint.NEVER_LOCALIZED: "sky",
    FailurePoint.LOCALIZED_NOT_EDITED: "sky",
    FailurePoint.WRONG_LOCATION: "orange",
    FailurePoint.WRONG_FIX: "red",
    FailurePoint.REGRESSION: "red",
    FailurePoint.BROKE_SYNTAX: "red",
    FailurePoint.LOOPED: "pink",
    FailurePoint.MALFORMED_ACTIONS: "pink",
    FailurePoint.OUT_OF_BUDGET: "pink",
    FailurePoint.BROKE_SANDBOX: "gray",
    FailurePoint.TAMPERED: "gray",
}


def render(engine: Engine, ref: int | str) -> tuple[str, int]:
    """Return the report of a run, and the run's id. Raises `NotFound`."""
    run = queries.run(engine, ref)
    run_id = run["id"]
    full_board = queries.board(engine, Scope(run=run_id))
    board = [*full_board["entrants"], *full_board["reference"]]
    best = [row["entrant_id"] for row in full_board["entrants"] if row["rate"] is not None][:_MOST_PAIRS_OF]
    # The better entrant of a pair comes first in the table.
    pairs = queries.compare_all(engine, best[::-1], Scope(run=run_id)) if len(best) > 1 else []
    facts = [f"run {run_id}", f"benchmark {run['benchmark']} ({run['benchmark_digest'][:12]})", run["status"]]
    facts += [f"{name} {run[name]}" for name in ("owner", "project", "host", "leaderboard", "schedule") if run[name]]
    facts += [f"started {run['started_at'][:16]} UTC"] if run["started_at"] else []
    facts += [wording.duration(run["wall_s"])] if run["wall_s"] is not None else []
    loader = FileSystemLoader(Path(__file__).parent)
    environment = Environment(
        loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, finalize=_shown
    )
    text = environment.get_template("report.html.j2").render(
        run={**run, "regressions": [{"sentence": "", "what": "", **regression} for regression in run["regressions"]]},
        about=facts,
        board=board,
        scope=full_board["scope"],
        pairs=pairs,
        stop=queries.stopping(engine, run_id),
        tool_sets=queries.tool_sets(engine, Scope(run=run_id)),
        changes=queries.changes(engine, run_id),
        failures=[_parts(row) for row in queries.failure_points(engine, Scope(run=run_id))],
        funnel=queries.funnel(engine, Scope(run=run_id)),
        tools=queries.tool_use(engine, Scope(run=run_id)),
        tasks=queries.task_rates(engine, Scope(run=run_id)),
        aside=queries.excluded_episodes(engine, Scope(run=run_id)),
        notes=queries.notes(engine, run_id=run_id),
        spec=yaml.safe_dump(run["spec"], sort_keys=False, allow_unicode=True),
        columns=_COLUMNS,
        written=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
    )
    return text, run_id


def _shown(value: Any) -> Any:
    """Make text by others harmless; text that the template itself produced stays unchanged."""
    return wording.visible(value) if type(value) is str else value


def _parts(row: Row) -> Row:
    """Return the row with the parts of its bar, from left to right."""
    order = list(_COLORS)
    names = sorted(row["failure_points"], key=lambda name: (order.index(name) if name in order else 99, name))
    parts, start = [], 0.0
    for name, count in [("resolved", row["resolved"]), *((name, row["failure_points"][name]) for name in names)]:
        label, share = wording.words(name), row["shares"].get(name, 0.0)
        short = label if share > len(label) / 100 else ""
        color = _COLORS.get(name, "gray")
        parts.append({"name": label, "short": short, "count": count, "start": start, "share": share, "color": color})
        start += share
    return {**row, "parts": parts}


def _text(key: str, worded: Callable[[Any], str] = str) -> Callable[[Row], str]:
    return lambda row: wording.NOTHING if row[key] is None else worded(row[key])


def _number(heading: str, key: str, worded: Callable[[Any], str]) -> Column:
    return heading, _text(key, worded), "n"


def _counts(keys: Sequence[str]) -> list[Column]:
    return [(wording.words(key), _text(key), "n") for key in keys]


_PAIRED: list[Column] = [
    ("points", lambda row: wording.points(row["difference"]), "n"),
    ("95% interval", lambda row: wording.point_interval(row["holm_low"], row["holm_high"]), ""),
    ("relative", lambda row: wording.uplift(row["uplift"], row["uplift_low"], row["uplift_high"]), ""),
]
_COLUMNS: dict[str, list[Column]] = {
    "board": [
        ("rank", wording.rank, ""),
        ("entrant", _text("entrant"), ""),
        ("rate", wording.resolved_rate, "n"),
        ("95% interval", lambda row: wording.interval(row["ci_low"], row["ci_high"]), ""),
        ("sealed", lambda row: wording.part_of(row["sealed"], row["resolved"]), "n"),
        _number("every attempt", "all_attempts_rate", wording.percent),
        ("tasks", lambda row: wording.part_of(row["tasks"], row["tasks_total"]), "n"),
        *_counts(["resolved", "unresolved", "errors"]),
        _number("steps", "steps_mean", wording.mean),
        _number("cost of an episode", "cost_per_episode", wording.usd),
        _number("spent", "cost_usd", wording.total_usd),
        _number("cost per resolved", "cost_per_resolved", wording.usd),
    ],
    "pairs": [
        ("entrant", lambda row: row["second"]["entrant"], ""),
        ("against", lambda row: row["first"]["entrant"], ""),
        *_PAIRED,
        _number("p (Holm)", "p_holm", wording.p_value),
        ("tasks", _text("tasks"), "n"),
    ],
    "tool_sets": [
        ("agent and model", lambda row: f"{row['second']['agent']} {row['second']['model']}", ""),
        ("without", lambda row: row["first"]["tools"], ""),
        ("with", lambda row: row["second"]["tools"], ""),
        *_PAIRED,
        _number("p (Holm)", "p_holm", wording.p_value),
        ("gained", lambda row: ", ".join(row["only_second"]), ""),
        ("lost", lambda row: ", ".join(row["only_first"]), ""),
    ],
    "changes": [
        ("entrant", _text("entrant"), ""),
        _number("before", "rate_before", wording.percent),
        _number("now", "rate", wording.percent),
        *_PAIRED[:2],
        _number("p (Holm)", "p_value", wording.p_value),
        ("clear", lambda row: "yes" if row["sure"] else "no", ""),
        *_counts(["tasks", "runs", "baseline"]),
    ],
    "failures": [
        ("entrant", _text("entrant"), ""),
        *_counts(["resolved", "unresolved", "errors"]),
        ("failure points", lambda row: ", ".join(f"{p['name']} {p['count']}" for p in row["parts"][1:]), ""),
    ],
    "funnel": [
        ("entrant", _text("entrant"), ""),
        *_counts(["counted", *STAGES]),
    ],
    "tools": [
        ("entrant", _text("entrant"), ""),
        ("tool", _text("tool"), ""),
        *_counts(["episodes", "calls", "searching", "diagnosing", "repairing"]),
        _number("error rate", "error_rate", wording.percent),
        _number("cost", "cost_usd", wording.usd),
    ],
    "tasks": [
        ("task", _text("task"), ""),
        ("category", _text("category"), ""),
        _number("rate", "rate", wording.percent),
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
