"""Commands that compare entrants: leaderboard, nights, compare, tool-sets. Each of them states its scope."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from stackrank.errors import UsageError
from stackrank.flows.cli.options import (
    Conditions,
    ErrorsOption,
    FinishedOnly,
    Json,
    OnlyBenchmark,
    OnlyRun,
    OnlyTags,
    Series,
    TaskTag,
    WithoutDisputed,
    scope_of,
)
from stackrank.flows.cli.output import (
    leaderboard_columns,
    leaderboard_remarks,
    leaderboard_rows,
    print_json,
    print_scope,
    print_table,
)
from stackrank.flows.cli.plugin_commands import find_option
from stackrank.terms import ErrorsAre, GateOutcome
from stackrank.wording import (
    amount_interval,
    interval,
    logits,
    logits_interval,
    mean,
    p_value,
    percent,
    point_interval,
    points,
    print_err,
    print_out,
    short_count,
    signed_mean,
    usd,
)

if TYPE_CHECKING:
    from sqlalchemy import Engine

    from stackrank.db.queries import Scope
    from stackrank.db.queries.boards.abilities import AbilityBoard
    from stackrank.db.queries.boards.scope_description import ScopeDescription
    from stackrank.db.queries.comparisons.compare import Comparison
    from stackrank.db.queries.comparisons.effort import EffortComparison

app = typer.Typer()


@app.command()
def leaderboard(
    run: OnlyRun = None,
    benchmark: OnlyBenchmark = None,
    series: Series = None,
    conditions: Conditions = None,
    tag: OnlyTags = None,
    finished_only: FinishedOnly = True,
    errors: ErrorsOption = ErrorsAre.LEFT_OUT,
    without_disputed: WithoutDisputed = False,
    reliability: Annotated[bool, typer.Option("--reliability", help="Show pass@k and all-k instead of ranks.")] = False,
    abilities: Annotated[
        bool, typer.Option("--abilities", help="Show abilities, from a model that also gives each task a difficulty.")
    ] = False,
    card: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Also write all tables behind the numbers, with a program that derives them."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Rank entrants, with 95% intervals."""
    from stackrank.db import queries
    from stackrank.db.connection.engine import connect

    engine = connect()
    scope = scope_of(run, benchmark, series, conditions, tag, finished_only, errors, without_disputed)
    if card is not None:
        find_option("leaderboard", "card", "cards")(engine, scope, card)
    if abilities:
        _abilities(queries.abilities(engine, scope), queries.describe_scope(engine, scope), as_json)
        return
    if reliability:
        entrants = queries.reliability(engine, scope)
        scoped = queries.describe_scope(engine, scope)
        if as_json:
            print_json({"scope": scoped, "entrants": entrants})
            return
        cells = [
            {**row, "pass": _with_interval(row, "pass_at_k", "pass"), "all": _with_interval(row, "all_k", "all")}
            for row in entrants
        ]
        columns = {"entrant": "entrant", "k": "k", "pass": "pass@k", "all": "all k", "tasks": "tasks"}
        print_table(cells, columns, scoped["sentence"])
        print_scope(scoped, bool(entrants))
        return
    board = queries.board(engine, scope)
    if as_json:
        print_json(board)
    else:
        rows = [*board["entrants"], *board["reference"]]
        print_table(leaderboard_rows(rows), leaderboard_columns(rows), board["scope"]["sentence"])
        for remark in leaderboard_remarks(rows):
            print_out(remark)
        print_scope(board["scope"], bool(rows))


@app.command()
def nights(
    fixed: Annotated[str, typer.Option(help="The benchmark to compare with, whose tasks are published.")] = "deep",
    series: Series = None,
    conditions: Conditions = None,
    tag: OnlyTags = None,
    errors: ErrorsOption = ErrorsAre.LEFT_OUT,
    as_json: Json = False,
) -> None:
    """Rank entrants over all nights of fresh, and compare with published tasks. The gap is new minus published rate."""
    from stackrank.db import queries
    from stackrank.db.connection.engine import connect

    document = queries.nights(connect(), scope_of(None, None, series, conditions, tag, True, errors), fixed)
    if as_json:
        print_json(document)
        return
    cells = [
        {
            **row,
            "equated": f"{percent(row['rate'])} {interval(row['ci_low'], row['ci_high'])}",
            "seen": f"{percent(row['observed'])} {interval(row['observed_low'], row['observed_high'])}",
            "fixed": f"{percent(row['fixed_rate'])} {interval(row['fixed_low'], row['fixed_high'])}"
            if row["fixed_tasks"]
            else "",
            "gap": f"{points(row['gap'])} ({point_interval(row['gap_low'], row['gap_high'])})"
            if row["gap"] is not None
            else "",
        }
        for row in document["entrants"]
    ]
    columns = {
        "entrant": "entrant", "equated": "equated", "seen": "seen", "nights": "nights", "tasks": "tasks",
        "fixed": f"on {document['fixed']}", "gap": "gap in points", "linked": "linked",
    }  # fmt: skip
    print_table(cells, columns, "No night of fresh was played to its end: stackrank run --benchmark fresh.")
    if document["nights"]:
        print_out()
        by_night = [
            {**row, "difficulty": logits(row["difficulty"]), "entrant": name, "seen": f"{percent(rate['rate'])} "
             f"{interval(rate['ci_low'], rate['ci_high'])}"}
            for row in document["nights"]
            for name, rate in row["rates"].items()
        ]  # fmt: skip
        print_table(
            by_night,
            {"night": "night", "tasks": "tasks", "difficulty": "difficulty", "entrant": "entrant", "seen": "seen"},
            "",
        )
        print_out(document["note"])


