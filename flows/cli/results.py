"""Commands about results in the database: runs, episodes, trace, label, export, report."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from stackrank.db.search import HELP
from stackrank.errors import UsageError
from stackrank.flows.cli.options import (
    Conditions,
    Episode,
    FinishedOnly,
    Json,
    OnlyBenchmark,
    OnlyRun,
    OnlyTags,
    Run,
    Series,
    Verdicts,
    WithoutDisputed,
    check_terms,
    scope_of,
)
from stackrank.flows.cli.output import ExportCommand, print_json, print_scope, print_table
from stackrank.patches.writing import shown_text
from stackrank.terms import FailurePoint, Label, RunStatus, Verdict
from stackrank.wording import (
    count_of,
    errors,
    fault_lines,
    mended,
    moment,
    one_of,
    print_err,
    print_out,
    seal,
    suspicious_lines,
    unverified,
    words,
)

app = typer.Typer()
MOST_LINES = 40
"""The most lines printed of one argument of an action."""
Entrants = Annotated[list[str] | None, typer.Option("--entrant", help="Only episodes of this entrant.")]
Tasks = Annotated[list[str] | None, typer.Option("--task", help="Only episodes of this task.")]
FailurePoints = Annotated[
    list[str] | None,
    typer.Option("--failure-point", help=f"Only episodes with this failure point: {one_of(FailurePoint)}."),
]
Tools = Annotated[list[str] | None, typer.Option("--tool", help="Only episodes that used this tool.")]


@app.command()
def runs(
    owner: Annotated[str | None, typer.Option(help="Only runs of this owner.")] = None,
    project: Annotated[str | None, typer.Option(help="Only runs of this project.")] = None,
    leaderboard: Annotated[str | None, typer.Option(help="Only runs of this leaderboard.")] = None,
    tag: Annotated[list[str] | None, typer.Option(help="Only runs with this tag. Repeat: with all of them.")] = None,
    limit: Annotated[int, typer.Option(min=1, help="Most rows to list.")] = 50,
    as_json: Json = False,
) -> None:
    """List runs, newest first."""
    from stackrank.db import queries
    from stackrank.db.connection.engine import connect
    from stackrank.db.connection.errors import NO_RUN

    filters: dict[str, Any] = {"owner": owner, "project": project, "leaderboard": leaderboard, "tags": tag or []}
    rows = queries.runs(connect(), **filters, limit=limit)
    if as_json:
        print_json(rows)
        return
    columns = {
        "id": "run", "name": "name", "benchmark": "benchmark", "status": "status", "done": "episodes",
        "resolved": "resolved", "unresolved": "unresolved", "errors": "errors", "wall_s": "seconds", "owner": "owner",
        "started_at": "started",
    }  # fmt: skip
    empty = "No run matches." if any(filters.values()) else NO_RUN
    cells = [
        {
            **row,
            "resolved": f"{row['resolved']} ({unverified(row)})" if row["unverified"] else row["resolved"],
            "status": f"{row['status']}, paused"
            if row["paused"] and not RunStatus(row["status"]).ended
            else row["status"],
            "started_at": moment(row["started_at"]),
            "errors": errors(row["errors"], row["errors_by_class"]),
        }
        for row in rows
    ]
    print_table(cells, columns, empty)
    for row in rows:
        if row["status"] == "running" and (out := queries.describe_outages(row["outages"])):
            print_out(f"\nrun {row['id']} is paused: {out}")


@app.command()
def explain(
    run: Run = "latest",
    against: Annotated[
        str | None,
        typer.Option(help="An earlier run. Default: the newest of the series that was not reported as worse."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Explain why a run is worse than an earlier one: on which tasks, at which milestone, and what has changed."""
    from stackrank.db import queries
    from stackrank.db.connection.engine import connect

    engine = connect()
    before = against if against is not None else queries.night_before(engine, run)
    if before is None:
        raise UsageError(f"run {run} has no earlier finished run in its series: name a run with --against")
    explained = queries.explain_night(engine, before, run)
    if as_json:
        print_json(explained)
        return
    print_out("\n".join(filter(None, [explained["difference"], explained["why"], explained["fails"]])))
    rows = [
        {"cause": words(cause["kind"]), "strength": f"{cause['strength']:.2f}", "evidence": sentence}
        for cause in explained["causes"]
        for sentence in cause["sentences"]
    ]
    print_table(rows, {"cause": "cause", "strength": "strength", "evidence": "evidence"}, "Nothing is worse.")
    columns = {
        "task": "task", "entrant": "entrant", "before": "before", "now": "now", "fails": "these episodes",
        "episode_before": "episode before", "episode": "episode",
    }  # fmt: skip
    print_table(explained["tasks"], columns, "No task is resolved less often.")


