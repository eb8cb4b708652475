"""Commands that play: run, resume, cancel, play, replay; and `spec`, which describes the run specification."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from stackrank.errors import UsageError
from stackrank.flows.cli.options import DataPath, Environments, Episode, FailingTest, Fixes, Json, Repos, Run, Sandbox
from stackrank.flows.cli.output import (
    LEADERBOARD_COLUMNS,
    leaderboard_remarks,
    leaderboard_rows,
    print_json,
    print_table,
    tell_scope,
)
from stackrank.flows.cli.progress import progress
from stackrank.terms import RunStatus
from stackrank.wording import masked, say, tell

if TYPE_CHECKING:
    from sqlalchemy import Engine

    from stackrank.db.rows import Run as RunRow
    from stackrank.db.store import Store
    from stackrank.flows.runs.spec import RunSpec

app = typer.Typer()
INTERRUPTED = 130
_PERIOD_S = 0.5


@app.command()
def run(
    context: typer.Context,
    spec: Annotated[Path | None, typer.Argument(help="A run specification in YAML. Flags override its fields.")] = None,
    benchmark: Annotated[str | None, typer.Option(help="Name of a benchmark.")] = None,
    path: DataPath = None,
    fixes: Fixes = None,
    repos: Repos = None,
    environments: Environments = None,
    night: Annotated[str | None, typer.Option(help="Seed of the benchmark fresh. Default: today's date.")] = None,
    tasks: Annotated[str | None, typer.Option(help="Task names, separated by commas.")] = None,
    limit: Annotated[int | None, typer.Option(help="Play at most this many tasks, taken evenly from the list.")] = None,
    agent: Annotated[list[str] | None, typer.Option(help="Name of an agent. Repeat for several.")] = None,
    model: Annotated[list[str] | None, typer.Option(help="Name of a model. Repeat for several.")] = None,
    tools: Annotated[
        list[str] | None, typer.Option(help="A tool set, or tools separated by commas. Repeat for several.")
    ] = None,
    attempts: Annotated[int | None, typer.Option(help="Episodes per task and entrant.")] = None,
    workers: Annotated[int | None, typer.Option(help="Number of concurrent episodes.")] = None,
    sandbox: Sandbox = None,
    steps: Annotated[int | None, typer.Option(help="Most actions in one episode.")] = None,
    pool: Annotated[str | None, typer.Option(help="Split the run over the workers of this Prefect work pool.")] = None,
    budget_usd: Annotated[
        float | None, typer.Option("--budget", help="Budget in dollars; once it is spent, no episode starts.")
    ] = None,
    name: Annotated[str | None, typer.Option(help="Name of the run.")] = None,
    leaderboard: Annotated[str | None, typer.Option(help="Leaderboard to which the run belongs.")] = None,
    tags: Annotated[list[str] | None, typer.Option("--tag", help="A tag. Repeat for several.")] = None,
    seed: Annotated[int | None, typer.Option(help="Seed for agents that make random choices.")] = None,
    ends_when_solved: Annotated[
        bool | None,
        typer.Option(
            "--ends-when-solved/--goes-on-when-solved",
            help="Whether the first `eval` at which the visible tests pass ends an episode. Default: it does.",
        ),
    ] = None,
    shows_failing_test: FailingTest = None,
    owner: Annotated[str | None, typer.Option(help="Owner of the run. Default: STACKRANK_OWNER, else you.")] = None,
    project: Annotated[str | None, typer.Option(help="Project of the run. Default: STACKRANK_PROJECT.")] = None,
    include_invalid: Annotated[
        bool | None, typer.Option("--include-invalid", help="Also play tasks that validation found invalid.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Play a run: tasks x entrants x attempts."""
    fields = {name: value for name, value in locals().items() if name not in ("context", "spec", "as_json")}
    from stackrank.db.engine import connect
    from stackrank.flows.runs.spec import read_spec

    engine = connect()
    wanted = read_spec(spec, {name: str(value) if isinstance(value, Path) else value for name, value in fields.items()})
    run_id, url = begin(engine, wanted)
    raise typer.Exit(_evaluate(run_id, url, as_json, _debug(context)))