def _abilities(model: AbilityBoard, scoped: ScopeDescription, as_json: bool) -> None:
    if as_json:
        print_json({"scope": scoped, **model})
        return
    cells = [
        {
            **row,
            "ability": f"{logits(row['ability'])} ({logits_interval(row['ability_low'], row['ability_high'])})",
            "rate": f"{percent(row['rate'])} {interval(row['ci_low'], row['ci_high'])}",
            "observed": percent(row["observed"]),
            "tasks": f"{row['tasks']}/{row['tasks_total']}",
        }
        for row in model["entrants"]
    ]
    columns = {
        "entrant": "entrant", "ability": "ability (logits)", "rate": "on all tasks", "observed": "seen",
        "tasks": "tasks", "infit": "infit", "outfit": "outfit", "linked": "linked",
    }  # fmt: skip
    print_table(cells, columns, scoped["sentence"])
    levels = [{**row, "rate": percent(row["rate"])} for row in model["levels"]]
    if levels:
        print_out()
        print_table(
            levels, {"level": "tasks by difficulty", "entrant": "entrant", "rate": "seen", "tasks": "tasks"}, ""
        )
        print_out()
        fit = [
            {"predicted": percent(row["predicted"]), "observed": percent(row["observed"]), "episodes": row["episodes"]}
            for row in model["calibration"]
        ]
        print_table(fit, {"predicted": "chance by the model", "observed": "seen", "episodes": "episodes"}, "")
        print_out(model["note"])
    print_scope(scoped, bool(cells))


def _with_interval(row: Mapping[str, Any], value: str, ends: str) -> str:
    return f"{percent(row[value])} ({interval(row[f'{ends}_low'], row[f'{ends}_high'])})"


