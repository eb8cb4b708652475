"""The command that writes tasks for other harnesses."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from stackrank.flows.cli.options import BenchmarkName, DataPath, Environments, Fixes, Json, Repos
from stackrank.flows.cli.output import print_json
from stackrank.wording import count_of, print_out


def export_tasks(
    benchmark: BenchmarkName,
    out: Annotated[Path, typer.Option(help="A new folder for the tasks.")],
    format: Annotated[str, typer.Option(help="harbor: one Harbor task directory per task.")] = "harbor",
    path: DataPath = None,
    fixes: Fixes = None,
    repos: Repos = None,
    environments: Environments = None,
    tasks: Annotated[str, typer.Option(help="Only these tasks, separated by commas.")] = "",
    limit: Annotated[int | None, typer.Option(min=1, help="Most tasks, taken evenly from the list.")] = None,
    as_json: Json = False,
) -> None:
    """Write the tasks of a benchmark for other harnesses. To play them here, use --benchmark harbor --path OUT."""
    from stackrank.env.benchmarks.base import BenchmarkError, Source
    from stackrank.env.benchmarks.registry import load_benchmark, select
    from stackrank.extensions.harbor.write import write_tasks

    if format != "harbor":
        raise BenchmarkError(f"there is no format {format!r} for tasks: choose harbor")
    loaded = load_benchmark(benchmark, Source(path, fixes, repos, environments))
    names = [name.strip() for name in tasks.split(",") if name.strip()]
    selected = select(loaded.tasks(), names, limit)
    left_out = {**loaded.excluded(), **write_tasks(selected, out)}
    task_count = len([task for task in selected if task.id not in left_out])
    if as_json:
        print_json({"benchmark": loaded.name, "folder": str(out.absolute()), "tasks": task_count, "left_out": left_out})
        return
    print_out(f"{out}: {count_of(task_count, 'task')} of {loaded.name}, licence {loaded.license or 'unknown'}")
    for task_id, reason in left_out.items():
        print_out(f"left out: {task_id}: {reason}")
