"""What commands print: one JSON document, or tables for people; everything else goes to standard error."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any


def say(message: str) -> None:
    """One line about what is going on, on standard error."""
    print(message, file=sys.stderr, flush=True)


_CONTROL = {code: chr(0x2400 + code) for code in range(32) if chr(code) not in "\t\n"} | {0x7F: "\u2421"}
_CONTROL |= dict.fromkeys(range(128, 160), "�")


def printable(text: str) -> str:
    """`text` that does nothing to a terminal: an escape sequence that an agent wrote is shown, not carried out."""
    return text.replace("\r\n", "\n").translate(_CONTROL)


def print_json(document: Any) -> None:
    """One JSON document on standard output and nothing else."""
    print(json.dumps(document, indent=2, ensure_ascii=False, default=str))


def print_table(rows: Sequence[Mapping[str, Any]], columns: Mapping[str, str], empty: str, width: int = 200) -> None:
    """A table of some columns (key -> heading), or the sentence `empty`; `width`: where there is no terminal."""
    if not rows:
        print(empty)
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
    console = Console(width=None if sys.stdout.isatty() else width, highlight=False, markup=False)
    console.print(table)


def _cell(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.3g}" if abs(value) < 100 else f"{value:.0f}"
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return str(value)


def moment(iso: str | None) -> str | None:
    """A time as people read it, to the second, in the local time zone."""
    return f"{datetime.fromisoformat(iso).astimezone():%Y-%m-%d %H:%M:%S}" if iso else None


def percent(value: float | None) -> str:
    """A share as `12.5%`."""
    return "-" if value is None else f"{value * 100:.1f}%"


def leaderboard_rows(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Leaderboard rows as people read them."""
    shown = []
    for row in rows:
        low, high = row.get("rank_low"), row.get("rank_high")
        rank = "-" if low is None else str(low) if low == high else f"{low}-{high}"
        interval = f"[{percent(row['ci_low'])}, {percent(row['ci_high'])}]" if row["rate"] is not None else "-"
        shown.append({**row, "rank": rank, "rate": percent(row["rate"]), "interval": interval})
    return shown


LEADERBOARD_COLUMNS = {
    "rank": "rank",
    "entrant": "entrant",
    "rate": "resolved",
    "interval": "95% interval",
    "tasks": "tasks",
    "episodes": "episodes",
    "errors": "errors",
    "steps_mean": "steps",
    "wall_mean_s": "seconds",
    "tokens_in": "tokens in",
    "tokens_out": "out",
    "cost_usd": "cost $",
}
