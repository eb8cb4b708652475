"""The output of commands: one JSON document, or tables for people. Everything else goes to standard error."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from typer.core import TyperCommand

from stackrank.wording import NOTHING, as_json, errors, interval, one_line, print_out, rank, resolved_rate

if TYPE_CHECKING:
    from stackrank.db.queries.boards.scope_description import ScopeDescription


_WIDEST = 1_000_000


def print_json(document: Any) -> None:
    """Print one JSON document on standard output, and nothing else."""
    print(as_json(document, indent=2))


def print_table(rows: Sequence[Mapping[str, Any]], columns: Mapping[str, str], empty: str) -> None:
    """Print a table of `columns` (key -> heading), or `empty` if there are no rows.

    Cells are folded to the width of a terminal. In a pipe or a file each row is one line, with every text whole.
    """
    if not rows:
        print_out(empty)
        return
    from rich import box
    from rich.console import Console
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for key, heading in columns.items():
        numbers = all(isinstance(row.get(key), int | float | None) for row in rows)
        table.add_column(heading, justify="right" if numbers else "left", overflow="fold")
    for row in rows:
        table.add_row(*(_cell(row.get(key)) for key in columns))
    width = None if sys.stdout.isatty() else _WIDEST
    console = Console(width=width, highlight=False, markup=False, emoji=False)  # `:smile:` in a name is no picture
    if width is None:
        console.print(table)
        return
    with console.capture() as captured:
        console.print(table)
    for line in captured.get().splitlines():
        print(line.rstrip())


def _cell(value: Any) -> str:
    if value is None:
        return NOTHING
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.3g}" if abs(value) < 100 else f"{value:.0f}"
    if isinstance(value, list):
        return one_line(", ".join(map(str, value)))
    return one_line(str(value))


def print_scope(scoped: ScopeDescription, has_rows: bool = True) -> None:
    """Print the scope of a result, if any was shown, and what that scope leaves out."""
    from stackrank.db.queries import exclusion_sentence

    if has_rows:
        print_out(f"\n{scoped['sentence']}")
    if sentence := exclusion_sentence(scoped):
        print_out(sentence)


def leaderboard_rows(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return leaderboard rows formatted for people. Unranked rows come last."""
    formatted_rows = []
    for row in rows:
        cells = {
            "rank": rank(row),
            "interval": interval(row["ci_low"], row["ci_high"]),
            "sealed": f"{row['sealed']}/{row['resolved']}",
            "faults": f"{row['faults_mended']}/{row['faults']}",
            "tasks": f"{row['tasks']}/{row['tasks_total']}",
            "errors": errors(row["errors"], row["errors_by_class"]) if row["errors"] else 0,
        }
        formatted_rows.append({**row, **cells, "rate": resolved_rate(row)})
    return formatted_rows


def leaderboard_remarks(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return remarks about entrants without a rank, with other tasks, or with errors that may make rates misleading."""
    return [
        f"{row['entrant']}: {text}" for row in rows for text in (row["apart"], row["partial"], row["warning"]) if text
    ]


def leaderboard_columns(rows: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """Return the columns of a leaderboard for people: those of faults only if some tasks have several."""
    from stackrank.db.queries import has_several_faults

    if any(map(has_several_faults, rows)):
        return {**_LEADERBOARD_COLUMNS, "rate": "mended"}
    return {key: name for key, name in _LEADERBOARD_COLUMNS.items() if key != "faults"}


_LEADERBOARD_COLUMNS = {
    "rank": "rank",
    "entrant": "entrant",
    "rate": "resolved",
    "interval": "95% interval",
    "faults": "faults",
    "sealed": "sealed",
    "tasks": "tasks",
    "episodes": "episodes",
    "errors": "errors",
    "steps_mean": "steps",
    "wall_mean_s": "seconds",
    "tokens_in": "tokens in",
    "tokens_out": "out",
    "cost_per_episode": "$ per episode",
    "cost_usd": "$ total",
}


class ExportCommand(TyperCommand):
    """The command `export`, whose help lists the formats of the core and of plug-ins."""

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        """Write the list below the options."""
        from stackrank.flows.runs.afterwards.export.exporter import describe_exporters

        with formatter.section("Formats"):
            formatter.write_dl(describe_exporters())