@app.command()
def resume(
    context: typer.Context,
    run: Run = "latest",
    errors: Annotated[bool, typer.Option(help="Also replay episodes that ended in an infrastructure error.")] = True,
    workers: Annotated[int | None, typer.Option(help="Number of concurrent episodes from now on.")] = None,
    budget: Annotated[float | None, typer.Option(help="Total budget of the run in dollars.")] = None,
    no_stop: Annotated[
        bool, typer.Option("--no-stop", help="Also play the episodes that early stopping (`stop`) skipped.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Continue a run that was interrupted, cancelled or stopped. Finished episodes are not played again."""
    from stackrank.db import queries
    from stackrank.db.engine import connect
    from stackrank.db.store import Store
    from stackrank.flows.runs.spec import SpecError, make_spec, played_by_hand

    engine = connect()
    row = queries.run(engine, run)
    run_id = row["id"]
    changes = {name: value for name, value in (("workers", workers), ("budget_usd", budget)) if value is not None}
    spec = make_spec({**row["spec"], **changes}, "the call")
    # What somebody's program did is repeated from the record, and then gets its verdict.
    if played_by_hand(spec) not in ("", "outside"):
        again = f"stackrank play {spec.tasks[0]}" if spec.tasks else "stackrank play"
        raise SpecError(f"run {run_id} was played by a person and cannot be resumed: start over with `{again}`")
    if no_stop and spec.stop is not None:
        Store(engine).change_spec(run_id, {"stop": None})
        Store(engine).unskip(run_id)
        row = queries.run(engine, run)
    left = row["pending"] + row["running"] + (row["errors"] if errors else 0)
    if not left:
        known = ", or was skipped by early stopping: --no-stop plays the rest" if row["not_played"] else ""
        say(f"run {run_id} has nothing left to play: every episode has its verdict{known}")
        if row["status"] != RunStatus.FINISHED:
            # Its process was killed between the last episode and the end of the run.
            store = Store(engine)
            _reopen(store, row)
            store.start_run(run_id)
            store.end_run(run_id, RunStatus.FINISHED)
        raise typer.Exit(_print_result(engine, run_id, as_json))
    if changes:
        Store(engine).change_spec(run_id, changes)
    raise typer.Exit(_evaluate(run_id, _reopened(engine, row, left), as_json, _debug(context), errors=errors))


@app.command()
def cancel(run: Run = "latest", as_json: Json = False) -> None:
    """Cancel a run, on whichever machine it runs. Its episodes end within seconds; you can resume it."""
    from stackrank.db import queries
    from stackrank.db.engine import connect
    from stackrank.db.store import Store
    from stackrank.flows.runs.cancel import cancel_run

    engine = connect()
    left = cancel_run(Store(engine), run)
    row = queries.run(engine, run)
    counts = queries.progress(engine, row["id"])
    if as_json:
        print_json({"run": row["id"], "status": "cancelled", **counts})
    else:
        ended = f"{counts['done']} of {row['episodes_total']} episodes ended"
        tell(f"Run {row['id']} ({row['name']}) is cancelled: {ended}.")
        tell(f"`stackrank resume {row['id']}` continues it.")
    if left:
        workers = ", ".join(sorted({claim["claimed_by"].partition("#")[0] for claim in left}))
        say(f"{len(left)} episodes have not ended yet, because their workers do not answer: {workers}")
        raise typer.Exit(1)


@app.command()
def play(
    task: Annotated[str, typer.Argument(help="Name of a task.")],
    benchmark: Annotated[str, typer.Option(help="Name of a benchmark.")] = "bugs",
    path: DataPath = None,
    fixes: Fixes = None,
    repos: Repos = None,
    environments: Environments = None,
    tools: Annotated[str, typer.Option(help="A tool set, or tools separated by commas.")] = "full",
    sandbox: Sandbox = None,
    shows_failing_test: FailingTest = None,
) -> None:
    """Debug a task yourself. Your episode is recorded like an agent's."""
    from stackrank.db import queries
    from stackrank.db.engine import connect
    from stackrank.db.store import Store
    from stackrank.flows.runs.by_hand import play_by_hand

    places = {"path": path, "fixes": fixes, "repos": repos, "environments": environments}
    fields: dict[str, Any] = {name: str(place) for name, place in places.items() if place}
    fields |= {"benchmark": benchmark, "sandbox": sandbox}
    if shows_failing_test is not None:
        fields["shows_failing_test"] = shows_failing_test
    engine = connect()
    ended = play_by_hand(Store(engine), task, tools, fields, say)
    if ended.status is RunStatus.FAILED:
        say(f"error: {ended.reason}")
        raise typer.Exit(1)
    if ended.status is not RunStatus.FINISHED:
        say(f"{ended.reason}: episode {ended.episode_id} is not counted")
        raise typer.Exit(INTERRUPTED)
    row = queries.episode(engine, ended.episode_id)
    tell(f"\n{row['verdict']} after {row['steps']} steps ({row['stop_reason']})")
    for test in row["score"]["unfixed"]:
        tell(f"does not pass: {test}")
    for test in row["score"]["regressions"]:
        tell(f"broken: {test}")
    tell(f"The episode, step by step: stackrank trace {row['id']}")


@app.command()
def replay(
    episode: Episode,
    sandbox: Annotated[str | None, typer.Option(help="docker, bubblewrap or local. Default: as it was played.")] = None,
    as_json: Json = False,
) -> None:
    """Repeat an episode's actions in a fresh sandbox, and show the first difference. Exit status 1: there is one."""
    from dataclasses import asdict

    from stackrank.db import queries
    from stackrank.db.engine import connect
    from stackrank.db.replays import Replays
    from stackrank.flows.runs.replay import replay as play_again

    engine = connect()
    row = queries.episode(engine, episode)
    found = play_again(engine, row, sandbox or row["sandbox"])
    difference = found.difference
    Replays(engine).save_replay(row["id"], found.result)
    if as_json:
        print_json({"episode": row["id"], "steps": row["steps"], "replayed": found.result, **asdict(found)})
    elif difference is not None:
        where = (
            "in its verdict" if difference.step is None else f"at step {difference.step} ({difference.tool or 'reset'})"
        )
        tell(f"different: episode {row['id']} differs {where}\n{difference.diff}")
    elif found.told_otherwise:
        tell(
            f"{found.result}: their steps succeeded and changed the same files, and all other observations of episode "
            f"{row['id']} and its verdict are the same"
        )
        first = found.told_otherwise[0]
        tell(f"The first of them, at step {first.step} ({first.tool}):\n{first.diff}")
    else:
        tell(f"same: all {row['steps']} steps of episode {row['id']} gave the same observations, and the same verdict")
    raise typer.Exit(0 if difference is None else 1)


@app.command()
def rescore(
    run: Run = "latest",
    workers: Annotated[
        int | None, typer.Option(min=1, help="Number of concurrent episodes. Default: the run's.")
    ] = None,
    sandbox: Annotated[str | None, typer.Option(help="docker, bubblewrap or local. Default: the run's.")] = None,
    as_json: Json = False,
) -> None:
    """Score a run's stored changes again, with the current scorer and tests. Leaderboards keep the old verdicts."""
    from stackrank.db.engine import connect
    from stackrank.db.store import Store
    from stackrank.flows.runs.rescore import rescore as score_again

    with progress("episodes") as show:
        found = score_again(
            Store(connect()), run, workers=workers, sandbox=sandbox, say=say, on_result=lambda *done: show(*done)
        )
    document = found.document()
    if as_json:
        print_json(document)
    else:
        columns = {"episode": "episode", "task": "task", "entrant": "entrant", "before": "before", "after": "after"}
        named = f"run {found.run} ({found.name}) with the scorer {found.scorer}"
        again = f"{document['rescored']} episodes of {named}, {found.done_before} of them earlier"
        tell(f"Scored again: {again}.")
        print_table(document["changed"], {**columns, "why": "why"}, "Every verdict is the same.")
        if found.impossible:
            tell("\nThe records of these episodes are not enough to score them again:")
            print_table(document["impossible"], {**columns, "why": "why"}, "")
        tell("\nLeaderboards still count the original verdicts.")
    for row in found.failed:
        say(f"episode {row.episode} could not be scored: {row.why}")
    raise typer.Exit(1 if found.failed else 0)


@app.command()
def spec(as_json: Json = False) -> None:
    """Print the fields of a run specification or, with --json, its JSON schema."""
    from stackrank.flows.runs.spec import RunSpec
    from stackrank.flows.runs.spec_help import describe

    if as_json:
        print_json(RunSpec.model_json_schema())
    else:
        tell(describe(), end="")


def taken_up(engine: Engine, run_id: int, path: Path) -> str | None:
    """Prepare an interrupted run of a command over the tasks in `path` to continue.

    Returns the address of the Prefect server that plays the rest, empty if nothing is left. Returns None if the run
    cannot continue; the reason is printed.
    """
    from stackrank.db import queries

    try:
        row = queries.run(engine, run_id)
        left = row["pending"] + row["running"] + row["errors"]
        if row["spec"]["path"] != str(path.absolute()):
            return None
        if not left or row["status"] in (RunStatus.FINISHED, RunStatus.FAILED):
            return ""
        return _reopened(engine, row, left)
    except UsageError as error:
        say(f"run {run_id} cannot be continued, so a new one replaces it: {error}")
        return None


def _reopened(engine: Engine, run: RunRow, left: int) -> str:
    """Prepare a run with `left` episodes to continue. Returns the address of the Prefect server that plays it."""
    from stackrank.db.store import Store
    from stackrank.flows.runs.session import session_of
    from stackrank.flows.services.prefect_server import ensure_server

    session_of(run["id"], say)  # what cannot be played is said before anything starts
    url = ensure_server(say=say)
    _reopen(Store(engine), run)
    say(f"run {run['id']}: {left} of {run['episodes_total']} episodes are left")
    return url


def _reopen(store: Store, run: RunRow) -> None:
    """Reopen a cancelled run. Raises SpecError if it was changed since it was read."""
    from stackrank.db import queries
    from stackrank.flows.runs.spec import SpecError

    if run["status"] == RunStatus.CANCELLED and not store.reopen_run(run):
        status = queries.run(store.engine, run["id"])["status"]
        raise SpecError(
            f"run {run['id']} has changed in the meantime and is {status}: run `stackrank resume {run['id']}` again"
        )


def _debug(context: typer.Context) -> bool:
    return bool((context.obj or {}).get("debug"))


def begin(engine: Engine, wanted: RunSpec) -> tuple[int, str]:
    """Check, build and save a run. Returns its number, and the address of the Prefect server that plays it."""
    from stackrank.db.store import Store
    from stackrank.flows.runs.build import build
    from stackrank.flows.runs.check import check
    from stackrank.flows.runs.preflight import ask_endpoints
    from stackrank.flows.runs.save import save_run
    from stackrank.flows.runs.session import open_session
    from stackrank.flows.services.prefect_server import ensure_server

    checked = build(check(wanted, engine), say)
    ask_endpoints(checked.entrants)
    for name, reason in {**checked.left_out, **checked.idle}.items():
        say(f"left out: {name}: {reason}")
    if invalid := list(checked.invalid):
        some = ", ".join(invalid[:5]) + (", ..." if len(invalid) > 5 else "")
        say(f"{len(invalid)} tasks are invalid and left out ({some}): --include-invalid plays them anyway")
    url = ensure_server(say=say)
    run_id = save_run(Store(engine), checked)
    open_session(run_id, checked)
    total = len(checked.tasks) * len(checked.entrants) * wanted.attempts
    say(
        f"run {run_id}: {len(checked.tasks)} tasks x {len(checked.entrants)} entrants x {wanted.attempts} attempts = "
        f"{total} episodes, {wanted.workers} at a time, in {checked.backend.name} sandboxes"
    )
    return run_id, url


def _evaluate(run_id: int, url: str, as_json: bool, debug: bool, *, errors: bool = True) -> int:
    """Play the rest of a run through Prefect and print its result. Returns the exit status."""
    from stackrank.db.engine import connect
    from stackrank.db.patience import with_patience
    from stackrank.flows.runs.session import PATIENCE_S

    interrupted = played(run_id, url, debug, errors=errors)
    status = _print_result(with_patience(connect(), PATIENCE_S), run_id, as_json)
    return INTERRUPTED if interrupted else status


def played(run_id: int, url: str, debug: bool, *, errors: bool = True) -> bool:
    """Play the rest of a run through Prefect. Returns whether it was interrupted."""
    from stackrank.db import queries
    from stackrank.db.engine import connect
    from stackrank.db.patience import with_patience
    from stackrank.flows.engine.evaluate_here import evaluate_here
    from stackrank.flows.runs.progress import Counts, followed
    from stackrank.flows.runs.save import label_of
    from stackrank.flows.runs.session import PATIENCE_S

    engine = with_patience(connect(), PATIENCE_S)
    row = queries.run(engine, run_id)
    with progress("episodes", row["episodes_total"]) as show:

        def shown(counts: Counts) -> None:
            cost = f", ${counts['cost_usd']:.2f}" if counts["cost_usd"] else ""
            verdicts = ", ".join(f"{counts[name]} {name}" for name in ("resolved", "unresolved", "errors"))
            waits = f"; paused: {out}" if (out := queries.paused(queries.outages(engine, run_id))) else ""
            show(counts["done"], row["episodes_total"] - counts["not_played"], verdicts + cost + waits)

        with followed(engine, run_id, _PERIOD_S, shown):
            on_pool = bool(row["spec"].get("pool"))
            return evaluate_here(run_id, label_of(row), url=url, errors=errors, debug=debug, on_pool=on_pool, say=say)


def _print_result(engine: Engine, run_id: int, as_json: bool) -> int:
    """Print the result of a run. Returns the exit status."""
    from stackrank.db import queries
    from stackrank.flows.runs.check import idle_entrants
    from stackrank.flows.runs.spec import make_spec

    row = queries.run(engine, run_id)
    if row["status"] == RunStatus.FAILED:
        say(f"error: the run failed: {row['reason']}")
    if as_json:
        left_out = idle_entrants(make_spec(row["spec"], f"run {run_id}"))
        print_json({**queries.run_summary(engine, run_id), "left_out": left_out})
    else:
        _print_tables(engine, run_id)
    if row["status"] != RunStatus.FINISHED:
        say(f"`stackrank resume {run_id}` continues it")
    return 0 if row["status"] == RunStatus.FINISHED and not row["errors"] else 1


def _print_tables(engine: Engine, run_id: int) -> None:
    """Print the run's leaderboard and failure points, and where to look next."""
    from stackrank.db import queries
    from stackrank.db.engine import default_url

    row = queries.run(engine, run_id)
    tell(f"\nRun {run_id} ({row['name']}): {row['status']} after {row['wall_s'] or 0:.0f} s\n")
    board = queries.board(engine, queries.Scope(run=run_id))
    ranked = [*board["entrants"], *board["reference"]]
    rows = leaderboard_rows(ranked)
    columns = {key: name for key, name in LEADERBOARD_COLUMNS.items() if any(each.get(key) for each in rows)}
    print_table(rows, columns, "No episode has a verdict.")
    for remark in leaderboard_remarks(ranked):
        tell(remark)
    tell_scope(board["scope"])
    if stop := queries.stopping(engine, run_id):
        tell(f"\nStopped early: {stop['sentence']}")
        for pair in stop["pairs"]:
            tell(f"  {pair['sentence']}")
    tell("\nFailure points")
    points = [
        {"entrant": each["entrant"], "point": name, "episodes": count}
        for each in queries.failure_points(engine, queries.Scope(run=run_id))
        for name, count in sorted(each["failure_points"].items(), key=lambda item: -item[1])
    ]
    columns = {"entrant": "entrant", "point": "failure point", "episodes": "episodes"}
    print_table(points, columns, "No episode is unresolved.")
    if row["errors"]:
        tell(f"\n{row['errors']} episodes ended in an infrastructure error and do not count, for instance:")
        for each in queries.episodes(engine, run_id, verdict="error", limit=3):
            tell(f"  episode {each['id']}: {each['error']}")
    tell(f"\nDatabase:  {masked(default_url())}")
    tell(f"Episodes:  stackrank episodes {run_id}    (then: stackrank trace EPISODE)")
    tell("Dashboard: stackrank dashboard")