@app.command()
def why(run: Run = "latest", as_json: Json = False) -> None:
    """Explain why a run is slow, which entrants fail in it, and what you can do."""
    from stackrank.db.connection.engine import connect
    from stackrank.flows.runs.afterwards.explanation import explain_run as explained

    explanation = explained(connect(), run)
    if as_json:
        print_json(explanation)
    else:
        print_out(explanation["why"])


@app.command()
def episodes(
    run: Run = "latest",
    verdict: Verdicts = None,
    entrant: Entrants = None,
    task: Tasks = None,
    failure_point: FailurePoints = None,
    tool: Tools = None,
    query: Annotated[str, typer.Option(help=HELP)] = "",
    limit: Annotated[int, typer.Option(min=1, help="Most rows to list.")] = 1000,
    after_id: Annotated[
        int | None, typer.Option("--after", help="Only episodes with a higher number, to get the next page.")
    ] = None,
    as_json: Json = False,
) -> None:
    """List the episodes of a run."""
    from stackrank.db import queries
    from stackrank.db.connection.engine import connect

    check_terms("--verdict", verdict, Verdict)
    check_terms("--failure-point", failure_point, FailurePoint)
    result = queries.search(
        connect(), query, run, verdict=verdict, entrant=entrant, task=task, failure_point=failure_point, tool=tool,
        limit=limit, after_id=after_id,
    )  # fmt: skip
    hits = result["hits"]
    rows: list[dict[str, Any]] = [
        {**row, "hit": hits[row["id"]]} if row["id"] in hits else {**row} for row in result["episodes"]
    ]
    if as_json:
        print_json(rows)
        return
    columns = {
        "id": "episode", "task": "task", "entrant": "entrant", "attempt": "attempt", "verdict": "verdict",
        "stop_reason": "stop reason", "failure_point": "failure point", "steps": "steps", "wall_s": "seconds",
        "cost_usd": "cost $",
    }  # fmt: skip
    if hits:
        columns |= {"step": "at step", "excerpt": "text"}
        rows = [{**row, **row.get("hit", {"step": "", "excerpt": ""})} for row in rows]
    rows = [{**row, "verdict": f"{row['verdict']} (unverified)"} if row["unverified"] else row for row in rows]
    if any(row["faults_total"] > 1 for row in rows):
        columns |= {"share": "mended"}
        rows = [{**row, "share": mended(row)} for row in rows]
    print_table(rows, columns, "No episode matches.")


@app.command()
def trace(
    episode: Episode,
    first: Annotated[int, typer.Option(min=0, help="First step to show.")] = 0,
    limit: Annotated[int | None, typer.Option(min=1, help="Most steps to show.")] = None,
    as_json: Json = False,
) -> None:
    """Show an episode step by step."""
    from stackrank.db import queries
    from stackrank.db.connection.engine import connect

    engine = connect()
    row = queries.episode(engine, episode)
    steps = queries.steps(engine, row["id"], first=first, limit=limit)
    if as_json:
        print_json({**row, "steps": steps})
        return
    print_out(f"Episode {row['id']}: {row['task']} by {row['entrant']}, attempt {row['attempt']}")
    outcome = (row["verdict"] or row["status"], seal(row), row["stop_reason"], row["failure_point"])
    print_out(", ".join(dict.fromkeys(filter(None, (*outcome, "tampered" if row["tampered"] else "")))))
    for step in steps:
        _print_step(step)
    if row["error"]:
        print_out(f"\nerror: {row['error']}")
    for line in fault_lines(row):
        print_out(f"\n{line}", end="")
    for heading, tests in (("does not pass", row["score"].get("unfixed")), ("broken", row["score"].get("regressions"))):
        for test in tests or ():
            print_out(f"\n{heading}: {test}", end="")
    for note in row["score"].get("notes", ()):
        print_out(f"\nscorer: {note}", end="")
    for line in suspicious_lines(row):
        print_out(f"\nsuspicious: {line}", end="")
    print_out()
    if row["diff"]:
        print_out(f"\n--- the agent's changes\n{shown_text(row['diff'])}")


