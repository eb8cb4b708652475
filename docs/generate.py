"""Generates the reference pages from the program: `make reference`.

With `--check`, it writes nothing, and fails if a page is out of date.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path

import typer
from typer.cli import get_docs_for_click

from stackrank.env.benchmarks import repo_schema
from stackrank.env.tools import TOOL_SETS
from stackrank.env.tools.describe import markdown_table
from stackrank.fields import table
from stackrank.flows.cli.main import app
from stackrank.flows.runs.afterwards.export.exporter import exporter_names, find_exporter
from stackrank.flows.runs.specification.spec_reference import describe
from stackrank.settings import Settings, variable

FOLDER = Path(__file__).parent / "reference"
NOTE = "<!-- Made by `make reference`; a test keeps it up to date. -->\n"

TOOLS = """\
# Tools and tool sets

{note}
Agents act through tools: each step calls one of them. Arguments are checked before the tool runs, and the observation
tells the agent about mistakes, so that it can correct them.

{tools}

A tool set is a named list of tools. `--tools` and the field `tools` accept the name of a tool set or a list such as
`view,rewrite,eval`; `submit` is always included.

{sets}

`rewrite`, `debug` and `debug5` are the three agents of the [debug-gym report](https://arxiv.org/abs/2503.21557).
[Add a tool](../guide/tools.md) explains how to write a tool.
"""

TASKS_FILE = """\
# `tasks.yaml`

{note}
This file describes your own bugs, in YAML or JSON. The guide [Your own bugs](../guide/own-bugs.md) shows how to
write and prove one. Unknown fields are errors, with the number of the line. A task with an error is left out, and
the others are played.

{parts}"""

SETTINGS = """\
# Settings

{note}
Environment variables configure a machine, as opposed to one run. In the images, a variable can instead be read from a
file: `STACKRANK_DATABASE_URL_FILE=/run/secrets/database_url`. The keys of models have separate variables
(`OPENAI_API_KEY` and the like), as does Prefect (`PREFECT_API_URL`). The scripts in `deploy/` read a few more; comments
at their beginning explain them.

{table}"""

EXPORTS = """\
# Columns of exports

{note}
`stackrank export RUN --format FORMAT` writes records with the same types in every kind of file. A *JSON text* holds
what has no fixed type, such as the arguments of an action: parse it with `json.loads`, with `json_extract` in DuckDB,
and so on. A column that says *optional* may be null; within a record, JSON leaves such a field out. `steps[].index` is
the field `index` of the records in the list `steps`.

JSON Lines do not say which type a column has that is empty in all records: for pandas, pyarrow, `datasets` and DuckDB,
`--out NAME.parquet` does. In CSV, lists and records are JSON texts, and a text that a spreadsheet would take for a
formula begins with an apostrophe. `NAME.scope.json` beside a file lists its columns, too. The guide
[Trajectories and training](../guide/trajectories.md) says what the formats are for.

{formats}"""

PARTS = {
    "The file": repo_schema.TasksFile,
    "A task": repo_schema.TaskEntry,
    "`source` of a task": repo_schema.SourceEntry,
    "`python` of a task": repo_schema.PythonEntry,
    "`defaults`": repo_schema.DefaultsEntry,
    "`limits`": repo_schema.LimitsEntry,
}


def tools() -> str:
    """The tools with their arguments, and the sets of them."""
    rows = ["| tool set | tools |", "| --- | --- |"]
    for tool_set in TOOL_SETS.values():
        later = dict(tool_set.after_rewrites)
        names = [f"`{name}`" + (f" (after {later[name]} rewrites)" if name in later else "") for name in tool_set.tools]
        rows.append(f"| `{tool_set.name}` | {', '.join(names)} |")
    return TOOLS.format(note=NOTE, tools=markdown_table(), sets="\n".join(rows))


def tasks_file() -> str:
    """The fields of a `tasks.yaml`, part by part."""
    parts = []
    for title, model in PARTS.items():
        rows = ["| field | what it is |", "| --- | --- |", *repo_schema.table(model)]
        parts.append(f"## {title}\n\n" + "\n".join(rows) + "\n")
    return TASKS_FILE.format(note=NOTE, parts="\n".join(parts))


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def exports() -> str:
    """The columns of each format of `stackrank export`."""
    formats = []
    for name in exporter_names():
        exporter = find_exporter(name)
        rows = ["| column | type | what it is |", "| --- | --- | --- |"]
        for column_name, column in exporter.columns.items():
            for part, what in column.parts(column_name):
                optional = ", optional" if what.optional else ""
                rows.append(f"| `{part}` | {what.type_name}{optional} | {_cell(what.description)} |")
        note = " Outside of Parquet, a record is a document as its format defines it." if exporter.file_name else ""
        formats.append(f"## `{name}`\n\nOne record is {exporter.description}.{note}\n\n" + "\n".join(rows) + "\n")
    return EXPORTS.format(note=NOTE, formats="\n".join(formats))


def settings() -> str:
    """Every variable of the environment."""
    return SETTINGS.format(note=NOTE, table=table(Settings, heading="variable", label=variable))


def command_line() -> str:
    """Every command with its arguments and options."""
    command = typer.main.get_command(app)
    text = get_docs_for_click(
        obj=command, ctx=typer.Context(command), name="stackrank", title=f"Command line\n\n{NOTE}"
    )
    # Every command has a section below; typer's list of them cuts the sentences off.
    text = re.sub(r"\*\*Commands\*\*:\n\n(\* .*\n)+\n", "", text)
    # Usage lines are patterns; a console block is for commands that can be run as they stand.
    text = text.replace("```console\n$ ", "```text\n")
    return re.sub(r"\n{3,}", "\n\n", text).strip() + "\n"


PAGES: dict[str, Callable[[], str]] = {
    "specification.md": describe,
    "tools.md": tools,
    "tasks-file.md": tasks_file,
    "command-line.md": command_line,
    "settings.md": settings,
    "exports.md": exports,
}


def main(check: bool) -> int:
    """Write the pages, or compare them with what is written; 1 where one differs."""
    stale = []
    for name, text in ((name, make()) for name, make in PAGES.items()):
        file = FOLDER / name
        if not check:
            file.write_text(text, encoding="utf-8")
        elif not file.exists() or file.read_text(encoding="utf-8") != text:
            stale.append(name)
    if stale:
        print(f"the reference is out of date ({', '.join(stale)}): run `make reference`", file=sys.stderr)
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main("--check" in sys.argv[1:]))
