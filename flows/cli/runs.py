"""Commands that play: run, resume, play, replay; and `spec`, which describes the run specification."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from stackrank.flows.cli.operating import print_acted
from stackrank.flows.cli.options import (
    DataPath,
    Environments,
    Episode,
    FailingTest,
    FailureState,
    Fixes,
    IncludeInvalid,
    Json,
    Night,
    Repos,
    Run,
    Sandbox,
    Why,
)
from stackrank.flows.cli.output import print_json, print_table
from stackrank.flows.cli.playing import INTERRUPTED, begin, evaluate, prepare_resume, print_result, reopen
from stackrank.flows.cli.progress import progress
from stackrank.terms import RunStatus
from stackrank.wording import count_of, percent, print_err, print_out

app = typer.Typer()


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
            "--stop-when-solved/--no-stop-when-solved",
            help="Whether an episode ends at the first `eval` at which the visible tests pass. Default: it does.",
        ),
    ] = None,
    shows_failing_test: FailingTest = None,
    shows_failure_state: FailureState = None,
    owner: Annotated[str | None, typer.Option(help="Owner of the run. Default: STACKRANK_OWNER, else you.")] = None,
    project: Annotated[str | None, typer.Option(help="Project of the run. Default: STACKRANK_PROJECT.")] = None,
    include_invalid: IncludeInvalid = None,
    as_json: Json = False,
) -> None:
    """Play a run: tasks x entrants x attempts."""
    fields = {name: value for name, value in locals().items() if name not in ("context", "spec", "as_json")}
    from stackrank.db.connection.engine import connect
    from stackrank.flows.runs.specification.spec import read_spec

    engine = connect()
    run_spec = read_spec(
        spec, {name: str(value) if isinstance(value, Path) else value for name, value in fields.items()}
    )
    run_id, url = begin(engine, run_spec)
    raise typer.Exit(evaluate(run_id, url, as_json, _debug(context)))


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
    why: Why = "",
    as_json: Json = False,
) -> None:
    """Continue a run that was paused, interrupted, cancelled or stopped. Finished episodes are not played again."""
    from stackrank.db import queries
    from stackrank.db.connection.engine import connect
    from stackrank.db.writes.acts import Acts
    from stackrank.db.writes.store import Store
    from stackrank.flows.runs.operating.absence import is_played
    from stackrank.flows.runs.specification.spec import SpecError, make_spec, played_by_hand
    from stackrank.settings import default_owner

    engine = connect()
    acts = Acts(engine)
    row = queries.run(engine, run)
    run_id = row["id"]
    changes: dict[str, float | None] = {"workers": workers, "budget_usd": budget}
    changes = {name: value for name, value in changes.items() if value is not None}
    spec = make_spec({**row["spec"], **changes}, "")
    plays_all = no_stop and spec.stop is not None
    if plays_all:
        changes["stop"] = None
    if row["paused"] and is_played(engine, row):
        acts.tune(run_id, changes, person=default_owner(), why=why)
        if plays_all:
            acts.unskip(run_id)
        acts.unpause(run_id, person=default_owner(), why=why)
        print_acted(queries.run(engine, run_id), as_json, "goes on")
        return
    # The actions of an outside program are repeated from the record, and then the episode gets its verdict.
    if played_by_hand(spec) not in ("", "outside"):
        command = f"stackrank play {spec.tasks[0]}" if spec.tasks else "stackrank play"
        raise SpecError(f"run {run_id} was played by a person and cannot be resumed: start over with `{command}`")
    if plays_all:
        acts.unskip(run_id)
    acts.unpause(run_id, person=default_owner(), why=why)
    row = queries.run(engine, run)
    remaining = row["pending"] + row["running"] + (row["errors"] if errors else 0)
    if not remaining:
        hint = ", or was skipped by early stopping: --no-stop plays the rest" if row["not_played"] else ""
        print_err(f"run {run_id} has nothing left to play: every episode has its verdict{hint}")
        if row["status"] != RunStatus.FINISHED:
            # Its process was killed between the last episode and the end of the run.
            store = Store(engine)
            reopen(store, row)
            store.start_run(run_id)
            store.end_run(run_id, RunStatus.FINISHED)
        raise typer.Exit(print_result(engine, run_id, as_json))
    acts.tune(run_id, changes, person=default_owner(), why=why)
    raise typer.Exit(evaluate(run_id, prepare_resume(engine, row, remaining), as_json, _debug(context), errors=errors))


@app.command()
def play(
    task: Annotated[str, typer.Argument(help="Name of a task, also as BENCHMARK/TASK.")],
    benchmark: Annotated[
        str, typer.Option(help="Name of a benchmark. Default: the one named with the task, or bugs.")
    ] = "",
    path: DataPath = None,
    fixes: Fixes = None,
    repos: Repos = None,
    environments: Environments = None,
    night: Night = "",
    tools: Annotated[str, typer.Option(help="A tool set, or tools separated by commas.")] = "bash-debug-branch",
    sandbox: Sandbox = None,
    shows_failing_test: FailingTest = None,
    shows_failure_state: FailureState = None,
    include_invalid: IncludeInvalid = None,
) -> None:
    """Debug a task yourself. Your episode is recorded like an agent's."""
    from stackrank.db import queries
    from stackrank.db.connection.engine import connect
    from stackrank.db.writes.store import Store
    from stackrank.env.benchmarks.registry import benchmark_names
    from stackrank.flows.runs.playing.single_episode import play_by_hand

    first, _, rest = task.partition("/")
    if not benchmark and rest and first in benchmark_names():
        benchmark, task = first, rest
    places = {"path": path, "fixes": fixes, "repos": repos, "environments": environments}
    fields: dict[str, Any] = {name: str(place) for name, place in places.items() if place}
    fields |= {"benchmark": benchmark or "bugs", "night": night, "sandbox": sandbox}
    flags = {"shows_failing_test": shows_failing_test, "shows_failure_state": shows_failure_state}
    flags["include_invalid"] = include_invalid
    fields |= {name: value for name, value in flags.items() if value is not None}
    engine = connect()
    outcome = play_by_hand(Store(engine), task, tools, fields, print_err)
    if outcome.status is RunStatus.FAILED:
        print_err(f"error: {outcome.reason}")
        raise typer.Exit(1)
    if outcome.status is not RunStatus.FINISHED:
        print_err(f"{outcome.reason}: episode {outcome.episode_id} is not counted")
        raise typer.Exit(INTERRUPTED)
    row = queries.episode(engine, outcome.episode_id)
    print_out(f"\n{row['verdict']} after {count_of(row['steps'], 'step')} ({row['stop_reason']})")
    for test in row["score"]["unfixed"]:
        print_out(f"does not pass: {test}")
    for test in row["score"]["regressions"]:
        print_out(f"broken: {test}")
    print_out(f"The episode, step by step: stackrank trace {row['id']}")