def _print_step(step: Mapping[str, Any]) -> None:
    """Print a step: short arguments within the call, long texts below it."""
    arguments = {name: value for name, value in step["arguments"].items() if value is not None}
    texts = {name: value for name, value in arguments.items() if isinstance(value, str)}
    blocks = {name: text for name, text in texts.items() if "\n" in text or len(text) > 100}
    short_arguments = ", ".join(f"{name}={value!r}" for name, value in arguments.items() if name not in blocks)
    milestones = f"  {', '.join(step['milestones'])}" if step["milestones"] else ""
    part = "" if step["investigation"] is None else f" (investigation of step {step['investigation']})"
    if step["parent"] not in (None, step["index"] - 1):
        part += f" (from step {step['parent']})"
    # A step without a tool is the reset, or an answer that was refused, because it had no call or a wrong one.
    is_action = step["tool"] or not step["index"]
    call = f"{step['tool'] or 'reset'}({short_arguments})" if is_action else "malformed action"
    head = f"--- step {step['index']}{part}: {call}  [{step['env_ms']:.0f} ms]{milestones}"
    print_out(f"\n{head}")
    for name, value in blocks.items():
        lines = value.rstrip("\n").split("\n")
        print_out(f"{name}:")
        print_out("\n".join(f"  | {line}" for line in lines[:MOST_LINES]))
        if len(lines) > MOST_LINES:
            print_out(f"  [{len(lines) - MOST_LINES} more lines: --json has them]")
    if step["thought"]:
        print_out(f"thought: {step['thought']}")
    print_out(step["observation"])


@app.command(cls=ExportCommand)
def export(
    run: Run = "latest",
    format: Annotated[
        str,
        typer.Option(
            help="jsonl (episodes with all steps), csv (episodes), swebench (predictions), or the format of an "
            "extension: `stackrank export --help` lists them below."
        ),
    ] = "jsonl",
    out: Annotated[
        Path | None,
        typer.Option(
            help="File to write (for atif: folder). With the suffix .parquet: as Parquet. Default: standard output."
        ),
    ] = None,
    verdict: Verdicts = None,
    entrant: Entrants = None,
    task: Tasks = None,
    failure_point: FailurePoints = None,
    tool: Tools = None,
    split: Annotated[
        list[str] | None, typer.Option(help="Only tasks of this split: train, validation or test.")
    ] = None,
) -> None:
    """Export the episodes of a run to a file."""
    from stackrank.db import queries
    from stackrank.db.connection.engine import connect
    from stackrank.flows.runs.afterwards.export.export import export as write

    check_terms("--verdict", verdict, Verdict)
    check_terms("--failure-point", failure_point, FailurePoint)
    engine = connect()
    row = queries.run(engine, run)
    filters = {"verdict": verdict, "entrant": entrant, "task": task, "failure_point": failure_point, "tool": tool}
    count = write(engine, row, format, out, filters, split or ())
    print_err(f"{count_of(count, 'episode')} of run {row['id']} ({row['name']}) written to {out or 'standard output'}")
    print_err(queries.describe_scope(engine, queries.Scope(run=row["id"]))["sentence"])