@app.command()
def compare(
    first: Annotated[str, typer.Argument(help="An entrant, named as on the leaderboard.")],
    second: Annotated[
        str | None, typer.Argument(help="Another entrant. Default with --baseline: the same one.")
    ] = None,
    run: Annotated[
        list[str] | None, typer.Option("--run", help="Only this run, whatever its status. Repeat for several.")
    ] = None,
    benchmark: OnlyBenchmark = None,
    series: Series = None,
    conditions: Conditions = None,
    tag: OnlyTags = None,
    finished_only: FinishedOnly = True,
    errors: ErrorsOption = ErrorsAre.LEFT_OUT,
    without_disputed: WithoutDisputed = False,
    across: Annotated[
        str,
        typer.Option(
            metavar="CONDITION[=FIRST,SECOND]",
            help="Compare FIRST with itself across a condition of runs, such as shows_failure_state or steps=20,50. "
            "All other conditions are equal.",
        ),
    ] = "",
    max_drop: Annotated[
        float | None, typer.Option(min=0, max=1, help="Act as a gate: the largest allowed drop; 0.03 is 3 points.")
    ] = None,
    baseline: Annotated[str | None, typer.Option(help="With --max-drop: take FIRST from this earlier run.")] = None,
    report: Annotated[
        Path | None, typer.Option("--junit", help="With --max-drop: write the answer as JUnit XML.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Compare two entrants on the tasks that both played.

    With --across: one entrant under two conditions. With --max-drop: is SECOND worse than FIRST? Exit status 0: not
    worse; 1: worse; 3: not known yet.
    """
    from stackrank.db import queries
    from stackrank.db.connection.engine import connect

    engine = connect()
    only_run = run[0] if run and len(run) == 1 else run
    scope = scope_of(only_run, benchmark, series, conditions, tag, finished_only, errors, without_disputed)
    if max_drop is not None:
        from stackrank.flows.runs.afterwards.export.file_writers import written_whole
        from stackrank.flows.runs.afterwards.gate import STATUS, junit, markdown_line

        if across or (baseline is not None and run and len(run) > 1):
            raise UsageError("--max-drop judges one run: leave --across out, and give --run once with --baseline")
        if second is None and baseline is None:
            raise UsageError(
                "there is nothing to compare with: name another entrant, or an earlier run with --baseline"
            )
        judged = queries.gate(engine, first, second or first, max_drop, scope, baseline=baseline or "")
        scoped = queries.describe_scope(
            engine, scope if judged["run"] is None else queries.Scope(run=judged["run"], errors=errors)
        )
        if report is not None:
            with written_whole(report) as part:
                part.write_bytes(junit(judged))
        if as_json:
            print_json({**judged, "scope": scoped})
        else:
            print_out(markdown_line(judged))  # print nothing else: the line is for a pull request
            print_err(scoped["sentence"])
            if judged["warning"]:
                print_err(f"warning: {judged['warning']}")
        raise typer.Exit(STATUS[GateOutcome(judged["outcome"])])
    if baseline is not None or report is not None:
        raise UsageError("--baseline and --junit need --max-drop")
    if across:
        _compare_across(engine, first, second, across, scope, as_json)
        return
    if second is None:
        raise UsageError("name the entrant to compare with, or a condition with --across")
    document = queries.compare(engine, first, second, scope)
    entrant_ids = (document["first"]["entrant_id"], document["second"]["entrant_id"])
    scoped = queries.describe_scope(engine, scope, entrants=entrant_ids)
    (effort,) = queries.effort(engine, [entrant_ids], scope)
    if as_json:
        print_json({**document, "effort": effort, "scope": scoped})
    else:
        _print_pair(document, effort)
        print_scope(scoped)


def _compare_across(engine: Engine, first: str, second: str | None, across: str, scope: Scope, as_json: bool) -> None:
    from stackrank.db import queries

    if second not in (None, first):
        raise UsageError("--across compares an entrant with itself: name one, because otherwise two things differ")
    condition, _, values = across.partition("=")
    chosen = [value.strip() for value in values.split(",") if value.strip()]
    document = queries.compare_across(engine, condition.strip(), scope, values=chosen, entrants=[first])
    (pair,), ((effort, *others),) = document["pairs"], document["effort"]
    if as_json:
        compared = {"condition": document["condition"], "values": document["values"]}
        print_json({**pair, "effort": [effort, *others], "across": compared, "scopes": document["scopes"]})
        return
    _print_pair(pair, effort)
    for scoped in document["scopes"]:
        print_scope(scoped)


def _print_pair(pair: Comparison, effort: EffortComparison) -> None:
    from stackrank.db import queries

    for sentence in (
        pair["sentence"],
        queries.effort_sentence(pair["first"]["entrant"], pair["second"]["entrant"], effort),
        pair["cluster_sentence"],
        pair["warning"],
    ):
        if sentence:
            print_out(sentence)


@app.command("tool-sets")
def tool_sets(
    base: Annotated[
        str,
        typer.Option(help="Tool set or entrant to compare with. Default: for each set, those with fewer of its tools."),
    ] = "",
    model: Annotated[list[str] | None, typer.Option(help="Only entrants with this model.")] = None,
    run: OnlyRun = None,
    benchmark: OnlyBenchmark = None,
    series: Series = None,
    conditions: Conditions = None,
    tag: OnlyTags = None,
    finished_only: FinishedOnly = True,
    errors: ErrorsOption = ErrorsAre.LEFT_OUT,
    without_disputed: WithoutDisputed = False,
    task_tag: TaskTag = "",
    as_json: Json = False,
) -> None:
    """Show what tools are worth: compare the tool sets of each agent and model, paired by task, with costs."""
    from stackrank.db import queries
    from stackrank.db.connection.engine import connect

    engine = connect()
    scope = scope_of(run, benchmark, series, conditions, tag, finished_only, errors, without_disputed, task_tag)
    pairs = queries.tool_sets(engine, scope, base=base, models=model or ())
    scoped = queries.describe_scope(engine, scope)
    rows, worth = queries.side_by_side(engine, pairs, scope), queries.tool_worth(engine, pairs, scope)
    if as_json:
        print_json({"scope": scoped, "tool_sets": rows, "pairs": pairs, "worth": worth})
        return
    cells = [
        {
            **row,
            "who": "/".join(filter(None, (row["agent"], row["model"]))),
            "rate": f"{percent(row['rate'])} {interval(row['ci_low'], row['ci_high'])}",
            "points": f"{points(row['difference'])} ({point_interval(row['difference_low'], row['difference_high'])})"
            if row["base"]
            else "",
            "p": p_value(row["p_holm"]) if row["base"] else "",
            "steps": mean(row["steps_mean"]),
            "needed": mean(row["steps_needed"]),
            "saved": f"{signed_mean(row['steps_saved'])} "
            f"({amount_interval(row['steps_saved_low'], row['steps_saved_high'], 'steps')})"
            if row["steps_saved"] is not None
            else "",
            "tokens": short_count(row["tokens_mean"]) if row["tokens_mean"] is not None else "",
            "cost": usd(row["cost_per_episode"]),
        }
        for row in rows
    ]
    columns = {
        "who": "agent", "tools": "tools", "rate": "rate", "base": "against", "points": "points", "p": "p (Holm)",
        "steps": "steps", "needed": "to resolve", "saved": "steps saved", "tokens": "tokens", "cost": "cost",
        "tasks": "tasks", "errors": "errors",
    }  # fmt: skip
    print_table(cells, columns, _no_pairs(base))
    for tools in worth:
        print_out(tools["sentence"])
    print_scope(scoped, bool(rows))


def _no_pairs(base: str) -> str:
    if base:
        return f"No agent and model has played {base} and another tool set: `stackrank leaderboard` lists the entrants."
    return "No agent and model has verdicts with two different sets of tools: see `stackrank run --tools`."
