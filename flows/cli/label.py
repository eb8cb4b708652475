"""The command `label`, with which a person labels a task or an episode."""

from __future__ import annotations

from typing import Annotated

import typer

from stackrank.errors import UsageError
from stackrank.flows.cli.options import Json, check_terms
from stackrank.flows.cli.output import print_json, print_table
from stackrank.terms import Label
from stackrank.wording import moment, one_of, print_err

app = typer.Typer()


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
