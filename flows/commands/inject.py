"""`stackrank inject`."""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from env.benchmarks.base import BenchmarkError
from env.benchmarks.files import read_tree
from env.benchmarks.repo import NEVER
from env.environment import Environment
from env.inject.reach import TestCommand, default_command
from env.inject.session import Progress as Tally
from env.inject.session import Session, Wishes
from env.inject.write import SOURCE, TASKS, write_benchmark, write_source
from env.sandbox.registry import backend, default_backend
from flows.output import print_json, say

# Copies of the source, in which the fix could be found.
_BUILT = ("build/", "dist/", "*.egg-info/", "*.orig", "*.pyc", "node_modules/")
_LINE_EVERY = 20


def inject(
    path: Path,
    count: int,
    seed: int,
    out: Path | None,
    test: str | None,
    environment: Environment,
    timeout_s: float,
    workers: int | None,
    sandbox: str | None,
    as_json: bool,
) -> None:
    """Write a `repo` benchmark of bugs planted in the project at `path`. Raises BenchmarkError, SandboxError."""
    if not path.is_dir():
        raise BenchmarkError(f"{path} is not a folder: name the project to plant bugs in")
    name = path.resolve().name
    folder = (out or Path(f"{name}-bugs")).absolute()
    if folder.resolve().is_relative_to(path.resolve()):
        hidden = [f"/{folder.resolve().relative_to(path.resolve())}/"]
    else:
        hidden = []
    files = read_tree(path, [*NEVER, *_BUILT, *hidden])
    command = TestCommand.of(test or default_command(files), files)
    wishes = Wishes(count, seed, command, environment, workers or os.cpu_count() or 2, timeout_s)
    place = backend(sandbox) if sandbox else default_backend()
    session = Session(place, files, wishes, folder)
    try:
        session.prepare(say)
        say(f"{name}: running its tests, to see what they reach")
        reach = session.reach()
        say(f"{name}: {len(reach.tests)} tests reach {sum(map(len, reach.lines.values()))} lines")
        with _shown(count) as show:
            bugs = session.bugs(reach, show)
    except BenchmarkError as error:
        raise BenchmarkError(f"{path}: {error}") from None
    if not bugs:
        raise BenchmarkError(f"{path}: its tests notice none of the bugs that were tried")
    write_source(folder, files)
    write_benchmark(folder, name, files, bugs, environment, timeout_s)
    kinds = Counter(candidate.category for candidate, _ in bugs)
    difficulties = Counter(result.difficulty for _, result in bugs)
    if as_json:
        document = {"tasks": len(bugs), "file": str(folder / TASKS), "source": str(folder / SOURCE)}
        print_json({**document, "wanted": count, "categories": kinds, "difficulties": difficulties})
        return
    short = (
        "" if len(bugs) == count else f" ({count} were wanted: the tests notice no more of those that could be made)"
    )
    print(f"{folder / TASKS}: {len(bugs)} bugs{short}")
    print(", ".join(f"{number} {each}" for each, number in (*kinds.most_common(), *difficulties.most_common())))
    print(f"Prove them: stackrank validate repo --path {folder}")


@contextmanager
def _shown(count: int) -> Iterator[Callable[[Tally], None]]:
    """Progress on standard error: a bar on a terminal, else a line now and then."""
    terminal = sys.stderr.isatty()
    columns = (TextColumn("bugs"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(
        *columns, TextColumn("{task.description}"), console=Console(stderr=True), disable=not terminal
    ) as bar:
        line = bar.add_task("", total=count)

        def show(tally: Tally) -> None:
            text = f"{tally.tried} of {tally.candidates} candidates tried"
            bar.update(line, completed=tally.found, description=text)
            if not terminal and (tally.tried % _LINE_EVERY == 0 or tally.found == count):
                why = ", ".join(f"{number} {reason}" for reason, number in tally.problems.most_common(3))
                say(f"{tally.found} of {count} bugs, {text}{f' ({why})' if why else ''}")

        yield show
