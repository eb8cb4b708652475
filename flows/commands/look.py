"""Commands that read the database: runs, episodes, trace, leaderboard, compare."""

from __future__ import annotations

from typing import Any

from db import queries
from db.engine import connect
from flows.output import LEADERBOARD_COLUMNS, leaderboard_rows, moment, print_json, print_table

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
    """List the episodes of a run."""
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
        arguments = ", ".join(f"{key}={value!r}" for key, value in step["arguments"].items())
        print(f"\n--- step {step['index']}: {step['tool'] or 'reset'}({arguments})  [{step['env_ms']:.0f} ms]")
        if step["thought"]:
            print(f"thought: {step['thought']}")
        print(step["observation"])
    if row["error"]:
        print(f"\nerror: {row['error']}")
    for heading, tests in (("does not pass", row["score"].get("unfixed")), ("broken", row["score"].get("regressions"))):
        for test in tests or ():
            print(f"\n{heading}: {test}", end="")
    for note in row["score"].get("notes", ()):
        print(f"\nscorer: {note}", end="")
    print()
    if row["diff"]:
        print(f"\n--- the work\n{row['diff']}")


def leaderboard(run: str | None, benchmark: str | None, board: str | None, tags: list[str], as_json: bool) -> None:
    """Rank entrants."""
    rows = queries.leaderboard(connect(), run=run, benchmark=benchmark, leaderboard=board, tags=tags)
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
