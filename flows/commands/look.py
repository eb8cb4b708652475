"""Commands that read the database: runs, episodes, trace, leaderboard, compare."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from db import queries
from db.engine import connect
from db.models import Verdict
from flows.output import LEADERBOARD_COLUMNS, leaderboard_rows, moment, percent, print_json, print_table, printable
from flows.spec import SpecError

MOST_LINES = 40
"""Lines of one argument of an action that are printed."""
NOTHING_YET = "There is no run yet: `stackrank run --benchmark bugs --agent repair` makes one."


def runs(filters: dict[str, Any], limit: int, as_json: bool) -> None:
    """List runs, newest first."""
    rows = queries.runs(connect(), **filters, limit=limit)
    if as_json:
        print_json(rows)
        return
    columns = {
        "id": "run", "name": "name", "benchmark": "benchmark", "status": "status", "done": "episodes",
        "resolved": "resolved", "unresolved": "unresolved", "errors": "errors", "wall_s": "seconds", "owner": "owner",
        "started_at": "started",
    }  # fmt: skip
    empty = "No run matches." if any(filters.values()) else NOTHING_YET
    print_table([{**row, "started_at": moment(row["started_at"])} for row in rows], columns, empty)


def episodes(run: str, filters: dict[str, Any], limit: int, after: int | None, as_json: bool) -> None:
    """List the episodes of a run. Raises SpecError."""
    check_verdicts(filters["verdict"])
    rows = queries.episodes(connect(), run, **filters, limit=limit, after=after)
    if as_json:
        print_json(rows)
        return
    columns = {
        "id": "episode", "task": "task", "entrant": "entrant", "attempt": "attempt", "verdict": "verdict",
        "stop_reason": "stop reason", "failure_point": "failure point", "steps": "steps", "wall_s": "seconds",
        "cost_usd": "cost $",
    }  # fmt: skip
    print_table(rows, columns, "No episode matches.")


def check_verdicts(chosen: Iterable[str] | None) -> None:
    """Raises SpecError for one that there is not: nothing would be found, and nobody would wonder."""
    if unknown := sorted(set(chosen or ()) - set(Verdict)):
        raise SpecError(f"--verdict {unknown[0]} is none: choose of {', '.join(Verdict)}")


def trace(episode: str, as_json: bool, first: int, limit: int | None) -> None:
    """One episode, step by step."""
    engine = connect()
    row = queries.episode(engine, episode)
    steps = queries.steps(engine, row["id"], first=first, limit=limit)
    if as_json:
        print_json({**row, "steps": steps})
        return
    print(f"Episode {row['id']}: {row['task']} by {row['entrant']}, attempt {row['attempt']}")
    print(", ".join(filter(None, (row["verdict"] or row["status"], row["stop_reason"], row["failure_point"]))))
    for step in steps:
        _print_step(step)
    if row["error"]:
        print(printable(f"\nerror: {row['error']}"))
    for heading, tests in (("does not pass", row["score"].get("unfixed")), ("broken", row["score"].get("regressions"))):
        for test in tests or ():
            print(f"\n{heading}: {test}", end="")
    for note in row["score"].get("notes", ()):
        print(f"\nscorer: {note}", end="")
    print()
    if row["diff"]:
        print(printable(f"\n--- the work\n{row['diff']}"))


def _print_step(step: dict[str, Any]) -> None:
    """A step: short arguments in the call, texts of several lines below it."""
    arguments = {name: value for name, value in step["arguments"].items() if value is not None}
    texts = {name: value for name, value in arguments.items() if isinstance(value, str)}
    blocks = {name: text for name, text in texts.items() if "\n" in text or len(text) > 100}
    called = ", ".join(f"{name}={value!r}" for name, value in arguments.items() if name not in blocks)
    reached = f"  {', '.join(step['milestones'])}" if step["milestones"] else ""
    head = f"--- step {step['index']}: {step['tool'] or 'reset'}({called})  [{step['env_ms']:.0f} ms]{reached}"
    print(printable(f"\n{head}"))
    for name, value in blocks.items():
        lines = value.rstrip("\n").split("\n")
        print(printable(f"{name}:"))
        print(printable("\n".join(f"  | {line}" for line in lines[:MOST_LINES])))
        if len(lines) > MOST_LINES:
            print(f"  [{len(lines) - MOST_LINES} more lines: --json has them]")
    if step["thought"]:
        print(printable(f"thought: {step['thought']}"))
    print(printable(step["observation"]))


def reliability(options: dict[str, Any], as_json: bool) -> None:
    """How often one of k attempts resolves a task, and how often every one does."""
    rows = queries.reliability(connect(), **options)
    if as_json:
        print_json(rows)
        return
    shown = [
        {**row, "pass": _with_interval(row, "pass_at_k", "pass"), "all": _with_interval(row, "all_k", "all")}
        for row in rows
    ]
    columns = {"entrant": "entrant", "k": "k", "pass": "pass@k", "all": "all k", "tasks": "tasks"}
    print_table(shown, columns, NOTHING_YET)


def _with_interval(row: dict[str, Any], value: str, ends: str) -> str:
    return f"{percent(row[value])} [{percent(row[f'{ends}_low'])}, {percent(row[f'{ends}_high'])}]"


def leaderboard(options: dict[str, Any], as_json: bool) -> None:
    """Rank entrants."""
    rows = queries.leaderboard(connect(), **options)
    if as_json:
        print_json(rows)
        return
    print_table(leaderboard_rows(rows), LEADERBOARD_COLUMNS, NOTHING_YET)


def compare(one: str, other: str, run: str | None, benchmark: str | None, as_json: bool) -> None:
    """Compare two entrants, paired by task."""
    document = queries.compare(connect(), one, other, run=run, benchmark=benchmark)
    if as_json:
        print_json(document)
    else:
        print(document["sentence"])
