"""The length of each tool's observations with default limits.

    python -m tests.bench.bench_observations [--tasks N] [--backend bubblewrap]

Each task of `bugs` is looked at where its known fix changes it. Characters, median and most of each tool.

The questions are of the kinds that a model asked, played by hand on 17 tasks of `deep` and two of `bugs`. About
half were searches and parts of files, named by their first and last line; then came edits, `eval`, and a few questions
to a debugger, each a batch of commands. It listed no folder, as the first message has the files, and read no whole
file by `cat`. Lines that are named are asked for, however many they are.
"""

from __future__ import annotations

import argparse
import statistics
from collections.abc import Iterator

from rich.console import Console
from rich.table import Table

from stackrank.env.actions import Action
from stackrank.env.benchmarks.registry import load_benchmark, select
from stackrank.env.debug_env import DebugEnv
from stackrank.env.sandbox.client import Sandbox
from stackrank.env.sandbox.registry import backend
from stackrank.env.task import Task
from stackrank.env.tools import ToolSet, tool_names
from stackrank.env.tools.shown import MOST_SHOWN

MEDIAN = 800
"""Characters that half of the observations may have at most."""


def looks(task: Task) -> Iterator[Action]:
    """What is asked about a task."""
    fault = task.faults[0]
    name, line = fault.file, fault.lines[0] if fault.lines else 1
    place = f"{name}:{line}"
    word = fault.functions[0].rpartition(".")[2] if fault.functions else "def "
    yield Action("grep", {"pattern": word})
    yield Action("grep", {"pattern": "def |^class ", "path": name})
    yield Action("grep", {"pattern": "self", "path": name})
    for lines_above, lines_below in ((0, 50), (40, 10), (3, 10), (100, 0), (20, 20), (60, 60)):
        yield Action("view", {"path": name, "start": max(line - lines_above, 1), "end": line + lines_below})
    yield Action("pdb", {"command": f"b {place}\nc\nw\nl\np locals()"})
    yield Action("pdb", {"command": "n\nn\nargs"})
    yield Action("trace", {"place": place})
    for function in fault.functions[:1]:
        yield Action("calls", {"place": f"{name}:{function}"})
        yield Action("calls", {"place": f"{name}:{function}", "hit": 1})
    for show in ("frames", "steps"):
        yield Action("snapshot", {"show": show})
    yield Action("terminal", {"text": f"{task.test_command} | tail -15"})
    content = task.files[name].decode().splitlines()[line - 1 : line]
    yield Action("rewrite", {"path": name, "start": line, "new_code": "\n".join(content) + "  # seen"})
    yield Action("undo", {})
    yield Action("eval", {})


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tasks", type=int, default=None, help="look at so many tasks only")
    parser.add_argument("--backend", default="bubblewrap")
    options = parser.parse_args()
    kind = backend(options.backend)
    lengths: dict[str, list[int]] = {}
    for task in select(load_benchmark("bugs").tasks(), None, options.tasks):
        with DebugEnv(task, ToolSet("all", tuple(tool_names())), lambda spec: Sandbox(kind, spec)) as env:
            env.reset()
            for action in looks(task):
                lengths.setdefault(action.tool, []).append(len(env.step(action)[0].text))
    table = Table(title="characters of an observation")
    for name in ("tool", "observations", "median", "most"):
        table.add_column(name, justify="left" if name == "tool" else "right")
    for tool, tool_lengths in [
        *sorted(lengths.items()),
        ("all", [characters for length in lengths.values() for characters in length]),
    ]:
        table.add_row(tool, str(len(tool_lengths)), f"{statistics.median(tool_lengths):.0f}", str(max(tool_lengths)))
    console = Console(width=100)
    console.print(table)
    console.print(f"target: a median of {MEDIAN}, never more than {MOST_SHOWN}")


if __name__ == "__main__":
    main()
