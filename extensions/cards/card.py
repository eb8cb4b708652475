"""A card as a folder: facts, published numbers, and the program that derives these from the facts."""

from __future__ import annotations

import ast
import shutil
from collections.abc import Iterable, Mapping
from importlib import import_module
from inspect import getsource
from pathlib import Path
from typing import Any

from sqlalchemy import Engine

from stackrank.db.queries import describe_scope
from stackrank.db.queries.boards.scope import Scope
from stackrank.errors import InfrastructureError, UsageError
from stackrank.extensions.cards.program.board import Board
from stackrank.extensions.cards.program.derive import differences
from stackrank.extensions.cards.program.facts import FACTS, PUBLISHED, read_facts, shown_rows
from stackrank.extensions.cards.program.statement import statement
from stackrank.extensions.cards.program.tables import derive
from stackrank.extensions.cards.published import published_tables
from stackrank.extensions.cards.tables import fact_tables
from stackrank.source import parse_python
from stackrank.wording import csv_lines

PROGRAM = "derive.py"
_MODULES = ("facts", "formulas", "fit", "board", "tables", "statement", "derive")
_HEAD = '''"""Derive every published number of this card again: `python3 derive.py`. It needs only pandas and SciPy.

Each published table is computed from the tables of facts, and every cell is compared with the published one, to the
last digit shown. Exit status 1: something differs. README.md explains the tables.
"""

from __future__ import annotations

import math
import re
import sys
from collections import defaultdict
from collections.abc import Iterable, Mapping
from decimal import ROUND_HALF_UP, Decimal
from itertools import combinations
from pathlib import Path
from typing import Any

try:
    import numpy as np
    import pandas as pd
    from scipy import optimize, special, stats
except ImportError as missing:
    sys.exit(f"{missing}: install what this program needs with `pip install pandas scipy`")
'''


def program_text() -> str:
    """Return the modules of the program as one file: without their docstrings, and with the imports of all."""
    bodies = []
    for name in _MODULES:
        source = getsource(import_module(f"{__package__}.program.{name}"))
        nodes = parse_python(source).body[1:]  # the docstring comes first
        imports = [node for node in nodes if isinstance(node, ast.Import | ast.ImportFrom)]
        bodies.append("\n".join(source.splitlines()[imports[-1].end_lineno :]).strip("\n"))
    return "\n\n".join([_HEAD, *bodies]) + "\n"


def write_card(engine: Engine, scope: Scope, folder: Path) -> int:
    """Write the card of a board into a new folder, and return how many numbers it publishes, each derived again.

    Raises UsageError if the folder is not empty or the scope has no run, InfrastructureError if a number cannot be
    derived.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(f"{folder} already exists and is not empty: name a new folder with --card")
    selection = scope.find(engine)
    if not selection.pooled:
        raise UsageError(describe_scope(engine, scope)["sentence"])
    part = folder.with_name(f"{folder.name}.part")
    part.mkdir(parents=True)  # fails if another card is being written there
    try:
        for table, rows in fact_tables(selection):
            _write(part / f"{table}.csv", rows)
        published = {table: shown_rows(table, rows) for table, rows in published_tables(selection).items()}
        facts = read_facts(part)
        derived = {table: shown_rows(table, rows) for table, rows in derive(Board(facts)).items()}
        for table in PUBLISHED:
            _write_published(part, table, published.get(table, derived[table]))
        (part / "README.md").write_text(statement(facts, derived), encoding="utf-8")
        (part / PROGRAM).write_text(program_text(), encoding="utf-8")
        count, sentences = differences(part)
        if sentences:
            raise InfrastructureError(
                f"{len(sentences):,} numbers of the card do not follow from its episodes, the first: {sentences[0]}. "
                "If a run is still being played, write the card when it has ended"
            )
        if folder.exists():
            folder.rmdir()
        part.replace(folder)
    finally:
        shutil.rmtree(part, ignore_errors=True)
    return count


def check_card(folder: Path) -> tuple[int, list[str], bool]:
    """Derive a card again: how many numbers were derived, what differs, and whether its program is this version's.

    The card's own program is not run, because it may come from a stranger. Raises UsageError if there is no card.
    """
    if not (folder / "board.csv").is_file():
        raise UsageError(f"{folder} is not a card: name a folder that `stackrank leaderboard --card` has written")
    try:
        count, sentences = differences(folder)
    except ValueError as error:
        count, sentences = 0, [f"the card cannot be read: {error}"]
    program = folder / PROGRAM
    return count, sentences, program.is_file() and program.read_text("utf-8", "replace") == program_text()


def _write(file: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    rows = list(rows)
    columns = list(rows[0]) if rows else FACTS[file.stem].split()
    lines = [columns, *([_cell(row[name]) for name in columns] for row in rows)]
    with file.open("w", encoding="utf-8", newline="") as stream:
        stream.writelines(csv_lines(lines))


def _cell(value: Any) -> Any:
    return str(value).lower() if isinstance(value, bool) else value


def _write_published(folder: Path, table: str, rows: Mapping[tuple[str, ...], Mapping[str, str]]) -> None:
    keys, _, others = PUBLISHED[table].partition("|")
    columns = [*keys.split(), *(column.partition(".")[0] for column in others.split())]
    lines = [columns, *([*key, *row.values()] for key, row in rows.items())]
    with (folder / f"{table}.csv").open("w", encoding="utf-8", newline="") as stream:
        stream.writelines(csv_lines(lines))