@app.command()
def report(
    run: Run = "latest",
    out: Annotated[Path, typer.Option(help="The HTML file to write.")] = Path("report.html"),
    as_json: Json = False,
) -> None:
    """Write the report of a run as one HTML file that opens without a server."""
    from stackrank.db.connection.engine import connect
    from stackrank.flows.runs.afterwards.export.file_writers import write_text
    from stackrank.flows.runs.afterwards.html_report import render

    text, run_id = render(connect(), run)
    write_text(out, [text])
    if as_json:
        print_json({"run": run_id, "file": str(out.absolute()), "bytes": len(text.encode())})
    else:
        print_err(f"run {run_id}: {out}")


@app.command()
def label(
    word: Annotated[str | None, typer.Argument(metavar="[LABEL]", help=f"{one_of(Label)}.")] = None,
    task: Annotated[str, typer.Option(help="Name of a task. Also name its --benchmark.")] = "",
    benchmark: Annotated[
        str, typer.Option(help="The task's benchmark; its newest version that was played is used.")
    ] = "",
    episode: Annotated[int | None, typer.Option(help="An episode's number.")] = None,
    reason: Annotated[str, typer.Option(help="Why.")] = "",
    withdraw: Annotated[bool, typer.Option("--withdraw", help="Withdraw your own label.")] = False,
    as_json: Json = False,
) -> None:
    """Label a task or an episode. Without LABEL, list all labels.

    `--without-disputed` leaves tasks that are disputed, flaky, unclear or faulty out of leaderboards.
    """
    from stackrank.db import queries
    from stackrank.db.connection.engine import connect
    from stackrank.db.writes.labels import Labels
    from stackrank.settings import default_owner

    engine = connect()
    if word is not None:
        check_terms("LABEL", [word], Label)
        if bool(task) == (episode is not None) or bool(task) != bool(benchmark):
            raise UsageError("name what to label: --benchmark BENCHMARK --task TASK, or --episode NUMBER")
        task_id = None
        if task:
            version = queries.benchmark(engine, benchmark)["id"]
            task_id = next((row["id"] for row in queries.tasks(engine, version) if row["name"] == task), None)
            if task_id is None:
                raise UsageError(f"{benchmark} has no task {task!r} that was played: `stackrank tasks {benchmark}`")
        person = default_owner()
        Labels(engine).put(
            Label(word), person=person, task_id=task_id, episode_id=episode, reason=reason, is_set=not withdraw
        )
        action = f"withdrew the label {word} from" if withdraw else f"added the label {word} to"
        print_err(f"{person} {action} {task or f'episode {episode}'}")
    labels = queries.labels(engine)
    if as_json:
        print_json(labels)
        return
    cells = [{**row, "created_at": moment(row["created_at"])} for row in labels]
    columns = {
        "task": "task", "episode_id": "episode", "label": "label", "person": "by", "reason": "why", "created_at": "when"
    }  # fmt: skip
    print_table(cells, columns, "Nobody has labelled a task or an episode: `stackrank label disputed --task ...`.")


@app.command("failure-points")
def failure_points(
    run: OnlyRun = None,
    benchmark: OnlyBenchmark = None,
    series: Series = None,
    conditions: Conditions = None,
    tag: OnlyTags = None,
    finished_only: FinishedOnly = True,
    without_disputed: WithoutDisputed = False,
    as_json: Json = False,
) -> None:
    """Count the failure points of each entrant's unresolved episodes."""
    from stackrank.db import queries
    from stackrank.db.connection.engine import connect

    engine = connect()
    scope = scope_of(run, benchmark, series, conditions, tag, finished_only, without_disputed=without_disputed)
    rows, scoped = queries.failure_points(engine, scope), queries.describe_scope(engine, scope)
    if as_json:
        print_json({"scope": scoped, "entrants": rows})
        return
    lines = [
        {"entrant": row["entrant"], "unresolved": row["unresolved"], "point": words(name), "episodes": count}
        for row in rows
        for name, count in sorted(row["failure_points"].items(), key=lambda item: -item[1])
    ]
    columns = {"entrant": "entrant", "unresolved": "unresolved", "point": "failure point", "episodes": "episodes"}
    print_table(lines, columns, "No episode is unresolved." if rows else scoped["sentence"])
    print_scope(scoped, bool(rows))