@app.command()
def replay(
    episode: Episode,
    sandbox: Annotated[str | None, typer.Option(help="docker, bubblewrap or local. Default: as it was played.")] = None,
    as_json: Json = False,
) -> None:
    """Repeat an episode's actions in a fresh sandbox, and show the first difference. Exit status 1: there is one."""
    from dataclasses import asdict

    from stackrank.db import queries
    from stackrank.db.connection.engine import connect
    from stackrank.db.writes.replays import Replays
    from stackrank.flows.runs.afterwards.replay import replay as play_again

    engine = connect()
    row = queries.episode(engine, episode)
    comparison = play_again(engine, row, sandbox or row["sandbox"])
    difference = comparison.difference
    Replays(engine).save_replay(row["id"], comparison.result)
    if as_json:
        print_json({"episode": row["id"], "steps": row["steps"], "replayed": comparison.result, **asdict(comparison)})
    elif difference is not None:
        place = (
            "in its verdict" if difference.step is None else f"at step {difference.step} ({difference.tool or 'reset'})"
        )
        print_out(f"different: episode {row['id']} differs {place}\n{difference.diff}")
    elif comparison.different_answers:
        print_out(
            f"{comparison.result}: their steps succeeded and changed the same files, and all other observations of "
            f"episode {row['id']} and its verdict are the same"
        )
        first = comparison.different_answers[0]
        print_out(f"The first of them, at step {first.step} ({first.tool}):\n{first.diff}")
    else:
        print_out(
            f"same: all {count_of(row['steps'], 'step')} of episode {row['id']} gave the same observations, and "
            "the same verdict"
        )
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
    from stackrank.db.connection.engine import connect
    from stackrank.db.writes.store import Store
    from stackrank.flows.runs.afterwards.rescore import rescore as score_again

    with progress("episodes") as show:
        rescoring = score_again(
            Store(connect()),
            run,
            workers=workers,
            sandbox=sandbox,
            say=print_err,
            on_result=lambda *counts: show(*counts),
        )
    document = rescoring.document()
    if as_json:
        print_json(document)
    else:
        columns = {"episode": "episode", "task": "task", "entrant": "entrant", "before": "before", "after": "after"}
        run_and_scorer = f"run {rescoring.run} ({rescoring.name}) with the scorer {rescoring.scorer}"
        summary = (
            f"{count_of(document['rescored'], 'episode')} of {run_and_scorer}, {rescoring.done_before} of them earlier"
        )
        print_out(f"Scored again: {summary}.")
        print_table(*_with_shares(document["changed"], {**columns, "why": "why"}), "Every verdict is the same.")
        if rescoring.impossible:
            print_out("\nThe records of these episodes are not enough to score them again:")
            print_table(document["impossible"], {**columns, "why": "why"}, "")
        print_out("\nLeaderboards still count the original verdicts.")
    for row in rescoring.failed:
        print_err(f"episode {row.episode} could not be scored: {row.why}")
    raise typer.Exit(1 if rescoring.failed else 0)


@app.command()
def spec(as_json: Json = False) -> None:
    """Print the fields of a run specification or, with --json, its JSON schema."""
    from stackrank.flows.runs.specification.spec import RunSpec
    from stackrank.flows.runs.specification.spec_reference import describe

    if as_json:
        print_json(RunSpec.model_json_schema())
    else:
        print_out(describe(), end="")


def _with_shares(
    rows: Sequence[dict[str, Any]], columns: dict[str, str]
) -> tuple[list[dict[str, Any]], dict[str, str]]:
    """Return rows and columns with the shares of mended faults, unless all or none of them are mended everywhere."""
    shares = {"share_before": "mended before", "share_after": "mended after"}
    if all(row[share] in (0, 1) for row in rows for share in shares):
        return [*rows], columns
    return [{**row, **{share: percent(row[share]) for share in shares}} for row in rows], {**columns, **shares}


def _debug(context: typer.Context) -> bool:
    return bool((context.obj or {}).get("debug"))
